"""Transformers: texts computed on all cores to the same bits, and on the first token alone to the same logits."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import AutoModelForSequenceClassification, BertForSequenceClassification, PreTrainedModel

from semantic_metrics.core import batching, process
from semantic_metrics.core.batching import batches_by_length
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.transformer import backends
from semantic_metrics.transformer.backends import run_in_order, worker_count
from semantic_metrics.transformer.first_token import FirstTokenLayer, read_first_token
from tests import tiny_pairs as tiny
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import WORDS

texts = st.lists(st.sampled_from([*WORDS, "☃", "[SEP]"]), max_size=30).map(" ".join)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=30)
quick = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few texts are many batches."""
    monkeypatch.setattr(batching, "BATCH_VALUES", {"cpu": 64 * 32, "other": 64 * 32})


@quick
@given(pairs, st.sampled_from(["float32", "bfloat16", "int8"]), st.integers(2, 5))
def test_workers_change_no_bit(scorer: PairScorer, some: list[tuple[str, str]], precision: str, count: int) -> None:
    one, several = (scorer.logits(some, RunOptions(precision=precision, workers=n)).values for n in (1, count))
    np.testing.assert_array_equal(one, several)


@quick
@given(st.lists(texts, min_size=1, max_size=30), st.integers(2, 5))
def test_workers_change_no_bit_of_a_vector(encoder: ContextualEncoder, some: list[str], count: int) -> None:
    one, several = (encoder.encode(some, RunOptions(workers=n)).vectors for n in (1, count))
    np.testing.assert_array_equal(one, several)


def test_threads_of_torch_change_no_bit(scorer: PairScorer) -> None:
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            results.append(scorer.logits([(f"the dog {i}", "a man " * i) for i in range(20)]).values)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*results)


def test_torch_is_left_as_it_was_found(scorer: PairScorer) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        inside = list(run_in_order(lambda _: torch.get_num_threads(), range(6), 4))
        scorer.logits([("the dog", "a man")], RunOptions(workers=2))
        later: list[int] = []
        thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        assert inside == [1] * 6
        assert torch.get_num_threads() == 3
        assert later == [3], "what threads begin with must stay too"
    finally:
        torch.set_num_threads(before)


def test_an_error_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, done = threading.Event(), []

    class Pool(ThreadPoolExecutor):
        def shutdown(self, **options: bool) -> None:
            super().shutdown(wait=False, **options)
            ended.set()
            super().shutdown()

    def fail(i: int) -> None:
        if i == 0:
            raise RuntimeError("first")
        ended.wait()
        done.append(i)

    monkeypatch.setattr(backends, "ThreadPoolExecutor", Pool)
    with pytest.raises(RuntimeError, match="first"):
        list(run_in_order(fail, range(100), 2))
    assert len(done) <= 2, "what waits must be dropped"


def test_there_are_as_many_workers_as_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert worker_count(None) == 6
    assert worker_count(9) == 9
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert worker_count(None) == 2
    monkeypatch.setattr(process, "is_forked", lambda: True)
    assert worker_count(None) == 1


MANY = [(f"the dog {'bites ' * (i % 13)}{i}", f"a man {'sleeps ' * (i % 7)}") for i in range(24)]


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_a_pair_hardly_depends_on_its_neighbours(scorer: PairScorer, precision: str) -> None:
    """In int8 each token is quantised by itself: as near as bfloat16's own rounding, where a shared scale moves 4%."""
    run = RunOptions(precision=precision)
    among = scorer.logits(MANY, run).values
    alone = np.concatenate([scorer.logits([pair], run).values for pair in MANY])
    spread = among.std()
    assert np.abs(alone - among).max() < {"float32": 1e-5, "bfloat16": 0.02, "int8": 0.005}[precision] * spread


def test_a_batch_is_hardly_padded() -> None:
    """Of sequences of all lengths, most are in a batch of their own length."""
    lengths = np.random.default_rng(0).integers(8, 40, size=2000).tolist()
    batches = list(batches_by_length(lengths, tokens=512, sequences=64))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    padded = [len(batch) * max(lengths[i] for i in batch) for batch in batches]
    assert sum(padded) <= 1.02 * sum(lengths)
    assert len(batches) < len(lengths) / 10
    assert max(padded) <= 512


def models(folder: Path, **settings: object) -> tuple[PreTrainedModel, PreTrainedModel]:
    """A checkpoint as it is, and with its last layer replaced."""
    whole, replaced = (AutoModelForSequenceClassification.from_pretrained(folder, **settings).eval() for _ in range(2))
    return whole, read_first_token(replaced)


def inputs(model: PreTrainedModel, lengths: tuple[int, ...] = (9, 4, 1)) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(5, model.config.vocab_size, (len(lengths), max(lengths)), generator=generator)
    mask = torch.tensor([[1] * length + [0] * (max(lengths) - length) for length in lengths])
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("make", [tiny.bert, tiny.roberta])
def test_logits_are_those_of_the_whole_model(make: Callable[[Path], Path], attention: str, tmp_path: Path) -> None:
    whole, replaced = models(make(tmp_path / "model"), attn_implementation=attention)
    assert isinstance(replaced.base_model.encoder.layer[-1], FirstTokenLayer)
    for batch in (inputs(whole), inputs(whole, (6, 6))):
        with torch.inference_mode():
            expected, logits = whole(**batch).logits, replaced(**batch).logits
        assert expected.std() > 100 * ROUNDING, "a difference would be seen"
        torch.testing.assert_close(logits, expected, atol=ROUNDING, rtol=0)


def test_weights_keep_their_names_and_gradients_reach_the_words(tmp_path: Path) -> None:
    whole, replaced = models(tiny.bert(tmp_path / "model"))
    assert list(replaced.state_dict()) == list(whole.state_dict())
    gradients = []
    for model in (whole, replaced):
        batch = inputs(model)
        embeddings = model.get_input_embeddings()(batch.pop("input_ids")).detach().requires_grad_()
        model(inputs_embeds=embeddings, **batch).logits.sum().backward()
        gradients.append(embeddings.grad)
    torch.testing.assert_close(*gradients, atol=ROUNDING, rtol=0)


def test_other_models_stay_as_they_are(tmp_path: Path) -> None:
    whole, _ = models(tiny.bert(tmp_path / "model"))
    layers = list(whole.base_model.encoder.layer)
    assert list(read_first_token(whole.base_model).encoder.layer) == layers, "without a head all tokens are read"
    _, decoder = models(tiny.bert(tmp_path / "decoder", is_decoder=True))
    assert type(decoder) is BertForSequenceClassification
    assert not any(isinstance(module, FirstTokenLayer) for module in decoder.modules())
