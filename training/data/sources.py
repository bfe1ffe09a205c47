"""One entry of a config's `train` list -> examples: a reference with a correct text, an incorrect one, or both.

An entry names its rows (a `Table`) and their `kind`, which decides what further keys it takes:

| kind | class | examples |
| --- | --- | --- |
| pairs | `LabelledPairs` | the label decides: in `correct`, in `incorrect`, or left out |
| scored | `ScoredPairs` | the same by number: at least `correct_from`, at most `incorrect_to` |
| triplets | `Triplets` | as they are |
| positives | `Positives` | correct only; a loss adds random incorrect ones |
| captions | `Captions` | reference: a group's other texts joined by spaces; correct: each in turn |
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import pandas as pd
from datasets import load_dataset
from pydantic import Discriminator

from training.data.config_checks import Count, Positive

Rows = TypeVar("Rows", pd.DataFrame, pd.Series)
BUNDLED = "bundled:"
NO_LETTER = re.compile(r"[\W_]+")
TEXT_COLUMNS = dict.fromkeys(("reference", "candidate", "correct", "incorrect", "text"), str)  # numbers are texts there
READ_CSV = partial(pd.read_csv, keep_default_na=False, na_values=[""])  # "None", "null" and "NA" are texts
LINES = {"sep": "\t", "names": ["reference", "correct"], "quoting": csv.QUOTE_NONE, "on_bad_lines": "skip"}
READERS = {
    ".parquet": pd.read_parquet,
    ".csv": READ_CSV,
    ".tsv": partial(READ_CSV, dtype=str, **LINES),  # pairs, without a line of names
    ".jsonl": partial(pd.read_json, lines=True, dtype=False),
}


@dataclass(frozen=True)
class Table:
    """Where rows are: a file, or a dataset of the Hub.

    A `path` begins in the data folder, in the working directory if it begins with `./`, and in this folder if it
    begins with `bundled:`.
    """

    path: str | None = None
    hub: str | None = None
    subset: str | None = None
    split: str = "train"
    where: dict[str, list] = field(default_factory=dict)  # keep the rows whose column holds one of the values
    explode: str | None = None  # column of lists of mappings: each mapping becomes a row, its keys columns

    def __post_init__(self) -> None:
        if (self.path is None) == (self.hub is None):
            raise ValueError(f"path, hub: expected exactly one of them, got {self.path!r} and {self.hub!r}")

    def read(self, data: Path | None, texts: Iterable[str] = ()) -> pd.DataFrame:
        """The rows, filtered by `where`; numbers in a CSV file's TEXT_COLUMNS and `texts` stay texts.

        Raises ValueError: a missing file or column, an unknown file ending.
        """
        if self.hub is not None:
            rows = load_dataset(self.hub, self.subset, split=self.split).to_pandas()
        else:
            rows = self._read_file(data, texts)
        if self.explode is not None:
            check_columns(rows, [self.explode], self.path or self.hub)
            rows = rows.explode(self.explode, ignore_index=True)
            rows = rows.drop(columns=self.explode).join(pd.DataFrame(rows[self.explode].tolist()))
        for column, values in self.where.items():
            check_columns(rows, [column], self.path or self.hub)
            rows = rows[rows[column].isin(values)]
        return rows.reset_index(drop=True)

    def _read_file(self, data: Path | None, texts: Iterable[str]) -> pd.DataFrame:
        path = Path(self.path)
        if self.path.startswith(BUNDLED):
            path = Path(__file__).parent / self.path.removeprefix(BUNDLED)
        elif not path.is_absolute() and not self.path.startswith("./"):
            if data is None:
                raise ValueError(f"--data: expected the folder that holds {self.path}, got none")
            path = data / path
        if path.suffix not in READERS:
            raise ValueError(f"path: expected a file ending in {sorted(READERS)}, got {path}")
        if not path.is_file():
            raise ValueError(f"path: no file {path}")
        options = {"dtype": TEXT_COLUMNS | dict.fromkeys(texts, str)} if path.suffix == ".csv" else {}
        return READERS[path.suffix](path, **options)


@dataclass(frozen=True)
class Entry:
    """The common part of the entries of every list `train`; `limit` keeps so many examples, drawn by seed 0.

    `licence` and `credit` are for people who read the config; those of a training config are shown in the card.
    """

    name: str
    table: Table
    limit: Count | None = None
    licence: str = "not stated"
    credit: str = ""


@dataclass(frozen=True)
class Exclusion:
    """An entry of `exclude`: the columns of a table whose texts must not be trained on."""

    table: Table
    columns: list[str]


@dataclass(frozen=True)
class Example:
    """A reference with a correct text, an incorrect one, or both.

    Attributes:
        correct, incorrect: a text that says the same as the reference, and one that does not, or None.
        target: graded similarity in [0, 1] of the correct text, where the data has one.
        origin: further texts that it was made from or belongs to, which `exclude` is checked against too.
    """

    reference: str
    correct: str | None = None
    incorrect: str | None = None
    target: float = float("nan")
    origin: tuple[str, ...] = ()

    def texts(self) -> Iterator[str]:
        """Its texts, and those it was made from."""
        return (text for text in (self.reference, self.correct, self.incorrect, *self.origin) if text is not None)


def check_columns(rows: pd.DataFrame, columns: Iterable[str], where: str) -> None:
    """Check that a table has some columns. Raises ValueError: a column is missing; lists those there are."""
    missing = [column for column in columns if column not in rows.columns]
    if missing:
        raise ValueError(f"{where}: expected columns {missing}, got {list(rows.columns)}")


def take_limit(rows: Rows, limit: int | None, counts: Counter) -> Rows:
    """At most `limit` of the rows, drawn by seed 0, in their own order; counts the others as dropped."""
    if limit is None or len(rows) <= limit:
        return rows
    counts["dropped: over the limit"] = len(rows) - limit
    return rows.sample(limit, random_state=0).sort_index()


def drop_texts(
    pairs: pd.DataFrame, excluded: frozenset[str], counts: Counter, reason: str = "empty text", same: bool = False
) -> pd.DataFrame:
    """The rows whose first two columns hold texts that are not excluded; counts the others as dropped.

    With `same`, rows that hold one text twice are dropped too, and count as those for `reason`.
    """
    forms = pairs.iloc[:, :2].fillna("").map(normalise)
    empty = (forms == "").any(axis=1) | (same & (forms.iloc[:, 0] == forms.iloc[:, 1]))
    held_out = ~empty & forms.isin(excluded).any(axis=1)
    counts[f"dropped: {reason}"] = int(empty.sum())
    counts["dropped: in an evaluation set"] = int(held_out.sum())
    return pairs[~empty & ~held_out]


def normalise(text: str) -> str:
    """Letters and digits alone, in lower case: texts that are equal in this form count as the same text."""
    return " ".join(NO_LETTER.sub(" ", text.casefold()).split())


@dataclass(frozen=True, kw_only=True)
class Source(Entry):
    """The common part of the entries of all kinds.

    Attributes:
        contrastive: whether incorrect texts contradict, rather than being random others; by default as its kind does.
        share: how often its batches come, relative to the other sources; its size by default.
        difficulty: level in a curriculum, from 1, the easiest; by default 1 without contradictions, 2 with them.
    """

    contradicts = False  # whether incorrect texts of this kind do
    contrastive: bool | None = None
    share: Positive | None = None
    difficulty: Count | None = None

    @property
    def has_contradictions(self) -> bool:
        """Whether its incorrect texts contradict (table 10 of the paper)."""
        return self.contradicts if self.contrastive is None else self.contrastive

    @property
    def level(self) -> int:
        """Its level in a curriculum."""
        return self.difficulty or 1 + self.has_contradictions

    def examples(self, rows: pd.DataFrame) -> list[Example]:
        """The examples of the table's rows, in their order. Raises KeyError: a column is missing."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LabelledPairs(Source):
    """Pairs whose label, in `correct` or in `incorrect`, says whether the candidate is correct; others are left out.

    `pivot` makes triplets of the first correct and the first incorrect candidate of each reference, as the authors do
    with NLI data (paper, section 3.3), with `both_ways` of either text; `exclude` is checked against `keys` too.
    """

    kind: Literal["pairs"] = "pairs"
    contradicts = True
    reference: str = "reference"
    candidate: str = "candidate"
    label: str = "label"
    correct: list = field(default_factory=lambda: ["correct"])
    incorrect: list = field(default_factory=lambda: ["incorrect"])
    pivot: bool = False
    both_ways: bool = False
    keys: list[str] = field(default_factory=list)

    def examples(self, rows: pd.DataFrame) -> list[Example]:
        """See `Source.examples`."""
        if self.both_ways:
            turned = rows.rename(columns={self.reference: self.candidate, self.candidate: self.reference})
            rows = pd.concat([rows, turned]).sort_index(kind="stable")
        columns = (rows[self.reference], rows[self.candidate], rows[self.label])
        if self.pivot:
            return self._pivot(zip(*columns, strict=True))
        examples = []
        origins = rows[self.keys].itertuples(index=False, name=None)
        for reference, candidate, label, origin in zip(*columns, origins, strict=True):
            if label in self.correct:
                examples.append(Example(reference, correct=candidate, origin=origin))
            elif label in self.incorrect:
                examples.append(Example(reference, incorrect=candidate, origin=origin))
        return examples

    def _pivot(self, rows: Iterable[tuple[str, str, object]]) -> list[Example]:
        first: dict[str, dict[bool, str]] = {}
        for reference, candidate, label in rows:
            if label in self.correct or label in self.incorrect:
                first.setdefault(reference, {}).setdefault(label in self.correct, candidate)
        return [Example(reference, texts[True], texts[False]) for reference, texts in first.items() if len(texts) == 2]


@dataclass(frozen=True, kw_only=True)
class ScoredPairs(Source):
    """Pairs that people rated.

    Attributes:
        correct_from: lowest rating of a correct candidate; by default all are correct, and only their target is graded.
        incorrect_to: highest rating of an incorrect candidate; by default there is none.
        scale: highest rating there can be (STS-B: 5).
    """

    kind: Literal["scored"] = "scored"
    reference: str = "reference"
    candidate: str = "candidate"
    label: str = "label"
    correct_from: float | None = None
    incorrect_to: float | None = None
    scale: Positive = 5.0

    @property
    def contradicts(self) -> bool:
        """Whether it has incorrect texts at all."""
        return self.incorrect_to is not None

    def examples(self, rows: pd.DataFrame) -> list[Example]:
        """See `Source.examples`."""
        examples, columns = [], [self.reference, self.candidate, self.label]
        for reference, candidate, score in rows[columns].itertuples(index=False, name=None):
            target = score / self.scale
            if self.correct_from is None or score >= self.correct_from:
                examples.append(Example(reference, correct=candidate, target=target))
            elif self.incorrect_to is not None and score <= self.incorrect_to:
                examples.append(Example(reference, incorrect=candidate, target=target))
        return examples


@dataclass(frozen=True, kw_only=True)
class Triplets(Source):
    """References with a correct and an incorrect text; `columns` is one list, of their three columns."""

    kind: Literal["triplets"] = "triplets"
    contradicts = True
    columns: list[list[str]] = field(default_factory=lambda: [["reference", "correct", "incorrect"]])

    def __post_init__(self) -> None:
        if [len(names) for names in self.columns] != [3]:
            raise ValueError(f"columns of {self.name}: expected one list of three columns, got {self.columns!r}")

    def examples(self, rows: pd.DataFrame) -> list[Example]:
        """See `Source.examples`."""
        return [Example(*texts) for texts in zip(*(rows[name] for name in self.columns[0]), strict=True)]


@dataclass(frozen=True, kw_only=True)
class Positives(Source):
    """References with a correct text; `columns` are pairs of columns, each of references and correct texts."""

    kind: Literal["positives"] = "positives"
    columns: list[list[str]]

    def __post_init__(self) -> None:
        if {len(names) for names in self.columns} != {2}:
            raise ValueError(f"columns of {self.name}: expected lists of two columns, got {self.columns!r}")

    def examples(self, rows: pd.DataFrame) -> list[Example]:
        """See `Source.examples`."""
        pairs = (zip(rows[reference], rows[correct], strict=True) for reference, correct in self.columns)
        return [Example(reference, correct=correct) for reference, correct in chain.from_iterable(pairs)]


@dataclass(frozen=True, kw_only=True)
class Captions(Source):
    """Several texts (column `text`) of one thing (column `group`), such as captions of an image."""

    kind: Literal["captions"] = "captions"
    group: str = "group"
    text: str = "text"

    def examples(self, rows: pd.DataFrame) -> list[Example]:
        """See `Source.examples`."""
        examples = []
        for _, texts in rows.groupby(self.group, sort=False)[self.text]:
            texts = [text.strip() for text in texts.dropna()]
            for i, text in enumerate(texts if len(texts) > 1 else []):
                others = texts[:i] + texts[i + 1 :]
                examples.append(Example(" ".join(others), correct=text, origin=tuple(others)))
        return examples


AnySource = Annotated[LabelledPairs | ScoredPairs | Triplets | Positives | Captions, Discriminator("kind")]
KINDS = ("pairs", "scored", "triplets", "positives", "captions")


def load_source(source: Entry, data: Path | None, excluded: frozenset[str]) -> tuple[list[Example], Counter]:
    """The examples of an entry in the data's own order, and a count of what was read, kept, and dropped and why.

    `excluded` are normalised texts of the evaluation sets: an example that holds one is dropped.

    Raises ValueError: a file or column is missing, or nothing is left to train on.
    """
    rows = source.table.read(data)
    try:
        examples = source.examples(rows)
    except KeyError as error:
        raise ValueError(f"{source.name}: expected columns of {list(rows)}, got {error.args[0]}") from None
    kept, counts = [], Counter(rows=len(rows), examples=len(examples))
    for example in examples:
        texts = [normalise(text) if isinstance(text, str) else "" for text in example.texts()]
        if not all(texts):
            counts["dropped: empty text"] += 1
        elif not excluded.isdisjoint(texts):
            counts["dropped: in an evaluation set"] += 1
        else:
            kept.append(example)
    kept = take_limit(pd.Series(kept, dtype=object), source.limit, counts).tolist()
    counts["kept"] = len(kept)
    if not kept:
        raise ValueError(f"{source.name}: nothing left to train on ({dict(counts)})")
    return kept, counts


def read_excluded(entries: list[dict], data: Path | None) -> frozenset[str]:
    """Normalised texts of the `exclude` list: tables with the `columns` whose texts must not be trained on."""
    texts: set[str] = set()
    for entry in entries:
        columns = entry["columns"]
        rows = Table(**{key: value for key, value in entry.items() if key != "columns"}).read(data, columns)
        check_columns(rows, columns, str(entry))
        for column in columns:
            texts.update(normalise(text) for text in rows[column].dropna())
    return frozenset(texts)
