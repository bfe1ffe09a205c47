"""Verdicts of integrations: whether a text passes, and why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from semantic_metrics.core.contract import TextMetric, argument_names, describe
from semantic_metrics.core.inputs import invalid_input
from semantic_metrics.core.threshold import resolve
from semantic_metrics.html.explained import explained_words
from semantic_metrics.integrations.micro_batcher import MicroBatcher, RowScore

WORDS_NAMED = 3  # of each text, those that lower the score most
LEAST_EFFECT = 0.005  # of a word that is named; smaller ones round to 0.00


def resolve_threshold(name: str, metric: TextMetric, threshold: float | str | Path | None, **options: Any) -> float:
    """The lowest score with which a text passes: a number, one from a file of `semantic-metrics fit`, or the metric's.

    With None it is the metric's own.

    Raises:
        ValueError: the threshold is none of these, its file is for another metric or other options of `compute`, or the
            metric has no threshold of its own.
    """
    if threshold is None:
        lowest = describe(name).lowest_correct
        if lowest is None:
            expected = f"a number or a file of `semantic-metrics fit`, as {name} itself does not say what is correct"
            raise invalid_input("threshold", f"expected {expected}, got None")
        return lowest
    line = resolve(threshold)
    if isinstance(line, float):
        return line
    line.check_signature(metric.signature(**options))
    return line.value


def describe_score(name: str, score: RowScore) -> str:
    """One line for people: the verdict and its reason if the metric has them, the score, and what it is made of."""
    details = dict(score.details)
    said = ": ".join(str(details.pop(key)) for key in ("verdict", "reason") if isinstance(details.get(key), str))
    named = {key: value for key, value in {**details, **score.parts}.items() if isinstance(value, (bool, int, float))}
    figures = [f"{name} {score.value:.4f}", *(f"{key} {_spell(value)}" for key, value in named.items())]
    return "; ".join(filter(None, [said, ", ".join(figures)]))


def _spell(value: float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value).lower()


def explain_score(
    batcher: MicroBatcher, score: RowScore, prediction: str, references: str | list[str], question: str | None = None
) -> str:
    """The words that lower a score most, on one line.

    Empty if there are none, the metric explains no scores, or the texts are too long for it. It takes many passes of
    the model for metrics whose default method leaves out one word after another. With several references the best
    one is explained; all where all are read, as by `support`.
    """
    reference = references
    if not isinstance(reference, str):
        all_count = "best_reference" not in score.details
        reference = "\n\n".join(references) if all_count else references[score.details["best_reference"] or 0]
    asked = (question,) if describe(batcher.name).takes_questions else ()
    if not hasattr(batcher.metric, "explain"):
        return ""
    known = argument_names(batcher.metric.explain)
    options = {name: value for name, value in batcher.options.items() if name in known}
    try:
        explanation = batcher.metric.explain(prediction, reference, *asked, **options)
    except ValueError:  # texts that are too long to leave out their words
        return ""
    texts = {"prediction": prediction, "reference": reference, "question": question or ""}
    lines = (_lowest(side, explanation[side], text) for side, text in texts.items() if side in explanation)
    return "; ".join(filter(None, lines))


def _lowest(side: str, explained: dict[str, Any], text: str) -> str:
    """The words of one text that lower the score most."""
    lowest = sorted((share, word) for word, _, share in explained_words(explained, text))[:WORDS_NAMED]
    named = ", ".join(f"{word!r} {share:+.2f}" for share, word in lowest if share <= -LEAST_EFFECT)
    return f"lowered by {named} in the {side}" if named else ""


def reasons(batcher: MicroBatcher, score: RowScore, explain: bool, *row: Any) -> Iterator[str]:
    """`describe_score`, and if asked for `explain_score` of the row (prediction, references, question)."""
    yield describe_score(batcher.name, score)
    if explain and (effects := explain_score(batcher, score, *row)):
        yield effects
