"""From the verdicts of the NLI+lex benchmark to files: tables as CSV and text, figures 2 and 4 to 9 as PNG.

Points differ in marker and bars in hatching, so that no figure depends on colour alone.
"""

from itertools import cycle, product
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.common.options import Bootstrap
from benchmarks.common.plot_style import MARKERS, PALETTE, save_figure, shared_legend
from benchmarks.common.tables import Published, figures_text, markdown, write_output
from benchmarks.papers.nli_lex.judges import Judge, Judged
from benchmarks.papers.nli_lex.sets import TITLES, JudgedSet
from benchmarks.papers.nli_lex.tables import PUBLISHED, card_table, cost_table, figure_table

CARD = "model_card.csv"  # read by training/cards.py
_HEADER = """\
Balamurali & Cheng 2025, times 100. A judge says 'correct' above 0.5; of several gold answers the best counts.
(In brackets) what the paper prints, of all 3,000 answers of DIVER-QA and a DeBERTa-v3-large; its other rows lost their
numbers in print. Its abstract gives NLI+lex an accuracy of {abstract:.1f}, which is not that of its table 1. Its
appendix D.2 says that the best judges have an accuracy above {squad:.0f} on SQuAD and one of {low:.0f} to {high:.0f} on
MedQA, where F1 goes from {f1_low:.1f} to {f1_high:.1f}. [95% bootstrap intervals] over questions."""
_CHECKS_HEADER = (
    "The NLI model itself (probe: contradictions told from entailments, chance is 50), and what its judge makes of",
    "answers that name the reference to deny, correct or list it, have another number, or say yes or no otherwise",
    "(denials, changed numbers: half of them are correct; yes or no: 60 of 160)",
)
# number of the paper's figure: what it groups by, and what it shows; the order of 7 to 9 is lost in print
BARS = dict(enumerate(product(("model", "dataset"), ("mcc", "f1", "accuracy")), start=4))
LABELS = {"accuracy": "accuracy", "f1": "F1", "mcc": "MCC"}
_HATCHES = ("", "////", "....", "xxxx", "----", "++++")  # six, with seven colours: 42 different bars
_AXES = {"parameters": "parameters (0: no model)", "answers_per_second": "answers per second, here"}
_LOG_FROM_PARAMETERS = 1e6  # the axis is linear below, logarithmic above
_STATED = {  # places in published.csv
    "abstract": ("abstract", "DIVER-QA", "NLI+lex", "accuracy"),
    "squad": ("D.2", "SQuAD", "top-performing", "accuracy_low"),
    "low": ("D.2", "MedQA", "top-performing", "accuracy_low"),
    "high": ("D.2", "MedQA", "top-performing", "accuracy_high"),
    "f1_low": ("D.2", "MedQA", "all", "f1_low"),
    "f1_high": ("D.2", "MedQA", "all", "f1_high"),
}
_PART_FIGURES = {"model": ("accuracy", "mcc"), "dataset": ("accuracy", "f1", "mcc")}  # printed, by kind of part
_PUBLISHED_MODEL = ("MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli", "NLI+lex")  # what figure 2 adds


def write_report(
    judges: list[Judge],
    sets: dict[str, JudgedSet],
    absent: dict[str, str],
    judged: Judged,
    checks: pd.DataFrame,
    drawing: Bootstrap,
    output: Path,
    lines: list[str],
    shipped: bool,
) -> str:
    """Compute every table and figure, write them to `output`, and return all tables as text.

    `absent` says why a set is missing, `checks` has the results of `checks` and `denial_checks` of nli_checks.py,
    `lines` identify the measured model; `shipped`: whether it is the shipped model, whose card gets its figures.
    """
    table = figure_table(judges, sets, judged, drawing)
    cost = cost_table(judges, sets, judged, table)
    files = {"table1": "all", "by_model": "model", "by_dataset": "dataset"}
    files = {name: table[table["by"] == by] for name, by in files.items()}
    files |= {"cost": cost, "checks": checks}
    if shipped:
        files[CARD.removesuffix(".csv")] = card_table(table, checks)
    output.mkdir(parents=True, exist_ok=True)
    for key, answers in sets.items():  # the label of each answer, and the scores of every judge
        columns = {name: verdicts.scores for (name, place), verdicts in judged.verdicts.items() if place == key}
        scores = pd.DataFrame({"label": answers.labels.astype(int), **columns})
        scores.to_csv(output / f"scores_{key}.csv", index_label="row")
    not_drawn = draw_figures(table, cost, sets, output)
    published = Published(PUBLISHED)
    header = _HEADER.format(**{name: 100 * published.get(*place) for name, place in _STATED.items()})
    parts = [header, "\n".join([*lines, *_data_lines(sets, absent)])]
    if not checks.empty:
        parts.append("\n".join([*_CHECKS_HEADER, "", markdown(checks, 2)]))
    for answers in sets.values():
        parts += _set_texts(table, answers)
    title = "Figure 2: cost and quality (answers per second in this run, loading aside)"
    parts += [f"{title}\n\n{markdown(cost.drop(columns='group'), 2)}"]
    parts += ["\n".join(_notes(judges, sets, judged)), not_drawn]
    parts.append(f"bootstrap: {drawing.resamples} resamples, seed {drawing.seed}")
    return write_output(output, "\n\n".join(filter(None, parts)), **files)


def draw_figures(table: pd.DataFrame, cost: pd.DataFrame, sets: dict[str, JudgedSet], output: Path) -> str:
    """Write figures 2 and 4 to 9 for DIVER-QA, or else the first set; returns a line that names those not written."""
    title = sets.get("diver_qa", next(iter(sets.values()))).title
    table, cost = table[table["set"] == title], cost[cost["set"] == title]
    published = Published(PUBLISHED)
    size = published.get("model card", *_PUBLISHED_MODEL, "parameters")
    mcc = published.get("1", title, "NLI+lex", "mcc")
    beside = {} if mcc is None else {f"NLI+lex, {_PUBLISHED_MODEL[0].partition('/')[2]}": (size, 100 * mcc)}
    drawn = {2: draw_cost(cost, beside, output / "figure2.png", f"Figure 2: cost and quality on {title}")}
    for number, (by, figure) in BARS.items():
        heading = f"Figure {number}: {LABELS[figure]} by {'answering model' if by == 'model' else by}, {title}"
        drawn[number] = draw_parts(table, number, output / f"figure{number}.png", heading)
    missing = [str(number) for number, done in drawn.items() if not done]
    return f"not drawn, as nothing of them was measured: figures {', '.join(missing)}" if missing else ""


def _data_lines(sets: dict[str, JudgedSet], absent: dict[str, str]) -> list[str]:
    lines = []
    for answers in sets.values():
        golds = sum(map(len, answers.references)) / len(answers)
        lines.append(
            f"{answers.title}: {len(answers)} answers to {len(set(answers.questions))} questions of {answers.source}, "
            f"{100 * answers.labels.mean():.1f}% correct, {golds:.1f} gold answers each"
        )
    return lines + [f"{TITLES[key]}: not measured: {reason}" for key, reason in absent.items()]


def _set_texts(table: pd.DataFrame, answers: JudgedSet) -> list[str]:
    """Table 1 of one set, and figures 4 to 9 as tables; their intervals are in the CSV."""
    own = table[table["set"] == answers.title]
    partly = own["n"].between(1, len(answers) - 1)
    whole = own.assign(judge=own["judge"].where(~partly, own["judge"] + ", " + own["n"].astype(str) + " answers"))
    parts = [figures_text(f"Table 1, {answers.title}", whole[own["by"] == "all"], "judge", ["figure"], LABELS)]
    for by, figures in _PART_FIGURES.items():
        for figure in figures:
            lines = own[(own["by"] == by) & (own["figure"] == figure) & own["value"].notna()]
            if not lines.empty:
                heading = f"{answers.title}, {LABELS[figure]} by {'answering model' if by == 'model' else by}"
                parts.append(figures_text(heading, lines, "judge", ["part"], intervals=False))
    return parts


def _notes(judges: list[Judge], sets: dict[str, JudgedSet], judged: Judged) -> list[str]:
    places = [place for place in product((judge.name for judge in judges), sets) if place in judged.verdicts]
    return [f"{name}, {sets[key].title}: {note}" for name, key in places for note in judged.verdicts[name, key].notes]


def draw_cost(cost: pd.DataFrame, published: dict[str, tuple[float, float]], path: Path, title: str) -> bool:
    """Figure 2: MCC against parameters, and against answers per second; returns whether it was written.

    `cost` has the rows of one set of `tables.cost_table`, `published` parameters and MCC (times 100) by name.
    """
    if cost.empty:
        return False
    figure = Figure(figsize=(11, 5.5), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    looks = dict(zip(cost["judge"], zip(cycle(PALETTE), cycle(MARKERS), strict=False), strict=False))
    for panel, column in zip(panels, _AXES, strict=True):
        for row in cost[cost[column].notna()].itertuples():
            colour, marker = looks[row.judge]
            panel.plot(getattr(row, column), row.mcc, marker, color=colour, label=row.judge, markersize=8)
        panel.set_xlabel(_AXES[column])
        panel.grid(alpha=0.3)
    for name, (parameters, mcc) in published.items():
        panels[0].plot(parameters, mcc, "*", color="black", label=f"{name} (published)", markersize=11)
    panels[0].set_xscale("symlog", linthresh=_LOG_FROM_PARAMETERS)
    panels[0].set_xlim(left=-_LOG_FROM_PARAMETERS / 5)
    panels[0].set_xticks([0, *(_LOG_FROM_PARAMETERS * 10.0**i for i in range(4))])
    panels[1].set_xscale("log")
    panels[0].set_ylabel("MCC (x 100)")
    shared_legend(figure, panels, 4)
    save_figure(figure, path, title)
    return True


def draw_parts(table: pd.DataFrame, number: int, path: Path, title: str) -> bool:
    """One of figures 4 to 9: a group of bars for each answering model or dataset, a bar for each judge.

    Takes the rows of one set of `tables.figure_table`; returns whether the figure was written.
    """
    by, figure_name = BARS[number]
    rows = table[(table["by"] == by) & (table["figure"] == figure_name) & table["value"].notna()]
    if rows.empty:
        return False
    wide = rows.pivot(index="part", columns="judge", values="value").astype(float)
    wide = wide.reindex(index=rows["part"].unique(), columns=rows["judge"].unique())
    figure = Figure(figsize=(2 + 0.22 * wide.size, 4.8), layout="constrained")
    panel = figure.subplots()
    wide.plot.bar(ax=panel, width=0.85, color=PALETTE, edgecolor="black", linewidth=0.5, legend=False, rot=0)
    for bars, hatch in zip(panel.containers, cycle(_HATCHES), strict=False):
        for bar in bars:
            bar.set_hatch(hatch)
    panel.axhline(0, color="black", linewidth=0.8)
    panel.grid(axis="y", alpha=0.3)
    panel.set(xlabel="", ylabel=f"{LABELS[figure_name]} (x 100)")
    shared_legend(figure, [panel], 4)
    save_figure(figure, path, title)
    return True
