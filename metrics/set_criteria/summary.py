"""A result of the set criteria for people: a table that fits on a screen, and a row for each figure."""

from collections.abc import Iterator
from typing import Any

from semantic_metrics.set_criteria.geometry import MEASURES

CONDITIONS = {
    "C1": "overlap: nearer to A, and to B, than they are to each other",
    "C2": "overlap: projected on the plane of A and B, it lies between them",
    "C3": "difference: A is nearer to it, and to B, than it is to B",
    "C4": "difference: A - B is nearer to it than to B",
    "C5": "difference: projected on the plane of A and B, it lies near A",
    "C6": "union: projected on the plane of A and B, it lies near the longer, or their middle",
}
ANGLE = "angle"  # the one measure of C2, C5 and C6
NAME_WIDTH = 30  # characters of an encoder's name
CELL_WIDTH = 8
MIN_SAMPLES = 100  # of an operator: with fewer, percentages say little


class CriteriaResult(dict[str, Any]):
    """The result of `compute`, a dict; printed, it is the table of `table_lines`."""

    def __str__(self) -> str:
        return "\n".join(table_lines(self))

    __repr__ = __str__

    def rows(self) -> list[dict[str, Any]]:
        """The figures of one encoder, see `figure_rows`, with the condition that each criterion asks for."""
        return [{**row, "condition": CONDITIONS[row["criterion"]]} for row in figure_rows(self)]


def table_lines(result: dict[str, Any], measure: str = MEASURES[0]) -> Iterator[str]:
    """A table with a line for each encoder, and what the criteria ask.

    Args:
        result: what `compute` returns, of one encoder or of several.
        measure: of C1, C3 and C4, one of geometry.MEASURES.
    """
    by_encoder = result.get("encoders") or {"this encoder": result}
    first = next(iter(by_encoder.values()))
    yield f"Percent of the samples that meet a criterion; C1, C3 and C4 by {measure}. Higher is better."
    yield "encoder".ljust(NAME_WIDTH) + "".join(name.rjust(CELL_WIDTH) for name in CONDITIONS)
    for name, one in by_encoder.items():
        shares = {row["criterion"]: row["holds"] for row in figure_rows(one) if row["measure"] in (ANGLE, measure)}
        yield _clip(name) + "".join(_percent(shares[criterion]) for criterion in CONDITIONS)
    yield from (f"  {criterion} {condition}" for criterion, condition in CONDITIONS.items())
    counts = first["operators"]
    few = f"; fewer than {MIN_SAMPLES} of one say little" if min(counts.values()) < MIN_SAMPLES else ""
    yield "samples: " + ", ".join(f"{count:,} of {operator}" for operator, count in counts.items()) + few
    if len(by_encoder) > 1:
        yield "The encoders share their margins: percentages of another call cannot be compared with these."


def figure_rows(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The figures of one encoder: a row for each criterion and measure of similarity."""
    for criterion in CONDITIONS:
        by_measure, left_out = result[criterion], result["undefined"][criterion]
        if "share" in by_measure:
            by_measure, left_out = {ANGLE: by_measure}, {ANGLE: left_out}
        for measure, value in by_measure.items():
            yield {
                "criterion": criterion,
                "measure": measure,
                "holds": value.get("share", value.get("both")),
                "samples": value["n"],
                "left_out": sum(left_out[measure].values()),
            }


def _percent(share: float | None) -> str:
    return ("-" if share is None else f"{share:.1f}").rjust(CELL_WIDTH)


def _clip(name: str) -> str:
    """The end of a long name, which tells folders apart."""
    return (name if len(name) < NAME_WIDTH else "..." + name[4 - NAME_WIDTH :]).ljust(NAME_WIDTH)
