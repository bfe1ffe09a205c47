"""Samples from a file, and what the criteria measure on them for one encoder after the other."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from benchmarks.common.encoders import NotMeasured
from benchmarks.matcha.sets import read_table
from benchmarks.set_criteria.encoders import Candidate
from semantic_metrics.core.inputs import check_choice, check_texts
from semantic_metrics.set_criteria.criteria import Samples, Settings, differences
from semantic_metrics.set_criteria.encoders import Encoder
from semantic_metrics.set_criteria.epsilon import CELLS, sample_cells
from semantic_metrics.set_criteria.samples import OPERATORS, Vectors, measure_samples
from semantic_metrics.set_criteria.vector_cache import CachedVectors, encode_texts

TEXTS = ("a", "b", "target")
COLUMNS = ("operator", *TEXTS)
KINDS = ("source", "form", "fusion")  # further columns, which are counted in the report
CONSTANT = 1e-6  # of a vector's length: a spread below is that of a constant vector, left by rounding
GROUP = ("source", "group")  # columns that say which samples come from one document


@dataclass(frozen=True)
class SampleSet:
    """The samples of a file.

    Attributes:
        path: of the file.
        sha256: of its bytes.
        frame: n rows, columns operator, a, b, target, and what else the file holds.
    """

    path: Path
    sha256: str
    frame: pd.DataFrame

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def operators(self) -> list[str]:
        """One of overlap, difference, union for each sample."""
        return list(self.frame["operator"])

    @property
    def texts(self) -> list[str]:
        """3n texts: all A, all B, all targets."""
        return [text for column in TEXTS for text in self.frame[column]]

    def clusters(self) -> np.ndarray:
        """(n,) numbers, the same for samples of one document: what the columns GROUP say, else what shares a text.

        Samples made from one document share its sentences: they are no independent draws, and a bootstrap that took
        them for such would have too narrow intervals.
        """
        if set(GROUP) <= set(self.frame.columns):
            return self.frame.groupby(list(GROUP), sort=False, dropna=False).ngroup().to_numpy()
        codes, _ = pd.factorize(pd.Series(self.texts))
        a, b, target = codes.reshape(3, len(self))
        ends = np.concatenate([a, a]), np.concatenate([b, target])
        size = int(codes.max()) + 1
        graph = coo_array((np.ones(len(ends[0])), ends), shape=(size, size))
        _, parts = connected_components(graph, directed=False)
        return np.unique(parts[a], return_inverse=True)[1]


@dataclass(frozen=True)
class Measured:
    """One encoder on all samples.

    Attributes:
        candidate: the encoder.
        samples: its measured samples, by operator.
        sha256: of all that can change a vector.
        truncated: distinct texts that were cut to the encoder's length.
        centred_gap: greatest difference between the cells of cosine and NED, in percentage points, over C1 and C3,
            when every vector is moved to mean 0 and to length 1; the two must agree then. None without such samples.
    """

    candidate: Candidate
    samples: Samples
    sha256: str
    truncated: int
    centred_gap: float | None


def read_samples(path: Path, limit: int | None = None, seed: int = 0) -> SampleSet:
    """Read samples from a parquet, CSV or JSON-lines file.

    Args:
        path: of the file: columns operator, a, b, target.
        limit: at most this many samples of each operator, drawn at random; None for all.
        seed: of that draw.

    Raises:
        ValueError: the file cannot be read, a column is missing, an operator is not known, or a text is none; says
            which.
    """
    frame = read_table(path)
    missing = [column for column in COLUMNS if column not in frame]
    if missing:
        raise ValueError(f"{path}: expected columns {', '.join(COLUMNS)}, missing {missing}")
    for column in COLUMNS:
        check_texts(f"{path}: {column}", list(frame[column]))
    for row, operator in enumerate(frame["operator"]):
        check_choice(f"{path}: operator[{row}]", operator, OPERATORS)
    if limit is not None:
        rng = np.random.default_rng(seed)
        drawn = [rng.permutation(np.flatnonzero(frame["operator"] == operator))[:limit] for operator in OPERATORS]
        frame = frame.iloc[np.sort(np.concatenate(drawn))].reset_index(drop=True)
    return SampleSet(path, hashlib.sha256(path.read_bytes()).hexdigest(), frame)


def measure_all(
    candidates: list[Candidate],
    samples: SampleSet,
    settings: Settings,
    cache: Path | None,
    batch_size: int,
    progress: Callable[[str], None],
) -> tuple[list[Measured], dict[str, str]]:
    """Measure the samples with every encoder, one at a time, so that one model and its vectors are in memory.

    Args:
        candidates: with names that differ.
        samples: of all operators.
        settings: of the check on centred vectors.
        cache: folder that keeps vectors for another run; None keeps none.
        batch_size: texts that a network takes at a time.
        progress: takes a line.

    Returns:
        Those that could be measured, and why the others could not, by name.
    """
    texts, operators = samples.texts, samples.operators
    distinct = list(dict.fromkeys(texts))
    measured, reasons = [], {}
    for one in candidates:
        progress(f"{one.name}: {len(distinct)} distinct texts of {len(samples)} samples")
        try:
            with _absence():
                encoder = one.load(distinct)
                vectors = encode_texts(encoder, texts, batch_size, cache)
                measured.append(_measure(one, encoder, vectors, operators, settings))
        except NotMeasured as reason:
            progress(f"{one.name}: not measured: {reason}")
            reasons[one.name] = str(reason)
    return measured, reasons


@contextmanager
def _absence() -> Iterator[None]:
    """An encoder that does not load, or gives no usable vectors, costs its rows and not the run."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise NotMeasured(" ".join(str(error).split()) or type(error).__name__) from error


def _measure(
    candidate: Candidate, encoder: Encoder, vectors: CachedVectors, operators: list[str], settings: Settings
) -> Measured:
    n = len(operators)

    def take(rows: np.ndarray) -> Vectors:
        return vectors.take(rows), vectors.take(rows + n), vectors.take(rows + 2 * n)

    def take_centred(rows: np.ndarray) -> Vectors:
        a, b, target = (_centred(side) for side in take(rows))
        return a, b, target

    name = f"the vectors of {candidate.name}"
    found = measure_samples(take, operators, name)
    gap = _cells_gap(measure_samples(take_centred, operators, name), settings.epsilons)
    return Measured(candidate, found, encoder.sha256, vectors.truncated, gap)


def _centred(vectors: np.ndarray) -> np.ndarray:
    """(n, D) -> the same of mean 0 and length 1; zeros for what is constant, and has no direction left."""
    moved = vectors - vectors.mean(axis=1, keepdims=True, dtype=np.float64)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    some = lengths > CONSTANT * np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(moved, lengths, out=np.zeros_like(moved), where=some)


def _cells_gap(centred: Samples, epsilons: int) -> float | None:
    gaps = []
    for criterion in ("C1", "C3"):
        held = np.stack([differences(centred, criterion, "cosine"), -differences(centred, criterion, "ned")])
        held = held[..., ~np.isnan(held).any(axis=(0, 1))]  # a zero vector has no cosine, but may have a NED
        if held.size:
            ranges = [[[float(row.min()), float(row.max())] for row in pair] for pair in held]
            cosine, ned = (sample_cells(*pair, bounds, epsilons) for pair, bounds in zip(held, ranges, strict=True))
            gaps += [abs(cosine[cell] - ned[cell]) for cell in CELLS]
    return max(gaps, default=None)
