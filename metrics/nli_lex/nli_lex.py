"""NLI+lex as an `evaluate.Metric`: whether an answer to a question says what the reference answer says."""

from dataclasses import dataclass, fields, replace
from pathlib import Path

import datasets
import evaluate
import numpy as np

from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.inputs import check_choice, check_text, invalid_input, quote
from semantic_metrics.core.signature import Signature, no_score_change
from semantic_metrics.cross_encoder.pair_attribution import METHODS, Explanation, Texts
from semantic_metrics.cross_encoder.pair_scorer import BATCH_SEQUENCES, PairScorer, RunOptions
from semantic_metrics.nli_lex.attribution import explain
from semantic_metrics.nli_lex.features import COLUMNS, FORMS, SUBSTRING, extract, load_scorer
from semantic_metrics.nli_lex.weights import Weights, contributions, judge, read_weights
from semantic_metrics.nli_lex.windows import check_template, is_blank

VERSION = "0.2.0"
THRESHOLD = 0.5  # Balamurali & Cheng 2025, section 3.2: correct = p > 0.5
OUTPUTS = ("all", "mean", "reasons")

_DESCRIPTION = """\
NLI+lex judges whether a free-form answer to a question matches the reference answer, as people judge it: a logistic
regression over the output of a natural language inference model (do question and answer entail question and
reference?) and a comparison of words (does the answer contain the reference?) (Balamurali and Cheng 2025).
"""

_CITATION = """\
@article{balamurali2025revisiting,
  title = {Revisiting NLI: Towards Cost-Effective and Human-Aligned Metrics for Evaluating LLMs in Question Answering},
  author = {Balamurali, Sai Shridhar and Cheng, Lu},
  journal = {arXiv preprint arXiv:2511.07659},
  year = {2025},
}
"""

_INPUTS = """
Args:
    predictions: list of n strings, the answers to judge. One without a visible character is blank: it is judged
        incorrect, with p = 0.
    references: list of n strings, or of n lists of strings (several right answers each: the best counts).
    questions: list of n strings, what was asked. A blank one adds no context.
    features: "rich" (default); "paper" for the paper's method to the letter: its two features alone, the reference as a
        literal substring, questions read whole; or "two_features" for entailment and lexical match, with questions and
        words read as in the rich form. Each has weights of its own.
    weights: file with the weights, as `semantic-metrics fit` writes it. None (default) for the `nli_lex.json` of the
        checkpoint: weights belong to a model.
    template: what the model reads, with `{question}` and `{answer}`: once with the answer (premise), once with the
        reference (hypothesis). None (default) for the template with which the weights were fitted.
    number_words: read "two" as "2" where words are compared. None (default) for the choice with which the weights were
        fitted.
    precision: "float32" (default), or "bfloat16" or "int8", which are faster and move the scores.
    max_length: tokens that the model reads at a time; longer answers are read in windows. None (default) for the
        checkpoint's own.
    batch_size: largest number of pairs that the model reads at a time (default 64).
    device: where the model runs, such as "cpu" or "cuda:0"; None (default) for a GPU if there is one.
    output: "all" (default), "reasons" for what each feature adds too, or "mean" for {"nli_lex": share} alone.

Returns:
    nli_lex: share of the answers that are judged correct, in [0, 1], higher is better.
    scores: n floats in [0, 1]: probability that people would call the answer correct.
    correct: n bools, p > 0.5.
    entailment: n floats in [0, 1]: probability that question and answer entail question and reference.
    lexical_match: n times 0 or 1: whether the answer contains the reference as whole words, normalised; with
        features="paper" as a substring, ignoring case.
    signature: every setting that can change a score, the sha256 of checkpoint, tokeniser and weights among them.
    blank: number of blank answers.
    windowed: number of pairs of an answer and a reference that were read in several windows.
    shortened: number of questions of which only the sentence that asks was read, as they are long or contain a right
        answer (among options, say); 0 with features="paper".
    split: number of pairs whose reference is too long for the model and was read in parts: the probabilities are the
        means over the parts.
    truncated: number of pairs that were not read in full, as the question was cut.
    best_reference: with several references, the index of the best for each answer (the first of equals).
    reasons: with output="reasons", for each answer what "intercept" and each feature add to its log odds of being
        correct, log(p / (1 - p)); empty for a blank answer.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a blank reference, a
        lone surrogate, an invalid option, no weights, a `max_length` without room for an answer; names the argument,
        before anything is scored.

Example:
    >>> nli_lex = evaluate.load("metrics/nli_lex")
    >>> result = nli_lex.compute(
    ...     predictions=["It was painted by Leonardo da Vinci around 1503.", "It was painted by Michelangelo."],
    ...     references=["Leonardo da Vinci", "Leonardo da Vinci"],
    ...     questions=["Who painted the Mona Lisa?", "Who painted the Mona Lisa?"],
    ... )
    >>> result["correct"]
    [True, False]
"""


@dataclass(frozen=True)
class Options:
    """Settings of one call of `compute`, whose docstring explains them.

    Raises:
        InvalidInput: the output is unknown.
    """

    weights: Weights  # with template and number words as the call wants them
    run: RunOptions
    output: str = no_score_change("all")

    def __post_init__(self) -> None:
        check_choice("output", self.output, OUTPUTS)


class NLILex(CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `resolve_checkpoint`)."""

    scorer: PairScorer

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("predictions", "references", "questions"),
            homepage="https://arxiv.org/abs/2511.07659",
            license="Apache-2.0",
        )

    def _download_and_prepare(self, dl_manager: datasets.DownloadManager) -> None:
        self.scorer = load_scorer(self.config_name)

    def check_columns(self, columns: dict[str, object]) -> dict[str, list]:
        """Like `CheckedInputs.check_columns`, and rejects blank references."""
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
        references: list | None = None,
        questions: list[str] | None = None,
        features: str = "rich",
        weights: str | Path | None = None,
        template: str | None = None,
        number_words: bool | None = None,
        precision: str = "float32",
        max_length: int | None = None,
        batch_size: int = BATCH_SEQUENCES,
        device: str | None = None,
        output: str = "all",
    ) -> dict | None:
        """Judge predictions by references, together with those added before."""
        run = {"precision": precision, "max_length": max_length, "batch_size": batch_size, "device": device}
        judge = {"features": features, "weights": weights, "template": template, "number_words": number_words}
        columns = {"predictions": predictions, "references": references, "questions": questions}
        return self.compute_checked(columns, self._options(output, **judge, **run))

    def _options(self, output: str = "all", **settings: object) -> Options:
        """The arguments of `compute`, checked, with the checkpoint's own values where they are None."""
        names = {item.name for item in fields(RunOptions)}
        run = self.scorer.resolve(RunOptions(**{name: settings.pop(name) for name in names.intersection(settings)}))
        return Options(self.weights(**settings), run, output)

    def weights(
        self,
        features: str = "rich",
        weights: str | Path | None = None,
        template: str | None = None,
        number_words: bool | None = None,
    ) -> Weights:
        """The weights that `compute` uses, given the same arguments.

        Raises:
            ValueError: the checkpoint has no weights, or an argument is invalid.
        """
        check_choice("features", features, tuple(FORMS))
        check_choice("number_words", number_words, (None, False, True))
        if weights is not None and not isinstance(weights, (str, Path)):
            raise invalid_input("weights", f"expected a file's name or None, got {quote(weights)}")
        path = self.scorer.folder if weights is None else weights
        fitted = read_weights(path, features, self.scorer.checkpoint_sha256)
        if template is not None:
            fitted = replace(fitted, template=check_template(template))
        return fitted if number_words is None else replace(fitted, number_words=number_words)

    def _compute(self, predictions: list[str], references: list, questions: list[str], options: Options) -> dict:
        weights, several = options.weights, isinstance(references[0], list)
        texts = questions, predictions, references if several else [[text] for text in references]
        match = SUBSTRING if SUBSTRING in weights.features else "lexical_match"
        reading = (weights.template, weights.number_words, {*weights.features, "entailment", match}, options.run)
        features = extract(self.scorer, *texts, *reading, weights.whole_question)
        judged = judge(weights, features)
        correct = judged.p > THRESHOLD
        result: dict = {"nli_lex": float(np.mean(correct))}
        if options.output == "mean":
            return result
        chosen = features.table[judged.rows]
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
        }
        if several:
            result["best_reference"] = judged.best_reference.tolist()
        if options.output == "reasons":
            result["reasons"] = _reasons(weights, chosen, features.blank)
        return result

    def signature(self, **settings: object) -> str:
        """Every setting that can change a score, given arguments of `compute`; equal signatures can be compared."""
        return str(self._signature(self._options(**settings)))

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
        max_length: int | None = None,
        batch_size: int = BATCH_SEQUENCES,
        device: str | None = None,
    ) -> Explanation:
        """Contribution of each token to the probability of one row, in three directions; see `attribution.explain`.

        `method` is "leave_one_out" (the probability minus that of the texts without the token; without a word or a run
        of words if the texts have more than 48 tokens) or "integrated_gradients" (of what the model reads; the words
        that are compared stay as they are). The other arguments are those of `compute`; the model runs in float32.

        Raises:
            ValueError: `compute` would raise one, the method is unknown, or the texts are too long to leave out each
                of their tokens.
        """
        texts = {"prediction": prediction, "reference": reference, "question": question}
        for name, text in texts.items():
            check_text(name, text)
        self.check_columns({f"{name}s": [text] for name, text in texts.items()})
        check_choice("method", method, METHODS)
        run = RunOptions("float32", max_length, batch_size, device)
        options = Options(self.weights(features, weights), self.scorer.resolve(run))

        def score(variants: list[Texts]) -> np.ndarray:
            columns = ([variant[name] for variant in variants] for name in texts)
            return np.array(self._compute(*columns, options)["scores"])

        return explain(self.scorer, options.weights, texts, method, options.run, score)


def _reasons(weights: Weights, table: np.ndarray, blank: np.ndarray) -> list[dict[str, float]]:
    """What each feature adds to the log odds of each answer; nothing for a blank one."""
    added = contributions(weights, table).tolist()
    rows = [{"intercept": weights.intercept, **dict(zip(weights.features, row, strict=True))} for row in added]
    return [{} if empty else row for row, empty in zip(rows, blank, strict=True)]
