"""`semantic-metrics score`: the rows of a file with the scores of one or more metrics, some thousand rows at a time."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import click

from semantic_metrics import __version__
from semantic_metrics.cli.errors import InputError, finish
from semantic_metrics.cli.options import FILE, TextColumns, model_options, output_option, shared_option, text_options
from semantic_metrics.cli.resume import RESUMABLE, OtherRun, Output
from semantic_metrics.cli.scoring import LoadedMetric, MetricChoice, MetricOptions, metric_options
from semantic_metrics.cli.terminal import MAX_TABLE_ROWS, table_lines
from semantic_metrics.core.contract import describe
from semantic_metrics.core.inputs import quote
from semantic_metrics.core.progress import progress, progress_bar
from semantic_metrics.core.signature import shorten
from semantic_metrics.files import FileError
from semantic_metrics.files.formats import FORMATS, STREAM, format_of
from semantic_metrics.files.output import atomic_write, check_output
from semantic_metrics.files.readers import Reader, open_reader
from semantic_metrics.files.references import ReferenceColumns, warn_of_list
from semantic_metrics.files.rows import (
    Cell,
    Chunk,
    check_column,
    check_key,
    convert_rows,
    describe_invalid,
    first_invalid,
    is_missing,
    say_missing,
)
from semantic_metrics.files.writers import TABLE_FORMATS, TABLE_NAMES, Scores, cell_text, open_writer

MAX_CHUNK_ROWS = 2**31 - 1  # of what pyarrow and Python count; nobody has more
CHUNK_ROWS = 2048  # rows that are read, scored and written at a time
YES_NO = {True: "yes", False: "no"}  # decisions in a printed table


@click.command()
@click.argument("file", type=FILE)
@metric_options(gate=True)
@text_options()
@shared_option("--json")
@click.option("--details", is_flag=True, help="Add what else is said of a row: reasons, parts.")
@model_options()
@click.option("--show", multiple=True, metavar="COLUMN", help="Print this column too; may be repeated.")
@shared_option("--output", help="Write the rows with their scores; - prints them.")
@output_option("--signatures", help="Write the whole signatures to this file.")
@click.option("--resume", is_flag=True, help="Continue a run that was cut off.")
@click.option(
    "--format", type=click.Choice(FORMATS), metavar="NAME", help="Format of FILE, such as csv; default: its ending."
)
@click.option("--batch-rows", default=CHUNK_ROWS, type=click.IntRange(1), metavar="N", help="Rows in memory at a time.")
def score(**options: Any) -> None:
    """Score the rows of FILE (.csv, .tsv, .jsonl, .json, .parquet or -).

    Example: semantic-metrics score captions.csv --metric consensus --predictions said --references gold --output s.csv
    """
    given = ScoreOptions(**options)
    choices = given.choices()
    try:
        with open_reader(given.file, given.format) as reader:
            format = given.output_format(reader)
            chunks = reader.chunks(min(given.batch_rows, MAX_CHUNK_ROWS))
            columns, references = given.columns(reader), given.text_columns.reference_columns(reader.columns)
            given.check_names(reader, [*columns.values(), *references.names])
            scorer = ChunkScorer(columns, references, given.show, format is not None)
            scorer.missing = given.text_columns.missing
            chunks = scorer.answered(chunks)
            first = next(chunks, None)
            if first is None:
                raise InputError(f"{reader.name}: expected an answer in a row at least, got none")
            scorer.texts(first, choices)  # before a model is loaded
            scorer.metrics += [LoadedMetric(choice, run=given.run) for choice in choices]
            _score(given, reader, scorer, chain([first], chunks), format)
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    if given.signatures is not None:
        with atomic_write(given.signatures) as file:
            file.writelines(f"{metric.signature}\n".encode() for metric in scorer.metrics)
    for line in [] if given.json else _report(given, scorer):
        click.echo(line, err=given.output == STREAM)
    summary = {
        "rows": scorer.metrics[0].rows,
        "without_answer": scorer.left,
        "metrics": {metric.name: metric.to_json() for metric in scorer.metrics},
    }
    finish((line for metric in scorer.metrics for line in metric.failures()), summary if given.json else None)


class Interrupted(click.ClickException):
    """Ctrl-C: one line on stderr, which says what is kept."""

    exit_code = 130  # 128 + SIGINT


@dataclass(frozen=True)
class ScoreOptions:
    """Options of the command; names and meaning as in `semantic-metrics score --help`."""

    file: Path
    metrics: MetricOptions
    text_columns: TextColumns
    json: bool
    details: bool
    show: tuple[str, ...]
    output: Path | None
    signatures: Path | None
    resume: bool
    format: str | None
    batch_rows: int
    run: dict[str, Any]

    def choices(self) -> list[MetricChoice]:
        """The metrics, after checking what can be checked before the file is opened."""
        choices = self.metrics.choose(self.text_columns, self.details)
        if self.json and self.output == STREAM:
            raise InputError("--json: expected a file as --output, got -, which prints the rows")
        if self.resume and self.output in (None, STREAM):
            raise InputError("--resume: expected --output with the file that is to be continued")
        if self.signatures is not None:
            check_output(self.signatures, "--signatures", filter(None, (self.file, self.output)))
        return choices

    def columns(self, reader: Reader) -> dict[str, str]:
        """Names of the columns of questions (if a metric takes them) and predictions."""
        given = {"questions": self.text_columns.questions, "predictions": self.text_columns.predictions}
        columns = {
            name: check_column(reader.columns, f"--{name}", column)
            for name, column in given.items()
            if column is not None or name == "predictions"
        }
        for column in self.show:
            check_column(reader.columns, "--show", column)
        return columns

    def output_format(self, reader: Reader) -> str | None:
        """The format of the output, None if there is none."""
        output = self.output
        if output is None:
            return None
        if output == STREAM:
            format = reader.format if reader.format in RESUMABLE else "jsonl" if reader.format == "json" else "csv"
        else:
            format = format_of(output)
            check_output(output)
        if format not in TABLE_FORMATS:
            raise InputError(f"{output}: expected {TABLE_NAMES}, which hold scores, got .{format}")
        if self.resume and reader.total is None:
            raise InputError(f"--resume: expected a FILE that can be read again from its start, got {reader.name}")
        if self.resume and format not in RESUMABLE:
            resumable = ", ".join(f".{name}" for name in RESUMABLE)
            raise InputError(f"--resume: expected an output of {resumable}, a .{format} cannot be continued")
        return format

    def check_names(self, reader: Reader, read: list[str]) -> None:
        """Refuse a column that is called like one of the metrics' own, where both are written or printed."""
        kept = [*read, *self.show] if self.output is None else reader.columns
        for name in [column for choice in self.choices() for column in choice.columns]:
            if name in kept:
                use = "printed in" if self.output is None else "written to"
                raise InputError(f"{reader.name}: expected no column named {name!r}, which the scores are {use}")


@dataclass
class ChunkScorer:
    """Scores the chunks of a file, and keeps what is to be printed of them."""

    columns: dict[str, str]  # names of the columns of questions and predictions
    references: ReferenceColumns  # columns of the references
    show: tuple[str, ...]  # names of further columns to print
    written: bool  # whether the scores are added to the rows
    metrics: list[LoadedMetric] = field(default_factory=list)  # the loaded metrics
    # printed, shown, remarks: scores and texts of the first rows, and what is said below them
    printed: Scores = field(default_factory=dict)
    shown: dict[str, list[str]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    # what becomes of rows without an answer: "zero" judges an empty text in its place, "skip" leaves them out; None
    # refuses those that have none at all
    missing: str | None = None
    left: int = 0  # number of rows without an answer
    _lists: bool | None = None
    _warned: bool = False

    def answered(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks, without rows that have no answer where these are skipped; counts them."""
        for number, chunk in enumerate(chunks):
            if number == 0 and "." in (name := self.columns["predictions"]):
                check_key(chunk.rows, "--predictions", name)
            if self.missing is None:
                yield chunk
                continue
            kept = [not is_missing(said) for said in chunk.column(self.columns["predictions"])]
            self.left += len(chunk) - sum(kept)
            if self.missing == "zero" or all(kept):
                yield chunk
            elif any(kept):
                yield chunk.keep(kept)

    def texts(self, chunk: Chunk, metrics: Iterable["MetricChoice | LoadedMetric"]) -> dict[str, list[Any]]:
        """The texts of a chunk that the metrics read."""
        texts = {name: chunk.column(column) for name, column in self.columns.items()}
        if self.missing == "zero":
            texts["predictions"] = ["" if text is None else text for text in texts["predictions"]]
        for name, values in texts.items():
            hint = "; --missing says what becomes of rows without an answer" * (name == "predictions")
            _check_texts(chunk, self.columns[name], values, hint)
        texts["references"] = self._references(chunk)
        added = [column for metric in metrics for column in metric.columns]
        for name in added if self.written and chunk.batch is None else ():
            if (taken := next((i for i, row in enumerate(chunk.rows) if name in row), None)) is not None:
                raise InputError(f"{chunk.place(taken)}: expected no {name!r}, which the score is written to")
        return texts

    def _references(self, chunk: Chunk) -> list[Any]:
        columns = [chunk.column(name) for name in self.references.names]
        if not self._warned and (unread := self.references.unread_list(columns)) is not None:
            row, *rest = unread
            self._warned = True
            click.echo(warn_of_list(chunk.place(row), *rest), err=True)
        if self.references.are_joined:
            return self.references.join(columns, chunk.place)
        if self._lists is None:
            self._lists = isinstance(columns[0][0], list)
        _check_texts(chunk, self.references.names[0], columns[0], several=True, lists=self._lists)
        return columns[0]

    def score(self, chunk: Chunk) -> Scores:
        """The scores of a chunk, by metric, and the words, by column."""
        texts = self.texts(chunk, self.metrics)
        names = {**self.columns, "references": self.references.names[0]}

        def place(column: str, index: int) -> str:
            return f"{chunk.place(index)}, column {quote(names[column])}"

        scores: Scores = {}
        for metric in self.metrics:
            scores |= metric.score(texts, place)
        room = MAX_TABLE_ROWS - len(next(iter(self.printed.values()), ()))
        if room > 0:
            for metric in self.metrics:
                for name in metric.columns:
                    first = scores[name][:room]
                    if name == metric.name:
                        self.printed.setdefault(name, []).extend(first)
                    else:
                        kept = self.remarks if name in metric.remarks else self.shown
                        kept.setdefault(name, []).extend(map(_printed_result, first))
            for name in dict.fromkeys([*self.show, *self.columns.values(), *self.references.names]):
                cells = convert_rows(chunk.column(name)[:room], _printed, chunk.place)
                self.shown.setdefault(name, []).extend(cells)
        return scores


def _check_texts(
    chunk: Chunk, column: str, values: list[Any], hint: str = "", several: bool = False, lists: bool = False
) -> None:
    """Refuse what is no text; `hint` follows the message on a value that is not there."""
    if (invalid := first_invalid(values, lists)) is not None:
        said = describe_invalid(values[invalid], column, several)
        raise InputError(f"{chunk.place(invalid)}: {said}{hint if values[invalid] is None else ''}")


def _score(
    options: ScoreOptions, reader: Reader, scorer: ChunkScorer, chunks: Iterable[Chunk], format: str | None
) -> None:
    if format is None:
        for _ in _scored(reader, scorer, chunks):
            pass  # the scorer keeps what is printed
    elif options.output == STREAM:
        file = sys.stdout.buffer
        columns = {name: type for metric in scorer.metrics for name, type in metric.columns.items()}
        writer = open_writer(format, file, reader, columns)
        for chunk, scores in _scored(reader, scorer, chunks):
            writer.write(chunk, scores)
            file.flush()
    else:
        _write(_open_output(options, reader, scorer, format), reader, scorer, chunks)


def _open_output(options: ScoreOptions, reader: Reader, scorer: ChunkScorer, format: str) -> Output:
    settings: dict[str, Any] = {f"--{name}": column for name, column in scorer.columns.items()}
    settings |= {"--references": " ".join(scorer.references.names), "--separator": options.text_columns.separator}
    settings |= {"--json-lists": options.text_columns.json_lists or None, "--metric": options.metrics.metrics}
    settings |= {"--missing": options.text_columns.missing, "--details": options.details or None}
    settings |= {"--weights": options.metrics.weights or None, "--batch-rows": options.batch_rows}
    settings |= {f"--threshold of {metric.name}": metric.given for metric in scorer.metrics}
    settings["the columns"] = [name for metric in scorer.metrics for name in metric.columns]
    settings["the format"] = [reader.format, format]
    settings["the release"] = __version__
    assert options.output is not None, "there is a format where there is an output"
    return Output(options.output, format, reader, scorer.metrics, settings, options.resume)


def _write(output: Output, reader: Reader, scorer: ChunkScorer, chunks: Iterable[Chunk]) -> None:
    try:
        for chunk, scores in _scored(reader, scorer, output.remaining(chunks)):
            output.write(chunk, scores)
        output.finish()
    except OtherRun:
        raise  # the other run's rows stay as they are
    except (InputError, FileError) as error:
        raise InputError(f"{error}{output.abandon()}") from None
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted{output.abandon()}") from None
    except BaseException:
        output.abandon()
        raise


def _scored(reader: Reader, scorer: ChunkScorer, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Scores]]:
    """Scored chunks, with a progress bar on a terminal; a model, which takes long for a chunk, has its own below."""
    rows = 0
    inner = any(metric.runs_model for metric in scorer.metrics)
    with progress_bar(reader.total, reader.unit) as bar, progress(inner):
        for chunk in chunks:
            yield chunk, scorer.score(chunk)
            rows += len(chunk)
            bar.set_postfix_str(f"{rows:,} rows", refresh=False)
            bar.update(reader.done - bar.n)


def _printed_result(value: str | float) -> str:
    return value if isinstance(value, str) else YES_NO[value] if isinstance(value, bool) else f"{value:.3f}"


def _printed(value: Cell) -> str:
    return " | ".join(map(cell_text, value)) if isinstance(value, list) else cell_text(value)


def _report(options: ScoreOptions, scorer: ChunkScorer) -> Iterator[str]:
    rows = scorer.metrics[0].rows
    if options.output is None or options.show:
        ranges = {metric.name: describe(metric.name).score_range for metric in scorer.metrics}
        yield from [*table_lines(scorer.printed, scorer.shown, scorer.remarks, rows, ranges), ""]
    if len(scorer.metrics) == 1:
        yield f"{rows} rows, {scorer.metrics[0].summary()}"
    else:
        yield from [f"{rows} rows", *(f"{metric.name}: {metric.summary()}" for metric in scorer.metrics)]
    if options.text_columns.missing is not None:
        yield say_missing(scorer.left, options.text_columns.missing)
    yield from (shorten(metric.signature) for metric in scorer.metrics)
