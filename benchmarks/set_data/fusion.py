"""Fusion of two sentences: by putting one after the other, or by a model behind an OpenAI-compatible endpoint.

Source of the prompt and its settings: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings",
appendix A.1 (gpt-3.5-turbo, temperature 0.5).
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event, Lock

from benchmarks.set_data.chains import Pair
from semantic_metrics.endpoint import EndpointError, JsonEndpoint

CONCATENATION = "concatenation"  # in the column `fusion`
PAPER_MODEL = "gpt-3.5-turbo"
TEMPERATURE = 0.5
SYSTEM = "You are a paraphraser."
REQUESTS = 4  # at a time


def concatenate(pairs: Sequence[Pair]) -> list[str]:
    """The two sentences, one after the other: it says what both say and no more, but rewords nothing.

    >>> concatenate([("It rained.", "We went in.")])
    ['It rained. We went in.']
    """
    return [f"{first} {second}" for first, second in pairs]


def messages(first: str, second: str) -> list[dict[str, str]]:
    r"""The paper's chat messages; its word limit is half of both sentences' words and may end in .5, as there.

    >>> messages("It rained.", "We went in.")[1]["content"]
    'Fuse the following two sentences in 2.5 words: It rained.\nWe went in.'
    """
    limit = 0.5 * (len(first.split()) + len(second.split()))
    request = f"Fuse the following two sentences in {limit} words: {first}\n{second}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": request}]


class EndpointFusion:
    """Fusion by a chat model. Every answer is kept in a file at once, and never asked for again.

    Args:
        endpoint: its chat completions, `URL/chat/completions`.
        model: as the endpoint names it.
        cache: JSON lines, appended to; one that is there is gone on with.
        temperature: of the model. Above 0 only the file makes a build repeatable.
        requests: how many are under way at a time.
        progress: called with the number of pairs done and of all.

    Attributes:
        name: for the column `fusion`.

    Raises:
        ValueError: the model has no name, or the cache is no such file.
    """

    def __init__(
        self,
        endpoint: JsonEndpoint,
        model: str,
        cache: Path,
        temperature: float = TEMPERATURE,
        requests: int = REQUESTS,
        progress: Callable[[int, int], None] = lambda done, count: None,
    ) -> None:
        if not model:
            raise ValueError("model: expected the name of a model, got an empty one")
        self.name = f"model {model}"
        self._endpoint, self._model, self._temperature = endpoint, model, temperature
        self._requests, self._progress = requests, progress
        self._cache = cache
        self._kept = _read(cache)

    def __call__(self, pairs: Sequence[Pair]) -> list[str]:
        """Fuse pairs; empty where the model gave no text, was cut off, or the endpoint's filter refused the pair.

        Raises:
            EndpointError: the endpoint fails; what it gave until then is kept.
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
                stop.set()  # those under way are waited for, and kept
                raise
            with lock:
                self._kept[key] = text
                file.write(json.dumps({"key": key, "text": text}) + "\n")
                file.flush()

        with self._cache.open("a", encoding="utf-8") as file, ThreadPoolExecutor(self._requests) as pool:
            futures = [pool.submit(work, key, pair) for key, pair in missing.items()]
            try:
                for done, _ in enumerate(as_completed(futures), 1):
                    self._progress(done, len(futures))
            finally:
                stop.set()  # an interruption does not wait for all that is left
        failures = [error for error in map(Future.exception, futures) if error is not None]
        for error in failures:
            if not isinstance(error, EndpointError):  # a full disk, say
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
            if error.code == 400 and "content_filter" in error.body:  # this pair alone is refused
                return ""
            raise
        if not isinstance(text, str) or reason in ("length", "content_filter"):
            return ""
        return text.strip()

    def _key_of(self, pair: Pair) -> str:
        asked = [self._endpoint.url, self._model, self._temperature, messages(*pair)]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def _read(cache: Path) -> dict[str, str]:
    if not cache.is_file():
        return {}
    text = cache.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):  # the machine stopped within a line: that answer is asked for again
        text = text[: text.rfind("\n") + 1]
        cache.write_text(text, encoding="utf-8")
    kept = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            held = json.loads(line)
            kept[held["key"]] = held["text"] + ""
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{cache}, line {number}: expected a key and a text, got {line[:60]!r}") from None
    return kept
