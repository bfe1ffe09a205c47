r"""The NLI+lex benchmark: table 1 and figures 2 and 4 to 9 of Balamurali & Cheng 2025, with baselines beside.

    python -m benchmarks.nli_lex --data FOLDER --trained-on runs/judged/train.parquet
        the shipped checkpoint and the lexical baselines on DIVER-QA, NQ-open 301 and EVOUNA; of EVOUNA the questions
        that the checkpoint was not trained on (training/data/judged_answers.py writes the file)
    python -m benchmarks.nli_lex --data FOLDER --baselines-only
        what needs no model
    python -m benchmarks.nli_lex --data FOLDER --checkpoint MoritzLaurer/deberta-v3-large-zeroshot-v2.0 \
        --weights diver_qa=weights.json --bem kortukov/answer-equivalence-bem --device cuda
        another NLI model with weights of its own (`semantic-metrics fit`), and BEM
    python -m benchmarks.nli_lex --file judged.csv --endpoint http://127.0.0.1:8000/v1 --endpoint-model llama
        answers of one's own, and a language model as a judge (it is sent every answer)

Nothing is fitted or chosen on DIVER-QA or NQ-open 301. Weights must not know their questions: the report says for each
set what they were fitted on. EVOUNA, on whose other questions the shipped weights are fitted, is judged by
cross-validation.

Writes to --output: table1.csv, by_model.csv, by_dataset.csv, cost.csv, raters.csv, checks.csv, scores_SET.csv,
report.txt (what is printed), figure2.png, figure4.png to figure9.png, all times 100; and model_card.csv, what the card
of the shipped checkpoint prints (`python -m training.cards model_cards/nli --results OUTPUT`).
"""

from collections.abc import Callable
from pathlib import Path

import click
import pandas as pd

from benchmarks.common.options import Bootstrap
from benchmarks.matcha.sets import read_table
from benchmarks.nli_lex.chat_judge import endpoint_judge
from benchmarks.nli_lex.judges import Judge, judge_sets, lexical_judges, model_judges, published_judges
from benchmarks.nli_lex.nli_judges import SHIPPED, NliModel
from benchmarks.nli_lex.probe import checks
from benchmarks.nli_lex.report import write_report
from benchmarks.nli_lex.sets import TITLES, JudgedSet, load_judged, read_judged
from semantic_metrics.cli.fit import question_key
from semantic_metrics.stats.bootstrap import RESAMPLES

KNOWN = "the shipped checkpoint was trained on most of its questions; --trained-on FILE leaves those out"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_MODELS = {
    "--checkpoint": {"help": "An NLI model: a folder or a Hub id; the shipped one by default."},
    "--weights": {"multiple": True, "metavar": "SET=FILE", "help": "Weights for one set; the checkpoint's otherwise."},
    "--precision": {"default": "float32", "type": click.Choice(["float32", "bfloat16", "int8"]), "help": "Of it."},
    "--device": {"help": "Where models run: cpu, cuda, mps."},
    "--bertscore": {"help": "Model of BERTScore; the paper's is microsoft/deberta-v2-xlarge-mnli."},
    "--bertscore-layer": {"type": int, "help": "Its layer, where not bert-score's own choice."},
    "--bleurt": {"help": "A transformers port of BLEURT; the paper's is BLEURT-20."},
    "--bem": {"help": "BEM; the paper's is kortukov/answer-equivalence-bem."},
    "--endpoint": {"metavar": "URL", "help": "An OpenAI-compatible endpoint whose model judges too; none by default."},
    "--endpoint-model": {"help": "Its model's name there."},
}


def _model_options(command: Callable) -> Callable:
    for name, settings in reversed(_MODELS.items()):
        command = click.option(name, **settings)(command)
    return command


@click.command()
@click.option("--data", type=_FOLDER, envvar="SEMANTIC_METRICS_DATA", help="Folder (benchmarks/nli_lex/sets.py).")
@click.option("--sets", multiple=True, type=click.Choice(list(TITLES)), help="What to measure; all by default.")
@click.option("--trained-on", multiple=True, type=_FILE, help="Files with questions whose answers are left out.")
@click.option("--file", "files", multiple=True, type=_FILE, help="Judged answers of one's own, in the same columns.")
@click.option("--baselines-only", is_flag=True, help="Leave the NLI model out.")
@_model_options
@click.option("--seed", default=0, show_default=True, help="Of the bootstrap.")
@click.option("--resamples", default=RESAMPLES, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), default="results/nli_lex", show_default=True
)
def main(
    data: Path | None,
    sets: tuple[str, ...],
    trained_on: tuple[Path, ...],
    files: tuple[Path, ...],
    baselines_only: bool,
    seed: int,
    resamples: int,
    output: Path,
    **models: object,
) -> None:
    """Table 1 and figures 2 and 4 to 9 of the NLI+lex paper, with baselines beside."""
    try:
        found, absent = gather(data, sets, files)
        if models["checkpoint"] in SHIPPED and not (trained_on or baselines_only) and found.pop("evouna", None):
            absent["evouna"] = KNOWN
        found = leave_out(found, trained_on)
        judges = other_judges(models)
        nli = None if baselines_only else nli_model(models, found)
        known = pd.DataFrame(columns=["set", "figure", "value"])
        if nli is not None:
            _progress("the NLI model itself")
            known = checks(nli.scorer, data, precision=models["precision"], device=models["device"])
            judges[-2:-2] = nli.judges()  # before what is published
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    judged = judge_sets(judges, found, _progress)
    lines = [] if nli is None else nli.lines()
    shipped, settings = nli is not None and nli.shipped, Bootstrap(seed, resamples)
    click.echo(write_report(judges, found, absent, judged, known, settings, output, lines, shipped))
    _progress(f"written to {output}")


def leave_out(sets: dict[str, JudgedSet], files: tuple[Path, ...]) -> dict[str, JudgedSet]:
    """The sets without the answers to questions (column `question`) of some files.

    Raises:
        ValueError: a file without the column, or a set of which nothing is left; names it.
    """
    questions = set()
    for path in files:
        frame = read_table(path)
        if "question" not in frame:
            raise ValueError(f"--trained-on {path}: expected a column 'question', there are {', '.join(frame)}")
        questions.update(frame["question"].map(question_key))
    kept = {key: found.without(questions) for key, found in sets.items()} if questions else sets
    if empty := [key for key, found in kept.items() if not len(found)]:
        raise ValueError(f"--trained-on: expected answers to other questions, {', '.join(empty)} has none")
    return kept


def _progress(line: str) -> None:
    click.echo(line, err=True)


def gather(
    data: Path | None, wanted: tuple[str, ...], files: tuple[Path, ...]
) -> tuple[dict[str, JudgedSet], dict[str, str]]:
    """The sets to measure by key (a file's is its name), and why others are absent.

    Raises:
        ValueError: there is nothing to measure, a set that was asked for is absent, or a file is not what it should be.
    """
    if data is None and (wanted or not files):
        raise ValueError("--data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --file alone")
    keys = [key for key in TITLES if key in wanted] or (list(TITLES) if data is not None and not files else [])
    found, absent = load_judged(data, keys) if keys else ({}, {})
    for path in files:
        if path.stem in found:
            raise ValueError(f"--file: expected names that differ, from those of the sets too, got {path.stem} twice")
        found[path.stem] = read_judged(path)
    if not found or (wanted and absent):
        raise ValueError("; ".join(f"{key}: {reason}" for key, reason in absent.items()))
    return found, absent


def other_judges(models: dict[str, object]) -> list[Judge]:
    """All rows but those of the NLI model; the published ones are the last.

    Raises:
        ValueError: an endpoint without a model, or one that is no endpoint.
    """
    found = [*lexical_judges(), *model_judges(models)]
    if (models["endpoint"] is None) != (models["endpoint_model"] is None):
        raise ValueError("--endpoint, --endpoint-model: expected both or neither")
    if models["endpoint"] is not None:
        found.append(endpoint_judge(models["endpoint"], models["endpoint_model"]))
    return [*found, *published_judges()]


def nli_model(models: dict[str, object], sets: dict[str, JudgedSet]) -> NliModel:
    """The checkpoint that the options ask for.

    Raises:
        ValueError: it does not load, or --weights names no set that is measured, or no file.
    """
    weights = {}
    for given in models["weights"]:
        key, _, path = given.partition("=")
        if key not in sets or not Path(path).exists():
            raise ValueError(f"--weights: expected SET=FILE with a set of {', '.join(sets)}, got {given!r}")
        weights[sets[key].title] = Path(path)
    options = {name: models[name] for name in ("precision", "device")}
    return NliModel(models["checkpoint"], weights, options)


if __name__ == "__main__":
    main()
