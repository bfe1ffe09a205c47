"""Record the scores that every metric must keep with every shipped checkpoint: `make golden`, after a new version.

They are kept by signature: what a signature once stood for never changes.
"""

import json
import sys

from benchmarks.suite.guarantees import GOLDEN, SHIPPED, golden_result


def tolerance(signature: str) -> float:
    """How far scores may lie from those recorded: sums of the table are exact, a model's differ by processor."""
    is_table = signature.startswith("matcha|") and "|dtype:float16|" in signature
    return 1e-12 if is_table else 1e-5


def difference(source: str) -> tuple[str, float | None]:
    """The signature of a metric and how far its scores lie from those recorded for it; None if none are."""
    result, recorded = golden_result(source)
    distances = [abs(a - b) for a, b in zip(recorded or result["scores"], result["scores"], strict=True)]
    return result["signature"], None if recorded is None else max(distances)


def main() -> None:
    """Add the scores of the shipped checkpoints; refuse to change those that are there."""
    stored = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for source in SHIPPED:
        result, recorded = golden_result(source)
        signature, scores = result["signature"], result["scores"]
        if recorded is None:
            stored["scores"][signature] = scores
        elif any(abs(a - b) > tolerance(signature) for a, b in zip(recorded, scores, strict=True)):
            sys.exit(f"{source}: scores have changed, raise its VERSION: {signature}")
    pairs = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in stored["pairs"])
    kept = ",\n".join(f"    {json.dumps(name)}: {json.dumps(values)}" for name, values in stored["scores"].items())
    GOLDEN.write_text(f'{{\n  "pairs": [\n{pairs}\n  ],\n  "scores": {{\n{kept}\n  }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
