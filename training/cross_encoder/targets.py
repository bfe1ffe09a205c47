"""Targets of the outputs of a model for a pair: probabilities of classes, a similarity, or nothing known.

A target is a row of numbers, one for each output: the classes of NLI first, then the similarity. NaN means that nothing
is known. The classes of one pair are

* known, each with a probability that a person's label or a teacher gives: [1, 0, 0] or [.7, .2, .1];
* partly known: people who judge an answer only say whether it entails the reference, and a wrong one may contradict it
  or have nothing to do with it: [0, nan, nan] rules the first class out;
* unknown: [nan, nan, nan], as for a pair of STS-B.
"""

import numpy as np
import torch
from scipy.stats import pearsonr, spearmanr
from sentence_transformers import CrossEncoder
from sentence_transformers.base.evaluation import SentenceEvaluator
from sentence_transformers.cross_encoder.losses import CrossEntropyLoss
from sentence_transformers.util import batch_to_device
from torch.nn.functional import log_softmax

NEGATION_PREFIX = "not_"


def class_target(label: str, classes: list[str]) -> list[float]:
    """Target of a class's name, or of `not_` and its name, which rules it out. ValueError: the label is neither."""
    if label in classes:
        return [float(name == label) for name in classes]
    name = str(label).removeprefix(NEGATION_PREFIX)
    if str(label).startswith(NEGATION_PREFIX) and name in classes:
        return [0.0 if other == name else np.nan for other in classes]
    names = [*classes, *(NEGATION_PREFIX + name for name in classes)]
    raise ValueError(f"expected labels among {names}, got {label!r}")


class TargetLoss(CrossEntropyLoss):
    """Cross-entropy of the classes, and squared error of the similarity.

    Args:
        model: a cross-encoder with one output for each class, and one more for the similarity if it has one.
        classes: number of the classes; 0 for a model of similarity alone.
        top_score: raw score of similarity 1. The error counts in units of the raw score.
        similarity_weight: of the squared error beside the cross-entropy.
        batch: number of pairs that a sum of losses is divided by, so that a pair counts as much in a small batch as in
            a large one; None for those of the batch.
    """

    def __init__(
        self,
        model: CrossEncoder,
        classes: int,
        top_score: float = 1.0,
        similarity_weight: float = 1.0,
        batch: float | None = None,
    ) -> None:
        super().__init__(model)
        self.classes, self.top_score, self.similarity_weight, self.batch = classes, top_score, similarity_weight, batch

    def forward(
        self, inputs: list[list[str]], labels: list[torch.Tensor], prompt: str | None = None, task: str | None = None
    ) -> torch.Tensor:
        """Mean loss of pairs; `labels` holds the (outputs,) target of each."""
        tokens = self.model.preprocess(list(zip(*inputs, strict=True)), prompt=prompt, task=task)
        logits = self.model(batch_to_device(tokens, self.model.device))["scores"]
        loss = self.of_logits(logits.view(len(labels), -1), torch.stack(list(labels)).to(logits.device))
        return loss if self.batch is None else loss * (len(labels) / self.batch)

    def of_logits(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Loss of (n, outputs) logits and targets.

        Each part is summed over the pairs that have its target and divided by n, the number of all pairs: a part that
        few pairs of a batch have counts little in it.
        """
        logits, targets = logits.float(), targets.float()
        loss = logits.sum() * 0  # keeps its gradient where no target is known
        if self.classes:
            loss = loss + _cross_entropy(logits[:, : self.classes], targets[:, : self.classes])
        if logits.shape[1] > self.classes:
            known = ~targets[:, -1].isnan()
            error = logits[known, -1] - targets[known, -1] * self.top_score
            loss = loss + self.similarity_weight * error.square().sum() / len(targets)
        return loss


def _cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean of -sum of t log p over the known classes; the classes with an unknown t share what is left of 1.

    A pair without a known class counts with 0.
    """
    logs = log_softmax(logits, dim=1)
    unknown = targets.isnan()
    known = targets.masked_fill(unknown, 0)
    losses = -(known * logs).sum(dim=1)
    partly = unknown.any(dim=1) & ~unknown.all(dim=1)  # with all classes unknown the log would be that of 1
    left = logs[partly].masked_fill(~unknown[partly], -torch.inf).logsumexp(dim=1)
    losses = losses.index_add(0, partly.nonzero()[:, 0], -(1 - known[partly].sum(dim=1)) * left)
    return losses.mean()


def figures(logits: np.ndarray, targets: np.ndarray, classes: int) -> dict[str, float]:
    """Accuracy of the classes, Pearson and Spearman of the similarity; only those for which targets are known.

    `logits` and `targets` are (n, outputs), the first `classes` of them of classes.
    """
    found = {}
    judged = ~np.isnan(targets[:, :classes]).all(axis=1)
    if classes and judged.any():
        wanted = np.nan_to_num(targets[judged, :classes], nan=1.0)  # an open class is as right as any
        best = wanted[np.arange(len(wanted)), logits[judged, :classes].argmax(axis=1)]
        found["accuracy"] = float((best == wanted.max(axis=1)).mean())
    if logits.shape[1] > classes and not np.isnan(targets[:, -1]).all():
        known = ~np.isnan(targets[:, -1])
        ratings = targets[known, -1], logits[known, -1]
        found |= {"pearson": float(pearsonr(*ratings)[0]), "spearman": float(spearmanr(*ratings)[0])}
    return found


class TargetEvaluator(SentenceEvaluator):
    """How well a model does on the pairs of a validation set.

    `NAME_accuracy`: share of the pairs whose most probable class has the highest target, or is open where a label only
    rules classes out, in [0, 1]; pairs of which no class is known are left out. `NAME_pearson` and `NAME_spearman`:
    correlation of its similarity with theirs. The first figure there is is the one that picks the step.

    Args:
        texts, targets: n pairs, and their (n, outputs) targets.
        classes: number of the classes.
        name: name of the set.
        precision: "bf16" predicts with autocast, as the steps train; "no" in the weights' own precision.
    """

    def __init__(
        self, texts: list[tuple[str, str]], targets: np.ndarray, classes: int, name: str, precision: str = "no"
    ) -> None:
        super().__init__()
        self.texts, self.targets, self.classes = texts, np.asarray(targets, dtype=float), classes
        self.name, self.precision = name, precision

    def __call__(
        self, model: CrossEncoder, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Predict all pairs; files are never written."""
        with torch.autocast(model.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            logits = model.predict(self.texts, batch_size=128, show_progress_bar=False).reshape(len(self.texts), -1)
        metrics = figures(logits, self.targets, self.classes)
        if not metrics:
            raise ValueError(f"{self.name}: expected pairs with a class or a similarity, got none of {len(self.texts)}")
        self.primary_metric = next(iter(metrics))
        metrics = self.prefix_name_to_metrics(metrics, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics
