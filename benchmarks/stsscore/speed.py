"""How fast STSScore is: each precision beside the paper's listing, which scores one pair at a time.

    python -m benchmarks.speed stsscore [--data FOLDER] [--checkpoint NAME] [--pairs N] [--output FILE.json]

On STS-B test, with a checkpoint and with random weights in the shape of RoBERTa-base, the size of the paper's scorer.
Both sides get the same weights in the same process and are timed in turn; run it on an otherwise idle machine.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
import torch
from scipy.stats import pearsonr
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from benchmarks.common.timing import machine, medians, read_pairs
from benchmarks.stsscore.sets import Seen, load_pairs
from semantic_metrics import load
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.cross_encoder.precision import PRECISIONS
from semantic_metrics.stsscore.stsscore import SIGMOID, checkpoint_scale

ROBERTA_BASE = (12, 768)  # layers, width
HEAD_WIDTH, INNER = 64, 4  # of every BERT and RoBERTa: width of an attention head, and of the inner layer in widths
POSITIONS = 514  # of RoBERTa
REPEATS = 3
LISTING = "listing"

Pairs = list[tuple[str, str]]  # reference, prediction


@dataclass(frozen=True)
class Side:
    """One way to score the pairs.

    Attributes:
        name: the listing, or a precision of the metric.
        seconds: for all pairs; a median.
        pairs_per_second: pairs / seconds.
        times_listing: how many times the listing's speed.
        times_float32: how many times the metric's own in float32.
        largest_drift: of a score, from the listing's.
        r_listing: Pearson's r with the listing's scores.
        r_labels: Pearson's r with the labels; None without labels or with random weights.
    """

    name: str
    seconds: float
    pairs_per_second: float
    times_listing: float
    times_float32: float
    largest_drift: float
    r_listing: float
    r_labels: float | None


@dataclass(frozen=True)
class Comparison:
    """The sides with the same weights.

    Attributes:
        weights: what they are.
        parameters: how many.
        pairs: how many were scored; `distinct` of them differ.
        tokens: of all, separators included.
        sides: the listing first.
    """

    weights: str
    parameters: int
    pairs: int
    distinct: int
    tokens: int
    sides: list[Side]


def random_checkpoint(folder: Path, tokenizer_of: Path, layers: int, width: int) -> Path:
    """Write a RoBERTa with random weights and the tokeniser of another checkpoint."""
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_of)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // HEAD_WIDTH,
        intermediate_size=INNER * width,
        max_position_embeddings=POSITIONS,
        type_vocab_size=2,  # RoBERTa has one, but the tokeniser may be BERT's
        pad_token_id=tokenizer.pad_token_id,
        num_labels=1,
        stsscore={"scale": 5.0},
    )
    RobertaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def listing(scorer: PairScorer, scale: float | str) -> Callable[[Pairs], np.ndarray]:
    """One pair at a time, with what the paper's listing 1 calls: padding and truncation on, gradients recorded."""
    tokenizer = AutoTokenizer.from_pretrained(scorer.folder, model_max_length=scorer.max_length)
    model = AutoModelForSequenceClassification.from_pretrained(scorer.folder, dtype=torch.float32).eval()

    def score(pairs: Pairs) -> np.ndarray:
        logits = []
        for pair in pairs:
            batch = tokenizer(*pair, padding=True, truncation=True, return_tensors="pt")
            logits.append(model(**batch).logits.item())
        return 1 / (1 + np.exp(-np.array(logits))) if scale == SIGMOID else np.array(logits) / scale

    return score


def compare(weights: str, checkpoint: str | None, pairs: Pairs, labels: np.ndarray | None, repeats: int) -> Comparison:
    """Time the listing and every precision on the same pairs, and compare their scores.

    Raises:
        ValueError: no such checkpoint, or one that does not say its scale.
    """
    metric = load("stsscore", checkpoint)
    scale = checkpoint_scale(metric.scorer.folder, metric.scorer.config, str(checkpoint))
    if scale is None:
        raise ValueError(f"checkpoint {checkpoint}: expected one that says its scale")
    references, predictions = map(list, zip(*pairs, strict=True))
    one_by_one = listing(metric.scorer, scale)

    def run(precision: str) -> Callable[[], np.ndarray]:
        def scores() -> np.ndarray:
            found = metric.compute(predictions=predictions, references=references, precision=precision, device="cpu")
            return np.array(found["scores"])

        return scores

    timed = medians([lambda: one_by_one(pairs), *map(run, PRECISIONS)], repeats)
    (listing_seconds, expected), (float32_seconds, _) = timed[:2]
    sides = [
        Side(
            name=name,
            seconds=seconds,
            pairs_per_second=len(pairs) / seconds,
            times_listing=listing_seconds / seconds,
            times_float32=float32_seconds / seconds,
            largest_drift=float(np.abs(scores - expected).max()),
            r_listing=float(pearsonr(scores, expected).statistic),
            r_labels=None if labels is None else float(pearsonr(scores, labels).statistic),
        )
        for name, (seconds, scores) in zip((LISTING, *PRECISIONS), timed, strict=True)
    ]
    tokenizer = AutoTokenizer.from_pretrained(metric.scorer.folder, model_max_length=metric.scorer.max_length)
    tokens = sum(map(len, tokenizer(references, predictions, truncation=True)["input_ids"]))
    parameters = AutoModelForSequenceClassification.from_pretrained(metric.scorer.folder).num_parameters()
    return Comparison(weights, parameters, len(pairs), len(set(pairs)), tokens, sides)


def _read(data: Path | None, limit: int | None) -> tuple[Pairs, np.ndarray | None, str]:
    """Pairs, their labels and where they are from: STS-B test, or without a data folder the bundled sample."""
    if data is None:
        return [(reference, text) for text, reference in read_pairs(None, limit)], None, "the bundled sample"
    found = load_pairs(data, ["stsb"], Seen({}))
    if not found:
        raise ValueError(f"data: expected stsb/test.parquet in {data}")
    pairs = list(zip(found["stsb"].references, found["stsb"].candidates, strict=True))
    kept = np.linspace(0, len(pairs) - 1, min(limit or len(pairs), len(pairs))).astype(int)  # its genres are in order
    return [pairs[i] for i in kept], found["stsb"].ratings[kept], found["stsb"].title


def _show(found: Comparison) -> None:
    click.echo(f"\n{found.weights}, {found.parameters / 1e6:.0f}M parameters")
    click.echo(f"{found.pairs} pairs, {found.distinct} distinct, {found.tokens / found.pairs:.1f} tokens a pair")
    titles = ("pairs/s", "x listing", "x float32", "largest drift", "r with listing", "r with labels")
    click.echo(f"  {'':<10}" + "".join(f"{title:>16}" for title in titles))
    for side in found.sides:
        labels = "-" if side.r_labels is None else f"{side.r_labels:.4f}"
        click.echo(
            f"  {side.name:<10}{side.pairs_per_second:>16.1f}{side.times_listing:>16.2f}{side.times_float32:>16.2f}"
            f"{side.largest_drift:>16.1e}{side.r_listing:>16.5f}{labels:>16}"
        )


def _against(checkpoint: Comparison, random: Comparison) -> float:
    """How many times the pairs a second of the listing at the paper's size the checkpoint scores in float32."""
    return checkpoint.sides[1].pairs_per_second / random.sides[0].pairs_per_second


@click.command("stsscore")
@click.option("--data", type=click.Path(path_type=Path), envvar="SEMANTIC_METRICS_DATA", help="The data folder.")
@click.option("--checkpoint", help="As config_name of evaluate.load; the embedded one if left out.")
@click.option("--pairs", type=click.IntRange(2), help="Pairs at most, evenly spaced; all if left out.")
@click.option("--repeats", default=REPEATS, type=click.IntRange(1), show_default=True, help="Times are medians of.")
@click.option(
    "--shape", type=(int, int), default=ROBERTA_BASE, show_default=True, help="Layers and width of the random weights."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the figures to this JSON file too.")
def stsscore(
    data: Path | None,
    checkpoint: str | None,
    pairs: int | None,
    repeats: int,
    shape: tuple[int, int],
    output: Path | None,
) -> None:
    """STSScore: each precision beside one pair at a time."""
    described, comparisons = machine(), []
    try:
        chosen, labels, source = _read(data, pairs)
        click.echo(f"{source}, {described['torch_threads']} threads")
        comparisons.append(compare(f"Checkpoint {checkpoint or 'embedded'}", checkpoint, chosen, labels, repeats))
        _show(comparisons[-1])
        with tempfile.TemporaryDirectory() as folder:
            random = random_checkpoint(Path(folder), load("stsscore", checkpoint).scorer.folder, *shape)
            title = f"Random weights, {shape[0]} layers of width {shape[1]}"
            comparisons.append(compare(title, str(random), chosen, None, repeats))
        _show(comparisons[-1])
        click.echo(f"\nThe checkpoint in float32: {_against(*comparisons):.1f} times the listing with these weights")
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if output is not None:
        record = {
            "command": " ".join(["python -m benchmarks.speed", *sys.argv[1:]]),
            "machine": described,
            "repeats": repeats,
            "pairs": source,
            "comparisons": [asdict(found) for found in comparisons],
            "checkpoint_times_listing_of_shape": _against(*comparisons),
        }
        output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
