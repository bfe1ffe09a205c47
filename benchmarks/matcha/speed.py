"""How fast MATCHA's table is, part by part, and beside the authors' package.

    python -m benchmarks.speed matcha [--data FOLDER] [--authors-format FOLDER] [--output FILE.json]

Both sides get the same weights in the same process and are timed in turn; every time is the median of `--repeats`
calls, after a warm-up. The authors' package is timed on the first few of the pairs: it pads every text to 512 tokens,
so that its time depends on the number of texts alone. --device and --batch-size are of that package: the table runs no
model.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import click
from torch.nn.functional import cosine_similarity

from benchmarks.common import options
from benchmarks.common.own_metrics import Run
from benchmarks.common.timing import Pairs, Speed, SpeedTable, largest_difference, medians, print_tables, read_pairs
from benchmarks.matcha import authors_package
from semantic_metrics import load
from semantic_metrics.cli.options import model_options
from semantic_metrics.matcha.scoring import PAIRS_AT_A_TIME
from semantic_metrics.matcha.word_cache import WordCache, reads_words

PACKAGE = "matcha-metric 0.1.8"
PACKAGE_TOKENS = 512  # the authors' package cuts a text after these
CACHE_VARIABLE = "SEMANTIC_METRICS_CACHE"
REPEATS = 5


def time_parts(checkpoint: str | None, pairs: Pairs, repeats: int) -> SpeedTable:
    """Time `compute` and its parts: tokeniser, encoding, everything.

    The last two find the words of the texts in the table's cache, where the warm-up left them; "each word once" begins
    with an empty one.
    """
    begin = time.perf_counter()
    metric = load("matcha", checkpoint)
    loaded = time.perf_counter() - begin
    table = metric.encoder
    predictions, references = map(list, zip(*pairs, strict=True))
    texts = predictions + references

    def tokenize() -> list:
        return table.tokenizer.encode_batch_fast(texts, add_special_tokens=table.config.add_special_tokens)

    def encode_as_compute_does() -> None:
        for i in range(0, len(pairs), PAIRS_AT_A_TIME):
            table.encode(predictions[i : i + PAIRS_AT_A_TIME] + references[i : i + PAIRS_AT_A_TIME])

    parts = {
        "tokeniser": tokenize,
        "tokeniser, table and means": encode_as_compute_does,
        "compute() end to end": lambda: metric.compute(predictions=predictions, references=references),
    }
    if reads_words(table.tokenizer):
        parts["tokeniser, each word once"] = lambda: WordCache(table.tokenizer).ids(texts)
    timed = medians(parts.values(), repeats)
    lines = [Speed(name, len(texts), seconds) for name, (seconds, _) in zip(parts, timed, strict=True)]
    tokens = sum(len(encoding.ids) for encoding in timed[0][1])
    title = f"This metric, checkpoint {checkpoint or 'shipped'}"
    return SpeedTable(title, "texts", lines, notes=(f"{tokens:,} tokens; loaded in {loaded:.2f} s",))


def compare(weights: str, folder: Path, pairs: Pairs, package_pairs: int, repeats: int, run: Run) -> SpeedTable:
    """Time the authors' package on a few pairs and this metric on all, and compare the scores of the few.

    Scores are also compared on the few texts repeated beyond PACKAGE_TOKENS: nothing is padded there, and the scores
    differ from pair to pair even with random weights. `run` is the device and the batch size of the package, which has
    its own where none is given.
    """
    few = pairs[:package_pairs]
    device, sizes = run["device"], {name: value for name, value in run.items() if name == "batch_size"}
    package, metric = authors_package.load_package(folder, device), load("matcha", str(folder))

    def ours(chosen: Pairs) -> list[float]:
        return metric.compute(predictions=[a for a, _ in chosen], references=[b for _, b in chosen])["scores"]

    def theirs(chosen: Pairs) -> list[float]:
        a, b = (package.encode(list(side), **sizes) for side in zip(*chosen, strict=True))
        return cosine_similarity(a, b, dim=-1).tolist()  # as its `score`, which takes no batch size

    timed = medians([lambda: theirs(few), lambda: ours(pairs), lambda: ours(few)], repeats)
    (package_seconds, package_scores), (seconds, _), (few_seconds, scores) = timed
    long = [(_lengthen(a), _lengthen(b)) for a, b in few]
    expected = package_scores + theirs(long)
    difference = largest_difference(scores + ours(long), expected)
    lines = [
        Speed(PACKAGE, 2 * len(few), package_seconds),
        Speed("this metric", 2 * len(pairs), seconds, difference),
        Speed("this metric, same texts", 2 * len(few), few_seconds, difference),
    ]
    spread = f"from {min(expected):.3f} to {max(expected):.3f}"
    note = f"difference: over {2 * len(few)} pairs, half of them long, with scores {spread}"
    return SpeedTable(f"Beside {PACKAGE}, {weights}", "texts", lines, notes=(note,))


def _lengthen(text: str) -> str:
    """The text again and again, beyond PACKAGE_TOKENS."""
    return " ".join([text] * (PACKAGE_TOKENS // len(text.split()) + 1))


def _tables(
    pairs: Pairs,
    checkpoint: str | None,
    authors_format: Path | None,
    package_pairs: int,
    repeats: int,
    shape: tuple[int, int, int],
    run: Run,
) -> Iterator[SpeedTable]:
    yield time_parts(checkpoint, pairs, repeats)
    vocabulary, width, senses = shape
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {CACHE_VARIABLE: folder}):
        cache = Path(folder)  # also of folded checkpoints, so that random ones do not fill the user's
        tokenizer = authors_package.train_tokenizer([text for pair in pairs for text in pair], vocabulary)
        folder = authors_package.write_random_checkpoint(cache / "random", tokenizer, width, senses)
        weights = f"random weights, {vocabulary} x {width}, {senses} contexts"
        yield compare(weights, folder, pairs, package_pairs, repeats, run)
        if authors_format is not None:
            folder = authors_package.with_padding(authors_format, cache / "ours")
            yield compare(f"weights of {authors_format}", folder, pairs, package_pairs, repeats, run)


@click.command("matcha")
@options.data()
@options.checkpoint("MATCHA")
@click.option(
    "--authors-format",
    type=options.FOLDER,
    help="Trained weights to compare with as well: the folder `network` of a training run.",
)
@click.option("--pairs", type=click.IntRange(1), help="Largest number of pairs for this metric; default: all.")
@click.option(
    "--package-pairs", default=8, type=click.IntRange(1), show_default=True, help="Pairs for the authors' package."
)
@options.repeats(REPEATS)
@click.option(
    "--shape",
    type=(int, int, int),
    default=(authors_package.GPT2_VOCABULARY, authors_package.GPT2_WIDTH, authors_package.SENSES),
    show_default=True,
    help="Vocabulary, width and context vectors of the random weights.",
)
@options.timed_device
@model_options("batch_size")
@options.record
def matcha(
    data: Path | None,
    checkpoint: str | None,
    authors_format: Path | None,
    pairs: int | None,
    package_pairs: int,
    repeats: int,
    shape: tuple[int, int, int],
    device: str,
    run: Run,
    output: Path | None,
) -> None:
    """MATCHA, beside the authors' package."""
    texts, run = read_pairs(data, pairs), {"device": device, **run}
    tables = _tables(texts, checkpoint, authors_format, package_pairs, repeats, shape, run)
    print_tables(tables, repeats, output, run)
    if authors_format is None:
        click.echo("Not compared with trained weights: the package has the folded table, not the network.")
        click.echo("--authors-format takes the folder `network` of a training run.")
