"""Integrated gradients of a cosine with respect to the tokens' embeddings, for MATCHA and for any encoder.

Source: Li et al., Findings of ACL 2026, appendix C; the settings that it leaves open (50 points of the Gauss-Legendre
rule, 128 tokens, the two baselines) are those of the authors' published code and of captum, which it calls.
"""

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.common.encoders import absence
from semantic_metrics import load as load_metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    import evaluate
    from sentence_transformers import SentenceTransformer

# of (candidate, reference): the sum of its tokens' attributions, mean of both directions, and the sum's error
Attribution = Callable[[str, str], tuple[float, float]]

POINTS = 50  # captum's and the authors'
TOKENS = 128  # of a text, at most: the authors'
BATCH_TOKENS = 4096  # in one pass: bounds the memory
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(POINTS)  # on [-1, 1]
GRID, WEIGHTS = (_POINTS + 1) / 2, _WEIGHTS / 2


def matcha_attributions(checkpoint: str | None) -> dict[str, Attribution]:
    """Three ways to attribute a checkpoint's scores, by what is added to its name.

    Raises:
        ValueError: the checkpoint does not load.
    """
    metric = load_metric("matcha", checkpoint, keep_in_memory=True)

    def told(method: str) -> Attribution:
        def attribute(candidate: str, reference: str) -> tuple[float, float]:
            found = metric.explain(candidate, reference, method=method)
            sides = [found[side] for side in ("prediction", "reference")]
            due = [found["score"] - side.get("baseline_score", 0.0) for side in sides]
            totals = [side["total"] for side in sides]
            # a text without a vector has no path: its score and attributions are 0
            errors = np.abs(np.subtract(totals, due)) if any(totals) else np.zeros(2)
            return float(np.mean(totals)), float(np.mean(errors))

        return attribute

    ways = {", closed form": told("integrated_gradients"), ", exact": told("exact")}
    return {"": lambda candidate, reference: _matcha_points(metric, candidate, reference), **ways}


def _matcha_points(metric: "evaluate.Metric", candidate: str, reference: str) -> tuple[float, float]:
    """The authors' sum over points, on the mean of a text's rows, which moves on a straight line."""
    encoded = metric.encoder.encode([candidate, reference])
    if not encoded.defined.all():
        return 0.0, 0.0
    pairs = [(encoded.vectors[0], encoded.vectors[1]), (encoded.vectors[1], encoded.vectors[0])]
    score = _cosine(*pairs[0])
    sums, errors = [], []
    for end, other in pairs:
        start = metric.encoder.rows[0].numpy() if score > 0 else other
        path = start + GRID[:, None] * (end - start)  # (points, D)
        sizes = np.linalg.norm(path, axis=1, keepdims=True)
        target, units = other / np.linalg.norm(other), path / sizes
        gradients = (target - (units @ target)[:, None] * units) / sizes
        sums.append(float(WEIGHTS @ (gradients @ (end - start))))
        errors.append(abs(sums[-1] - (score - _cosine(start, other))))
    return float(np.mean(sums)), float(np.mean(errors))


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def encoder_attribution(model: str, device: str | None = None) -> Attribution:
    """Attribution for a sentence-transformers model, or a plain transformer with mean pooling.

    The path is that of the word embeddings, which a hook puts in the place of the embedding layer's own; positions and
    token types stay. No code of a repository is run (`trust_remote_code` stays off).

    Args:
        model: folder or Hub id.
        device: where it runs; None for sentence-transformers' choice.

    Raises:
        NotMeasured: it does not load.
    """
    from sentence_transformers import SentenceTransformer

    with absence(model):
        encoder = SentenceTransformer(model, device=device).eval()
        encoder.max_seq_length = min(encoder.max_seq_length or TOKENS, TOKENS)
        network = encoder[0].auto_model
        embedding = network.get_input_embeddings()
    return _EncoderPaths(encoder, embedding)


class _EncoderPaths:
    """Attributions of an encoder's cosine, by `__call__` as Attribution."""

    def __init__(self, encoder: "SentenceTransformer", embedding: torch.nn.Module) -> None:
        self.encoder, self.embedding = encoder, embedding

    def __call__(self, candidate: str, reference: str) -> tuple[float, float]:
        """Sum of the tokens' attributions and its error, each the mean of both directions."""
        inputs = [self._inputs(text) for text in (candidate, reference)]
        with torch.no_grad():
            vectors = [self._encode(one, None)[0] for one in inputs]
        score = float(torch.cosine_similarity(vectors[0], vectors[1], dim=0))
        found = [self._one_way(inputs[i], inputs[1 - i], vectors[1 - i], score) for i in (0, 1)]
        totals, errors = zip(*found, strict=True)
        return float(np.mean(totals)), float(np.mean(errors))

    def _inputs(self, text: str) -> dict[str, torch.Tensor]:
        tokenize = getattr(self.encoder, "preprocess", None) or self.encoder.tokenize  # before version 5.4
        found = tokenize([text])
        return {name: value.to(self.encoder.device) for name, value in found.items() if torch.is_tensor(value)}

    def _one_way(
        self, inputs: dict[str, torch.Tensor], other: dict[str, torch.Tensor], vector: torch.Tensor, score: float
    ) -> tuple[float, float]:
        ids = inputs["input_ids"][0]
        start_ids = torch.zeros_like(ids)
        if score <= 0:  # the other text's tokens, as far as there are places for them
            count = min(len(ids), other["input_ids"].shape[1])
            start_ids[:count] = other["input_ids"][0, :count]
        with torch.no_grad():
            start, end = self.embedding(start_ids), self.embedding(ids)  # (tokens, D)
            baseline = float(self._cosines(inputs, start[None], vector)[0])
        size, total = max(1, BATCH_TOKENS // len(ids)), 0.0
        for begin in range(0, POINTS, size):
            points = torch.tensor(GRID[begin : begin + size]).to(end)[:, None, None]
            path = (start + points * (end - start)).requires_grad_()
            (gradient,) = torch.autograd.grad(self._cosines(inputs, path, vector).sum(), path)
            steps = (gradient * (end - start)).sum(dim=(1, 2)).double().cpu().numpy()
            total += float(WEIGHTS[begin : begin + size] @ steps)
        return total, abs(total - (score - baseline))

    def _cosines(self, inputs: dict[str, torch.Tensor], path: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        repeated = {name: value.expand(len(path), *value.shape[1:]) for name, value in inputs.items()}
        return torch.cosine_similarity(self._encode(repeated, path), vector[None], dim=1)

    def _encode(self, inputs: dict[str, torch.Tensor], path: torch.Tensor | None) -> torch.Tensor:
        with self._replaced(path):
            return self.encoder(dict(inputs))["sentence_embedding"]

    @contextmanager
    def _replaced(self, path: torch.Tensor | None) -> "Iterator[None]":
        """Put (n, tokens, D) embeddings in the place of what the embedding layer gives."""
        hook = None if path is None else self.embedding.register_forward_hook(lambda *_: path)
        try:
            yield
        finally:
            if hook is not None:
                hook.remove()
