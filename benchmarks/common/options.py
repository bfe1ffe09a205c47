"""Options that the benchmark commands share, each declared here once.

`@options.seed` adds an option as it is; `@options.data()` and the like take what differs between commands.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

import click
import numpy as np

from benchmarks.common.baselines import default_embsim
from semantic_metrics.cli.options import model_options
from semantic_metrics.stats.bootstrap import RESAMPLES, Figures, bootstrap

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)

Option = Callable[[Callable], Callable]
Cell = tuple[float, float | None, float | None]  # a figure and the ends of its interval


@dataclass(frozen=True)
class Bootstrap:
    """How bootstrap intervals are drawn."""

    seed: int = 0
    resamples: int = RESAMPLES

    def intervals(self, statistic: Callable[..., Figures], sizes: Sequence[int]) -> dict[str, tuple[float, float]]:
        """95% intervals (low, high) of figures; see `stats.bootstrap.bootstrap` for the arguments."""
        return bootstrap(statistic, sizes, self.seed, self.resamples)

    def measure(self, statistic: Callable[..., Figures], sizes: Sequence[int], drawn: bool = True) -> dict[str, Cell]:
        """Figures of all rows, with their intervals; with None for both ends if `drawn` is False."""
        ends = self.intervals(statistic, sizes) if drawn else {}
        values = statistic(*(np.arange(size)[None] for size in sizes))
        return {name: (float(value[0]), *ends.get(name, (None, None))) for name, value in values.items()}


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


seed = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of everything that is drawn at random."
)
resamples = click.option(
    "--resamples", default=RESAMPLES, show_default=True, type=click.IntRange(1), help="Number of bootstrap resamples."
)
# how the package's own models run; the command gets `run`, arguments of `compute` and of `RunOptions`
run = model_options()
# the same of encoders alone, which take no workers, and of models of other packages
encoder_run = model_options("device", "precision", "backend", "batch_size")
other_run = model_options("device", "batch_size")
bertscore_layer = click.option(
    "--bertscore-layer", type=int, help="Layer of BERTScore's model; default: bert-score's own choice, or the last."
)


def drawing(command: Callable) -> Callable:
    """--seed and --resamples, which the command gets as one `bootstrap`."""

    @wraps(command)
    def run_with(seed: int, resamples: int, **given: object) -> None:
        command(bootstrap=Bootstrap(seed, resamples), **given)

    return seed(resamples(run_with))


@contextmanager
def invalid_input() -> Iterator[None]:
    """Tell a user of a ValueError about what was given in a line, before anything is measured."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def named_source(given: str) -> tuple[str, str]:
    """`NAME=SOURCE` -> (name, source); a source alone is named by the last part of its path."""
    name, sign, source = given.partition("=")
    return (name, source) if sign else (Path(given).name, given)


def check_distinct(names: list[str], argument: str = "rows") -> None:
    """Raise a ValueError that lists the names of rows that occur twice."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"{argument}: expected names that differ (NAME=SOURCE gives one), got {', '.join(twice)} twice"
        )


def progress(line: str) -> None:
    """Print a line of progress to standard error; results alone go to standard output."""
    click.echo(line, err=True)
