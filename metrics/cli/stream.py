"""One run of `semantic-metrics score`: read, score and write, some thousand rows at a time."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.resume import RESUMABLE, OtherRun, Output
from semantic_metrics.cli.scoring import RefusedText, Running, check_run
from semantic_metrics.cli.terminal import SHOWN, lines
from semantic_metrics.files.errors import FileError
from semantic_metrics.files.formats import STREAM, Cell, format_of
from semantic_metrics.files.readers import REFERENCE, Batch, Chunk, Source, open_pair, open_source
from semantic_metrics.files.table import check_column, check_output, describe_invalid, first_invalid
from semantic_metrics.files.writers import WRITTEN, Scores, by_row, cell_text, open_sink

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended, 128 + SIGINT


class Interrupted(click.ClickException):
    """Ctrl-C: one line on stderr, which says what is kept."""

    exit_code = INTERRUPTED


@dataclass(frozen=True)
class Job:
    """What the command line asks for; names and meaning as in `semantic-metrics score --help`."""

    file: Path
    metric: tuple[str, ...]
    predictions: str | None
    references: str | None
    references_file: Path | None
    questions: str | None
    config: tuple[str, ...]
    show: tuple[str, ...]
    output: Path | None
    resume: bool
    format: str | None
    batch_rows: int

    def columns(self, source: Source) -> dict[str, str]:
        """Names of the columns of questions (for metrics that take them), predictions and references.

        Raises:
            InputError: there is no such column, or one was not named.
        """
        predictions, references = self.predictions, self.references
        if self.references_file is not None:
            predictions, references = predictions or source.columns[0], REFERENCE
        asked = {"questions": self.questions} if self.questions is not None else {}
        found = asked | {"predictions": predictions, "references": references}
        for name, column in found.items():
            check_column(source.columns, f"--{name}", column)
        for column in self.show:
            check_column(source.columns, "--show", column)
        return found

    def written(self, source: Source) -> str | None:
        """Format of the output; None where there is none."""
        if self.output is None:
            return None
        if self.output == STREAM:
            return source.format if source.format in RESUMABLE else "csv"
        return format_of(self.output)


def check(job: Job) -> dict[str, str | None]:
    """What can be said of the options before the file is opened.

    Returns:
        The checkpoint of each metric.

    Raises:
        InputError: options that do not go together.
    """
    configs = check_run(job.metric, job.config, job.questions)
    if job.references_file is not None and job.references is not None:
        raise InputError("--references-file: expected it or --references, got both")
    if job.resume and job.output in (None, STREAM):
        raise InputError("--resume: expected --output with the file that is to be continued")
    return configs


def check_written(job: Job, source: Source) -> str | None:
    """The format of the output, None where there is none.

    Raises:
        InputError: the rows cannot be written there, or not in that format.
    """
    written = job.written(source)
    if written is None:
        return None
    if job.output != STREAM:
        check_output(job.output)
    if written not in WRITTEN:
        raise InputError(f"{job.output}: expected .csv, .tsv, .jsonl or .parquet, which hold scores, got .{written}")
    if written == "parquet" and source.format != "parquet":
        raise InputError(f"{job.output}: expected .csv, .tsv or .jsonl; .parquet is for a FILE of parquet")
    if job.resume and source.total is None:
        raise InputError(f"--resume: expected a FILE that can be read again from its start, got {source.name}")
    if job.resume and written not in RESUMABLE:
        raise InputError(f"--resume: expected an output of .{', .'.join(RESUMABLE)}, a .{written} cannot be continued")
    for name in job.metric:
        if name in source.columns:
            raise InputError(f"{source.name}: expected no column named {name!r}, which the scores are written to")
    return written


@dataclass
class ChunkScorer:
    """Scores chunks of a file; what is to be printed of them is kept.

    Attributes:
        columns: names of the columns that the metrics read.
        show: names of further columns to print.
        written: whether the scores are added to the rows.
        metrics: loaded.
        printed, shown: the first rows' scores and texts.
    """

    columns: dict[str, str]
    show: tuple[str, ...]
    written: bool
    metrics: list[Running] = field(default_factory=list)
    printed: Scores = field(default_factory=dict)
    shown: dict[str, list[str]] = field(default_factory=dict)
    _lists: bool | None = None

    def texts(self, chunk: Chunk | Batch, metrics: Iterable[str]) -> dict[str, list]:
        """The texts of a chunk that the metrics read.

        Raises:
            InputError: a value is no text, or a row of JSONL has a value where a score would stand; names the row.
        """
        found = {name: chunk.column(column) for name, column in self.columns.items()}
        if self._lists is None:
            self._lists = isinstance(found["references"][0], list)
        for name, values in found.items():
            several = name == "references"
            if (wrong := first_invalid(values, several, several and self._lists)) is not None:
                problem = describe_invalid(values, wrong, self.columns[name], several)
                raise InputError(f"{chunk.place(wrong)}: {problem}")
        for name in metrics if self.written and chunk.lines else ():
            if (taken := next((i for i, row in enumerate(chunk.rows) if name in row), None)) is not None:
                raise InputError(f"{chunk.place(taken)}: expected no {name!r}, which the score is written to")
        return found

    def score(self, chunk: Chunk | Batch) -> Scores:
        """The scores of a chunk, by metric.

        Raises:
            InputError: as `texts`, and what a metric refuses.
        """
        texts = self.texts(chunk, [metric.name for metric in self.metrics])
        try:
            scores = {metric.name: metric.score(texts) for metric in self.metrics}
        except RefusedText as error:
            place = f"{chunk.place(error.index)}, column {self.columns[error.column]!r}"
            raise InputError(f"{place}: {error.message}") from None
        room = SHOWN - len(next(iter(self.printed.values()), ()))
        if room > 0:
            for name, values in scores.items():
                self.printed.setdefault(name, []).extend(values[:room])
            for name in dict.fromkeys([*self.show, *self.columns.values()]):
                self.shown.setdefault(name, []).extend(by_row(chunk.column(name)[:room], _printed, chunk.place))
        return scores


def _printed(value: Cell) -> str:
    return " | ".join(map(cell_text, value)) if isinstance(value, list) else cell_text(value)


def run(job: Job) -> None:
    """Score the rows of a file, and print or write them.

    Raises:
        InputError: what was given cannot be used; says why.
        Interrupted: by Ctrl-C.
    """
    configs = check(job)
    try:
        with _open(job) as source:
            written = check_written(job, source)
            chunks = source.chunks(job.batch_rows)
            scorer = ChunkScorer(job.columns(source), job.show, written is not None)
            first = next(chunks)
            scorer.texts(first, job.metric)  # before a model is loaded
            scorer.metrics += [Running(name, config) for name, config in configs.items()]
            _score(job, source, scorer, chain([first], chunks), written)
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    for line in _report(job, scorer):
        click.echo(line, err=job.output == STREAM)


def _open(job: Job) -> AbstractContextManager[Source]:
    if job.references_file is None:
        return open_source(job.file, job.format)
    return open_pair(job.file, job.references_file)


def _score(job: Job, source: Source, scorer: ChunkScorer, chunks: Iterable[Chunk | Batch], written: str | None) -> None:
    if written is None:
        for chunk in _progress(source, chunks):
            scorer.score(chunk)
    elif job.output == STREAM:
        file = sys.stdout.buffer
        sink = open_sink(written, file, source, list(job.metric))
        for chunk in _progress(source, chunks):
            sink.write(chunk, scorer.score(chunk))
            file.flush()
    else:
        options = {f"--{name}": column for name, column in scorer.columns.items()}
        options |= {"--metric": job.metric, "--batch-rows": job.batch_rows, "the format": [source.format, written]}
        _write(Output(job.output, written, source, scorer.metrics, options, job.resume), source, scorer, chunks)


def _write(output: Output, source: Source, scorer: ChunkScorer, chunks: Iterable[Chunk | Batch]) -> None:
    try:
        for chunk in _progress(source, output.remaining(chunks)):
            output.write(chunk, scorer.score(chunk))
        output.finish()
    except OtherRun:
        raise  # its rows are not for this run to give up
    except (InputError, FileError) as error:
        raise InputError(f"{error}{output.abandon()}") from None
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted{output.abandon()}") from None
    except BaseException:
        output.abandon()
        raise


def _progress(source: Source, chunks: Iterable[Chunk | Batch]) -> Iterator[Chunk | Batch]:
    """The chunks, with a bar on a terminal."""
    from tqdm import tqdm

    with tqdm(total=source.total, unit=source.unit, unit_scale=True, disable=None, leave=False) as bar:
        for chunk in chunks:
            yield chunk
            bar.update(source.done - bar.n)


def _report(job: Job, scorer: ChunkScorer) -> Iterator[str]:
    rows = scorer.metrics[0].rows
    if job.output is None:
        yield from lines(scorer.printed, scorer.shown, rows)
        yield ""
    if len(scorer.metrics) == 1:
        yield f"{rows} rows, {scorer.metrics[0].summary()}"
    else:
        yield f"{rows} rows"
        yield from (f"{metric.name}: {metric.summary()}" for metric in scorer.metrics)
    yield from (metric.signature for metric in scorer.metrics)
