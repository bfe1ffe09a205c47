"""From measured encoders to files: tables as CSV and text, figures as PNG, and the checks."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd

from benchmarks.common.options import Bootstrap
from benchmarks.common.own_metrics import Run
from benchmarks.common.tables import figures_text, markdown, write_output
from benchmarks.papers.set_criteria import means as tables
from benchmarks.papers.set_criteria.figures import draw_angles, draw_ratios
from benchmarks.papers.set_criteria.measure import KINDS, Measured, SampleSet
from benchmarks.papers.set_criteria.tables import NOTES, figure_table, table_texts
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.set_criteria.angles import RATIO_EDGES, histogram, spread_of
from semantic_metrics.set_criteria.criteria import Ranges, Settings, fill_ranges, own_ranges, report, shared_ranges
from semantic_metrics.set_criteria.samples import OPERATORS
from semantic_metrics.set_criteria.set_criteria import VERSION

_DIGEST_DIGITS = 16  # hexadecimal digits of a hash in a signature
ABOVE = "mean difference above random vectors"
SIDE_BY_SIDE = ("cosine", "ned")
COLUMNS = ["check", "encoder", "criterion", "condition", "measure", "value", "low", "high", "holds"]


@dataclass(frozen=True)
class Options:
    """How figures are computed: settings that the criteria leave open, ranges of margins, resamples, and options.

    Without `ranges` of another run those of all encoders measured are taken.
    """

    criteria: Settings
    ranges: Ranges | None = None
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    run: Run = field(default_factory=dict)


def write_results(
    measured: list[Measured], absent: dict[str, str], samples: SampleSet, options: Options, output: Path
) -> str:
    """Compute every table and figure, write them to the folder `output`, and return the tables as text.

    `measured` ends with the floor of random vectors; `absent` says why others were not measured, by name.
    """
    output.mkdir(parents=True, exist_ok=True)
    own = [own_ranges(one.samples) for one in measured]
    ranges = fill_ranges(options.ranges, shared_ranges(own))
    results = {one.candidate.name: report_unions(one, options.criteria, ranges) for one in measured}
    bootstrap = tables.ClusterBootstrap(samples.clusters(), options.bootstrap)
    means, shares = tables.means_table(measured, bootstrap), tables.all_shares(measured, ranges, options.criteria)
    discrimination, checks = tables.discrimination_table(measured, shares, bootstrap), check_table(means)
    named = {"means": means, "leaderboard": tables.score_table(measured, shares, bootstrap)}
    named |= {"discrimination": discrimination, "checks": checks}
    frame = figure_table([one.candidate for one in measured], results, means)
    named |= {f"table{number}" if number else "figures": table for number, table in frame.groupby("table")}
    (output / "ranges.json").write_text(json.dumps(ranges, indent=1) + "\n", encoding="utf-8")
    _draw_figures(results, output)
    compared = f"shared by {len(measured)} encoders" if options.ranges is None else "as given"
    parts = ["\n".join(_facts(measured, samples, options)), *table_texts(frame, ranges, compared), "\n".join(NOTES)]
    for floor, rows in discrimination.rename(columns={"index": "value"}).groupby("floor", sort=False):
        title = f"Discrimination from the floor: {floor} (Cohen's d)"
        parts.append(figures_text(title, rows, "encoder", ["criterion"]))
    parts += [f"Samples left out\n\n{_undefined(results)}", f"Checks\n\n{markdown(checks, 4)}"]
    signed = signatures(measured, samples, options, ranges)
    parts += ["\n".join(f"{name}: {signature}" for name, signature in signed.items())]
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


def report_unions(measured: Measured, criteria: Settings, ranges: Ranges) -> dict:
    """The metric's report, with |A| / |B| of unions alone: figure 10 is about C6; the metric takes all samples."""
    result = report(measured.samples, criteria, ranges)
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


def signatures(measured: list[Measured], samples: SampleSet, options: Options, ranges: Ranges) -> dict[str, str]:
    """Every setting that can change a figure, by encoder; figures with the same signature are comparable."""
    digest = hashlib.sha256(json.dumps(ranges, sort_keys=True).encode()).hexdigest()[:_DIGEST_DIGITS]
    parts = asdict(options.criteria) | {
        "ranges": f"{'shared' if options.ranges is None else 'given'}-{digest}",
        "version": VERSION,
        "samples": f"{samples.sha256[:_DIGEST_DIGITS]}-{len(samples)}",
        "resamples": options.bootstrap.resamples,
        "seed": options.bootstrap.seed,
    }
    settings = "|".join(f"{key}:{value}" for key, value in parts.items())
    return {one.candidate.name: f"set_criteria|encoder:{one.sha256[:_DIGEST_DIGITS]}|{settings}" for one in measured}


def _facts(measured: list[Measured], samples: SampleSet, options: Options) -> list[str]:
    counts = samples.frame["operator"].value_counts()
    facts = {
        "Samples": f"{samples.path.name}, sha256 {samples.sha256}",
        "Operators": ", ".join(f"{operator} {int(counts.get(operator, 0))}" for operator in OPERATORS),
        "Documents": f"{samples.clusters().max() + 1}; the bootstrap draws these, not samples",
    }
    for kind in (name for name in KINDS if name in samples.frame):
        by_kind = samples.frame[kind].value_counts()
        facts[f"By {kind}"] = ", ".join(f"{name} {count}" for name, count in by_kind.items())
    encoders = [f"{one.candidate.name} ({one.candidate.spec}; {one.truncated} texts cut)" for one in measured]
    facts["Encoders"] = ", ".join(encoders)
    if how := [_held(name, value, measured) for name, value in options.run.items()]:
        facts["Run with"] = ", ".join(how)
    facts["Criteria"] = ", ".join(f"{name} {value}" for name, value in asdict(options.criteria).items())
    facts["Bootstrap"] = f"{options.bootstrap.resamples} resamples of documents, seed {options.bootstrap.seed}"
    return [f"{name}: {value}" for name, value in facts.items()]


def _held(option: str, value: object, measured: list[Measured]) -> str:
    """An option of how encoders ran, with the names of those for which it held, if that depends on the encoder."""
    if option not in RunOptions(**{option: value}).changed:
        return f"{option} {value}"
    names = [one.candidate.name for one in measured if option in one.candidate.chosen]
    return f"{option} {value} ({', '.join(names) or 'none that was measured'})"


def check_table(means: pd.DataFrame) -> pd.DataFrame:
    """Whether the mean differences of C1, C3 and C4 of every encoder but the floors are above those of random vectors.

    `holds`: the bootstrap interval of the gap lies above 0; missing where nothing is defined.
    """
    rows = means[~means["floor"] & means["measure"].isin(SIDE_BY_SIDE)]
    above = rows.assign(check=ABOVE, value=rows["above_floor"], low=rows["floor_low"], high=rows["floor_high"])
    above["holds"] = (above["low"] > 0).astype(object).where(above["low"].notna())
    return above[COLUMNS].reset_index(drop=True)
