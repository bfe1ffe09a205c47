"""STSScore's scores: the similarity of two texts, predicted by a cross-encoder. `evaluate` is not needed."""

from dataclasses import dataclass

import numpy as np
from typing_extensions import Required, TypedDict, Unpack

from semantic_metrics.core.checkpoint_files import resolve_checkpoint, shipped_checkpoints
from semantic_metrics.core.inputs import References, Texts, check_choice, invalid_input
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunArguments, RunOptions
from semantic_metrics.core.signature import Signature
from semantic_metrics.core.text_scoring import TextScoring
from semantic_metrics.core.texts import MULTI_REFERENCE, best_or_mean, flatten, is_blank
from semantic_metrics.core.threshold import ResultArguments, ResultOptions
from semantic_metrics.cross_encoder.heads import SIGMOID, check_scale, checkpoint_scale, rating, similarity_label
from semantic_metrics.cross_encoder.pair_attribution import Explanation, check_method, read_pair
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS, check_labels, read_config
from semantic_metrics.cross_encoder.pair_scorer import DEFAULT_CHECKPOINT, PairScorer
from semantic_metrics.quantities.manners import without_thoughts
from semantic_metrics.quantities.rules import count_unread, limited, rule
from semantic_metrics.stsscore.attribution import explain, rulings

VERSION = "0.18.0"


class Arguments(RunArguments, ResultArguments, total=False):
    """Arguments of `compute` besides the texts."""

    scale: float | str | None
    clip: bool
    symmetric: bool
    multi_reference: str


class Result(TypedDict, total=False):
    """What `compute` returns; with `output="mean"` the first key alone."""

    stsscore: Required[float]
    scores: list[float]
    signature: str
    undefined: int
    truncated: int
    best_reference: list[int]
    unread: int
    thoughts: int
    correct: list[bool]
    decided_by: str


@dataclass(frozen=True)
class Options(ResultOptions):
    """Settings of one call of `compute`, whose docstring explains them; scale and run are those that apply.

    Raises:
        InvalidInput: a value is not allowed.
    """

    scale: float | str
    clip: bool = False
    symmetric: bool = False
    run: RunOptions = DEFAULT_OPTIONS
    multi_reference: str = "best"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("clip", self.clip, (False, True))
        check_choice("symmetric", self.symmetric, (False, True))
        check_choice("multi_reference", self.multi_reference, MULTI_REFERENCE)


class STSScoring(TextScoring):
    """Scores texts; `config_name` names the checkpoint (see `resolve_checkpoint`)."""

    scorer: PairScorer

    def load_models(self) -> None:
        """See `TextScoring`."""
        self.scorer = load_scorer(self.config_name)

    def compute(
        self,
        *,
        predictions: Texts | None = None,
        references: References | None = None,
        **arguments: Unpack[Arguments],
    ) -> Result:
        """Score predictions against references, together with those added before."""
        columns = {"predictions": predictions, "references": references}
        result: Result = self.compute_checked(columns, self._options(arguments))
        return result

    def _options(self, arguments: Arguments) -> Options:
        """The arguments of `compute`, checked, with the checkpoint's own values where they are None."""
        run, others = RunOptions.split(arguments, Arguments)
        run = self.scorer.resolve(run)
        return Options(self._scale(others.pop("scale", None)), run=run, **others)

    def _compute(self, predictions: Texts, references: References, options: Options) -> Result:
        predictions, thoughts = without_thoughts(predictions)
        texts, counts = flatten(references)
        owners = np.repeat(np.arange(len(predictions)), counts)
        ruled = [rule(text, predictions[i]) for text, i in zip(texts, owners, strict=True)]
        pairs = [(one.reference, one.prediction) for one in ruled]
        swapped = [(b, a) for a, b in pairs] if options.symmetric else []
        logits = self.scorer.logits(pairs + swapped, options.run)
        raw = logits.values[:, similarity_label(self.scorer.labels)]
        scores = rating(options.scale, raw.astype(np.float64)).reshape(-1, len(pairs)).mean(axis=0)
        limits = rulings(self.scorer, ruled)
        top = self._top(options.scale)
        scores = top * limited(scores / top, limits)
        merged, best = best_or_mean(scores, counts, options.multi_reference)
        if options.clip:  # the best reference remains that of the unlimited scores, among which ties are rare
            merged, _ = best_or_mean(np.clip(scores, 0.0, 1.0), counts, options.multi_reference)
        result: Result = {"stsscore": float(np.mean(merged))}
        if options.output == "mean":
            return result
        blank = [is_blank(a) or is_blank("".join(b)) for a, b in zip(predictions, references, strict=True)]
        result |= {
            "scores": merged.tolist(),
            "signature": str(self._signature(options)),
            "undefined": sum(blank),
            "truncated": int(logits.truncated.reshape(-1, len(pairs)).any(axis=0).sum()),
            "unread": count_unread(limits),
            "thoughts": thoughts,
        }
        if isinstance(references[0], list):
            result["best_reference"] = best.tolist()
        return result

    def signature(self, **arguments: Unpack[Arguments]) -> str:
        """Every setting that can change a score, given arguments of `compute`; equal signatures can be compared."""
        return str(self._signature(self._options(arguments)))

    def _signature(self, options: Options) -> Signature:
        return Signature.of("stsscore", self.scorer.signature_fields(), options, VERSION)

    def explain(
        self,
        prediction: str,
        reference: str,
        method: str = "leave_one_out",
        scale: float | str | None = None,
        **arguments: Unpack[RunArguments],
    ) -> Explanation:
        """Contribution of each token to the score of one pair, in both directions; see `attribution.explain`.

        `method` is "leave_one_out" (the score minus that of the texts without the word) or "integrated_gradients"
        (those of tokens, which sum to the score minus that of a baseline of padding). The other arguments are those of
        `compute` that say how the model runs; gradients need float32 and torch.

        Raises:
            InvalidInput: a text is not a valid string, the method is unknown, or an option is invalid.
        """
        texts = read_pair(prediction, reference)
        run, _ = RunOptions.split(arguments, RunArguments)
        check_method(method, run)
        return explain(self.scorer, texts, method, self._scale(scale), self.scorer.resolve(run))

    def _top(self, scale: float | str) -> float:
        """The score on a scale that is 1 on the checkpoint's own: that of two equal texts."""
        own = checkpoint_scale(self.scorer.folder, self.scorer.config, str(self.config_name))
        return own / scale if isinstance(own, (int, float)) and isinstance(scale, float) else 1.0

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
        return check_scale(scale)


def load_scorer(name: str | None = None) -> PairScorer:
    """Load a checkpoint that rates pairs.

    Args:
        name: as `resolve_checkpoint` takes it.

    Raises:
        ValueError: no such checkpoint, a damaged one, or one whose labels are the classes of NLI alone; names them.
    """
    embedded = shipped_checkpoints(lambda config: "id2label" in config)
    folder = resolve_checkpoint(name, DEFAULT_CHECKPOINT, embedded, OTHER_WEIGHTS)
    check_labels(folder, read_config(folder), similarity_label)
    return PairScorer(folder, "stsscore")
