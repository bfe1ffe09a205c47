"""The metrics of the STSScore benchmark: STSScore, BLEU, BERTScore, S-BERT, and scores that the authors published.

The authors score `metric(prediction=sentence1, reference=sentence2)` with BLEU and BERTScore, while sentence1 is the
reference everywhere else; the scoring functions here take (candidates, references) = (sentence2, sentence1) and swap
them where the authors do.

Source: Herbold, TMLR, sections 2.1 and 2.6, A.2.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
from nltk.translate.bleu_score import sentence_bleu as nltk_bleu
from nltk.util import ngrams

from benchmarks.common.baselines import Metric, own
from benchmarks.common.baselines import bertscore as unscaled_bertscore
from benchmarks.common.encoders import NotMeasured, Score
from benchmarks.common.own_metrics import NO_OPTIONS, Run
from benchmarks.common.tables import read_table
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.stsscore.sets import PairSet

BLEU, BERTSCORE, SBERT, STSSCORE, ENSEMBLE = "BLEU", "BERTScore", "S-BERT", "STSScore", "Ensemble"
WEAKER = "STSScore, weaker backbone"
PUBLISHED_PER_PAIR = "published per pair"  # label of scores that the authors computed, not this run
AUTHORS = f"STSScore, the authors' ({PUBLISHED_PER_PAIR})"
BERTSCORE_PUBLISHED = f"{BERTSCORE} ({PUBLISHED_PER_PAIR})"
PAPER_WEAKER = "STSScore BERT-base"  # the paper's row of table 2
PUBLISHED_COLUMNS = {STSSCORE: "sts_score", SBERT: "sbertcosine", BERTSCORE: "bertscore_f1", BLEU: "bleu"}
BY_ROW = ("stsb", "mrpc", "wmt22")  # sets whose published scores come without texts
ORDER = 4  # longest n-gram of BLEU

# the rules of mteval-13a, which evaluate's `bleu` tokenises by
_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_RULES = (
    (re.compile(r"([!-&(-+/:-@\[-`{-~])"), r" \1 "),  # ASCII signs but ' , - .
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def stsscore(checkpoint: str | None, name: str = STSSCORE, published: str = STSSCORE, run: Run = NO_OPTIONS) -> Metric:
    """STSScore as a user loads it, or a ValueError; it is loaded at once, so that a mistyped name costs nothing."""
    return replace(own(name, f"stsscore:{checkpoint or ''}", run), group="scorer", published=published)


def tokens_13a(text: str) -> list[str]:
    """Tokens of mteval-13a."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, sign in _ENTITIES.items():
        text = text.replace(entity, sign)
    text = f" {text} "
    for pattern, spaced in _RULES:
        text = pattern.sub(spaced, text)
    return text.split()


def sentence_bleu(prediction: str, reference: str) -> float:
    """BLEU of one pair without smoothing, in [0, 1], as in evaluate's `bleu` (0 for an empty text).

    Exactly 0 where no 4-gram is shared: 64% of the pairs of STS-B test.
    """
    ours, theirs = tokens_13a(prediction), tokens_13a(reference)
    if not set(ngrams(ours, ORDER)) & set(ngrams(theirs, ORDER)):
        return 0.0  # nltk gives about 1e-231, and a warning
    return float(nltk_bleu([theirs], ours))


def bleu(candidates: list[str], references: list[str]) -> np.ndarray:
    """(n,) BLEU of each pair; sentence1 is the prediction, as in the authors' code."""
    return np.array(list(map(sentence_bleu, references, candidates)))


def bertscore(model: str, layer: int | None, device: str | None) -> Score:
    """F1 of BERTScore rescaled with its English baseline (the authors': roberta-large), about [0, 1].

    An empty text has 0 before it is rescaled, as in bert-score. `model` is a Hub id, or a folder with the model's name,
    by which its layer and its baseline are known; `layer` is None for bert-score's own choice.

    Raises NotMeasured: the model does not load, or its layer or its baseline is not known.
    """
    import bert_score
    from bert_score.utils import model2layers

    baselines = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    files = {name: baselines / f"{name}.tsv" for name in (model, Path(model).name)}
    known = [name for name, path in files.items() if name in model2layers and path.is_file()]
    if not known:
        raise NotMeasured(f"bert-score has no English baseline for {model}")
    layer = model2layers[known[0]] if layer is None else layer
    baseline = float(pd.read_csv(files[known[0]])["F"].iloc[layer])
    raw = unscaled_bertscore(model, layer, device)
    return lambda candidates, references: (raw(references, candidates) - baseline) / (1 - baseline)


class PublishedScores:
    """The authors' own scores, pair by pair, where they are at hand.

    `data` has `stsscore_golden/*.parquet`, texts and scores. `authors` is a checkout of their repository
    (aieng-lab/stsscore), whose `scores/{stsb,mrpc,wmt22}.csv` have a line for each row of those `sets`, with its label;
    where a set has a part of the rows alone, its `lines` say which.

    Raises ValueError: a file cannot be read, or its lines are not those of the set; names it.
    """

    def __init__(
        self, data: Path | None, authors: Path | None = None, sets: Mapping[str, PairSet] = MappingProxyType({})
    ) -> None:
        files = [] if data is None else sorted((data / "stsscore_golden").glob("*.parquet"))
        names = {"reference": "sentence1", "translation": "sentence2"}
        frames = [read_table(path).rename(columns=names) for path in files]
        for key in (key for key in BY_ROW if authors is not None and key in sets):
            frames.append(_by_row(authors / "scores" / f"{key}.csv", sets[key]))
        self._rows: dict[tuple[str, str], dict[str, float]] = {}
        for frame in frames:
            pairs = zip(frame["sentence1"], frame["sentence2"], strict=True)
            columns = [column for column in PUBLISHED_COLUMNS.values() if column in frame]
            for pair, scores in zip(pairs, frame[columns].to_dict("records"), strict=True):
                self._rows.setdefault(pair, {}).update(scores)

    def score(self, name: str) -> Score:
        """Scores of one of PUBLISHED_COLUMNS, looked up by text."""

        def look_up(candidates: list[str], references: list[str]) -> np.ndarray:
            column = PUBLISHED_COLUMNS[name]
            scores = [self._rows.get(pair, {}).get(column) for pair in zip(references, candidates, strict=True)]
            if None in scores:
                raise NotMeasured(f"the authors' scores of {scores.count(None)} of {len(scores)} pairs are not at hand")
            return np.array(scores)

        return look_up

    def metric(self, row: str, name: str) -> Metric:
        """A row of published scores, which its name says."""
        return Metric(row, lambda: self.score(name), group="published", published=name)


def _by_row(path: Path, dataset: PairSet) -> pd.DataFrame:
    """The lines of a file of scores with the texts of the same rows."""
    frame, (low, high) = read_table(path, "label"), dataset.scale
    labels = low + dataset.ratings * (high - low)
    frame = frame if dataset.lines is None else frame.reindex(dataset.lines)  # nothing in a line that is missing
    if len(frame) != len(dataset) or not np.allclose(frame["label"], labels, atol=1e-4):
        raise ValueError(f"{path}: expected a line for each of {len(dataset)} rows with its label, got {len(frame)}")
    return frame.assign(sentence1=dataset.references, sentence2=dataset.candidates)


def add_ensemble(scores: Scores, sets: dict[str, PairSet], members: list[str]) -> Metric:
    """Add the mean of the members' scores on every set where all of them were measured, as a further row."""
    for key in sets:
        if missing := [member for member in members if (member, key) not in scores.rated]:
            scores.reasons[ENSEMBLE, key] = f"{', '.join(missing)} not measured"
        else:
            scores.rated[ENSEMBLE, key] = np.mean([scores.rated[member, key] for member in members], axis=0)
    # its scores are those of its members: nothing is loaded
    return Metric(ENSEMBLE, lambda: None, group="ensemble", published=ENSEMBLE)
