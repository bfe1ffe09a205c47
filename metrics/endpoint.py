"""Ask an HTTP endpoint for JSON: retries, no redirections, the key from the environment alone. Standard library only.

`huggingface_hub.InferenceClient` speaks the same language, but given no key it sends the user's Hugging Face token to
whatever endpoint it is told, and where HF_HUB_OFFLINE is set it refuses to work, with a local server too.
"""

import json
import os
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

KEY = "SEMANTIC_METRICS_API_KEY"
ATTEMPTS = 5
TIMEOUT = 120.0  # seconds for one request: a large model on a small machine is slow
LONGEST_WAIT = 60.0  # seconds between two attempts, whatever Retry-After says
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504)  # another attempt may succeed
_READ, _QUOTED = 4000, 300  # of what comes with an error: bytes that are read, characters that a message repeats


class EndpointError(Exception):
    """The endpoint did not answer as it should; the message says how, and never holds the key.

    Attributes:
        code: the HTTP status, 0 where there was none.
        body: the beginning of what came with it.
    """

    def __init__(self, message: str, code: int = 0, body: str = "") -> None:
        super().__init__(message)
        self.code, self.body = code, body


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None  # it would carry the key to another host; urllib raises the 3xx as an HTTPError instead


class JsonEndpoint:
    """One address that takes and gives JSON.

    Args:
        url: http or https, without a user's name or password.
        attempts: how often a request is sent before it is given up.
        wait: sleeps for that many seconds; tests pass their own.

    Raises:
        ValueError: the URL is of another kind, or attempts is below 1.
    """

    def __init__(self, url: str, attempts: int = ATTEMPTS, wait: Callable[[float], None] = time.sleep) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"endpoint: expected a URL that begins with http:// or https://, got {url!r}")
        if "@" in urlsplit(url).netloc:
            raise ValueError(f"endpoint: expected a URL without a password (the key is taken from {KEY})")
        if attempts < 1:
            raise ValueError(f"attempts: expected at least 1, got {attempts}")
        self.url = url
        self._attempts, self._wait = attempts, wait
        self._key = os.environ.get(KEY, "").strip()
        self._open = build_opener(_NoRedirect).open

    def post(self, body: dict) -> object:
        """Send JSON, return the JSON of the answer.

        Raises:
            EndpointError: not reached, refused, or an answer that is not JSON, after all attempts where they can help.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self.url, json.dumps(body).encode(), headers)
        for attempt in range(1, self._attempts + 1):
            code, text, seconds, again = 0, "", min(2.0 ** (attempt - 1), LONGEST_WAIT), True
            try:
                with self._open(request, timeout=TIMEOUT) as answer:
                    return json.loads(answer.read())
            except HTTPError as error:
                text = self._without_key(_body(error))
                reason = f"HTTP {error.code}: {text[:_QUOTED]}"
                code, seconds, again = error.code, _retry_after(error, seconds), error.code in _BUSY
            except (URLError, OSError, HTTPException) as error:  # refused, reset, timed out, cut off
                reason = str(getattr(error, "reason", error)) or type(error).__name__
            except ValueError:
                reason = "expected JSON, got something else"
            if not again or attempt == self._attempts:
                break
            self._wait(seconds)
        raise EndpointError(f"{self.url}: {reason} (attempt {attempt} of {self._attempts})", code, text)

    def _without_key(self, text: str) -> str:
        text = " ".join(text.split())
        return text.replace(self._key, "***") if self._key else text  # some servers repeat the key that they refuse


def _body(error: HTTPError) -> str:
    """The beginning of what came with an error; empty where the connection broke within it."""
    try:
        with error:
            return error.read(_READ).decode(errors="replace")
    except (OSError, HTTPException):
        return ""


def _retry_after(error: HTTPError, otherwise: float) -> float:
    """Seconds that the server asks to wait; its other form, a date, is not read."""
    asked = error.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT) if asked.isdecimal() else otherwise
