"""Which word or token moved an STSScore, and by how much; see `pair_attribution` for the two methods."""

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
    ruled_value,
    trace,
)
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.quantities.manners import legible
from semantic_metrics.quantities.rewrite import Rewritten, rewrite
from semantic_metrics.quantities.rules import OPEN, SAME, UNREAD_RULING, Ruled, Ruling, limited, rule


def rulings(scorer: PairScorer, ruled: list[Ruled]) -> list[Ruling]:
    """What limits the similarity of each pair: that it is the same, or that the model cannot read what differs."""
    return [
        one.ruling
        if one.ruling.kind == SAME
        else UNREAD_RULING
        if scorer.is_unread(one.reference, one.prediction)
        else OPEN
        for one in ruled
    ]


def explain(scorer: PairScorer, texts: Texts, method: str, scale: float | str, run: RunOptions) -> Explanation:
    """Token contributions in both directions, as `Explainer` describes them; `scale` divides or squashes the raw score.

    The texts are those that the model reads, but for numbers and names of the reference that it reads in the
    prediction's writing.
    """
    whole = rule(texts["reference"], texts["prediction"])
    plain = legible(texts["reference"])
    written = rewrite(plain, whole.prediction)
    if written.text != whole.reference:
        plain, written = whole.reference, Rewritten(whole.reference, tuple(range(len(whole.reference))))
    texts = {"prediction": whole.prediction, "reference": plain}
    explainer = Explainer(scorer, texts, run, by_word=method == LEAVE_ONE_OUT)
    tokens, characters = trace(scorer, (whole.reference, whole.prediction), run.max_length)
    origins = np.array([*written.origins, -1])  # the last is for the tokens that belong to neither text, -1
    characters[0] = origins[characters[0]]
    sides = zip(("reference", "prediction"), characters, strict=True)
    pair = TracedPair(tokens, {side: owners(row, explainer.spans[side]) for side, row in sides})

    column = similarity_label(scorer.labels)

    def value(logits: list[torch.Tensor]) -> torch.Tensor:
        raw = logits[0][:, column]
        return torch.sigmoid(raw) if isinstance(scale, str) else raw / scale

    def score(variants: list[Texts]) -> np.ndarray:
        ruled = [whole if one == texts else rule(one["reference"], one["prediction"]) for one in variants]
        logits = scorer.logits([(one.reference, one.prediction) for one in ruled], run)
        scores = value([torch.from_numpy(logits.values).double()]).numpy()
        return limited(scores, rulings(scorer, ruled))

    (ruling,) = rulings(scorer, [whole])
    if method == LEAVE_ONE_OUT:
        read = {side: np.unique(own[own >= 0]) for side, own in pair.owners.items()}
        explanation = explainer.leave_one_out(score, read)
    else:
        whole_score = float(score([texts])[0])
        explanation = explainer.integrated_gradients(whole_score, [pair], ruled_value(value, ruling))
    return explanation | {"rule": ruling.decision}
