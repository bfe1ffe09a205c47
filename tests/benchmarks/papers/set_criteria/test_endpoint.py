"""An embeddings endpoint as an encoder: a real HTTP server on the loopback address stands for it."""

from pathlib import Path

import pandas as pd
import pytest

from benchmarks.common.encoders import NotMeasured
from benchmarks.papers.set_criteria.encoders import EmbeddingsEndpoint, RandomBag, candidate
from benchmarks.papers.set_criteria.measure import Measured, SampleSet, measure_all
from semantic_metrics import load
from semantic_metrics.endpoint import KEY_VARIABLE
from semantic_metrics.set_criteria.criteria import Settings, own_ranges, report
from tests.benchmarks.papers.set_criteria.data import samples, vectors_of
from tests.endpoint.fake_endpoint import SECRET, Reply, serve

WIDTH = 48


def embed(body: dict, number: int) -> Reply:
    """Answers like OpenAI's API, in another order; busy at first."""
    if number == 0:
        return 429, {"error": f"slow down, {SECRET}"}, {"Retry-After": "0"}
    vectors = RandomBag(5, WIDTH).encode(body["input"])[0]
    data = [{"object": "embedding", "index": i, "embedding": list(map(float, row))} for i, row in enumerate(vectors)]
    return 200, {"object": "list", "data": data[::-1]}, {}


def measure(frame: pd.DataFrame, url: str, cache: Path | None = None) -> tuple[list[Measured], dict[str, str]]:
    one = candidate(f"remote=endpoint:tiny@{url}", seed=0)
    return measure_all([one], SampleSet(Path("made"), "", frame), cache, 10, lambda line: None)


def test_an_endpoint_is_an_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)
    frame = samples(4)
    with serve(embed) as endpoint:
        measured, _ = measure(frame, endpoint.url, tmp_path)
        count = len(endpoint.requests)
        again, _ = measure(frame, endpoint.url, tmp_path)
        assert len(endpoint.requests) == count  # the second run took the vectors from the cache
    path, headers, body = endpoint.requests[1]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert body["model"] == "tiny"
    texts = [text for _, _, body in endpoint.requests[1:] for text in body["input"]]
    assert len(texts) == frame[["a", "b", "target"]].stack().nunique()
    given = {"remote": vectors_of(RandomBag(5, WIDTH), frame)}
    expected = load("set_criteria").compute(embeddings=given, operator=list(frame["operator"]))["encoders"]["remote"]
    for one in (*measured, *again):
        result = report(one.samples, Settings(), own_ranges(one.samples))
        assert result["C1"]["cosine"]["both"] == pytest.approx(expected["C1"]["cosine"]["both"], abs=1e-6)
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}, {}), "an embedding for each of 2 texts"),
        ((200, {"data": [{"index": i % 2, "embedding": [1.0]} for i in range(3)]}, {}), "2 vectors of finite"),
        ((200, {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}, {}), "each of 2 texts"),
        ((200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [NaN]}]}', {}), "finite numbers"),
        ((200, [1], {}), "each of 2 texts"),
        ((401, {"error": f"no such key: {SECRET}"}, {}), "HTTP 401"),
    ],
)
def test_invalid_answers_are_not_measured(monkeypatch: pytest.MonkeyPatch, answer: Reply, message: str) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)
    with serve(lambda body, number: answer) as endpoint, pytest.raises(NotMeasured, match=message) as caught:
        EmbeddingsEndpoint(endpoint.url, "m").encode(["one", "two"])
    assert len(endpoint.requests) == 1
    assert SECRET not in str(caught.value)
