"""The model card of a cross-encoder checkpoint, written from the run itself.

    python -m training.cross_encoder_card model_cards/stsscore --results results/stsscore

writes it again with the test results that the benchmark of that metric measured; training writes it without them.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
import yaml

RECORD = "training.json"
RESULTS = "model_card.csv"  # of a benchmark: columns set, figure, value, published

_INTRO = {
    "stsb": """\
A cross-encoder that reads two texts together and predicts how similar people would find them: the checkpoint of
STSScore (Herbold, TMLR) in this package. Its one output is a raw score from 0 to {top_score:g}; the metric divides it
by {top_score:g}. Higher is better. The first text is the reference, the second the prediction.

```python
import evaluate
stsscore = evaluate.load("metrics/stsscore"{argument})
stsscore.compute(predictions=["The court rejected the appeal."], references=["The appeal was turned down."])
```
""",
    "nli": """\
A cross-encoder that reads a premise and a hypothesis together and says whether the first entails, contradicts or
leaves open the second: the checkpoint of NLI+lex in this package. Its outputs are the logits of {classes}.

```python
from sentence_transformers import CrossEncoder
model = CrossEncoder("{folder}")
model.predict([("A man is asleep on a bench.", "The man is awake.")])
```
""",
}
_LIMITS = """\
It knows English, texts of a sentence or two ({max_length} tokens of a pair were seen in training), and few facts: a
model of this size judges what is said, not what is true.
"""


def write_card(folder: Path, record: dict) -> None:
    """Write `training.json` (the run's record) and the README.md made from it into a checkpoint folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).write_text(json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(render(record), encoding="utf-8")


def started_from(folder: str) -> dict[str, dict]:
    """What a card says of the run of this package whose checkpoint another starts from; empty for any other model."""
    path = Path(folder) / RECORD
    if not path.is_file():
        return {}
    record = json.loads(path.read_text(encoding="utf-8"))
    return {"started_from": {name: record[name] for name in ("config", "data", "command")}}


def render(record: dict, results: pd.DataFrame | None = None) -> str:
    """The card's text.

    Args:
        record: what `training.train_cross_encoder` recorded of the run.
        results: what `read_results` returns, or None.
    """
    config = record["config"]
    regression = config["classes"] is None
    intro = _INTRO["stsb" if regression else "nli"].format(
        top_score=config["top_score"],
        classes=", ".join(config["classes"] or []),
        folder=f"model_cards/{config['name']}",
        argument="" if config["name"] == "stsscore" else ', "./folder/of/this/checkpoint"',
    )
    parts = [_front_matter(config, record["validation"], results), f"# {config['name']}\n", intro]
    parts += [_LIMITS.format(**config), "## Training\n", _training(record), "## Data\n", _data(record)]
    if (before := record.get("started_from")) is not None:
        parts += ["## Data of the run that it starts from\n", _data(before)]
    parts += ["## Validation\n", _validation(record["validation"])]
    if results is not None:
        parts += ["## Test results\n", _results(results, "stsscore" if regression else "nli_lex")]
    parts += ["## Licence\n", _licence(config)]
    return "\n".join(parts)


def _front_matter(config: dict, validation: dict, results: pd.DataFrame | None) -> str:
    regression = config["classes"] is None
    rows = [(*_split(name), value) for name, value in validation.items()]
    if results is not None:
        rows = list(results[["set", "figure", "value"]].itertuples(index=False, name=None))
    entries: dict[str, list] = {}
    for dataset, figure, value in rows:
        entries.setdefault(dataset, []).append({"type": figure, "name": figure, "value": round(float(value), 4)})
    task = {"type": "sentence-similarity" if regression else "text-classification"}
    index = [
        {"task": dict(task), "dataset": {"name": dataset, "type": dataset}, "metrics": metrics}
        for dataset, metrics in entries.items()
    ]
    front = {
        "license": config["licence"],
        "language": ["en"],
        "library_name": "sentence-transformers",
        "pipeline_tag": "text-ranking" if regression else "zero-shot-classification",
        "tags": ["cross-encoder", "evaluate", "metric", "stsscore" if regression else "nli"],
        "model-index": [{"name": config["name"], "results": index}],
    }
    if config["base_model"]:
        front["base_model"] = config["base_model"]
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n"


def _split(name: str) -> tuple[str, str]:
    """`stsb_dev_pearson` -> set and figure, as sentence-transformers' evaluators join them."""
    for figure in ("pearson", "spearman", "accuracy"):
        if name.endswith(f"_{figure}"):
            return name.removesuffix(f"_{figure}"), figure
    return name, "score"


def _training(record: dict) -> str:
    config = record["config"]
    loss = "mean squared error of the raw score"
    if config["classes"] is not None:
        loss = 'cross-entropy over the classes that a label leaves open ("not_entailment": all others)'
    start = f"`{config['base_model'] or config['init']}`"
    if (before := record.get("started_from")) is not None:
        start += f", by way of a run that is described below (`{before['command']}`)"
    return f"""\
* From {start}; loss: {loss}.
* {record["pairs_per_pass"]:,} pairs a pass, {config["epochs"]:g} passes, {record["steps"]:,} steps of
  {config["batch_size"]} pairs of similar length; the step with the best mean validation score is kept.
* AdamW, learning rate {config["lr"]:g} with {config["warmup"]:g} of the steps to warm up and a linear decay;
  weight decay {config["weight_decay"]:g}, dropout {config["dropout"]:g}, seed {config["seed"]},
  precision {config["precision"]}.
{_blended(config)}
```
{record["command"]}
```
"""


def _blended(config: dict) -> str:
    share = config.get("start_share", 0)
    if not share:
        return ""
    return f"* The weights are a mean: {share:g} of those that it started from, {1 - share:g} of those kept.\n"


def _data(record: dict) -> str:
    lines = ["| source | pairs | a pass | dropped | licence | credit |", "| --- | --- | --- | --- | --- | --- |"]
    for source in record["config"]["train"]:
        counts = record["data"][source["name"]]
        dropped = ", ".join(
            f"{n} {why.removeprefix('dropped: ')}" for why, n in counts.items() if "dropped" in why and n
        )
        often = f"x {source['repeat']:g}" + (", both ways" if source["both_ways"] else "")
        lines.append(
            f"| {source['name']} | {counts['kept']:,} | {often} | {dropped or 'none'} | {source['licence']} "
            f"| {source['credit']} |"
        )
    if record["config"]["exclude"]:
        lines += ["", "Pairs with one of these texts were dropped:", ""]
    for entry in record["config"]["exclude"]:
        lines.append(f"* {entry.get('path') or entry.get('hub')}: {', '.join(entry['columns'])}")
    return "\n".join(lines) + "\n"


def _validation(validation: dict) -> str:
    lines = ["| set | figure | value |", "| --- | --- | --- |"]
    lines += [f"| {_split(name)[0]} | {_split(name)[1]} | {value:.4f} |" for name, value in validation.items()]
    return "\n".join(lines) + "\n\nHigher is better; the step was chosen on these sets, the weights are as shipped.\n"


def read_results(folder: Path) -> pd.DataFrame:
    """What a benchmark wrote for the card: columns set, figure, value, published (NaN where the paper prints none)."""
    return pd.read_csv(Path(folder) / RESULTS).dropna(subset=["value"])


def _results(results: pd.DataFrame, metric: str) -> str:
    lines = ["| set | figure | value | published |", "| --- | --- | --- | --- |"]
    for row in results.itertuples():
        published = "" if pd.isna(row.published) else f"{row.published:g}"
        lines.append(f"| {row.set} | {row.figure} | {row.value:.3f} | {published} |")
    lines += ["", f"Of the weights as shipped, by `python -m benchmarks.{metric}`; never used to choose anything."]
    return "\n".join(lines) + "\n"


def _licence(config: dict) -> str:
    lines = [f"The weights are released under {config['licence']}; each source keeps its own licence (table above)."]
    if "MiniLM-L6-v2" in config["base_model"]:
        lines.append(
            "\nall-MiniLM-L6-v2 (Apache-2.0) was itself trained on SNLI, MultiNLI, COCO and Flickr30k captions, "
            "Natural Questions, SQuAD 2.0 and TriviaQA, among others."
        )
    return "\n".join([*lines, *(f"\n{note}" for note in config["notes"])]) + "\n"


def main() -> None:
    """Write a checkpoint's card again, with test results."""
    parser = argparse.ArgumentParser(description="Write a cross-encoder's model card again.")
    parser.add_argument("folder", type=Path, help="checkpoint folder that holds training.json")
    parser.add_argument("--results", type=Path, help="folder that the benchmark wrote")
    args = parser.parse_args()
    record = json.loads((args.folder / RECORD).read_text(encoding="utf-8"))
    results = None if args.results is None else read_results(args.results)
    (args.folder / "README.md").write_text(render(record, results), encoding="utf-8")


if __name__ == "__main__":
    main()
