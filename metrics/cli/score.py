"""`semantic-metrics score`: the rows of a file with the scores of one or more metrics, some thousand rows at a time."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import FILE, shared_option
from semantic_metrics.cli.resume import RESUMABLE, OtherRun, Output
from semantic_metrics.cli.scoring import LoadedMetric, check_questions, choose_checkpoints
from semantic_metrics.cli.terminal import MAX_TABLE_ROWS, table_lines
from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.files.errors import FileError
from semantic_metrics.files.formats import FORMATS, STREAM, format_of
from semantic_metrics.files.output import check_output
from semantic_metrics.files.readers import REFERENCE, Reader, open_pair, open_reader
from semantic_metrics.files.rows import Cell, Chunk, check_column, convert_rows, describe_invalid, first_invalid
from semantic_metrics.files.writers import TABLE_FORMATS, Scores, cell_text, open_writer

MAX_CHUNK_ROWS = 2**31 - 1  # of what pyarrow and Python count; nobody has more
CHUNK_ROWS = 2048  # rows that are read, scored and written at a time
INTERRUPTED_CODE = 130  # exit code of a program that Ctrl-C ended, 128 + SIGINT


@click.command()
@click.argument("file", type=FILE)
@shared_option("--metric", required=True)
@shared_option("--predictions")
@shared_option("--references")
@click.option("--references-file", type=FILE, metavar="TXT", help="References of a .txt FILE, line by line.")
@shared_option("--questions")
@shared_option("--config")
@click.option("--show", multiple=True, metavar="COLUMN", help="Further column to print; may be repeated.")
@shared_option("--output", help="Write the rows with their scores; - prints them.")
@click.option("--resume", is_flag=True, help="Continue a run that was cut off.")
@click.option("--format", type=click.Choice(FORMATS), metavar="NAME", help=f"Format of FILE: {', '.join(FORMATS)}.")
@click.option("--batch-rows", default=CHUNK_ROWS, type=click.IntRange(1), metavar="N", help="Rows in memory at a time.")
def score(**options: object) -> None:
    """Score the rows of FILE (.txt, .csv, .tsv, .jsonl, .parquet or -).

    Example: semantic-metrics score answers.csv --metric matcha --predictions answer --references gold --output new.csv
    """
    given = ScoreOptions(**options)
    checkpoints = given.checkpoints()
    try:
        with given.open() as reader:
            format = given.output_format(reader)
            chunks = reader.chunks(min(given.batch_rows, MAX_CHUNK_ROWS))
            scorer = ChunkScorer(given.columns(reader), given.show, format is not None)
            first = next(chunks)
            scorer.texts(first, given.metrics)  # before a model is loaded
            scorer.metrics += [LoadedMetric(name, checkpoint) for name, checkpoint in checkpoints.items()]
            _score(given, reader, scorer, chain([first], chunks), format)
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    for line in _report(given, scorer):
        click.echo(line, err=given.output == STREAM)


class Interrupted(click.ClickException):
    """Ctrl-C: one line on stderr, which says what is kept."""

    exit_code = INTERRUPTED_CODE


@dataclass(frozen=True)
class ScoreOptions:
    """Options of the command; names and meaning as in `semantic-metrics score --help`."""

    file: Path
    metrics: tuple[str, ...]
    predictions: str | None
    references: str | None
    references_file: Path | None
    questions: str | None
    configs: tuple[str, ...]
    show: tuple[str, ...]
    output: Path | None
    resume: bool
    format: str | None
    batch_rows: int

    def checkpoints(self) -> dict[str, str | None]:
        """The checkpoint of each metric, after checking what can be checked before the file is opened.

        Raises:
            InputError: an option is invalid, or options do not go together.
        """
        checkpoints = choose_checkpoints(self.metrics, self.configs)
        check_questions("--questions", "a column", self.questions is not None, self.metrics)
        if self.references_file is not None and self.references is not None:
            raise InputError("--references-file: expected it or --references, got both")
        if self.resume and self.output in (None, STREAM):
            raise InputError("--resume: expected --output with the file that is to be continued")
        return checkpoints

    def open(self) -> AbstractContextManager[Reader]:
        """Open the file, with that of the references if there is one."""
        if self.references_file is None:
            return open_reader(self.file, self.format)
        return open_pair(self.file, self.references_file)

    def columns(self, reader: Reader) -> dict[str, str]:
        """Names of the columns of questions (if a metric takes them), predictions and references.

        Raises:
            FileError: a column is missing, or was not named.
        """
        predictions, references = self.predictions, self.references
        if self.references_file is not None:
            predictions, references = predictions or reader.columns[0], REFERENCE
        columns = {"questions": self.questions} if self.questions is not None else {}
        columns |= {"predictions": predictions, "references": references}
        for name, column in columns.items():
            check_column(reader.columns, f"--{name}", column)
        for column in self.show:
            check_column(reader.columns, "--show", column)
        return columns

    def output_format(self, reader: Reader) -> str | None:
        """The format of the output, None if there is none.

        Raises:
            InputError, FileError: the rows cannot be written there, or not in that format.
        """
        output = self.output
        if output is None:
            return None
        if output == STREAM:
            format = reader.format if reader.format in RESUMABLE else "csv"
        else:
            format = format_of(output)
            check_output(output)
        if format not in TABLE_FORMATS:
            raise InputError(f"{output}: expected .csv, .tsv, .jsonl or .parquet, which hold scores, got .{format}")
        if format == "parquet" and reader.format != "parquet":
            raise InputError(f"{output}: expected .csv, .tsv or .jsonl; .parquet is for a FILE of parquet")
        if self.resume and reader.total is None:
            raise InputError(f"--resume: expected a FILE that can be read again from its start, got {reader.name}")
        if self.resume and format not in RESUMABLE:
            resumable = ", ".join(f".{name}" for name in RESUMABLE)
            raise InputError(f"--resume: expected an output of {resumable}, a .{format} cannot be continued")
        for name in self.metrics:
            if name in reader.columns:
                raise InputError(f"{reader.name}: expected no column named {name!r}, which the scores are written to")
        return format


@dataclass
class ChunkScorer:
    """Scores the chunks of a file, and keeps what is to be printed of them.

    Attributes:
        columns: names of the columns that the metrics read.
        show: names of further columns to print.
        written: whether the scores are added to the rows.
        metrics: the loaded metrics.
        printed, shown: scores and texts of the first rows.
    """

    columns: dict[str, str]
    show: tuple[str, ...]
    written: bool
    metrics: list[LoadedMetric] = field(default_factory=list)
    printed: Scores = field(default_factory=dict)
    shown: dict[str, list[str]] = field(default_factory=dict)
    _lists: bool | None = None

    def texts(self, chunk: Chunk, metrics: Iterable[str]) -> dict[str, list]:
        """The texts of a chunk that the metrics read.

        Raises:
            InputError: a value is not a text, or a row of JSONL has a value of a metric's name; names the row.
        """
        texts = {name: chunk.column(column) for name, column in self.columns.items()}
        if self._lists is None:
            self._lists = isinstance(texts["references"][0], list)
        for name, values in texts.items():
            several = name == "references"
            if (invalid := first_invalid(values, several and self._lists)) is not None:
                problem = describe_invalid(values[invalid], self.columns[name], several)
                raise InputError(f"{chunk.place(invalid)}: {problem}")
        for name in metrics if self.written and chunk.lines else ():
            if (taken := next((i for i, row in enumerate(chunk.rows) if name in row), None)) is not None:
                raise InputError(f"{chunk.place(taken)}: expected no {name!r}, which the score is written to")
        return texts

    def score(self, chunk: Chunk) -> Scores:
        """The scores of a chunk, by metric.

        Raises:
            InputError: a text is invalid; names the row.
        """
        texts = self.texts(chunk, [metric.name for metric in self.metrics])
        scores = {metric.name: self._score(metric, texts, chunk) for metric in self.metrics}
        room = MAX_TABLE_ROWS - len(next(iter(self.printed.values()), ()))
        if room > 0:
            for name, values in scores.items():
                self.printed.setdefault(name, []).extend(values[:room])
            for name in dict.fromkeys([*self.show, *self.columns.values()]):
                cells = convert_rows(chunk.column(name)[:room], _printed, chunk.place)
                self.shown.setdefault(name, []).extend(cells)
        return scores

    def _score(self, metric: LoadedMetric, texts: dict[str, list], chunk: Chunk) -> list[float]:
        try:
            return metric.score(texts)
        except InputError as error:
            cause = error.__cause__
            if not isinstance(cause, InvalidInput) or cause.index is None or cause.argument not in self.columns:
                raise
            place = f"{chunk.place(cause.index)}, column {self.columns[cause.argument]!r}"
            raise InputError(f"{place}: {metric.name}: {cause.reason}") from None


def _score(
    options: ScoreOptions, reader: Reader, scorer: ChunkScorer, chunks: Iterable[Chunk], format: str | None
) -> None:
    if format is None:
        for chunk in _progress(reader, chunks):
            scorer.score(chunk)
    elif options.output == STREAM:
        file = sys.stdout.buffer
        writer = open_writer(format, file, reader, list(options.metrics))
        for chunk in _progress(reader, chunks):
            writer.write(chunk, scorer.score(chunk))
            file.flush()
    else:
        settings = {f"--{name}": column for name, column in scorer.columns.items()}
        settings |= {"--metric": options.metrics, "--batch-rows": options.batch_rows}
        settings["the format"] = [reader.format, format]
        output = Output(options.output, format, reader, scorer.metrics, settings, options.resume)
        _write(output, reader, scorer, chunks)


def _write(output: Output, reader: Reader, scorer: ChunkScorer, chunks: Iterable[Chunk]) -> None:
    try:
        for chunk in _progress(reader, output.remaining(chunks)):
            output.write(chunk, scorer.score(chunk))
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


def _progress(reader: Reader, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks, with a progress bar on a terminal."""
    from tqdm import tqdm

    with tqdm(total=reader.total, unit=reader.unit, unit_scale=True, disable=None, leave=False) as bar:
        for chunk in chunks:
            yield chunk
            bar.update(reader.done - bar.n)


def _printed(value: Cell) -> str:
    return " | ".join(map(cell_text, value)) if isinstance(value, list) else cell_text(value)


def _report(options: ScoreOptions, scorer: ChunkScorer) -> Iterator[str]:
    rows = scorer.metrics[0].rows
    if options.output is None:
        yield from [*table_lines(scorer.printed, scorer.shown, rows), ""]
    if len(scorer.metrics) == 1:
        yield f"{rows} rows, {scorer.metrics[0].summary()}"
    else:
        yield from [f"{rows} rows", *(f"{metric.name}: {metric.summary()}" for metric in scorer.metrics)]
    yield from (metric.signature for metric in scorer.metrics)
