"""What the contributions of an explanation add up to; here, as demos import from this folder alone."""

from collections.abc import Mapping
from typing import Any

ADDITIVE_METHODS = ("exact", "integrated_gradients")  # of `explain`: contributions add up
SUM_TOLERANCE = 0.005  # of a sum of contributions that is said to be the score: half of what two digits show


def adds_up_to(explanation: Mapping[str, Any], text: str) -> float | None:
    """What the contributions of a text's tokens add up to: the score, or what it is above that of a baseline.

    None if they add up to neither: where each is what the score loses without the token, or where an integral is off.

    Args:
        explanation: result of a metric's `explain`.
        text: "prediction", "reference" or "question".
    """
    if explanation["method"] not in ADDITIVE_METHODS:
        return None
    side = explanation[text]
    wanted = explanation["score"] - side.get("baseline_score", 0.0)
    return wanted if abs(side["total"] - wanted) <= SUM_TOLERANCE else None
