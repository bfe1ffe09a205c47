"""NLI+lex as an `evaluate.Metric`: whether an answer to a question says what the reference answer says."""

import evaluate

from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.run_options import run_inputs
from semantic_metrics.nli_lex.scoring import NLILexScoring

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

_INPUTS = (
    """
Args:
    predictions: list of n strings, the answers to judge. One without a visible character is blank: it is judged
        incorrect, with p = 0.
    references: list of n strings, or of n lists of strings (several right answers each: the best counts).
    questions: list of n strings, what was asked. A blank one adds no context.
    features: "rich" (default); "paper" for the paper's method to the letter: its two features alone, the reference as a
        literal substring, questions read whole; or "two_features" for entailment and lexical match, with questions and
        words read as in the rich form. Each has weights of its own. "nli" needs none and takes any NLI model: p is the
        probability of entailment, with questions read whole.
    weights: file with the weights, as `semantic-metrics fit` writes it. None (default) for the `nli_lex.json` of the
        checkpoint: weights belong to a model.
    template: what the model reads, with `{question}` and `{answer}`: once with the answer (premise), once with the
        reference (hypothesis). None (default) for the template with which the weights were fitted.
    number_words: read "two" as "2" where words are compared. None (default) for the choice with which the weights were
        fitted.
"""
    + run_inputs(
        max_length="tokens that the model reads at a time; longer answers are read in windows. None (default) for the "
        "checkpoint's own."
    )
    + """
    output: "all" (default), "reasons" for what each feature adds too, or "mean" for {"nli_lex": share} alone.
    progress: show a bar where standard error is a terminal and it takes more than two seconds (default True).
    threshold: lowest score of a correct text, a number or a file that `semantic-metrics fit` wrote; adds `correct`.

Returns:
    nli_lex: share of the answers that are judged correct, in [0, 1], higher is better.
    scores: n floats in [0, 1]: probability that people would call the answer correct.
    correct: n bools, p > 0.5; with `threshold`, which wins, `decided_by` says so and the mean is their share.
    entailment: n floats in [0, 1]: probability that question and answer entail question and reference.
    lexical_match: n times 0 or 1: whether the answer contains the reference as whole words, normalised; with
        features="paper" or "nli" as a substring, ignoring case.
    signature: every setting that can change a score, the sha256 of checkpoint, tokeniser and weights among them.
    blank: number of blank answers.
    windowed: number of pairs of an answer and a reference that were read in several windows.
    shortened: number of questions of which only the sentence that asks was read, as they are long or contain a right
        answer (among options, say); 0 with features="paper" and "nli".
    split: number of pairs whose reference is too long for the model and was read in parts: the probabilities are the
        means over the parts.
    truncated: number of pairs that were not read in full, as the question was cut.
    unread: number of answers that differ from their reference only in characters that the model cannot read,
        or are mostly of such; their scores are below .5, and a warning says so.
    thoughts: number of predictions with a part in <think>, which is not judged.
    best_reference: with several references, the index of the best for each answer (the first of equals).
    reasons: with output="reasons", for each answer what "intercept" and each feature add to its log odds of being
        correct, log(p / (1 - p)), or to p itself with features="nli"; empty for a blank answer.
    rules: with output="reasons", for each answer the sentence of the rule that decided it, or "" where none did.

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
)


class NLILex(NLILexScoring, CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `resolve_checkpoint`)."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("predictions", "references", "questions"),
            homepage="https://arxiv.org/abs/2511.07659",
            license="Apache-2.0",
        )
