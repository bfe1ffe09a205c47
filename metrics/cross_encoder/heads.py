"""A cross-encoder's outputs by name: the classes of NLI, a similarity, or both from one pass.

The label `similarity` is a raw score, as is the only label of a model that has but one; all other labels are classes.
"""

import json
import sys
from pathlib import Path

import numpy as np
from transformers import PretrainedConfig

from semantic_metrics.core.checkpoint_files import refuse_damage
from semantic_metrics.core.inputs import invalid_input, quote

SIMILARITY = "similarity"
ENTAILMENT = {"entailment", "entail", "entails", "entailed"}
CONTRADICTION = {"contradiction", "contradict", "contradicts", "contradictory"}
SIGMOID = "sigmoid"
PUBLISHED_SCALES = {"WillHeld/roberta-base-stsb": 5.0}  # Herbold, section 2.1: STSScore = logit / 5, of this checkpoint
MIN_SCALE = 1e-6  # a smaller one counts as 0: it would make any raw score a huge number


def nli_labels(labels: list[str]) -> tuple[int, int | None]:
    """Index of the label for entailment, and of the one for contradiction (None without such a label).

    The classes are three in any order, or two as in zero-shot classifiers (entailment, not_entailment), of which the
    second is no contradiction. A ValueError lists labels that are no classes of NLI.
    """
    names = [label.strip().lower() for label in labels]
    entailment = [i for i, name in enumerate(names) if name in ENTAILMENT]
    contradiction = [i for i, name in enumerate(names) if name in CONTRADICTION]
    if len(entailment) != 1 or len(class_labels(labels)) < 2:
        raise ValueError(f"expected labels for NLI, one of them 'entailment', got {', '.join(labels)}")
    return entailment[0], contradiction[0] if contradiction else None


def nli_probabilities(logits: np.ndarray, labels: list[str]) -> np.ndarray:
    """(n, labels) logits -> (n, 2) float64, the probabilities of entailment and of contradiction.

    Without a label for contradiction its column is 0.
    """
    entailment, contradiction = nli_labels(labels)
    values = logits.astype(np.float64)
    classes = values[:, class_labels(labels)]
    highest = classes.max(axis=1, keepdims=True)
    total = np.exp(classes - highest).sum(axis=1)
    columns = [np.exp(values[:, i] - highest[:, 0]) / total for i in (entailment, contradiction) if i is not None]
    return np.stack([*columns, *[np.zeros(len(values))] * (2 - len(columns))], axis=1)


def similarity_label(labels: list[str]) -> int:
    """Index of the raw score that rates a pair; a ValueError lists labels of which none is `similarity`."""
    names = [label.strip().lower() for label in labels]
    if len(labels) == 1:
        return 0
    if names.count(SIMILARITY) != 1:
        raise ValueError(f"expected one label, a rating, or one named {SIMILARITY!r}, got {', '.join(labels)}")
    return names.index(SIMILARITY)


def class_labels(labels: list[str]) -> list[int]:
    """Indices of the labels that are classes: all but the similarity."""
    return [i for i, label in enumerate(labels) if label.strip().lower() != SIMILARITY]


def checkpoint_scale(folder: Path, config: PretrainedConfig, name: str) -> float | str | None:
    """The scale of a checkpoint's raw score: a number that divides it, "sigmoid", or None if the checkpoint has none.

    sentence-transformers stores the activation: a sigmoid gives [0, 1]; without one the raw score may have any range.
    Its versions have written it to three places; the newest place counts, as in the library.
    The `config.json` of our checkpoints has the range: `"stsscore": {"scale": 5.0}`.
    """
    path = folder / "config_sentence_transformers.json"
    with refuse_damage(f"checkpoint {folder}: expected JSON in {path.name}"):
        newest = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    older, own = (getattr(config, name, None) or {} for name in ("sentence_transformers", "stsscore"))
    for place, settings in ((path.name, newest), ("sentence_transformers", older), ("stsscore", own)):
        if not isinstance(settings, dict):
            raise ValueError(f"checkpoint {folder}: expected an object in {place}, got {quote(settings)}")
    oldest = getattr(config, "sbert_ce_default_activation_function", None)
    activation = newest.get("activation_fn") or older.get("activation_fn") or oldest
    if str(activation).rpartition(".")[2] == "Sigmoid":
        return SIGMOID
    return own.get("scale", PUBLISHED_SCALES.get(name.partition("@")[0]))


def check_scale(scale: object) -> float | str:
    """A scale that can be used: a number above 0, or "sigmoid"; anything else is refused."""
    if type(scale) in (int, float) and isinstance(scale, int | float) and MIN_SCALE <= scale <= sys.float_info.max:
        return float(scale)
    if not isinstance(scale, str) or scale != SIGMOID:
        raise invalid_input("scale", f"expected a number above 0, {SIGMOID!r} or None, got {quote(scale)}")
    return SIGMOID


def rating(scale: float | str, raw: np.ndarray) -> np.ndarray:
    """Raw scores -> ratings, about 0 to 1, of the same shape."""
    return (1 + np.tanh(raw / 2)) / 2 if scale == SIGMOID else raw / scale  # tanh: no overflow
