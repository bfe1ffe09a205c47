"""The metrics of the suite: ours as a user loads them, and what is usually taken, each loaded when it first scores."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.baselines import EMBSIM_HUB_ID, bertscore, bertscore_layer, default_embsim, rouge
from benchmarks.common.encoders import NotMeasured, Score, sentence_transformer
from benchmarks.common.own_metrics import NO_OPTIONS, Run, load_own
from benchmarks.papers.nli_lex.judges import Judged, Loaded, Verdicts, judge_pairs, judge_sets, token_f1
from benchmarks.papers.nli_lex.nli_checks import ENTAILMENT, answer
from benchmarks.suite.texts import TextSet
from semantic_metrics.core.contract import describe
from semantic_metrics.nli_lex.features import load_scorer
from semantic_metrics.stats.separation import COSINE, UNIT, Bounds

ROUGE_L, TOKEN_F1, MINILM, BERTSCORE = "ROUGE-L", "token F1", "cosine", "BERTScore"
OURS = {  # metric, or metric:checkpoint, by the column's name
    "matcha": "matcha",
    "contextual": "matcha:contextual",
    "stsscore": "stsscore",
    "nli_lex": "nli_lex",
    "nli_lex large": "nli_lex:large",
    "consensus": "consensus",
    "consensus large": "consensus:large",
}
NLI_RANGE = (-1.0, 1.0)  # of p_entailment - p_contradiction


@dataclass(frozen=True)
class Column:
    """A metric: its heading, what it runs (for the notes), and what loads it or raises NotMeasured.

    `bounds` are the native range of the scores, which decides how they reach [0, 1]; `cosine` says whether a score is a
    cosine before.
    """

    name: str
    model: str
    load: Callable[[], Loaded]
    bounds: Bounds = UNIT
    cosine: bool = False

    @property
    def ours(self) -> bool:
        """Whether it is a metric of this package."""
        return self.name in OURS


def timed(ask: Callable[[TextSet], np.ndarray]) -> Loaded:
    """A judge of a function from a set to its scores, which raises NotMeasured for a set that it is not made for."""

    def verdicts(texts: TextSet) -> Verdicts:
        begin = time.perf_counter()
        scores = np.asarray(ask(texts), dtype=float)
        return Verdicts(scores, time.perf_counter() - begin)

    return Loaded(verdicts)


def score_all(columns: list[Column], sets: list[TextSet], report: Callable[[str], None]) -> Judged:
    """Score every set with every metric, by name of the metric and title of the set."""
    return judge_sets(columns, {texts.title: texts for texts in sets}, report)


def baselines(bertscore_model: str | None, layer: int | None, device: str | None) -> list[Column]:
    """ROUGE-L, token F1, a cosine and BERTScore (of a folder or Hub id; None: all-MiniLM-L6-v2) on a device."""
    model = bertscore_model or default_embsim()
    name = EMBSIM_HUB_ID.rpartition("/")[2] if model == default_embsim() else Path(model).name
    layer = layer or bertscore_layer(model)
    described = f"F1 by bert-score {version('bert-score')} with layer {layer or 'unknown'} of {name}, not rescaled"

    def best(load: Callable[[], Score]) -> Callable[[], Loaded]:  # the highest over the references
        return lambda: Loaded(judge_pairs(load()))

    words = best(lambda: lambda *texts: np.array(list(map(token_f1, *texts))))
    mini = best(lambda: sentence_transformer(default_embsim(), device))
    return [
        Column(ROUGE_L, f"rouge-score {version('rouge-score')}", best(lambda: rouge("rougeL"))),
        Column(TOKEN_F1, "words as SQuAD's script splits them", words),
        Column(MINILM, "all-MiniLM-L6-v2", mini, COSINE, cosine=True),
        Column(BERTSCORE, described, best(lambda: bertscore(model, layer, device))),
    ]


def own_column(name: str, source: str, run: Run = NO_OPTIONS) -> Column:
    """A metric of the package, as METRIC or METRIC:CHECKPOINT; a ValueError if there is no such metric."""
    metric, _, checkpoint = source.partition(":")
    bounds, load = describe(metric).score_range, partial(_load_own, metric, checkpoint, run)
    return Column(name, f"semantic_metrics.load({metric!r})", load, bounds, cosine=bounds[0] < 0)


def _load_own(name: str, checkpoint: str, run: Run) -> Loaded:
    try:
        metric, arguments = load_own(f"{name}:{checkpoint}", run)
    except ValueError as error:
        raise NotMeasured(str(error)) from error

    def ask(texts: TextSet) -> np.ndarray:
        given = {"predictions": texts.candidates, "references": texts.references, **arguments}
        if describe(name).takes_questions:
            if texts.questions is None:
                raise NotMeasured("judges answers to questions")
            given["questions"] = texts.questions
        if name == "consensus" and texts.long:  # a claim is supported if its least supported sentence is
            support, options = load_own(f"support:{checkpoint}", run)
            return np.array(support.compute(**given | options)["minimums"])
        return np.array(metric.compute(**given)["scores"])

    return timed(ask)


def nli_column(name: str, checkpoint: str | None, run: Run = NO_OPTIONS) -> Column:
    """p_entailment - p_contradiction of an NLI model, the reference its premise; a ValueError if it does not load."""
    scorer = load_scorer(checkpoint)

    def ask(texts: TextSet) -> np.ndarray:
        premises = [text for (text,) in texts.references]
        pairs = pd.DataFrame({"premise": premises, "hypothesis": texts.candidates, "label": ENTAILMENT})
        return answer(scorer, pairs, **run)["margin"].to_numpy()

    return Column(name, "p_entailment - p_contradiction", lambda: timed(ask), NLI_RANGE)
