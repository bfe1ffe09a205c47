"""Fusion of two sentences, by concatenation or by a model behind an OpenAI-compatible endpoint.

Source of the prompt and its settings: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings",
appendix A.1 (gpt-3.5-turbo, temperature 0.5).
"""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event, Lock

from benchmarks.set_data.chains import Pair
from semantic_metrics.core.progress import with_progress
from semantic_metrics.endpoint import EndpointError, JsonEndpoint

CONCATENATION = "concatenation"  # value of the column `fusion`
PAPER_MODEL = "gpt-3.5-turbo"
TEMPERATURE = 0.5
SYSTEM = "You are a paraphraser."
PARALLEL_REQUESTS = 4


def concatenate(pairs: Sequence[Pair]) -> list[str]:
    """The two sentences, one after the other: a fusion that rewords nothing.

    >>> concatenate([("It rained.", "We went in.")])
    ['It rained. We went in.']
    """
    return [f"{first} {second}" for first, second in pairs]


def messages(first: str, second: str) -> list[dict[str, str]]:
    r"""The paper's chat messages; the word limit is half the number of words and, as in the paper, may end in .5.

    >>> messages("It rained.", "We went in.")[1]["content"]
    'Fuse the following two sentences in 2.5 words: It rained.\nWe went in.'
    """
    limit = 0.5 * (len(first.split()) + len(second.split()))
    request = f"Fuse the following two sentences in {limit} words: {first}\n{second}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": request}]


class EndpointFusion:
    """Fusion by a chat model. Every answer is written to a file at once, and not requested again.

    Args:
        endpoint: chat completions of the endpoint, `URL/chat/completions`.
        model: the endpoint's name of the model.
        cache: JSON lines file that answers are read from and appended to.
        temperature: temperature of the model; above 0, only the cache makes a build repeatable.
        requests: number of parallel requests.

    Attributes:
        name: value of the column `fusion`.

    Raises:
        ValueError: the name of the model is empty, or the cache is not a file of answers.
    """

    def __init__(
        self,
        endpoint: JsonEndpoint,
        model: str,
        cache: Path,
        temperature: float = TEMPERATURE,
        requests: int = PARALLEL_REQUESTS,
    ) -> None:
        if not model:
            raise ValueError("model: expected the name of a model, got an empty one")
        self.name = f"model {model}"
        self._endpoint, self._model, self._temperature = endpoint, model, temperature
        self._requests, self._cache = requests, cache
        self._kept = _read(cache)

    def __call__(self, pairs: Sequence[Pair]) -> list[str]:
        """Fuse pairs; empty where the model gave no text, was cut off, or the endpoint's filter refused the pair.

        Raises:
            EndpointError: the endpoint fails; the answers until then are kept.
        """
        keys = [self._key_of(pair) for pair in pairs]
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._kept}
        if missing:
            self._fill(missing)
        return [self._kept[key] for key in keys]

    def _fill(self, missing: dict[str, Pair]) -> None:
        self._cache.parent.mkdir(parents=True, exist_ok=True)
        stop, lock = Event(), Lock()

        def work(key: str, pair: Pair) -> None:
            if stop.is_set():
                return
            try:
                text = self._ask(pair)
            except EndpointError:
                stop.set()  # running requests are finished, and kept
                raise
            with lock:
                self._kept[key] = text
                file.write(json.dumps({"key": key, "text": text}) + "\n")
                file.flush()

        with self._cache.open("a", encoding="utf-8") as file, ThreadPoolExecutor(self._requests) as pool:
            futures = [pool.submit(work, key, pair) for key, pair in missing.items()]
            try:
                for _ in with_progress(as_completed(futures), "pair", len(futures), "fused"):
                    pass
            finally:
                stop.set()  # an interruption does not wait for the remaining pairs
        failures = [error for error in map(Future.exception, futures) if error is not None]
        for error in failures:
            if not isinstance(error, EndpointError):  # such as a full disk
                raise error
        if failures:
            left = sum(key not in self._kept for key in missing)
            raise EndpointError(
                f"{failures[0]}; {left} of {len(missing)} fusions are missing, the others are kept in "
                f"{self._cache.name}: the same command goes on from there",
                failures[0].code,
            ) from failures[0]

    def _ask(self, pair: Pair) -> str:
        try:
            text, reason = self._endpoint.chat(self._model, messages(*pair), temperature=self._temperature)
        except EndpointError as error:
            if error.code == 400 and "content_filter" in error.body:  # only this pair is refused
                return ""
            raise
        if not isinstance(text, str) or reason in ("length", "content_filter"):
            return ""
        return text.strip()

    def _key_of(self, pair: Pair) -> str:
        request = [self._endpoint.url, self._model, self._temperature, messages(*pair)]
        return hashlib.sha256(json.dumps(request).encode()).hexdigest()


def _read(cache: Path) -> dict[str, str]:
    if not cache.is_file():
        return {}
    text = cache.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):  # the machine stopped within a line: that answer is requested again
        text = text[: text.rfind("\n") + 1]
        cache.write_text(text, encoding="utf-8")
    kept = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            answer = json.loads(line)
            kept[answer["key"]] = answer["text"] + ""
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{cache}, line {number}: expected a key and a text, got {line[:60]!r}") from None
    return kept
