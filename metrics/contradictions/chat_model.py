"""Contradictions from a language model behind an OpenAI-compatible chat API, where one is given. Off by default.

The key comes from the environment variable SEMANTIC_METRICS_API_KEY and from nowhere else. What the model writes goes
through the same check as what the rules make.
"""

import json
import os
import time
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

KEY = "SEMANTIC_METRICS_API_KEY"
PROMPT = """\
Rewrite the text so that it contradicts what it said: change one fact (who, what, when, how many, or whether) and as few
words as that takes, keep length and style. The two must not both be true. Reply with the rewritten text alone.

{text}"""
ATTEMPTS = 3
TIMEOUT = 120.0  # seconds for one request: a large model on a small machine is slow
LENGTH = 1.5  # tokens asked for, for each character of the text; never reached by a reply that keeps to the prompt
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504)  # another attempt may succeed


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None  # it would carry the key to another host


class Writer:
    """Asks a model for contradictions, at temperature 0 and with the seed.

    Args:
        url: up to and without `/chat/completions`, such as `http://127.0.0.1:8000/v1`.
        model: as the endpoint names it.
        pause: seconds before the second attempt, doubled before each further one.

    Raises:
        ValueError: `url` is neither http nor https, or holds a password.
    """

    def __init__(self, url: str, model: str, pause: float = 1.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"endpoint: expected a URL that begins with http:// or https://, got {url!r}")
        if "@" in urlsplit(url).netloc:
            raise ValueError(f"endpoint: expected a URL without a password (the key is taken from {KEY})")
        self._url, self._model, self._pause = url.rstrip("/") + "/chat/completions", model, pause
        self._key = os.environ.get(KEY, "").strip()
        self._open = build_opener(_NoRedirect).open

    def write(self, text: str, seed: int) -> str:
        """A text that is to contradict the other; "" where the reply is empty or the text itself.

        Raises:
            ValueError: the endpoint is not reached, refuses, or answers something else; never names the key.
        """
        message = {"role": "user", "content": PROMPT.format(text=text)}
        tokens = 64 + int(len(text) * LENGTH)
        body = {"model": self._model, "messages": [message], "temperature": 0, "seed": seed, "max_tokens": tokens}
        try:
            reply = self._post(body)["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"endpoint {self._url}: expected a reply with a message, got something else") from None
        reply = str(reply or "").strip()
        return "" if reply.split() == text.split() else reply

    def _post(self, body: dict) -> dict:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, json.dumps(body).encode(), headers)
        for attempt in range(ATTEMPTS):
            try:
                with self._open(request, timeout=TIMEOUT) as answer:
                    return json.loads(answer.read())
            except HTTPError as error:
                reason, again = f"HTTP {error.code}", error.code in _BUSY
                error.close()
            except (URLError, OSError, HTTPException) as error:  # refused, reset, timed out, cut off
                reason, again = str(getattr(error, "reason", error)) or type(error).__name__, True
            except ValueError:
                reason, again = "expected JSON, got something else", True
            if not again:
                break
            if attempt + 1 < ATTEMPTS:
                time.sleep(self._pause * 2**attempt)
        raise ValueError(f"endpoint {self._url}: {reason}")
