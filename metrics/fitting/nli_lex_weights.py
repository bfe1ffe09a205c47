"""Fit the weights of nli_lex on features of judged answers, and cross-validate them by question."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from semantic_metrics.core.progress import with_progress
from semantic_metrics.core.texts import is_blank
from semantic_metrics.fitting import FOLDS
from semantic_metrics.fitting.judged_answers import JudgedAnswers, JudgedFile, join, question_key
from semantic_metrics.fitting.lengthen import LONG_FORM_WEIGHT, lengthen
from semantic_metrics.nli_lex.features import COLUMNS, FORMS, Features
from semantic_metrics.nli_lex.weights import Weights, judge
from semantic_metrics.stats.binary import (
    CORRECT_ABOVE,
    Reliability,
    check_labels,
    figures,
    fit,
    folds_by_group,
    reliability,
)
from semantic_metrics.stats.bootstrap import SIGNIFICANT
from semantic_metrics.stats.significance import mcnemar

AS_THEY_ARE, LONG = "as they are", "long"  # names of parts in the report
LONG_FORMS_SHARE = 4  # answers for each long form, where their number is limited: a model reads these slowly
MAX_ROUNDS = 20  # of fitting and choosing the best reference; the last ones move weights in the third digit
# features that speak against an answer
OPPOSING = ("contradiction", "number_conflict", "conflict_of_brief")


@dataclass(frozen=True)
class TrainingSet:
    """Judged answers that weights are fitted on."""

    judged: JudgedAnswers  # n judged answers
    labels: np.ndarray  # (n,) bool, whether the answer is correct
    sample_weight: np.ndarray  # (n,) weight of each answer in the fit
    parts: dict[str, slice]  # parts of the answers by name, which the report lists one by one; empty for one part
    note: str = ""  # what the description of the data must add, for people


@dataclass(frozen=True)
class FittedForm:
    """One form of the weights, with what cross-validation says of it."""

    weights: Weights  # weights fitted on all answers
    figures: dict[str, float]  # accuracy, f1, mcc and ece, see `binary.figures`
    part_figures: dict[str, dict[str, float]]  # the same of each part of the answers, by name
    reliability: Reliability  # predicted and observed shares of correct answers
    # the figures of the checkpoint's own weights on all answers, and McNemar's p of the two sets of decisions; None
    # where it has none of this form
    shipped: dict[str, float] | None = None
    p_shipped: float | None = None

    def lines(self, folds: int) -> Iterator[str]:
        """The report, for people."""
        yield f"\n{self.weights.form}, {folds} folds by question: {_spell(self.figures)}"
        if self.shipped is not None:
            yield f"  the checkpoint's own weights, on the same answers: {_spell(self.shipped)}"
            if self.figures["mcc"] <= self.shipped["mcc"]:
                yield "  they judge these answers as well: there is no reason to use the fitted ones"
            elif self.p_shipped is not None and self.p_shipped >= SIGNIFICANT:
                yield f"  the lead of the fitted ones may be chance (McNemar's p = {self.p_shipped:.2f})"
        named = zip(
            ("intercept", *self.weights.features), (self.weights.intercept, *self.weights.coefficients), strict=True
        )
        yield textwrap.fill(
            ", ".join(f"{name} {value:.3f}" for name, value in named),
            width=100,
            initial_indent="  ",
            subsequent_indent="  ",
        )
        for name, part in self.part_figures.items():
            yield f"  answers {name}: {_spell(part)}"


def _spell(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in figures.items())


def training_set(files: list[JudgedFile], long: bool, rows: int | None = None) -> TrainingSet:
    """Judged answers of some files for a fit, with `long` also their long forms, which weigh LONG_FORM_WEIGHT as much.

    The long form of an answer has sentences of answers of its own file. Files that count less than fully, as made
    answers do, are not lengthened: a denial among unrelated sentences is not how people write. Where `rows` limits the
    answers of a file, a quarter as many long forms are drawn.
    """
    most = None if rows is None else max(rows // LONG_FORMS_SHARE, 1)
    named = [(file.name if len(files) > 1 else AS_THEY_ARE, file) for file in files]
    if long:
        for file in [file for file in files if file.weight >= 1]:
            name = LONG if len(files) == 1 else f"{file.name}, {LONG}"
            named.append((name, replace(file, judged=lengthen(file.judged).sample(most))))
    scales = [1.0] * len(files) + [LONG_FORM_WEIGHT] * (len(named) - len(files))
    judged = join([file for _, file in named])
    weights = [np.full(len(file.judged), scale * file.weight) for scale, (_, file) in zip(scales, named, strict=False)]
    ends = np.cumsum([len(file.judged) for _, file in named])
    parts = {name: slice(end - len(file.judged), end) for end, (name, file) in zip(ends, named, strict=True)}
    note = f"; and their long forms, which count {LONG_FORM_WEIGHT}" if len(named) > len(files) else ""
    parts = parts if len(named) > 1 else {}
    return TrainingSet(judged, np.array(judged.labels, dtype=bool), np.concatenate(weights), parts, note)


def fit_form(
    features: Features, examples: TrainingSet, form: str, folds: int, seed: int, shipped: Weights | None = None
) -> FittedForm:
    """Fit one form of the weights on all answers, and judge by cross-validation how good such weights are.

    `features` and `examples` are of the same answers, `form` is one of FORMS, `seed` assigns questions to `folds` parts
    that are left out in turn, and `shipped` are weights of this form to compare with.
    """
    labels, weight = examples.labels, examples.sample_weight
    p = cross_validated(features, labels, examples.judged.questions, form, folds, seed, weight)
    parts = {name: figures(p[part], labels[part]) for name, part in examples.parts.items()}
    weights = fit_weights(features, labels, form, weight)
    fitted = FittedForm(weights, figures(p, labels), parts, reliability(p, labels))
    if shipped is None:
        return fitted
    own = judge(shipped, features).p
    judged_by_people = np.ones(len(labels), dtype=bool)
    for name, part in examples.parts.items():
        judged_by_people[part] = not name.endswith(LONG)  # else an answer would count twice, as its long form too
    right = [((said > CORRECT_ABOVE) == labels)[judged_by_people] for said in (p, own)]
    return replace(fitted, shipped=figures(own, labels), p_shipped=mcnemar(*right).p)


def take(features: Features, answers: np.ndarray) -> Features:
    """The features of some answers, which are given by ascending index."""
    rows = np.isin(features.answer_index, answers)
    return replace(
        features,
        table=features.table[rows],
        answer_index=np.searchsorted(answers, features.answer_index[rows]),
        blank=features.blank[answers],
        shortened=features.shortened[answers],
        rulings=tuple(compress(features.rulings, rows)),  # empty where rules were not asked
        pairs=(),
        truncated=0,
        windowed=0,
    )


def fit_weights(features: Features, labels: np.ndarray, form: str, sample_weight: np.ndarray | None = None) -> Weights:
    """Fit one form of the weights; (n,) `labels` say whether people found an answer correct.

    Of several references the one counts that speaks most for an answer, and the weights themselves decide which that
    is: fit and choice are repeated until the choice stays. Blank answers, always judged incorrect, are left out.
    """
    names = FORMS[form]
    columns = [COLUMNS.index(name) for name in names]
    weights = Weights(names, 0.0, tuple(-1.0 if name in OPPOSING else 1.0 for name in names))
    rows = judge(weights, features).rows
    answered = ~features.blank
    sample_weight = None if sample_weight is None else sample_weight[answered]
    for _ in range(MAX_ROUNDS):
        intercept, coefficients = fit(features.table[rows[answered]][:, columns], labels[answered], sample_weight)
        weights = replace(weights, intercept=intercept, coefficients=tuple(map(float, coefficients)))
        before, rows = rows, judge(weights, features).rows
        if np.array_equal(before, rows):
            break
    return weights


def cross_validated(
    features: Features,
    labels: np.ndarray,
    questions: list[str],
    form: str,
    folds: int = FOLDS,
    seed: int = 0,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """(n,) probabilities, each by weights that were fitted without any answer to the same question.

    `folds` and `seed` are those of `fit_form`, the other arguments those of `fit_weights`.
    """
    p = np.empty(len(labels))
    parts = folds_by_group(labels, list(map(question_key, questions)), folds, seed)
    for kept, left in with_progress(parts, "fold", folds, "cross-validation"):
        weight = None if sample_weight is None else sample_weight[kept]
        p[left] = judge(fit_weights(take(features, kept), labels[kept], form, weight), take(features, left)).p
    return p


def check_classes(judged: JudgedAnswers, folds: int, seed: int) -> None:
    """Check that every fit, on all answers or all but one fold, has both classes among answers that are not blank."""
    labels = np.array(judged.labels, dtype=bool)
    answered = np.array([not is_blank(answer) for answer in judged.answers])
    check_labels(labels)
    check_labels(labels[answered], "labels of answers that are not blank")
    groups = list(map(question_key, judged.questions))
    for i, (kept, _) in enumerate(folds_by_group(labels, groups, folds, seed), 1):
        name = f"folds: without fold {i} of {folds}, seed {seed}, labels of answers that are not blank"
        check_labels(labels[kept][answered[kept]], name)
