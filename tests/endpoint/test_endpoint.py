"""The client of JSON endpoints, against a real server on the loopback address."""

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from semantic_metrics.endpoint import KEY_VARIABLE, EndpointError, JsonEndpoint
from tests.endpoint.fake_endpoint import SECRET, Reply, chat_reply, serve


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)
    monkeypatch.setenv("HF_TOKEN", "hf-not-a-real-token")


@pytest.fixture
def waits() -> list[float]:
    """Seconds between the attempts, which nobody waits."""
    return []


def ask(replies: Iterator[Reply], waits: list[float], **options: object) -> tuple[object, list]:
    """What a chat with a server of these replies returns, and the requests that the server got."""
    with serve(lambda body, number: next(replies)) as server:
        reply = JsonEndpoint(server.url, wait=waits.append, **options).chat("m", [{"role": "user", "content": "?"}])
    return reply, server.requests


@pytest.mark.parametrize(("value", "sent"), [(SECRET, f"Bearer {SECRET}"), ("", None), (None, None)])
def test_only_the_key_of_the_environment_is_sent(
    monkeypatch: pytest.MonkeyPatch, waits: list, value: str | None, sent: str | None
) -> None:
    monkeypatch.delenv(KEY_VARIABLE) if value is None else monkeypatch.setenv(KEY_VARIABLE, value)
    reply, [(path, headers, body)] = ask(iter([chat_reply("yes")]), waits)
    assert (reply, path) == (("yes", "stop"), "/v1")
    assert headers.get("Authorization") == sent
    assert body == {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    assert "hf-not-a-real-token" not in str(headers)


def test_a_busy_endpoint_is_asked_again_and_then_given_up(waits: list) -> None:
    replies = [(429, {}, {"Retry-After": "7"}), (500, {}, {}), (200, b"<html>", {}), chat_reply("yes")]
    assert ask(iter(replies), waits)[0] == ("yes", "stop")
    assert waits == [7, 2, 4]
    waits.clear()
    busy = (503, b"try later", {"Retry-After": "9999"})
    with pytest.raises(EndpointError, match=r"HTTP 503: try later \(attempt 5 of 5\)"):
        ask(iter([busy] * 5), waits)
    assert waits == [60.0] * 4


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((401, {"error": f"Incorrect API key provided: {SECRET}"}, {}), r"HTTP 401: .*\*\*\*"),
        ((302, {}, {"Location": "http://127.0.0.1:1/"}), "HTTP 302"),
        ((200, {"choices": []}, {}), "expected choices with a message, got another JSON"),
        ((200, ["choices"], {}), "expected choices with a message, got another JSON"),
    ],
)
def test_other_replies_are_final_and_the_key_is_in_no_message(waits: list, reply: Reply, message: str) -> None:
    with pytest.raises(EndpointError, match=message) as raised:
        ask(iter([reply]), waits)
    assert SECRET not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.code == (reply[0] if reply[0] != 200 else 0)
    assert waits == []


def test_replies_are_kept_as_they_come(tmp_path: Path, waits: list) -> None:
    """Issue 22, 18: of 60 replies 30 were lost when the 31st failed."""
    kept = tmp_path / "replies.jsonl"

    def ask_all(fail_at: int) -> tuple[list[object], int]:
        """Replies to 60 questions, the first 30 of which cost one request each, and the number of requests."""
        replies = []
        with serve(lambda body, i: chat_reply(None) if i < fail_at else (400, {}, {})) as server:
            endpoint = JsonEndpoint(server.url, kept=kept)
            endpoint.url = "http://127.0.0.1/v1"  # the same address in both runs
            endpoint.post = JsonEndpoint(server.url).post
            with suppress(EndpointError):
                for i in range(60):
                    replies.append(endpoint.chat("m", [{"role": "user", "content": str(i)}], temperature=0))
        return replies, len(server.requests)

    assert ask_all(30) == ([(None, "stop")] * 30, 31)
    with kept.open("a") as file:
        file.write('{"key": "to')  # the machine stopped here
    assert ask_all(60) == ([(None, "stop")] * 60, 30)
    assert ask_all(0) == ([(None, "stop")] * 60, 0)
    kept.write_text("a b\n")
    with pytest.raises(ValueError, match=r"replies.jsonl: expected replies of an endpoint"):
        ask_all(0)
    kept.unlink()
    kept.mkdir()
    with pytest.raises(ValueError, match=r"replies.jsonl: Is a directory"):
        ask_all(0)


def test_nobody_there(waits: list) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"  # bound, but not listening
        with pytest.raises(EndpointError, match=r"refused.* \(attempt 2 of 2\)"):
            JsonEndpoint(url, attempts=2, wait=waits.append).post({})
    assert waits == [1]


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "127.0.0.1:80", "http://user:word@127.0.0.1/v1", "http://127.0.0.1/\xfc"),
        *("http://[abc/v1", "http://h:port/v1", "http:///v1"),
    ],
)
def test_other_urls_and_keys_are_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="endpoint: expected a URL"):
        JsonEndpoint(url)
    monkeypatch.setenv(KEY_VARIABLE, "\u2019key")
    with pytest.raises(ValueError, match=f"{KEY_VARIABLE}: expected a key of ASCII"):
        JsonEndpoint("http://127.0.0.1/v1")


def test_a_choice_is_constrained_by_a_schema_where_the_server_can() -> None:
    def ask_twice(answer: Callable[[dict], Reply]) -> tuple[list, list[bool]]:
        with serve(lambda body, number: answer(body)) as server:
            endpoint = JsonEndpoint(server.url)
            chosen = [endpoint.choose("m", [{"role": "user", "content": "?"}], ("1", "0")) for _ in range(2)]
            return chosen, ["response_format" in body for _, _, body in server.requests]

    def strict(body: dict) -> Reply:
        (choice,) = body["response_format"]["json_schema"]["schema"]["properties"].values()
        assert choice == {"type": "string", "enum": ["1", "0"]}
        return chat_reply('{"choice": "0"}')

    assert ask_twice(strict) == (["0", "0"], [True, True])
    assert ask_twice(lambda body: chat_reply(" 1.")) == (["1", "1"], [True, True]), "a server that ignores the schema"
    for text in (
        "Maybe",
        None,
        "",
        "10",
        "1/10",
        "0.8",
        "1945",
        "[1]",
        '{"choice": "2"}',
        '{"answer": 1}',
        "[" * 10_000,
    ):
        assert ask_twice(lambda body, text=text: chat_reply(text))[0] == [None, None]
    unknown = (400, {"error": "response_format: unknown field"}, {})
    without = ask_twice(lambda body: unknown if "response_format" in body else chat_reply("1"))
    assert without == (["1", "1"], [True, False, False]), "asked without it, now and later"
    with pytest.raises(EndpointError, match="HTTP 401"):
        ask_twice(lambda body: (401, {}, {}))
    with pytest.raises(EndpointError, match="HTTP 400: no such model"):
        ask_twice(lambda body: (400, b"no such model", {}))
