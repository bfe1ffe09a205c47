"""Which token moved a consensus, and by how much; see `pair_attribution` for the method."""

import numpy as np

from semantic_metrics.consensus.parts import PairModels
from semantic_metrics.consensus.weights import Weights
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.core.texts import can_compare
from semantic_metrics.cross_encoder.pair_attribution import LEAVE_ONE_OUT, Explainer, Explanation, Texts
from semantic_metrics.nli_lex.conflicts import differing_numbers, has_differences

METHODS = (LEAVE_ONE_OUT,)
MAX_PIECES = 48  # longer texts are explained by words or runs of words: each piece costs two passes of the model


def explain(models: PairModels, texts: Texts, weights: Weights, run: RunOptions, matcha_run: RunOptions) -> Explanation:
    """Contributions of the tokens of both texts: the score minus that of the texts without the token.

    Args:
        models: what scores the texts.
        texts: `prediction` and `reference`.
        weights: of the judgements.
        run: how the cross-encoder runs.
        matcha_run: how MATCHA's encoder runs.

    Returns:
        The parts of an explanation, which `Explainer` describes.
    """
    differences = differing_numbers(texts["reference"], texts["prediction"])

    def score(variants: list[Texts]) -> np.ndarray:
        predictions, references = ([variant[side] for variant in variants] for side in ("prediction", "reference"))
        # a word that is left out does not take the contradiction away, unless it is one of those that differ
        pairs = zip(references, predictions, strict=True)
        contradict = [bool(differences) and has_differences(*pair, differences) for pair in pairs]
        scores = weights.score(models.parts(predictions, references, run, matcha_run, contradict))
        blank = [not can_compare(a, b) for a, b in zip(predictions, references, strict=True)]
        return np.where(blank, 0.0, scores)

    return Explainer(models.scorer, texts, run, MAX_PIECES).leave_one_out(score)
