"""NLI+lex in the harness of DIVER-QA, the data set of its paper (Balamurali and Cheng 2025; `saishridhar/DIVER-QA`).

The harness takes a Python file that has a `metric_function`, such as one of this line:

    from semantic_metrics.integrations.diver_qa import metric_function

    python evaluate_metrics.py --dataset diver_qa.csv --metric that_file.py --include-question --by-dataset --by-model
"""

from typing import Any

from semantic_metrics.core.loading import score


def metric_function(reference: str, answer: str, question: str = "", **options: Any) -> int:
    """Whether an answer is correct: 1 or 0. `nli_lex` needs the question, so start the harness with --include-question.

    Args:
        reference: the right answer.
        answer: the answer to judge.
        question: what was asked; without it the answer is judged without context.
        options: arguments of `semantic_metrics.score`, such as `checkpoint` and `features`.

    Raises:
        ValueError: a text or an option is invalid.

    Examples:
        >>> metric_function("Leonardo da Vinci", "It was painted by Michelangelo.", "Who painted the Mona Lisa?")
        0
    """
    return int(score("nli_lex", answer, reference, questions=question, progress=False, **options)["correct"][0])
