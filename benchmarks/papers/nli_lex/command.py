r"""The NLI+lex benchmark: table 1 and figures 2 and 4 to 9 of Balamurali & Cheng 2025, with baselines beside.

    python -m benchmarks nli_lex --data FOLDER --trained-on runs/judged/train.parquet
        the shipped checkpoint and the lexical baselines on DIVER-QA, NQ-open 301 and EVOUNA; of EVOUNA the questions
        that the checkpoint was not trained on (training/data/judged_answers.py writes the file), by cross-validation
    python -m benchmarks nli_lex --file diver_qa.csv --checkpoint ORG/NLI_MODEL --weights diver_qa=weights.json
        all of DIVER-QA as it is published, by another NLI model with weights of its own (`semantic-metrics fit`)

Neither set is a clean test (docs/nli_lex.md). The report says what weights were fitted on: it must not be the questions
that they judge. Writes to --output: table1.csv, by_model.csv, by_dataset.csv, cost.csv, checks.csv, scores_SET.csv,
report.txt (what is printed), figure2.png, figure4.png to figure9.png, all times 100; for the shipped checkpoint
model_card.csv, which its card prints (`python -m training.cards model_cards/pairs --results OUTPUT`); with --endpoint
replies.jsonl: its replies as they come, which a second run does not ask for again.
"""

from pathlib import Path

import click
import pandas as pd

from benchmarks.common import options
from benchmarks.common.own_metrics import SHIPPED
from benchmarks.papers.nli_lex import judges as rows
from benchmarks.papers.nli_lex.nli_checks import checks, denial_checks
from benchmarks.papers.nli_lex.nli_judges import NliModel
from benchmarks.papers.nli_lex.report import write_report
from benchmarks.papers.nli_lex.sets import TITLES, JudgedSet, leave_out, load_judged, read_judged

TRAINED_ON = "the shipped checkpoint was trained on most of its questions; --trained-on FILE leaves those out"


@click.command()
@options.data("Folder of the data sets (benchmarks/papers/nli_lex/sets.py).")
@options.sets(TITLES)
@click.option("--trained-on", multiple=True, type=options.FILE, help="File of questions whose answers are left out.")
@click.option("--file", "files", multiple=True, type=options.FILE, help="File of judged answers, or diver_qa.csv.")
@click.option("--baselines-only", is_flag=True, help="Leave the NLI model out.")
@options.checkpoint("nli_lex, an NLI model")
@click.option("--weights", multiple=True, metavar="SET=FILE", help="Weights for one set; default: the checkpoint's.")
@options.run
@options.model("bertscore", "microsoft/deberta-v2-xlarge-mnli")
@options.bertscore_layer
@options.model("bleurt", "BLEURT-20")
@options.model("bem", "kortukov/answer-equivalence-bem")
@click.option("--endpoint", metavar="URL", help="OpenAI-compatible server whose model judges too; default: none.")
@click.option("--endpoint-model", help="Server's name of its model.")
@options.drawing
@options.output("results/nli_lex")
def main(
    data: Path | None,
    sets: tuple[str, ...],
    trained_on: tuple[Path, ...],
    files: tuple[Path, ...],
    baselines_only: bool,
    bootstrap: options.Bootstrap,
    output: Path,
    **models: object,
) -> None:
    """Table 1 and figures 2 and 4 to 9 of the NLI+lex paper, with baselines."""
    with options.invalid_input():
        measured, absent = gather(data, sets, files)
        if models["checkpoint"] in SHIPPED and not (trained_on or baselines_only) and measured.pop("evouna", None):
            absent["evouna"] = TRAINED_ON
        if not measured:
            raise ValueError(f"--sets: expected one that the checkpoint was not trained on, evouna: {TRAINED_ON}")
        measured = leave_out(measured, trained_on)
        judges = other_judges(models, output)
        nli = None if baselines_only else nli_model(models, measured)
        accuracy = pd.DataFrame(columns=["set", "figure", "value"])
        if nli is not None:
            options.progress("the NLI model itself")
            run = models["run"]
            accuracy = pd.concat([checks(nli.scorer, data, **run), denial_checks(nli.scorer, **run)], ignore_index=True)
            judges[-2:-2] = nli.judges()  # before the published ones
    judged = rows.judge_sets(judges, measured, options.progress)
    lines = [] if nli is None else nli.lines()
    shipped = nli is not None and nli.shipped
    click.echo(write_report(judges, measured, absent, judged, accuracy, bootstrap, output, lines, shipped))
    options.progress(f"written to {output}")


def gather(
    data: Path | None, wanted: tuple[str, ...], files: tuple[Path, ...]
) -> tuple[dict[str, JudgedSet], dict[str, str]]:
    """The sets to measure, by key (a file's is its name), and why others are missing; a ValueError if there is none."""
    if data is None and (wanted or not files):
        raise ValueError("--data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --file alone")
    keys = [key for key in TITLES if key in wanted] or (list(TITLES) if data is not None and not files else [])
    sets, absent = load_judged(data, keys) if keys else ({}, {})
    for path in files:
        if path.stem in sets:
            raise ValueError(f"--file: expected names that differ, from those of the sets too, got {path.stem} twice")
        sets[path.stem] = read_judged(path)
    options.check_distinct([answers.title for answers in sets.values()], "--file")
    if not sets or (wanted and absent):
        raise ValueError("; ".join(f"{key}: {reason}" for key, reason in absent.items()))
    return sets, absent


def other_judges(models: dict[str, object], output: Path) -> list[rows.Judge]:
    """All judges but those of the NLI model, the published ones last.

    Raises ValueError: an endpoint comes without a model, its URL is invalid, or replies.jsonl in `output` does not hold
    the replies of an earlier run.
    """
    url, model = models["endpoint"], models["endpoint_model"]
    if (url is None) != (model is None):
        raise ValueError("--endpoint, --endpoint-model: expected both or neither")
    asked = [] if url is None else [rows.endpoint_judge(url, model, output / "replies.jsonl")]
    return [*rows.lexical_judges(), *rows.model_judges(models), *asked, *rows.published_judges()]


def nli_model(models: dict[str, object], sets: dict[str, JudgedSet]) -> NliModel:
    """The checkpoint and the weights that the options name, or a ValueError about them."""
    weights = {}
    for given in models["weights"]:
        key, _, path = given.partition("=")
        if key not in sets or not Path(path).exists():
            raise ValueError(f"--weights: expected SET=FILE with a set of {', '.join(sets)}, got {given!r}")
        weights[sets[key].title] = Path(path)
    return NliModel(models["checkpoint"], weights, models["run"])
