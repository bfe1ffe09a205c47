"""`semantic-metrics compare`: systems that answered the same inputs, and whether their scores differ beyond chance."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import Gate, InputError, finish
from semantic_metrics.cli.options import FILE, MAX_RESAMPLES, TextColumns, model_options, shared_option, text_options
from semantic_metrics.cli.scoring import CORRECT, MetricOptions, ScoredRows, metric_options, score_rows
from semantic_metrics.core.inputs import quote
from semantic_metrics.core.signature import shorten
from semantic_metrics.files.rows import Cell, is_missing, list_names, say_missing
from semantic_metrics.files.table import Table, check_records_path, read_table, write_records
from semantic_metrics.stats.bootstrap import LEVEL, SIGNIFICANT
from semantic_metrics.stats.significance import RESAMPLES, Interval, Pair, compare_all, holm, interval, mcnemar

TIE = 1e-6  # float32 rounds a score by less; a smaller difference is no win
NAME_WIDTH = 30  # characters of a system or a pair in a table, whose lines then have at most 100


@click.command()
@click.argument("gold", metavar="REFERENCES", type=FILE)
@click.argument("systems", nargs=-1, metavar="[SYSTEM SYSTEM...]", type=FILE)
@metric_options(gate=True)
@text_options(predictions=False)
@shared_option("--predictions", multiple=True, help="Column of the systems' texts; once, or for each.")
@click.option("--by", metavar="COLUMN", help="Column of systems' names in one long table.")
@click.option("--id", "key", metavar="COLUMN", help="Column of ids that join the rows; default: by row.")
@click.option("--baseline", metavar="SYSTEM", help="System to compare all others with.")
@shared_option("--json")
@model_options()
@shared_option("--resamples", default=RESAMPLES, type=click.IntRange(2, MAX_RESAMPLES))
@shared_option("--seed", type=click.IntRange(0))
@shared_option("--output", help="Write the pairs to a .json or .csv file.")
def compare(
    gold: Path,
    systems: tuple[Path, ...],
    metrics: MetricOptions,
    text_columns: TextColumns,
    predictions: tuple[str, ...],
    by: str | None,
    key: str | None,
    baseline: str | None,
    json: bool,
    output: Path | None,
    run: dict[str, Any],
    **draws: int,
) -> None:
    """Compare SYSTEM files on REFERENCES, by row (.txt, .csv, .jsonl, .parquet).

    Prints means with 95% intervals; for each pair the difference, and p-values of the paired bootstrap and the
    paired permutation test, the latter also with Holm's correction over the pairs of a metric. With a threshold also
    the share of correct texts, and McNemar's test of it. Or compare the systems of one long table:
    compare answers.csv --by system --id question --predictions answer --references gold

    Example: semantic-metrics compare references.txt first.txt second.txt
    """
    choices = metrics.choose(text_columns)
    columns = _prediction_columns(predictions, 1 if by else len(systems))
    check_records_path(output, (gold, *systems))
    table = read_table(gold)
    shared = _read_gold(table, gold, text_columns)
    ids = None if key is None else table.column(f"{gold}, --id", key)
    if by is None:
        answers = _read_systems(gold, len(table.rows), systems, columns, key, ids, text_columns.missing)
    else:
        answers, first = _split(table, gold, systems, by, ids, columns[0], shared, text_columns.missing)
        shared = {name: [values[row] for row in first] for name, values in shared.items()}
    baseline = _baseline(baseline, list(answers), systems or tuple(map(Path, answers)))
    kept, left = _answered(gold, answers, text_columns.missing)
    shared = {name: [values[i] for i in kept] for name, values in shared.items()}
    answers = {name: own.take(kept) for name, own in answers.items()}
    size, rows, failures = len(kept), [], []
    texts = {name: values * len(answers) for name, values in shared.items()}
    texts["predictions"] = [text for own in answers.values() for text in own.texts]
    places = [f"{own.file}, row {row + 1}" for own in answers.values() for row in own.rows]

    def place(column: str, index: int) -> str:
        where = places[index] if by or column == "predictions" else f"{gold}, row {kept[index % size] + 1}"
        return f"{where}, {column}"

    for choice in choices:
        scored = score_rows(choice, texts, "compare", run, place)
        scores = {name: scored.scores[i * size : (i + 1) * size] for i, name in enumerate(answers)}
        result = _Result(choice.name, scores, baseline, draws, scored)
        for line in [] if json else result.lines():
            click.echo(line)
        rows += result.rows()
        failures += result.failures(choice.gate)
    if text_columns.missing is not None and not json:
        click.echo(say_missing(left, text_columns.missing))
    if output is not None:
        write_records(output, rows)
    finish(failures, {"pairs": rows, "without_answer": left} if json else None)


def conclusion(pair: Pair) -> str:
    """The conclusion of a comparison, in plain words."""
    if pair.p_holm >= SIGNIFICANT:
        return f"{pair.name} and {pair.other}: no difference can be told from chance."
    better, worse = (pair.name, pair.other) if pair.comparison.difference > 0 else (pair.other, pair.name)
    return f"{better} scores higher than {worse}; the difference is unlikely to be chance."


def _prediction_columns(columns: tuple[str, ...], systems: int) -> list[str | None]:
    """The column of each system; None for the only column of a file."""
    if len(columns) not in (0, 1, systems):
        expected = f"one column, or one for each of the {systems} files of SYSTEM (a file may be named twice)"
        raise InputError(f"--predictions: expected {expected}, got {len(columns)}")
    return list(columns) if len(columns) == systems else [*(columns or (None,))] * systems


def _names(systems: tuple[Path, ...], columns: list[str | None]) -> list[str]:
    """A different name for each system: its column's, if each has another one, or its file's.

    A file's name is the one without suffix, or the path if two have the same.
    """
    if len(systems) < 2:
        raise InputError(f"SYSTEM: expected the files of two systems at least, or --by, got {len(systems)}")
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


def _read_gold(table: Table, gold: Path, text_columns: TextColumns) -> dict[str, list[Any]]:
    """References, and questions if there is a column of them."""
    names = text_columns.references or (_only_column(table, gold, "--references"),)
    columns = text_columns.reference_columns(table.columns, names)
    texts: dict[str, list[Any]] = {"references": table.references(f"{gold}, --references", columns)}
    for line in table.warnings(gold, columns):
        click.echo(line, err=True)
    if text_columns.questions is not None:
        texts["questions"] = _texts(table, gold, "--questions", text_columns.questions)
    return texts


@dataclass(frozen=True)
class _Answers:
    """The answers of one system, in the order of the references: n texts, and their rows in a file, from 0."""

    file: Path
    texts: list[str]
    rows: list[int]

    def take(self, kept: list[int]) -> "_Answers":
        """Some of the answers, by their places."""
        return _Answers(self.file, [self.texts[i] for i in kept], [self.rows[i] for i in kept])


def _answered(gold: Path, answers: dict[str, _Answers], missing: str | None) -> tuple[list[int], int]:
    """Places of the inputs to compare on, and how many of all inputs some system has not answered."""
    each = list(zip(*(own.texts for own in answers.values()), strict=True))
    unanswered = [missing is not None and any(map(is_missing, texts)) for texts in each]
    kept = [i for i, empty in enumerate(unanswered) if missing != "skip" or not empty]
    if len(kept) < 2:
        raise InputError(f"{gold}: expected 2 texts at least, got {len(kept)}: one can tell nothing from chance")
    return kept, sum(unanswered)


def _read_systems(
    gold: Path,
    size: int,
    systems: tuple[Path, ...],
    columns: list[str | None],
    key: str | None,
    ids: list[Cell] | None,
    missing: str | None,
) -> dict[str, _Answers]:
    """The texts of each file, as many as there are references, by row or in the order of the references' ids."""
    answers = {}
    for name, path, column in zip(_names(systems, columns), systems, columns, strict=True):
        table = read_table(path)
        texts = _texts(table, path, "--predictions", column, missing)
        rows = list(range(len(texts)))
        if key is not None and ids is not None:
            rows = _order(str(path), table.column(f"{path}, --id", key), rows, ids)
        if len(rows) != size:
            raise InputError(f"{path}: expected {size} texts, as many as {gold} has, got {len(rows)}")
        answers[name] = _Answers(path, [texts[row] for row in rows], rows)
    return answers


def _split(
    table: Table,
    gold: Path,
    systems: tuple[Path, ...],
    by: str,
    ids: list[Cell] | None,
    column: str | None,
    shared: dict[str, list[Any]],
    missing: str | None,
) -> tuple[dict[str, _Answers], list[int]]:
    """The systems of one long table, by name, each in the order of the first one's ids; and the first one's rows."""
    if systems or ids is None:
        got = f"{len(systems)} SYSTEM files" if systems else "no --id"
        raise InputError(f"--by: expected one table, and --id for its rows that belong together, got {got}")
    members: dict[str, list[int]] = {}
    for row, name in enumerate(table.column("--by", by)):
        members.setdefault(str(name), []).append(row)
    if len(members) < 2:
        raise InputError(f"--by: expected two systems at least in column {quote(by)}, got {list_names(members)}")
    first = next(iter(members.values()))
    texts = _texts(table, gold, "--predictions", column, missing)
    answers = {}
    for name, own in members.items():
        rows = _order(f"system {quote(name)}", ids, own, [ids[row] for row in first])
        for kind, values in shared.items():
            for row, other in zip(rows, first, strict=True):
                if values[row] != values[other]:
                    raise InputError(f"--id: expected the same {kind} in rows {other + 1} and {row + 1}")
        answers[name] = _Answers(gold, [texts[row] for row in rows], rows)
    return answers, first


def _order(place: str, ids: list[Cell], rows: list[int], wanted: list[Cell]) -> list[int]:
    """The rows of one system in the order of the ids that are wanted."""
    for name, values in ((place, [ids[row] for row in rows]), ("the references", wanted)):
        if (twice := next((one for one, count in Counter(map(str, values)).items() if count > 1), None)) is not None:
            raise InputError(f"--id: expected each once in {name}, got {quote(twice)} twice")
    found = {str(ids[row]): row for row in rows}
    if odd := sorted(set(found) ^ set(map(str, wanted))):
        problem = "is one that the others lack" if odd[0] in found else "is missing"
        raise InputError(f"--id: expected the same ids of all systems; in {place} {quote(odd[0])} {problem}")
    return [found[str(one)] for one in wanted]


def _texts(table: Table, path: Path, option: str, column: str | None, missing: str | None = None) -> list[Any]:
    """A column of texts, the one that an option names or the only one; messages name the file and the option.

    With `missing`, a row without a text has an empty one: rows stay those of the other systems.
    """
    name, place = column or _only_column(table, path, option), f"{path}, {option}"
    return table.answered(place, name, missing and "zero").texts(place, name)


def _only_column(table: Table, path: Path, option: str) -> str:
    """The only column of a file."""
    if len(table.columns) > 1:
        known = list_names(table.columns)
        raise InputError(f"{option}: expected which column of {path} to read, one of {known}")
    return table.columns[0]


class _Result:
    """The comparison of the systems by one metric."""

    def __init__(
        self,
        metric: str,
        scores: dict[str, list[float]],
        baseline: str | None,
        draws: dict[str, int],
        scored: ScoredRows,
    ) -> None:
        self.metric, self.draws, self.scored, self.scores, self.baseline = metric, draws, scored, scores, baseline
        self.means = {name: interval(values, LEVEL, **draws, name=name) for name, values in scores.items()}
        self.pairs = compare_all(scores, baseline, LEVEL, **draws, tie=TIE)
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

    def failures(self, gate: Gate) -> list[str]:
        """Failures of the systems but the baseline, a line each."""
        line, lines = self.scored.line, []
        for name, own in self.scores.items():
            wrong = None if line is None else sum(score < line for score in own)
            if name != self.baseline:
                lines += gate.failures(f"{self.metric} of {name}", self.means[name].mean, wrong, line)
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """The pairs, for --output."""
        settings = {"texts": self.size, "level": LEVEL, **self.draws, "tie": TIE, "signature": self.scored.signature}
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
