"""Tables read from files, and written as Markdown: a figure, [its 95% interval], and (in brackets) the paper's."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

NOTHING = "-"
_PUBLISHED = Path(__file__).with_name("published.csv")
READERS = {  # "None" and "NA" are answers to questions: an empty field alone is missing
    ".parquet": pd.read_parquet,
    ".csv": partial(pd.read_csv, keep_default_na=False, na_values=[""]),
    ".tsv": partial(pd.read_csv, sep="\t", keep_default_na=False),
    ".jsonl": partial(pd.read_json, lines=True, dtype=False),
}


def read_table(path: Path, *columns: str, texts: Iterable[str] = ()) -> pd.DataFrame:
    """Read a file with one of the endings of READERS that has some columns; of `texts`, cells like "1945" stay texts.

    Raises ValueError: the file name has another ending, the file cannot be read, or a column is missing; names the
    file.
    """
    if path.suffix not in READERS:
        raise ValueError(f"{path}: expected a file that ends in one of {', '.join(READERS)}, got {path.suffix!r}")
    try:
        typed = {"dtype": dict.fromkeys(texts, str)} if path.suffix in (".csv", ".tsv") else {}  # the others have types
        table = READERS[path.suffix](path, **typed)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from error
    check_columns(table, columns, path)
    return table


def check_columns(table: pd.DataFrame, columns: Iterable[str], source: object) -> None:
    """Raise a ValueError that names the source, the columns that were expected, and those that are missing."""
    if missing := sorted(set(columns) - set(table.columns)):
        raise ValueError(f"{source}: expected columns {', '.join(columns)}, missing {missing}")


def column_texts(frame: pd.DataFrame, column: str, source: object, empty: bool = True) -> list[str]:
    """The texts of a column; a ValueError names the source and a row without one, or, unless `empty`, a blank one."""
    texts = frame[column].tolist()
    for row, text in enumerate(texts):
        if not isinstance(text, str) or not (empty or text.strip()):
            raise ValueError(f"{source}: expected a text in column {column!r}, got {text!r} in row {row}")
    return texts


def write_output(folder: Path, report: str, **tables: pd.DataFrame) -> str:
    """Write tables as NAME.csv and the report as report.txt to a folder, which is made; returns the report."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "report.txt").write_text(report + "\n", encoding="utf-8")
    return report


def cell(row: Mapping[str, object], digits: int = 2, interval: bool = True, mark: str = "") -> str:
    """One figure, such as `57.36 [55.10, 59.00] (57.40)`; `mark` is a sign behind the value.

    `row` has `value`, and perhaps `low`, `high` and `published`; None or NaN for what is missing.
    """
    value, low, high, published = (row.get(name) for name in ("value", "low", "high", "published"))
    parts = [] if pd.isna(value) else [f"{value:.{digits}f}{mark}"]
    if interval and parts and not (pd.isna(low) or pd.isna(high)):
        parts.append(f"[{low:.{digits}f}, {high:.{digits}f}]")
    if not pd.isna(published):
        parts.append(f"({published:.{digits}f})")
    return " ".join(parts) or NOTHING


def markdown(frame: pd.DataFrame, digits: int = 1) -> str:
    """A data frame as Markdown, its numbers rounded, `-` for what is missing."""
    known = frame.astype(object).where(frame.notna(), None)  # NaN is printed as it is
    return known.to_markdown(index=False, floatfmt=f".{digits}f", missingval=NOTHING)


def figures_text(
    title: str,
    figures: pd.DataFrame,
    rows: str,
    columns: Sequence[str],
    labels: Mapping[str, str] | None = None,
    digits: int = 2,
    intervals: Iterable[str] | bool = True,
    notes: Iterable[str] = (),
) -> str:
    """A title, a table of long data, and the reasons of the lines for which nothing was measured.

    `figures` has a figure a line: the columns `rows` and `columns`, those of `cell`, and perhaps `reason`. `rows` has a
    line of the table for each of its values, in their order; values of `columns` together name a column, by `labels`.
    `intervals` says whether to show them, or names values of `columns` that have them. `notes` stand below the table.
    """
    cells: dict[str, dict[str, str]] = {}
    measured: dict[str, bool] = {}
    reasons: dict[str, str] = {}
    for row in figures.to_dict("records"):
        names = [str(row[name]) for name in columns]
        shown = intervals if isinstance(intervals, bool) else bool(set(intervals) & set(names))
        heading = ", ".join(filter(None, ((labels or {}).get(name, name) for name in names)))
        line = str(row[rows])
        cells.setdefault(line, {})[heading] = cell(row, digits, shown, "*" if row.get("best") is True else "")
        measured[line] = measured.get(line, False) or not pd.isna(row["value"])
        if isinstance(row.get("reason"), str):
            reasons.setdefault(line, row["reason"])
    headings = list(dict.fromkeys(heading for line in cells.values() for heading in line))
    table = [[name, *(line.get(heading, NOTHING) for heading in headings)] for name, line in cells.items()]
    drawn = pd.DataFrame(table, columns=[rows, *headings])
    text = drawn.to_markdown(index=False, disable_numparse=True)
    absent = [f"{name}: not measured: {reason}" for name, reason in reasons.items() if not measured[name]]
    return "\n".join([title, "", text, *notes, *absent])


class Published:
    """The numbers that a paper prints, by its folder, or "suite": every published number that is shown comes from here.

    They stand in published.csv, with the columns paper, table, dataset, metric, figure and value.
    """

    def __init__(self, name: str) -> None:
        with _PUBLISHED.open(encoding="utf-8", newline="") as file:
            self._rows = [row for row in csv.DictReader(file) if row["paper"] == name]
        self._values = {
            (row["table"], row["dataset"], row["metric"], row["figure"]): float(row["value"]) for row in self._rows
        }

    def get(self, table: str, dataset: str, metric: str | None, figure: str) -> float | None:
        """The printed number; None where the paper has none."""
        return self._values.get((table, dataset, metric or "", figure))

    def metrics(self, table: str) -> list[str]:
        """Names of the rows of a table, in its order."""
        return list(dict.fromkeys(row["metric"] for row in self._rows if row["table"] == table))
