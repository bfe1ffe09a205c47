"""Rows of a published dataset, one at a time: from the Hub, or from a file or folder in the same format."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from datasets import load_dataset

Row = dict[str, object]

BUILDERS = {  # what `datasets` reads a file with, by its ending
    ".parquet": ("parquet", {}),
    ".jsonl": ("json", {}),
    ".json": ("json", {}),
    ".csv": ("csv", {"keep_default_na": False}),  # "None" and "NA" are texts
    ".tsv": ("csv", {"keep_default_na": False, "sep": "\t"}),
    ".txt": ("text", {}),
}


@dataclass(frozen=True)
class Place:
    """Where a dataset's rows are.

    Attributes:
        hub: Hub id, or a folder laid out as that repository.
        subset: its configuration, if it has several.
        split: name of its split.
        file: file that is read instead.
    """

    hub: str = ""
    subset: str | None = None
    split: str = "train"
    file: str | None = None

    def __str__(self) -> str:
        return self.file or ":".join(filter(None, (self.hub, self.subset, self.split)))

    def moved(self, given: str) -> "Place":
        """The same split in a folder or another repository, or a file that holds it.

        Raises:
            ValueError: the file's ending is not one of BUILDERS.
        """
        path = Path(given)
        if path.is_dir() or not path.exists():
            return replace(self, hub=given, file=None)
        if _ending(path) not in BUILDERS:
            raise ValueError(f"{given}: expected a file ending in one of {', '.join(BUILDERS)}, or in .gz after it")
        return replace(self, file=given)

    def rows(self) -> Iterator[Row]:
        """The rows, streamed.

        Raises:
            ValueError: they cannot be read; names them and the reason.
        """
        try:
            if self.file is not None:
                kind, options = BUILDERS[_ending(Path(self.file))]
                rows = load_dataset(kind, data_files=self.file, split="train", streaming=True, **options)
            else:
                rows = load_dataset(self.hub, self.subset, split=self.split, streaming=True)
            yield from rows
        except (OSError, RuntimeError) as error:  # what `datasets` and the Hub raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ValueError(f"{self} cannot be read ({reason})") from error


def _ending(path: Path) -> str:
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def columns(rows: Iterable[Row], *names: str) -> Iterator[tuple]:
    """The values of some columns, row by row.

    Raises:
        ValueError: a column is missing; lists those there are.
    """
    for row in rows:
        missing = [name for name in names if name not in row]
        if missing:
            raise ValueError(f"expected columns {', '.join(names)}, got {', '.join(row)}")
        yield tuple(row[name] for name in names)
