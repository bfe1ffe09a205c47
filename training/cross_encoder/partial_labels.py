"""Labels that only rule a class out: "not_entailment" is any class but entailment.

People who judge an answer only say whether it is right, that is, whether it entails the reference. A wrong answer may
contradict the reference or have nothing to do with it. For C classes, label i means class i, and label C + i means any
class but i.
"""

import numpy as np
import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder.evaluation import CrossEncoderClassificationEvaluator
from sentence_transformers.cross_encoder.losses import CrossEntropyLoss

NEGATION_PREFIX = "not_"


def label_names(classes: list[str]) -> list[str]:
    """Names of the labels in the data, in their order."""
    return [*classes, *(NEGATION_PREFIX + name for name in classes)]


class PartialLabelLoss(CrossEntropyLoss):
    """-log of the probability of all classes that a label leaves open; cross-entropy if that is one class.

    Args:
        model: a cross-encoder with one output for each class.
    """

    def __init__(self, model: CrossEncoder) -> None:
        super().__init__(model)
        self.ce_loss = _OpenClassesLoss(model.num_labels)


class _OpenClassesLoss(torch.nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        one = torch.eye(classes, dtype=torch.bool)
        self.register_buffer("closed", torch.cat([~one, one]), persistent=False)  # (labels, classes)

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = logits.float()
        left = logits.masked_fill(self.closed.to(logits.device)[labels], -torch.inf)
        return (logits.logsumexp(dim=1) - left.logsumexp(dim=1)).mean()


class PartialLabelEvaluator(CrossEncoderClassificationEvaluator):
    """Share of the pairs whose most probable class is left open by their label; accuracy if that is one class.

    The figure is `NAME_accuracy`, in [0, 1].
    """

    def __call__(
        self, model: CrossEncoder, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Predict all pairs; files are never written."""
        predicted = model.predict(self.sentence_pairs, batch_size=self.batch_size, show_progress_bar=False).argmax(
            axis=1
        )
        one = np.eye(model.num_labels, dtype=bool)
        metrics = {"accuracy": float(np.concatenate([one, ~one])[self.labels, predicted].mean())}
        self.primary_metric = "accuracy"
        metrics = self.prefix_name_to_metrics(metrics, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics
