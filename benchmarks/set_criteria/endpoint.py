"""Embeddings from any endpoint that speaks OpenAI's embeddings API, `POST URL/embeddings`.

The key comes from the environment variable SEMANTIC_METRICS_API_KEY and from nowhere else (`set_data_endpoint`).
"""

import hashlib
import time
from collections.abc import Callable

import numpy as np

from benchmarks.common.encoders import NotMeasured
from semantic_metrics.endpoint import ATTEMPTS, EndpointError, JsonEndpoint

TEXTS_A_REQUEST = 64  # OpenAI takes 2,048; many local servers take fewer


class EmbeddingsEndpoint:
    """A model behind an endpoint, as an encoder of the set criteria.

    Args:
        url: up to and without `/embeddings`, such as `http://127.0.0.1:8000/v1`.
        model: as the endpoint names it.
        attempts: how often a request is sent before it is given up.
        wait: sleeps for that many seconds; tests pass their own.

    Attributes:
        sha256: of the URL and the model's name: what is behind them may change without a sign.

    Raises:
        ValueError: `url` is neither http nor https, or holds a password.
    """

    def __init__(
        self, url: str, model: str, attempts: int = ATTEMPTS, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self._endpoint = JsonEndpoint(url.rstrip("/") + "/embeddings", attempts, wait)
        self._model = model
        self.sha256 = hashlib.sha256(f"{self._endpoint.url} {model}".encode()).hexdigest()

    def encode(self, texts: list[str], batch_size: int = TEXTS_A_REQUEST) -> tuple[np.ndarray, np.ndarray]:
        """N texts -> (n, D) float32 in their order, (n,) False: whether a text was cut, an endpoint does not say.

        Raises:
            NotMeasured: the endpoint cannot be reached, refuses, or answers something else than n vectors of one width.
        """
        parts = [self._ask(texts[i : i + batch_size]) for i in range(0, len(texts), batch_size)]
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise NotMeasured(f"{self._endpoint.url}: expected vectors of one width, got {widths}")
        return np.concatenate(parts), np.zeros(len(texts), dtype=bool)

    def _ask(self, texts: list[str]) -> np.ndarray:
        url, count = self._endpoint.url, len(texts)
        try:
            answer = self._endpoint.post({"model": self._model, "input": texts, "encoding_format": "float"})
        except EndpointError as error:
            raise NotMeasured(str(error)) from error
        try:
            by_index = {item["index"]: item["embedding"] for item in answer["data"]}  # the order may be another one
            complete = len(answer["data"]) == count
            vectors = np.array([by_index[i] for i in range(count)], dtype=np.float32)
        except (KeyError, TypeError, ValueError):
            raise NotMeasured(f"{url}: expected an index and an embedding for each of {count} texts") from None
        if not complete or vectors.ndim != 2 or 0 in vectors.shape or not np.isfinite(vectors).all():
            raise NotMeasured(f"{url}: expected {count} vectors of finite numbers, got {vectors.shape}")
        return vectors
