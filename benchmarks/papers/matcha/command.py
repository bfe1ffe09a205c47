r"""The MATCHA benchmark: tables 3 to 8 and figures 2 to 6 of Li et al., Findings of ACL 2026, published numbers beside.

    python -m benchmarks matcha --data FOLDER
        the shipped checkpoint, ROUGE, METEOR (where WordNet is) and EmbSim on all sets that the folder holds
    python -m benchmarks matcha --data FOLDER --authors MATCHA
        tables 3 to 5 on the authors' rows, beside their own scores of every pair: the shipped checkpoint, contextual
        and consensus, unless --checkpoint or --metric names others (authors.py says what MATCHA holds)
    python -m benchmarks matcha --data FOLDER --encoder GTE=thenlper/gte-large --encoder all-paper --device cuda
        further encoders; all-paper: the 23 of encoders.csv (figures 3, 5 and 6)
    python -m benchmarks matcha --from-hub --newts NEWTS_test_600.csv --human human_scores.csv --mednli mli_test.jsonl
        the sets built from their public sources, by the same rules

Writes to --output: table3.csv to table8.csv, figure4.csv, curves.csv, scores_SET.csv (every row's scores), report.txt
(what is printed) and figure2.png to figure6.png; with --authors also authors.csv and authors_ccc.csv. All times 100.
"""

import csv
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
import pandas as pd

from benchmarks.common import options
from benchmarks.common.baselines import EMBSIM_HUB_ID, Metric, baselines, default_embsim, matcha, own
from benchmarks.common.encoders import NotMeasured, Score, sentence_transformer, unavailable, word_vectors
from benchmarks.papers.matcha.authors import Authors
from benchmarks.papers.matcha.hub_sets import BUILDERS, newts_set
from benchmarks.papers.matcha.report import write_results
from benchmarks.papers.matcha.scoring import score_sets
from benchmarks.papers.matcha.sets import CALIBRATION, FILES, NAMES, RATED_TITLES, EvaluationSet, read_set

ENCODERS = Path(__file__).with_name("encoders.csv")
PAPER_ENCODERS = "all-paper"  # value of --encoder
BESIDE_AUTHORS = {"checkpoint": ("shipped=matcha", "contextual=contextual"), "metric": ("consensus",)}
STSB_ROW = "MATCHA fine-tuned on STS-B"  # row of table 7; the paper's 61.08 is such a run


@click.command()
@options.data("Folder of the evaluation sets.")
@click.option("--from-hub", is_flag=True, help="Build the sets from their public sources instead.")
@click.option("--newts", type=options.FILE, help="NEWTS_test_600.csv as published.")
@click.option("--human", type=options.FILE, help="Human ratings as published (human_scores.csv).")
@click.option("--mednli", type=options.FILE, help="MedNLI's labelled pairs (.jsonl, .csv, .parquet); needs a licence.")
@click.option("--authors", type=options.FOLDER, help="The authors' repository, or its rows and scores as parquet.")
@options.sets(NAMES)
@options.checkpoints("MATCHA")
@click.option("--metric", multiple=True, help="[ROW=]NAME[:CHECKPOINT] of another metric of this package, repeatable.")
@click.option("--stsb-checkpoint", help="MATCHA checkpoint fine-tuned on STS-B train, for table 7.")
@click.option("--encoder", multiple=True, help="[NAME=]FOLDER_OR_ID of an encoder, repeatable; all-paper: the 23.")
@click.option("--word-vectors", multiple=True, help="[NAME=]FILE of word vectors as text, repeatable.")
@options.embsim()
@options.model("bertscore", "distilbert-base-uncased")
@options.bertscore_layer
@options.model("bleurt", "Elron/bleurt-base-128")
@options.model("simcse", "princeton-nlp/sup-simcse-bert-base-uncased")
@click.option("--wordnet", help="Folder of WordNet 3.0's database files, for METEOR.")
@options.run
@options.drawing
@options.output("results/matcha")
@click.option("--export-texts", type=options.NEW_FILE, help="Measure nothing; write the sets' texts to this parquet.")
def main(
    data: Path | None,
    from_hub: bool,
    newts: Path | None,
    human: Path | None,
    mednli: Path | None,
    authors: Path | None,
    sets: tuple[str, ...],
    bootstrap: options.Bootstrap,
    output: Path,
    export_texts: Path | None,
    **models: object,
) -> None:
    """Tables 3 to 8 and figures 2 to 6 of the MATCHA paper, published numbers beside."""
    if authors is None and data is None and not from_hub:
        raise click.UsageError("--data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --from-hub")
    if authors is not None and not (models["checkpoint"] or models["metric"]):
        models |= BESIDE_AUTHORS
    folder = None if from_hub else data
    files = {key: path for key, path in (("newts", newts), ("human", human), ("mednli", mednli)) if path}
    with options.invalid_input():
        if export_texts is not None:
            every = gather(folder, files, sets or available(folder, files)).values()
            texts = [text for one in every for text in one.texts]
            export_texts.parent.mkdir(parents=True, exist_ok=True)
            pd.DataFrame({"text": texts}).to_parquet(export_texts)
            return
        metrics = choose_metrics(models)
        published = None if authors is None else Authors(authors, data)
        theirs = {} if published is None else published.sets
        rest = tuple(name for name in sets if name not in theirs)
        metrics += [] if published is None else published.metrics()
        chosen = gather(folder, files, rest) if (data or from_hub) and (rest or not sets) else {}
        chosen |= {name: one for name, one in theirs.items() if not sets or name in sets}
    scores = score_sets(metrics, chosen, options.progress)
    click.echo(write_results(metrics, chosen, scores, bootstrap, output))
    options.progress(f"written to {output}")


def choose_metrics(models: dict[str, object]) -> list[Metric]:
    """The metrics in the order of the tables; a ValueError if one does not load or two have the same name."""
    run = models["run"]
    device = run.get("device")
    chosen = baselines(models, device)
    given = [one for one in models["encoder"] if one != PAPER_ENCODERS]
    loads = [(*options.named_source(one), partial(sentence_transformer, device=device)) for one in given]
    loads += [(*options.named_source(one), word_vectors) for one in models["word_vectors"]]
    if PAPER_ENCODERS in models["encoder"]:  # but for those that are given
        named = {name for name, _, _ in loads}
        chosen += [metric for metric in paper_encoders(device) if metric.name not in named]
    chosen += [Metric(name, partial(load, source), group="encoder") for name, source, load in loads]
    stsb = models["stsb_checkpoint"]
    given = [(f"MATCHA ({name})", source) for name, source in map(options.named_source, models["checkpoint"])]
    checkpoints = given or [("MATCHA", None)]
    chosen += [matcha(source, name, run=run) for name, source in checkpoints]
    chosen += [own(*options.named_source(given), run) for given in models["metric"]]
    load = unavailable("no checkpoint given (--stsb-checkpoint)")
    tuned = Metric(STSB_ROW, load, group="matcha", published=STSB_ROW)
    if stsb is not None:
        tuned = replace(matcha(stsb, STSB_ROW, STSB_ROW, run), ratings=None)
    chosen.append(replace(tuned, sets=("stsb", CALIBRATION)))
    options.check_distinct([metric.name for metric in chosen])
    return chosen


def paper_encoders(device: str | None) -> list[Metric]:
    """The paper's 23 encoders (section 4.2.2) of encoders.csv; one that cannot be measured here has a reason there."""

    def load(row: dict[str, str]) -> Callable[[], Score]:
        source = default_embsim() if row["source"] == EMBSIM_HUB_ID else row["source"]
        return unavailable(row["reason"]) if row["reason"] else partial(sentence_transformer, source, device)

    with ENCODERS.open(encoding="utf-8", newline="") as file:
        return [Metric(row["name"], load(row), group="encoder") for row in csv.DictReader(file)]


def available(data: Path | None, files: dict[str, Path]) -> tuple[str, ...]:
    """Keys of the sets that must not be left out of `--export-texts`: all but those whose file is not given."""
    by_hand = [name for name in NAMES if name not in BUILDERS]
    in_folder = [name for name in by_hand if data and name != "mednli" and (data / FILES[name]).is_file()]
    return tuple(name for name in NAMES if name not in by_hand or name in files or name in in_folder)


def gather(data: Path | None, files: dict[str, Path], wanted: tuple[str, ...]) -> dict[str, EvaluationSet]:
    """The sets to measure, by key, in the paper's order; STS-B dev among them where it can calibrate.

    They are read from `files` of single sets by key, else from the folder `data`, else built from the Hub.

    Raises ValueError: a set that is `wanted` (empty: all that are available) is not available, or none is.
    """
    asked = [name for name in NAMES if name in wanted or not wanted]
    sets, reasons = {}, {}
    for name in [*asked, *([CALIBRATION] if set(asked) & set(RATED_TITLES) else [])]:
        try:
            sets[name] = _one_set(name, data, files)
        except NotMeasured as reason:
            reasons[name] = str(reason)
    missing = [f"{name}: {reasons[name]}" for name in asked if name in reasons]
    if missing and (wanted or not set(asked) & set(sets)):
        raise ValueError("; ".join(missing))
    for line in missing:
        options.progress(f"{line}; left out")
    return sets


def _one_set(name: str, data: Path | None, files: dict[str, Path]) -> EvaluationSet:
    if name in files and name == "newts":
        return newts_set(files[name])
    if name in files:
        return read_set(name, files[name])
    if name == "mednli":
        raise NotMeasured("its licensed file is not given (--mednli FILE)")
    if data is not None:
        if not (data / FILES[name]).is_file():
            raise NotMeasured(f"no file {data / FILES[name]}")
        return read_set(name, data / FILES[name])
    if name not in BUILDERS:
        raise NotMeasured(f"not on the Hub (--{name} FILE)")
    try:
        return BUILDERS[name]()
    except (OSError, RuntimeError, ValueError) as error:  # what datasets and the Hub raise
        raise NotMeasured(f"the Hub did not give it ({error})") from error
