r"""Data for the set criteria: TextOverlap, TextDifference and TextUnion samples.

    python -m benchmarks set_data build --data FOLDER --output results/set_data
        offline, from what the folder holds of wikisplit, bisect, sentence_union and newts
    python -m benchmarks set_data build --documents articles.parquet --column article --endpoint URL/v1 --model NAME
        the paper's way: three consecutive sentences, fused by a model; SEMANTIC_METRICS_API_KEY holds the key, if any

`build` writes samples.parquet, which `set_criteria` reads, and README.md: the settings, counts, what was left out, and
licences. The paper's documents are `abisee/cnn_dailymail` on the Hub (3.0.0, column `article`).
"""

from pathlib import Path

import click
import pandas as pd
import pyarrow
from pyarrow import parquet

from benchmarks.common import options
from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import NotMeasured, Score, sentence_transformer
from benchmarks.papers.set_data.chains import COLUMNS, PAPER_MODEL, THRESHOLD, Dropped, model_fusion
from benchmarks.papers.set_data.sources import LENGTHS, SOURCES, Plan, build, read_documents
from semantic_metrics.endpoint import KEY_VARIABLE, chat_endpoint

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
SAMPLES, CARD = "samples.parquet", "README.md"
PLAN_OPTIONS = ("threshold", "limit", "seed")
_CARD = Path(__file__).with_name("card.md")


@click.group()
def main() -> None:
    """Make samples of overlap, difference and union."""


@main.command(name="build")
@options.data()
@click.option("--source", "sources", multiple=True, type=click.Choice(list(SOURCES)), help="Source; default: all.")
@click.option("--documents", type=options.FILE, help="Yours: .txt (empty lines between), .parquet, .csv, .jsonl.")
@click.option("--column", help="Column of the documents, unless they are .txt.")
@click.option("--licence", default="not stated", show_default=True, help="Licence of the documents, for the card.")
@click.option("--endpoint", help=f"OpenAI-compatible server that fuses, key in {KEY_VARIABLE}; default: concatenation.")
@click.option("--model", default=PAPER_MODEL, show_default=True, help="Model of the endpoint.")
@click.option("--cache", type=options.NEW_FILE, help="File of the model's answers; default: OUTPUT/fusions.jsonl.")
@click.option(
    "--encoder", "encoders", multiple=True, default=(DEFAULT_ENCODER,), show_default=True, help="Filters differences."
)
@click.option("--threshold", default=THRESHOLD, show_default=True, help="Differences need neighbours of lower cosine.")
@options.other_run
@click.option("--limit", type=click.IntRange(1), help="Largest number of samples of an operator, drawn at random.")
@options.seed
@options.output("results/set_data")
def build_command(**given: object) -> None:
    """Make samples.parquet and its card."""
    output: Path = given["output"]
    try:
        names, documents = _sources(given)
        fusion = {}
        if given["endpoint"] is not None:
            endpoint = chat_endpoint(given["endpoint"], kept=given["cache"] or output / "fusions.jsonl")
            fusion = {"fuse": model_fusion(endpoint, given["model"]), "fusion": f"model {given['model']}"}
        scores = [_score(name, **given["run"]) for name in given["encoders"]]
        settings = {name: given[name] for name in PLAN_OPTIONS}
        plan = Plan(scores=scores, **fusion, **settings)
        table, dropped = build(plan, given["data"], names, documents)
    except (ValueError, OSError, NotMeasured) as error:
        raise click.ClickException(str(error)) from error
    output.mkdir(parents=True, exist_ok=True)
    texts = pyarrow.table({column: pyarrow.array(table[column], pyarrow.string()) for column in COLUMNS})
    parquet.write_table(texts, output / SAMPLES, compression="zstd")
    described = settings | {"fusion": plan.fusion, "words": "{} to {}".format(*LENGTHS)}
    described["filtered by"] = ", ".join(Path(name).name for name in given["encoders"])
    licences = dict.fromkeys(documents, given["licence"])
    (output / CARD).write_text(_card(table, dropped, described, licences), encoding="utf-8", newline="\n")
    counts = table["operator"].value_counts()
    click.echo("\n".join(f"{operator:10} {count:7,}" for operator, count in counts.items()))
    click.echo(f"{sum(dropped.values()):,} rows, sentences, chains and samples left out (the card says why)")
    options.progress(f"written to {output}")


def _sources(given: dict) -> tuple[tuple[str, ...], dict[str, list[object]]]:
    """Names of sources, and documents by name; by default all sources of the data folder."""
    file, data = given["documents"], given["data"]
    documents = {} if file is None else {file.name: read_documents(file, given["column"])}
    if data is None and (given["sources"] or not documents):
        raise ValueError("data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --documents, got neither")
    if given["sources"] or documents:
        return tuple(dict.fromkeys(given["sources"])), documents
    names = tuple(name for name in SOURCES if (data / name).is_dir())
    for name in set(SOURCES) - set(names):
        options.progress(f"{name}: no folder {data / name}; left out")
    if not names:
        raise ValueError(f"data: expected one of the folders {', '.join(SOURCES)} in {data}, found none")
    return names, documents


def _score(encoder: str, **run: object) -> Score:
    return sentence_transformer(default_embsim() if encoder == DEFAULT_ENCODER else encoder, **run)


def _card(table: pd.DataFrame, dropped: Dropped, settings: dict[str, object], documents: dict[str, str]) -> str:
    counts = table.groupby(["operator", "form", "fusion", "source"], sort=False).size().reset_index(name="samples")
    left_out = pd.DataFrame([(*key, n) for key, n in sorted((+dropped).items())], columns=["source", "what", "count"])
    known = {name: (source.licence, source.credit) for name, source in SOURCES.items()}
    known |= {name: (licence, "its source") for name, licence in documents.items()}
    sources = [(name, *known[name]) for name in table["source"].unique()]
    licences = pd.DataFrame(sources, columns=["source", "licence as stated", "cite"])
    tables = (frame.to_markdown(index=False) for frame in (counts, left_out, licences))
    shown = ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
    return _CARD.read_text(encoding="utf-8").format(
        settings=shown, **dict(zip(("counts", "dropped", "licences"), tables, strict=True))
    )
