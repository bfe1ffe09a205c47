"""From scores to files: the tables as CSV and text, the figures as PNG."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap
from benchmarks.common.tables import Published, figures_text, write_output
from benchmarks.papers.matcha import authors, figures
from benchmarks.papers.matcha.agreement import (
    HUMAN,
    OVERALL,
    RATINGS,
    SCALINGS,
    Scaler,
    concordance_matrix,
    rating_table,
)
from benchmarks.papers.matcha.scoring import Scores, undefined_lines, write_scores
from benchmarks.papers.matcha.separation import MEDNLI_TABLE, curve_table, separation_table
from benchmarks.papers.matcha.sets import CALIBRATION, PAPER_ROWS, TITLES, EvaluationSet, TripletSet

PUBLISHED = "matcha"
LABELS = {"n_delta": "N-delta", "auc": "AUC", "macro_f1": "macro-F1", "wasserstein": "Wasserstein"}
LABELS |= {"r1": "R@1", "dcg": "DCG", "mae": "MAE", "ccc": "CCC"}
SCALING_LABELS = {
    "rescaled": "rescaled: (s + 1) / 2, as the paper",
    "unscaled": "unscaled: the cosine as it is",
    "calibrated": "calibrated: a line from score to rating fitted on STS-B dev",
    RATINGS: "ratings: by the map that the checkpoint stores",
}
_TABLE_FIGURES = ("correct", "incorrect", "n_delta", "auc", "pairwise")  # of table 3
_FIGURE_TABLES = {"macro_f1": "4, macro-F1 at the midpoint", "wasserstein": "5, Wasserstein distance"}
_HEADER = "Li et al., Findings of ACL 2026, times 100; (in brackets) what the paper prints, [95% bootstrap intervals]"
_UNPAIRED = "unpaired: no paired t-test, no pairwise accuracy; its curve pairs rows by evidence or claim, else in order"
_SAMPLED = "the rows are not the paper's: compare with EmbSim on the same rows"
_FINE_TUNED = "published 61.08 is MATCHA after a separate fine-tuning on STS-B train, not the general checkpoint"
_DIFFERENCES = "ours minus the authors' MATCHA on the same pairs [95% paired bootstrap]"
_NEAR, _FAR = ("snli", "multinli", "truthfulqa"), ("climate_fever", "coco", "newts")  # sets of figures 3 and 6; 5
_EMBSIM = "EmbSim"  # one of the 23 encoders too
FACTSCORE = "FActScore"  # in figure 4 alone; GPT-4 with access to the web


def write_results(
    metrics: list[Metric],
    sets: dict[str, EvaluationSet],
    scores: Scores,
    bootstrap: Bootstrap,
    output: Path,
) -> str:
    """Compute every table and figure that the sets allow, write them to `output`, and return all tables as text."""
    output.mkdir(parents=True, exist_ok=True)
    files: dict[str, pd.DataFrame] = {}
    signatures = [f"{metric.name}: {metric.signature}" for metric in metrics if metric.signature]
    parts = [_HEADER, "\n".join(signatures), "\n".join(undefined_lines(scores, sets))]
    general = [metric for metric in metrics if metric.sets is None]
    triplets = [dataset for dataset in sets.values() if isinstance(dataset, TripletSet)]
    if triplets:
        parts.append(_separation(general, triplets, scores, bootstrap, output, files))
    scaler, published = Scaler(scores, sets.get(CALIBRATION)), Published(PUBLISHED)
    if "stsb" in sets:
        files["table7"] = rating_table(metrics, sets["stsb"], scores, scaler, published, bootstrap)
        title = f"Table 7, CCC with the ratings of STS-B test ({_rows(sets['stsb'])})"
        notes = [*SCALING_LABELS.values(), _FINE_TUNED]
        parts.append(figures_text(title, files["table7"], "metric", ["scaling"], notes=notes))
    if "human" in sets:
        files["table8"] = rating_table(general, sets["human"], scores, scaler, published, bootstrap)
        parts.append(human_text(files["table8"], published))
        differences = authors.rating_difference_table(general, sets["human"], scores, scaler, bootstrap)
        if not differences.empty:
            files["authors_ccc"] = differences
            title = f"CCC with {len(sets['human'])} ratings: {_DIFFERENCES}"
            parts.append(figures_text(title, differences, "metric", ["figure"]))
        files["figure4"] = matrix = concordance_matrix(general, sets["human"], scores, scaler)
        encoders = [metric.name for metric in general if metric.group == "encoder"]
        matrix = matrix[~matrix["metric"].isin(encoders) & ~matrix["other"].isin(encoders)]
        matrix = pd.concat([matrix, _published_concordance(published)])
        title = f"Figure 4: concordance with {len(sets['human'])} human ratings and among metrics"
        figures.draw_concordance(matrix, list(SCALINGS[:2]), output / "figure4.png", title)
    write_scores(sets, scores, output)
    return write_output(output, "\n\n".join(filter(None, parts)), **files)


def _published_concordance(published: Published) -> pd.DataFrame:
    """FActScore's one cell of figure 4, twice: its scores are in [0, 1], and so the same in both scalings."""
    name, ccc = f"{FACTSCORE} (published)", published.get("figure 4", OVERALL, FACTSCORE, "ccc")
    pairs = [(scaling, *pair) for scaling in SCALINGS[:2] for pair in ((name, HUMAN), (HUMAN, name))]
    return pd.DataFrame(pairs, columns=["scaling", "metric", "other"]).assign(ccc=ccc)


def _rows(dataset: EvaluationSet) -> str:
    return f"{len(dataset)} rows" + (", the paper's" if dataset.paper_rows else "")


def _separation(
    metrics: list[Metric],
    sets: list[TripletSet],
    scores: Scores,
    bootstrap: Bootstrap,
    output: Path,
    files: dict[str, pd.DataFrame],
) -> str:
    table = separation_table(metrics, sets, scores, Published(PUBLISHED), bootstrap)
    files["curves"] = curves = curve_table(metrics, sets, scores)
    files |= {f"table{number}": part for number, part in table.groupby("table")}
    near, far = ([TITLES[key] for key in keys] for keys in (_NEAR, _FAR))
    baselines = [metric.name for metric in metrics if metric.group != "encoder"]
    encoders = [metric.name for metric in metrics if metric.group != "baseline" or metric.name == _EMBSIM]
    title = "\n".join(["Figure 2: rows that a metric keeps apart", *filter(None, map(_pairing, sets))])
    figures.draw_curves(curves, baselines, list(TITLES.values()), output / "figure2.png", title)
    figures.draw_curves(curves, encoders, near, output / "figure6.png", "Figure 6: rows that an encoder keeps apart")
    for number, titles in (("3", near), ("5", far)):
        title = f"Figure {number}: mean scores of correct and incorrect texts"
        figures.draw_gaps(table, encoders, titles, output / f"figure{number}.png", title)
    differences = authors.difference_table(metrics, sets, scores, bootstrap)
    if differences.empty:
        return separation_text(table, sets)
    files["authors"] = differences
    on_sets = differences[differences["set"].isin(TITLES.values())]  # COCO counts once
    notes = [
        f"{name}, {LABELS[figure]}: above or level on {(rows['verdict'] != 'below').sum()} of {len(rows)} sets"
        for (name, figure), rows in on_sets.groupby(["metric", "figure"], sort=False)
    ]
    title = f"Tables 3 to 5: {_DIFFERENCES}"
    text = figures_text(title, differences, "metric", ["set", "figure"], LABELS, notes=notes)
    return f"{separation_text(table, sets)}\n\n{text}"


def _pairing(dataset: TripletSet) -> str:
    """The caption's line about the curve of an unpaired set; empty for others."""
    if dataset.paired:
        return ""
    together = f"{dataset.curve_rows()[1]} of {len(dataset)} pairs share evidence or claim"
    return f"{dataset.title}: unpaired; {together}, the rest are in row order"


def separation_text(table: pd.DataFrame, sets: Iterable[TripletSet]) -> str:
    """Tables 3, 4, 5 and 6, as far as there are sets for them; intervals where the rows are not the paper's."""
    parts = []
    for one in sets:
        lines = table[table["set"] == one.title]
        mednli = bool((lines["table"] == MEDNLI_TABLE).any())
        wanted = (*_TABLE_FIGURES, *(_FIGURE_TABLES if mednli else ()))
        lines = lines[lines["figure"].isin(wanted) & (one.paired | (lines["figure"] != "pairwise"))]
        title = f"Table {MEDNLI_TABLE if mednli else '3'}, {one.title} ({_rows(one)})"
        notes = [_best(lines) if one.paired else _UNPAIRED, *([] if one.paper_rows else [_SAMPLED])]
        shown = not one.paper_rows
        parts.append(figures_text(title, lines, "metric", ["figure"], LABELS, intervals=shown, notes=notes))
    sampled = [one.title for one in sets if not one.paper_rows]
    for figure, heading in _FIGURE_TABLES.items():
        lines = table[(table["figure"] == figure) & (table["table"] != MEDNLI_TABLE)]
        if not lines.empty:
            notes = ["resampling adds to a distance near 0: its interval can lie above it"] * (figure == "wasserstein")
            parts.append(figures_text(f"Table {heading}", lines, "metric", ["set"], intervals=sampled, notes=notes))
    return "\n\n".join(parts)


def _best(lines: pd.DataFrame) -> str:
    tested = lines[lines["next"].notna()]
    if tested.empty:
        return ""
    best = tested.loc[tested["value"].astype(float).idxmax()]
    mark, verdict = ("* ", "significantly") if best["best"] is True else ("", "not significantly")
    than = f"{verdict} above the next, {best['next']} (paired t-test, p = {best['p_next']:.2g})"
    return f"{mark}{best['metric']} has the highest N-delta, {than}"


def human_text(table: pd.DataFrame, published: Published) -> str:
    """Table 8 once for each scaling, the published one by itself, and MAE and CCC (figure 4) in every scaling."""
    counts = f"{int(table['n'].max())} of the study's {PAPER_ROWS['human']} ratings"
    among = table["among"].dropna()
    k = f"among {int(among.max()) if len(among) else 0} metrics"
    ranked = table[table["figure"].isin(["r1", "dcg"]) & table["scaling"].ne(RATINGS)]  # only MATCHA has RATINGS
    parts = []
    for scaling, lines in ranked.groupby("scaling", sort=False):
        title = f"Table 8, {k}, {counts}; {SCALING_LABELS[str(scaling)]}"
        parts.append(figures_text(title, lines, "metric", ["part", "figure"], LABELS, intervals=[OVERALL]))
    parts[-1] += f"\n{k}: the baselines measured here and one MATCHA checkpoint at a time"
    rows = [
        {"metric": name, "part": part, "figure": figure, "value": published.get("8", part, name, figure)}
        for name in published.metrics("8")
        for part in (*(TITLES[key] for key in _NEAR), OVERALL)
        for figure in ("r1", "dcg")
    ]
    title = "Table 8 as published, among 9 metrics, 600 ratings: its ranks are not those above"
    parts.append(figures_text(title, pd.DataFrame(rows), "metric", ["part", "figure"], LABELS))
    whole = table[(table["part"] == OVERALL) & table["figure"].isin(["ccc", "mae"])]
    beside = {"metric": FACTSCORE, "figure": "ccc", "scaling": SCALINGS[0]}
    beside["published"] = published.get("figure 4", OVERALL, FACTSCORE, "ccc")
    whole = pd.concat([whole.sort_values("figure", kind="stable"), pd.DataFrame([beside])])
    title = f"Figure 4, agreement with {counts} (CCC: higher is better, MAE: lower); published: of all 600 ratings"
    parts.append(figures_text(title, whole, "metric", ["figure", "scaling"], LABELS))
    return "\n\n".join(parts)
