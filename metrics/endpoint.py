"""Client of an HTTP endpoint that takes and returns JSON: it retries, follows no redirect and keeps its key to itself.

Two libraries were weighed. `huggingface_hub.InferenceClient` sends the user's Hugging Face token to any endpoint if it
is given no key, and refuses to work, even with a local server, while HF_HUB_OFFLINE is set. `requests` with urllib3's
`Retry` sends passwords of ~/.netrc, waits as long as Retry-After says, however long, and does not repeat a request
whose answer breaks off or is not JSON.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

KEY_VARIABLE = "SEMANTIC_METRICS_API_KEY"
ATTEMPTS = 5
TIMEOUT_SECONDS = 120.0  # for one request: a large model on a small machine is slow
MAX_WAIT_SECONDS = 60.0  # between two attempts, whatever Retry-After says
_RETRIED_CODES = (408, 409, 425, 429, 500, 502, 503, 504)  # another attempt may succeed
_UNKNOWN_FIELD_CODES = (400, 404, 422, 501)  # of servers without constrained decoding
_CHOICE_TOKENS = 24  # for the JSON around a short word
_ANSWER_BYTES = 2**26  # of an answer: no reply is as long
_BODY_BYTES = 4000  # how much of the body of an error is read
_QUOTED_CHARACTERS = 300  # how much of it the message quotes


class EndpointError(ValueError):
    """The endpoint cannot be reached, refuses, or answers something unexpected; the message never contains the key.

    Attributes:
        code: HTTP status of a refusal, else 0.
        body: beginning of the body of a refusal.
    """

    def __init__(self, message: str, code: int = 0, body: str = "") -> None:
        super().__init__(message)
        self.code, self.body = code, body


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None  # a redirect would take the key to another host; urllib raises an HTTPError instead


class JsonEndpoint:
    """One address that takes JSON and returns JSON.

    Args:
        url: address, http or https, without a user name or password.
        attempts: number of times that a request is sent before giving up.
        wait: function that sleeps for a number of seconds; tests pass their own.
        kept: JSON lines file that replies of `chat` are read from and written to as they come, so that none is asked
            for twice; None keeps none.

    Raises:
        ValueError: the URL is not http or https, has no host or contains a password, it or the key is not ASCII,
            `attempts` is below 1, or `kept` is not a file of replies.
    """

    def __init__(
        self,
        url: str,
        attempts: int = ATTEMPTS,
        wait: Callable[[float], None] = time.sleep,
        kept: Path | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"endpoint: expected a URL that begins with http:// or https://, got {url!r}")
        if "@" in url:
            raise ValueError(f"endpoint: expected a URL without a password (the key is taken from {KEY_VARIABLE})")
        try:
            parts = urlsplit(url)
            complete = bool(parts.hostname) and parts.port != 0  # a port that is no number is a ValueError
        except ValueError:
            complete = False
        if not complete:
            raise ValueError(f"endpoint: expected a URL with a host, and a port from 1 if any, got {url!r}")
        if not url.isascii():
            raise ValueError(f"endpoint: expected a URL of ASCII (others percent-encoded, hosts as xn--), got {url!r}")
        if attempts < 1:
            raise ValueError(f"attempts: expected at least 1, got {attempts}")
        self.url = url
        self._attempts, self._wait = attempts, wait
        self._key = os.environ.get(KEY_VARIABLE, "").strip()
        if not self._key.isascii():
            raise ValueError(f"{KEY_VARIABLE}: expected a key of ASCII, got other characters in it")
        self._open = build_opener(_NoRedirect).open
        self._kept_file, self._kept = kept, {} if kept is None else _read_kept(kept)
        self._constrains = True  # until the server refuses a JSON schema

    def post(self, body: dict[str, Any]) -> Any:  # noqa: ANN401  (what JSON holds)
        """Send JSON; returns the JSON of the answer.

        Raises:
            EndpointError: the endpoint cannot be reached, refuses, or its answer is not JSON; after all attempts if
                another one could help.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self.url, json.dumps(body).encode(), headers)
        for attempt in range(1, self._attempts + 1):
            code, text, seconds, retry = 0, "", min(2.0 ** (attempt - 1), MAX_WAIT_SECONDS), True
            try:
                with self._open(request, timeout=TIMEOUT_SECONDS) as answer:
                    content = answer.read(_ANSWER_BYTES + 1)
                    if len(content) > _ANSWER_BYTES:
                        raise EndpointError(
                            f"{self.url}: expected an answer of at most {_ANSWER_BYTES} bytes, got more"
                        )
                    return json.loads(content)
            except HTTPError as error:
                text = self._without_key(_body(error))
                reason = f"HTTP {error.code}: {text[:_QUOTED_CHARACTERS]}"
                code, seconds, retry = error.code, _retry_after(error, seconds), error.code in _RETRIED_CODES
            except (URLError, OSError, HTTPException) as error:  # refused, reset, timed out, cut off
                reason = str(getattr(error, "reason", error)) or type(error).__name__
            except EndpointError:
                raise
            except (ValueError, RecursionError):
                reason = "expected JSON, got something else"
            if not retry or attempt == self._attempts:
                break
            self._wait(seconds)
        raise EndpointError(f"{self.url}: {reason} (attempt {attempt} of {self._attempts})", code, text)

    def chat(self, model: str, messages: list[dict[str, str]], **settings: Any) -> tuple[object, object]:
        """Ask a model that speaks OpenAI's chat API, with further fields of the request, such as `temperature`.

        Returns:
            The content of the first reply (a string, or None) and the reason why it ended.

        Raises:
            EndpointError: like `post`, or the answer has no message; or the reply cannot be kept.
        """
        body = {"model": model, "messages": messages, **settings}
        key = hashlib.sha256(json.dumps([self.url, body]).encode()).hexdigest()
        if key not in self._kept:
            answer = self.post(body)
            try:
                choice = answer["choices"][0]
                reply = choice["message"]["content"], choice.get("finish_reason")
            except (KeyError, IndexError, TypeError, AttributeError):
                raise EndpointError(f"{self.url}: expected choices with a message, got another JSON") from None
            if self._kept_file is None:
                return reply
            self._keep(key, reply)
        return self._kept[key]

    def choose(
        self, model: str, messages: list[dict[str, str]], choices: tuple[str, ...], **settings: object
    ) -> str | None:
        """Ask a model for one of a few words, which the server lets it write alone; None where the reply is another.

        The request has a JSON schema (OpenAI's structured outputs, which vLLM, llama.cpp and others have too). A server
        that refuses it is asked without, now and later.

        Raises:
            EndpointError: like `chat`.
        """
        settings = {"max_tokens": _CHOICE_TOKENS, **settings}
        constraint = {"response_format": _schema(choices)} if self._constrains else {}
        try:
            content, _ = self.chat(model, messages, **settings, **constraint)
        except EndpointError as error:
            if not constraint or error.code not in _UNKNOWN_FIELD_CODES:
                raise
            content, _ = self.chat(model, messages, **settings)
            self._constrains = False
        reply = str(content).strip()
        with suppress(ValueError, TypeError, KeyError, RecursionError):  # without a schema it is the bare word
            reply = str(json.loads(reply)["choice"])
        end = r"(?![\w/]|[.,]\d)"  # "10", "1/10" and "1.5" are no "1"
        return next((choice for choice in choices if re.match(re.escape(choice) + end, reply)), None)

    def _keep(self, key: str, reply: tuple[object, object]) -> None:
        assert self._kept_file is not None, "a reply is kept where there is a file"
        try:
            self._kept_file.parent.mkdir(parents=True, exist_ok=True)
            with self._kept_file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "reply": reply}) + "\n")
        except OSError as error:
            raise EndpointError(f"{self._kept_file}: {error.strerror or error}") from None
        self._kept[key] = reply

    def _without_key(self, text: str) -> str:
        text = " ".join(text.split())
        return text.replace(self._key, "***") if self._key else text  # some servers quote the key that they refuse


def _schema(choices: tuple[str, ...]) -> dict[str, Any]:
    """The `response_format` that allows {"choice": one of the words} alone."""
    properties = {"choice": {"type": "string", "enum": list(choices)}}
    schema = {"type": "object", "properties": properties, "required": ["choice"], "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "choice", "strict": True, "schema": schema}}


def chat_endpoint(url: str, **options: Any) -> JsonEndpoint:
    """The chat completions of a server that speaks OpenAI's API, at an address such as `http://127.0.0.1:8000/v1`.

    Raises:
        ValueError: like `JsonEndpoint`.
    """
    return JsonEndpoint(url.rstrip("/") + "/chat/completions", **options)


def _read_kept(path: Path) -> dict[str, tuple[object, object]]:
    """Replies of a file; a last line without its end, where the machine stopped, is cut off and asked for again."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text and not text.endswith("\n"):
            text = text[: text.rfind("\n") + 1]
            path.write_text(text, encoding="utf-8")
        lines = map(json.loads, text.splitlines())
        return {line["key"]: (line["reply"][0], line["reply"][1]) for line in lines}
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except (ValueError, KeyError, IndexError, TypeError):
        raise ValueError(f"{path}: expected replies of an endpoint, one JSON object on each line") from None


def _body(error: HTTPError) -> str:
    """Beginning of the body of an error; empty if the connection breaks while it is read."""
    try:
        with error:
            return error.read(_BODY_BYTES).decode(errors="replace")
    except (OSError, HTTPException):
        return ""


def _retry_after(error: HTTPError, otherwise: float) -> float:
    """Seconds that the server asks to wait; a date, which Retry-After may be too, is ignored."""
    seconds = error.headers.get("Retry-After", "")
    return min(float(seconds), MAX_WAIT_SECONDS) if seconds.isdecimal() else otherwise
