"""One entry of a config's `train` list -> examples: a reference with a correct text, an incorrect one, or both.

An entry names where its rows are (`path` below --data, or `hub` with `subset` and `split`), and what they are (`kind`):

| kind | columns | examples |
| --- | --- | --- |
| pairs | reference, candidate, label | the label decides: in `correct`, in `incorrect`, or left out |
| scored | reference, candidate, label | the same by number: at least `correct_from`, at most `incorrect_to` |
| triplets | reference, correct, incorrect | as they are |
| positives | `columns`: [reference, correct] pairs of columns | correct only; a loss adds random incorrect ones |
| captions | group, text | reference: a group's other texts joined by spaces; correct: each in turn |

`pivot: true` (kind pairs) makes triplets: the first correct and the first incorrect candidate of each reference, as the
MATCHA authors do with NLI data (paper, section 3.3).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from datasets import load_dataset

NO_LETTER = re.compile(r"[\W_]+")
READERS = {".parquet": pd.read_parquet, ".csv": pd.read_csv, ".jsonl": lambda path: pd.read_json(path, lines=True)}


@dataclass(frozen=True)
class Table:
    """Where rows are: a file below the data folder, or a dataset of the Hub."""

    path: str | None = None
    hub: str | None = None
    subset: str | None = None
    split: str = "train"
    where: dict[str, list] = field(default_factory=dict)  # keep the rows whose column holds one of the values

    def read(self, data: Path | None) -> pd.DataFrame:
        """The rows, filtered by `where`.

        Raises:
            ValueError: neither or both of path and hub, a missing file or column, an unknown file ending.
        """
        if (self.path is None) == (self.hub is None):
            raise ValueError(f"path, hub: expected exactly one of them, got {self.path!r} and {self.hub!r}")
        if self.hub is not None:
            rows = load_dataset(self.hub, self.subset, split=self.split).to_pandas()
        else:
            rows = self._read_file(data)
        for column, values in self.where.items():
            check_columns(rows, [column], self.path or self.hub)
            rows = rows[rows[column].isin(values)]
        return rows.reset_index(drop=True)

    def _read_file(self, data: Path | None) -> pd.DataFrame:
        path = Path(self.path)
        if not path.is_absolute() and not self.path.startswith("./"):  # ./ is the working directory, as in a shell
            if data is None:
                raise ValueError(f"--data: expected the folder that holds {self.path}, got none")
            path = data / path
        if path.suffix not in READERS:
            raise ValueError(f"path: expected a file ending in {sorted(READERS)}, got {path}")
        if not path.is_file():
            raise ValueError(f"path: no file {path}")
        return READERS[path.suffix](path)


@dataclass(frozen=True)
class Source:
    """An entry of `train`; see the module's table. `share` weighs how often its batches come (default: its size)."""

    name: str
    kind: str
    table: Table
    reference: str = "reference"
    candidate: str = "candidate"
    label: str = "label"
    correct: list = field(default_factory=lambda: ["correct"])
    incorrect: list = field(default_factory=lambda: ["incorrect"])
    correct_from: float | None = None
    incorrect_to: float | None = None
    scale: float = 5.0  # the highest human score of kind scored (STS-B: 0 to 5)
    columns: list[list[str]] = field(default_factory=list)
    group: str = "group"
    text: str = "text"
    pivot: bool = False
    contrastive: bool | None = None  # whether incorrect texts contradict; by default those of all kinds that have some
    keys: list[str] = field(default_factory=list)  # of kind pairs: further columns that `exclude` is checked against
    share: float | None = None
    limit: int | None = None
    licence: str = "not stated"
    credit: str = ""

    @property
    def has_contradictions(self) -> bool:
        """Whether its incorrect texts contradict, rather than being random other texts (table 10 of the paper)."""
        if self.contrastive is not None:
            return self.contrastive
        return self.kind in ("pairs", "triplets") or self.incorrect_to is not None


@dataclass(frozen=True)
class Example:
    """A reference and what is said against it.

    Attributes:
        reference: the text compared with.
        correct: a text that says the same, or None.
        incorrect: a text that does not, or None.
        target: graded similarity in [0, 1] of the correct text, where the data has one.
        origin: further texts that it was made from or belongs to, which `exclude` is checked against too.
    """

    reference: str
    correct: str | None = None
    incorrect: str | None = None
    target: float = float("nan")
    origin: tuple[str, ...] = ()

    def texts(self) -> Iterator[str]:
        """Every text it holds or was made from."""
        return (text for text in (self.reference, self.correct, self.incorrect, *self.origin) if text is not None)


def check_columns(rows: pd.DataFrame, columns: Iterable[str], where: str) -> None:
    """Raises ValueError if a column is missing; lists those there are."""
    missing = [column for column in columns if column not in rows.columns]
    if missing:
        raise ValueError(f"{where}: expected columns {missing}, got {list(rows.columns)}")


def normalise(text: str) -> str:
    """The form in which two texts count as the same when evaluation rows are kept out: letters and digits alone."""
    return " ".join(NO_LETTER.sub(" ", text.casefold()).split())


def load_source(source: Source, data: Path | None, excluded: frozenset[str]) -> tuple[list[Example], Counter]:
    """Read one source.

    Args:
        source: the entry.
        data: the folder that relative paths begin in.
        excluded: normalised texts of the evaluation sets; an example that holds one is dropped.

    Returns:
        The examples in the data's own order, and a count of what was read, kept, and dropped and why.

    Raises:
        ValueError: an unknown kind, a missing file or column, or nothing left to train on.
    """
    if source.kind not in BUILDERS:
        raise ValueError(f"kind of {source.name}: expected one of {sorted(BUILDERS)}, got {source.kind!r}")
    rows = source.table.read(data)
    examples = BUILDERS[source.kind](source, rows)
    kept, counts = [], Counter(rows=len(rows), examples=len(examples))
    for example in examples:
        texts = [normalise(text) if isinstance(text, str) else "" for text in example.texts()]
        if not all(texts):
            counts["dropped: empty text"] += 1
        elif not excluded.isdisjoint(texts):
            counts["dropped: in an evaluation set"] += 1
        else:
            kept.append(example)
    if source.limit is not None and len(kept) > source.limit:
        counts["dropped: over the limit"] = len(kept) - source.limit
        kept = [kept[i] for i in sorted(pd.Series(range(len(kept))).sample(source.limit, random_state=0))]
    counts["kept"] = len(kept)
    if not kept:
        raise ValueError(f"{source.name}: nothing left to train on ({dict(counts)})")
    return kept, counts


def read_excluded(entries: list[dict], data: Path | None) -> frozenset[str]:
    """Normalised texts of the `exclude` list: tables with the `columns` whose texts must not be trained on."""
    texts: set[str] = set()
    for entry in entries:
        columns = entry["columns"]
        rows = Table(**{key: value for key, value in entry.items() if key != "columns"}).read(data)
        check_columns(rows, columns, str(entry))
        for column in columns:
            texts.update(normalise(text) for text in rows[column].dropna())
    return frozenset(texts)


def _pairs(source: Source, rows: pd.DataFrame) -> list[Example]:
    check_columns(rows, [source.reference, source.candidate, source.label], source.name)
    check_columns(rows, source.keys, source.name)
    columns = (rows[source.reference], rows[source.candidate], rows[source.label])
    if source.pivot:
        return _pivot(source, zip(*columns, strict=True))
    examples = []
    origins = rows[source.keys].itertuples(index=False, name=None)
    for reference, candidate, label, origin in zip(*columns, origins, strict=True):
        if label in source.correct:
            examples.append(Example(reference, correct=candidate, origin=origin))
        elif label in source.incorrect:
            examples.append(Example(reference, incorrect=candidate, origin=origin))
    return examples


def _pivot(source: Source, rows: Iterable[tuple[str, str, object]]) -> list[Example]:
    first: dict[str, dict[bool, str]] = {}
    for reference, candidate, label in rows:
        if label in source.correct or label in source.incorrect:
            first.setdefault(reference, {}).setdefault(label in source.correct, candidate)
    return [Example(reference, found[True], found[False]) for reference, found in first.items() if len(found) == 2]


def _scored(source: Source, rows: pd.DataFrame) -> list[Example]:
    check_columns(rows, [source.reference, source.candidate, source.label], source.name)
    examples = []
    for reference, candidate, score in zip(
        rows[source.reference], rows[source.candidate], rows[source.label], strict=True
    ):
        if source.correct_from is None or score >= source.correct_from:  # graded: a regression loss reads the target
            examples.append(Example(reference, correct=candidate, target=score / source.scale))
        elif source.incorrect_to is not None and score <= source.incorrect_to:
            examples.append(Example(reference, incorrect=candidate, target=score / source.scale))
    return examples


def _triplets(source: Source, rows: pd.DataFrame) -> list[Example]:
    names = source.columns[0] if source.columns else ["reference", "correct", "incorrect"]
    check_columns(rows, names, source.name)
    return [Example(*texts) for texts in zip(*(rows[name] for name in names), strict=True)]


def _positives(source: Source, rows: pd.DataFrame) -> list[Example]:
    examples = []
    for reference, correct in source.columns:
        check_columns(rows, [reference, correct], source.name)
        examples += [Example(a, correct=b) for a, b in zip(rows[reference], rows[correct], strict=True)]
    return examples


def _captions(source: Source, rows: pd.DataFrame) -> list[Example]:
    check_columns(rows, [source.group, source.text], source.name)
    examples = []
    for _, texts in rows.groupby(source.group, sort=False)[source.text]:
        texts = [text.strip() for text in texts]
        for i, text in enumerate(texts if len(texts) > 1 else []):
            others = texts[:i] + texts[i + 1 :]
            examples.append(Example(" ".join(others), correct=text, origin=tuple(others)))
    return examples


BUILDERS = {
    "pairs": _pairs,
    "scored": _scored,
    "triplets": _triplets,
    "positives": _positives,
    "captions": _captions,
}
