"""The contextual checkpoint, a real transformer of two layers: order counts, company does not."""

import pickle
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.matcha.scoring import Ratings
from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import WORDS
from training.matcha.contextual import ContextualModel

TEXTS = ["the dog bites a man", "a man bites the dog", "", "☃", "the cat sleeps. " * 9, "is it [SEP] asleep?", "日本"]
FEWER_BITS = 0.05  # of the largest value of a vector


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    start, folder = (tmp_path_factory.mktemp(name) for name in ("start", "contextual"))
    ContextualModel(str(tiny.bert(start)), max_length=20).save(folder)
    return folder


@pytest.fixture(scope="session")
def encoder(folder: Path) -> ContextualEncoder:
    return load_checkpoint(f"{folder}/")


@pytest.fixture
def metric(folder: Path) -> evaluate.Metric:
    return evaluate.load(str(ROOT / "metrics" / "matcha"), f"{folder}/", keep_in_memory=True)


def test_order_counts(metric: evaluate.Metric) -> None:
    result = metric.compute(predictions=TEXTS[:2], references=[TEXTS[0]] * 2)
    assert result["scores"][0] == pytest.approx(1.0)
    assert result["scores"][1] < 0.999
    assert result["truncated"] == 0


def test_texts_without_a_known_token_are_undefined(metric: evaluate.Metric) -> None:
    result = metric.compute(predictions=TEXTS, references=[TEXTS[0]] * len(TEXTS))
    assert (result["undefined"], result["truncated"]) == (2, 1)
    assert result["scores"][2:4] == [0.0, 0.0]


def test_the_vectors_are_those_of_sentence_transformers(folder: Path, encoder: ContextualEncoder) -> None:
    texts = [text for text in TEXTS if text not in ("", "☃", "is it [SEP] asleep?")]  # it reads "[SEP]" as the token
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    theirs = model.encode(texts)
    assert np.abs(encoder.encode(texts).vectors - theirs).max() < 1e-5


@pytest.mark.parametrize("copied", [False, True])
def test_special_strings_are_plain_text(encoder: ContextualEncoder, copied: bool) -> None:
    encoder = pickle.loads(pickle.dumps(encoder)) if copied else encoder
    assert "[SEP]" not in encoder.token_rows("is it [SEP] asleep?").tokens[:-1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([*WORDS, "☃", "!"]), max_size=30).map(" ".join), min_size=1, max_size=9),
    st.randoms(),
)
def test_company_and_order_change_no_vector(encoder: ContextualEncoder, texts: list[str], random: object) -> None:
    alone = np.concatenate([encoder.encode([text]).vectors for text in texts])
    order = random.sample(range(len(texts)), len(texts))
    together = encoder.encode([texts[i] for i in order]).vectors
    assert np.abs(together - alone[order]).max() < ROUNDING


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_fewer_bits_hardly_move_a_vector(encoder: ContextualEncoder, precision: str) -> None:
    """A model without a head, unlike the cross-encoders."""
    vectors = encoder.encode(TEXTS, RunOptions(precision=precision, device="cpu")).vectors
    whole = encoder.encode(TEXTS).vectors
    assert 0 < np.abs(vectors - whole).max() < FEWER_BITS * np.abs(whole).max()


def test_loading_draws_no_bar(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ContextualEncoder.from_folder(folder)
    assert capfd.readouterr().err == ""


def test_contributions_add_up_to_the_score(metric: evaluate.Metric) -> None:
    explained = metric.explain(TEXTS[0], TEXTS[4])
    score = metric.compute(predictions=[TEXTS[0]], references=[TEXTS[4]])["scores"][0]
    for side in ("prediction", "reference"):
        assert explained[side]["total"] == pytest.approx(score, abs=1e-6)
        assert explained[side]["spans"][0] is None
        begin, end = explained[side]["spans"][1]
        assert (TEXTS[0] if side == "prediction" else TEXTS[4])[begin:end] == explained[side]["tokens"][1]


def test_integrated_gradients_are_refused(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match=r"^method: expected 'exact' for a contextual checkpoint"):
        metric.explain("a dog", "a cat", method="integrated_gradients")


@pytest.mark.parametrize("run", [{"precision": "int8", "workers": 2, "batch_size": 1}, {"backend": "openvino"}])
def test_an_explanation_runs_as_compute_does(metric: evaluate.Metric, run: dict) -> None:
    if "backend" in run:
        pytest.importorskip("openvino", reason="the extra `fast` is not installed")
    explained = metric.explain(TEXTS[0], TEXTS[4], **run)
    (score,) = metric.compute(predictions=[TEXTS[0]], references=[TEXTS[4]], **run)["scores"]
    assert explained["score"] == pytest.approx(score, abs=1e-4)
    assert explained != metric.explain(TEXTS[0], TEXTS[4])


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("model.safetensors", None, "missing"),
        ("model.safetensors", b"no tensors", "did not load"),
        ("tokenizer.json", b"{}", "not a tokenizer"),
    ],
)
def test_damage_is_named(folder: Path, tmp_path: Path, name: str, content: bytes | None, named: str) -> None:
    for path in folder.glob("*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=named):
        load_checkpoint(f"{tmp_path}/")


def test_ratings_need_a_map(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="calibrated: expected a checkpoint with ratings"):
        metric.compute(predictions=["a"], references=["a"], calibrated=True)


def test_ratings_are_monotone() -> None:
    ratings = Ratings((-1.0, 0.0, 0.5), (0.0, 0.0, 1.0))
    scores = np.linspace(-1, 1, 101)
    assert (np.diff(ratings(scores)) >= 0).all()
    assert ratings(np.array([-1.0, 0.25, 1.0])).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    "knots", [((0.0,), (1.0,)), ((0.0, 0.0), (0.0, 1.0)), ((0.0, 1.0), (1.0, 0.0)), ((0, 2), (0, 1))]
)
def test_invalid_knots_are_refused(knots: tuple) -> None:
    with pytest.raises(ValueError, match=r"^ratings: expected ascending"):
        Ratings(*knots)


@pytest.mark.parametrize("stored", [{}, {"cosines": [0, 1]}, [1, 2], "x", 5, {"cosines": None, "ratings": [0, 1]}])
def test_a_damaged_map_is_refused(stored: object) -> None:
    with pytest.raises(ValueError, match=r"^ratings: expected cosines and ratings in config\.json"):
        Ratings.stored(stored)
