"""What the demos read and draw: boxes and CSV files in, tables, heat maps and files out; all text is escaped."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd

BINS = 10  # of a histogram; their names fit a phone
FAINT = 0.0005  # a contribution that reads as 0 with three decimals
BLUE, ORANGE = "0,114,178", "230,159,0"  # Okabe and Ito's, told apart by the colour-blind; the signs say the same

WRONG = (ValueError, OSError)  # what is said in a sentence; the Hub's errors are of these kinds

Columns = dict[str, list[str]]


@dataclass(frozen=True)
class Column:
    """Texts that a metric takes.

    Attributes:
        name: the metric's argument.
        label: what the page calls it.
        guesses: names that such a column may have in a file, in lower case.
    """

    name: str
    label: str
    guesses: tuple[str, ...] = ()


PREDICTIONS = Column(
    "predictions", "Predictions", ("prediction", "candidate", "candidates", "hypothesis", "answer", "answers", "output")
)
REFERENCES = Column("references", "References", ("reference", "target", "gold", "expected", "premise"))


def read_boxes(labels: list[str], boxes: tuple[str | None, ...]) -> list[list[str]]:
    """One text a line of each box; lines at the end that are empty in all of them do not count.

    Raises:
        ValueError: all are empty, or one has fewer lines than another.
    """
    written = [box or "" for box in boxes]
    if not any(map(str.strip, written)):
        raise ValueError(f"expected a text in each of the boxes {', '.join(labels)}; they are empty")
    count = max(box.rstrip("\n").count("\n") + 1 for box in written)
    lines = [box.split("\n") for box in written]
    for label, found in zip(labels, lines, strict=True):
        if len(found) < count:
            raise ValueError(f"{label}: expected {count} lines, as many as in the other box, got {len(found)}")
    return [found[:count] for found in lines]


def read_csv(path: str | None) -> Columns:
    """Columns of a CSV file (UTF-8, commas, a header line).

    Raises:
        ValueError: no file, an empty one, not UTF-8, not CSV, or rows that do not fit the header; says where.
    """
    if path is None:
        raise ValueError("expected a CSV file, got none: upload one first")
    csv.field_size_limit(2**31 - 1)  # the default, 128 KiB, is less than a long document
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header, rows = next(reader, []), []
            for row in filter(None, reader):
                if len(row) != len(header):
                    raise ValueError(f"line {reader.line_num}: expected {len(header)} values, got {len(row)}")
                rows.append(row)
    except UnicodeDecodeError as error:
        raise ValueError(f"the file: expected UTF-8 text, got the byte 0x{error.object[error.start]:02x}") from None
    except csv.Error as error:
        raise ValueError(f"the file: expected CSV, with commas ({error})") from None
    if not rows or len(set(header)) < len(header):
        raise ValueError(f"the file: expected a header of names that differ, and rows below it; got {header}")
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def read_chosen(columns: tuple[Column, ...], path: str | None, *chosen: str | None) -> tuple[Columns, Columns]:
    """Texts of the chosen columns of a file, and the file.

    Raises:
        ValueError: no file, a bad one, or a column that is not in it.
    """
    table = read_csv(path)
    for column, name in zip(columns, chosen, strict=True):
        if name not in table:
            raise ValueError(f"{column.label}: expected one of the columns {', '.join(table)}, got {name}")
    return {column.name: table[name] for column, name in zip(columns, chosen, strict=True)}, table


def read_typed(columns: tuple[Column, ...], *boxes: str | None) -> tuple[Columns, Columns]:
    """Texts of the boxes, twice: the file will hold the same."""
    found = read_boxes([column.label for column in columns], boxes)
    texts = dict(zip([column.name for column in columns], found, strict=True))
    return texts, texts


def write_csv(folder: str, name: str, table: dict[str, list]) -> str:
    """Write a table to a file of that name in a new folder within `folder`; returns its path."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(mkdtemp(dir=folder)) / name
    # all quoted, as `semantic-metrics score` does: a lone carriage return must come back
    pd.DataFrame(table).to_csv(path, index=False, quoting=csv.QUOTE_ALL, lineterminator="\n")
    return str(path)


def count_bins(values: Iterable[float], span: tuple[float, float]) -> pd.DataFrame:
    """Share of the values in each of BINS equal parts of the scale, which is widened for values beyond it."""
    found = np.array(list(values), dtype=float)
    low, high = min(span[0], found.min()), max(span[1], found.max())
    counts, edges = np.histogram(found, bins=BINS, range=(low, high))
    names = [f"{round(edge, 2):g}" for edge in edges[:-1]]
    return pd.DataFrame({"score, from": names, "% of rows": 100 * counts / len(found)})


def alert(error: Exception | str) -> str:
    """HTML that says in a sentence what is wrong; empty for an empty one."""
    said = " ".join(str(error).split())
    return said and f'<div class="sm-said" role="alert"><b>That did not work.</b> {escape(said)}</div>'


def singular(row: dict[str, str]) -> dict[str, str]:
    """The texts of a row by the names that `explain` gives its arguments."""
    return {name.removesuffix("s"): text for name, text in row.items()}


def heat_map(explanation: dict, texts: dict[str, str]) -> str:
    """HTML of what `explain` gives: each token with what it adds; blue and underlined raises the score.

    Args:
        explanation: with `tokens`, `spans`, `contributions` and `total` for each of the texts.
        texts: by name.
    """
    sides = {name: explanation[name] for name in texts if name in explanation}
    strongest = max((abs(share) for found in sides.values() for share in found["contributions"]), default=0)
    drawn = [
        f"<p><b>{escape(name.capitalize())}</b>: its tokens add up to {found['total']:+.3f}</p>"
        f'<div class="sm-tokens" dir="auto">{_tokens(found, texts[name], max(strongest, FAINT))}</div>'
        for name, found in sides.items()
    ]
    legend = "Blue over a solid line raises the score, orange over a dashed line lowers it."
    return "".join([*drawn, f'<p class="sm-small">{legend}</p>'])


def _tokens(found: dict, text: str, strongest: float) -> str:
    pieces, end = [], None
    for token, span, share in zip(found["tokens"], found["spans"], found["contributions"], strict=True):
        written = (text[span[0] : span[1]] if span else "") or token  # as it stands in the text, not as a word piece
        kinds = ["sm-token"] if span and span[0] == end else ["sm-token", "sm-gap"]
        end = span[1] if span else None
        if abs(share) >= FAINT:
            kinds.append("sm-up" if share > 0 else "sm-down")
        color = f"rgba({BLUE if share > 0 else ORANGE},{abs(share) / strongest * 0.6:.2f})"
        number = f"{share:+.3f}" if abs(share) >= FAINT else "0"
        shape = f'class="{" ".join(kinds)}" style="background:{color}"'
        pieces.append(f"<span {shape}>{escape(written)}<small>{number}</small></span>")
    return "".join(pieces)


def signed_table(values: dict[str, float], head: str) -> str:
    """HTML of named numbers with bars, positive ones blue, negative ones orange; the largest first."""
    strongest = max(map(abs, values.values()), default=0) or 1
    rows = []
    for name, value in sorted(values.items(), key=lambda item: -abs(item[1])):
        bar = f"width:{abs(value) / strongest * 7:.2f}em; background:rgb({BLUE if value > 0 else ORANGE})"
        number = f"{round(value, 2) + 0.0:+.2f}"  # + 0.0: no -0.00
        rows.append(
            f"<tr><td>{escape(name)}</td><td>{number}</td><td><div class='sm-bar' style='{bar}'></div></td></tr>"
        )
    return f'<p>{escape(head)}</p><table class="sm-signed">{"".join(rows)}</table>'
