"""Signatures: one line that lists every setting that can change a score (the idea is sacrebleu's)."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

NOT_IN_SIGNATURE = {"in_signature": False}  # metadata of an Options field that changes no score
SHORT_DIGITS = 8  # of a sha256 in a short signature


def no_score_change(default: object) -> Any:  # noqa: ANN401
    """A dataclass field that signatures leave out: it changes the speed or the shape of a result, never a score."""
    return field(default=default, metadata=NOT_IN_SIGNATURE)


def if_changed(default: object) -> Any:  # noqa: ANN401
    """A dataclass field that signatures name only where it is not the default, so that older signatures stay equal."""
    return field(default=default, metadata={"if_changed": True})


@dataclass(frozen=True)
class Signature:
    """The settings behind a result; results with equal signatures are comparable.

    Examples:
        >>> str(Signature("matcha", {"checkpoint": "66e5df33", "rescale": False, "version": "0.1.0"}))
        'matcha|checkpoint:66e5df33|rescale:false|version:0.1.0'
    """

    metric: str  # its name
    settings: Mapping[str, Any]  # names and values, in the order in which they are printed

    @classmethod
    def of(cls, metric: str, model: Mapping[str, Any], options: "DataclassInstance", version: str) -> "Signature":
        """The signature of a metric with the settings that identify its model, and the version of its script.

        The fields of `options`, a dataclass, are read in their order, except those made by `no_score_change`, and those
        made by `if_changed` that have their default. A field that `model` has too is skipped; one that is itself a
        dataclass is replaced by its own fields.
        """
        return cls(metric, {**model, **dict(_settings(options, model)), "version": version})

    def __str__(self) -> str:
        return "|".join([self.metric, *(f"{name}:{_spell(value)}" for name, value in self.settings.items())])


def shorten(signature: str) -> str:
    """A signature for a screen: metric, checkpoint, version, and a digest of the whole one in place of the rest.

    Scores may be compared if their short signatures are equal; only the whole one says what differs.

    Examples:
        >>> shorten("matcha|checkpoint:66e5df33a4d9ab71|rescale:false|version:0.1.0")
        'matcha|checkpoint:66e5df33|version:0.1.0|settings:714d6ebf'
    """
    metric, *settings = signature.split("|")
    values = {name: value for name, _, value in (setting.partition(":") for setting in settings)}
    digest = hashlib.sha256(signature.encode()).hexdigest()[:SHORT_DIGITS]
    kept: dict[str, str] = {name: values[name][:SHORT_DIGITS] for name in ("checkpoint", "version") if name in values}
    return "|".join([metric, *(f"{name}:{value}" for name, value in {**kept, "settings": digest}.items())])


def differing(signature: str, other: str) -> str:
    """Settings of a signature that another lacks, such as `precision:int8`; the whole one for another metric."""
    parts, others = (text.split("|") for text in (signature, other))
    only = [part for part in parts if part not in others]
    return "|".join(only) if parts[0] == others[0] and only else signature


def _settings(options: "DataclassInstance", known: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Names and values of the fields that can change a score, those of a nested dataclass in its place."""
    for item in fields(options):
        value = getattr(options, item.name)
        default = item.metadata.get("if_changed", False) and value == item.default
        if item.metadata.get("in_signature", True) and not default and item.name not in known:
            nested = is_dataclass(value) and not isinstance(value, type)
            yield from _settings(value, known) if nested else [(item.name, value)]


def _spell(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower()
