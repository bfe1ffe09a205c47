"""How a metric runs its transformer: the values that `backend`, `precision` and `workers` may have."""

from dataclasses import dataclass, fields

from semantic_metrics.core.batching import BATCH_SEQUENCES
from semantic_metrics.core.inputs import check_choice, check_whole, invalid_input
from semantic_metrics.core.signature import if_changed, no_score_change

BACKENDS = ("torch", "openvino")
PRECISIONS = ("float32", "bfloat16", "int8")
AUTO = "auto"  # the fastest precision whose measured drift is small; see transformer/drifts.py
PRECISION_CHOICES = (*PRECISIONS, AUTO)


@dataclass(frozen=True)
class RunOptions:
    """How a transformer runs.

    Attributes:
        precision: one of PRECISION_CHOICES. bfloat16 and int8 (CPU only) are faster and move the scores. "auto" takes
            the fastest that moved no score by .005 or more, and let no other text do so, when it was measured with
            this checkpoint on a processor like this one (see `transformer.drifts`).
        max_length: tokens of a pair that count, separators included; the longer text is cut first. None for the
            checkpoint's own limit.
        batch_size: largest number of texts or pairs in one pass.
        device: where the model runs; None for a GPU if there is one (the CPU for int8 and for "openvino").
        backend: one of BACKENDS. "openvino" needs the extra `fast` and runs on the CPU.
        workers: batches that run at a time on a CPU, each on one core; None for as many as there are cores, which is 1
            in a forked process. It changes no score.

    Raises:
        InvalidInput: precision or backend is unknown, or the batch size or the workers are no whole number from 1.
    """

    precision: str = "float32"
    max_length: int | None = None
    batch_size: int = no_score_change(BATCH_SEQUENCES)
    device: str | None = no_score_change(None)
    backend: str = if_changed("torch")
    workers: int | None = no_score_change(None)

    def __post_init__(self) -> None:
        check_choice("precision", self.precision, PRECISION_CHOICES)
        check_choice("backend", self.backend, BACKENDS)
        check_whole("batch_size", self.batch_size, 1)
        if self.workers is not None:
            check_whole("workers", self.workers, 1)

    @classmethod
    def taken_from(cls, settings: dict[str, object]) -> "RunOptions":
        """The options among the arguments of `compute`, from which they are removed; defaults for the others."""
        return cls(**{item.name: settings.pop(item.name) for item in fields(cls) if item.name in settings})

    @property
    def changed(self) -> dict[str, str]:
        """Precision and backend, where they are not the default."""
        names = ("precision", "backend")
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(DEFAULT_OPTIONS, name)}


DEFAULT_OPTIONS = RunOptions()


def refuse_changed(run: RunOptions, where: str) -> None:
    """Refuse another precision ("auto" too) or backend than the default.

    Args:
        run: how a model should run.
        where: what takes the default alone, such as "for a table".

    Raises:
        InvalidInput: one of the two is another; says what was expected, and where.
    """
    for name, value in run.changed.items():
        raise invalid_input(name, f"expected {getattr(DEFAULT_OPTIONS, name)!r} {where}, got {value!r}")
