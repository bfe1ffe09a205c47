"""Options that the benchmark commands share, each declared here once.

`@options.seed` adds an option as it is; `@options.data()` and the like take what differs between commands.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.common.baselines import default_embsim
from semantic_metrics.cli.options import model_options
from semantic_metrics.core.batching import BATCH_SEQUENCES
from semantic_metrics.stats.bootstrap import RESAMPLES, Figures, bootstrap


class NewFile(click.Path):
    """A file to write: its folder is made at once, so that what takes minutes does not fail when it writes."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """See `click.Path`."""
        path = super().convert(value, param, ctx)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.fail(f"expected a file in a folder that can be made, got {path}: {error.strerror}", param, ctx)
        return path


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FILE = NewFile()
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)

Option = Callable[[Callable], Callable]


@dataclass(frozen=True)
class Bootstrap:
    """How bootstrap intervals are drawn.

    Attributes:
        seed: seed of the generator.
        resamples: number of resamples.
    """

    seed: int = 0
    resamples: int = RESAMPLES

    def intervals(self, statistic: Callable[..., Figures], sizes: Sequence[int]) -> dict[str, tuple[float, float]]:
        """95% intervals (low, high) of figures; see `stats.bootstrap.bootstrap` for the arguments."""
        return bootstrap(statistic, sizes, self.seed, self.resamples)


def data(text: str = "Folder that holds the data sets.", required: bool = False) -> Option:
    """--data, the data folder, which SEMANTIC_METRICS_DATA can name too."""
    return click.option("--data", type=FOLDER, envvar="SEMANTIC_METRICS_DATA", required=required, help=text)


def output(default: str) -> Option:
    """--output, the folder to write to."""
    return click.option(
        "--output", type=NEW_FOLDER, default=default, show_default=True, help="Folder to write the results to."
    )


def sets(names: Iterable[str]) -> Option:
    """--sets, repeatable: the sets to measure."""
    choice = click.Choice(list(names))
    return click.option("--sets", multiple=True, type=choice, help="Set to measure, repeatable; default: all.")


def checkpoints(metric: str) -> Option:
    """--checkpoint, repeatable: checkpoints of one metric."""
    text = f"[NAME=]CHECKPOINT of {metric}, repeatable; default: the shipped one."
    return click.option("--checkpoint", multiple=True, help=text)


def checkpoint(metric: str) -> Option:
    """--checkpoint, a single one of a metric."""
    text = f"Checkpoint of {metric}: its name, a folder or a Hub id; default: the shipped one."
    return click.option("--checkpoint", help=text)


def model(name: str, published: str) -> Option:
    """--NAME, the model of a baseline."""
    return click.option(f"--{name}", help=f"Model of this row, a folder or Hub id; the paper's is {published}.")


def embsim(name: str = "embsim", row: str = "EmbSim") -> Option:
    """--embsim, the encoder of the row of cosines; all-MiniLM-L6-v2 where nothing else is given."""
    text = f"Model of the {row} row, a folder or Hub id."
    return click.option(f"--{name}", default=default_embsim, show_default="all-MiniLM-L6-v2", help=text)


encoders = click.option(
    "--encoder", multiple=True, help="[NAME=]FOLDER_OR_ID of an encoder, repeatable; a plain one is mean-pooled."
)
seed = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of everything that is drawn at random."
)
resamples = click.option(
    "--resamples", default=RESAMPLES, show_default=True, type=click.IntRange(1), help="Number of bootstrap resamples."
)
# for commands that run no model of this package
device = click.option("--device", help="Device that models run on: cpu, cuda or mps.")
batch_size = click.option(
    "--batch-size",
    default=BATCH_SEQUENCES,
    show_default=True,
    type=click.IntRange(1),
    help="Most texts that a model reads at a time.",
)
# how the package's own models run; the command gets `run`, arguments of `compute` and of `RunOptions`
run = model_options()
# the same of encoders alone, which take no workers
encoder_run = model_options("device", "precision", "backend", "batch_size")
bertscore_layer = click.option(
    "--bertscore-layer", type=int, help="Layer of BERTScore's model; default: bert-score's own choice, or the last."
)


def check_source(data: Path | None, from_hub: bool) -> None:
    """Make sure that the sets come from a folder or from the Hub.

    Raises:
        click.UsageError: neither is given.
    """
    if data is None and not from_hub:
        raise click.UsageError("--data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --from-hub")


def named_source(given: str) -> tuple[str, str]:
    """`NAME=SOURCE` -> (name, source); a source alone is named by the last part of its path."""
    name, sign, source = given.partition("=")
    return (name, source) if sign else (Path(given).name, given)


def check_distinct(names: list[str], argument: str = "rows") -> None:
    """Make sure that no two rows have the same name.

    Raises:
        ValueError: some do; lists them.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{argument}: expected names that differ (NAME=SOURCE gives one), got {', '.join(twice)} twice"
        )


def progress(line: str) -> None:
    """Print a line of progress to standard error; results alone go to standard output."""
    click.echo(line, err=True)
