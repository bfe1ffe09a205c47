"""Which token moved an STSScore, and by how much; see `explain_pairs` for the two methods."""

import numpy as np
import torch

from semantic_metrics.cross_encoder.pair_attribution import (
    METHODS,
    Explainer,
    Explanation,
    Sequence,
    Texts,
    owners,
    trace,
)
from semantic_metrics.cross_encoder.pair_scorer import PairScorer


def explain(
    scorer: PairScorer, texts: Texts, method: str, scale: float | str, reading: dict[str, object]
) -> Explanation:
    """Token contributions in both directions.

    Args:
        scorer: the checkpoint.
        texts: `prediction` and `reference`.
        method: of METHODS.
        scale: of the raw score: a number divides it, "sigmoid" squashes it.
        reading: options of `PairScorer.logits`.

    Returns:
        `score`, `method`, and for `prediction` and `reference` each a dict of `tokens`, `spans` (begin and end
        characters in the text), `contributions` (one per token; positive raises the score, 0 for a token that is cut
        off), `total` (their sum), and with integrated gradients `baseline`, `baseline_score` and `error` (`total` minus
        what it should be, the score minus that of the baseline).
    """
    explainer = Explainer(scorer, texts, reading["batch_size"], reading["device"])
    tokens, places = trace(scorer, (texts["reference"], texts["prediction"]), reading["max_length"])
    sides = zip(("reference", "prediction"), places, strict=True)
    sequence = Sequence(tokens, {side: owners(place, explainer.spans[side]) for side, place in sides})

    def value(logits: list[torch.Tensor]) -> torch.Tensor:
        raw = logits[0][:, 0]
        return torch.sigmoid(raw) if isinstance(scale, str) else raw / scale

    def score(variants: list[Texts]) -> np.ndarray:
        pairs = [(variant["reference"], variant["prediction"]) for variant in variants]
        found = scorer.logits(pairs, **reading)
        return value([torch.from_numpy(found.values).double()]).numpy()

    if method == METHODS[0]:
        return explainer.leave_one_out(score, {side: np.unique(own[own >= 0]) for side, own in sequence.owners.items()})
    return explainer.integrated_gradients(float(score([texts])[0]), [sequence], value)
