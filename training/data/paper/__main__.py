r"""Build the paper's training data.

    python -m training.data.paper --output FOLDER --evaluation newts=NEWTS_test_600.csv \
        --from newts=NEWTS_train_2400.csv --from paranmt=para-nmt-50m.txt
    python training/train.py --config training/configs/paper.yaml --data FOLDER

Streams each set from the Hub; `--from NAME=PATH` reads a file, or a folder laid out as the repository, instead. Every
triplet with a text of an evaluation set is dropped: of those below --data where that is given, else of those that
`benchmarks/matcha/hub_sets.py` builds. What is there already from the same source, seed and evaluation texts is left as
it is.

Writes to --output: NAME.parquet (columns reference, correct, incorrect), evaluation_texts.parquet (what was kept out)
and sets.csv (what is printed: read, made, kept, dropped and why). Exit code 1: a set could not be built.
"""

from pathlib import Path

import click
import pandas as pd

from benchmarks.matcha.__main__ import gather
from benchmarks.matcha.sets import NAMES, RatedSet, TripletSet, expected_file
from training.data.paper.build import DROPS, SEED, Evaluation, build_set
from training.data.paper.rows import Place
from training.data.paper.sets import SETS, PaperSet

BY_HAND = ("newts", "human", "mednli")  # evaluation sets that are not on the Hub
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to.")
@click.option("--data", type=_FOLDER, envvar="SEMANTIC_METRICS_DATA", help="Folder of the evaluation sets.")
@click.option("--evaluation", multiple=True, metavar="NAME=FILE", help=f"An evaluation set: {', '.join(BY_HAND)}.")
@click.option("--from", "moved", multiple=True, metavar="NAME=PATH", help="Read a set from a file, folder or Hub id.")
@click.option("--only", multiple=True, type=click.Choice(list(SETS)), help="Sets to build; all by default.")
@click.option("--seed", default=SEED, show_default=True, help="Of the samples and the random incorrect texts.")
def main(
    output: Path,
    data: Path | None,
    evaluation: tuple[str, ...],
    moved: tuple[str, ...],
    only: tuple[str, ...],
    seed: int,
) -> None:
    """Build the paper's fifteen training sets as triplets, without the texts of the evaluation sets."""
    try:
        files = {name: Path(path) for name, path in named("--evaluation", evaluation, BY_HAND).items()}
        elsewhere = named("--from", moved, tuple(SETS))
        places = {name: _place(name, one, elsewhere.get(name)) for name, one in SETS.items()}
        kept_out = evaluation_texts(data, files)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    kept_out.write(output / "evaluation_texts.parquet")
    for name, texts in kept_out.texts.items():
        click.echo(f"kept out: {len(texts)} texts of {name}", err=True)
    rows = []
    for name in only or SETS:
        click.echo(f"{name}: {places[name] or SETS[name].fetch}", err=True)
        rows.append(_built(name, places[name], output, kept_out, seed))
    table = pd.DataFrame(rows)
    table.to_csv(output / "sets.csv", index=False)
    click.echo(table.to_string(index=False))
    if (table["state"].isin(("built", "cached"))).sum() < len(table):
        raise SystemExit(1)


def named(option: str, given: tuple[str, ...], names: tuple[str, ...]) -> dict[str, str]:
    """`NAME=PATH` values of an option.

    Raises:
        ValueError: one is not of that form, or has another name.
    """
    found = dict(value.partition("=")[::2] for value in given)
    for name, path in found.items():
        if name not in names or not path:
            raise ValueError(f"{option}: expected NAME=PATH with a name of {', '.join(names)}, got {name}={path}")
    return found


def _place(name: str, one: PaperSet, given: str | None) -> Place | None:
    if given is None:
        return one.place
    if one.place is None and not Path(given).is_file():
        raise ValueError(f"--from {name}: expected {one.fetch}, got {given}, which is no file")
    return (one.place or Place()).moved(given)


def evaluation_texts(data: Path | None, files: dict[str, Path]) -> Evaluation:
    """Every text of the evaluation sets that can be had.

    Args:
        data: a folder laid out as `benchmarks.matcha.sets` says; None builds the sets from the Hub.
        files: of single sets.

    Raises:
        ValueError: one that the Hub or the folder should give, cannot be had.
    """
    wanted = [name for name in NAMES if name in files or name not in BY_HAND or _is_in(data, name)]
    found = gather(data, files, tuple(wanted))
    texts = {}
    for name, one in found.items():
        columns = [one.references, one.candidates] if isinstance(one, RatedSet) else _columns(one)
        texts[name] = [text for column in columns for text in column]
    return Evaluation.of(texts)


def _columns(one: TripletSet) -> list[list[str]]:
    return [one.references, one.correct, one.references_of_incorrect, one.incorrect]


def _is_in(data: Path | None, name: str) -> bool:
    return data is not None and name != "mednli" and (data / expected_file(name)).is_file()


def _built(name: str, place: Place | None, output: Path, kept_out: Evaluation, seed: int) -> dict[str, object]:
    one = SETS[name]
    row = {"set": name, "incorrect": "contradicts" if one.contrastive else "random"}
    try:
        if place is None:
            raise ValueError(f"expected --from {name}=FILE, the file being {one.fetch}")
        counts = build_set(name, one, place, output, kept_out, seed)
    except ValueError as error:
        return row | {"state": f"not built: {error}"}
    row |= {key: counts[key] for key in ("rows", "triplets", *DROPS, "kept")}
    return row | {"state": "cached" if counts["cached"] else "built"}


if __name__ == "__main__":
    main()
