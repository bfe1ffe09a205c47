"""Sources of sentences: split-and-rephrase data, human unions, documents. Nothing here uses a network.

* Split sets (`wikisplit`, `bisect`) contain a complex sentence that is the union of two simple ones. Each row gives a
  chain: its two simple sentences, whose fusion is the complex one, and before or after them the first simple sentence
  of another row of the same file; the seed draws the row and the side. Its fusion with its neighbour has to be made.
* `sentence_union` contains unions that people wrote of two sentences that overlap in part, so it gives no differences.
* Documents give their consecutive sentences in threes; both fusions have to be made.
"""

import csv
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pandas as pd
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from benchmarks.common.encoders import Score
from benchmarks.common.tables import read_table
from benchmarks.papers.set_data import chains as made
from benchmarks.papers.set_data.chains import CONCATENATION, GIVEN, THRESHOLD, Chain, Dropped, Fuse, concatenate

LENGTHS = 5, 60  # fewest and most words of a sentence; our choice, to leave out captions and run-on lists
STRIDE = 3  # sentences from one chain to the next, so that none is in two chains
# words that end in a full stop: of Punkt's parameters its algorithm needs only these
_TITLES = "mr mrs ms messrs dr prof rev hon jr sr sen rep gov gen col lt capt maj sgt cpl cmdr adm det supt insp"
_OTHERS = "st mt vs etc inc ltd co corp no fig dept est approx jan feb mar apr jun jul aug sep sept oct nov dec"
_DOTTED = "a.m p.m u.s u.k u.n e.u d.c l.a n.y i.e e.g ph.d b.c a.d"
ABBREVIATIONS = frozenset([*_TITLES.split(), *_OTHERS.split(), *_DOTTED.split(), *set(ascii_lowercase) - {"i"}])


@dataclass(frozen=True)
class Source:
    """A data set of the data folder: its kind ("split", "union", "documents"), parquet files, and what a card says.

    Of wikisplit, `tune` is training data of the MATCHA checkpoint, and `validation` chose among its runs.
    """

    name: str
    kind: str
    files: str
    column: str  # of the documents
    licence: str
    credit: str


with Path(__file__).with_name("sources.csv").open(encoding="utf-8", newline="") as lines:
    SOURCES = {row["name"]: Source(**row) for row in csv.DictReader(lines)}
Lengths = tuple[int, int]  # fewest and most words in a sentence of a chain; a word contains a letter or a digit


@dataclass(frozen=True)
class Plan:
    """What a build depends on, besides its sources.

    `scores` are cosines of the encoders that filter the differences by `threshold` (none: all are kept); `fuse` makes
    the missing fusions; `limit` is of each operator.
    """

    scores: Sequence[Score] = ()
    fuse: Fuse = concatenate
    fusion: str = CONCATENATION
    threshold: float = THRESHOLD
    limit: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if isnan(self.threshold):  # no cosine is below it: every difference would be left out
            raise ValueError("threshold: expected a number, got nan")


def build(
    plan: Plan, data: Path | None, names: Sequence[str], documents: Mapping[str, Sequence[object]]
) -> tuple[pd.DataFrame, Dropped]:
    """Make samples from the sources `names` of a data folder, and from documents by the name of their source.

    Returns:
        The samples, columns COLUMNS, and the counts of what was left out.

    Raises:
        ValueError: a source cannot be read, a name is taken, or no sample is left.
    """
    dropped: Dropped = Dropped()
    chains, rows = [], []
    for name in names:
        source = SOURCES[name]
        for file, frame in read_source(name, data).items():
            if source.kind == "split":
                chains += split_chains(frame, name, file, plan.seed, LENGTHS, dropped)
            elif source.kind == "union":
                rows += union_samples(frame, name, file, dropped)
            else:
                chains += document_chains(list(frame[source.column]), name, dropped)
    for name, texts in documents.items():
        if name in SOURCES:
            raise ValueError(f"documents: expected a name other than {', '.join(SOURCES)}, got {name!r}")
        chains += document_chains(texts, name, dropped)
    fused = made.fuse_chains(chains, plan.fuse, plan.fusion, dropped)
    rows += made.chain_samples(fused, plan.scores, plan.threshold, dropped)
    table = made.draw(made.sample_table(rows, dropped), plan.limit, plan.seed, dropped)
    if table.empty:
        raise ValueError(f"expected at least one sample, got none; left out: {dict(dropped)}")
    return table, dropped


def read_source(name: str, data: Path) -> dict[str, pd.DataFrame]:
    """The files of a source, by name; a ValueError about one that is missing, cannot be read or lacks a column."""
    source, frames = SOURCES[name], {}
    for file in source.files.split():
        path = data / name / f"{file}.parquet"
        if not path.is_file():
            raise ValueError(f"{name}: expected a file {path}, found none")
        frames[file] = read_table(path, *([source.column] if source.column else ["a", "b", "target"]))
    return frames


def split_chains(
    frame: pd.DataFrame, source: str, file: str, seed: int, lengths: Lengths, dropped: Dropped
) -> list[Chain]:
    """Rows (simple sentences a and b, complex sentence target) -> one chain each, one of its fusions given.

    Source and file name the chains; the seed and the file draw the third sentence of each and its side.
    """
    rows = []
    for number, row in enumerate(frame.to_dict("records")):
        texts = [tidy(row[column]) for column in ("a", "b", "target")]
        reason = "" if row.get("n_parts", 2) == 2 else "other than two parts"
        reason = reason or unfit(texts[:2], lengths) or ("" if texts[2] else "a text is missing")
        if reason:
            dropped[source, f"row: {reason}"] += 1
        else:
            rows.append((f"{source}/{file}:{number}", *texts))
    if len(rows) < 2:
        dropped[source, "row: no other row to take a sentence from"] += len(rows)
        return []
    rng = np.random.default_rng([seed, zlib.crc32(f"{source}/{file}".encode())])
    order = rng.permutation(len(rows))
    other = np.empty(len(rows), dtype=int)
    other[order] = np.roll(order, 1)  # one cycle through all rows: none is paired with itself
    before = rng.random(len(rows)) < 0.5
    chains = []
    for (group, a, b, target), place, first in zip(rows, other, before, strict=True):
        third = rows[place][1]  # the first of the two: the second often refers back with "he" or "it"
        if first:
            chains.append(Chain(source, group, third, a, b, s2=target, fusion2=GIVEN))
        else:
            chains.append(Chain(source, group, a, b, third, s1=target, fusion1=GIVEN))
    return chains


def union_samples(frame: pd.DataFrame, source: str, file: str, dropped: Dropped) -> list[dict[str, str]]:
    """Rows (a, b, target) whose target is already a union -> union samples."""
    rows = []
    for number, row in enumerate(frame.to_dict("records")):
        texts = {column: tidy(row[column]) for column in ("a", "b", "target")}
        if not all(texts.values()):
            dropped[source, "row: a text is missing"] += 1
            continue
        group = f"{source}/{file}:{number}"
        about = {"operator": "union", "form": "({a,b},target)", "source": source, "fusion": GIVEN}
        rows.append(texts | about | {"group": group, "id": f"{group}:union"})
    return rows


def sentence_splitter() -> Callable[[str], list[str]]:
    """Splits an English text into sentences by nltk's Punkt algorithm with our ABBREVIATIONS.

    >>> sentence_splitter()("Mr. Smith left at 5 p.m. on Monday. He took the U.S. flag. 'Why?' nobody asked.")
    ['Mr. Smith left at 5 p.m. on Monday.', 'He took the U.S. flag.', "'Why?'", 'nobody asked.']
    """
    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters).tokenize


def document_chains(documents: Sequence[object], source: str, dropped: Dropped) -> list[Chain]:
    """Documents -> chains of three consecutive sentences; a chain begins every STRIDE sentences.

    What is no text, empty or a repetition is left out, and chains with a sentence of another length.
    """
    chains, seen, split = [], set(), sentence_splitter()
    for number, document in enumerate(documents):
        text = tidy(document)
        if not text or text in seen:
            dropped[source, "document: empty" if not text else "document: repeats an earlier one"] += 1
            continue
        seen.add(text)
        sentences = split(text)
        if len(sentences) < 3:
            dropped[source, "document: fewer than three sentences"] += 1
        starts = range(0, len(sentences) - 2, STRIDE)
        if starts and starts[-1] + 3 < len(sentences):
            dropped[source, "sentence: too few follow for a chain"] += len(sentences) - starts[-1] - 3
        for i in starts:
            three = sentences[i : i + 3]
            reason = unfit(three, LENGTHS) or _broken(three)
            if reason:
                dropped[source, f"chain: {reason}"] += 1
            else:
                chains.append(Chain(source, f"{source}:{number}.{i}", *three))
    return chains


def read_documents(path: Path, column: str | None) -> list[object]:
    """Documents of a file: parts of a text file between empty lines, or a column of parquet, CSV or JSON lines.

    Raises:
        ValueError: the file cannot be read, or lacks the column; names it.
    """
    if path.suffix == ".txt":
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: cannot be read as UTF-8 ({error})") from error
        return list(_parts(text.splitlines()))
    frame = read_table(path)
    if column not in frame:
        raise ValueError(f"column: expected one of {sorted(map(str, frame.columns))} of {path.name}, got {column!r}")
    return list(frame[column])


def _parts(lines: list[str]) -> Iterator[str]:
    return ("\n".join(part) for blank, part in groupby(lines, key=lambda line: not line.strip()) if not blank)


def tidy(text: object) -> str:
    """A text with single spaces; empty for anything else."""
    return " ".join(text.split()) if isinstance(text, str) else ""


def unfit(sentences: list[str], lengths: Lengths) -> str:
    """Why sentences cannot be used: one is missing, too short or too long; empty if they can."""
    if not all(sentences):
        return "a text is missing"
    words = [sum(any(map(str.isalnum, word)) for word in sentence.split()) for sentence in sentences]
    least, most = lengths
    if min(words) < least:
        return f"a sentence of fewer than {least} words"
    return f"a sentence of more than {most} words" if max(words) > most else ""


def _broken(sentences: list[str]) -> str:
    """Reason to leave sentences out: one in lower case was cut in two, by line breaks or by the splitter."""
    return "a sentence begins in lower case" if any(sentence[0].islower() for sentence in sentences) else ""
