"""Which word moved a consensus, and by how much; see `pair_attribution` for the method."""

import numpy as np

from semantic_metrics.consensus.parts import PairModels
from semantic_metrics.consensus.weights import Weights
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.core.texts import can_compare
from semantic_metrics.cross_encoder.pair_attribution import LEAVE_ONE_OUT, Explainer, Explanation, Texts
from semantic_metrics.quantities.compare import compare
from semantic_metrics.quantities.manners import plain
from semantic_metrics.quantities.rules import DIFFERENT, OPEN, rule

METHODS = (LEAVE_ONE_OUT,)
MAX_PIECES = 48  # longer texts are explained by runs of words: each piece costs two passes of the model


def explain(models: PairModels, texts: Texts, weights: Weights, run: RunOptions, matcha_run: RunOptions) -> Explanation:
    """The explanation of both texts (see `Explainer`): the score minus that of the texts without each word.

    `run` is how the cross-encoder runs, `matcha_run` how MATCHA's encoder does.
    """
    texts = {side: plain(text) for side, text in texts.items()}
    ruling = rule(texts["reference"], texts["prediction"]).ruling
    differences = compare(texts["reference"], texts["prediction"]).differences

    def score(variants: list[Texts]) -> np.ndarray:
        predictions, references = ([variant[side] for variant in variants] for side in ("prediction", "reference"))
        # a word that is left out does not take the contradiction away, unless it is one of those that differ
        pairs = list(zip(references, predictions, strict=True))
        rulings = [rule(*pair).ruling for pair in pairs]
        if ruling.kind == DIFFERENT:
            kept = [all(part.written in a and part.other in b for part in differences) for a, b in pairs]
            rulings = [ruling if stays else OPEN for stays in kept]
        scores = weights.score(models.parts(predictions, references, run, matcha_run, rulings))
        blank = [not can_compare(a, b) for a, b in zip(predictions, references, strict=True)]
        return np.where(blank, 0.0, scores)

    explanation = Explainer(models.scorer, texts, run, by_word=True, max_pieces=MAX_PIECES).leave_one_out(score)
    whole = models.parts([texts["prediction"]], [texts["reference"]], run, matcha_run)
    return explanation | {"rule": whole.decision(0)}
