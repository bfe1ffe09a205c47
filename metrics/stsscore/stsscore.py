"""STSScore as an `evaluate.Metric`: the similarity of two texts, predicted by a cross-encoder."""

import math
from pathlib import Path

import datasets
import evaluate
import numpy as np
from datasets import Features, Sequence, Value
from transformers import PretrainedConfig

from semantic_metrics.core.checked_metric import CheckedInputs
from semantic_metrics.core.inputs import check_choice, check_text
from semantic_metrics.core.resolve import resolve_checkpoint, shipped_checkpoints
from semantic_metrics.cross_encoder.pair_attribution import METHODS, Explanation
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS, label_names, read_activation, read_config
from semantic_metrics.cross_encoder.pair_scorer import BATCH_SIZE, PairScorer
from semantic_metrics.cross_encoder.precision import PRECISIONS
from semantic_metrics.stsscore.attribution import explain

__all__ = ["PRECISIONS", "STSScore"]  # evaluate copies only the siblings that this script itself imports

VERSION = "0.1.0"
DEFAULT_CHECKPOINT = "stsscore"
SIGMOID = "sigmoid"
PUBLISHED_SCALES = {"WillHeld/roberta-base-stsb": 5.0}  # Herbold, section 3: STSScore = logit / 5, of this checkpoint

_DESCRIPTION = """\
STSScore predicts how similar two texts are in meaning: a cross-encoder that was trained on human ratings of sentence
pairs (STS-B, 0 to 5) reads both, and its rating divided by five is the score, near [0, 1], higher is better (Herbold,
TMLR 2023).
"""

_CITATION = """\
@article{herbold2023stsscore,
  title = {Semantic similarity prediction is better than other semantic similarity measures},
  author = {Herbold, Steffen},
  journal = {Transactions on Machine Learning Research},
  year = {2023},
  url = {https://openreview.net/forum?id=bfsNmgN5je},
}
"""

_INPUTS = """
Args:
    predictions: list of n strings, the texts to judge. The model reads them second, after the reference. Any text is
        allowed, the empty one included: the model has a score for it too (see `undefined`).
    references: list of n strings, or of n lists of strings (several references each).
    scale: what the model's raw score means: a number divides it, "sigmoid" squashes it into (0, 1). None (default)
        takes what the checkpoint says of itself; where it says nothing, this argument must.
    clip: move what lies beyond [0, 1] to its ends (default False, as in the paper).
    symmetric: score each pair in both directions and take the mean (default False, as in the paper).
    multi_reference: "best" (default) takes the highest score over the references, "mean" their mean.
    precision: "float32" (default), or "bfloat16" or "int8", which are faster and move the scores.
    max_length: tokens of a pair that count; the longer text is cut first. None (default) for the checkpoint's own.
    batch_size: pairs that the model reads at a time, at most (default 64).
    device: where the model runs, as "cpu" or "cuda:0"; None (default) for a GPU if there is one.
    output: "all" (default), or "mean" for {"stsscore": mean} alone.

Returns:
    stsscore: mean of `scores`.
    scores: n floats, about 0 (nothing in common) to 1 (the same meaning), higher is better; a checkpoint without a
        sigmoid may go a little beyond, unless `clip` is set.
    signature: every setting that can change a score, the checkpoint's and tokeniser's sha256 among them.
    undefined: how many of the predictions, or all of whose references, are blank. Their scores are what the model
        says, and compare nothing.
    truncated: how many pairs, of a prediction with one of its references, were longer than `max_length`.
    best_reference: with several references, the index of the best for each prediction (the first of equals).

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate, an
        option that is none, or no scale; names the argument, before anything is scored.

Example:
    >>> stsscore = evaluate.load("metrics/stsscore")
    >>> close = stsscore.compute(predictions=["A man plays a guitar."], references=["A man is playing the guitar."])
    >>> far = stsscore.compute(predictions=["A man plays a guitar."], references=["The vote was put off again."])
    >>> close["stsscore"] > 0.8 > 0.2 > far["stsscore"]
    True
"""


class STSScore(CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `resolve_checkpoint`)."""

    scorer: PairScorer

    def _info(self) -> evaluate.MetricInfo:
        text = Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[
                Features({"predictions": text, "references": Sequence(text)}),
                Features({"predictions": text, "references": text}),
            ],
            homepage="https://openreview.net/forum?id=bfsNmgN5je",
            license="Apache-2.0",
        )

    def _download_and_prepare(self, dl_manager: datasets.DownloadManager) -> None:
        self.scorer = load_scorer(self.config_name)

    def compute(
        self,
        *,
        predictions: list[str] | None = None,
        references: list | None = None,
        scale: float | str | None = None,
        clip: bool = False,
        symmetric: bool = False,
        multi_reference: str = "best",
        precision: str = "float32",
        max_length: int | None = None,
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
        output: str = "all",
    ) -> dict | None:
        """Score predictions against references, those added before included."""
        check_choice("clip", clip, (False, True))
        check_choice("symmetric", symmetric, (False, True))
        check_choice("multi_reference", multi_reference, ("best", "mean"))
        check_choice("output", output, ("all", "mean"))
        self.scorer.check_options(precision, max_length, batch_size, device)
        options = {
            "scale": self._scale(scale),
            "clip": clip,
            "symmetric": symmetric,
            "multi_reference": multi_reference,
            "precision": precision,
            "max_length": max_length,
            "batch_size": batch_size,
            "device": device,
            "output": output,
        }
        return self.compute_checked({"predictions": predictions, "references": references}, options)

    def _compute(
        self,
        predictions: list[str],
        references: list,
        scale: float | str,
        clip: bool,
        symmetric: bool,
        multi_reference: str,
        precision: str,
        max_length: int | None,
        batch_size: int,
        device: str | None,
        output: str,
    ) -> dict:
        several = isinstance(references[0], list)
        groups = references if several else [[text] for text in references]
        pairs = [(text, prediction) for prediction, group in zip(predictions, groups, strict=True) for text in group]
        turned = [(b, a) for a, b in pairs] if symmetric else []
        found = self.scorer.logits(pairs + turned, precision, max_length, batch_size, device)
        each = _apply(scale, found.values[:, 0].astype(np.float64)).reshape(-1, len(pairs)).mean(axis=0)
        scores, best = _merge(each, [len(group) for group in groups], multi_reference, clip)
        if output == "mean":
            return {"stsscore": float(np.mean(scores))}
        blank = [not (a.strip() and "".join(group).strip()) for a, group in zip(predictions, groups, strict=True)]
        result = {
            "stsscore": float(np.mean(scores)),
            "scores": scores,
            "signature": self.signature(scale, clip, symmetric, multi_reference, precision, max_length),
            "undefined": sum(blank),
            "truncated": int(found.truncated.reshape(-1, len(pairs)).any(axis=0).sum()),
        }
        if several:
            result["best_reference"] = best
        return result

    def signature(
        self,
        scale: float | str | None = None,
        clip: bool = False,
        symmetric: bool = False,
        multi_reference: str = "best",
        precision: str = "float32",
        max_length: int | None = None,
    ) -> str:
        """Every setting that can change a score; results with the same signature are comparable."""
        parts = {
            "checkpoint": self.scorer.checkpoint_sha256[:16],
            "tokenizer": self.scorer.tokenizer_sha256[:16],
            "scale": self._scale(scale),
            "clip": clip,
            "symmetric": symmetric,
            "precision": precision,
            "max_length": max_length or self.scorer.max_length,
            "multi_reference": multi_reference,
            "version": VERSION,
        }
        return "stsscore|" + "|".join(f"{key}:{str(value).lower()}" for key, value in parts.items())

    def explain(
        self,
        prediction: str,
        reference: str,
        method: str = "leave_one_out",
        scale: float | str | None = None,
        max_length: int | None = None,
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
    ) -> Explanation:
        """Contribution of each token to the score of one pair, in both directions; see `attribution.explain`.

        `method` is "leave_one_out" (the score minus that of the texts without the token) or "integrated_gradients"
        (the contributions sum to the score minus that of a baseline of padding). The other arguments are those of
        `compute`; the model runs in float32.

        Raises:
            ValueError: a text that is none, an unknown method, or an option that is none.
        """
        texts = {"prediction": check_text("prediction", prediction), "reference": check_text("reference", reference)}
        check_choice("method", method, METHODS)
        self.scorer.check_options("float32", max_length, batch_size, device)
        reading = {"precision": "float32", "max_length": max_length, "batch_size": batch_size, "device": device}
        return explain(self.scorer, texts, method, self._scale(scale), reading)

    def _scale(self, scale: float | str | None) -> float | str:
        """The scale that was asked for, or else the checkpoint's."""
        if scale is None:
            scale = checkpoint_scale(self.scorer.folder, self.scorer.config, str(self.config_name))
            if scale is None:
                raise ValueError(
                    f"scale: expected a number or {SIGMOID!r}, as the config of checkpoint {self.config_name} does not "
                    "say whether its raw score is a rating (and up to what) or goes through a sigmoid; got None"
                )
        number = type(scale) in (int, float) and math.isfinite(scale) and scale > 0
        if not number and scale != SIGMOID:
            raise ValueError(f"scale: expected a number above 0, {SIGMOID!r} or None, got {scale!r}")
        return float(scale) if number else SIGMOID


def load_scorer(name: str | None = None) -> PairScorer:
    """Load a checkpoint that rates pairs.

    Args:
        name: as `resolve_checkpoint` takes it.

    Raises:
        ValueError: no such checkpoint, a damaged one, or one that has several labels (as for NLI); names them.
    """
    embedded = shipped_checkpoints(lambda config: "id2label" in config)
    folder = resolve_checkpoint(name, DEFAULT_CHECKPOINT, embedded, OTHER_WEIGHTS)
    labels = label_names(read_config(folder))
    if len(labels) != 1:
        raise ValueError(f"checkpoint {folder}: expected one label, a rating, got {len(labels)}: {', '.join(labels)}")
    return PairScorer(folder)


def checkpoint_scale(folder: Path, config: PretrainedConfig, name: str) -> float | str | None:
    """What a checkpoint says of its raw score: a number that divides it, "sigmoid", or None where it says nothing.

    sentence-transformers stores the activation; a sigmoid gives [0, 1], but with none the raw score may be a rating of
    any range. The `config.json` of ours says the range too: `"stsscore": {"scale": 5.0}`.
    """
    if str(read_activation(folder, config)).rpartition(".")[2] == "Sigmoid":
        return SIGMOID
    own = getattr(config, "stsscore", None) or {}
    return own.get("scale", PUBLISHED_SCALES.get(name.partition("@")[0]))


def _apply(scale: float | str, logits: np.ndarray) -> np.ndarray:
    return (1 + np.tanh(logits / 2)) / 2 if scale == SIGMOID else logits / scale  # tanh: no overflow


def _merge(each: np.ndarray, counts: list[int], multi_reference: str, clip: bool) -> tuple[list[float], list[int]]:
    """Scores of all references, `counts` of them for each prediction -> one for each prediction, and which was best."""
    limited = np.clip(each, 0.0, 1.0) if clip else each
    scores, best, begin = [], [], 0
    for count in counts:
        group = slice(begin, begin + count)
        best.append(int(each[group].argmax()))  # before clipping, which makes equals
        mean = np.sort(limited[group]).mean()  # sorted: the mean is the same in any order
        scores.append(float(limited[group].max() if multi_reference == "best" else mean))
        begin += count
    return scores, best
