"""How fast STSScore is: each precision beside the paper's listing, which scores one pair at a time.

    python -m benchmarks.speed stsscore [--data FOLDER] [--checkpoint NAME] [--pairs N] [--output FILE.json]

On STS-B test, with a checkpoint and with random weights in the shape of RoBERTa-base, the size of the paper's scorer.
Both sides get the same weights in the same process and are timed in turn; run it on an otherwise idle machine.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np
import torch
from scipy.stats import pearsonr
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from benchmarks.common import options
from benchmarks.common.own_metrics import Run, prepare_runs, runs_to_time
from benchmarks.common.timing import (
    Pairs,
    Speed,
    SpeedTable,
    evenly_spaced,
    largest_difference,
    medians,
    print_tables,
    random_cross_encoder,
    read_pairs,
)
from benchmarks.stsscore.sets import Seen, load_pairs
from semantic_metrics import load
from semantic_metrics.cross_encoder.heads import SIGMOID, checkpoint_scale, similarity_label
from semantic_metrics.cross_encoder.pair_scorer import PairScorer

ROBERTA_BASE = (12, 768)  # layers, width
ROBERTA = {
    "max_position_embeddings": 514,
    "type_vocab_size": 2,
}  # RoBERTa has one type, but the tokeniser may be BERT's
REPEATS = 3


def listing(scorer: PairScorer, scale: float | str, device: str) -> Callable[[Pairs], np.ndarray]:
    """One pair at a time, with what the paper's listing 1 calls: padding and truncation on, gradients recorded."""
    tokenizer = AutoTokenizer.from_pretrained(scorer.folder, model_max_length=scorer.max_length)
    model = AutoModelForSequenceClassification.from_pretrained(scorer.folder, dtype=torch.float32).to(device).eval()
    label = similarity_label(scorer.labels)

    def score(pairs: Pairs) -> np.ndarray:
        logits = []
        for pair in pairs:
            batch = tokenizer(*pair, padding=True, truncation=True, return_tensors="pt").to(device)
            logits.append(model(**batch).logits[0, label].item())
        return 1 / (1 + np.exp(-np.array(logits))) if scale == SIGMOID else np.array(logits) / scale

    return score


def compare(
    weights: str,
    checkpoint: str | None,
    pairs: Pairs,
    labels: np.ndarray | None,
    repeats: int,
    runs: dict[str, Run],
    asked: bool,
) -> SpeedTable:
    """Time the listing and every way to run the model on the same pairs, and compare their scores.

    Args:
        weights: description of the checkpoint, for the title.
        checkpoint: its name, folder or Hub id; None for the shipped one.
        pairs: references and predictions.
        labels: human labels of the pairs; None for none.
        repeats: number of timed calls.
        runs: ways to run the model by name, on the same device.
        asked: whether the user chose their precisions; if not, what this machine cannot run has no line.

    Raises:
        ValueError: no such checkpoint, or one that does not say its scale, or this machine cannot run it so.
    """
    metric = load("stsscore", checkpoint)
    scorer = metric.scorer
    scale = checkpoint_scale(scorer.folder, scorer.config, str(checkpoint))
    if scale is None:
        raise ValueError(f"checkpoint {checkpoint}: expected one that says its scale")
    references, predictions = map(list, zip(*pairs, strict=True))
    columns = {"predictions": predictions, "references": references}
    first = {name: texts[:1] for name, texts in columns.items()}
    runs = prepare_runs(runs, lambda run: metric.compute(**first, **run), asked)
    one_by_one = listing(scorer, scale, next(iter(runs.values()))["device"])

    def scores_with(run: Run) -> Callable[[], np.ndarray]:
        return lambda: np.array(metric.compute(**columns, **run)["scores"])

    timed = medians([lambda: one_by_one(pairs), *map(scores_with, runs.values())], repeats)
    expected = timed[0][1]
    lines = []
    for name, (seconds, scores) in zip(("listing", *runs), timed, strict=True):
        against = {"r with listing": expected} | ({} if labels is None else {"r with labels": labels})
        correlations = {heading: float(pearsonr(scores, other).statistic) for heading, other in against.items()}
        lines.append(Speed(name, len(pairs), seconds, largest_difference(scores, expected), correlations))
    tokenizer = AutoTokenizer.from_pretrained(scorer.folder, model_max_length=scorer.max_length)
    tokens = sum(map(len, tokenizer(references, predictions, truncation=True)["input_ids"]))
    parameters = AutoModelForSequenceClassification.from_pretrained(scorer.folder).num_parameters()
    note = f"{len(set(pairs))} pairs are distinct, {tokens / len(pairs):.1f} tokens a pair"
    return SpeedTable(f"{weights}, {parameters / 1e6:.0f}M parameters", "pairs", lines, bases=2, notes=(note,))


def _read(data: Path | None, limit: int | None) -> tuple[Pairs, np.ndarray | None, str]:
    """Pairs, their labels and where they are from: STS-B test, or without a data folder the bundled sample."""
    if data is None:
        return [(reference, text) for text, reference in read_pairs(None, limit)], None, "the bundled sample"
    sets = load_pairs(data, ["stsb"], Seen({}))
    if not sets:
        raise ValueError(f"data: expected stsb/test.parquet in {data}")
    stsb = sets["stsb"]
    rows = evenly_spaced(len(stsb), limit)  # STS-B's genres come one after the other
    return [(stsb.references[i], stsb.candidates[i]) for i in rows], stsb.ratings[rows], stsb.title


def _tables(
    data: Path | None,
    checkpoint: str | None,
    limit: int | None,
    repeats: int,
    shape: tuple[int, int],
    runs: dict[str, Run],
    asked: bool,
) -> Iterator[SpeedTable]:
    pairs, labels, source = _read(data, limit)
    title = f"Checkpoint {checkpoint or 'shipped'} on {source}"
    trained = compare(title, checkpoint, pairs, labels, repeats, runs, asked)
    yield trained
    tokenizer_of = load("stsscore", checkpoint).scorer.folder
    with tempfile.TemporaryDirectory() as folder:
        random = random_cross_encoder(
            Path(folder), "roberta", tokenizer_of, *shape, **ROBERTA, num_labels=1, stsscore={"scale": 5.0}
        )
        title = f"Random weights, {shape[0]} layers of width {shape[1]}"
        table = compare(title, random, pairs, None, repeats, runs, asked)
    ratio = trained.lines[1].times(table.lines[0])
    first = trained.lines[1].name
    note = f"the checkpoint above in {first} has {ratio:.1f} times the speed of the listing with these weights"
    yield SpeedTable(table.title, table.unit, table.lines, table.bases, (*table.notes, note))


@click.command("stsscore")
@options.data()
@options.checkpoint("STSScore")
@click.option("--pairs", type=click.IntRange(2), help="Largest number of pairs, evenly spaced; default: all.")
@options.repeats(REPEATS)
@click.option(
    "--shape", type=(int, int), default=ROBERTA_BASE, show_default=True, help="Layers and width of the random weights."
)
@options.timed_runs("torch")
@options.record
def stsscore(
    data: Path | None,
    checkpoint: str | None,
    pairs: int | None,
    repeats: int,
    shape: tuple[int, int],
    backend: tuple[str, ...],
    precision: tuple[str, ...],
    device: str,
    run: Run,
    output: Path | None,
) -> None:
    """STSScore: each precision beside one pair at a time."""
    run = {"device": device, **run}
    runs = runs_to_time(backend, precision, run)
    print_tables(_tables(data, checkpoint, pairs, repeats, shape, runs, bool(precision)), repeats, output, run)
