"""Which token moved the score, and by how much.

A text is the mean of its tokens' rows (in a contextual checkpoint: of their last states), so no further pass is needed.

`exact` splits the cosine itself: every token's share of the dot product, over both norms; the shares sum to the
score. `integrated_gradients` splits the change of the cosine along the straight path from a baseline (Sundararajan
et al., 2017; paper, appendix C); the shares sum to the score minus the baseline's score. The integral is closed-form
too: where two texts contradict each other the path passes close to the origin, and there sums over steps (the authors
take 50) are far off.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from semantic_metrics.core.inputs import invalid_input
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.matcha.table import MatchaTable, TokenRows, cosine

if TYPE_CHECKING:  # the table does without torch
    from semantic_metrics.matcha.contextual import ContextualEncoder

    Encoder = MatchaTable | ContextualEncoder

METHODS = ("exact", "integrated_gradients")
BASELINES = ("token_0", "other_text")
# both are shares of the norm of the path's longer end
MIN_DISTANCE = 1e-12  # a path that passes nearer to the origin counts as this far from it: the integral stays finite
MIN_PATH_LENGTH = 1e-8  # on a shorter path, the gradient at its end counts for all of it

Explanation = dict[str, Any]


def explain(
    encoder: "Encoder",
    prediction: str,
    reference: str,
    method: str = "exact",
    baseline: str | None = None,
    run: RunOptions = DEFAULT_OPTIONS,
) -> Explanation:
    """Token contributions in both directions; of a contextual checkpoint, whose states depend on one another, `exact`.

    `baseline` is where the path of `integrated_gradients` begins: `token_0` (every position holds token id 0) or
    `other_text` (every position holds the other text's vector). The paper takes the first when the score is above 0 and
    the second otherwise; so does None.

    Returns:
        `score`, `method`, and for `prediction` and `reference` each a dict of `tokens`, `spans` (begin and end
        characters in the text; None for padding and separators), `contributions` (one per token; positive raises the
        score), `total` (their sum), and with integrated gradients `baseline` and `baseline_score`. A text without any
        known token has contributions of 0, and so has the text it is compared with.

    Raises:
        InvalidInput: integrated gradients with a contextual checkpoint.
    """
    if method != "exact" and not isinstance(encoder, MatchaTable):
        raise invalid_input("method", f"expected 'exact' for a contextual checkpoint, got {method!r}")
    a, b = encoder.token_rows(prediction, run), encoder.token_rows(reference, run)
    score = float(cosine(a.vector[None], b.vector[None])[0])
    if baseline is None:
        baseline = "token_0" if score > 0 else "other_text"
    start = None if method == "exact" else baseline
    return {
        "score": score,
        "method": method,
        "prediction": _contributions(encoder, a, b, start),
        "reference": _contributions(encoder, b, a, start),
    }


def _contributions(encoder: "Encoder", text: TokenRows, other: TokenRows, start: str | None) -> Explanation:
    path: Explanation = {}
    size, other_size = np.linalg.norm(text.vector), np.linalg.norm(other.vector)
    if size == 0 or other_size == 0:
        shares = np.zeros(len(text.weights))
    elif start is None:
        shares = text.weights * (text.rows @ (other.vector / other_size)) / size
    else:
        begin = other.vector
        if start == "token_0":
            assert isinstance(encoder, MatchaTable), "others are refused above"
            begin = encoder.rows_of(np.zeros(1, dtype=int))[0]
        shares = text.weights * ((text.rows - begin) @ _mean_gradient(begin, text.vector, other.vector))
        path = {"baseline": start, "baseline_score": float(cosine(begin[None], other.vector[None])[0])}
    return {
        "tokens": text.tokens,
        "spans": text.spans,
        "contributions": shares.tolist(),
        "total": float(shares.sum()),
        **path,
    }


def _mean_gradient(begin: np.ndarray, end: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(D,) gradient of cos(h, other) with respect to h, averaged over the straight path from `begin` to `end`.

    A point of the path is `across` * d + `along` * s, with d the distance of its line from the origin. With
    s = d sinh(x) its direction is `across` sech(x) + `along` tanh(x), and every term of the integral is elementary.
    """
    target, step = other / np.linalg.norm(other), end - begin
    length, longest = np.linalg.norm(step), max(np.linalg.norm(begin), np.linalg.norm(end))
    if length < MIN_PATH_LENGTH * longest:
        unit = end / np.linalg.norm(end)
        return (target - (target @ unit) * unit) / np.linalg.norm(end)
    along = step / length
    foot = begin - (begin @ along) * along
    distance = max(np.linalg.norm(foot), MIN_DISTANCE * longest)
    across = foot / distance
    s = np.array([begin @ along, end @ along])
    sizes = np.hypot(s, distance)
    x, tanh, sech = (np.diff(values)[0] for values in (np.arcsinh(s / distance), s / sizes, distance / sizes))
    p, q = target @ across, target @ along
    return ((target - q * along) * x + (q * sech - p * tanh) * across + (p * sech + q * tanh) * along) / length
