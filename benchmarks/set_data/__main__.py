r"""Data for the set criteria: TextOverlap, TextDifference and TextUnion samples, and their rating by people.

    python -m benchmarks.set_data build --data FOLDER --output results/set_data
        offline, from what the folder holds of wikisplit, bisect, sentence_union and newts
    python -m benchmarks.set_data build --documents articles.parquet --column article --endpoint URL/v1 --model NAME
        the paper's way: three consecutive sentences, fused by a model; SEMANTIC_METRICS_API_KEY holds the key, if any
    python -m benchmarks.set_data sheet results/set_data/samples.parquet --output results/ratings --raters 2
        sheets to be filled in by raters
    python -m benchmarks.set_data ratings results/ratings
        checks the sheets that were filled in; means, agreement, box plot (figure 3)

`build` writes samples.parquet, which `benchmarks.set_criteria` reads, and README.md, its card. The paper's documents
are `abisee/cnn_dailymail` on the Hub (3.0.0, column `article`): download a parquet file of it and name it with
--documents.

Source: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings", section 5 and appendix A.1.
"""

import shlex
from pathlib import Path

import click

from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import NotMeasured, Score, sentence_transformer
from benchmarks.set_data.build import Plan, build
from benchmarks.set_data.card import Recipe, write
from benchmarks.set_data.chains import THRESHOLD
from benchmarks.set_data.fusion import PAPER_MODEL, EndpointFusion
from benchmarks.set_data.rater_sheets import PER_OPERATOR, read_samples, write_sheets
from benchmarks.set_data.ratings import read_ratings, write_ratings
from benchmarks.set_data.sources import MAX_WORDS, MIN_WORDS, SOURCES, STRIDE, Lengths, read_documents
from semantic_metrics.endpoint import KEY_VARIABLE, JsonEndpoint

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_OUTPUT = click.Path(file_okay=False, path_type=Path)
_SHOWN = {"data": "FOLDER", "endpoint": "URL", "device": None, "output": None, "cache": None}  # in the card's command


@click.group()
def main() -> None:
    """Samples of overlap, difference and union: made, and rated by people."""


@main.command(name="build")
@click.option("--data", type=_FOLDER, envvar="SEMANTIC_METRICS_DATA", help="Folder of the data sets.")
@click.option("--source", "sources", multiple=True, type=click.Choice(list(SOURCES)), help="All there are by default.")
@click.option(
    "--documents", type=_FILE, help="Documents of your own: .txt (empty lines between), .parquet, .csv, .jsonl."
)
@click.option("--column", help="That holds the documents, where they are no .txt.")
@click.option("--licence", default="not stated", show_default=True, help="Of the documents, for the card.")
@click.option(
    "--endpoint",
    help=f"OpenAI-compatible API, up to /v1, that fuses, with the key in {KEY_VARIABLE}; else concatenation.",
)
@click.option("--model", default=PAPER_MODEL, show_default=True, help="Of the endpoint.")
@click.option(
    "--cache", type=click.Path(dir_okay=False, path_type=Path), help="Answers; OUTPUT/fusions.jsonl by default."
)
@click.option("--encoder", "encoders", multiple=True, default=(DEFAULT_ENCODER,), show_default=True, help="Filters.")
@click.option("--threshold", default=THRESHOLD, show_default=True, help="Differences need cosines below it.")
@click.option("--device", help="Where the encoder runs: cpu, cuda, mps.")
@click.option("--min-words", default=MIN_WORDS, show_default=True, type=click.IntRange(1), help="Of a sentence.")
@click.option("--max-words", default=MAX_WORDS, show_default=True, type=click.IntRange(1), help="Of a sentence.")
@click.option("--stride", default=STRIDE, show_default=True, type=click.IntRange(1), help="Sentences between chains.")
@click.option("--limit", type=click.IntRange(1), help="Samples of an operator, drawn of all that were made.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
@click.option("--output", type=_OUTPUT, default="results/set_data", show_default=True)
@click.pass_context
def build_command(context: click.Context, **options: object) -> None:
    """Make samples.parquet and its card."""
    output: Path = options["output"]
    try:
        names, documents = _sources(options)
        lengths = Lengths(options["min_words"], options["max_words"])
        held = {key: options[key] for key in ("threshold", "stride", "limit", "seed")}
        scores = [_score(name, options["device"]) for name in options["encoders"]]
        plan = Plan(scores=scores, lengths=lengths, **_fusion(options), **held)
        table, dropped = build(plan, options["data"], names, documents)
        encoders = tuple(_name(encoder) for encoder in options["encoders"])
        licences = dict.fromkeys(documents, options["licence"])
        recipe = Recipe(_command(context), plan.fusion, encoders, plan.threshold, lengths, plan.stride, licences)
        write(table, dropped, recipe, output)
    except (ValueError, OSError, NotMeasured) as error:
        raise click.ClickException(str(error)) from error
    counts = table["operator"].value_counts()
    click.echo("\n".join(f"{operator:10} {count:7,}" for operator, count in counts.items()))
    click.echo(f"{sum(dropped.values()):,} rows, sentences, chains and samples left out (the card says why)")
    click.echo(f"written to {output}", err=True)


@main.command()
@click.argument("samples", type=_FILE)
@click.option("--output", type=_OUTPUT, default="results/set_data_ratings", show_default=True)
@click.option("--per-operator", default=PER_OPERATOR, show_default=True, type=click.IntRange(1), help="Samples.")
@click.option("--raters", default=2, show_default=True, type=click.IntRange(2, 3), help="How many; a sheet each.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the draw and of the orders.")
def sheet(samples: Path, output: Path, per_operator: int, raters: int, seed: int) -> None:
    """Draw samples for raters: a sheet each, guidelines, and the key that says which sample is which."""
    try:
        files = write_sheets(read_samples(samples), output, per_operator, raters, seed)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo("\n".join(str(file) for file in files))


@main.command()
@click.argument("folder", type=_FOLDER)
@click.option("--partial", is_flag=True, help="Go on without the ratings that are missing; they are counted.")
def ratings(folder: Path, partial: bool) -> None:
    """Check the sheets that raters filled in; write means, agreement and the box plot of figure 3 beside them."""
    try:
        report = write_ratings(read_ratings(folder, partial), folder)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo(report)


def _sources(options: dict) -> tuple[tuple[str, ...], dict[str, list[object]]]:
    """Names of sources and documents by name; all that the data folder has where nothing was asked for."""
    documents, data = options["documents"], options["data"]
    held = {} if documents is None else {documents.name: read_documents(documents, options["column"])}
    if options["sources"] or held:
        return tuple(dict.fromkeys(options["sources"])), held
    if data is None:
        raise ValueError("data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --documents, got neither")
    found = tuple(name for name in SOURCES if (data / name).is_dir())
    for name in SOURCES.keys() - set(found):
        click.echo(f"{name}: no folder {data / name}; left out", err=True)
    if not found:
        raise ValueError(f"data: expected one of the folders {', '.join(SOURCES)} in {data}, found none")
    return found, held


def _fusion(options: dict) -> dict[str, object]:
    if options["endpoint"] is None:
        return {}
    endpoint = JsonEndpoint(f"{options['endpoint'].rstrip('/')}/chat/completions")
    cache = options["cache"] or options["output"] / "fusions.jsonl"
    fusion = EndpointFusion(endpoint, options["model"], cache, progress=_progress)
    return {"fuse": fusion, "fusion": fusion.name}


def _progress(done: int, count: int) -> None:
    if done % 100 == 0 or done == count:
        click.echo(f"{done:,} of {count:,} fusions", err=True)


def _score(encoder: str, device: str | None) -> Score:
    return sentence_transformer(default_embsim() if encoder == DEFAULT_ENCODER else encoder, device)


def _name(encoder: str) -> str:
    """An encoder as the card calls it: no folder of this machine is in it."""
    return Path(encoder).name if Path(encoder).is_dir() else encoder


def _command(context: click.Context) -> str:
    """The command that was given, without the places of this machine."""
    words = ["python -m benchmarks.set_data build"]
    for option in context.command.params:
        value = context.params[option.name]
        if value in (None, ()) or (value == option.get_default(context) and option.name != "seed"):
            continue
        value = _SHOWN.get(option.name, value)
        for one in value if isinstance(value, tuple) else (value,):
            shown = one.name if isinstance(one, Path) else _name(str(one))
            if one is not None:
                words.append(f"{option.opts[0]} {shlex.quote(shown)}")
    return " ".join(words)


if __name__ == "__main__":
    main()
