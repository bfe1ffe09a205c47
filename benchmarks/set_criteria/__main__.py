r"""The benchmark of set-theoretic criteria: tables 1 to 3 and 12 to 15, figures 4, 6 and 10 of Bansal et al.

    python -m benchmarks.set_criteria --samples FILE.parquet
        all-MiniLM-L6-v2, the shipped MATCHA table, and two floors of random vectors
    python -m benchmarks.set_criteria --samples FILE.parquet --encoder all-MiniLM-L6-v2 --encoder matcha \
        --encoder all-mpnet-base-v2=FOLDER/ --encoder GloVe=vectors:glove.6B.300d.txt --cache vectors/
        these encoders and the floors; vectors are kept, so that a later run encodes nothing again
    python -m benchmarks.set_criteria --samples FILE.parquet --encoder mine=endpoint:MODEL@http://127.0.0.1:8000/v1
        whatever speaks OpenAI's embeddings API; its key is taken from SEMANTIC_METRICS_API_KEY
    python -m benchmarks.set_criteria --samples FILE.parquet --encoder ORG/NEW --ranges results/set_criteria/ranges.json
        one more encoder, with the margins of another run

FILE has the columns operator (overlap, difference, union), a, b and target; benchmarks.set_data makes one. Writes to
--output: table1.csv to table15.csv, figures.csv, means.csv, checks.csv, leaderboard.csv, ranges.json, report.txt (what
is printed), figure4.png, figure6.png, figure10.png and leaderboard.html, which needs no network.
"""

import json
from pathlib import Path

import click

from benchmarks.set_criteria.encoders import contenders
from benchmarks.set_criteria.measure import measure_all, read_samples
from benchmarks.set_criteria.report import Options, write_results
from semantic_metrics.set_criteria.criteria import Ranges, Settings, check_ranges
from semantic_metrics.stats.bootstrap import RESAMPLES

_DEFAULTS = Settings()
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("--samples", "file", type=_FILE, required=True, help="Samples: columns operator, a, b, target.")
@click.option("--encoder", "given", multiple=True, help="[NAME=]SPEC; see benchmarks/set_criteria/encoders.py.")
@click.option("--output", type=_FOLDER, default="results/set_criteria", show_default=True)
@click.option("--limit", type=click.IntRange(1), help="At most this many samples of each operator, drawn by --seed.")
@click.option("--ranges", "ranges_file", type=_FILE, help="ranges.json of another run; else of all encoders here.")
@click.option("--own-ranges", is_flag=True, help="Also report each encoder with the ranges of its own.")
@click.option("--epsilons", default=_DEFAULTS.epsilons, show_default=True, help="Margins of each condition.")
@click.option("--tolerance", default=_DEFAULTS.tolerance, show_default=True, help='rad, of "between A and B" (C2).')
@click.option("--theta", default=_DEFAULTS.theta, show_default=True, help="Of C5 and C6, in angles between A and B.")
@click.option("--norm-ratio", default=_DEFAULTS.norm_ratio, show_default=True, help="Of comparable lengths (C6).")
@click.option("--cache", type=_FOLDER, help="Folder that keeps vectors, by text and encoder.")
@click.option("--batch-size", default=64, show_default=True, type=click.IntRange(1), help="Texts at a time.")
@click.option("--device", help="Where networks run: cpu, cuda, mps.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of all that is drawn.")
@click.option("--resamples", default=RESAMPLES, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
def main(
    file: Path,
    given: tuple[str, ...],
    output: Path,
    limit: int | None,
    ranges_file: Path | None,
    own_ranges: bool,
    epsilons: int,
    tolerance: float,
    theta: float,
    norm_ratio: float,
    cache: Path | None,
    batch_size: int,
    device: str | None,
    seed: int,
    resamples: int,
) -> None:
    """Tables and figures of the set-theoretic criteria for a list of encoders, published numbers beside."""
    try:
        settings = Settings(epsilons, tolerance, theta, norm_ratio)
        ranges = None if ranges_file is None else _read_ranges(ranges_file)
        chosen = contenders(given, seed, device)
        samples = read_samples(file, limit, seed)
        output.mkdir(parents=True, exist_ok=True)  # before hours of encoding, not after
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from error
    measured, absent = measure_all(chosen, samples, settings, cache, batch_size, _progress)
    click.echo(write_results(measured, absent, samples, Options(settings, ranges, own_ranges, seed, resamples), output))
    _progress(f"written to {output}")


def _read_ranges(path: Path) -> Ranges:
    try:
        return check_ranges(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:  # also what json and utf-8 raise
        raise ValueError(f"--ranges {path}: {error}") from error


def _progress(line: str) -> None:
    click.echo(line, err=True)


if __name__ == "__main__":
    main()
