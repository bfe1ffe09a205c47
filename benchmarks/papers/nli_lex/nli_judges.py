"""The judges that read an NLI model: NLI alone and NLI+lex, each as in the paper and as this project reads texts.

As in the paper: the whole question, and the reference as a literal substring. This project reads only the part of a
question that asks, normalises words, and in its shipped form adds features and a rule for long answers. Weights belong
to a checkpoint (`nli_lex.json` in its folder). A set whose questions they were fitted on needs others, named by
--weights SET=FILE; EVOUNA, on which the shipped ones are fitted, is otherwise judged by cross-validation.
"""

import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.common.encoders import NotMeasured
from benchmarks.common.own_metrics import SHIPPED, Run, fits_a_card
from benchmarks.papers.nli_lex.judges import Judge, Loaded, Verdicts, count_parameters
from benchmarks.papers.nli_lex.sets import TITLES, JudgedSet
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.fitting.nli_lex_weights import cross_validated
from semantic_metrics.nli_lex.features import FORMS, NUMBER_WORDS, PAPER, RICH, TEMPLATE, Features, extract, load_scorer
from semantic_metrics.nli_lex.weights import judge, read_weights

NLI = "NLI alone"
NLI_WHOLE = "NLI alone, the paper's"
NLI_LEX = {"paper": "NLI+lex, the paper's", "two_features": "NLI+lex, two features", "rich": "NLI+lex"}  # by form
FITTED_HERE = (TITLES["evouna"],)  # sets that the shipped weights are fitted on


class NliModel:
    """One checkpoint, which reads every set once for NLI alone and the paper's form, and once for the shipped form.

    Takes a checkpoint as `load` does (None: the shipped one), files of weights by the title of their set, and how it
    runs. `shipped` says whether it is the checkpoint that the package ships, run as its card may say.

    Raises ValueError: there is no such checkpoint, it has no label for entailment, or an option is invalid.
    """

    def __init__(self, checkpoint: str | None, weights: dict[str, Path], run: Run) -> None:
        self.scorer: PairScorer = load_scorer(checkpoint)
        self.shipped = checkpoint in SHIPPED and fits_a_card(run)
        self._run, self._weights = self.scorer.resolve(RunOptions(**run)), weights
        self._extracted: dict[tuple, tuple[Features, float]] = {}  # and the seconds that it took

    def lines(self) -> list[str]:
        """Lines of the report that identify the model."""
        hashes = {"checkpoint": self.scorer.checkpoint_sha256[:16], "tokenizer": self.scorer.tokenizer_sha256[:16]}
        ran = {name: getattr(self._run, name) for name in ("precision", "backend", "device")}
        settings = "|".join(f"{name}:{value}" for name, value in (hashes | ran).items())
        return [f"{NLI} and {NLI_LEX['rich']}: {settings}"]

    def judges(self) -> list[Judge]:
        """NLI alone, and all forms of NLI+lex; those that follow the paper have its figures beside them."""
        parameters = count_parameters(str(self.scorer.folder))
        judges = [
            Judge(NLI_WHOLE, lambda: Loaded(partial(self._alone, form="paper"), parameters), "nli", "NLI"),
            Judge(NLI, lambda: Loaded(partial(self._alone, form="two_features"), parameters), "nli"),
        ]
        for form, name in NLI_LEX.items():
            load = lambda form=form: Loaded(partial(self._with_weights, form=form), parameters)  # noqa: E731
            judges.append(Judge(name, load, "nli", "NLI+lex" if form == "paper" else None))
        return judges

    def _alone(self, answers: JudgedSet, form: str) -> Verdicts:
        """The highest entailment over the gold answers; 0 for a blank answer."""
        features, seconds = self._extract(answers, FORMS[form], TEMPLATE, NUMBER_WORDS)
        scores = np.zeros(len(answers))
        np.maximum.at(scores, features.answer_index, features.table[:, RICH.index("entailment")])
        return Verdicts(scores, seconds, _notes(features))

    def _with_weights(self, answers: JudgedSet, form: str) -> Verdicts:
        if answers.title in FITTED_HERE and answers.title not in self._weights:
            features, seconds = self._extract(answers, FORMS[form], TEMPLATE, NUMBER_WORDS)
            scores = cross_validated(features, answers.labels, answers.questions, form)
            note = f"{answers.title}: cross-validated on it, all answers to a question on one side"
            return Verdicts(scores, seconds, (note, *_notes(features)))
        try:
            place = self._weights.get(answers.title, self.scorer.folder)
            weights = read_weights(place, form, self.scorer.checkpoint_sha256)
        except ValueError as reason:
            raise NotMeasured(str(reason)) from reason
        features, seconds = self._extract(answers, weights.features, weights.template, weights.number_words)
        note = f"{answers.title}: weights fitted on {weights.fitted_on or 'data that they do not name'}"
        return Verdicts(judge(weights, features).p, seconds, (note, *_notes(features)))

    def _extract(
        self, answers: JudgedSet, names: tuple[str, ...], template: str, number_words: bool
    ) -> tuple[Features, float]:
        key = (answers.title, names, template, number_words)
        if key not in self._extracted:
            begin = time.perf_counter()
            texts = (answers.questions, answers.candidates, answers.references)
            whole_question = set(names) == set(PAPER)
            features = extract(self.scorer, *texts, template, number_words, names, self._run, whole_question)
            self._extracted[key] = features, time.perf_counter() - begin
        return self._extracted[key]


def _notes(features: Features) -> tuple[str, ...]:
    notes = {
        "read in windows": features.windowed,
        "read in parts of the reference": features.split,
        "questions read in part": int(features.shortened.sum()),
        "read without the end of the question": features.truncated,
    }
    return tuple(f"{count} of {len(features.answer_index)} pairs were {what}" for what, count in notes.items() if count)
