r"""Data for the set criteria: TextOverlap, TextDifference and TextUnion samples, and ratings of them by people.

    python -m benchmarks.set_data build --data FOLDER --output results/set_data
        offline, from what the folder holds of wikisplit, bisect, sentence_union and newts
    python -m benchmarks.set_data build --data FOLDER --source flickr30k --output results/set_data_paraphrased
        samples without shared words, from captions of the same pictures
    python -m benchmarks.set_data build --documents articles.parquet --column article --endpoint URL/v1 --model NAME
        the paper's way: three consecutive sentences, fused by a model; SEMANTIC_METRICS_API_KEY holds the key, if any
    python -m benchmarks.set_data sheet results/set_data/samples.parquet --output results/ratings --raters 2
        sheets for raters to fill in
    python -m benchmarks.set_data ratings results/ratings
        checks the filled-in sheets; means, agreement, box plot (figure 3)

`build` writes samples.parquet, which `benchmarks.set_criteria` reads, and README.md, its card. The paper's documents
are `abisee/cnn_dailymail` on the Hub (3.0.0, column `article`): download a parquet file of it and name it with
--documents.

Source: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings", section 5 and appendix A.1.
"""

import shlex
from pathlib import Path

import click

from benchmarks.common import options
from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import NotMeasured, Score, sentence_transformer
from benchmarks.set_data.build import Plan, build
from benchmarks.set_data.card import Recipe, write
from benchmarks.set_data.chains import THRESHOLD
from benchmarks.set_data.fusion import PAPER_MODEL, EndpointFusion
from benchmarks.set_data.rater_sheets import PER_OPERATOR, read_samples, write_sheets
from benchmarks.set_data.ratings import read_ratings, write_ratings
from benchmarks.set_data.sources import MAX_WORDS, MIN_WORDS, SOURCES, STRIDE, Lengths, read_documents
from semantic_metrics.endpoint import KEY_VARIABLE, chat_endpoint

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_NOT_SHOWN = dict.fromkeys(("device", "batch_size", "output", "cache"))  # in the card
_PLACEHOLDERS = {"data": "FOLDER", "endpoint": "URL", **_NOT_SHOWN}


@click.group()
def main() -> None:
    """Make samples of overlap, difference and union, and have people rate them."""


@main.command(name="build")
@options.data()
@click.option(
    "--source", "sources", multiple=True, type=click.Choice(list(SOURCES)), help="Source; default: all but captions."
)
@click.option(
    "--documents", type=options.FILE, help="Your documents: .txt (empty lines between), .parquet, .csv, .jsonl."
)
@click.option("--column", help="Column of the documents, unless they are .txt.")
@click.option("--licence", default="not stated", show_default=True, help="Licence of the documents, for the card.")
@click.option(
    "--endpoint", help=f"OpenAI-compatible server that fuses, up to /v1, key in {KEY_VARIABLE}; default: concatenation."
)
@click.option("--model", default=PAPER_MODEL, show_default=True, help="Model of the endpoint.")
@click.option("--cache", type=options.NEW_FILE, help="File of the model's answers; default: OUTPUT/fusions.jsonl.")
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    default=(DEFAULT_ENCODER,),
    show_default=True,
    help="Encoder that filters the differences.",
)
@click.option(
    "--threshold", default=THRESHOLD, show_default=True, help="Differences need neighbours with a lower cosine."
)
@options.device
@options.batch_size
@click.option(
    "--min-words", default=MIN_WORDS, show_default=True, type=click.IntRange(1), help="Fewest words of a sentence."
)
@click.option(
    "--max-words", default=MAX_WORDS, show_default=True, type=click.IntRange(1), help="Most words of a sentence."
)
@click.option("--stride", default=STRIDE, show_default=True, type=click.IntRange(1), help="Sentences between chains.")
@click.option("--limit", type=click.IntRange(1), help="Largest number of samples of an operator, drawn at random.")
@options.seed
@options.output("results/set_data")
@click.pass_context
def build_command(context: click.Context, **given: object) -> None:
    """Make samples.parquet and its card."""
    output: Path = given["output"]
    try:
        names, documents = _sources(given)
        lengths = Lengths(given["min_words"], given["max_words"])
        settings = {key: given[key] for key in ("threshold", "stride", "limit", "seed")}
        scores = [_score(name, given["device"], given["batch_size"]) for name in given["encoders"]]
        plan = Plan(scores=scores, lengths=lengths, **_fusion(given), **settings)
        table, dropped = build(plan, given["data"], names, documents)
        encoders = tuple(_name(encoder) for encoder in given["encoders"])
        licences = dict.fromkeys(documents, given["licence"])
        recipe = Recipe(_command(context), plan.fusion, encoders, plan.threshold, lengths, plan.stride, licences)
        write(table, dropped, recipe, output)
    except (ValueError, OSError, NotMeasured) as error:
        raise click.ClickException(str(error)) from error
    counts = table["operator"].value_counts()
    click.echo("\n".join(f"{operator:10} {count:7,}" for operator, count in counts.items()))
    click.echo(f"{sum(dropped.values()):,} rows, sentences, chains and samples left out (the card says why)")
    options.progress(f"written to {output}")


@main.command()
@click.argument("samples", type=options.FILE)
@options.output("results/set_data_ratings")
@click.option(
    "--per-operator", default=PER_OPERATOR, show_default=True, type=click.IntRange(1), help="Number of samples."
)
@click.option("--raters", default=2, show_default=True, type=click.IntRange(2, 3), help="Number of raters.")
@options.seed
def sheet(samples: Path, output: Path, per_operator: int, raters: int, seed: int) -> None:
    """Draw samples for raters, and write a sheet for each, guidelines, and the key of the samples."""
    try:
        files = write_sheets(read_samples(samples), output, per_operator, raters, seed)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo("\n".join(str(file) for file in files))


@main.command()
@click.argument("folder", type=options.FOLDER)
@click.option("--partial", is_flag=True, help="Accept missing ratings, and count them.")
def ratings(folder: Path, partial: bool) -> None:
    """Check the sheets that raters filled in, and write means, agreement and the box plot of figure 3."""
    try:
        report = write_ratings(read_ratings(folder, partial), folder)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo(report)


def _sources(given: dict) -> tuple[tuple[str, ...], dict[str, list[object]]]:
    """Names of sources, and documents by name; by default all sources of the data folder."""
    file, data = given["documents"], given["data"]
    documents = {} if file is None else {file.name: read_documents(file, given["column"])}
    if given["sources"] or documents:
        return tuple(dict.fromkeys(given["sources"])), documents
    if data is None:
        raise ValueError("data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --documents, got neither")
    usual = [name for name, source in SOURCES.items() if source.kind != "captions"]  # captions are a set of their own
    names = tuple(name for name in usual if (data / name).is_dir())
    for name in set(usual) - set(names):
        options.progress(f"{name}: no folder {data / name}; left out")
    if not names:
        raise ValueError(f"data: expected one of the folders {', '.join(usual)} in {data}, found none")
    return names, documents


def _fusion(given: dict) -> dict[str, object]:
    if given["endpoint"] is None:
        return {}
    endpoint = chat_endpoint(given["endpoint"])
    cache = given["cache"] or given["output"] / "fusions.jsonl"
    fusion = EndpointFusion(endpoint, given["model"], cache)
    return {"fuse": fusion, "fusion": fusion.name}


def _score(encoder: str, device: str | None, batch_size: int) -> Score:
    source = default_embsim() if encoder == DEFAULT_ENCODER else encoder
    return sentence_transformer(source, device, batch_size=batch_size)


def _name(encoder: str) -> str:
    """Name of an encoder in the card, without folders of this machine."""
    return Path(encoder).name if Path(encoder).is_dir() else encoder


def _command(context: click.Context) -> str:
    """The command of the user, without folders of this machine."""
    words = ["python -m benchmarks.set_data build"]
    for option in context.command.params:
        value = context.params[option.name]
        if value in (None, ()) or (value == option.get_default(context) and option.name != "seed"):
            continue
        value = _PLACEHOLDERS.get(option.name, value)
        for one in value if isinstance(value, tuple) else (value,):
            shown = one.name if isinstance(one, Path) else _name(str(one))
            if one is not None:
                words.append(f"{option.opts[0]} {shlex.quote(shown)}")
    return " ".join(words)


if __name__ == "__main__":
    main()
