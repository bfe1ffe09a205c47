"""Store a trained cross-encoder in 8 bits, in shards that a Git host takes, and measure what that changes.

    python -m training.shrink runs/large/checkpoint --data DATA --output model_cards/large

Writes the checkpoint with its weights as `semantic_metrics.cross_encoder.eight_bits` stores them, and prints, on the
validation sets of the run, every figure before and after and the largest change of a probability or similarity, which
go into the checkpoint's training.json as well.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.torch import load_file
from scipy.special import softmax

from semantic_metrics.core.checkpoint_files import WEIGHTS
from semantic_metrics.cross_encoder import eight_bits
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from training.cards import RECORD, write_card
from training.cross_encoder.pairs import Outputs, PairSource
from training.cross_encoder.targets import figures
from training.data.run_arguments import make_parser
from training.data.sources import Table
from training.data.states import written_whole


def shrink(folder: Path, output: Path) -> None:
    """Write a checkpoint again with its weights in 8 bits; `output` is replaced, whole or not at all."""
    with written_whole(output) as written:
        shutil.copytree(folder, written, ignore=shutil.ignore_patterns(WEIGHTS), dirs_exist_ok=True)
        eight_bits.write(load_file(folder / WEIGHTS), written)


def compare(folder: Path, shrunk: Path, sources: list[PairSource], outputs: Outputs, data: Path | None) -> dict:
    """Figures of a checkpoint and of the same in 8 bits by validation set, and the largest change of a score."""
    scorers = PairScorer(folder), PairScorer(shrunk)
    table, largest, count = {}, 0.0, 0
    scale = (getattr(scorers[0].config, "stsscore", None) or {}).get("scale", 1.0)  # none without a similarity
    for source in sources:
        pairs, _ = source.load(data, outputs, frozenset())
        texts = list(zip(pairs["sentence1"], pairs["sentence2"], strict=True))
        count += len(texts)
        logits = [scorer.logits(texts).values for scorer in scorers]
        targets, classes = np.stack(pairs["label"]), len(outputs.classes)
        before, after = (figures(values, targets, classes) for values in logits)
        table[source.name] = {name: [round(before[name], 4), round(after[name], 4)] for name in before}
        scores = [_scores(values, classes, scale) for values in logits]
        largest = max(largest, float(np.abs(scores[0] - scores[1]).max()))
    return {"pairs": count, "largest_change": round(largest, 4), "figures": table}


def _scores(logits: np.ndarray, classes: int, scale: float) -> np.ndarray:
    """Probabilities of the classes, if there are any, beside the similarity in [0, 1]."""
    similarities = np.clip(logits[:, classes:] / scale, 0, 1)
    return np.hstack([softmax(logits[:, :classes], axis=1), similarities]) if classes else similarities


def main() -> None:
    """Command line."""
    parser = make_parser(__doc__)
    parser.add_argument("folder", type=Path, help="Checkpoint that train_cross_encoder.py wrote.")
    parser.add_argument("--limit", type=int, default=200, help="Pairs of each validation set (default 200).")
    arguments = parser.parse_args()
    try:
        record = json.loads((arguments.folder / RECORD).read_text(encoding="utf-8"))
        shrink(arguments.folder, arguments.output)
        config = record["config"]
        sources = [
            PairSource(**{**entry, "table": Table(**entry["table"]), "limit": arguments.limit})
            for entry in config["validate"]
        ]
        outputs = Outputs(config["classes"] or [], config["similarity"] or not config["classes"])
        record["eight_bits"] = compare(arguments.folder, arguments.output, sources, outputs, arguments.data)
    except (OSError, KeyError, ValueError) as error:
        parser.error(str(error))
    write_card(arguments.output, record)
    sys.stdout.write(json.dumps(record["eight_bits"], indent=1) + "\n")


if __name__ == "__main__":
    main()
