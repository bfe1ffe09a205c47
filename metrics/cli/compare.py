"""`semantic-metrics compare`: systems that answered the same inputs, and whether their scores differ beyond chance."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import click
from typing_extensions import TypedDict, Unpack

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.gate import finish
from semantic_metrics.cli.options import FILE, MAX_RESAMPLES, choose_references, model_options, shared_option
from semantic_metrics.cli.scoring import CORRECT, ScoredRows, check_questions, choose_metrics, score_rows
from semantic_metrics.core.signature import shorten
from semantic_metrics.files.rows import Cell, list_names
from semantic_metrics.files.table import Table, check_records_path, read_table, write_records
from semantic_metrics.stats.bootstrap import LEVEL, SIGNIFICANT
from semantic_metrics.stats.significance import RESAMPLES, Interval, Pair, compare_all, holm, interval, mcnemar

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
@click.argument("systems", nargs=-1, metavar="[SYSTEM SYSTEM...]", type=FILE)
@shared_option("--metric")
@shared_option("--references")
@shared_option("--separator")
@shared_option("--json-lists")
@shared_option("--questions")
@shared_option("--predictions", multiple=True, help="Column of the systems' texts; once, or for each.")
@click.option("--by", metavar="COLUMN", help="Column of systems' names in one long table.")
@click.option("--id", "key", metavar="COLUMN", help="Column of ids that join the rows; default: by row.")
@click.option("--baseline", metavar="SYSTEM", help="System to compare all others with.")
@shared_option("--config")
@shared_option("--weights")
@shared_option("--threshold")
@shared_option("--fail-under")
@shared_option("--max-wrong")
@shared_option("--json")
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
    by: str | None,
    key: str | None,
    baseline: str | None,
    configs: tuple[str, ...],
    weights: tuple[str, ...],
    thresholds: tuple[str, ...],
    fail_under: tuple[str, ...],
    max_wrong: tuple[str, ...],
    json: bool,
    output: Path | None,
    run: dict[str, Any],
    **draws: Unpack[Draws],
) -> None:
    """Compare SYSTEM files on REFERENCES, by row (.txt, .csv, .jsonl, .parquet).

    Prints means with 95% intervals; for each pair the difference, and p-values of the paired bootstrap and the
    paired permutation test, the latter also with Holm's correction over the pairs of a metric. With a threshold also
    the share of correct texts, and McNemar's test of it. Or compare the systems of one long table:
    compare answers.csv --by system --id question --predictions answer --references gold

    Example: semantic-metrics compare references.txt first.txt second.txt
    """
    choices = choose_metrics(metrics, configs, weights, thresholds, fail_under, max_wrong)
    check_questions("--questions", "a column", questions is not None, metrics)
    columns = _prediction_columns(predictions, 1 if by else len(systems))
    check_records_path(output, (gold, *systems))
    table = read_table(gold)
    parts = _Parts.of_table(table, gold, systems, by, key, columns[0]) if by else None
    names = _names(systems, columns) if parts is None else list(parts.rows)
    baseline = _baseline(baseline, names, systems or tuple(map(Path, names)))
    shared = _read_gold(table, gold, references, separator, json_lists, questions)
    if parts is None:
        keys = None if key is None else table.column(f"{gold}, --id", key)
        answers = _read_systems(gold, len(shared["references"]), systems, columns, key, keys)
    else:
        shared, answers = parts.split(shared)
    size, rows, failures = len(shared["references"]), [], []
    if size < 2:
        raise InputError(f"{gold}: expected 2 texts at least, got {size}: one can tell nothing from chance")
    texts = {name: values * len(answers) for name, values in shared.items()}
    texts["predictions"] = [text for own in answers for text in own]

    def place(column: str, index: int) -> str:
        system = index // size
        if parts is not None:
            return f"{gold}, row {parts.rows[names[system]][index % size] + 1}, {column}"
        return f"{systems[system] if column == 'predictions' else gold}, row {index % size + 1}, {column}"

    for choice in choices:
        scored = score_rows(choice, texts, "compare", run, place)
        scores = {name: scored.scores[i * size : (i + 1) * size] for i, name in enumerate(names)}
        for name in [name for name in names if name != baseline]:
            wrong = None if scored.line is None else sum(score < scored.line for score in scores[name])
            failures += choice.gate.failures(f"{choice.name} of {name}", sum(scores[name]) / size, wrong)
        result = _Result(choice.name, scores, baseline, draws, scored)
        for line in [] if json else result.lines():
            click.echo(line)
        rows += result.rows()
    if output is not None:
        write_records(output, rows)
    finish(failures, {"pairs": rows} if json else None)


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
    table: Table,
    gold: Path,
    references: tuple[str, ...],
    separator: str | None,
    json_lists: bool,
    questions: str | None,
) -> dict[str, list[Any]]:
    """References, and questions if there is a column of them."""
    names = references or (_only_column(table, gold, "--references"),)
    columns = choose_references(table.columns, names, separator, json_lists)
    texts: dict[str, list[Any]] = {"references": table.references(f"{gold}, --references", columns)}
    for line in table.warnings(gold, columns):
        click.echo(line, err=True)
    if questions is not None:
        texts["questions"] = _texts(table, gold, "--questions", questions)
    return texts


def _read_systems(
    gold: Path,
    size: int,
    systems: tuple[Path, ...],
    columns: list[str | None],
    key: str | None,
    keys: list[Cell] | None,
) -> list[list[str]]:
    """The texts of each system, as many as there are references, by row or in the order of the references' ids."""
    answers = []
    for path, column in zip(systems, columns, strict=True):
        table = read_table(path)
        texts = _texts(table, path, "--predictions", column)
        if key is not None and keys is not None:
            order = _order(str(path), table.column(f"{path}, --id", key), range(len(texts)), keys)
            texts = [texts[row] for row in order]
        if len(texts) != size:
            raise InputError(f"{path}: expected {size} texts, as many as {gold} has, got {len(texts)}")
        answers.append(texts)
    return answers


def _order(place: str, ids: list[Cell], rows: Iterable[int], wanted: Iterable[Cell] | None = None) -> list[int]:
    """The rows of one system in the order of the ids that are wanted, by default their own.

    Raises:
        InputError: an id is there twice, is missing, or is one that is not wanted; names it.
    """
    found: dict[str, int] = {}
    for row in rows:
        if found.setdefault(str(ids[row]), row) != row:
            raise InputError(f"--id: expected each once in {place}, got {ids[row]!r} twice")
    order = list(found) if wanted is None else list(map(str, wanted))
    if len(set(order)) < len(order):
        raise InputError(f"--id: expected each once in the references, got {len(order) - len(set(order))} repeated")
    if odd := sorted(set(found) ^ set(order)):
        problem = "is missing" if odd[0] not in found else "is one that the others lack"
        raise InputError(f"--id: expected the same ids of all systems; in {place} {odd[0]!r} {problem}")
    return [found[name] for name in order]


@dataclass(frozen=True)
class _Parts:
    """The systems of one long table.

    Attributes:
        texts: texts of all rows.
        rows: rows of each system, by name, in the order of the first one's ids.
    """

    texts: list[str]
    rows: dict[str, list[int]]

    @classmethod
    def of_table(
        cls, table: Table, path: Path, systems: tuple[Path, ...], by: str, key: str | None, column: str | None
    ) -> "_Parts":
        if systems or key is None:
            got = f"{len(systems)} SYSTEM files" if systems else "no --id"
            raise InputError(f"--by: expected one table, and --id for its rows that belong together, got {got}")
        ids = table.column("--id", key)
        members: dict[str, list[int]] = {}
        for row, name in enumerate(table.column("--by", by)):
            members.setdefault(str(name), []).append(row)
        if len(members) < 2:
            raise InputError(f"--by: expected two systems at least in column {by!r}, got {', '.join(members)}")
        first = [ids[row] for row in next(iter(members.values()))]
        rows = {name: _order(f"system {name!r}", ids, own, first) for name, own in members.items()}
        return cls(_texts(table, path, "--predictions", column), rows)

    def split(self, shared: dict[str, list[Any]]) -> tuple[dict[str, list[Any]], list[list[str]]]:
        """References and questions of the ids, and each system's texts.

        Raises:
            InputError: rows of one id have different ones.
        """
        first = next(iter(self.rows.values()))
        for name, values in shared.items():
            for own in self.rows.values():
                for row, other in zip(own, first, strict=True):
                    if values[row] != values[other]:
                        raise InputError(f"--id: expected the same {name} in rows {other + 1} and {row + 1}")
        answers = [[self.texts[row] for row in own] for own in self.rows.values()]
        return {name: [values[row] for row in first] for name, values in shared.items()}, answers


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


class _Result:
    """What the scores of one metric say of the systems."""

    def __init__(
        self, metric: str, scores: dict[str, list[float]], baseline: str | None, draws: Draws, scored: ScoredRows
    ) -> None:
        resamples, seed = draws["resamples"], draws["seed"]
        self.metric, self.draws, self.scored = metric, draws, scored
        self.means = {name: interval(values, LEVEL, resamples, seed, name) for name, values in scores.items()}
        self.pairs = compare_all(scores, baseline, LEVEL, resamples, seed, draws["tie"])
        self.size = len(next(iter(scores.values())))
        decided = {} if scored.threshold is None else {name: scored.decide(own) for name, own in scores.items()}
        self.correct = {name: sum(own) / self.size for name, own in decided.items()}
        tests = [mcnemar(decided[pair.name], decided[pair.other]) for pair in self.pairs if decided]
        self.shares = list(zip(tests, holm([test.p for test in tests]), strict=True)) if tests else []

    def lines(self) -> Iterator[str]:
        """The report, for people."""
        decided = f", correct where the score is {self.scored.threshold:.4f} or more" if self.correct else ""
        yield f"{self.metric}, {self.size} texts{decided}"
        yield from [*_mean_lines(self.means, self.correct), "", *_pair_lines(self.pairs), ""]
        if self.shares:
            yield f"{'pair':<{NAME_WIDTH}}   correct  only first/second  p McNemar  p Holm"
            for pair, (test, p) in zip(self.pairs, self.shares, strict=True):
                gap = self.correct[pair.name] - self.correct[pair.other]
                only = f"{test.only_first}/{test.only_second}"
                yield f"{_clip(_title(pair)):<{NAME_WIDTH}}{gap:>+10.1%}{only:>19}{test.p:>11.4f}{p:>8.4f}"
            yield ""
        yield from [*map(conclusion, self.pairs), "", self.scored.remarks, shorten(self.scored.signature), ""]

    def rows(self) -> list[dict[str, Any]]:
        """The pairs, for --output."""
        settings = {"texts": self.size, "level": LEVEL, **self.draws, "signature": self.scored.signature}
        rows = [{"metric": self.metric, **_row(pair, self.means), **settings} for pair in self.pairs]
        for row, (test, p) in zip(rows, self.shares, strict=False):
            shares = {CORRECT: self.correct[row["system"]], f"other_{CORRECT}": self.correct[row["other"]]}
            row |= {**shares, "threshold": self.scored.threshold, "p_mcnemar": test.p, "p_mcnemar_holm": p}
        return rows


def _mean_lines(means: dict[str, Interval], correct: dict[str, float]) -> Iterator[str]:
    """Means with their intervals, and the shares of correct texts where there is a threshold."""
    yield f"{'system':<{NAME_WIDTH}}{'mean':>10}  {'95% interval':<18}{'  correct' if correct else ''}".rstrip()
    for name, mean in means.items():
        ends = f"[{mean.low:.4f}, {mean.high:.4f}]"
        share = f"  {correct[name]:>7.1%}" if correct else ""
        yield f"{_clip(name):<{NAME_WIDTH}}{mean.mean:>10.4f}  {ends:<18}{share}".rstrip()


def _pair_lines(pairs: list[Pair]) -> Iterator[str]:
    yield f"{'pair':<{NAME_WIDTH}}{'difference':>10}  {'95% interval':<18}  p boot  p perm  p Holm  win/tie/loss"
    for pair in pairs:
        result = pair.comparison
        ends = f"[{result.low:.4f}, {result.high:.4f}]"
        p = f"{result.p_bootstrap:.4f}  {result.p_permutation:.4f}  {pair.p_holm:.4f}"
        counts = f"{result.wins}/{result.ties}/{result.losses}"
        yield f"{_clip(_title(pair)):<{NAME_WIDTH}}{result.difference:>10.4f}  {ends:<18}  {p}  {counts}"


def _title(pair: Pair) -> str:
    return f"{pair.name} - {pair.other}"


def _row(pair: Pair, means: dict[str, Interval]) -> dict[str, Any]:
    row: dict[str, Any] = {"system": pair.name, "other": pair.other}
    for prefix, mean in (("", means[pair.name]), ("other_", means[pair.other])):
        row |= {f"{prefix}mean": mean.mean, f"{prefix}mean_low": mean.low, f"{prefix}mean_high": mean.high}
    return row | asdict(pair.comparison) | {"p_holm": pair.p_holm, "conclusion": conclusion(pair)}


def _clip(name: str) -> str:
    name = "".join(sign if sign.isprintable() else "?" for sign in name)
    return name if len(name) < NAME_WIDTH else name[: NAME_WIDTH - 4] + "..."
