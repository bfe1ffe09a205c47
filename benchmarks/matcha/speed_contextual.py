"""How fast the contextual MATCHA is: against sentence-transformers, with the same weights.

    python -m benchmarks.speed contextual [--data FOLDER] [--checkpoint NAME] [--output FILE.json]

Both sides encode the same texts in the same process, in turn, and take the cosines; every time is the median of
`--repeats`, after a warm-up.
"""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from sentence_transformers import SentenceTransformer

from benchmarks.common.timing import Pairs, machine, medians, read_pairs
from semantic_metrics import load
from semantic_metrics.matcha.checkpoint import CONTEXTUAL, embedded_checkpoints

PAIRS = 1000
REPEATS = 3
FLOAT32 = {"dtype": "float32"}  # as the metric runs; the stored float16 is slow on a CPU


@dataclass(frozen=True)
class Comparison:
    """Both sides on the same pairs.

    Attributes:
        pairs: how many, two texts each.
        peer_texts_per_second, texts_per_second: of sentence-transformers, and of `compute` end to end.
        ratio: of the two; above 1, `compute` is faster.
        largest_difference: between the scores of both sides.
    """

    pairs: int
    peer_texts_per_second: float
    texts_per_second: float
    ratio: float
    largest_difference: float


def compare(checkpoint: str, pairs: Pairs, repeats: int) -> Comparison:
    """Time both sides.

    Raises:
        ValueError: no such checkpoint.
    """
    metric = load("matcha", checkpoint)
    folder = embedded_checkpoints().get(checkpoint, checkpoint)  # the peer takes a folder or a Hub id
    peer = SentenceTransformer(str(folder), local_files_only=Path(folder).is_dir(), model_kwargs=FLOAT32)
    predictions, references = map(list, zip(*pairs, strict=True))

    def theirs() -> np.ndarray:
        a, b = (peer.encode(texts, normalize_embeddings=True) for texts in (predictions, references))
        return (a * b).sum(1)

    def ours() -> np.ndarray:
        return np.array(metric.compute(predictions=predictions, references=references)["scores"])

    (peer_seconds, expected), (seconds, scores) = medians([theirs, ours], repeats)
    speeds = [2 * len(pairs) / each for each in (peer_seconds, seconds)]
    return Comparison(len(pairs), *speeds, speeds[1] / speeds[0], float(np.abs(scores - expected).max()))


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), envvar="SEMANTIC_METRICS_DATA")
@click.option("--checkpoint", default=CONTEXTUAL, show_default=True, help="Name, folder or Hub id.")
@click.option("--pairs", default=PAIRS, show_default=True, type=click.IntRange(1), help="To score, at most.")
@click.option("--repeats", default=REPEATS, show_default=True, type=click.IntRange(1))
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="JSON file to write.")
def contextual(data: Path | None, checkpoint: str, pairs: int, repeats: int, output: Path | None) -> None:
    """The contextual MATCHA, beside sentence-transformers."""
    described = machine()
    try:
        found = compare(checkpoint, read_pairs(data, pairs), repeats)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{found.pairs} pairs, checkpoint {checkpoint}")
    click.echo(f"  sentence-transformers     {found.peer_texts_per_second:>8,.0f} texts per second")
    click.echo(f"  compute() end to end      {found.texts_per_second:>8,.0f} texts per second, {found.ratio:.2f} times")
    click.echo(f"  largest difference of a score {found.largest_difference:.1e}")
    if output is not None:
        command = " ".join(["python -m benchmarks.speed", *sys.argv[1:]])
        record = {"command": command, "machine": described, "repeats": repeats, "comparison": asdict(found)}
        output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    contextual()
