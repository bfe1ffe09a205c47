r"""Build the paper's training data.

    python -m benchmarks matcha --from-hub --newts NEWTS_test_600.csv --export-texts texts.parquet
    python -m training.data.paper --output FOLDER --exclude texts.parquet \
        --from newts=NEWTS_train_2400.csv --from paranmt=para-nmt-50m.txt
    accelerate launch training/train.py --config training/configs/matcha/paper.yaml --data FOLDER

Streams each set from the Hub; `--from NAME=PATH` reads a file, or a folder laid out as the repository, instead. Every
triplet with a text of an excluded file is dropped; the first command writes the texts of the evaluation sets to one.
A set that was built before from the same source, seed and excluded texts is left as it is.

Writes to --output: NAME.parquet (columns reference, correct, incorrect), evaluation_texts.parquet (the excluded texts)
and sets.csv (the table that is printed: rows read, triplets made, kept, and dropped by reason). Exit code 1: a set
could not be built.
"""

from pathlib import Path

import click
import pandas as pd

from training.data.paper.build import DROPS, SEED, ExcludedTexts, build_set
from training.data.paper.rows import Place
from training.data.paper.sets import SETS, PaperSet

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to.")
@click.option(
    "--exclude",
    "exclude_files",
    multiple=True,
    required=True,
    type=_FILE,
    help="Parquet file whose column `text` must not be trained on; may be repeated.",
)
@click.option("--from", "sources", multiple=True, metavar="NAME=PATH", help="Read a set from a file, folder or Hub id.")
@click.option("--only", multiple=True, type=click.Choice(list(SETS)), help="Set to build; default: all.")
@click.option("--seed", default=SEED, show_default=True, help="Seed of the samples and the random incorrect texts.")
def main(
    output: Path, exclude_files: tuple[Path, ...], sources: tuple[str, ...], only: tuple[str, ...], seed: int
) -> None:
    """Build the paper's fifteen training sets as triplets, without the texts of the evaluation sets."""
    try:
        given = parse_sources(sources)
        places = {name: _place(name, paper_set, given.get(name)) for name, paper_set in SETS.items()}
        excluded = ExcludedTexts([text for path in exclude_files for text in read_texts(path)])
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    excluded.write(output / "evaluation_texts.parquet")
    click.echo(f"{len(excluded.texts)} texts excluded", err=True)
    rows = []
    for name in only or SETS:
        click.echo(f"{name}: {places[name] or SETS[name].fetch}", err=True)
        rows.append(_build(name, places[name], output, excluded, seed))
    table = pd.DataFrame(rows)
    table.to_csv(output / "sets.csv", index=False)
    click.echo(table.to_string(index=False))
    if not table["state"].isin(("built", "cached")).all():
        raise SystemExit(1)


def parse_sources(options: tuple[str, ...]) -> dict[str, str]:
    """`NAME=PATH` values of --from, as path by name.

    Raises:
        ValueError: a value is not of that form, or names no set.
    """
    paths = dict(option.partition("=")[::2] for option in options)
    for name, path in paths.items():
        if name not in SETS or not path:
            raise ValueError(f"--from: expected NAME=PATH with a name of {', '.join(SETS)}, got {name}={path}")
    return paths


def read_texts(path: Path) -> list[str]:
    """The column `text` of a parquet file, without missing values.

    Raises:
        ValueError: the file cannot be read, or has no such column.
    """
    try:
        return pd.read_parquet(path, columns=["text"])["text"].dropna().tolist()
    except Exception as error:  # pyarrow's own, an OSError or a KeyError
        raise ValueError(f"--exclude: expected a parquet file with a column text, got {path} ({error})") from None


def _place(name: str, paper_set: PaperSet, given: str | None) -> Place | None:
    if given is None:
        return paper_set.place
    if paper_set.place is None and not Path(given).is_file():
        raise ValueError(f"--from {name}: expected {paper_set.fetch}, but {given} is not a file")
    return (paper_set.place or Place()).moved(given)


def _build(name: str, place: Place | None, output: Path, excluded: ExcludedTexts, seed: int) -> dict[str, object]:
    """One row of the table."""
    paper_set = SETS[name]
    row = {"set": name, "incorrect": "contradicts" if paper_set.contrastive else "random"}
    try:
        if place is None:
            raise ValueError(f"expected --from {name}=FILE, the file being {paper_set.fetch}")
        counts = build_set(name, paper_set, place, output, excluded, seed)
    except ValueError as error:
        return row | {"state": f"not built: {error}"}
    row |= {key: counts[key] for key in ("rows", "triplets", *DROPS, "kept")}
    return row | {"state": "cached" if counts["cached"] else "built"}


if __name__ == "__main__":
    main()
