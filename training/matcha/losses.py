"""The losses. All take a batch's text vectors, (B, 3, D): reference, correct, incorrect; a missing text is zeros."""

from collections.abc import Callable

import torch
from torch.nn import functional as F

from training.matcha.batches import Batch

Loss = Callable[[torch.Tensor, Batch, torch.Generator], torch.Tensor]


def cosines(vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(B, 3, D) -> unit vectors (B, 3, D), sim_C (B,), sim_I (B,)."""
    units = F.normalize(vectors, dim=-1)
    reference, correct, incorrect = units.unbind(1)
    return units, (reference * correct).sum(-1), (reference * incorrect).sum(-1)


def random_negatives(
    units: torch.Tensor, batch: Batch, count: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines of `count` references with random texts of other rows, but for the same reference, and their rows."""
    size = len(units)
    rows = torch.randperm(size, generator=generator)[:count].to(units.device)
    step = torch.randint(1, max(size, 2), (count,), generator=generator).to(units.device)
    others = (rows + step) % size
    texts = torch.where(batch.present[others, :1], units[others, 1], units[others, 2])
    kept = batch.same[rows] != batch.same[others]
    return (units[rows, 0] * texts).sum(-1)[kept], rows[kept]


def triplet_loss(margin: float = 1.0) -> Loss:
    """Paper, eq. 7: mean of max(0, m + sim_I - sim_C); an example without an incorrect text is given a random one."""

    def loss(vectors: torch.Tensor, batch: Batch, generator: torch.Generator) -> torch.Tensor:
        units, correct, incorrect = cosines(vectors)
        both = batch.present.all(1)
        random, rows = random_negatives(units, batch, len(units), generator)
        lone = batch.present[rows, 0] & ~batch.present[rows, 1]
        gaps = torch.cat([(incorrect - correct)[both], (random - correct[rows])[lone]])
        return F.relu(margin + gaps).mean() if len(gaps) else vectors.sum() * 0

    return loss


def in_batch_loss(margin: float = 1.0, random: float = 1 / 3, temperature: float = 0.0, graded: bool = False) -> Loss:
    """Eq. 7 over every pair of a correct and an incorrect example of the batch, so that unpaired data counts too.

    Args:
        margin: m of eq. 7, in cosines.
        random: random negatives added, as a share of the batch; a batch without any incorrect text gets its full
            size of them.
        temperature: in cosines, 0 or more; rounds the corner of eq. 7's max(0, x) to t * log(1 + exp(x / t)). 0 is
            eq. 7 itself (the rest is not in the paper; docs/decisions/contextual.md). Rounded, and with a margin that
            most pairs meet, the loss is about the pairs that are in the wrong order: AUC rises, and how far apart the
            others are is left alone, which is what N-delta measures.
        graded: whether examples with a target t, which a teacher may give, are ordered by it: the margin of two is m
            times the difference of their targets, and so is their weight. A correct text without a target has 1, an
            incorrect or random one 0, so a batch without targets gives the same loss as before (not in the paper).

    Raises ValueError: a temperature below 0.
    """
    if temperature < 0:
        raise ValueError(f"temperature of the loss: expected 0 or more, got {temperature}")

    def corner(gaps: torch.Tensor) -> torch.Tensor:
        return F.softplus(gaps, beta=1 / temperature) if temperature else F.relu(gaps)

    def loss(vectors: torch.Tensor, batch: Batch, generator: torch.Generator) -> torch.Tensor:
        units, correct, incorrect = cosines(vectors)
        has_correct, has_incorrect = batch.present.unbind(1)
        count = round(random * len(units)) if has_incorrect.any() else len(units)
        negatives = torch.cat([incorrect[has_incorrect], random_negatives(units, batch, count, generator)[0]])
        positives = correct[has_correct]
        if graded and not (targets := batch.target[has_correct]).isnan().all():
            return ordered(torch.cat([positives, negatives]), F.pad(targets.nan_to_num(1.0), (0, len(negatives))))
        gaps = margin + negatives[None, :] - positives[:, None]
        return corner(gaps).mean() if gaps.numel() else vectors.sum() * 0

    def ordered(similarities: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Every two examples in the order of their targets."""
        weights = (targets[:, None] - targets[None, :]).clamp(min=0).to(similarities)
        gaps = margin * weights + similarities[None, :] - similarities[:, None]
        return (weights * corner(gaps)).sum() / weights.sum().clamp(min=torch.finfo(weights.dtype).tiny)

    return loss


def regression_loss() -> Loss:
    """Mean squared error of (sim_C + 1) / 2 against the graded target in [0, 1] (the STS-B run of table 7)."""

    def loss(vectors: torch.Tensor, batch: Batch, generator: torch.Generator) -> torch.Tensor:
        _, correct, _ = cosines(vectors)
        return F.mse_loss((correct + 1) / 2, batch.target.to(correct))

    return loss


LOSSES: dict[str, Callable[..., Loss]] = {
    "triplet": triplet_loss,
    "in_batch": in_batch_loss,
    "regression": regression_loss,
}
