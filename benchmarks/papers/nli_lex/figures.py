"""Figure 2 of the NLI+lex paper, cost against quality, and figures 4 to 9, agreement by model and by dataset.

Points differ in marker and bars in hatching, so that no figure depends on colour alone. A figure for which nothing was
measured is not written.
"""

from itertools import cycle
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.common.plot_style import MARKERS, PALETTE, save_figure

BARS = {  # number of the paper's figure: what it groups by, and what it shows; the order of 7 to 9 is lost in print
    4: ("model", "mcc"),
    5: ("model", "f1"),
    6: ("model", "accuracy"),
    7: ("dataset", "mcc"),
    8: ("dataset", "f1"),
    9: ("dataset", "accuracy"),
}
LABELS = {"accuracy": "accuracy", "f1": "F1", "mcc": "MCC"}
_HATCHES = ("", "////", "....", "xxxx", "----", "++++")  # six, with seven colours: 42 different bars
_AXES = {"parameters": "parameters (0: no model)", "answers_per_second": "answers per second, here"}
_LOG_FROM_PARAMETERS = 1e6  # the axis is linear below, logarithmic above


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
    both = [zip(*panel.get_legend_handles_labels(), strict=True) for panel in panels]
    handles = {name: handle for panel in both for handle, name in panel}  # without repetitions
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
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
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    save_figure(figure, path, title)
    return True
