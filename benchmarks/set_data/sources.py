"""Sources of sentences: split-and-rephrase data, human unions, documents. Nothing here uses a network.

* Split sets (`wikisplit`, `bisect`) contain a complex sentence that is the union of two simple ones. Each row gives a
  chain: its two simple sentences, whose fusion is the complex one, and before or after them the first simple sentence
  of another row of the same file; the seed draws the row and the side. Its fusion with its neighbour has to be made.
* `sentence_union` contains unions that people wrote of two sentences that overlap in part, so it gives no differences.
* Documents give their consecutive sentences in threes; both fusions have to be made.
* Captions give samples whose texts share no content word (`captions`), a second set beside the others.

Simplification data (wiki_auto) cannot be used: a simplification leaves content out, so its sentences do not make up
the complex one.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pandas as pd
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from benchmarks.common.data_files import read_table
from benchmarks.set_data.chains import GIVEN, Chain, Dropped

MIN_WORDS, MAX_WORDS = 5, 60  # words of a sentence; our choice, to leave out captions and run-on lists
KINDS = ("split", "union", "documents", "captions")
STRIDE = 3  # sentences from one chain to the next, so that none is in two chains
# Punkt's English parameters are a download; of these its algorithm needs only the words that end in a full stop
_TITLES = "mr mrs ms messrs dr prof rev hon jr sr sen rep gov gen col lt capt maj sgt cpl cmdr adm det supt insp"
_OTHERS = "st mt vs etc inc ltd co corp no fig dept est approx jan feb mar apr jun jul aug sep sept oct nov dec"
_DOTTED = "a.m p.m u.s u.k u.n e.u d.c l.a n.y i.e e.g ph.d b.c a.d"
ABBREVIATIONS = frozenset([*_TITLES.split(), *_OTHERS.split(), *_DOTTED.split(), *set(ascii_lowercase) - {"i"}])


@dataclass(frozen=True)
class Source:
    """A data set of the data folder.

    Attributes:
        kind: one of KINDS; captions are of pictures.
        files: names of its parquet files.
        licence: licence as stated by the data set.
        credit: publication to cite.
        note: description for the card.
        column: column of the documents or captions.
        picture: column that identifies the picture of a caption.
    """

    kind: str
    files: tuple[str, ...]
    licence: str
    credit: str
    note: str
    column: str = ""
    picture: str = ""


SOURCES = {
    "wikisplit": Source(
        "split",
        ("test",),  # `tune` is training data of the MATCHA checkpoint, `validation` chose among its runs
        "CC BY-SA 4.0",
        "Botha et al., Learning To Split and Rephrase From Wikipedia Edit History, EMNLP 2018",
        "two simple sentences and the complex one that Wikipedia's editors split; tokenised as published",
    ),
    "bisect": Source(
        "split",
        ("test", "valid", "challenge_test"),
        "none stated (derived from OPUS)",
        "Kim et al., BiSECT: Learning to Split and Rephrase Sentences with Bitexts, EMNLP 2021",
        "a complex sentence and two that its translation was split into: machine-made, noisier than wikisplit",
    ),
    "sentence_union": Source(
        "union",
        ("train", "dev"),
        "CC BY-NC 4.0",
        "Hirsch et al., Revisiting Sentence Union Generation as a Testbed for Text Consolidation, Findings of ACL 2023",
        "unions that people wrote of two sentences of news that overlap in part",
    ),
    "newts": Source(
        "documents",
        ("test",),
        "CC BY-NC-SA 4.0; the articles are CNN/DailyMail's",
        "Bahrainian et al., NEWTS: A Corpus for News Topic-Focused Summarization, Findings of ACL 2022",
        "articles of CNN/DailyMail, the paper's own source of documents; evaluation data only",
        "article",
    ),
    "flickr30k": Source(
        "captions",
        ("dev", "test"),
        "research and non-commercial use; none stated by the repository",
        "Young et al., From Image Descriptions to Visual Denotations, TACL 2014",
        "captions that five people wrote of each picture",
        "caption",
        "image_idx",
    ),
    "coco_val2017": Source(
        "captions",
        ("captions",),
        "CC BY 4.0",
        "Chen et al., Microsoft COCO Captions: Data Collection and Evaluation Server, 2015",
        "captions that five people wrote of each picture; the MATCHA checkpoints were trained on most of them",
        "caption",
        "image_id",
    ),
}


@dataclass(frozen=True)
class Lengths:
    """Smallest and largest number of words in a sentence of a chain; a word contains a letter or a digit."""

    least: int = MIN_WORDS
    most: int = MAX_WORDS


def read_source(name: str, data: Path) -> dict[str, pd.DataFrame]:
    """The files of a source, by name.

    Raises:
        ValueError: a file is missing, cannot be read or lacks a column; names it.
    """
    source = SOURCES[name]
    columns = [name for name in (source.column, source.picture) if name] or ["a", "b", "target"]
    frames = {}
    for file in source.files:
        path = data / name / f"{file}.parquet"
        if not path.is_file():
            raise ValueError(f"{name}: expected a file {path}, found none")
        frames[file] = read_table(path)
        missing = sorted(set(columns) - set(frames[file].columns))
        if missing:
            raise ValueError(f"{path}: expected columns {columns}, missing {missing}")
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


def document_chains(
    documents: Sequence[object], source: str, lengths: Lengths, dropped: Dropped, stride: int = STRIDE
) -> list[Chain]:
    """Documents -> chains of three consecutive sentences; a chain begins every `stride` sentences.

    What is no text, empty or a repetition is left out, and chains with a sentence of another length.
    """
    chains, seen = [], set()
    for number, document in enumerate(documents):
        text = tidy(document)
        if not text or text in seen:
            dropped[source, "document: empty" if not text else "document: repeats an earlier one"] += 1
            continue
        seen.add(text)
        sentences = split_sentences(text)
        if len(sentences) < 3:
            dropped[source, "document: fewer than three sentences"] += 1
        starts = range(0, len(sentences) - 2, stride)
        if starts and starts[-1] + 3 < len(sentences):
            dropped[source, "sentence: too few follow for a chain"] += len(sentences) - starts[-1] - 3
        for i in starts:
            three = sentences[i : i + 3]
            reason = unfit(three, lengths) or _broken(three)
            if reason:
                dropped[source, f"chain: {reason}"] += 1
            else:
                chains.append(Chain(source, f"{source}:{number}.{i}", *three))
    return chains


def split_sentences(text: str) -> list[str]:
    """Sentences of an English text, by nltk's Punkt algorithm with our ABBREVIATIONS.

    >>> split_sentences("Mr. Smith left at 5 p.m. on Monday. He took the U.S. flag. 'Why?' nobody asked.")
    ['Mr. Smith left at 5 p.m. on Monday.', 'He took the U.S. flag.', "'Why?'", 'nobody asked.']
    """
    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters).tokenize(text)


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
    empty = [-1, *(i for i, line in enumerate(lines) if not line.strip()), len(lines)]
    for begin, end in pairwise(empty):
        if end - begin > 1:
            yield "\n".join(lines[begin + 1 : end])


def tidy(text: object) -> str:
    """A text with single spaces; empty for anything else."""
    return " ".join(text.split()) if isinstance(text, str) else ""


def unfit(sentences: list[str], lengths: Lengths) -> str:
    """Why sentences cannot be used: one is missing, too short or too long; empty if they can."""
    if not all(sentences):
        return "a text is missing"
    words = [sum(any(map(str.isalnum, word)) for word in sentence.split()) for sentence in sentences]
    if min(words) < lengths.least:
        return f"a sentence of fewer than {lengths.least} words"
    return f"a sentence of more than {lengths.most} words" if max(words) > lengths.most else ""


def _broken(sentences: list[str]) -> str:
    """Reason to leave sentences out: one in lower case was cut in two, by line breaks or by the splitter."""
    return "a sentence begins in lower case" if any(sentence[0].islower() for sentence in sentences) else ""
