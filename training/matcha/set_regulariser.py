"""The six set criteria as a regulariser: hinges that are 0 exactly where a criterion holds (Bansal et al., section 4).

A sample is three texts, of an entry of a config's `sets`, and their vectors A, B and T. The names of the criteria and
the geometry are those of `semantic_metrics.set_criteria`, which counts; here the same inequalities have gradients.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import pandas as pd
import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch.nn import functional as F

from semantic_metrics.core.inputs import quote
from semantic_metrics.set_criteria.criteria import OPERATOR
from semantic_metrics.set_criteria.samples import OPERATORS
from training.data.config_checks import Count, NotNegative
from training.data.sources import Entry, Example
from training.matcha.batches import Corpus

MIN_SINE = 1e-3  # of A and B: with a smaller one their plane is float32's rounding error
MIN_SHADOW = 1e-3  # of T, in parts of its length: a shorter projection has no direction
SET_SEED = 2_000_003  # a prime: batch k of seed s draws its samples from the seed SET_SEED * s + k


@dataclass(frozen=True)
class SetCriteria:
    """Hinges of the six criteria, and how much they count.

    Attributes:
        weight: of the regulariser beside the loss.
        batch_size: samples a step, over all processes.
        criteria: those that count, each the same.
        margin: by how much cosines must differ (C1, C3, C4).
        theta: largest angle from where C5 and C6 expect the target, in parts of the angle between A and B.
        norm_ratio: lengths of A and B from 1 / norm_ratio to norm_ratio are comparable (C6).
    """

    weight: NotNegative = 0.1
    batch_size: Count = 64
    criteria: list[str] = field(default_factory=lambda: list(OPERATOR))
    margin: NotNegative = 0.05
    theta: NotNegative = 0.5
    norm_ratio: Annotated[float, Field(ge=1)] = 1.1

    def __post_init__(self) -> None:
        if not self.criteria or not set(self.criteria) <= set(OPERATOR):
            raise ValueError(f"regulariser.criteria: expected some of {', '.join(OPERATOR)}, got {self.criteria}")

    def loss(self, vectors: torch.Tensor, operators: torch.Tensor) -> torch.Tensor:
        """The mean over the criteria of their hinges' means; 0 for those without a sample.

        Args:
            vectors: (k, 3, D) vectors of A, B and T.
            operators: (k,) positions in OPERATORS.
        """
        terms = [vectors.sum() * 0]  # keeps a gradient when no sample counts
        for criterion in self.criteria:
            hinges = self.hinges(criterion, vectors[operators == OPERATORS.index(OPERATOR[criterion])])
            if len(hinges):
                terms.append(hinges.mean() / len(self.criteria))
        return torch.stack(terms).sum()

    def hinges(self, criterion: str, vectors: torch.Tensor) -> torch.Tensor:
        """How far samples are from meeting a criterion; those for which it is not defined are left out.

        Args:
            criterion: "C1" to "C6".
            vectors: (k, 3, D) vectors of A, B and T, of samples of its operator.

        Returns:
            (k or fewer,) 0 where it holds: sums of cosines for C1, C3 and C4, radians for C2, C5 and C6.
        """
        a, b, target = vectors.unbind(1)
        if criterion in ("C2", "C5", "C6"):
            return self._angle_hinges(criterion, *_spanning(a, b, target))
        if criterion == "C4":
            a, b, target = _apart(a - b, b, target)
            return F.relu(self.margin - (_cosine(a, target) - _cosine(a, b)))
        a, b, target = _apart(a, b, target)
        ab, at, bt = _cosine(a, b), _cosine(a, target), _cosine(b, target)
        first, second = (at - ab, bt - ab) if criterion == "C1" else (at - bt, ab - bt)
        return F.relu(self.margin - first) + F.relu(self.margin - second)

    def _angle_hinges(self, criterion: str, a: torch.Tensor, b: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        between, from_a = _angles(a, b, target)
        from_b = _turn(between - from_a)
        if criterion == "C2":
            inside = (from_a >= 0) & (from_b >= 0)
            return torch.where(inside, 0.0, from_a.abs() + from_b.abs() - between)
        off = from_a
        if criterion == "C6":  # the longer of the two is expected, or the middle
            ratio = (a.norm(dim=-1) / b.norm(dim=-1)).detach()
            middle = _turn(from_a - between / 2)
            off = torch.where(ratio > self.norm_ratio, from_a, torch.where(1 / ratio > self.norm_ratio, from_b, middle))
        return F.relu(off.abs() - self.theta * between)


REGULARISERS = {"set_criteria": SetCriteria}


@dataclass(frozen=True, kw_only=True)
class SetSample(Example):
    """A as the reference, B as the correct text and the target, an operator's result, as the incorrect one."""

    operator: str


@dataclass(frozen=True, kw_only=True)
class SetSource(Entry):
    """Rows with the texts `a`, `b` and `target`, and an `operator`.

    `compose` makes more samples of each union, in the forms of the paper (Bansal et al., section 5) that need no model:
    what the union has and one part has not is the other part (two differences), and the union shares one part with that
    part followed by a sentence of the next row (an overlap).
    """

    compose: bool = False

    def examples(self, rows: pd.DataFrame) -> list[SetSample]:
        """The samples of the rows, in their order. Raises ValueError: an operator is unknown."""
        if unknown := set(rows["operator"]) - set(OPERATORS):
            known = ", ".join(OPERATORS)
            raise ValueError(f"{self.name}: expected operators among {known}, got {quote(unknown.pop())}")
        samples, following = [], [*rows["a"][1:], *rows["a"][:1]]  # the first row follows the last
        texts = rows[["a", "b", "target", "operator"]].itertuples(index=False, name=None)
        for (a, b, target, operator), other in zip(texts, following, strict=True):
            samples.append(SetSample(a, b, target, operator=operator))
            if self.compose and operator == "union":
                samples += _composed(a, b, target, other)
        return samples


def _composed(a: str, b: str, union: str, other: str) -> Iterator[SetSample]:
    yield SetSample(union, a, b, operator="difference")
    yield SetSample(union, b, a, operator="difference")
    yield SetSample(union, f"{b} {other}", b, origin=(other,), operator="overlap")


class SetSamples:
    """The samples of a config's `sets`, tokenised as in a `Corpus`, and the draws from them by the run's seed."""

    def __init__(self, samples: list[SetSample], tokenizer: Tokenizer, max_tokens: int | None, seed: int) -> None:
        self.corpus, self.seed = Corpus([samples], tokenizer, max_tokens), seed
        self.operators = torch.tensor([OPERATORS.index(sample.operator) for sample in samples])

    def draw(self, number: int, size: int, part: int, parts: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Samples of batch `number`, `size` of them, the same however often a run was resumed: part `part` of `parts`.

        Returns:
            (n,) token ids of this process's texts (all A, all B, all targets), where each begins, and the operators of
            the whole batch.
        """
        generator = torch.Generator().manual_seed(SET_SEED * self.seed + number)
        rows = torch.randint(len(self.operators), (size,), generator=generator)
        batch = self.corpus.collate(rows.chunk(parts)[part].tolist())
        return batch.ids, batch.offsets, self.operators[rows]


def _cosine(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.cosine_similarity(x, y, dim=-1)


def _apart(*sides: torch.Tensor) -> list[torch.Tensor]:
    """The rows without a zero vector, which has no cosine."""
    kept = torch.stack([side.detach().norm(dim=-1) for side in sides]).all(0)
    return [side[kept] for side in sides]


def _spanning(a: torch.Tensor, b: torch.Tensor, target: torch.Tensor) -> list[torch.Tensor]:
    """The rows whose A and B span a plane that the target has a projection in."""
    a, b, target = _apart(a, b, target)
    with torch.no_grad():
        x, y, t = (F.normalize(side, dim=-1) for side in (a, b, target))
        across = y - _dot(x, y)[:, None] * x
        sine = across.norm(dim=-1)
        shadow = torch.hypot(_dot(x, t), _dot(across, t) / sine.clamp(min=MIN_SINE))
        kept = (sine > MIN_SINE) & (shadow > MIN_SHADOW)
    return [side[kept] for side in (a, b, target)]


def _angles(a: torch.Tensor, b: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The angles from A to B, in (0, pi), and from A to the target's projection, B's side above 0."""
    x = F.normalize(a, dim=-1)
    along = _dot(x, b)
    across = b - along[:, None] * x
    height = across.norm(dim=-1)
    return torch.atan2(height, along), torch.atan2(_dot(across, target) / height, _dot(x, target))


def _turn(angles: torch.Tensor) -> torch.Tensor:
    """The same directions in (-pi, pi], from angles at most one turn outside."""
    angles = torch.where(angles > torch.pi, angles - 2 * torch.pi, angles)
    return torch.where(angles <= -torch.pi, angles + 2 * torch.pi, angles)


def _dot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * y).sum(-1)
