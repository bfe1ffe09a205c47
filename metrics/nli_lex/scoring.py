"""NLI+lex's scores: whether an answer says what the reference answer says. `evaluate` is not needed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import Required, TypedDict, Unpack

from semantic_metrics.core.inputs import References, check_choice, check_text, invalid_input, quote
from semantic_metrics.core.run_options import RunArguments, RunOptions
from semantic_metrics.core.signature import Signature
from semantic_metrics.core.text_scoring import TextScoring
from semantic_metrics.core.texts import is_blank
from semantic_metrics.core.threshold import ResultArguments, ResultOptions
from semantic_metrics.cross_encoder.pair_attribution import Explanation, Texts, check_method
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.nli_lex.attribution import explain
from semantic_metrics.nli_lex.features import COLUMNS, FORMS, NLI, SUBSTRING, extract, load_scorer
from semantic_metrics.nli_lex.weights import NLI_ALONE, Weights, contributions, judge, read_weights
from semantic_metrics.nli_lex.windows import check_template
from semantic_metrics.quantities.manners import plain, without_thoughts
from semantic_metrics.quantities.rules import count_unread

VERSION = "0.19.0"
THRESHOLD = 0.5  # Balamurali & Cheng 2025, section 3.2: correct = p > 0.5


class WeightArguments(TypedDict, total=False):
    """Arguments of `compute` that choose the weights, and how texts are read for them."""

    features: str
    weights: str | Path | None
    template: str | None
    number_words: bool | None


class Arguments(WeightArguments, RunArguments, ResultArguments, total=False):
    """Arguments of `compute` besides the texts."""


class Result(TypedDict, total=False):
    """The result of `compute`; which keys there are depends on its arguments."""

    nli_lex: Required[float]
    scores: list[float]
    correct: list[bool]
    entailment: list[float]
    lexical_match: list[int]
    signature: str
    blank: int
    windowed: int
    shortened: int
    split: int
    truncated: int
    best_reference: list[int]
    reasons: list[dict[str, float]]
    unread: int
    thoughts: int
    rules: list[str]
    decided_by: str


@dataclass(frozen=True)
class Options(ResultOptions):
    """Settings of one call of `compute`, whose docstring explains them."""

    weights: Weights  # with template and number words as the call wants them
    run: RunOptions
    outputs = ("all", "mean", "reasons")


class NLILexScoring(TextScoring):
    """Scores texts; `config_name` names the checkpoint (see `resolve_checkpoint`)."""

    scorer: PairScorer

    def load_models(self) -> None:
        """See `TextScoring`."""
        self.scorer = load_scorer(self.config_name)

    def check_columns(self, columns: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Like `TextScoring.check_columns`, and rejects blank references."""
        checked = super().check_columns(columns)
        for i, group in enumerate(checked["references"]):
            for j, text in enumerate([group] if isinstance(group, str) else group):
                if is_blank(text):
                    place = f"references[{i}]" if isinstance(group, str) else f"references[{i}][{j}]"
                    raise invalid_input(place, f"expected a text, got {text[:40]!r}: nothing to compare with")
        return checked

    def compute(
        self,
        *,
        predictions: list[str] | None = None,
        references: References | None = None,
        questions: list[str] | None = None,
        **arguments: Unpack[Arguments],
    ) -> Result:
        """Judge predictions by references, together with those added before."""
        columns = {"predictions": predictions, "references": references, "questions": questions}
        result: Result = self.compute_checked(columns, self._options(arguments))
        return result

    def _options(self, arguments: Arguments) -> Options:
        """The arguments of `compute`, checked, with the checkpoint's own values where they are None."""
        run, others = RunOptions.split(arguments, Arguments)
        run = self.scorer.resolve(run)
        reading = {name: others.pop(name) for name in WeightArguments.__annotations__ if name in others}
        return Options(self.weights(**reading), run, **others)

    def weights(
        self,
        features: str = "rich",
        weights: str | Path | None = None,
        template: str | None = None,
        number_words: bool | None = None,
    ) -> Weights:
        """The weights that `compute` uses, given the same arguments, checked."""
        check_choice("features", features, (*FORMS, NLI))
        check_choice("number_words", number_words, (None, False, True))
        if weights is not None and not isinstance(weights, (str, Path)):
            raise invalid_input("weights", f"expected a file's name or None, got {quote(weights)}")
        if features == NLI and weights is not None:
            raise invalid_input("weights", f"expected None with features={NLI!r}, which has no weights, got {weights}")
        path = self.scorer.folder if weights is None else weights
        fitted = NLI_ALONE if features == NLI else read_weights(path, features, self.scorer.checkpoint_sha256)
        if template is not None:
            fitted = replace(fitted, template=check_template(template))
        return fitted if number_words is None else replace(fitted, number_words=number_words)

    def _compute(
        self, predictions: list[str], references: References, questions: list[str], options: Options
    ) -> Result:
        weights, several = options.weights, isinstance(references[0], list)
        predictions, thoughts = without_thoughts(predictions)
        groups = [[text] if isinstance(text, str) else text for text in references]
        match = SUBSTRING if weights.whole_question else "lexical_match"
        read = {*weights.features, "entailment", match}
        form = weights.template, weights.number_words
        features = extract(
            self.scorer, questions, predictions, groups, *form, read, options.run, weights.whole_question
        )
        judged = judge(weights, features)
        correct = judged.p > THRESHOLD
        result: Result = {"nli_lex": float(np.mean(correct))}
        if options.output == "mean":
            return result
        chosen = features.table[judged.rows]
        rulings = [features.rulings[row] for row in judged.rows]
        result |= {
            "scores": judged.p.tolist(),
            "correct": correct.tolist(),
            "entailment": chosen[:, COLUMNS.index("entailment")].tolist(),
            "lexical_match": chosen[:, COLUMNS.index(match)].astype(int).tolist(),
            "signature": str(self._signature(options)),
            "blank": int(features.blank.sum()),
            "windowed": features.windowed,
            "shortened": int(features.shortened.sum()),
            "split": features.split,
            "truncated": features.truncated,
            "unread": count_unread(rulings),
            "thoughts": thoughts,
        }
        if several:
            result["best_reference"] = judged.best_reference.tolist()
        if options.output == "reasons":
            result["reasons"] = _reasons(weights, chosen, features.blank)
            result["rules"] = [ruling.reason for ruling in rulings]
        return result

    def signature(self, **arguments: Unpack[Arguments]) -> str:
        """Every setting that can change a score, given arguments of `compute`; equal signatures can be compared."""
        return str(self._signature(self._options(arguments)))

    def _signature(self, options: Options) -> Signature:
        model = {**self.scorer.signature_fields(), **options.weights.signature_fields()}
        return Signature.of("nli_lex", model, options, VERSION)

    def explain(
        self,
        prediction: str,
        reference: str,
        question: str,
        method: str = "leave_one_out",
        features: str = "rich",
        weights: str | Path | None = None,
        **arguments: Unpack[RunArguments],
    ) -> Explanation:
        """Contribution of each word to the probability of one row, in three directions; see `attribution.explain`.

        `method` is "leave_one_out" (the probability minus that of the texts without the word; without a run of words
        if the texts have more than 48) or "integrated_gradients" (of what the model reads; the words
        that are compared stay as they are; only in float32, on torch). The other arguments are those of `compute`.

        Raises:
            ValueError: `compute` would raise one, the method is unknown, the texts are too long to leave out each of
                their tokens, or "integrated_gradients" is asked about an answer that `polar` reads.
        """
        texts = {"prediction": prediction, "reference": reference, "question": question}
        for name, text in texts.items():
            check_text(name, text)
        self.check_columns({f"{name}s": [text] for name, text in texts.items()})
        run, _ = RunOptions.split(arguments, RunArguments)
        check_method(method, run)
        options = Options(self.weights(features, weights), self.scorer.resolve(run))
        (texts["prediction"],), _ = without_thoughts([prediction])
        if not options.weights.whole_question:
            texts |= {name: plain(texts[name]) for name in ("prediction", "reference")}

        def score(variants: list[Texts]) -> np.ndarray:
            said, gold, asked = ([variant[name] for variant in variants] for name in texts)
            return np.array(self._compute(said, gold, asked, options)["scores"])

        return explain(self.scorer, options.weights, texts, method, options.run, score)


def _reasons(weights: Weights, table: np.ndarray, blank: np.ndarray) -> list[dict[str, float]]:
    """Contribution of each feature to the log odds of each answer; nothing for a blank one."""
    added = contributions(weights, table).tolist()
    rows = [{"intercept": weights.intercept, **dict(zip(weights.features, row, strict=True))} for row in added]
    return [{} if empty else row for row, empty in zip(rows, blank, strict=True)]
