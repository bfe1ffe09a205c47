"""Record the scores that the shipped checkpoint must keep: `make golden`, after a new checkpoint or version.

They are kept by signature: what a signature once stood for never changes.
"""

import json
import sys
from pathlib import Path

import evaluate

FILE = Path(__file__).parent / "golden" / "matcha.json"
METRIC = Path(__file__).parents[1] / "metrics" / "matcha"
TOLERANCE = 1e-12  # sums in float64 are exact; the last step, the cosine, may round differently on another processor


def read() -> tuple[list[str], list[str], dict[str, list[float]]]:
    """Predictions, references, and the scores recorded for each signature."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    predictions, references = zip(*stored["pairs"], strict=True)
    return list(predictions), list(references), stored["scores"]


def main() -> None:
    """Add the scores of the shipped checkpoint; refuse to change those that are there."""
    predictions, references, recorded = read()
    result = evaluate.load(str(METRIC)).compute(predictions=predictions, references=references)
    scores = recorded.setdefault(result["signature"], result["scores"])
    if any(abs(a - b) > TOLERANCE for a, b in zip(scores, result["scores"], strict=True)):
        sys.exit(f"{result['signature']}: scores have changed; raise VERSION in metrics/matcha/scoring.py")
    rows = zip(predictions, references, strict=True)
    pairs = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows)
    kept = ",\n".join(f"    {json.dumps(name)}: {json.dumps(values)}" for name, values in recorded.items())
    FILE.write_text(f'{{\n  "pairs": [\n{pairs}\n  ],\n  "scores": {{\n{kept}\n  }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
