r"""The two pictures of the README, from what `python -m benchmarks side_by_side` wrote; no model is run.

    python -m benchmarks pictures [--results results/side_by_side] [--output docs/pictures]

Writes distributions.png (scores of correct and of contradicting texts of MultiNLI by ROUGE-L, BERTScore, a cosine and
consensus) and speed.png (texts a second against the mean AUC, of texts without a question and of answers to questions)
to --output, and prints what is to be said below them.
"""

from itertools import cycle
from pathlib import Path

import click
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.common import options
from benchmarks.common.plot_style import DPI, MARKERS, PALETTE, shared_legend
from benchmarks.suite.columns import BERTSCORE, MINILM, OURS, ROUGE_L
from benchmarks.suite.tables import DRAWN_SET, PUBLISHED
from benchmarks.suite.texts import AUC, WICE
from semantic_metrics.stats.separation import auc

DRAWN = (ROUGE_L, BERTSCORE, MINILM, "consensus")
NAMES = {MINILM: "cosine of MiniLM"}
BINS = 40
PANELS = {"texts a second": False, "answers to questions a second": True}
CORRECT, WRONG = PALETTE[:2]


def draw_distributions(scores: pd.DataFrame) -> Figure:
    """A histogram of correct and one of contradicting texts for each of DRAWN, of columns truth (1 or 0) and scores."""
    figure = Figure(figsize=(7, 1.15 * len(DRAWN) + 0.9), layout="constrained")
    edges = np.linspace(0, 1, BINS + 1)
    for panel, name in zip(figure.subplots(len(DRAWN), 1, sharex=True), DRAWN, strict=True):
        for truth, colour, label in ((1, CORRECT, "correct"), (0, WRONG, "contradicting")):
            counts = np.histogram(scores[name][scores["truth"] == truth].clip(0, 1), edges)[0]
            style = {"color": colour, "linestyle": "-" if truth else "--", "linewidth": 1.4}
            panel.stairs(counts, edges, fill=True, color=colour, alpha=0.25)
            panel.stairs(counts, edges, label=label, **style)
        panel.set(xlim=(0, 1), yticks=[])
        panel.spines["left"].set_visible(False)
        panel.set_ylabel(f"{NAMES.get(name, name)}\nAUC {_auc(scores, name):.0f}", rotation=0, ha="right", va="center")
    panel.set_xlabel("score")
    shared_legend(figure, [panel], 2, "upper")
    return figure


def draw_speed(points: pd.DataFrame) -> Figure:
    """Texts a second against the mean AUC: a panel for each of PANELS; result of `speed_points`."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    looks = dict(zip(points["metric"].unique(), cycle(MARKERS), strict=False))
    for panel, title in zip(panels, PANELS, strict=True):
        for row in points[points["panel"] == title].itertuples():
            colour = CORRECT if row.metric in OURS else WRONG
            panel.plot(row.per_second, row.auc, looks[row.metric], color=colour, markersize=7, label=row.metric)
        panel.set(xscale="log", xlabel=title)
        panel.grid(alpha=0.25)
    panels[0].set_ylabel("mean AUC (x 100)")
    shared_legend(figure, panels, 4, "upper")
    return figure


def speed_points(figures: pd.DataFrame, speeds: pd.DataFrame) -> pd.DataFrame:
    """Mean AUC over the sets of a panel, for metrics measured on all of them, and texts a second: a row for each."""
    rows = []
    kept = figures[(figures["figure"] == AUC) & ~figures["metric"].isin(PUBLISHED.values()) & (figures["set"] != WICE)]
    for title, of_answers in PANELS.items():
        questions = set(kept[(kept["metric"] == "nli_lex") & kept["value"].notna()]["set"])
        own = kept[kept["set"].isin(questions) == of_answers]
        timed = speeds[speeds["set"].isin(own["set"])]
        for name, lines in own.groupby("metric", sort=False):
            times = timed[timed["metric"] == name]
            if lines["value"].notna().all() and len(times):
                per_second = times["texts"].sum() / times["seconds"].sum()
                rows.append({"panel": title, "metric": name, "auc": lines["value"].mean(), "per_second": per_second})
    return pd.DataFrame(rows, columns=["panel", "metric", "auc", "per_second"])


def _auc(scores: pd.DataFrame, name: str) -> float:
    correct, wrong = (scores[name][scores["truth"] == truth].to_numpy() for truth in (1, 0))
    return 100 * float(auc(correct, wrong))


def captions(scores: pd.DataFrame, figures: pd.DataFrame, points: pd.DataFrame) -> list[str]:
    """What is to be said below each picture."""
    areas = ", ".join(f"{NAMES.get(name, name)} {_auc(scores, name):.1f}" for name in DRAWN)
    lines = [
        f"distributions: scores of {len(scores):,} texts of {DRAWN_SET}, half correct and half contradicting, each on "
        f"its native range mapped to [0, 1]; AUC times 100: {areas}."
    ]
    for title, own in points.groupby("panel", sort=False):
        lines.append(f"speed, {title}: the mean AUC over {_sets(figures, PANELS[title])}; blue: of this package.")
        lines += [f"  {row.metric}: AUC {row.auc:.1f}, {row.per_second:,.0f} a second" for row in own.itertuples()]
    return lines


def _sets(figures: pd.DataFrame, answered: bool) -> str:
    kept = figures[(figures["figure"] == AUC) & (figures["metric"] == "nli_lex") & (figures["set"] != WICE)]
    return ", ".join(kept[kept["value"].notna() == answered]["set"])


@click.command()
@click.option("--results", type=options.FOLDER, default="results/side_by_side", show_default=True, help="Its --output.")
@options.output("docs/pictures")
def main(results: Path, output: Path) -> None:
    """Draw the pictures of the README."""
    try:
        files = ("scores_drawn", "figures", "speed")
        scores, figures, speeds = (pd.read_csv(results / f"{name}.csv") for name in files)
    except OSError as error:
        raise click.UsageError(f"--results: expected the files of `side_by_side`, got {error}") from None
    if missing := set(DRAWN) - set(scores):
        raise click.UsageError(f"--results: expected scores of {', '.join(DRAWN)}, missing {', '.join(missing)}")
    points = speed_points(figures, speeds)
    output.mkdir(parents=True, exist_ok=True)
    for name, figure in (("distributions", draw_distributions(scores)), ("speed", draw_speed(points))):
        figure.savefig(output / f"{name}.png", dpi=DPI // 2)
    click.echo("\n".join(captions(scores, figures, points)))
