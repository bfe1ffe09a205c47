"""Which token moved an STSScore, and by how much; see `pair_attribution` for the two methods."""

import numpy as np
import torch

from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import similarity_label
from semantic_metrics.cross_encoder.pair_attribution import (
    LEAVE_ONE_OUT,
    Explainer,
    Explanation,
    Texts,
    TracedPair,
    owners,
    trace,
)
from semantic_metrics.cross_encoder.pair_scorer import PairScorer


def explain(scorer: PairScorer, texts: Texts, method: str, scale: float | str, run: RunOptions) -> Explanation:
    """Token contributions in both directions.

    Args:
        scorer: the cross-encoder.
        texts: `prediction` and `reference`.
        method: "leave_one_out" or "integrated_gradients".
        scale: what the raw score means: a number divides it, "sigmoid" squashes it.
        run: how the model runs; for integrated gradients in float32, on torch.

    Returns:
        The parts of an explanation, which `Explainer` describes.
    """
    explainer = Explainer(scorer, texts, run)
    tokens, characters = trace(scorer, (texts["reference"], texts["prediction"]), run.max_length)
    sides = zip(("reference", "prediction"), characters, strict=True)
    pair = TracedPair(tokens, {side: owners(row, explainer.spans[side]) for side, row in sides})

    column = similarity_label(scorer.labels)

    def value(logits: list[torch.Tensor]) -> torch.Tensor:
        raw = logits[0][:, column]
        return torch.sigmoid(raw) if isinstance(scale, str) else raw / scale

    def score(variants: list[Texts]) -> np.ndarray:
        logits = scorer.logits([(variant["reference"], variant["prediction"]) for variant in variants], run)
        return value([torch.from_numpy(logits.values).double()]).numpy()

    if method == LEAVE_ONE_OUT:
        return explainer.leave_one_out(score, {side: np.unique(own[own >= 0]) for side, own in pair.owners.items()})
    return explainer.integrated_gradients(float(score([texts])[0]), [pair], value)
