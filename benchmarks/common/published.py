"""Numbers that papers print, as data: every published number that this project shows comes from here."""

import csv
from pathlib import Path

_FOLDER = Path(__file__).parents[1]


class Published:
    """The tables of one paper, by its folder, or of "suite".

    Its published.csv has the columns table, dataset, metric, figure and value.
    """

    def __init__(self, name: str) -> None:
        (path,) = [*_FOLDER.glob(f"{name}/published.csv"), *_FOLDER.glob(f"papers/{name}/published.csv")]
        with path.open(encoding="utf-8", newline="") as file:
            self._rows = list(csv.DictReader(file))
        self._values = {
            (row["table"], row["dataset"], row["metric"], row["figure"]): float(row["value"]) for row in self._rows
        }

    def get(self, table: str, dataset: str, metric: str | None, figure: str) -> float | None:
        """The printed number; None where the paper has none."""
        return self._values.get((table, dataset, metric or "", figure))

    def metrics(self, table: str) -> list[str]:
        """Names of the rows of a table, in its order."""
        return list(dict.fromkeys(row["metric"] for row in self._rows if row["table"] == table))
