"""Measure samples: three vectors become a few numbers, a chunk of samples at a time so that memory stays bounded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semantic_metrics.core.inputs import check_choice, invalid_input
from semantic_metrics.set_criteria.geometry import MAX_SQUARE, Angles, Rows, compare, locate

OPERATORS = ("overlap", "difference", "union")
PAIRS = {"overlap": ("ab", "at", "bt"), "difference": ("ab", "at", "bt", "xt", "xb"), "union": ()}  # x is A - B
CHUNK_NUMBERS = 2**17  # numbers of A, B or T in a chunk: a few arrays of this size, 1 MiB, fit into the cache
SIDES = ("A", "B", "target")

Vectors = tuple[np.ndarray, np.ndarray, np.ndarray]
Take = Callable[[np.ndarray], Vectors]


@dataclass(frozen=True)
class Group:
    """The m samples of one operator, measured.

    Attributes:
        rows: (m,) indices of the samples.
        pairs: (5, m) measures (in the order of geometry.MEASURES) of each pair that the operator's criteria need: "ab",
            "at", "bt" for A, B and the target, "xt", "xb" with x = A - B. NaN where undefined.
        lengths: (3, m) Euclidean lengths of A, B and the target; 0 where a vector counts as zero.
        angles: angles of the targets in the planes of A and B.
    """

    rows: np.ndarray
    pairs: dict[str, np.ndarray]
    lengths: np.ndarray
    angles: Angles


def check_operators(operators: list[str]) -> list[str]:
    """Operators of samples, as plain strings.

    Raises:
        InvalidInput: one is not known; lists those that are.
    """
    plain = [str(operator) for operator in operators]  # a numpy array has a string type of its own
    for i, operator in enumerate(plain):
        check_choice(f"operator[{i}]", operator, OPERATORS)
    return plain


def check_embeddings(embeddings: object, named: bool = False) -> dict[str | None, Vectors]:
    """Triples of arrays, (A, B, T), by name; a single triple is under None, and refused where names are needed.

    Raises:
        InvalidInput: a triple is not three arrays of numbers of one shape (n, d); names the argument.
    """
    if not isinstance(embeddings, dict):
        if named:
            raise invalid_input("embeddings", "expected a dict of (A, B, T) by name beside encoders, got no dict")
        return {None: _check_triple("embeddings", embeddings)}
    if not embeddings or not all(isinstance(name, str) for name in embeddings):
        raise invalid_input("embeddings", f"expected (A, B, T) by name, got the names {list(embeddings)}")
    return {name: _check_triple(name_of(name), triple) for name, triple in embeddings.items()}


def name_of(name: str | None) -> str:
    """Name of a triple in error messages."""
    return "embeddings" if name is None else f"embeddings[{name!r}]"


def _check_triple(name: str, triple: object) -> Vectors:
    if not isinstance(triple, (list, tuple, np.ndarray)) or len(triple) != 3:
        got = f"{len(triple)} items" if isinstance(triple, (list, tuple, np.ndarray)) else type(triple).__name__
        raise invalid_input(name, f"expected three arrays (A, B, T), got {got}")
    a, b, target = (_as_array(f"{name}[{i}]", side) for i, side in enumerate(triple))
    for i, side in ((1, b), (2, target)):
        if side.shape != a.shape:
            raise invalid_input(f"{name}[{i}]", f"expected shape {a.shape} as {name}[0] has, got {side.shape}")
    return a, b, target


def _as_array(name: str, side: Any) -> np.ndarray:  # noqa: ANN401  (what a user gave)
    if hasattr(side, "detach"):  # a torch tensor
        side = side.detach().cpu()
        side = side.float() if str(side.dtype) == "torch.bfloat16" else side  # numpy has no such type
    try:
        array = np.asarray(side)
    except ValueError as error:
        raise invalid_input(name, f"expected an (n, d) array of numbers ({error})") from None
    if array.dtype.kind not in "fiu" or array.ndim != 2 or 0 in array.shape:
        got = f"{array.dtype} of shape {array.shape}"
        raise invalid_input(name, f"expected an (n, d) array of numbers, n and d above 0, got {got}")
    return array


def from_arrays(vectors: Vectors) -> Take:
    """Wrap vectors in memory, (n, d) each, for `measure_samples`."""

    def take(rows: np.ndarray) -> Vectors:
        a, b, target = (side[rows] for side in vectors)
        return a, b, target

    return take


def measure_samples(take: Take, operators: list[str], name: str = "embeddings") -> dict[str, Group]:
    """Measure samples, a chunk of vectors at a time: a group for each operator, empty if no sample has it.

    `take` gives the A, B and targets, (k, d) each, of (k,) indices of samples; messages call their source `name`.

    Raises:
        ValueError: a vector contains inf or nan, or is too long to be squared; names the sample.
    """
    codes = np.array([OPERATORS.index(operator) for operator in operators], dtype=np.int64)
    rows = {operator: np.flatnonzero(codes == code) for code, operator in enumerate(OPERATORS)}
    return {operator: _measure_group(take, chosen, PAIRS[operator], name) for operator, chosen in rows.items()}


def _measure_group(take: Take, rows: np.ndarray, pairs: tuple[str, ...], name: str) -> Group:
    measures = {pair: np.empty((5, len(rows))) for pair in pairs}
    lengths = np.empty((3, len(rows)))
    between, place = np.empty((2, len(rows)))
    reason = np.empty(len(rows), dtype=np.uint8)
    begin, chunk, scratch = 0, 1, None  # the first chunk has one row and shows the width
    while begin < len(rows):
        part = slice(begin, begin + chunk)
        a, b, target = (Rows(np.asarray(side, dtype=np.float64)) for side in take(rows[part]))
        _check_squares((a, b, target), rows[part], name)
        count, width = a.values.shape
        if scratch is None or len(scratch) < count:
            chunk = max(1, CHUNK_NUMBERS // width)
            scratch = np.empty((chunk, width))
        for pair, values in _compare_pairs(a, b, target, pairs, scratch[:count]).items():
            measures[pair][:, part] = values
        angles = locate(a, b, target, scratch[:count])
        between[part], place[part], reason[part] = angles.between, angles.target, angles.reason
        lengths[:, part] = [np.where(side.zero, 0.0, np.sqrt(side.square)) for side in (a, b, target)]
        begin += count
    return Group(rows, measures, lengths, Angles(between, place, reason))


def _compare_pairs(
    a: Rows, b: Rows, target: Rows, pairs: tuple[str, ...], scratch: np.ndarray
) -> dict[str, np.ndarray]:
    sides = {"a": a, "b": b, "t": target}
    if "xt" in pairs:
        sides["x"] = Rows(a.values - b.values)
    return {pair: compare(sides[pair[0]], sides[pair[1]], scratch) for pair in pairs}


def _check_squares(sides: tuple[Rows, Rows, Rows], rows: np.ndarray, name: str) -> None:
    for side, label in zip(sides, SIDES, strict=True):
        bad = np.flatnonzero(~(side.square <= MAX_SQUARE))  # also true of nan
        if len(bad):
            raise ValueError(
                f"{name}: expected finite numbers of moderate size, got inf, nan or a length above "
                f"{MAX_SQUARE**0.5:.0e} in the vector of {label}, sample {rows[bad[0]]}"
            )
