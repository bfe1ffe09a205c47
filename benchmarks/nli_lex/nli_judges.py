"""The rows of the NLI+lex benchmark that read an NLI model: NLI alone, the paper's two features, and the shipped form.

Weights belong to a checkpoint (`nli_lex.json` in its folder). A set whose questions they were fitted on needs others:
--weights SET=FILE names them; EVOUNA, on which the shipped ones are fitted, is judged by cross-validation without them.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common.encoders import NotMeasured
from benchmarks.nli_lex.judges import Judge, Loaded, Verdicts, count_parameters
from benchmarks.nli_lex.sets import TITLES, JudgedSet
from semantic_metrics.cli.fit import cross_validated
from semantic_metrics.cross_encoder.pair_scorer import PairScorer, RunOptions
from semantic_metrics.nli_lex.features import FORMS, NUMBER_WORDS, PAPER, RICH, TEMPLATE, Features, extract, load_scorer
from semantic_metrics.nli_lex.weights import judge, read_weights

NLI = "NLI alone"
NLI_LEX = {"paper": "NLI+lex, two features", "rich": "NLI+lex"}  # by form
FITTED_HERE = (TITLES["evouna"],)  # sets of which the shipped weights know the answers
SHIPPED = (None, "default", "nli")  # names of the checkpoint that the package ships


@dataclass(frozen=True)
class _Extracted:
    """Features of a set, and the seconds that they took."""

    features: Features
    seconds: float


class NliModel:
    """One checkpoint; every set is read once for NLI alone and the paper's form, and once for the shipped form.

    Args:
        checkpoint: as `config_name` of `evaluate.load`; None for the one that is shipped.
        weights: files by title of the set that they are for.
        options: precision and device, see `RunOptions`.

    Attributes:
        shipped: whether it is the checkpoint that the package ships, in float32.

    Raises:
        ValueError: no such checkpoint, or one without a label for entailment.
    """

    def __init__(self, checkpoint: str | None, weights: dict[str, Path], options: dict[str, str]) -> None:
        self.scorer: PairScorer = load_scorer(checkpoint)
        self.shipped = checkpoint in SHIPPED and options.get("precision") in (None, "float32")
        self._options, self._weights = options, weights
        self._extracted: dict[tuple, _Extracted] = {}

    def lines(self) -> list[str]:
        """What a report says of it."""
        held = {"checkpoint": self.scorer.checkpoint_sha256[:16], "tokenizer": self.scorer.tokenizer_sha256[:16]}
        settings = "|".join(f"{name}:{value}" for name, value in (held | self._options).items())
        return [f"{NLI} and {NLI_LEX['rich']}: {settings}"]

    def judges(self) -> list[Judge]:
        """NLI alone, and both forms of NLI+lex."""
        parameters = count_parameters(str(self.scorer.folder))
        found = [Judge(NLI, lambda: Loaded(self._alone, parameters), "nli", "NLI")]
        for form, name in NLI_LEX.items():
            load = lambda form=form: Loaded(lambda held: self._with_weights(held, form), parameters)  # noqa: E731
            found.append(Judge(name, load, "nli", "NLI+lex" if form == "paper" else None))
        return found

    def _alone(self, found: JudgedSet) -> Verdicts:
        """The highest entailment over the gold answers; 0 for a blank answer."""
        held = self._extract(found, PAPER, TEMPLATE, NUMBER_WORDS)
        scores = np.zeros(len(found))
        np.maximum.at(scores, held.features.answer_index, held.features.table[:, RICH.index("entailment")])
        return Verdicts(scores, held.seconds, _notes(held.features))

    def _with_weights(self, found: JudgedSet, form: str) -> Verdicts:
        if found.title in FITTED_HERE and found.title not in self._weights:
            held = self._extract(found, FORMS[form], TEMPLATE, NUMBER_WORDS)
            scores = cross_validated(held.features, found.labels, found.questions, form)
            note = f"{found.title}: cross-validated on it, all answers to a question on one side"
            return Verdicts(scores, held.seconds, (note, *_notes(held.features)))
        try:
            place = self._weights.get(found.title, self.scorer.folder)
            weights = read_weights(place, form, self.scorer.checkpoint_sha256)
        except ValueError as reason:
            raise NotMeasured(str(reason)) from reason
        held = self._extract(found, weights.features, weights.template, weights.number_words)
        note = f"{found.title}: weights fitted on {weights.fitted_on or 'data that they do not name'}"
        return Verdicts(judge(weights, held.features).p, held.seconds, (note, *_notes(held.features)))

    def _extract(self, found: JudgedSet, features: tuple[str, ...], template: str, number_words: bool) -> "_Extracted":
        place = (found.title, features, template, number_words)
        if place not in self._extracted:
            begin = time.perf_counter()
            texts = (found.questions, found.candidates, found.references)
            held = extract(self.scorer, *texts, template, number_words, features, RunOptions(**self._options))
            self._extracted[place] = _Extracted(held, time.perf_counter() - begin)
        return self._extracted[place]


def _notes(held: Features) -> tuple[str, ...]:
    notes = {
        "read in windows": held.windowed,
        "questions read in part": int(held.shortened.sum()),
        "read without the end of the question": held.truncated,
    }
    return tuple(f"{count} of {len(held.answer_index)} pairs were {what}" for what, count in notes.items() if count)
