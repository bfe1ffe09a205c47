"""The model card of a MATCHA checkpoint, written from the run itself.

    python -m training.card model_cards/matcha --results results/matcha
    python -m training.card model_cards/contextual --results results/contextual --row "MATCHA (contextual)"

writes it again with the test results that `python -m benchmarks.matcha` measured; training writes it without them.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
import yaml

from semantic_metrics.matcha.checkpoint import CONTEXTUAL, DEFAULT_CHECKPOINT
from training.matcha.config import STAGED
from training.matcha.contextual import MAX_LENGTH
from training.matcha.initial_model import TRANSFORMER

RECORD = "training.json"
OURS = "MATCHA"  # the row of the shipped checkpoint in the benchmark's tables
FIGURES = {
    "n_delta": "N-delta",
    "macro_f1": "macro-F1",
    "auc": "AUC",
    "pairwise": "pairwise accuracy",
    "ccc": "CCC",
    "ccc_unscaled": "CCC, unscaled",
}

_INTRO = """\
A MATCHA text encoder (Li et al., Findings of ACL 2026){kind}, and the cosine of two texts says how far they mean the
same. It is trained so that contradictions fall low, not only unrelated texts.

```python
import evaluate
matcha = evaluate.load("metrics/matcha"{argument})
matcha.compute(predictions=["The court did not accept the appeal."], references=["The court accepted the appeal."])
```

Scores are cosines in [-1, 1], higher is better. **What it cannot do:** {limits}
"""
_TABLE = (  # kind and limits of a static checkpoint, and of a contextual one
    ", folded into one table: a text is the mean of its tokens' rows",
    """\
the table is a bag of tokens, so the order of
the words does not count ("dog bites man" and "man bites dog" score 1); it knows English, and no facts beyond what its
words were seen with.""",
)
_TRANSFORMER = (
    " on a whole transformer: a text is the mean of its tokens'\nlast states",
    """\
it reads English, the first {max_length} tokens of a text (`compute`
says how many texts are longer), and knows no facts but what its training showed it.""",
)

_RESULTS_NOTE = """\
In percent, higher is better, from `python -m benchmarks.matcha`; in brackets what the paper publishes of its own
checkpoint and of EmbSim (all-MiniLM-L6-v2). The rows of SNLI and MultiNLI are the paper's; the others were drawn anew:
there, compare with EmbSim on the same rows.
"""


def write_card(folder: Path, record: dict) -> None:
    """Write `training.json` (the run's record) and the README.md made from it into a checkpoint folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).write_text(json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(render(record), encoding="utf-8")


def render(record: dict, results: pd.DataFrame | None = None) -> str:
    """The card's text.

    Args:
        record: what `training.train` recorded of the run.
        results: what `read_results` returns, or None.
    """
    config = record["config"]
    names = {DEFAULT_CHECKPOINT: "", CONTEXTUAL: f', "{CONTEXTUAL}"'}
    argument = names.get(config["name"], ', "./folder/of/this/checkpoint"')
    kind, limits = _TRANSFORMER if _is_transformer(config) else _TABLE
    max_length = (config["network"] or {}).get("max_length", MAX_LENGTH)
    intro = _INTRO.format(argument=argument, kind=kind, limits=limits.format(max_length=max_length))
    parts = [_front_matter(config, record["validation"], results), f"# {config['name']}\n", intro]
    parts += ["## Training\n", _training(record), "## Data\n", _data(record)]
    parts += ["## Validation\n", _validation(record)]
    if results is not None:
        parts += ["## Test results\n", _results(results)]
    parts += ["## Licence\n", _licence(config)]
    return "\n".join(parts)


def _is_transformer(config: dict) -> bool:
    return (config["network"] or {}).get("kind") == TRANSFORMER


def _front_matter(config: dict, validation: dict, results: pd.DataFrame | None) -> str:
    rows = [(name, figure, value) for name, row in validation.items() for figure, value in row.items()]
    if results is not None:
        ours = results[results["metric"] == OURS]
        rows = list(ours[["set", "figure", "value"]].itertuples(index=False, name=None))
    entries: dict[str, list] = {}
    for dataset, figure, value in rows:
        metric = {"type": figure, "name": FIGURES.get(figure, figure), "value": round(float(value), 2)}
        entries.setdefault(dataset, []).append(metric)
    task = {"type": "sentence-similarity"}
    index = [
        {"task": dict(task), "dataset": {"name": dataset, "type": dataset}, "metrics": metrics}
        for dataset, metrics in entries.items()
    ]
    front = {
        "license": config["licence"],
        "language": ["en"],
        "library_name": "semantic-metrics",
        "pipeline_tag": "sentence-similarity",
        "tags": ["evaluate", "metric", "matcha", "contextual" if _is_transformer(config) else "static-embedding"],
        "model-index": [{"name": config["name"], "results": index}],
    }
    if config["base_model"]:
        front["base_model"] = config["base_model"]
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n"


def _training(record: dict) -> str:
    config = record["config"]
    network, start = "the table's own rows", "the token embeddings and the tokeniser"
    if _is_transformer(config):
        network, start = "the transformer", "the weights and the tokeniser"
    elif config["network"] is not None:
        network = f"the network of section 3 ({_spell(config['network'])})"
    order = "one after another" if config.get("strategy") in STAGED else "in turn"
    optimiser = {
        "learning rate": config["lr"],
        "token embeddings' learning rate": f"x {config['embedding_lr']}",
        "schedule": _spell(config["schedule"]),
        "weight decay": config["weight_decay"],
        "decay of the weights' moving average": config["average"],
        "seed": config["seed"],
        "mixed precision": config["precision"],
        "processes": record["processes"],
    }
    return f"""\
* Trained: {network}.
* From: {start} of `{config["base_model"] or config["init"]}`.
* Loss: {_spell(config["loss"])}.
* {record["steps"]} steps of {config["batch_size"]} x {config["accumulate"]} examples, each batch from one source, the
  sources {order}.
* Optimiser: AdamW; {_spell(optimiser)}.
* Step {record["step"]} is kept, by the mean {config["select_by"]} over the validation sets.

```
{record["command"]}
```
"""


def _spell(options: dict) -> str:
    return ", ".join(f"{key} {value}" for key, value in options.items()).replace("_", " ")


def _data(record: dict) -> str:
    lines = ["| source | share | examples | dropped | licence | credit |", "| --- | --- | --- | --- | --- | --- |"]
    for source in record["config"]["train"]:
        counts = record["counts"][source["name"]]
        dropped = ", ".join(f"{n} {why.removeprefix('dropped: ')}" for why, n in counts.items() if "dropped" in why)
        share = "by size" if source["share"] is None else source["share"]
        lines.append(
            f"| {source['name']} | {share} | {counts['kept']:,} | {dropped or 'none'} | {source['licence']} "
            f"| {source['credit']} |"
        )
    lines += ["", f"{record['tokens']:,} tokens of distinct texts. Examples with one of these texts were dropped:", ""]
    for entry in record["config"]["exclude"]:
        lines.append(f"* {entry.get('path') or entry.get('hub')}: {', '.join(entry['columns'])}")
    return "\n".join(lines) + "\n"


def _validation(record: dict) -> str:
    figures = [figure for figure in FIGURES if any(figure in row for row in record["validation"].values())]
    lines = ["| set | " + " | ".join(FIGURES[figure] for figure in figures) + " |", "| --- |" + " --- |" * len(figures)]
    for name, row in record["validation"].items():
        cells = (f"{row[figure]:.2f}" if figure in row else "" for figure in figures)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n\nIn percent, higher is better; the checkpoint was chosen on these sets.\n"


def read_results(folder: Path, row: str = OURS) -> pd.DataFrame:
    """Tables 3 and 4 as `python -m benchmarks.matcha` wrote them: this checkpoint's rows, and EmbSim's beside them.

    Args:
        folder: of the results.
        row: how the tables name the checkpoint.

    Returns:
        Columns set, metric, figure, value, published (the paper's own figure of that metric, where it prints one).
    """
    table = pd.concat(pd.read_csv(Path(folder) / name) for name in ("table3.csv", "table4.csv"))
    if row not in set(table["metric"]):
        raise ValueError(f"--row: expected a row of the tables, {sorted(set(table['metric']))}, got {row!r}")
    table = table[table["metric"].isin((row, "EmbSim")) & table["figure"].isin(FIGURES)]
    table = table.replace({"metric": {row: OURS}})
    return table.dropna(subset=["value"])[["set", "metric", "figure", "value", "published"]]


def _results(results: pd.DataFrame) -> str:
    lines = ["| set | metric | N-delta | macro-F1 | AUC | pairwise accuracy |", "| --- | --- | --- | --- | --- | --- |"]
    for (name, metric), rows in results.groupby(["set", "metric"], sort=False):
        values = rows.set_index("figure")
        cells = [_cell(values.loc[figure]) if figure in values.index else "" for figure in list(FIGURES)[:4]]
        lines.append(f"| {name} | {metric} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + f"\n\n{_RESULTS_NOTE}"


def _cell(row: pd.Series) -> str:
    return f"{row['value']:.2f}" + ("" if pd.isna(row["published"]) else f" ({row['published']:.2f})")


def _licence(config: dict) -> str:
    lines = [f"The weights are released under {config['licence']}; each source keeps its own licence (table above)."]
    return "\n".join([*lines, *(f"\n{note}" for note in config["notes"])]) + "\n"


def main() -> None:
    """Write a checkpoint's card again, with test results."""
    parser = argparse.ArgumentParser(description="Write a checkpoint's model card again.")
    parser.add_argument("folder", type=Path, help="checkpoint folder that holds training.json")
    parser.add_argument("--results", type=Path, help="folder that benchmarks.matcha wrote")
    parser.add_argument("--row", default=OURS, help=f"the checkpoint's name in its tables (default {OURS})")
    args = parser.parse_args()
    record = json.loads((args.folder / RECORD).read_text(encoding="utf-8"))
    try:
        results = None if args.results is None else read_results(args.results, args.row)
    except ValueError as error:
        parser.error(str(error))
    (args.folder / "README.md").write_text(render(record, results), encoding="utf-8")


if __name__ == "__main__":
    main()
