r"""The MATCHA benchmark: tables 3 to 8 and figures 2 to 6 of Li et al., Findings of ACL 2026, published numbers beside.

    python -m benchmarks.matcha --data FOLDER
        the shipped checkpoint, ROUGE, METEOR (where WordNet is) and EmbSim on all sets that the folder holds
    python -m benchmarks.matcha --data FOLDER --sets snli --sets multinli --checkpoint A=runs/a/best --checkpoint ORG/B
        two MATCHA checkpoints beside one another, on two sets
    python -m benchmarks.matcha --data FOLDER --stsb-checkpoint runs/stsb/best
        with the row of table 7 for a checkpoint fine-tuned on STS-B train
    python -m benchmarks.matcha --data FOLDER --encoder bert-base-uncased --encoder GTE=thenlper/gte-large \
        --device cuda --word-vectors GloVe=glove.6B.300d.txt --bertscore distilbert-base-uncased \
        --bleurt Elron/bleurt-base-128 --simcse princeton-nlp/sup-simcse-bert-base-uncased --mauve gpt2
        every row; the study of 23 encoders (figures 3, 5 and 6) is this with a longer list of encoders
    python -m benchmarks.matcha --from-hub --newts NEWTS_test_600.csv --human human_scores.csv --mednli mli_test.jsonl
        the sets built from their public sources, by the same rules

Writes to --output: table3.csv to table8.csv, figure4.csv, curves.csv, scores_SET.csv (every row's scores), report.txt
(what is printed) and figure2.png to figure6.png. All figures are times 100.
"""

from collections.abc import Callable
from pathlib import Path

import click

from benchmarks.common.baselines import Metric, Models, baselines, default_embsim, matcha
from benchmarks.common.encoders import NotMeasured, Score, sentence_transformer, word_vectors
from benchmarks.common.options import Bootstrap
from benchmarks.common.scoring import score_sets
from benchmarks.matcha.report import write_results
from benchmarks.matcha.sets import CALIBRATION, NAMES, RATED_TITLES, EvaluationSet, expected_file, load_sets, read_set
from semantic_metrics import load as load_metric
from semantic_metrics.stats.bootstrap import RESAMPLES

STSB_ROW = "MATCHA fine-tuned on STS-B"  # of table 7: the paper's 61.08 is such a run
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_MODELS = {
    "--checkpoint": {"multiple": True, "help": "[NAME=]CHECKPOINT of MATCHA; the shipped one by default."},
    "--stsb-checkpoint": {"help": "MATCHA checkpoint fine-tuned on STS-B train, for table 7."},
    "--encoder": {"multiple": True, "help": "[NAME=]FOLDER_OR_ID of an encoder, or a plain transformer (mean pooled)."},
    "--word-vectors": {"multiple": True, "help": "[NAME=]FILE of word vectors as text."},
    "--embsim": {"default": default_embsim, "show_default": "all-MiniLM-L6-v2", "help": "Model of the EmbSim row."},
    "--bertscore": {"help": "Model of BERTScore; the paper's is distilbert-base-uncased."},
    "--bertscore-layer": {"type": int, "help": "Its layer, for a model that bert-score does not know by name."},
    "--bleurt": {"help": "Model of BLEURT; the paper's is Elron/bleurt-base-128."},
    "--simcse": {"help": "Model of SimCSE; the paper's is princeton-nlp/sup-simcse-bert-base-uncased."},
    "--mauve": {"help": "Model of MAUVE, with mauve-text installed; the paper's is gpt2."},
    "--wordnet": {"help": "Folder of WordNet 3.0's database files, for METEOR."},
    "--device": {"help": "Where encoders run: cpu, cuda, mps."},
}


def _model_options(command: Callable) -> Callable:
    for name, settings in reversed(_MODELS.items()):
        command = click.option(name, **settings)(command)
    return command


@click.command()
@click.option("--data", type=_FOLDER, envvar="SEMANTIC_METRICS_DATA", help="Folder of the evaluation sets.")
@click.option("--from-hub", is_flag=True, help="Build the sets from their public sources instead.")
@click.option("--newts", type=_FILE, help="NEWTS_test_600.csv as published.")
@click.option("--human", type=_FILE, help="Human ratings as published (human_scores.csv).")
@click.option("--mednli", type=_FILE, help="MedNLI's labelled pairs (.jsonl, .csv, .parquet); needs a licence.")
@click.option("--sets", multiple=True, type=click.Choice(NAMES), help="What to measure; all there is by default.")
@_model_options
@click.option("--seed", default=0, show_default=True, help="Of the bootstrap.")
@click.option("--resamples", default=RESAMPLES, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default="results/matcha", show_default=True)
def main(
    data: Path | None,
    from_hub: bool,
    newts: Path | None,
    human: Path | None,
    mednli: Path | None,
    sets: tuple[str, ...],
    seed: int,
    resamples: int,
    output: Path,
    **models: object,
) -> None:
    """Tables 3 to 8 and figures 2 to 6 of the MATCHA paper, published numbers beside."""
    if data is None and not from_hub:
        raise click.UsageError("--data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --from-hub")
    try:
        metrics, signatures = choose_metrics(models)
        files = {"newts": newts, "human": human, "mednli": mednli}
        found = gather(None if from_hub else data, {key: path for key, path in files.items() if path}, sets)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    scores = score_sets(metrics, found, _progress)
    click.echo(write_results(metrics, found, scores, Bootstrap(seed, resamples), output, signatures))
    _progress(f"written to {output}")


def _progress(line: str) -> None:
    click.echo(line, err=True)


def choose_metrics(models: dict[str, object]) -> tuple[list[Metric], list[str]]:
    """The metrics that the options ask for, in the order of the tables, and the signatures of the checkpoints.

    Raises:
        ValueError: a checkpoint does not load, or two metrics have the same name.
    """
    fields = {key: value for key, value in models.items() if key in Models.__dataclass_fields__}
    chosen = baselines(Models(**fields))
    device = models["device"]
    for option, load in (("encoder", sentence_transformer), ("word_vectors", word_vectors)):
        for given in models[option]:
            name, source = _named(given)
            arguments = (source, device) if option == "encoder" else (source,)
            chosen.append(Metric(name, lambda load=load, arguments=arguments: load(*arguments), group="encoder"))
    stsb = models["stsb_checkpoint"]
    given = [("MATCHA", None), *((f"MATCHA ({name})", source) for name, source in map(_named, models["checkpoint"]))]
    checkpoints = given[1:] or given
    chosen += [matcha(source, name) for name, source in checkpoints]
    chosen.append(_stsb_metric(stsb))
    names = [metric.name for metric in chosen]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"expected names that differ (NAME=FOLDER_OR_ID gives one), got {', '.join(twice)} twice")
    if stsb is not None:
        checkpoints.append((STSB_ROW, stsb))
    # loaded here once, so that a mistyped name costs nothing
    signatures = [f"{name}: {load_metric('matcha', source).signature()}" for name, source in checkpoints]
    return chosen, signatures


def _stsb_metric(checkpoint: str | None) -> Metric:
    def absent() -> Score:
        raise NotMeasured("no checkpoint given (--stsb-checkpoint)")

    load = absent if checkpoint is None else matcha(checkpoint).load
    return Metric(STSB_ROW, load, group="matcha", published=STSB_ROW, sets=("stsb", CALIBRATION))


def _named(given: str) -> tuple[str, str]:
    """`NAME=SOURCE`, or a source that is named by the last part of its path."""
    name, sign, source = given.partition("=")
    return (name, source) if sign else (Path(given).name, given)


def gather(data: Path | None, files: dict[str, Path], wanted: tuple[str, ...]) -> dict[str, EvaluationSet]:
    """The sets to measure, by key, in the paper's order; STS-B dev among them where it can calibrate.

    Args:
        data: folder of the sets; None builds them from the Hub.
        files: of single sets, which go before both.
        wanted: keys of the sets; empty for all that can be had.

    Raises:
        ValueError: one that was asked for cannot be had, or none can.
    """
    asked = [name for name in NAMES if name in wanted or not wanted]
    rated = any(name in RATED_TITLES for name in asked)
    found, reasons = {}, {}
    for name in [*asked, CALIBRATION] if rated else asked:
        try:
            found[name] = _one_set(name, data, files)
        except NotMeasured as reason:
            reasons[name] = str(reason)
    missing = [f"{name}: {reasons[name]}" for name in asked if name in reasons]
    if missing and (wanted or not set(asked) & set(found)):
        raise ValueError("; ".join(missing))
    for line in missing:
        _progress(f"{line}; left out")
    return found


def _one_set(name: str, data: Path | None, files: dict[str, Path]) -> EvaluationSet:
    if name in files and name == "newts":
        from benchmarks.matcha.hub_sets import newts_set

        return newts_set(files[name])
    if name in files:
        return read_set(name, files[name])
    if name == "mednli":
        raise NotMeasured("its licensed file is not given (--mednli FILE)")
    if data is not None:
        found = load_sets(data, (name,))
        if name not in found:
            raise NotMeasured(f"no file {data / expected_file(name)}")
        return found[name]
    from benchmarks.matcha.hub_sets import BUILDERS

    if name not in BUILDERS:
        raise NotMeasured(f"not on the Hub (--{name} FILE)")
    try:
        return BUILDERS[name]()
    except (OSError, RuntimeError, ValueError) as error:  # what datasets and the Hub raise
        raise NotMeasured(f"the Hub did not give it ({error})") from error


if __name__ == "__main__":
    main()
