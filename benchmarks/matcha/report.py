"""From scores to files: the tables as CSV and text, the figures as PNG."""

from pathlib import Path

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap
from benchmarks.common.published import Published
from benchmarks.matcha import figures, tables
from benchmarks.matcha.agreement import SCALINGS, Scaler, concordance_matrix, rating_table
from benchmarks.matcha.scoring import Scores, undefined_lines, write_scores
from benchmarks.matcha.separation import curve_table, separation_table
from benchmarks.matcha.sets import CALIBRATION, TITLES, EvaluationSet, RatedSet, TripletSet

PUBLISHED = "matcha"
_NEAR, _FAR = ("snli", "multinli", "truthfulqa"), ("climate_fever", "coco", "newts")  # sets of figures 3 and 6; 5
_EMBSIM = "EmbSim"  # one of the 23 encoders too


def write_results(
    metrics: list[Metric],
    sets: dict[str, EvaluationSet],
    scores: Scores,
    bootstrap: Bootstrap,
    output: Path,
    signatures: list[str],
) -> str:
    """Compute every table and figure that the sets allow, and write them to `output`.

    Args:
        metrics: metrics in the order of the tables.
        sets: sets by key.
        scores: scores of the metrics on the sets.
        bootstrap: how intervals are drawn.
        output: folder to write to; created.
        signatures: signatures of the MATCHA checkpoints, for the report.

    Returns:
        The report: all tables as text.
    """
    output.mkdir(parents=True, exist_ok=True)
    parts = ["Li et al., Findings of ACL 2026, times 100; 'publ.' is what the paper prints.", "\n".join(signatures)]
    parts.append("\n".join(undefined_lines(scores, sets)))
    triplets = [dataset for dataset in sets.values() if isinstance(dataset, TripletSet)]
    if triplets:
        general = [metric for metric in metrics if metric.sets is None]
        parts.append(_separation(general, triplets, scores, bootstrap, output))
    rating = [metric for metric in metrics if not metric.corpus]
    scaler = Scaler(scores, sets.get(CALIBRATION))
    if "stsb" in sets:
        table = rating_table(rating, sets["stsb"], scores, scaler, Published(PUBLISHED), bootstrap)
        table.to_csv(output / "table7.csv", index=False)
        parts.append(tables.stsb_text(table, sets["stsb"].paper_rows))
    if "human" in sets:
        general = [metric for metric in rating if metric.sets is None]
        parts.append(_human(general, sets["human"], scores, scaler, bootstrap, output))
    write_scores(sets, scores, output)
    report = "\n\n".join(part for part in parts if part)
    (output / "report.txt").write_text(report + "\n", encoding="utf-8")
    return report


def _human(
    metrics: list[Metric], dataset: RatedSet, scores: Scores, scaler: Scaler, bootstrap: Bootstrap, output: Path
) -> str:
    published = Published(PUBLISHED)
    table = rating_table(metrics, dataset, scores, scaler, published, bootstrap)
    table.to_csv(output / "table8.csv", index=False)
    matrix = concordance_matrix(metrics, dataset, scores, scaler)
    matrix.to_csv(output / "figure4.csv", index=False)
    title = f"Figure 4: concordance with {len(dataset)} human ratings and among metrics"
    encoders = [metric.name for metric in metrics if metric.group == "encoder"]
    matrix = matrix[~matrix["metric"].isin(encoders) & ~matrix["other"].isin(encoders)]
    figures.draw_concordance(matrix, list(SCALINGS[:2]), output / "figure4.png", title)
    return tables.human_text(table, published)


def _pairing(dataset: TripletSet) -> str:
    """The caption's line about the curve of an unpaired set; empty for others."""
    if dataset.paired:
        return ""
    together = f"{dataset.curve_rows()[1]} of {len(dataset)} pairs share evidence or claim"
    return f"{dataset.title}: unpaired; {together}, the rest are in row order"


def _separation(
    metrics: list[Metric], sets: list[TripletSet], scores: Scores, bootstrap: Bootstrap, output: Path
) -> str:
    table = separation_table(metrics, sets, scores, Published(PUBLISHED), bootstrap)
    for number, part in table.groupby("table"):
        part.to_csv(output / f"table{number}.csv", index=False)
    curves = curve_table(metrics, sets, scores)
    curves.to_csv(output / "curves.csv", index=False)
    near, far = ([TITLES[key] for key in keys] for keys in (_NEAR, _FAR))
    baselines = [metric.name for metric in metrics if metric.group != "encoder"]
    encoders = [metric.name for metric in metrics if metric.group != "baseline" or metric.name == _EMBSIM]
    title = "\n".join(["Figure 2: rows that a metric keeps apart", *filter(None, map(_pairing, sets))])
    figures.draw_curves(curves, baselines, list(TITLES.values()), output / "figure2.png", title)
    figures.draw_curves(curves, encoders, near, output / "figure6.png", "Figure 6: rows that an encoder keeps apart")
    for number, titles in (("3", near), ("5", far)):
        title = f"Figure {number}: mean scores of correct and incorrect texts"
        figures.draw_gaps(table, encoders, titles, output / f"figure{number}.png", title)
    return tables.separation_text(table, {dataset.title for dataset in sets if not dataset.paper_rows})
