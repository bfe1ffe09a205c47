"""Reading samples from a file, and measuring them with one encoder after the other."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from benchmarks.common.encoders import NotMeasured
from benchmarks.common.tables import read_table
from benchmarks.papers.set_criteria.encoders import Candidate
from semantic_metrics.core.inputs import check_choice, check_texts
from semantic_metrics.set_criteria.criteria import Samples
from semantic_metrics.set_criteria.samples import OPERATORS, measure_samples
from semantic_metrics.set_criteria.vector_cache import encode_texts

TEXTS = ("a", "b", "target")
COLUMNS = ("operator", *TEXTS)
KINDS = ("source", "form", "fusion")  # optional columns, which the report counts
GROUP = ("source", "group")  # optional columns that name the document of a sample


@dataclass(frozen=True)
class SampleSet:
    """The samples of a file: columns operator, a, b, target, and all others that it has; and the hash of its bytes."""

    path: Path
    sha256: str
    frame: pd.DataFrame

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def texts(self) -> list[str]:
        """3n texts: all A, all B, all targets."""
        return [text for column in TEXTS for text in self.frame[column]]

    def clusters(self) -> np.ndarray:
        """(n,) number of each sample's document, by the columns GROUP, or else by texts that samples share.

        Samples made from one document share its sentences, so they are not independent: a bootstrap of samples would
        give intervals that are too narrow.
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
    """One encoder on all samples: these by operator, the hash of all that changes a vector, and how many were cut."""

    candidate: Candidate
    samples: Samples
    sha256: str
    truncated: int


def read_samples(path: Path, limit: int | None = None, seed: int = 0) -> SampleSet:
    """Read samples from a parquet, CSV or JSON-lines file; at most `limit` of each operator, drawn at random.

    Raises ValueError: the file cannot be read, a column is missing, an operator is unknown, or a text is not a string;
    says which.
    """
    frame = read_table(path, *COLUMNS)
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
    cache: Path | None,
    batch_size: int,
    progress: Callable[[str], None],
) -> tuple[list[Measured], dict[str, str]]:
    """Measure the samples with every encoder, one at a time, so that only one model and its vectors are in memory.

    `cache` is a folder that keeps vectors for another run, `progress` takes a line. Returns the encoders that were
    measured, and why the others were not, by name.
    """
    texts, operators, n = samples.texts, list(samples.frame["operator"]), len(samples)
    distinct = list(dict.fromkeys(texts))
    measured, reasons = [], {}
    for one in candidates:
        progress(f"{one.name}: {len(distinct)} distinct texts of {n} samples")
        try:
            # an encoder that fails to load or to encode costs its rows, not the run
            encoder = one.load(distinct)
            vectors = encode_texts(encoder, texts, batch_size, cache)
            take = lambda rows, of=vectors: tuple(of.take(rows + i * n) for i in range(3))  # noqa: E731
            in_samples = measure_samples(take, operators, f"the vectors of {one.name}")
            measured.append(Measured(one, in_samples, encoder.sha256, vectors.truncated))
        except (NotMeasured, OSError, ValueError, RuntimeError, ImportError) as error:
            reasons[one.name] = " ".join(str(error).split()) or type(error).__name__
            progress(f"{one.name}: not measured: {reasons[one.name]}")
    return measured, reasons
