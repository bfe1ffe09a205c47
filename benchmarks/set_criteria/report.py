"""From measured encoders to files: tables as CSV and text, figures as PNG, the leaderboard as HTML."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from benchmarks.set_criteria import figures as figures
from benchmarks.set_criteria.checks import check_table
from benchmarks.set_criteria.leaderboard import write_page
from benchmarks.set_criteria.means import Bootstrap, means_table, score_table
from benchmarks.set_criteria.measure import KINDS, Measured, SampleSet
from benchmarks.set_criteria.sheets import all_sheets, checks_sheet, undefined_sheet
from benchmarks.set_criteria.tables import figure_table
from semantic_metrics.set_criteria.criteria import Ranges, Settings, complete, own_ranges, report, shared_ranges
from semantic_metrics.set_criteria.samples import OPERATORS
from semantic_metrics.set_criteria.set_criteria import VERSION
from semantic_metrics.stats.bootstrap import RESAMPLES

_SHOWN = 16  # hexadecimal digits of a digest in a signature


@dataclass(frozen=True)
class Options:
    """How figures are computed.

    Attributes:
        criteria: what the criteria leave open.
        ranges: of the margins, from another run; None takes those of all encoders measured.
        own: also report each encoder with its own ranges.
        seed: of the bootstrap and of the floors.
        resamples: of the bootstrap.
    """

    criteria: Settings
    ranges: Ranges | None = None
    own: bool = False
    seed: int = 0
    resamples: int = RESAMPLES


def write_results(
    measured: list[Measured], absent: dict[str, str], samples: SampleSet, options: Options, output: Path
) -> str:
    """Compute every table and figure, and write them to `output`.

    Args:
        measured: the encoders, the floor of random vectors last.
        absent: why others were not measured, by name.
        samples: that they were measured on.
        options: how.
        output: folder; created.

    Returns:
        The report: all tables as text.
    """
    output.mkdir(parents=True, exist_ok=True)
    own = [own_ranges(one.samples) for one in measured]
    ranges = complete(options.ranges, shared_ranges(own))
    results = {one.contender.name: report(one.samples, options.criteria, ranges) for one in measured}
    alone = {one.contender.name: report(one.samples, options.criteria) for one in measured} if options.own else None
    bootstrap = Bootstrap(samples.clusters(), options.seed, options.resamples)
    means = means_table(measured, bootstrap)
    scores = score_table(measured, ranges, options.criteria, bootstrap)
    checks = check_table(measured, means, results)
    frame = figure_table([one.contender for one in measured], results, means, alone)
    _write_data({"means": means, "leaderboard": scores, "checks": checks}, frame, ranges, output)
    _draw_figures(results, output)
    compared = f"shared by {len(measured)} encoders" if options.ranges is None else "as given"
    sheets = [*all_sheets(frame, ranges, compared), undefined_sheet(results)]
    facts, signed = _facts(measured, samples, options), signatures(measured, samples, options, ranges)
    checked = checks_sheet(checks)
    write_page(output / "leaderboard.html", facts, scores, checked, sheets, results, signed, absent)
    parts = ["\n".join(f"{name}: {value}" for name, value in facts)]
    parts += [sheet.text() for sheet in [*sheets, checked]]
    parts += ["\n".join(f"{name}: {signature}" for name, signature in signed.items())]
    parts += [f"{name}: not measured: {reason}" for name, reason in absent.items()]
    text = "\n\n".join(parts)
    (output / "report.txt").write_text(text + "\n", encoding="utf-8")
    return text


def _write_data(tables: dict[str, pd.DataFrame], frame: pd.DataFrame, ranges: Ranges, output: Path) -> None:
    for name, held in tables.items():
        held.to_csv(output / f"{name}.csv", index=False)
    for number, held in frame.groupby("table"):
        held.to_csv(output / (f"table{number}.csv" if number else "figures.csv"), index=False)
    (output / "ranges.json").write_text(json.dumps(ranges, indent=1) + "\n", encoding="utf-8")


def _draw_figures(results: dict[str, dict], output: Path) -> None:
    first = next(iter(results))
    figures.draw_angles({first: results[first]}, output / "figure4.png", f"Figure 4: angles of {first}")
    figures.draw_angles(results, output / "figure6.png", "Figure 6: where the targets' projections fall")
    figures.draw_ratios(results, output / "figure10.png", "Figure 10: length of A over length of B")


def signatures(measured: list[Measured], samples: SampleSet, options: Options, ranges: Ranges) -> dict[str, str]:
    """Every setting that can change a figure, by encoder's name; figures with the same signature are comparable."""
    digest = hashlib.sha256(json.dumps(ranges, sort_keys=True).encode()).hexdigest()[:_SHOWN]
    found = {}
    for one in measured:
        parts = {
            "encoder": one.sha256[:_SHOWN],
            **asdict(options.criteria),
            "ranges": f"{'shared' if options.ranges is None else 'given'}-{digest}",
            "version": VERSION,
            "samples": f"{samples.sha256[:_SHOWN]}-{len(samples)}",
            "resamples": options.resamples,
            "seed": options.seed,
        }
        found[one.contender.name] = "set_criteria|" + "|".join(f"{key}:{value}" for key, value in parts.items())
    return found


def _facts(measured: list[Measured], samples: SampleSet, options: Options) -> list[tuple[str, str]]:
    counts = samples.frame["operator"].value_counts()
    facts = [
        ("Samples", f"{samples.path.name}, sha256 {samples.sha256}"),
        ("Operators", ", ".join(f"{operator} {int(counts.get(operator, 0))}" for operator in OPERATORS)),
        ("Documents", f"{samples.clusters().max() + 1}; the bootstrap draws these, not samples"),
    ]
    for kind in KINDS:
        if kind in samples.frame:
            held = samples.frame[kind].value_counts()
            facts.append((f"By {kind}", ", ".join(f"{name} {count}" for name, count in held.items())))
    encoders = [f"{one.contender.name} ({one.contender.spec}; {one.truncated} texts cut)" for one in measured]
    facts.append(("Encoders", ", ".join(encoders)))
    facts.append(("Criteria", ", ".join(f"{name} {value}" for name, value in asdict(options.criteria).items())))
    facts.append(("Bootstrap", f"{options.resamples} resamples of documents, seed {options.seed}"))
    return facts
