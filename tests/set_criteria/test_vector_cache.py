"""Distinct texts are encoded once, in any order and chunks, and may be kept on disk."""

from pathlib import Path

import evaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.core import batching
from semantic_metrics.set_criteria import vector_cache as store
from semantic_metrics.set_criteria.encoders import Encoder, load_encoder
from semantic_metrics.set_criteria.vector_cache import encode_texts
from tests.set_criteria.samples import SCRIPT, TEXTS
from tests.tiny_table import WORDS

texts = st.lists(st.lists(st.sampled_from([*WORDS, "☃"]), max_size=4).map(" ".join), min_size=1, max_size=20)


class Counted:
    """An encoder that keeps a record of what it is asked for."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.sha256 = encoder, encoder.sha256
        self.asked: list[str] = []

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """The encoder's own vectors; every text with a snowman is said to be cut."""
        self.asked.extend(texts)
        return self.encoder.encode(texts, batch_size)[0], np.array(["☃" in text for text in texts])


@pytest.fixture
def counted(checkpoint: Path) -> Counted:
    """The small table."""
    return Counted(load_encoder(f"{checkpoint}/"))


def taken(encoder: Encoder, given_texts: list[str], **options: object) -> tuple[list, int]:
    vectors = encode_texts(encoder, given_texts, **options)
    return vectors.take(np.arange(len(given_texts))).tolist(), vectors.truncated


@settings(max_examples=30)
@given(texts, texts, st.integers(1, 5), st.integers(1, 30))
def test_a_cache_gives_the_same_and_spares_the_encoder(
    checkpoint: Path,
    tmp_path_factory: pytest.TempPathFactory,
    first: list[str],
    second: list[str],
    size: int,
    long: int,
) -> None:
    cache = tmp_path_factory.mktemp("cache")
    counted = Counted(load_encoder(f"{checkpoint}/"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "CHUNK_TEXTS", size)
        patch.setattr(batching, "CHUNK_CHARACTERS", long)
        assert taken(counted, first, cache=cache) == taken(Counted(counted.encoder), first)
        before = len(counted.asked)
        assert taken(counted, [*second, *first], cache=cache) == taken(Counted(counted.encoder), [*second, *first])
        assert sorted(counted.asked[before:]) == sorted(set(second) - set(first))


def test_damaged_files_of_a_cache_are_made_again(counted: Counted, tmp_path: Path) -> None:
    expected = taken(counted, ["a dog", "a cat"], cache=tmp_path)
    (path,) = tmp_path.glob("*/*.npy")
    whole = path.read_bytes()
    arrays = np.zeros(3), np.array([{"a": 1}], dtype=object)  # the second is a pickle, which is never read
    others = (_saved(array, tmp_path) for array in arrays)
    for content in (b"", b"nothing of the kind", whole[: len(whole) // 2], *others):
        path.write_bytes(content)
        (path.parent / "other.npy").write_bytes(content)
        counted.asked.clear()
        assert taken(counted, ["a dog", "a cat"], cache=tmp_path) == expected
        assert len(counted.asked) == 2
        assert path.read_bytes() == whole


def _saved(array: np.ndarray, folder: Path) -> bytes:
    np.save(folder / "array.npy", array)
    return (folder / "array.npy").read_bytes()


def test_a_cache_of_another_width_is_named(counted: Counted, tmp_path: Path) -> None:
    """What is behind an endpoint may change."""
    folder = tmp_path / counted.sha256
    folder.mkdir()
    np.save(folder / "x.npy", np.zeros(0, dtype=store._record(7)))
    assert len(taken(counted, ["a dog"], cache=tmp_path)[0]) == 1
    np.save(folder / "x.npy", np.zeros(1, dtype=store._record(7)))
    (path,) = (path for path in folder.glob("*.npy") if path.stem != "x")
    path.unlink()
    with pytest.raises(ValueError, match=r"cache_dir: expected vectors of width [0-9]+, .* got 7 in .*remove"):
        encode_texts(counted, ["a dog"], cache=tmp_path)


def test_the_metric_with_a_cache(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = evaluate.load(SCRIPT, f"{checkpoint}/")
    expected = metric.compute(**TEXTS)
    assert metric.compute(**TEXTS, cache_dir=tmp_path / "here") == expected
    written = list((tmp_path / "here").glob("*/*.npy"))
    assert len(written) == 1
    assert metric.compute(**TEXTS, cache_dir=str(tmp_path / "here")) == expected
    monkeypatch.setenv("SEMANTIC_METRICS_CACHE", str(tmp_path / "there"))
    assert metric.compute(**TEXTS, cache_dir="default") == expected
    assert len(list((tmp_path / "there" / "set_criteria").glob("*/*.npy"))) == 1
    assert list((tmp_path / "here").glob("*/*.npy")) == written
