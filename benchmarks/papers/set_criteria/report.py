"""From measured encoders to files: tables as CSV and text, and the histograms of figures 4, 6 and 10.

Nothing depends on colour alone: unsigned angles are filled bars, signed ones a dashed outline.
"""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.common.options import Bootstrap
from benchmarks.common.own_metrics import Run
from benchmarks.common.plot_style import PALETTE, save_figure, shared_legend
from benchmarks.common.tables import figures_text, markdown, write_output
from benchmarks.papers.set_criteria import means as tables
from benchmarks.papers.set_criteria.measure import KINDS, Measured, SampleSet
from benchmarks.papers.set_criteria.tables import NOTES, figure_table, table_texts
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.set_criteria.angles import RATIO_EDGES, histogram, spread_of
from semantic_metrics.set_criteria.criteria import Ranges, Settings, own_ranges, report, shared_ranges
from semantic_metrics.set_criteria.samples import OPERATORS
from semantic_metrics.set_criteria.set_criteria import VERSION

PANELS = {"C2": "TextOverlap (C2)", "C5": "TextDifference (C5)", "C6": "TextUnion (C6)"}
EXPECTED = {"C2": "expected between 0 and 1", "C5": "expected near 1 (A)", "C6": "expected between 0 and 1"}
_ANGLES = (-0.5, 2.5)  # range of the axis, in parts of the angle between A and B; the caption counts the rest
_RATIOS = (0.49, 1.51)  # range of the axis: whole bins, 1 in the middle of one
_CORNER = {"ha": "right", "va": "top", "fontsize": 8, "bbox": {"color": "white", "alpha": 0.7, "pad": 1}}
_PANEL_INCHES, _ROW_INCHES = 3.2, 2.0
_HEADROOM = 0.2  # share of the axis above the bars, for the text in the corner
SETTINGS = Settings()  # what the criteria leave open
_DIGEST_DIGITS = 16  # hexadecimal digits of an encoder's hash


def write_results(
    measured: list[Measured],
    absent: dict[str, str],
    samples: SampleSet,
    drawing: Bootstrap,
    run: Run,
    output: Path,
) -> str:
    """Compute every table and figure, write them to the folder `output`, and return the tables as text.

    `measured` ends with the floor of random vectors; `absent` says why others were not measured, by name.
    """
    output.mkdir(parents=True, exist_ok=True)
    ranges = shared_ranges([own_ranges(one.samples) for one in measured])
    results = {one.candidate.name: report_unions(one, ranges) for one in measured}
    bootstrap = tables.ClusterBootstrap(samples.clusters(), drawing)
    means, shares = tables.means_table(measured, bootstrap), tables.all_shares(measured, ranges, SETTINGS)
    discrimination = tables.discrimination_table(measured, shares, bootstrap)
    named = {"means": means, "leaderboard": tables.score_table(measured, shares, bootstrap)}
    named["discrimination"] = discrimination
    frame = figure_table([one.candidate for one in measured], results, means)
    named |= {f"table{number}" if number else "figures": table for number, table in frame.groupby("table")}
    (output / "ranges.json").write_text(json.dumps(ranges, indent=1) + "\n", encoding="utf-8")
    _draw_figures(results, output)
    facts = _facts(measured, samples, drawing, run)
    parts = ["\n".join(facts), *table_texts(frame, ranges, len(measured)), "\n".join(NOTES)]
    for floor, rows in discrimination.rename(columns={"index": "value"}).groupby("floor", sort=False):
        title = f"Discrimination from the floor: {floor} (Cohen's d)"
        parts.append(figures_text(title, rows, "encoder", ["criterion"]))
    parts.append(f"Samples left out\n\n{_undefined(results)}")
    parts += [f"{name}: not measured: {reason}" for name, reason in absent.items()]
    return write_output(output, "\n\n".join(parts), **named)


def _undefined(results: dict[str, dict]) -> str:
    """How many samples were left out, and why; none is dropped silently."""
    rows = []
    for name, result in results.items():
        for criterion, counts in result["undefined"].items():
            by_measure = counts if any(isinstance(one, dict) for one in counts.values()) else {"": counts}
            for measure, reasons in by_measure.items():
                rows += [(name, criterion, measure, reason, count) for reason, count in reasons.items()]
    if not rows:
        return "none: every sample is defined for every encoder"
    return markdown(pd.DataFrame(rows, columns=["encoder", "criterion", "measure", "reason", "samples"]))


def report_unions(measured: Measured, ranges: Ranges) -> dict:
    """The metric's report, with |A| / |B| of unions alone: figure 10 is about C6; the metric takes all samples."""
    result = report(measured.samples, SETTINGS, ranges)
    a, b, _ = measured.samples["union"].lengths
    known = (a > 0) & (b > 0)
    ratios, zeros = a[known] / b[known], int((~known).sum())
    spread = {**spread_of(ratios), "n": len(ratios), "histogram": histogram(ratios, RATIO_EDGES)}
    undefined = result["undefined"] | {"norm_ratio": {"zero vector": zeros} if zeros else {}}
    return result | {"norm_ratio": spread, "undefined": undefined}


def _draw_figures(results: dict[str, dict], output: Path) -> None:
    first = next(iter(results))
    draw_angles({first: results[first]}, output / "figure4.png", f"Figure 4: angles of {first}")
    draw_angles(results, output / "figure6.png", "Figure 6: where the targets' projections fall")
    draw_ratios(results, output / "figure10.png", "Figure 10: length of A over length of B, unions (C6)")


def _facts(measured: list[Measured], samples: SampleSet, drawing: Bootstrap, run: Run) -> list[str]:
    counts = samples.frame["operator"].value_counts()
    facts = {
        "Version": VERSION,
        "Samples": f"{samples.path.name}, sha256 {samples.sha256}",
        "Operators": ", ".join(f"{operator} {int(counts.get(operator, 0))}" for operator in OPERATORS),
        "Documents": f"{samples.clusters().max() + 1}; the bootstrap draws these, not samples",
    }
    for kind in (name for name in KINDS if name in samples.frame):
        by_kind = samples.frame[kind].value_counts()
        facts[f"By {kind}"] = ", ".join(f"{name} {count}" for name, count in by_kind.items())
    for one in measured:
        digest = one.sha256[:_DIGEST_DIGITS]
        facts[one.candidate.name] = f"{one.candidate.spec}, {one.truncated} texts cut, sha256 {digest}"
    if how := [_held(name, value, measured) for name, value in run.items()]:
        facts["Run with"] = ", ".join(how)
    facts["Criteria"] = ", ".join(f"{name} {value}" for name, value in asdict(SETTINGS).items())
    facts["Bootstrap"] = f"{drawing.resamples} resamples of documents, seed {drawing.seed}"
    return [f"{name}: {value}" for name, value in facts.items()]


def _held(option: str, value: object, measured: list[Measured]) -> str:
    """An option of how encoders ran, with the names of those for which it held, if that depends on the encoder."""
    if option not in RunOptions(**{option: value}).changed:
        return f"{option} {value}"
    names = [one.candidate.name for one in measured if option in one.candidate.chosen]
    return f"{option} {value} ({', '.join(names) or 'none that was measured'})"


def draw_angles(results: dict[str, dict], path: Path, title: str) -> None:
    """Figure 4 (one encoder) or 6 (several) as PNG: a row for each encoder's `report`, a column for each operator."""
    figure = Figure(figsize=(3 * _PANEL_INCHES, 1.2 + _ROW_INCHES * len(results)), layout="constrained")
    panels = figure.subplots(len(results), len(PANELS), sharex=True, squeeze=False)
    for row, (name, result) in zip(panels, results.items(), strict=True):
        for panel, criterion in zip(row, PANELS, strict=True):
            _draw_angle(panel, result[criterion])
        row[0].set_ylabel(f"{_plain(name)}\nsamples (%)")
    for panel, criterion in zip(panels[0], PANELS, strict=True):
        panel.set_title(f"{PANELS[criterion]}\n{EXPECTED[criterion]}", fontsize=10)
    for panel in panels[-1]:
        panel.set_xlabel("angle(B, target) / angle(A, B)")
    shared_legend(figure, panels.flat, 2)
    save_figure(figure, path, title)


def _draw_angle(panel: Axes, result: dict) -> None:
    unsigned, signed = result["histogram"]["unsigned"], result["histogram"]["signed"]
    look = {"fill": True, "color": PALETTE[0], "alpha": 0.55, "label": "unsigned (paper)"}
    panel.stairs(_shares(unsigned), unsigned["edges"], **look)
    panel.stairs(_shares(signed), signed["edges"], color=PALETTE[1], linestyle="--", label="signed")
    for place in (0, 1):
        panel.axvline(place, color="black", linewidth=0.8)
    panel.set_xlim(*_ANGLES)
    panel.margins(y=_HEADROOM)
    beyond = _beyond(signed, _ANGLES)
    text = "no samples" if not result["n"] else f"{beyond:.1f}% of signed beyond" if beyond >= 0.05 else ""
    panel.text(0.98, 0.95, text, transform=panel.transAxes, **_CORNER)


def draw_ratios(results: dict[str, dict], path: Path, title: str) -> None:
    """Figure 10 as PNG: |A| / |B| of the unions, of every encoder's `report`."""
    columns = min(4, len(results))
    rows = -(-len(results) // columns)
    figure = Figure(figsize=(max(2, columns) * _PANEL_INCHES, 1 + _ROW_INCHES * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for panel in panels.flat[len(results) :]:
        panel.set_visible(False)
    for panel, (name, result) in zip(panels.flat, results.items(), strict=False):
        histogram = result["norm_ratio"]["histogram"]
        panel.stairs(_shares(histogram), histogram["edges"], fill=True, color=PALETTE[0])
        panel.axvline(1, color="black", linewidth=0.8, linestyle=":")
        panel.set(xlim=_RATIOS, xlabel="|A| / |B| of unions")
        panel.margins(y=_HEADROOM)
        panel.tick_params(labelbottom=True)
        panel.set_title(_plain(name), fontsize=10)
        panel.text(0.98, 0.95, f"{_beyond(histogram, _RATIOS):.1f}% beyond", transform=panel.transAxes, **_CORNER)
    for row in panels:
        row[0].set_ylabel("samples (%)")
    save_figure(figure, path, title)


def _plain(name: str) -> str:
    """A user's name without formulas: matplotlib reads one between dollar signs, and may fail."""
    return name.replace("$", r"\$")


def _shares(histogram: dict) -> np.ndarray:
    return 100 * np.array(histogram["counts"], dtype=np.float64) / max(1, _total(histogram))


def _total(histogram: dict) -> int:
    return sum(histogram["counts"]) + histogram["below"] + histogram["above"]


def _beyond(histogram: dict, shown: tuple[float, float]) -> float:
    """Percentage of samples outside the range of the axis."""
    edges, counts = np.array(histogram["edges"]), np.array(histogram["counts"])
    inside = (edges[:-1] >= shown[0] - 1e-9) & (edges[1:] <= shown[1] + 1e-9)
    return 100 * (1 - counts[inside].sum() / max(1, _total(histogram)))
