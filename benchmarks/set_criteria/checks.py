"""What must hold of every run, computed from it: whether encoders are told from random vectors, and sums agree."""

import pandas as pd

from benchmarks.set_criteria.measure import Measured
from semantic_metrics.set_criteria.epsilon import CELLS
from semantic_metrics.set_criteria.geometry import MEASURES

ABOVE, CENTRED, HUNDRED = (
    "mean difference above random vectors",
    "cosine and NED cells agree, centred",
    "four cells add to 100",
)
NEAR = 1e-6  # percentage points by which cells that are equal may differ
SIDE_BY_SIDE = ("cosine", "ned")
COLUMNS = ["check", "encoder", "criterion", "condition", "measure", "value", "low", "high", "holds"]


def check_table(measured: list[Measured], means: pd.DataFrame, results: dict[str, dict]) -> pd.DataFrame:
    """One row for each check.

    * ABOVE: an encoder that is no floor exceeds the floor of random vectors in the mean differences of C1, C3 and C4:
      the bootstrap interval of what it has more lies above 0.
    * CENTRED: with every vector moved to mean 0 and length 1, NED is (1 - cosine) / 2, so the cells of C1 and C3 agree,
      each measure with its own ranges.
    * HUNDRED: both, first, second and neither add to 100.

    Args:
        measured: the encoders.
        means: from `set_criteria_means.means_table`.
        results: by encoder's name, from the metric's `report`.

    Returns:
        Columns COLUMNS; `holds` is missing where there was nothing to check.
    """
    held = means[~means["floor"] & means["measure"].isin(SIDE_BY_SIDE)]
    above = held.assign(check=ABOVE, value=held["above_floor"], low=held["floor_low"], high=held["floor_high"])
    above["holds"] = (above["low"] > 0).astype(object).where(above["low"].notna())
    rows = [_near(CENTRED, one.contender.name, one.centred_gap) for one in measured]
    for name, result in results.items():
        cells = [result[criterion][measure] for criterion in ("C1", "C3") for measure in MEASURES]
        off = [abs(sum(cell[key] for key in CELLS) - 100) for cell in cells if cell["n"]]
        rows.append(_near(HUNDRED, name, max(off, default=None)))
    return pd.concat([above[COLUMNS], pd.DataFrame(rows, columns=COLUMNS)], ignore_index=True)


def _near(check: str, encoder: str, value: float | None) -> dict[str, object]:
    holds = None if value is None else value < NEAR
    return {"check": check, "encoder": encoder, "criterion": "C1, C3", "value": value, "holds": holds}
