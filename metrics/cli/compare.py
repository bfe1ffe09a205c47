"""`semantic-metrics compare`: systems that answered the same inputs, and whether they can be told apart."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import with_options

if TYPE_CHECKING:
    import numpy as np

    from semantic_metrics.cli.whole import Scored
    from semantic_metrics.stats.significance import Interval, Pair

LEVEL = 0.95  # of the intervals; a difference counts where its corrected p-value is below 1 - LEVEL
RESAMPLES = 9_999  # as significance.RESAMPLES, which takes a second to import
TIE = 1e-6  # float32 rounds a score by less; what lies nearer is no win
NAME = 30  # characters of a system or a pair that a table shows; its lines then are no longer than 100


class _Gap(click.FloatRange):
    """A finite number; click's range takes "nan", and without an upper end "inf"."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = super().convert(value, param, ctx)
        return found if math.isfinite(found) else self.fail(f"{value!r} is no finite number.", param, ctx)


_FILE = click.Path(path_type=Path)
_OPTIONS = (
    click.option("--metric", "metrics", multiple=True, default=["matcha"], metavar="NAME", help="May be repeated."),
    click.option("--references", metavar="COLUMN", help="Of REFERENCES, where it has several."),
    click.option("--questions", metavar="COLUMN", help="Of REFERENCES, for nli_lex."),
    click.option("--predictions", multiple=True, metavar="COLUMN", help="Of the systems' files; once, or for each."),
    click.option("--baseline", metavar="SYSTEM", help="Compare with this one, not all pairs."),
    click.option("--config", "configs", multiple=True, metavar="[NAME=]CHECKPOINT", help="Folder or Hub id."),
    click.option("--resamples", default=RESAMPLES, show_default=True, type=click.IntRange(1), help="Of each test."),
    click.option("--seed", default=0, show_default=True, type=click.IntRange(0), metavar="N", help="Of the tests."),
    click.option("--tie", default=TIE, show_default=True, type=_Gap(0), help="A smaller gap is a tie."),
    click.option("--output", type=_FILE, help="Write the pairs to a .json or .csv file."),
)


@click.command()
@click.argument("gold", metavar="REFERENCES", type=_FILE)
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM SYSTEM...", type=_FILE)
@with_options(_OPTIONS)
def compare(
    gold: Path,
    systems: tuple[Path, ...],
    metrics: tuple[str, ...],
    baseline: str | None,
    configs: tuple[str, ...],
    output: Path | None,
    **more: str | float | None,
) -> None:
    """Compare SYSTEM files, row by row, on REFERENCES (.txt with a text a line, .csv, .jsonl or .parquet).

    Prints means with 95% intervals; for each pair the difference, and p-values of the paired bootstrap and the
    paired permutation test, the latter also with Holm's correction for the pairs of one metric (not across metrics).

    Example: semantic-metrics compare gold.txt old.txt new.txt --metric matcha
    """
    from semantic_metrics.cli.scoring import check_run
    from semantic_metrics.cli.whole import check_outcome, score_rows, write_outcome

    questions, draws = more["questions"], {name: more[name] for name in ("resamples", "seed", "tie")}
    checkpoints = check_run(metrics, configs, questions)
    columns = _each(more["predictions"], len(systems))
    names = _names(systems if len(set(columns)) < len(systems) else tuple(Path(str(column)) for column in columns))
    baseline = _baseline(baseline, names, systems)
    check_outcome(output, (gold, *systems))
    wanted, asked, given = _read(gold, systems, (more["references"], questions), columns)
    rows = []
    for metric, config in checkpoints.items():
        texts = [text for column in given for text in column]
        scored = score_rows(metric, config, texts, wanted * len(given), asked and asked * len(given))
        held = dict(zip(names, scored.scores.reshape(len(given), -1), strict=True))
        rows += _report(metric, held, baseline, draws, scored)
    if output is not None:
        write_outcome(output, rows)


def conclusion(pair: "Pair") -> str:
    """What a comparison says, in plain words."""
    if pair.p_holm >= 1 - LEVEL:
        return f"{pair.name} and {pair.other}: no difference can be told from chance."
    better, worse = (pair.name, pair.other) if pair.comparison.difference > 0 else (pair.other, pair.name)
    return f"{better} scores higher than {worse}; the difference is unlikely to be chance."


def _each(columns: tuple[str, ...], systems: int) -> list[str | None]:
    """The column of each system; None where a file has one alone."""
    if len(columns) not in (0, 1, systems):
        raise InputError(f"--predictions: expected one column, or one for each of the {systems}, got {len(columns)}")
    return list(columns) if len(columns) == systems else [*(columns or (None,))] * systems


def _names(systems: tuple[Path, ...]) -> list[str]:
    """What systems are called: their files' names without ends, or paths where those are equal; each another name."""
    if len(systems) < 2:
        raise InputError("SYSTEM: expected the files of two systems at least, got one")
    stems = [path.stem for path in systems]
    names = stems if len(set(stems)) == len(set(systems)) else [str(path) for path in systems]
    found: list[str] = []
    for name in names:
        others = (f"{name} ({i})" for i in count(2))
        free = (other for other in others if other not in names and other not in found)
        found.append(next(free) if name in found else name)
    return found


def _baseline(given: str | None, names: list[str], systems: tuple[Path, ...]) -> str | None:
    for name, path in zip(names, systems, strict=True):
        if given in (name, str(path)):
            return name
    if given is not None:
        raise InputError(f"--baseline: expected one of the systems {', '.join(map(repr, names))}, got {given!r}")
    return None


def _read(
    gold: Path, systems: tuple[Path, ...], named: tuple[str | None, str | None], columns: list[str | None]
) -> tuple[list, list[str] | None, list[list[str]]]:
    """References, questions or None, and what each system said."""
    from semantic_metrics.cli.whole import texts_of
    from semantic_metrics.files.table import read_table

    references, questions = named
    table = read_table(gold)
    wanted = texts_of(table, gold, "--references", references, several=True)
    asked = None if questions is None else texts_of(table, gold, "--questions", questions)
    if len(wanted) < 2:
        raise InputError(f"{gold}: expected 2 texts at least, got {len(wanted)}: one can tell nothing from chance")
    given = []
    for path, column in zip(systems, columns, strict=True):
        given.append(texts_of(read_table(path), path, "--predictions", column))
        if len(given[-1]) != len(wanted):
            raise InputError(f"{path}: expected {len(wanted)} texts, as many as {gold} has, got {len(given[-1])}")
    return wanted, asked, given


def _report(
    metric: str, systems: dict[str, "np.ndarray"], baseline: str | None, draws: dict[str, float], scored: "Scored"
) -> list[dict]:
    """Print what is found by one metric; its pairs as rows for --output."""
    from semantic_metrics.stats.significance import compare_all, interval

    means = {name: interval(scores, LEVEL, draws["resamples"], draws["seed"], name) for name, scores in systems.items()}
    pairs = compare_all(systems, baseline, LEVEL, draws["resamples"], draws["seed"], draws["tie"])
    size = len(next(iter(systems.values())))
    click.echo(f"{metric}, {size} texts")
    for line in [*_mean_lines(means), "", *_pair_lines(pairs), "", *map(conclusion, pairs)]:
        click.echo(line)
    click.echo(f"\n{scored.remarks}\n{scored.signature}\n")
    about = {"texts": size, "level": LEVEL, **draws, "signature": scored.signature}
    return [{"metric": metric, **_row(pair, means), **about} for pair in pairs]


def _mean_lines(means: dict[str, "Interval"]) -> Iterator[str]:
    yield f"{'system':<{NAME}}{'mean':>10}  95% interval"
    for name, held in means.items():
        yield f"{_clip(name):<{NAME}}{held.mean:>10.4f}  [{held.low:.4f}, {held.high:.4f}]"


def _pair_lines(pairs: list["Pair"]) -> Iterator[str]:
    yield f"{'pair':<{NAME}}{'difference':>10}  {'95% interval':<18}  p boot  p perm  p Holm  win/tie/loss"
    for pair in pairs:
        found = pair.comparison
        ends = f"[{found.low:.4f}, {found.high:.4f}]"
        p = f"{found.p_bootstrap:.4f}  {found.p_permutation:.4f}  {pair.p_holm:.4f}"
        counts = f"{found.wins}/{found.ties}/{found.losses}"
        name = _clip(f"{pair.name} - {pair.other}")
        yield f"{name:<{NAME}}{found.difference:>10.4f}  {ends:<18}  {p}  {counts}"


def _row(pair: "Pair", means: dict[str, "Interval"]) -> dict:
    row = {"system": pair.name, "other": pair.other}
    for prefix, held in (("", means[pair.name]), ("other_", means[pair.other])):
        row |= {f"{prefix}mean": held.mean, f"{prefix}mean_low": held.low, f"{prefix}mean_high": held.high}
    return row | asdict(pair.comparison) | {"p_holm": pair.p_holm, "conclusion": conclusion(pair)}


def _clip(name: str) -> str:
    name = "".join(sign if sign.isprintable() else "?" for sign in name)
    return name if len(name) < NAME else name[: NAME - 4] + "..."
