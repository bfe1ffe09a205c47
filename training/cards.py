"""Model cards: `training.json`, the record of a run, rendered by a template of card_templates/.

    python -m training.cards model_cards/matcha --results results/authors --row "MATCHA (matcha)"
    python -m training.cards model_cards/contextual --results results/authors --row "MATCHA (contextual)"
    python -m training.cards model_cards/pairs --results results/nli_lex --results results/stsscore

writes a card again with the test results that the checkpoint's benchmark measured (results/authors: `benchmarks matcha
--authors`); training writes it without them.
"""

import argparse
import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

import jinja2
import pandas as pd
from huggingface_hub import EvalResult, ModelCardData

from semantic_metrics.core.checkpoint_files import LEFT_OUT
from semantic_metrics.matcha.checkpoint import CONTEXTUAL, DEFAULT_CHECKPOINT
from training.matcha.contextual import MAX_LENGTH
from training.matcha.initial_model import TRANSFORMER

RECORD = "training.json"
RESULTS = "test_results"  # in the record: rows of what `read_results` returns
MAX_FIGURES = 10  # in the front matter
MATCHA_ROW = "MATCHA"  # how the benchmark's tables name the shipped MATCHA checkpoint
BASELINE_ROW, AUTHORS_ROW = "EmbSim", "MATCHA (authors, pair by pair)"  # shown beside it
PAIRS = "pairs"  # name of the shipped cross-encoder
BENCHMARKS = {"nli_lex": "NLI", "stsscore": "STS-B"}  # of a cross-encoder, by what names of their sets contain
CROSS_ENCODER_RESULTS = "model_card.csv"  # written by the benchmarks of stsscore and nli_lex
OTHER_JUDGES = (", Token recall", ", NLI alone", ", two features")  # ends of sets that a card leaves to docs/results.md
ORDERS = {"sequential": "one after another", "curriculum": "in turn, one level of difficulty after another"}
MATCHA_FIGURES = {
    "n_delta": "N-delta",
    "macro_f1": "macro-F1",
    "auc": "AUC",
    "pairwise": "pairwise accuracy",
    "ccc": "CCC",
    "ccc_unscaled": "CCC, unscaled",
}


def write_card(folder: Path, record: dict) -> None:
    """Write the record of a run and the README.md made from it into a checkpoint folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).write_text(json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(render(record), encoding="utf-8")


def started_from(folder: str) -> dict[str, list[dict]]:
    """The runs of this package that a model comes from, for a card, the last first; empty for any other.

    A run is `config`, `data` and `command`. A model may come from several.
    """
    path = Path(folder) / RECORD
    if not path.is_file():
        return {}
    record = json.loads(path.read_text(encoding="utf-8"))
    own = [{name: record[name] for name in ("config", "data", "command")}] if "config" in record else []
    # two sittings may have one command
    distinct = {json.dumps(run, sort_keys=True): run for run in [*own, *record.get("started_from", [])]}
    return {"started_from": list(distinct.values())}


def render(record: dict, results: pd.DataFrame | None = None) -> str:
    """The text of the card of a run's record; `results` of `read_results` come before those in the record."""
    if results is None and RESULTS in record:
        results = pd.DataFrame(record[RESULTS])
    return (_render_cross_encoder if "classes" in record["config"] else _render_matcha)(record, results)


def read_results(folders: list[Path], row: str = MATCHA_ROW) -> pd.DataFrame:
    """The test results of a checkpoint, as benchmarks wrote them to folders; `row` names a MATCHA one in the tables.

    Columns set, figure, value and published (the paper's own figure, NaN where it prints none); for MATCHA also metric
    (MATCHA_ROW, BASELINE_ROW or AUTHORS_ROW, which has what the paper publishes of MATCHA).

    Raises ValueError: the tables have no such row.
    """
    cross_encoder = [path for folder in folders if (path := Path(folder) / CROSS_ENCODER_RESULTS).is_file()]
    if cross_encoder:
        return pd.concat([pd.read_csv(path) for path in cross_encoder], ignore_index=True).dropna(subset=["value"])
    table = pd.concat(pd.read_csv(Path(folders[0]) / name) for name in ("table3.csv", "table4.csv"))
    if row not in set(table["metric"]):
        raise ValueError(f"--row: expected a row of the tables, {sorted(set(table['metric']))}, got {row!r}")
    table = table[table["metric"].isin((row, BASELINE_ROW, AUTHORS_ROW)) & table["figure"].isin(MATCHA_FIGURES)]
    if AUTHORS_ROW in set(table["metric"]):
        table["published"] = table["published"].where(table["metric"] != row)
    table, sets = table.replace({"metric": {row: MATCHA_ROW}}), list(table["set"].unique())
    table = table.sort_values("set", key=lambda names: names.map(sets.index), kind="stable")
    return table.dropna(subset=["value"])[["set", "metric", "figure", "value", "published"]]


def _render_matcha(record: dict, results: pd.DataFrame | None) -> str:
    config = record["config"]
    network = config["network"] or {}
    is_transformer = network.get("kind") == TRANSFORMER
    measured = [(name, figure, value) for name, row in record["validation"].items() for figure, value in row.items()]
    result_rows = []
    if results is not None:
        ours = results[results["metric"] == MATCHA_ROW]
        measured = ours[["set", "figure", "value"]].itertuples(index=False, name=None)
        published = ours["published"].map(lambda value: "" if pd.isna(value) else f" ({value:.2f})")
        cells = ours.assign(cell=ours["value"].map("{:.2f}".format) + published)
        baseline = results[(results["metric"] == BASELINE_ROW) & (results["figure"] == "auc")].set_index("set")["value"]
        for name, rows in cells.groupby("set", sort=False):
            figures = dict(zip(rows["figure"], rows["cell"], strict=True))
            result_rows.append((name, figures | {"baseline": baseline.get(name)}))
    similarity = "sentence-similarity"
    tags = ["evaluate", "metric", "matcha", "contextual" if is_transformer else "static-embedding"]
    library = {"library_name": "semantic-metrics", "pipeline_tag": similarity, "tags": tags}
    load_arguments = {DEFAULT_CHECKPOINT: "", CONTEXTUAL: f', "{CONTEXTUAL}"'}
    return _template("matcha").render(
        record=record,
        config=config,
        front_matter=_front_matter(config, measured, 2, similarity, **library),
        is_transformer=is_transformer,
        order=ORDERS.get(config.get("strategy"), "in turn"),
        load_argument=load_arguments.get(config["name"], ', "./folder/of/this/checkpoint"'),
        max_length=network.get("max_length", MAX_LENGTH),
        figure_names=MATCHA_FIGURES,
        validation_figures={figure for row in record["validation"].values() for figure in row},
        results=results,
        result_rows=result_rows,
        paper_rows=results is not None and AUTHORS_ROW in set(results["metric"]),
    )


def _render_cross_encoder(record: dict, results: pd.DataFrame | None) -> str:
    config = record["config"]
    results = None if results is None else _of_the_checkpoint(results)
    has_classes, has_similarity = config["classes"] is not None, config["classes"] is None or config.get("similarity")
    sets = "" if results is None else " ".join(results["set"].astype(str))
    tags = ["cross-encoder", "evaluate", "metric", *["stsscore"] * has_similarity, *["nli"] * has_classes]
    validation = pd.DataFrame(
        [(*name.rpartition("_")[::2], value) for name, value in record["validation"].items()],  # stsb_dev_pearson
        columns=["set", "figure", "value"],
    )
    measured = validation if results is None else results.drop_duplicates("set")
    pipeline = "zero-shot-classification" if has_classes else "text-ranking"
    library = {"library_name": "sentence-transformers", "pipeline_tag": pipeline, "tags": tags}
    task = "text-classification" if has_classes else "sentence-similarity"
    return _template("cross_encoder").render(
        record=record,
        config=config,
        front_matter=_front_matter(
            config, measured[["set", "figure", "value"]].itertuples(index=False), 4, task, **library
        ),
        load_argument=_load_argument(config["name"]),
        benchmarks=[f"`python -m benchmarks {name}`" for name, part in BENCHMARKS.items() if part in sets],
        data_rows=_data_rows(config["train"], record["data"]),
        validation=validation.to_dict("records"),
        result_rows=[] if results is None else _figures_by_set(results),
        results=results,
    )


def _figures_by_set(results: pd.DataFrame) -> list[tuple[str, str]]:
    """Each set with its figures on one line, a published one in brackets."""
    published = results["published"].map(lambda value: "" if pd.isna(value) else f" ({value:g})")
    cells = results["figure"] + " " + results["value"].map("{:.3f}".format) + published
    return [(name, ", ".join(rows)) for name, rows in cells.groupby(results["set"], sort=False)]


def _of_the_checkpoint(results: pd.DataFrame) -> pd.DataFrame:
    """The rows without other judges, and without parts of a set, "probe, number (64 pairs)", whose whole is there."""
    results = results[~results["set"].str.endswith(OTHER_JUDGES)]
    names = results["set"].str.extract(r"^(?P<whole>[^,]+), (?P<part>[^,(]+) \((?P<count>[^)]*)\)(?P<judge>.*)$")
    keys = names["whole"] + names["judge"]
    return results[names["part"].isna() | (names["part"] == "all") | ~keys.isin(keys[names["part"] == "all"])]


def _data_rows(sources: list[dict], counts: Mapping[str, dict]) -> list[tuple[str, str, str]]:
    """The sources of each licence and credit, with their numbers of pairs; then these two."""
    rows: dict[tuple[str, str], list[str]] = {}
    for source in sources:
        times = f" x {source['repeat']:g}" if source["repeat"] != 1 else ""
        both = " both ways" if source["both_ways"] else ""
        shown = f"{source['name']} {counts[source['name']]['kept']:,}{times}{both}"
        rows.setdefault((source["licence"], source["credit"]), []).append(shown)
    return [(", ".join(names), *key) for key, names in rows.items()]


def _load_argument(name: str) -> str:
    """How a card loads its cross-encoder: the shipped one, one that a checkout has, or a folder."""
    if name in LEFT_OUT:
        return f', "{name}"'
    return "" if name == PAIRS else ', "./folder/of/this/checkpoint"'


def _front_matter(config: dict, rows: Iterable[tuple], digits: int, task: str, **fields: object) -> str:
    """The YAML that a card begins with, with the first MAX_FIGURES (set, figure, value) rows as its model-index."""
    results = []
    for dataset, figure, value in islice(rows, MAX_FIGURES):
        identifier = re.sub("[^a-z0-9]+", "-", dataset.lower()).strip("-")
        shown, name = round(float(value), digits), MATCHA_FIGURES.get(figure)
        results.append(EvalResult(task, identifier, dataset, figure, shown, metric_name=name))
    return ModelCardData(
        license=config["licence"],
        language=["en"],
        base_model=config["base_model"] or None,
        model_name=config["name"],
        eval_results=results or None,
        **fields,
    ).to_yaml()


def _template(name: str) -> jinja2.Template:
    """A template of card_templates/, with the filters that both use."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("card_templates")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "decimals": lambda value, digits: f"{value:.{digits}f}" if isinstance(value, int | float) else "",
        "short": lambda value: "" if pd.isna(value) else f"{value:g}",
        "spell": lambda options: ", ".join(f"{key} {value}" for key, value in options.items()).replace("_", " "),
        "thousands": lambda count: f"{count:,}",
    }
    return environment.get_template(f"{name}.md.jinja")


def main() -> None:
    """Write the card of a checkpoint again, with test results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="Checkpoint folder with its training.json.")
    parser.add_argument("--results", type=Path, action="append", help="Folder that a benchmark wrote; repeatable.")
    parser.add_argument(
        "--row", default=MATCHA_ROW, help=f"Name of a MATCHA checkpoint in the tables (default: {MATCHA_ROW})."
    )
    arguments = parser.parse_args()
    record = json.loads((arguments.folder / RECORD).read_text(encoding="utf-8"))
    try:
        results = None if arguments.results is None else read_results(arguments.results, arguments.row)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if results is not None:
        record[RESULTS] = json.loads(results.to_json(orient="records"))
        (arguments.folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    (arguments.folder / "README.md").write_text(render(record, results), encoding="utf-8")


if __name__ == "__main__":
    main()
