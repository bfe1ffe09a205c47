"""An embeddings endpoint as an encoder: a real HTTP server on the loopback address stands for it."""

import json
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.common.encoders import NotMeasured
from benchmarks.set_criteria.encoders import FLOOR, EmbeddingsEndpoint, RandomBag
from semantic_metrics import load
from semantic_metrics.endpoint import KEY_VARIABLE
from tests.benchmarks.set_criteria.data import finish, samples, vectors_of
from tests.fake_endpoint import SECRET, Reply, serve

WIDTH = 48


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "samples.parquet"
    samples().to_parquet(path)
    return path


def embed(body: dict, number: int) -> Reply:
    """What OpenAI's API answers, in another order; busy at first."""
    if number == 0:
        return 429, {"error": f"slow down, {SECRET}"}, {"Retry-After": "0"}
    vectors = RandomBag(5, WIDTH).encode(body["input"])[0]
    data = [{"object": "embedding", "index": i, "embedding": list(map(float, row))} for i, row in enumerate(vectors)]
    return 200, {"object": "list", "data": data[::-1]}, {}


def test_an_endpoint_is_an_encoder(file: Path, tmp_path: Path) -> None:
    with serve(embed) as endpoint:
        arguments = ("--samples", file, "--cache", tmp_path / "cache", "--batch-size", 10)
        spec = f"remote=endpoint:tiny@{endpoint.url}"
        result = finish(*arguments, "--encoder", spec, "--output", tmp_path / "a", **{KEY_VARIABLE: SECRET})
        asked = len(endpoint.requests)
        finish(*arguments, "--encoder", spec, "--output", tmp_path / "b", **{KEY_VARIABLE: SECRET})
        assert len(endpoint.requests) == asked  # the second run took the vectors from the cache
    frame = samples()
    path, headers, body = endpoint.requests[1]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert body["model"] == "tiny"
    assert (
        sum(len(body["input"]) for _, _, body in endpoint.requests[1:]) == frame[["a", "b", "target"]].stack().nunique()
    )
    table = pd.read_csv(tmp_path / "a" / "table1.csv").set_index(["encoder", "figure"])["value"]
    given = {"remote": vectors_of(RandomBag(5, WIDTH), frame)}
    ranges = json.loads((tmp_path / "a" / "ranges.json").read_text())
    expected = load("set_criteria").compute(embeddings=given, operator=list(frame["operator"]), ranges=ranges)
    assert table["remote", "both"] == pytest.approx(expected["encoders"]["remote"]["C1"]["cosine"]["both"], abs=1e-6)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert SECRET not in result.output
    assert SECRET.encode() not in written


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((400, {"error": f"not with {SECRET}"}, {}), "HTTP 400: .*not with [*]{3}"),
        ((200, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}, {}), "an embedding for each of 2 texts"),
        ((200, {"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}, {}), "2 vectors of finite"),
        ((200, {"data": [{"index": i % 2, "embedding": [1.0]} for i in range(3)]}, {}), "2 vectors of finite"),
        ((200, {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}, {}), "each of 2 texts"),
        ((200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [NaN]}]}', {}), "finite numbers"),
        ((200, {"data": []}, {}), "each of 2 texts"),
        ((200, {"error": "overloaded"}, {}), "each of 2 texts"),
        ((200, [1], {}), "each of 2 texts"),
    ],
)
def test_what_an_endpoint_should_not_answer(monkeypatch: pytest.MonkeyPatch, answer: Reply, message: str) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)
    with serve(lambda body, number: answer) as endpoint, pytest.raises(NotMeasured, match=message) as caught:
        EmbeddingsEndpoint(endpoint.url, "m").encode(["one", "two"])
    assert len(endpoint.requests) == 1
    assert SECRET not in str(caught.value)


def test_vectors_of_one_width() -> None:
    def widen(body: dict, number: int) -> Reply:
        return 200, {"data": [{"index": 0, "embedding": [1.0] * (number + 1)}]}, {}

    with serve(widen) as endpoint, pytest.raises(NotMeasured, match=r"vectors of one width, got \[1, 2\]"):
        EmbeddingsEndpoint(endpoint.url, "m").encode(["one", "two"], batch_size=1)


def test_a_failing_endpoint_costs_its_rows_alone(file: Path, tmp_path: Path) -> None:
    with serve(lambda body, number: (401, {"error": f"no such key: {SECRET}"}, {})) as endpoint:
        arguments = ("--samples", file, "--encoder", f"remote=endpoint:m@{endpoint.url}")
        result = finish(*arguments, "--output", tmp_path, **{KEY_VARIABLE: SECRET})
    assert "remote: not measured: " in result.stdout
    assert "HTTP 401" in result.stdout
    assert SECRET not in result.output
    assert "remote: not measured" in (tmp_path / "leaderboard.html").read_text(encoding="utf-8")
    assert set(pd.read_csv(tmp_path / "leaderboard.csv")["encoder"]) == {"bag of random vectors", FLOOR}
