"""How fast MATCHA is: against the authors' package, and against its own tokeniser.

    python -m benchmarks.speed matcha [--data FOLDER] [--authors-format FOLDER] [--output FILE.json]

Both sides get the same weights in the same process and are timed in turn, the peer
on the first few of the texts; every time is the median of `--repeats`, after a warm-up.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np

from benchmarks.common.timing import Pairs, machine, medians, own_cache, read_pairs
from benchmarks.matcha import authors_package as peer
from semantic_metrics import load
from semantic_metrics.matcha.matcha import PAIRS_AT_A_TIME

PEER = "matcha-metric 0.1.8"
LONG = 512  # tokens beyond which the peer cuts a text
REPEATS = 5
BUSY = 0.5  # load average from which the times are not to be trusted


@dataclass(frozen=True)
class Split:
    """Where the time of `compute` goes, in seconds for all texts.

    Attributes:
        checkpoint: its name.
        pairs: how many were scored, two texts each.
        tokens: of all texts.
        load: `evaluate.load`, checkpoint included.
        tokenizer: the tokeniser alone, on the same texts in one call.
        encode: texts to vectors, tokeniser included.
        compute: `compute` end to end.
        texts_per_second: of `compute`.
        tokenizer_speed_kept: `tokenizer` / `compute`, the speed of `compute` relative to its tokeniser alone.
    """

    checkpoint: str
    pairs: int
    tokens: int
    load: float
    tokenizer: float
    encode: float
    compute: float
    texts_per_second: float
    tokenizer_speed_kept: float


@dataclass(frozen=True)
class Comparison:
    """This metric beside the peer, with the same weights.

    Attributes:
        weights: what they are.
        peer_pairs: pairs that the peer was timed on (it pads every text to 512 tokens, so its time is one of texts, not
            of tokens); both sides score them, and the same texts repeated beyond 512 tokens, to compare the scores.
        pairs: pairs that this metric was timed on, those among them.
        peer_seconds, seconds: for those pairs.
        seconds_same_pairs: this metric's, for the peer's pairs.
        peer_texts_per_second, texts_per_second: two texts a pair.
        ratio: of those two; `ratio_same_pairs` is that on the peer's few pairs alone, where the fixed cost of a call,
            some milliseconds, is all that is measured.
        largest_difference: between the scores of both sides.
        lowest_score, highest_score: the peer's; they must lie apart for the difference to mean anything.
    """

    weights: str
    peer_pairs: int
    pairs: int
    peer_seconds: float
    seconds: float
    seconds_same_pairs: float
    peer_texts_per_second: float
    texts_per_second: float
    ratio: float
    ratio_same_pairs: float
    largest_difference: float
    lowest_score: float
    highest_score: float


def _lengthen(text: str) -> str:
    """The text again and again, beyond 512 tokens: nothing is padded, and scores lie apart even with random weights."""
    return " ".join([text] * (LONG // len(text.split()) + 1))


def split(checkpoint: str | None, pairs: Pairs, repeats: int) -> Split:
    """Time `compute` and its parts."""
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

    (tokenizer, encodings), (encode, _), (compute, _) = medians(
        [
            tokenize,
            encode_as_compute_does,
            lambda: metric.compute(predictions=predictions, references=references),
        ],
        repeats,
    )
    return Split(
        checkpoint=checkpoint or "embedded",
        pairs=len(pairs),
        tokens=sum(len(encoding.ids) for encoding in encodings),
        load=loaded,
        tokenizer=tokenizer,
        encode=encode,
        compute=compute,
        texts_per_second=len(texts) / compute,
        tokenizer_speed_kept=tokenizer / compute,
    )


def compare(weights: str, folder: Path, pairs: Pairs, peer_pairs: int, repeats: int) -> Comparison:
    """Time the peer on a few pairs and this metric on all, and compare the scores of the few."""
    few = pairs[:peer_pairs]
    other, metric = peer.load_peer(folder), load("matcha", str(folder))

    def ours(chosen: Pairs) -> list[float]:
        return metric.compute(predictions=[a for a, _ in chosen], references=[b for _, b in chosen])["scores"]

    def theirs(chosen: Pairs) -> list[float]:
        return other.score([a for a, _ in chosen], [b for _, b in chosen]).tolist()

    timed = medians([lambda: theirs(few), lambda: ours(pairs), lambda: ours(few)], repeats)
    (peer_seconds, peer_scores), (seconds, _), (same, scores) = timed
    long = [(_lengthen(a), _lengthen(b)) for a, b in few]  # not timed: scores that lie apart, to compare
    expected = np.array(peer_scores + theirs(long))
    scores = np.array(scores + ours(long))
    peer_speed, speed = 2 * len(few) / peer_seconds, 2 * len(pairs) / seconds
    return Comparison(
        weights=weights,
        peer_pairs=len(few),
        pairs=len(pairs),
        peer_seconds=peer_seconds,
        seconds=seconds,
        seconds_same_pairs=same,
        peer_texts_per_second=peer_speed,
        texts_per_second=speed,
        ratio=speed / peer_speed,
        ratio_same_pairs=peer_seconds / same,
        largest_difference=float(np.abs(scores - expected).max()),
        lowest_score=float(expected.min()),
        highest_score=float(expected.max()),
    )


def _show_split(found: Split) -> None:
    rest = found.compute - found.encode
    rows = [
        ("tokeniser", found.tokenizer),
        ("table and means", found.encode - found.tokenizer),
        ("checks, evaluate, cosines", rest),
        ("compute() end to end", found.compute),
    ]
    click.echo(f"\nThis metric, checkpoint {found.checkpoint} (loaded in {found.load:.2f} s)")
    click.echo(f"{found.pairs} pairs, {2 * found.pairs} distinct texts, {found.tokens} tokens")
    for name, seconds in rows:
        microseconds = seconds / (2 * found.pairs) * 1e6
        share = seconds / found.compute
        click.echo(f"  {name:<26}{seconds * 1e3:>10.1f} ms{microseconds:>8.1f} us per text{share:>7.0%}")
    kept = f"{found.tokenizer_speed_kept:.2f} of its tokeniser's speed"
    click.echo(f"  {found.texts_per_second:,.0f} texts per second, {kept}")


def _show_comparison(found: Comparison) -> None:
    click.echo(f"\nBeside {PEER}, {found.weights}")
    rows = [
        (PEER, found.peer_pairs, found.peer_seconds),
        ("this metric", found.pairs, found.seconds),
        ("this metric, same pairs", found.peer_pairs, found.seconds_same_pairs),
    ]
    click.echo(f"  {'':<26}{'pairs':>7}{'seconds':>12}{'texts per second':>18}")
    for name, pairs, seconds in rows:
        click.echo(f"  {name:<26}{pairs:>7}{seconds:>12.4f}{2 * pairs / seconds:>18,.1f}")
    few = f"{found.ratio_same_pairs:,.0f} on the peer's few pairs alone"
    click.echo(f"  {found.ratio:,.0f} times the texts per second ({few})")
    click.echo(
        f"  largest score difference {found.largest_difference:.1e} over {2 * found.peer_pairs} pairs, half of them "
        f"long, scores from {found.lowest_score:.3f} to {found.highest_score:.3f}"
    )


@click.command("matcha")
@click.option("--data", type=click.Path(path_type=Path), envvar="SEMANTIC_METRICS_DATA", help="The data folder.")
@click.option("--checkpoint", help="As config_name of evaluate.load; the embedded one if left out.")
@click.option("--authors-format", type=click.Path(path_type=Path), help="Weights of our own, as the peer reads them.")
@click.option("--pairs", type=click.IntRange(1), help="Pairs to time this metric on, at most; all if left out.")
@click.option("--peer-pairs", default=8, type=click.IntRange(1), show_default=True, help="Pairs for the peer.")
@click.option("--repeats", default=REPEATS, type=click.IntRange(1), show_default=True, help="Times are medians of.")
@click.option(
    "--shape",
    type=(int, int, int),
    default=(peer.GPT2_VOCABULARY, peer.GPT2_WIDTH, peer.SENSES),
    show_default=True,
    help="Vocabulary, width and context vectors of the random weights.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the figures to this JSON file too.")
def matcha(
    data: Path | None,
    checkpoint: str | None,
    authors_format: Path | None,
    pairs: int | None,
    peer_pairs: int,
    repeats: int,
    shape: tuple[int, int, int],
    output: Path | None,
) -> None:
    """MATCHA, beside the authors' package."""
    described = machine()
    if described["load_average"][0] > BUSY:
        click.echo(f"The machine is busy (load average {described['load_average'][0]:.1f}): the times are too high.")
    texts = read_pairs(data, pairs)
    with own_cache() as cache:
        try:
            found = split(checkpoint, texts, repeats)
            _show_split(found)
            sources = _weights(cache, texts, shape, authors_format)
            comparisons = [compare(name, folder, texts, peer_pairs, repeats) for name, folder in sources]
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    for comparison in comparisons:
        _show_comparison(comparison)
    if authors_format is None:
        click.echo("\nNot compared with weights of our own: the folded table ships, the network does not.")
        click.echo("--authors-format takes the folder `network` of a training run.")
    if output is not None:
        record = {
            "command": " ".join(["python -m benchmarks.speed", *sys.argv[1:]]),
            "machine": described,
            "repeats": repeats,
            "split": asdict(found),
            "comparisons": [asdict(comparison) for comparison in comparisons],
        }
        output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _weights(
    cache: Path, pairs: Pairs, shape: tuple[int, int, int], authors_format: Path | None
) -> list[tuple[str, Path]]:
    """Checkpoints in the authors' format, each with words for what it holds."""
    vocabulary, width, senses = shape
    tokenizer = peer.train_tokenizer([text for pair in pairs for text in pair], vocabulary)
    folder = peer.write_random_checkpoint(cache / "random", tokenizer, width, senses)
    found = [(f"random weights, {vocabulary} x {width}, {senses} contexts", folder)]
    if authors_format is not None:
        found.append((f"weights of {authors_format}", peer.with_padding(authors_format, cache / "ours")))
    return found
