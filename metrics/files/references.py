"""Where a file has its references: several columns, several texts in a cell, or both."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from semantic_metrics.core.inputs import quote
from semantic_metrics.files import FileError
from semantic_metrics.files.rows import Cell, convert_rows, is_text

PRINTED_LIST = re.compile(r"\[\s*(['\"].*['\"])?\s*\]", re.DOTALL)  # a list as JSON or Python writes it


@dataclass(frozen=True)
class ReferenceColumns:
    """Columns of references, and how their cells are read.

    With one column, no separator and no JSON lists, a file's cells are all texts or all lists of texts, and stay as
    they are. Otherwise each row gets a list of texts: those of all its columns, without blank ones. A row whose
    references are all blank has one empty text.
    """

    names: tuple[str, ...]  # columns, one at least
    separator: str = ""  # what separates several texts in a cell; empty for none
    json_lists: bool = False  # whether a cell that is a JSON list of texts is read as several

    @property
    def are_joined(self) -> bool:
        """Whether each row gets a list of texts, whatever the file holds."""
        return len(self.names) > 1 or bool(self.separator) or self.json_lists

    def join(self, columns: list[list[Cell]], place: Callable[[int], str]) -> list[list[str]]:
        """The references of n rows, from n cells of each column; `place` names a row, given its index."""
        return convert_rows(zip(*columns, strict=True), self._of_row, place)

    def unread_list(self, columns: list[list[Cell]]) -> tuple[int, str, str] | None:
        """The first cell that looks like a list but is read as one text: its row, its column and the cell."""
        if self.json_lists:
            return None
        for name, cells in zip(self.names, columns, strict=True):
            for row, cell in enumerate(cells):
                if isinstance(cell, str) and cell.startswith("[") and PRINTED_LIST.fullmatch(cell):
                    return row, name, cell
        return None

    def _of_row(self, cells: tuple[Cell, ...]) -> list[str]:
        texts = [text for name, cell in zip(self.names, cells, strict=True) for text in self.of_cell(name, cell)]
        return [text for text in texts if text.strip()] or [""]

    def of_cell(self, name: str, cell: Cell) -> list[str]:
        """The texts of a cell of one of the columns. FileError: it is no text, no list of texts, or no JSON list."""
        if cell is None and len(self.names) > 1:
            return []  # a row of JSONL that lacks one of the columns
        if isinstance(cell, list) and all(map(is_text, cell)):
            return cell
        if not is_text(cell):
            raise FileError(f"expected a text or a list of texts in column {quote(name)}, got {quote(cell)}")
        if self.json_lists and (texts := _read_list(name, cell)) is not None:
            return texts
        return [part.strip() for part in cell.split(self.separator)] if self.separator else [cell]


def _read_list(name: str, cell: str) -> list[str] | None:
    """The texts of a cell that is a JSON list; None for another text."""
    if not cell.lstrip().startswith("["):
        return None
    try:
        texts = json.loads(cell)
    except (ValueError, RecursionError):
        if not PRINTED_LIST.fullmatch(cell.strip()):
            return None  # such as "[...] and so on"
        texts = None  # a list as Python writes it
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise FileError(f"expected a text or a JSON list of texts in column {quote(name)}, got {quote(cell)}")
    return texts


def warn_of_list(place: str, column: str, cell: str) -> str:
    """A warning about a cell that `ReferenceColumns.unread_list` found."""
    got = f"column {quote(column)} has {quote(cell)}"
    return f"warning: {place}: {got}, read as one text; --json-lists reads it as several"
