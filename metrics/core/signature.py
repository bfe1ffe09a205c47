"""Signatures: one line that lists every setting that can change a score (the idea is sacrebleu's)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass

NOT_IN_SIGNATURE = {"in_signature": False}  # metadata of an Options field that changes no score


def no_score_change(default: object) -> object:
    """A dataclass field that signatures leave out: it changes the speed or the shape of a result, never a score."""
    return field(default=default, metadata=NOT_IN_SIGNATURE)


@dataclass(frozen=True)
class Signature:
    """The settings behind a result; results with equal signatures are comparable.

    Attributes:
        metric: its name.
        settings: names and values, in the order in which they are printed.

    Example:
        >>> str(Signature("matcha", {"checkpoint": "66e5df33", "rescale": False, "version": "0.1.0"}))
        'matcha|checkpoint:66e5df33|rescale:false|version:0.1.0'
    """

    metric: str
    settings: Mapping[str, object]

    @classmethod
    def of(cls, metric: str, model: Mapping[str, object], options: object, version: str) -> "Signature":
        """The signature of a metric.

        Args:
            metric: its name.
            model: what identifies the checkpoint: `checkpoint`, `tokenizer`, ...
            options: a dataclass; its fields are read in their order, except those made by `no_score_change`. A field
                that `model` has too is skipped; one that is itself a dataclass is replaced by its own fields.
            version: of the metric's script.
        """
        return cls(metric, {**model, **dict(_settings(options, model)), "version": version})

    def __str__(self) -> str:
        return "|".join([self.metric, *(f"{name}:{_spell(value)}" for name, value in self.settings.items())])


def _settings(options: object, known: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Names and values of the fields that can change a score, those of a nested dataclass in its place."""
    for item in fields(options):
        value = getattr(options, item.name)
        if item.metadata.get("in_signature", True) and item.name not in known:
            yield from _settings(value, known) if is_dataclass(value) else [(item.name, value)]


def _spell(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower()
