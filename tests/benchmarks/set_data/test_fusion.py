"""Fusion by a model: a real HTTP server on the loopback address stands for the endpoint."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.set_data.__main__ import main
from benchmarks.set_data.fusion import EndpointFusion
from semantic_metrics.endpoint import KEY_VARIABLE, EndpointError, JsonEndpoint
from tests.benchmarks.set_data.test_command import ARTICLE, WORDS
from tests.endpoint.fake_endpoint import SECRET, Endpoint, Reply, chat_reply, serve

PAIRS = [(f"The cat {i} slept on a mat.", f"Its owner {i} read.") for i in range(12)]


def echo(body: dict, number: int) -> Reply:
    """Fuses by joining the two lines of the request."""
    return chat_reply("Fused: " + " ".join(body["messages"][1]["content"].partition(": ")[2].split("\n")))


def fusion(endpoint: Endpoint, cache: Path, **options: object) -> EndpointFusion:
    return EndpointFusion(JsonEndpoint(f"{endpoint.url}/chat/completions"), "m", cache, **options)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)


def test_the_papers_prompt_is_sent(tmp_path: Path) -> None:
    with serve(echo) as endpoint:
        texts = fusion(endpoint, tmp_path / "c.jsonl")([("It rained all day.", "We went\tin.")])
    assert texts == ["Fused: It rained all day. We went\tin."]
    [(path, headers, body)] = endpoint.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    asked = "Fuse the following two sentences in 3.5 words: It rained all day.\nWe went\tin."
    roles = [("system", "You are a paraphraser."), ("user", asked)]
    messages = [{"role": role, "content": content} for role, content in roles]
    assert body == {"model": "m", "temperature": 0.5, "messages": messages}


def test_answers_are_in_the_order_of_the_pairs_and_requested_once(tmp_path: Path) -> None:
    cache = tmp_path / "deep" / "c.jsonl"
    with serve(echo) as endpoint:
        one = fusion(endpoint, cache)
        texts = one([*PAIRS, *PAIRS])
        assert texts == [f"Fused: {a} {b}" for a, b in PAIRS] * 2
        assert len(endpoint.requests) == len(PAIRS)
        assert fusion(endpoint, cache)(PAIRS) == texts[:12]  # from the file
        assert len(endpoint.requests) == len(PAIRS)
        fusion(endpoint, cache, temperature=0.0)(PAIRS[:1])  # another setting is another request
        assert len(endpoint.requests) == len(PAIRS) + 1
    assert SECRET not in cache.read_text()


def test_nothing_is_lost_when_the_endpoint_dies(tmp_path: Path) -> None:
    cache = tmp_path / "c.jsonl"
    with serve(lambda body, number: echo(body, number) if number < 5 else (404, {}, {})) as endpoint:
        with pytest.raises(EndpointError, match=r"7 of 12 fusions are missing, .* c\.jsonl: the same command goes on"):
            fusion(endpoint, cache, requests=1)(PAIRS)
        assert len(cache.read_text().splitlines()) == 5
        with cache.open("a") as file:
            file.write('{"key": "cut off')  # as after a crash within a line
        endpoint.requests.clear()
        endpoint.answer = echo
        assert fusion(endpoint, cache)(PAIRS) == [f"Fused: {a} {b}" for a, b in PAIRS]
        assert len(endpoint.requests) == 7
    assert len(cache.read_text().splitlines()) == 12


def test_an_invalid_cache_is_refused(tmp_path: Path) -> None:
    cache = tmp_path / "c.jsonl"
    cache.write_text('{"key": "k", "text": "t"}\n[1]\n')
    with serve(echo) as endpoint, pytest.raises(ValueError, match=r"c\.jsonl, line 2: expected a key and a text"):
        fusion(endpoint, cache)
    with serve(echo) as endpoint, pytest.raises(ValueError, match="model: expected the name"):
        EndpointFusion(JsonEndpoint(endpoint.url), "", cache)


@pytest.mark.parametrize(
    "reply",
    [
        chat_reply(None),
        chat_reply("  "),
        chat_reply("Half a sen", "length"),
        chat_reply("", "content_filter"),
        (400, {"error": {"message": "long " * 200, "code": "content_filter"}}, {}),
    ],
)
def test_a_pair_without_a_fusion_stops_no_other(tmp_path: Path, reply: Reply) -> None:
    with serve(lambda body, number: reply if " 3 " in str(body) else echo(body, number)) as endpoint:
        texts = fusion(endpoint, tmp_path / "c.jsonl")(PAIRS)
    assert [i for i, text in enumerate(texts) if not text] == [3]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((200, {"choices": []}, {}), "expected choices with a message, got another JSON"),
        ((400, {"error": "no such model"}, {}), "HTTP 400: .*no such model"),
        ((401, {"error": f"Incorrect API key provided: {SECRET}"}, {}), r"HTTP 401: .*[*]{3}"),
    ],
)
def test_other_answers_stop_the_fusion_at_once(tmp_path: Path, reply: Reply, message: str) -> None:
    with serve(lambda body, number: reply) as endpoint, pytest.raises(EndpointError, match=message) as raised:
        fusion(endpoint, tmp_path / "c.jsonl", requests=1)(PAIRS)
    assert len(endpoint.requests) == 1
    assert SECRET not in str(raised.value)


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.set_data.__main__.sentence_transformer", lambda *_, **__: WORDS)
    (tmp_path / "articles.txt").write_text(ARTICLE)
    arguments = ["build", "--documents", tmp_path / "articles.txt", "--model", "gpt-x", "--output", tmp_path / "out"]
    arguments += ["--batch-size", 8]
    written = []
    with serve(echo) as endpoint:
        for _ in range(2):
            result = CliRunner().invoke(main, [*map(str, arguments), "--endpoint", f"{endpoint.url}/"])
            assert result.exit_code == 0, result.output
            written.append([(tmp_path / "out" / name).read_bytes() for name in ("samples.parquet", "README.md")])
            assert len(endpoint.requests) == 4  # two chains, two fusions each: the second run needs none
    assert written[0] == written[1]
    table = pd.read_parquet(tmp_path / "out" / "samples.parquet")
    assert set(table["fusion"]) == {"model gpt-x"}
    overlap = table[table["operator"] == "overlap"].iloc[0]
    assert overlap["a"].startswith("Fused: The old dam")
    card = written[0][1].decode()
    assert "as long as the file that holds the\nmodel's answers is kept" in card
    assert endpoint.url not in card
    assert "--endpoint URL" in card
    assert "--batch-size" not in card, "it changes no sample"
    assert SECRET not in result.output + card
    assert len((tmp_path / "out" / "fusions.jsonl").read_text().splitlines()) == 4
