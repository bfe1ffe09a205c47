"""The learning rate over a run."""

from collections.abc import Callable

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR

Schedule = Callable[[Optimizer, int, float], LRScheduler]  # optimiser, steps of the run, and of an epoch


def one_cycle(warmup: float = 0.3) -> Schedule:
    """Up for a share `warmup` of the steps, then down to almost 0. ValueError: the share is not between 0 and 1."""
    if not 0 < warmup < 1:
        raise ValueError(f"schedule.warmup: expected a share of the steps between 0 and 1, got {warmup}")

    def schedule(optimizer: Optimizer, steps: int, steps_per_epoch: float) -> LRScheduler:
        peaks = [group["lr"] for group in optimizer.param_groups]
        return OneCycleLR(optimizer, peaks, total_steps=steps, pct_start=warmup)

    return schedule


def exponential(decay: float) -> Schedule:
    """Times `decay` after each epoch. Raises ValueError: the decay is not above 0 and at most 1."""
    if not 0 < decay <= 1:
        raise ValueError(f"schedule.decay: expected a factor above 0 and at most 1, got {decay}")

    def schedule(optimizer: Optimizer, steps: int, steps_per_epoch: float) -> LRScheduler:
        return LambdaLR(optimizer, lambda step: decay ** int(step / steps_per_epoch))

    return schedule


SCHEDULES: dict[str, Callable[..., Schedule]] = {"one_cycle": one_cycle, "exponential": exponential}
