"""`semantic-metrics compare`: systems that answered the same inputs, and whether their scores differ beyond chance."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import click
from typing_extensions import TypedDict, Unpack

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import FILE, MAX_RESAMPLES, choose_references, model_options, shared_option
from semantic_metrics.cli.scoring import CORRECT, ScoredRows, check_questions, choose_metrics, score_rows
from semantic_metrics.core.signature import shorten
from semantic_metrics.files.rows import list_names
from semantic_metrics.files.table import Table, check_records_path, read_table, write_records
from semantic_metrics.stats.bootstrap import LEVEL, SIGNIFICANT
from semantic_metrics.stats.significance import RESAMPLES, Interval, Pair, compare_all, interval

TIE = 1e-6  # float32 rounds a score by less; a smaller difference is no win
NAME_WIDTH = 30  # characters of a system or a pair in a table, whose lines then have at most 100


class Draws(TypedDict):
    """Options of the bootstrap."""

    resamples: int
    seed: int
    tie: float


class _Gap(click.FloatRange):
    """A finite number; click's range takes "nan", and without an upper end "inf"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is no finite number.", param, ctx)


@click.command()
@click.argument("gold", metavar="REFERENCES", type=FILE)
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM SYSTEM...", type=FILE)
@shared_option("--metric")
@shared_option("--references")
@shared_option("--separator")
@shared_option("--json-lists")
@shared_option("--questions")
@shared_option("--predictions", multiple=True, help="Column of the systems' texts; once, or for each.")
@click.option("--baseline", metavar="SYSTEM", help="System to compare all others with.")
@shared_option("--config")
@shared_option("--weights")
@shared_option("--threshold")
@model_options()
@shared_option("--resamples", default=RESAMPLES, type=click.IntRange(2, MAX_RESAMPLES))
@shared_option("--seed", type=click.IntRange(0))
@click.option("--tie", default=TIE, show_default=True, type=_Gap(0), metavar="X", help="A smaller gap is a tie.")
@shared_option("--output", help="Write the pairs to a .json or .csv file.")
def compare(
    gold: Path,
    systems: tuple[Path, ...],
    metrics: tuple[str, ...],
    references: tuple[str, ...],
    separator: str | None,
    json_lists: bool,
    questions: str | None,
    predictions: tuple[str, ...],
    baseline: str | None,
    configs: tuple[str, ...],
    weights: tuple[str, ...],
    thresholds: tuple[str, ...],
    output: Path | None,
    run: dict[str, Any],
    **draws: Unpack[Draws],
) -> None:
    """Compare SYSTEM files on REFERENCES, by row (.txt, .csv, .jsonl, .parquet).

    Prints means with 95% intervals; for each pair the difference, and p-values of the paired bootstrap and the
    paired permutation test, the latter also with Holm's correction over the pairs of a metric.

    Example: semantic-metrics compare references.txt first.txt second.txt
    """
    choices = choose_metrics(metrics, configs, weights, thresholds)
    check_questions("--questions", "a column", questions is not None, metrics)
    columns = _prediction_columns(predictions, len(systems))
    names = _names(systems, columns)
    baseline = _baseline(baseline, names, systems)
    check_records_path(output, (gold, *systems))
    shared = _read_gold(gold, references, separator, json_lists, questions)
    answers = _read_systems(gold, len(shared["references"]), systems, columns)
    texts = {name: values * len(answers) for name, values in shared.items()}
    texts["predictions"] = [text for own in answers for text in own]
    size, rows = len(shared["references"]), []

    def place(column: str, index: int) -> str:
        file = systems[index // size] if column == "predictions" else gold
        return f"{file}, row {index % size + 1}, {column}"

    for choice in choices:
        scored = score_rows(choice, texts, "compare", run, place)
        scores = {name: scored.scores[i * size : (i + 1) * size] for i, name in enumerate(names)}
        rows += _report(choice.name, scores, baseline, draws, scored)
    if output is not None:
        write_records(output, rows)


def conclusion(pair: Pair) -> str:
    """What a comparison shows, in plain words."""
    if pair.p_holm >= SIGNIFICANT:
        return f"{pair.name} and {pair.other}: no difference can be told from chance."
    better, worse = (pair.name, pair.other) if pair.comparison.difference > 0 else (pair.other, pair.name)
    return f"{better} scores higher than {worse}; the difference is unlikely to be chance."


def _prediction_columns(columns: tuple[str, ...], systems: int) -> list[str | None]:
    """The column of each system; None for the only column of a file."""
    if len(columns) not in (0, 1, systems):
        raise InputError(f"--predictions: expected one column, or one for each of the {systems}, got {len(columns)}")
    return list(columns) if len(columns) == systems else [*(columns or (None,))] * systems


def _names(systems: tuple[Path, ...], columns: list[str | None]) -> list[str]:
    """A different name for each system: its column's, if each has another one, or its file's.

    A file's name is the one without suffix, or the path if two have the same.
    """
    if len(systems) < 2:
        raise InputError("SYSTEM: expected the files of two systems at least, got one")
    if len(set(columns)) == len(systems):
        return list(map(str, columns))
    stems = [path.stem for path in systems]
    names = stems if len(set(stems)) == len(set(systems)) else [str(path) for path in systems]
    distinct: list[str] = []
    for name in names:
        numbered = (f"{name} ({i})" for i in count(2))
        free = (other for other in numbered if other not in names and other not in distinct)
        distinct.append(next(free) if name in distinct else name)
    return distinct


def _baseline(given: str | None, names: list[str], systems: tuple[Path, ...]) -> str | None:
    if given in names:
        return given
    named = [name for name, path in zip(names, systems, strict=True) if given == str(path)]
    if len(set(named)) == 1:
        return named[0]
    if given is not None:
        raise InputError(f"--baseline: expected one of the systems {', '.join(map(repr, names))}, got {given!r}")
    return None


def _read_gold(
    gold: Path, references: tuple[str, ...], separator: str | None, json_lists: bool, questions: str | None
) -> dict[str, list[Any]]:
    """References, and questions if there is a column of them."""
    table = read_table(gold)
    names = references or (_only_column(table, gold, "--references"),)
    columns = choose_references(table.columns, names, separator, json_lists)
    texts: dict[str, list[Any]] = {"references": table.references(f"{gold}, --references", columns)}
    for line in table.warnings(gold, columns):
        click.echo(line, err=True)
    if questions is not None:
        texts["questions"] = _texts(table, gold, "--questions", questions)
    if (size := len(texts["references"])) < 2:
        raise InputError(f"{gold}: expected 2 texts at least, got {size}: one can tell nothing from chance")
    return texts


def _read_systems(gold: Path, size: int, systems: tuple[Path, ...], columns: list[str | None]) -> list[list[str]]:
    """The texts of each system, as many as there are references."""
    answers = []
    for path, column in zip(systems, columns, strict=True):
        answers.append(_texts(read_table(path), path, "--predictions", column))
        if len(answers[-1]) != size:
            raise InputError(f"{path}: expected {size} texts, as many as {gold} has, got {len(answers[-1])}")
    return answers


def _texts(table: Table, path: Path, option: str, column: str | None) -> list[Any]:
    """A column of texts: the named one, or the only one.

    Args:
        table: rows of the file.
        path: the file, for messages.
        option: option that names the column.
        column: its value, or None.

    Raises:
        InputError, FileError: there is no such column, several to choose from, or something else than texts in it.
    """
    return table.texts(f"{path}, {option}", column or _only_column(table, path, option))


def _only_column(table: Table, path: Path, option: str) -> str:
    """The only column of a file.

    Raises:
        InputError: there are several to choose from.
    """
    if len(table.columns) > 1:
        known = list_names(table.columns)
        raise InputError(f"{option}: expected which column of {path} to read, one of {known}")
    return table.columns[0]


def _report(
    metric: str, scores: dict[str, list[float]], baseline: str | None, draws: Draws, scored: ScoredRows
) -> list[dict[str, Any]]:
    """Print the results of one metric, and return its pairs as rows for --output."""
    resamples, seed = draws["resamples"], draws["seed"]
    means = {name: interval(values, LEVEL, resamples, seed, name) for name, values in scores.items()}
    pairs = compare_all(scores, baseline, LEVEL, resamples, seed, draws["tie"])
    size = len(next(iter(scores.values())))
    correct = None if scored.threshold is None else {name: scored.correct(own) for name, own in scores.items()}
    decided = "" if correct is None else f", correct where the score is {scored.threshold:.4f} or more"
    click.echo(f"{metric}, {size} texts{decided}")
    for line in [*_mean_lines(means, correct, size), "", *_pair_lines(pairs), "", *map(conclusion, pairs)]:
        click.echo(line)
    click.echo(f"\n{scored.remarks}\n{shorten(scored.signature)}\n")
    settings = {"texts": size, "level": LEVEL, **draws, "signature": scored.signature}
    rows = [{"metric": metric, **_row(pair, means), **settings} for pair in pairs]
    if correct is not None:
        for row in rows:
            shares = {CORRECT: correct[row["system"]] / size, f"other_{CORRECT}": correct[row["other"]] / size}
            row |= {**shares, "threshold": scored.threshold}
    return rows


def _mean_lines(means: dict[str, Interval], correct: dict[str, int] | None, size: int) -> Iterator[str]:
    """Means with their intervals, and the shares of correct texts where there is a threshold."""
    yield f"{'system':<{NAME_WIDTH}}{'mean':>10}  {'95% interval':<18}{'' if correct is None else '  correct'}".rstrip()
    for name, mean in means.items():
        ends = f"[{mean.low:.4f}, {mean.high:.4f}]"
        share = "" if correct is None else f"  {correct[name] / size:>7.1%}"
        yield f"{_clip(name):<{NAME_WIDTH}}{mean.mean:>10.4f}  {ends:<18}{share}".rstrip()


def _pair_lines(pairs: list[Pair]) -> Iterator[str]:
    yield f"{'pair':<{NAME_WIDTH}}{'difference':>10}  {'95% interval':<18}  p boot  p perm  p Holm  win/tie/loss"
    for pair in pairs:
        result = pair.comparison
        ends = f"[{result.low:.4f}, {result.high:.4f}]"
        p = f"{result.p_bootstrap:.4f}  {result.p_permutation:.4f}  {pair.p_holm:.4f}"
        counts = f"{result.wins}/{result.ties}/{result.losses}"
        name = _clip(f"{pair.name} - {pair.other}")
        yield f"{name:<{NAME_WIDTH}}{result.difference:>10.4f}  {ends:<18}  {p}  {counts}"


def _row(pair: Pair, means: dict[str, Interval]) -> dict[str, Any]:
    row: dict[str, Any] = {"system": pair.name, "other": pair.other}
    for prefix, mean in (("", means[pair.name]), ("other_", means[pair.other])):
        row |= {f"{prefix}mean": mean.mean, f"{prefix}mean_low": mean.low, f"{prefix}mean_high": mean.high}
    return row | asdict(pair.comparison) | {"p_holm": pair.p_holm, "conclusion": conclusion(pair)}


def _clip(name: str) -> str:
    name = "".join(sign if sign.isprintable() else "?" for sign in name)
    return name if len(name) < NAME_WIDTH else name[: NAME_WIDTH - 4] + "..."
