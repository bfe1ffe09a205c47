"""STSScore as an `evaluate.Metric`: the similarity of two texts, predicted by a cross-encoder."""

import json
import sys
from dataclasses import dataclass, fields
from pathlib import Path

import datasets
import evaluate
import numpy as np
from transformers import PretrainedConfig

from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.checkpoint_files import refuse_damage
from semantic_metrics.core.inputs import check_choice, check_text, invalid_input, quote
from semantic_metrics.core.references import MULTI_REFERENCE, best_or_mean, flatten
from semantic_metrics.core.resolve import resolve_checkpoint, shipped_checkpoints
from semantic_metrics.core.signature import Signature, no_score_change
from semantic_metrics.cross_encoder.pair_attribution import METHODS, Explanation
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS, label_names, read_config
from semantic_metrics.cross_encoder.pair_scorer import BATCH_SEQUENCES, DEFAULT_OPTIONS, PairScorer, RunOptions
from semantic_metrics.stsscore.attribution import explain

VERSION = "0.1.0"
MIN_SCALE = 1e-6  # a smaller one counts as 0: it would make any raw score a huge number
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
        takes what the checkpoint's configuration says; where that says nothing, this argument is needed.
    clip: limit scores to [0, 1] (default False, as in the paper).
    symmetric: score each pair in both directions and take the mean (default False, as in the paper).
    multi_reference: "best" (default) takes the highest score over the references, "mean" their mean.
    precision: "float32" (default), or "bfloat16" or "int8", which are faster and move the scores.
    max_length: tokens of a pair that count; the longer text is cut first. None (default) for the checkpoint's own.
    batch_size: largest number of pairs that the model reads at a time (default 64).
    device: where the model runs, such as "cpu" or "cuda:0"; None (default) for a GPU if there is one.
    output: "all" (default), or "mean" for {"stsscore": mean} alone.

Returns:
    stsscore: mean of `scores`.
    scores: n floats, about 0 (nothing in common) to 1 (the same meaning), higher is better; without a sigmoid or
        `clip` a score may lie a little outside of [0, 1].
    signature: every setting that can change a score, the checkpoint's and tokeniser's sha256 among them.
    undefined: number of predictions that are blank, or whose references all are. The model scores them too, but such
        a score compares nothing.
    truncated: number of pairs (a prediction with one of its references) that were longer than `max_length`.
    best_reference: with several references, the index of the best for each prediction (the first of equals).

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate, an
        invalid option, or no scale; names the argument, before anything is scored.

Example:
    >>> stsscore = evaluate.load("metrics/stsscore")
    >>> close = stsscore.compute(predictions=["A man plays a guitar."], references=["A man is playing the guitar."])
    >>> far = stsscore.compute(predictions=["A man plays a guitar."], references=["The vote was put off again."])
    >>> close["stsscore"] > 0.8 > 0.2 > far["stsscore"]
    True
"""


@dataclass(frozen=True)
class Options:
    """Settings of one call of `compute`, whose docstring explains them; scale and run are those that apply.

    Raises:
        InvalidInput: a value is not allowed.
    """

    scale: float | str
    clip: bool = False
    symmetric: bool = False
    run: RunOptions = DEFAULT_OPTIONS
    multi_reference: str = "best"
    output: str = no_score_change("all")

    def __post_init__(self) -> None:
        check_choice("clip", self.clip, (False, True))
        check_choice("symmetric", self.symmetric, (False, True))
        check_choice("multi_reference", self.multi_reference, MULTI_REFERENCE)
        check_choice("output", self.output, ("all", "mean"))


class STSScore(CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `resolve_checkpoint`)."""

    scorer: PairScorer

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("predictions", "references"),
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
        batch_size: int = BATCH_SEQUENCES,
        device: str | None = None,
        output: str = "all",
    ) -> dict | None:
        """Score predictions against references, together with those added before."""
        run = {"precision": precision, "max_length": max_length, "batch_size": batch_size, "device": device}
        rules = {"clip": clip, "symmetric": symmetric, "multi_reference": multi_reference, "output": output}
        columns = {"predictions": predictions, "references": references}
        return self.compute_checked(columns, self._options(scale, **rules, **run))

    def _options(self, scale: float | str | None = None, **settings: object) -> Options:
        """The arguments of `compute`, checked, with the checkpoint's own values where they are None."""
        run = {item.name: settings.pop(item.name) for item in fields(RunOptions) if item.name in settings}
        return Options(self._scale(scale), run=self.scorer.resolve(RunOptions(**run)), **settings)

    def _compute(self, predictions: list[str], references: list, options: Options) -> dict:
        texts, counts = flatten(references)
        owners = np.repeat(np.arange(len(predictions)), counts)
        pairs = [(text, predictions[i]) for text, i in zip(texts, owners, strict=True)]
        swapped = [(b, a) for a, b in pairs] if options.symmetric else []
        logits = self.scorer.logits(pairs + swapped, options.run)
        scores = _apply(options.scale, logits.values[:, 0].astype(np.float64)).reshape(-1, len(pairs)).mean(axis=0)
        merged, best = best_or_mean(scores, counts, options.multi_reference)
        if options.clip:  # the best reference remains that of the unlimited scores, among which ties are rare
            merged, _ = best_or_mean(np.clip(scores, 0.0, 1.0), counts, options.multi_reference)
        result: dict = {"stsscore": float(np.mean(merged))}
        if options.output == "mean":
            return result
        blank = [not (a.strip() and "".join(b).strip()) for a, b in zip(predictions, references, strict=True)]
        result |= {
            "scores": merged.tolist(),
            "signature": str(self._signature(options)),
            "undefined": sum(blank),
            "truncated": int(logits.truncated.reshape(-1, len(pairs)).any(axis=0).sum()),
        }
        if isinstance(references[0], list):
            result["best_reference"] = best.tolist()
        return result

    def signature(self, **settings: object) -> str:
        """Every setting that can change a score, given arguments of `compute`; equal signatures can be compared."""
        return str(self._signature(self._options(**settings)))

    def _signature(self, options: Options) -> Signature:
        return Signature.of("stsscore", self.scorer.signature_fields(), options, VERSION)

    def explain(
        self,
        prediction: str,
        reference: str,
        method: str = "leave_one_out",
        scale: float | str | None = None,
        max_length: int | None = None,
        batch_size: int = BATCH_SEQUENCES,
        device: str | None = None,
    ) -> Explanation:
        """Contribution of each token to the score of one pair, in both directions; see `attribution.explain`.

        `method` is "leave_one_out" (the score minus that of the texts without the token) or "integrated_gradients"
        (the contributions sum to the score minus that of a baseline of padding). The other arguments are those of
        `compute`; the model runs in float32.

        Raises:
            InvalidInput: a text is not a valid string, the method is unknown, or an option is invalid.
        """
        texts = {"prediction": check_text("prediction", prediction), "reference": check_text("reference", reference)}
        check_choice("method", method, METHODS)
        run = self.scorer.resolve(RunOptions("float32", max_length, batch_size, device))
        return explain(self.scorer, texts, method, self._scale(scale), run)

    def _scale(self, scale: float | str | None) -> float | str:
        """The scale that applies: the argument, or else the checkpoint's."""
        if scale is None:
            scale = checkpoint_scale(self.scorer.folder, self.scorer.config, str(self.config_name))
            if scale is None:
                raise invalid_input(
                    "scale",
                    f"expected a number or {SIGMOID!r}, as the config of checkpoint {self.config_name} does not "
                    "say whether its raw score is a rating (and up to what) or goes through a sigmoid; got None",
                )
        number = type(scale) in (int, float) and MIN_SCALE <= scale <= sys.float_info.max
        if not number and not (isinstance(scale, str) and scale == SIGMOID):
            raise invalid_input("scale", f"expected a number above 0, {SIGMOID!r} or None, got {quote(scale)}")
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
    """The scale of a checkpoint's raw score: a number that divides it, "sigmoid", or None if the checkpoint has none.

    sentence-transformers stores the activation: a sigmoid gives [0, 1]; without one the raw score may have any range.
    Its versions have written it to three places; the newest place counts, as in the library.
    The `config.json` of our checkpoints has the range: `"stsscore": {"scale": 5.0}`.
    """
    path = folder / "config_sentence_transformers.json"
    with refuse_damage(f"checkpoint {folder}: expected JSON in {path.name}"):
        newest = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    older, own = (getattr(config, name, None) or {} for name in ("sentence_transformers", "stsscore"))
    if not all(isinstance(settings, dict) for settings in (newest, older, own)):
        raise ValueError(f"checkpoint {folder}: expected objects for the settings of its score, got {quote(own)}")
    oldest = getattr(config, "sbert_ce_default_activation_function", None)
    activation = newest.get("activation_fn") or older.get("activation_fn") or oldest
    if str(activation).rpartition(".")[2] == "Sigmoid":
        return SIGMOID
    return own.get("scale", PUBLISHED_SCALES.get(name.partition("@")[0]))


def _apply(scale: float | str, logits: np.ndarray) -> np.ndarray:
    return (1 + np.tanh(logits / 2)) / 2 if scale == SIGMOID else logits / scale  # tanh: no overflow
