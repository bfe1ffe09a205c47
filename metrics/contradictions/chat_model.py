"""Contradictions written by a language model behind an OpenAI-compatible chat API, if one is given.

What the model writes goes through the same check as what the rules make.
"""

import time
from collections.abc import Callable
from pathlib import Path

from semantic_metrics.endpoint import chat_endpoint

PROMPT = """\
Rewrite the text so that it contradicts what it said: change one fact (who, what, when, how many, or whether) and as few
words as that takes, keep length and style. The two must not both be true. Reply with the rewritten text alone.

{text}"""
ATTEMPTS = 3
TOKENS_PER_CHARACTER = 1.5  # tokens of a reply per character of the text; a reply that keeps to the prompt needs fewer


class Writer:
    """Asks a language model for contradictions, at temperature 0 and with a seed.

    Args:
        url: address without `/chat/completions`, such as `http://127.0.0.1:8000/v1`.
        model: the endpoint's name of the model.
        wait: function that sleeps for a number of seconds; tests pass their own.
        kept: file that replies are read from and written to as they come; None keeps none.

    Raises:
        ValueError: `url` is not http or https, or contains a password; `kept` is not a file of replies.
    """

    def __init__(
        self, url: str, model: str, wait: Callable[[float], None] = time.sleep, kept: Path | None = None
    ) -> None:
        self._endpoint = chat_endpoint(url, attempts=ATTEMPTS, wait=wait, kept=kept)
        self._model = model

    def write(self, text: str, seed: int) -> str:
        """Write a text that should contradict the given one; "" if the reply is empty or repeats the text.

        Raises:
            EndpointError: the endpoint cannot be reached, refuses, or answers something unexpected.
        """
        messages = [{"role": "user", "content": PROMPT.format(text=text)}]
        tokens = 64 + int(len(text) * TOKENS_PER_CHARACTER)
        content, _ = self._endpoint.chat(self._model, messages, temperature=0, seed=seed, max_tokens=tokens)
        reply = str(content or "").strip()
        return "" if reply.split() == text.split() else reply
