r"""The benchmark of set-theoretic criteria: tables 1 to 3 and 12 to 15, figures 4, 6 and 10 of Bansal et al.

    python -m benchmarks set_criteria --samples FILE.parquet
        all-MiniLM-L6-v2, also without normalisation, the shipped MATCHA table, and two floors of random vectors
    python -m benchmarks set_criteria --samples FILE.parquet --encoder all-MiniLM-L6-v2 --encoder matcha \
        --encoder all-mpnet-base-v2=FOLDER/ --encoder GloVe=vectors:glove.6B.300d.txt --cache vectors/
        these encoders and the floors; a later run reads the vectors from the cache

FILE has the columns operator (overlap, difference, union), a, b and target; `set_data build` makes one. --precision and
--backend are of contextual MATCHA checkpoints; other encoders run in float32, on torch. Writes to --output: table1.csv
to table15.csv, figures.csv, means.csv (also against the floor), discrimination.csv (how far encoders lie above the
floors), leaderboard.csv, ranges.json, report.txt (what is printed), figure4.png, figure6.png and figure10.png.
"""

from pathlib import Path

import click

from benchmarks.common import options
from benchmarks.common.own_metrics import Run
from benchmarks.papers.set_criteria.encoders import candidates
from benchmarks.papers.set_criteria.measure import measure_all, read_samples
from benchmarks.papers.set_criteria.report import write_results
from semantic_metrics.core.run_options import RunOptions


@click.command()
@click.option("--samples", "file", type=options.FILE, required=True, help="File of samples: operator, a, b, target.")
@click.option("--encoder", "given", multiple=True, help="[NAME=]SPEC, repeatable; all-paper: the 16; see encoders.py.")
@options.output("results/set_criteria")
@click.option("--limit", type=click.IntRange(1), help="Largest number of samples of each operator, drawn by --seed.")
@click.option("--cache", type=options.NEW_FOLDER, help="Folder that keeps vectors, by text and encoder.")
@options.encoder_run
@options.drawing
def main(
    file: Path,
    given: tuple[str, ...],
    output: Path,
    limit: int | None,
    cache: Path | None,
    run: Run,
    bootstrap: options.Bootstrap,
) -> None:
    """Tables and figures of the set-theoretic criteria for a list of encoders, published numbers beside."""
    try:
        batch_size = RunOptions(**run).batch_size
        chosen = candidates(given, bootstrap.seed, run)
        samples = read_samples(file, limit, bootstrap.seed)
        output.mkdir(parents=True, exist_ok=True)  # before hours of encoding, not after
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from error
    measured, absent = measure_all(chosen, samples, cache, batch_size, options.progress)
    click.echo(write_results(measured, absent, samples, bootstrap, run, output))
    options.progress(f"written to {output}")
