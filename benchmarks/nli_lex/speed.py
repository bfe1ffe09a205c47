"""How fast NLI+lex is: each precision beside a plain loop over the same pairs, and a model of the paper's size.

    python -m benchmarks.speed nli_lex --data FOLDER --trained-on runs/judged/train.parquet [--output FILE.json]

On answers of EVOUNA NQ that the model reads whole, evenly spaced. The loop calls transformers for one pair at a time,
in both directions, with the same checkpoint; its time is without the lexical features, the metric's is with them.
Random weights in the shape of DeBERTa-v3-large, the paper's model, are read by the metric's own scorer, on fewer
answers.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from benchmarks.common import options
from benchmarks.common.own_metrics import Run, prepare_runs, runs_to_time
from benchmarks.common.timing import (
    Speed,
    SpeedTable,
    evenly_spaced,
    largest_difference,
    medians,
    print_tables,
    random_cross_encoder,
)
from benchmarks.nli_lex.judges import count_parameters
from benchmarks.nli_lex.sets import TITLES, JudgedSet, leave_out, load_judged
from semantic_metrics import load
from semantic_metrics.core.run_options import PRECISIONS, RunOptions
from semantic_metrics.cross_encoder.heads import class_labels, nli_labels
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.nli_lex.features import TEMPLATE
from semantic_metrics.nli_lex.windows import Windows

SET = "evouna"
ANSWERS = 1000
LARGE_SHARE = 0.04  # share of the answers that the large model judges: it takes seconds for each
DEBERTA_V3_LARGE = (24, 1024)  # layers, width (He et al. 2021, table 2)
DEBERTA_V3 = {
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
    "id2label": {0: "entailment", 1: "not_entailment"},
    "label2id": {"entailment": 0, "not_entailment": 1},
}
REPEATS = 3


def read_answers(data: Path, scorer: PairScorer, trained_on: tuple[Path, ...] = ()) -> JudgedSet:
    """Answers of EVOUNA NQ with one reference, read in one window, without the questions in files of `trained_on`.

    Raises:
        ValueError: the data folder does not contain them.
    """
    sets, absent = load_judged(data, [SET])
    if SET in absent:
        raise ValueError(f"data: {absent[SET]}")
    judged, windows = leave_out(sets, trained_on)[SET], Windows(scorer, TEMPLATE, None)

    def read_whole(i: int) -> bool:
        question, answer, references = judged.questions[i], judged.candidates[i], judged.references[i]
        if len(references) > 1 or not answer.strip():
            return False
        return [len(reading.premises) for reading in windows.read(question, answer, references[0])] == [1]

    return judged.take(list(filter(read_whole, range(len(judged)))))


def loop(scorer: PairScorer, device: str) -> Callable[[JudgedSet], np.ndarray]:
    """Entailment probabilities by transformers alone, one pair at a time, each also turned round as the metric does."""
    tokenizer = AutoTokenizer.from_pretrained(scorer.folder)
    model = AutoModelForSequenceClassification.from_pretrained(scorer.folder, dtype=torch.float32).to(device).eval()
    classes = class_labels(scorer.labels)
    entailment = classes.index(nli_labels(scorer.labels)[0])

    def score(chosen: JudgedSet) -> np.ndarray:
        probabilities = []
        with torch.inference_mode():
            rows = zip(chosen.questions, chosen.candidates, chosen.references, strict=True)
            for question, answer, (reference,) in rows:
                premise, hypothesis = (f"{question.strip()} {text.strip()}".strip() for text in (answer, reference))
                pairs = (premise, hypothesis), (hypothesis, premise)
                batches = (tokenizer(*pair, truncation=True, return_tensors="pt").to(device) for pair in pairs)
                there, _ = (model(**batch).logits[:, classes].softmax(dim=1) for batch in batches)
                probabilities.append(there[0, entailment].item())
        return np.array(probabilities)

    return score


def compare(
    checkpoint: str | None, chosen: JudgedSet, weights: Path | None, repeats: int, runs: dict[str, Run], asked: bool
) -> list[Speed]:
    """Time the loop and every way to run the model, all on one device.

    Differences are of entailment probabilities from those of torch in float32, where that is timed. The loop has none:
    it reads numbers as they are, the metric as the other text writes them.

    Where the user has not asked for the precisions, those that this machine cannot run have no line.

    Raises:
        ValueError: no such checkpoint, or no weights, or this machine cannot run it so.
    """
    metric = load("nli_lex", checkpoint)
    columns = {"predictions": chosen.candidates, "references": chosen.references, "questions": chosen.questions}
    first = {name: values[:1] for name, values in columns.items()}
    runs = prepare_runs(runs, lambda run: metric.compute(**first, weights=weights, **run), asked)
    one_by_one = loop(metric.scorer, next(iter(runs.values()))["device"])
    parameters = count_parameters(str(metric.scorer.folder))

    def judged_with(run: Run) -> Callable[[], dict]:
        return lambda: metric.compute(**columns, weights=weights, **run)

    (seconds, _), *timed = medians([lambda: one_by_one(chosen), *map(judged_with, runs.values())], repeats)
    count = len(chosen)
    exact = dict(zip(runs, timed, strict=True)).get(PRECISIONS[0])
    lines = [Speed("loop", count, seconds, None, {"accuracy": None, "parameters": parameters})]
    for name, (seconds, result) in zip(runs, timed, strict=True):
        accuracy = float(np.mean(np.array(result["correct"]) == chosen.labels))
        more = {"accuracy": accuracy, "parameters": parameters}
        difference = None if exact is None else largest_difference(result["entailment"], exact[1]["entailment"])
        lines.append(Speed(name, count, seconds, difference, more))
    return lines


def time_large(folder: str, chosen: JudgedSet, run: Run) -> Speed:
    """The large model, read by the metric's scorer in both directions; with torch in float32, whatever `run` says."""
    scorer = PairScorer(Path(folder))
    premises, hypotheses = (
        [f"{question} {text}" for question, text in zip(chosen.questions, texts, strict=True)]
        for texts in (chosen.candidates, [reference for (reference,) in chosen.references])
    )
    pairs = list(zip(premises, hypotheses, strict=True)) + list(zip(hypotheses, premises, strict=True))
    plain = RunOptions(**{**run, "backend": "torch", "precision": "float32"})
    seconds, _ = medians([lambda: scorer.logits(pairs, plain)], 1)[0]
    return Speed("large, float32", len(chosen), seconds, more={"parameters": count_parameters(folder)})


def _tables(
    answers: JudgedSet,
    checkpoint: str | None,
    weights: Path | None,
    repeats: int,
    shape: tuple[int, int],
    runs: dict[str, Run],
    asked: bool,
) -> Iterator[SpeedTable]:
    lines = compare(checkpoint, answers, weights, repeats, runs, asked)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer_of = load("nli_lex", checkpoint).scorer.folder
        large = random_cross_encoder(Path(folder), "deberta-v2", tokenizer_of, *shape, **DEBERTA_V3)
        few = evenly_spaced(len(answers), max(2, int(LARGE_SHARE * len(answers))))
        lines.append(time_large(large, answers.take(few), next(iter(runs.values()))))
    note = f"the metric in {lines[1].name} has {lines[1].times(lines[-1]):.1f} times the speed of the large model"
    yield SpeedTable(f"Checkpoint {checkpoint or 'shipped'} on {TITLES[SET]}", "answers", lines, 2, (note,))


@click.command("nli_lex")
@options.data(required=True)
@click.option(
    "--trained-on", multiple=True, type=options.FILE, help="File of questions whose answers are left out, repeatable."
)
@options.checkpoint("NLI+lex")
@click.option(
    "--weights",
    type=click.Path(exists=True, path_type=Path),
    help="File of weights, or its folder; default: those of the checkpoint.",
)
@click.option(
    "--answers", default=ANSWERS, type=click.IntRange(2), show_default=True, help="Largest number of answers."
)
@options.repeats(REPEATS)
@click.option(
    "--shape",
    type=(int, int),
    default=DEBERTA_V3_LARGE,
    show_default=True,
    help="Layers and width of the large model's random weights.",
)
@options.timed_runs("torch")
@options.record
def nli_lex(
    data: Path,
    trained_on: tuple[Path, ...],
    checkpoint: str | None,
    weights: Path | None,
    answers: int,
    repeats: int,
    shape: tuple[int, int],
    backend: tuple[str, ...],
    precision: tuple[str, ...],
    device: str,
    run: Run,
    output: Path | None,
) -> None:
    """NLI+lex: each precision beside one pair at a time, and beside a large model."""
    try:
        chosen = read_answers(data, load("nli_lex", checkpoint).scorer, trained_on)
        chosen = chosen.take(evenly_spaced(len(chosen), answers))
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    run = {"device": device, **run}
    runs = runs_to_time(backend, precision, run)
    tables = _tables(chosen, checkpoint, weights, repeats, shape, runs, bool(precision))
    print_tables(tables, repeats, output, run)
