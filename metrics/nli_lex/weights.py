"""The weights of the judge: one logistic regression over named features, a JSON file beside the model it belongs to.

{"rich": {"intercept": -2.1, "coefficients": {"entailment": 3.0, ...}, "template": "...", "number_words": true,
          "fitted_on": "...", "checkpoint": "0123456789abcdef"},
 "two_features": {...}, "paper": {...}}
"""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from semantic_metrics.core.texts import best_or_mean
from semantic_metrics.nli_lex.features import COLUMNS, FORMS, NLI, NUMBER_WORDS, TEMPLATE, Features
from semantic_metrics.nli_lex.windows import check_template
from semantic_metrics.quantities.rules import limited

MAX_WEIGHT = 1e9  # a larger weight means a damaged file
FILE = "nli_lex.json"  # name of the file in a checkpoint's folder
KEYS = ("intercept", "coefficients", "template", "number_words", "fitted_on", "checkpoint")  # in the file's order


@dataclass(frozen=True)
class Weights:
    """A fitted judge."""

    features: tuple[str, ...]  # names from COLUMNS
    intercept: float  # log odds of an answer whose features are all 0
    coefficients: tuple[float, ...]  # what each feature adds to the log odds, per unit
    fitted_on: str = ""  # data and number of answers, for people to read
    # template, number_words: options with which the features were extracted (see `features.extract`)
    template: str = TEMPLATE
    number_words: bool = NUMBER_WORDS
    checkpoint: str = ""  # beginning of the sha256 of the model that the weights were fitted for; empty if unknown
    logistic: bool = True  # whether the weighted sum is the log odds; else it is the probability itself

    def __post_init__(self) -> None:
        unknown = [name for name in self.features if name not in COLUMNS]
        if not self.features or unknown or len(set(self.features)) < len(self.features):
            raise ValueError(f"weights: expected distinct features of {', '.join(COLUMNS)}, got {self.features}")
        if len(self.coefficients) != len(self.features):
            raise ValueError(f"weights: expected {len(self.features)} coefficients, got {len(self.coefficients)}")
        for name, value in zip(("intercept", *self.features), (self.intercept, *self.coefficients), strict=True):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= MAX_WEIGHT:
                raise ValueError(f"weights: expected a finite number for {name}, got {value!r}")
        check_template(self.template)
        if type(self.number_words) is not bool or not isinstance(self.fitted_on, str):
            raise ValueError(
                "weights: expected number_words as true or false and fitted_on as a string, got "
                f"{self.number_words!r} and {self.fitted_on!r}"
            )
        if not isinstance(self.checkpoint, str):
            raise ValueError(f"weights: expected checkpoint as a string, got {self.checkpoint!r}")

    @property
    def form(self) -> str:
        """Name of these weights in the file: the form in FORMS that has these features, else "rich"."""
        if not self.logistic:
            return NLI
        return next((form for form, names in FORMS.items() if set(self.features) == set(names)), "rich")

    @property
    def whole_question(self) -> bool:
        """Whether these weights are for features of the whole question, see `features.extract`."""
        return self.form in ("paper", NLI)

    @property
    def sha256(self) -> str:
        """Digest of everything that can change a probability."""
        values = _to_json(replace(self, fitted_on="", checkpoint=""))
        return hashlib.sha256(json.dumps(values).encode("utf-8")).hexdigest()

    def signature_fields(self) -> dict[str, Any]:
        """Settings of a metric's signature that identify the weights."""
        return {
            "features": self.form,
            "weights": self.sha256[:16] if self.logistic else "none",
            "template": json.dumps(self.template),
            "number_words": self.number_words,
        }


NLI_ALONE = Weights(("entailment",), 0.0, (1.0,), "nothing", logistic=False)


@dataclass(frozen=True)
class Judgement:
    """The judge's verdict on n answers, each by the reference that speaks most for it (the first of equals)."""

    p: np.ndarray  # (n,) probability that the answer is right; 0.0 for a blank answer
    best_reference: np.ndarray  # (n,) int, index of that reference among those of the answer
    rows: np.ndarray  # (n,) int, its row in the features' table


def probability(weights: Weights, table: np.ndarray) -> np.ndarray:
    """(rows, len(COLUMNS)) features -> (rows,) probabilities in [0, 1]: sigmoid(intercept + weighted sum)."""
    odds = weights.intercept + contributions(weights, table).sum(axis=1)
    return (1 + np.tanh(odds / 2)) / 2 if weights.logistic else odds  # tanh: no overflow


def contributions(weights: Weights, table: np.ndarray) -> np.ndarray:
    """(rows, len(COLUMNS)) features -> (rows, len(weights.features)): what each feature adds to the log odds."""
    return (
        table[:, [COLUMNS.index(name) for name in weights.features]] * np.array(weights.coefficients) + 0.0
    )  # no -0.0


def judge(weights: Weights, features: Features) -> Judgement:
    """Judge each answer by the reference that speaks most for it; what rules decide limits the probability."""
    counts = np.bincount(features.answer_index)
    p, best = best_or_mean(limited(probability(weights, features.table), features.rulings), counts, "best")
    return Judgement(np.where(features.blank, 0.0, p), best, counts.cumsum() - counts + best)


def read_weights(path: str | Path, form: str = "rich", checkpoint: str = "") -> Weights:
    """Weights of one form from a file, or from a folder's `nli_lex.json`.

    `checkpoint` is the sha256 of the model that they must be for, empty for any. A ValueError names a file that is
    missing or damaged, lacks this form, or is for another checkpoint.
    """
    forms = read_forms(Path(path))
    if form not in forms:
        raise ValueError(f"weights {path}: expected weights named {form!r}, got {', '.join(forms) or 'none'}")
    made_for = forms[form].checkpoint
    if checkpoint and made_for and not checkpoint.startswith(made_for):
        raise ValueError(
            f"weights {path}: expected some that were fitted for checkpoint {checkpoint[:16]}, got those of {made_for}"
        )
    return forms[form]


def write_weights(path: Path, weights: Weights) -> None:
    """Write weights to a file or a folder's `nli_lex.json`; other forms in it stay if they fit the same checkpoint."""
    path = _file(Path(path))
    before = read_forms(path) if path.is_file() else {}
    forms = {form: other for form, other in before.items() if other.checkpoint == weights.checkpoint}
    forms[weights.form] = weights
    values = {form: _to_json(forms[form]) for form in FORMS if form in forms}
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _file(path: Path) -> Path:
    return path / FILE if path.is_dir() else path


def _to_json(weights: Weights) -> dict[str, Any]:
    coefficients = dict(zip(weights.features, weights.coefficients, strict=True))
    return {name: getattr(weights, name) for name in KEYS} | {"coefficients": coefficients}


def read_forms(path: Path) -> dict[str, Weights]:
    """All weights of a file, by form; raises like `read_weights`."""
    try:
        path = _file(path)
        exists = path.is_file()
    except OSError as error:  # a name too long for a file
        raise ValueError(f"weights: expected a file's name ({error.strerror}), got {str(path)[:40]!r}") from None
    if not exists:
        raise ValueError(
            f"weights {path}: no such file; fit weights for this model with `semantic-metrics fit --metric nli_lex`, "
            "name the file of some in the argument `weights`, or in Python use features='nli', which needs none"
        )
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # no UTF-8 or no JSON
        raise ValueError(f"weights {path}: expected JSON ({error})") from None
    if not isinstance(values, dict) or not values or not set(values) <= set(FORMS):
        raise ValueError(f"weights {path}: expected an object with {' or '.join(FORMS)}, got {str(values)[:80]}")
    forms = {form: _from_json(f"weights {path}: {form}", fields) for form, fields in values.items()}
    for form, weights in forms.items():
        if weights.form != form:
            raise ValueError(f"weights {path}: {form}: expected other features, got {', '.join(weights.features)}")
    return forms


def _from_json(name: str, fields: object) -> Weights:
    if not isinstance(fields, dict) or set(fields) != set(KEYS) or not isinstance(fields["coefficients"], dict):
        raise ValueError(f"{name}: expected an object with {', '.join(sorted(KEYS))}, got {str(fields)[:80]}")
    coefficients = fields.pop("coefficients")
    try:
        return Weights(tuple(coefficients), coefficients=tuple(coefficients.values()), **fields)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from None
