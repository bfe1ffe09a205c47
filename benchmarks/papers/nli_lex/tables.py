"""Tables of the NLI+lex benchmark from scores: agreement with people by set, by answering model and by dataset.

Source: Balamurali & Cheng 2025, table 1, figures 4 to 9.
"""

import numpy as np
import pandas as pd

from benchmarks.common.options import Bootstrap, Cell
from benchmarks.common.tables import Published
from benchmarks.papers.nli_lex.judges import CORRECT_ABOVE, Judge, Judged
from benchmarks.papers.nli_lex.nli_judges import FITTED_HERE, NLI_LEX
from benchmarks.papers.nli_lex.sets import TITLES, JudgedSet
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

    Intervals are drawn by question: all answers to a question are drawn together. Columns set, by (`all`, `model`,
    `dataset`), part, judge, group, figure, value, low, high, published, n (answers judged) and reason. Times 100.
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


def cost_table(judges: list[Judge], sets: dict[str, JudgedSet], judged: Judged, table: pd.DataFrame) -> pd.DataFrame:
    """Figure 2: columns set, judge, group, parameters (0 without a model, empty if unknown), and figures times 100.

    answers_per_second is of this run, without loading; empty if not measured here.
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

    EVOUNA is not a test set: its held-out questions chose the step and the weights. Takes the
    results of `figure_table`, and of `checks` and `denial_checks` of nli_checks.py.
    """
    rows = [(row.set, row.figure, row.value / 100, None) for row in checks.itertuples()]
    test = (table["by"] == "all") & ~table["set"].isin(FITTED_HERE)
    for row in table[test & table["judge"].isin(NLI_LEX.values())].dropna(subset=["value"]).itertuples():
        published = None if pd.isna(row.published) else row.published / 100
        rows.append((f"{row.set} ({row.n} answers), {row.judge}", _CARD_WORDS[row.figure], row.value / 100, published))
    return pd.DataFrame(rows, columns=["set", "figure", "value", "published"])
