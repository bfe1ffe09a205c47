"""NLI+lex as an `evaluate.Metric`: whether an answer to a question says what the reference answer says."""

import json
from dataclasses import replace
from pathlib import Path

import datasets
import evaluate
import numpy as np
from datasets import Features, Sequence, Value

from semantic_metrics.core.checked_metric import CheckedInputs
from semantic_metrics.core.inputs import check_choice, check_text
from semantic_metrics.core.resolve import resolve_checkpoint
from semantic_metrics.cross_encoder.pair_attribution import METHODS, Explanation, Texts
from semantic_metrics.cross_encoder.pair_checkpoint import label_names
from semantic_metrics.cross_encoder.pair_scorer import BATCH_SIZE, PairScorer
from semantic_metrics.cross_encoder.precision import PRECISIONS
from semantic_metrics.nli_lex.attribution import explain
from semantic_metrics.nli_lex.features import FORMS, PAPER, RICH, extract, load_scorer
from semantic_metrics.nli_lex.lexical import lexical_match
from semantic_metrics.nli_lex.numerals import spell_in_digits
from semantic_metrics.nli_lex.question import asked
from semantic_metrics.nli_lex.weights import Weights, contributions, judge, read_weights
from semantic_metrics.nli_lex.windows import check_template, is_blank

# evaluate copies only the siblings that this script itself imports
__all__ = ["PRECISIONS", "NLILex", "asked", "check_template", "label_names", "lexical_match", "resolve_checkpoint"]
__all__ += ["spell_in_digits"]

VERSION = "0.1.0"
THRESHOLD = 0.5  # Balamurali & Cheng 2025, section 3.2: correct = p > 0.5
OUTPUTS = ("all", "mean", "reasons")

_DESCRIPTION = """\
NLI+lex judges whether a free-form answer to a question matches the reference answer, as people judge it: a logistic
regression over what a model of natural language inference says (does question and answer entail question and
reference?) and what their words say (does the reference stand in the answer?) (Balamurali and
Cheng 2025).
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
    questions: list of n strings, what was asked. A blank one is no context.
    features: "rich" (default), or "paper" for the two features of the paper alone; each has weights of its own.
    weights: file with the weights, as `semantic-metrics fit` writes it. None (default) for the `nli_lex.json` of the
        checkpoint: weights belong to a model.
    template: what the model reads, with `{question}` and `{answer}`: once with the answer (premise), once with the
        reference (hypothesis). None (default) for that with which the weights were fitted.
    number_words: read "two" as "2" where words are compared. None (default): as the weights were fitted.
    precision: "float32" (default), or "bfloat16" or "int8", which are faster and move the scores.
    max_length: tokens that the model reads at a time; longer answers are read in windows. None (default) for the
        checkpoint's own.
    batch_size: pairs that the model reads at a time, at most (default 64).
    device: where the model runs, as "cpu" or "cuda:0"; None (default) for a GPU if there is one.
    output: "all" (default), "reasons" for what each feature adds too, or "mean" for {"nli_lex": share} alone.

Returns:
    nli_lex: share of the answers that are judged correct, in [0, 1], higher is better.
    scores: n floats in [0, 1]: probability that people would call the answer correct.
    correct: n bools, p > 0.5.
    entailment: n floats in [0, 1]: probability that question and answer entail question and reference.
    lexical_match: n times 0 or 1: whether the reference stands in the answer, normalised, as whole words.
    signature: every setting that can change a score, the sha256 of checkpoint, tokeniser and weights among them.
    blank: how many answers are blank.
    windowed: how many pairs of an answer and a reference were read in several windows.
    shortened: how many questions were not read in full: of one that is long or holds a right answer (among options,
        say), what asks is read.
    truncated: how many of them were not read in full: the question was cut (the reference never is).
    best_reference: with several references, the index of the best for each answer (the first of equals).
    reasons: with output="reasons", for each answer what "intercept" and each feature add to its log odds of being
        correct, log(p / (1 - p)); none for a blank one.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a blank reference, a
        lone surrogate, an option that is none, no weights, a reference too long for the model; names the argument,
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


class NLILex(CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `resolve_checkpoint`)."""

    scorer: PairScorer

    def _info(self) -> evaluate.MetricInfo:
        text = Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[
                Features({"predictions": text, "references": Sequence(text), "questions": text}),
                Features({"predictions": text, "references": text, "questions": text}),
            ],
            homepage="https://arxiv.org/abs/2511.07659",
            license="Apache-2.0",
        )

    def _download_and_prepare(self, dl_manager: datasets.DownloadManager) -> None:
        self.scorer = load_scorer(self.config_name)

    def check_columns(self, columns: dict[str, object]) -> dict[str, list]:
        """As `CheckedInputs.check_columns`; a blank reference is none."""
        checked = super().check_columns(columns)
        for i, group in enumerate(checked["references"]):
            for j, text in enumerate([group] if isinstance(group, str) else group):
                if is_blank(text):
                    place = f"references[{i}]" if isinstance(group, str) else f"references[{i}][{j}]"
                    raise ValueError(f"{place}: expected a text, got {text[:40]!r}: nothing to compare with")
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
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
        output: str = "all",
    ) -> dict | None:
        """Judge answers by references, those added before included."""
        check_choice("output", output, OUTPUTS)
        self.scorer.check_options(precision, max_length, batch_size, device)
        options = {
            "weights": self.weights(features, weights, template, number_words),
            "reading": {
                "precision": precision,
                "max_length": max_length,
                "batch_size": batch_size,
                "device": device,
            },
            "output": output,
        }
        columns = {"predictions": predictions, "references": references, "questions": questions}
        return self.compute_checked(columns, options)

    def weights(
        self,
        features: str = "rich",
        weights: str | Path | None = None,
        template: str | None = None,
        number_words: bool | None = None,
    ) -> Weights:
        """The weights that `compute` uses, given the same arguments.

        Raises:
            ValueError: there are none, or an argument is none.
        """
        check_choice("features", features, tuple(FORMS))
        check_choice("number_words", number_words, (None, False, True))
        if weights is not None and not isinstance(weights, (str, Path)):
            raise ValueError(f"weights: expected a file's name or None, got {weights!r}")
        place = self.scorer.folder if weights is None else weights
        found = read_weights(place, features, self.scorer.checkpoint_sha256)
        if template is not None:
            found = replace(found, template=check_template(template))
        return found if number_words is None else replace(found, number_words=number_words)

    def _compute(
        self,
        predictions: list[str],
        references: list,
        questions: list[str],
        weights: Weights,
        reading: dict,
        output: str,
    ) -> dict:
        several = isinstance(references[0], list)
        texts = questions, predictions, references if several else [[text] for text in references]
        names = {*weights.features, *PAPER}
        found = extract(self.scorer, *texts, weights.template, weights.number_words, names, **reading)
        judged = judge(weights, found)
        correct = judged.p > THRESHOLD
        result: dict = {"nli_lex": float(np.mean(correct))}
        if output == "mean":
            return result
        chosen = found.table[judged.rows]
        result |= {
            "scores": judged.p.tolist(),
            "correct": correct.tolist(),
            "entailment": chosen[:, RICH.index("entailment")].tolist(),
            "lexical_match": chosen[:, RICH.index("lexical_match")].astype(int).tolist(),
            "signature": self.signature(weights, reading["precision"], reading["max_length"]),
            "blank": int(found.blank.sum()),
            "windowed": found.windowed,
            "shortened": int(found.shortened.sum()),
            "truncated": found.truncated,
        }
        if several:
            first = np.searchsorted(found.owner, np.arange(len(predictions)))
            result["best_reference"] = (judged.rows - first).tolist()
        if output == "reasons":
            result["reasons"] = _reasons(weights, chosen, found.blank)
        return result

    def explain(
        self,
        prediction: str,
        reference: str,
        question: str,
        method: str = "leave_one_out",
        features: str = "rich",
        weights: str | Path | None = None,
        max_length: int | None = None,
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
    ) -> Explanation:
        """Contribution of each token to the probability of one row, in three directions; see `attribution.explain`.

        `method` is "leave_one_out" (the probability minus that of the texts without the token) or
        "integrated_gradients" (of what the model reads; the words that are compared stay as they are). The other
        arguments are those of `compute`; the model runs in float32.

        Raises:
            ValueError: as `compute`; an unknown method, or texts too long to leave out each of their tokens.
        """
        texts = {"prediction": prediction, "reference": reference, "question": question}
        for name, text in texts.items():
            check_text(name, text)
        self.check_columns({f"{name}s": [text] for name, text in texts.items()})
        check_choice("method", method, METHODS)
        self.scorer.check_options("float32", max_length, batch_size, device)
        judge_by = self.weights(features, weights)
        reading = {"precision": "float32", "max_length": max_length, "batch_size": batch_size, "device": device}

        def score(variants: list[Texts]) -> np.ndarray:
            columns = ([variant[name] for variant in variants] for name in texts)
            return np.array(self._compute(*columns, judge_by, reading, "all")["scores"])

        return explain(self.scorer, judge_by, texts, method, reading, score)

    def signature(
        self, weights: Weights | None = None, precision: str = "float32", max_length: int | None = None
    ) -> str:
        """Every setting that can change a score; results with the same signature are comparable."""
        weights = weights or self.weights()
        parts = {
            "checkpoint": self.scorer.checkpoint_sha256[:16],
            "tokenizer": self.scorer.tokenizer_sha256[:16],
            "features": weights.form,
            "weights": weights.sha256[:16],
            "template": json.dumps(weights.template),
            "number_words": str(weights.number_words).lower(),
            "precision": precision,
            "max_length": max_length or self.scorer.max_length,
            "version": VERSION,
        }
        return "nli_lex|" + "|".join(f"{key}:{value}" for key, value in parts.items())


def _reasons(weights: Weights, table: np.ndarray, blank: np.ndarray) -> list[dict[str, float]]:
    """What each feature adds to the log odds of each answer."""
    added = contributions(weights, table).tolist()
    each = [{"intercept": weights.intercept, **dict(zip(weights.features, row, strict=True))} for row in added]
    return [{} if empty else row for row, empty in zip(each, blank, strict=True)]
