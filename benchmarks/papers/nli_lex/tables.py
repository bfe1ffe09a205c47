"""Tables of the NLI+lex benchmark from scores: agreement with people by set, by answering model and by dataset.

Source: Balamurali & Cheng 2025, table 1, figures 4 to 9, tables 4 to 8.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from benchmarks.common.options import Bootstrap, Cell
from benchmarks.common.published import Published
from benchmarks.papers.nli_lex.judges import CORRECT_ABOVE, Judge, Judged
from benchmarks.papers.nli_lex.nli_judges import FITTED_HERE, NLI_LEX
from benchmarks.papers.nli_lex.sets import MODELS, TITLES, JudgedSet
from semantic_metrics.stats.bootstrap import Figures

PUBLISHED = "nli_lex"
FIGURES = ("accuracy", "f1", "mcc")
OVERALL = "all"
_CARD_WORDS = {"accuracy": "accuracy", "f1": "F1", "mcc": "MCC"}
_COLUMNS = ["set", "by", "part", "judge", "group", "figure", "value", "low", "high", "published", "n", "reason"]


def agreement(counts: np.ndarray) -> Figures:
    """Figures of table 1, times 100, of (..., 4) true positives, false positives, false negatives, true negatives.

    `f1` is of the correct answers, 0 where none is judged correct; `mcc`, equation 1, is 0 where people or judge give
    one verdict only, as in scikit-learn.
    """
    tp, fp, fn, tn = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    spread = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    total = 2 * tp + fp + fn
    figures = {
        "accuracy": (tp + tn) / (tp + fp + fn + tn),
        "f1": np.divide(2 * tp, total, out=np.zeros_like(total), where=total > 0),
        "mcc": np.divide(tp * tn - fp * fn, spread, out=np.zeros_like(spread), where=spread > 0),
    }
    return {name: 100 * value for name, value in figures.items()}


def outcomes(verdicts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(n,) verdicts and labels -> (n, 4) one of true positive, false positive, false negative, true negative."""
    each = [verdicts & labels, verdicts & ~labels, ~verdicts & labels, ~verdicts & ~labels]
    return np.stack(each, axis=1).astype(np.float64)


def figure_table(judges: list[Judge], sets: dict[str, JudgedSet], judged: Judged, drawing: Bootstrap) -> pd.DataFrame:
    """Accuracy, F1 and MCC of every judge on every set, for all answers, by answering model and by dataset.

    Intervals are drawn by question: all answers to a question are drawn together.

    Returns:
        Columns set, by (`all`, `model`, `dataset`), part, judge, group, figure, value, low, high, published, n (answers
        judged) and reason (why there is no value). Figures times 100.
    """
    published, rows = Published(PUBLISHED), []
    for key, answers in sets.items():
        for by, part, chosen in _parts(answers):
            for judge in judges:
                verdicts, values, n = judged.verdicts.get((judge.name, key)), {}, 0
                if verdicts is not None:
                    answered = chosen & ~np.isnan(verdicts.scores)
                    n, values = int(answered.sum()), _measure(answers, verdicts.scores, answered, drawing)
                base = {"set": answers.title, "by": by, "part": part, "judge": judge.name, "group": judge.group, "n": n}
                base["reason"] = judged.reasons.get((judge.name, key))
                for figure in FIGURES:
                    value, low, high = values.get(figure, (None, None, None))
                    row = {"figure": figure, "value": value, "low": low, "high": high}
                    rows.append(base | row | {"published": _printed(published, judge, answers.title, by, part, figure)})
    return pd.DataFrame(rows, columns=_COLUMNS)


def _parts(answers: JudgedSet) -> list[tuple[str, str, np.ndarray]]:
    """What a part is grouped by, its name, and (n,) which answers belong to it."""
    parts = [("all", OVERALL, np.ones(len(answers), dtype=bool))]
    for by, names in (("model", answers.models), ("dataset", answers.datasets)):
        kinds = list(dict.fromkeys(names))
        if len(kinds) > 1:
            parts += [(by, kind, np.array(names, dtype=object) == kind) for kind in kinds]
    return parts


def _measure(answers: JudgedSet, scores: np.ndarray, chosen: np.ndarray, drawing: Bootstrap) -> dict[str, Cell]:
    if not chosen.any():
        return {}
    each = outcomes(scores[chosen] > CORRECT_ABOVE, answers.labels[chosen])
    questions = pd.factorize(np.array(answers.questions, dtype=object)[chosen])[0]
    counts = np.zeros((questions.max() + 1, each.shape[1]))
    np.add.at(counts, questions, each)
    return drawing.measure(lambda rows: agreement(counts[rows].sum(axis=-2)), (len(counts),))


def _printed(published: Published, judge: Judge, title: str, by: str, part: str, figure: str) -> float | None:
    """The paper's figure, times 100: those of table 1, and those that its text gives for one model or dataset."""
    if title != TITLES["diver_qa"]:
        return None
    places = {"all": ("1", title), "dataset": ("D.2", part)}
    places["model"] = ({"mcc": "4", "f1": "5", "accuracy": "6"}[figure], part)
    value = published.get(*places[by], judge.published, figure)
    return None if value is None else 100 * value


def rater_table(sets: dict[str, JudgedSet]) -> pd.DataFrame:
    """Tables 4 to 8: how far each pair of raters agrees, by dataset and answering model.

    Returns:
        Columns set, dataset, model, raters, n (answers both judged), accuracy, mcc (times 100; 0 where one of them
        gives all answers the same label) and kappa (Cohen's, times 100; 0 where both give all answers one label, where
        it is not defined). No rows for sets without columns of raters.
    """
    rows = []
    for answers in sets.values():
        for first, second in combinations(answers.raters, 2):
            one, other = answers.raters[first], answers.raters[second]
            both = ~np.isnan(one) & ~np.isnan(other)
            places = pd.DataFrame({"dataset": answers.datasets, "model": answers.models})[both]
            for (dataset, model), part in places.groupby(["dataset", "model"], sort=False):
                sides = one[part.index] > 0, other[part.index] > 0
                counts = agreement(outcomes(*sides).sum(axis=0))
                figures = {name: float(counts[name]) for name in ("mcc", "accuracy")}
                same = np.array_equal(*sides) and len(set(sides[0])) == 1
                figures["kappa"] = 0.0 if same else 100 * float(cohen_kappa_score(*sides))
                base = {"set": answers.title, "dataset": dataset, "model": model, "raters": f"{first}, {second}"}
                rows.append(base | {"n": len(part), **figures})
    return pd.DataFrame(rows, columns=["set", "dataset", "model", "raters", "n", "mcc", "accuracy", "kappa"])


def published_raters() -> pd.DataFrame:
    """Range of the published agreement: columns table, figure, low, high, times 100."""
    published, rows = Published(PUBLISHED), []
    pairs = [f"raters {first} and {second}" for first, second in combinations((1, 2, 3), 2)]
    for table in map(str, range(4, 9)):
        for figure in ("mcc", "accuracy"):
            values = [published.get(table, pair, model, figure) for pair in pairs for model in MODELS.values()]
            rows.append((table, figure, 100 * min(values), 100 * max(values)))
    return pd.DataFrame(rows, columns=["table", "figure", "low", "high"])


def cost_table(judges: list[Judge], sets: dict[str, JudgedSet], judged: Judged, table: pd.DataFrame) -> pd.DataFrame:
    """Figure 2: cost and quality.

    Returns:
        Columns set, judge, group, parameters (0 without a model, empty if unknown), answers_per_second (in this run,
        without loading; empty if not measured here), accuracy, f1, mcc (times 100).
    """
    overall = table[table["by"] == "all"].pivot(index=["set", "judge"], columns="figure", values="value")
    rows = []
    for key, answers in sets.items():
        for judge in judges:
            verdicts = judged.verdicts.get((judge.name, key))
            if verdicts is None:
                continue
            speed = None if not verdicts.seconds else len(answers) / verdicts.seconds
            row = {"set": answers.title, "judge": judge.name, "group": judge.group}
            row |= {"parameters": judged.parameters[judge.name], "answers_per_second": speed}
            rows.append(row | {figure: overall.loc[(answers.title, judge.name), figure] for figure in FIGURES})
    return pd.DataFrame(rows, columns=["set", "judge", "group", "parameters", "answers_per_second", *FIGURES])


def card_table(table: pd.DataFrame, checks: pd.DataFrame) -> pd.DataFrame:
    """Figures of the model card, which training/cards.py reads: of what was measured on test sets, not times 100.

    EVOUNA is not a test set: its held-out questions chose the step, the share of the start and the weights. Takes the
    results of `figure_table`, and of `nli_checks.checks` and `denials.denial_checks`.
    """
    rows = [(row.set, row.figure, row.value / 100, None) for row in checks.itertuples()]
    test = (table["by"] == "all") & ~table["set"].isin(FITTED_HERE)
    for row in table[test & table["judge"].isin(NLI_LEX.values())].dropna(subset=["value"]).itertuples():
        published = None if pd.isna(row.published) else row.published / 100
        rows.append((f"{row.set} ({row.n} answers), {row.judge}", _CARD_WORDS[row.figure], row.value / 100, published))
    return pd.DataFrame(rows, columns=["set", "figure", "value", "published"])
