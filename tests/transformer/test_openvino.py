"""The backend "openvino": near to torch, blind to neighbours, cached, and one line where it is missing or cannot."""

import builtins
import os
import pickle
from pathlib import Path
from threading import get_ident

import numpy as np
import pytest
import torch

from semantic_metrics import load
from semantic_metrics.core.checkpoint_files import default_cache
from semantic_metrics.core.run_options import PRECISIONS, RunOptions
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.transformer import backends, openvino_model

DRIFTS = {"float32": 1e-5, "bfloat16": 0.1, "int8": 0.2}  # of these models' logits, in units of their spread
PAIRS = [(f"the dog {'bites ' * (i % 13)}{i}", f"a man {'sleeps ' * (i % 7)}") for i in range(24)]


@pytest.fixture
def installed() -> None:
    pytest.importorskip("openvino", reason="the extra `fast` is not installed")


def options(precision: str, **more: object) -> RunOptions:
    return RunOptions(precision=precision, backend="openvino", **more)


def skip_without_bfloat16(precision: str) -> None:
    if precision == "bfloat16" and "BF16" not in openvino_model._get_core().get_property(
        "CPU", "OPTIMIZATION_CAPABILITIES"
    ):
        pytest.skip("the processor has no bfloat16")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("model", ["scorer", "roberta"])
def test_scores_are_near_to_those_of_torch(model: str, precision: str, request: pytest.FixtureRequest) -> None:
    skip_without_bfloat16(precision)
    scorer: PairScorer = request.getfixturevalue(model)
    expected = scorer.logits(PAIRS).values
    result = scorer.logits(PAIRS, options(precision)).values
    assert 0 < np.abs(result - expected).max() < DRIFTS[precision] * expected.std()
    np.testing.assert_array_equal(scorer.logits(PAIRS).values, expected)


def test_the_loading_thread_makes_the_first_request(scorer: PairScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers that make the process's first requests at once can wait for each other for ever."""
    threads = []
    run = openvino_model.OpenVINOModel.__call__

    def recorded(self: openvino_model.OpenVINOModel, inputs: openvino_model.Inputs) -> torch.Tensor:
        threads.append(get_ident())
        return run(self, inputs)

    monkeypatch.setattr(openvino_model.OpenVINOModel, "__call__", recorded)
    pairs = [("a dog", "a cat" + " sleeps" * i) for i in range(64)]
    PairScorer(scorer.folder).logits(pairs, RunOptions(backend="openvino", batch_size=4, workers=2))
    assert threads[0] == get_ident()
    assert len(set(threads[1:]) - {get_ident()}) > 0, "the workers run the others"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_neither_neighbours_nor_workers_count(scorer: PairScorer, precision: str) -> None:
    skip_without_bfloat16(precision)
    among = scorer.logits(PAIRS, options(precision, workers=1)).values
    np.testing.assert_array_equal(scorer.logits(PAIRS, options(precision, workers=3)).values, among)
    alone = np.concatenate([scorer.logits([pair], options(precision)).values for pair in PAIRS])
    # In int8 a processor may take another kernel for a batch of one, so that a tiny model's logits move by .05 of their
    # spread; how far the shipped models' scores move on a processor is in their precision.json.
    limit = {"float32": 1e-5, "bfloat16": 0.03, "int8": 0.1}[precision]
    assert np.abs(alone - among).max() < limit * among.std()


@pytest.mark.usefixtures("installed")
def test_threads_are_the_workers_up_to_the_cores(encoder: ContextualEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "core_count", lambda: 2)
    for workers, threads in ((1, 1), (2, 2), (9, 2), (1, 1)):
        model = encoder.transformer.forward(options("float32", workers=workers))
        assert model._compiled.get_property("INFERENCE_NUM_THREADS") == threads


@pytest.mark.usefixtures("installed")
def test_the_signature_names_the_backend(scorer: PairScorer, encoder: ContextualEncoder) -> None:
    stsscore, matcha = load("stsscore", f"{scorer.folder}/"), load("matcha", f"{encoder.folder}/")
    assert "backend" not in stsscore.signature()
    assert "|precision:int8|" in stsscore.signature(backend="openvino", precision="int8")
    assert "|backend:openvino|" in stsscore.signature(backend="openvino")
    assert "|dtype:float32|backend:openvino|" in matcha.signature(backend="openvino")
    assert "backend" not in matcha.signature()
    columns = {"predictions": ["the dog"], "references": ["a dog"]}
    for metric in (stsscore, matcha):
        result = metric.compute(**columns, backend="openvino")
        assert result["signature"] == metric.signature(backend="openvino")
        assert result["scores"] == pytest.approx(metric.compute(**columns)["scores"], abs=1e-5)


@pytest.mark.usefixtures("installed")
def test_the_cache_of_conversions(scorer: PairScorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_METRICS_CACHE", str(tmp_path))
    conversions = []
    convert = openvino_model._convert
    monkeypatch.setattr(openvino_model, "_convert", lambda *given: conversions.append(1) or convert(*given))

    def fresh() -> np.ndarray:
        return pickle.loads(pickle.dumps(scorer)).logits(PAIRS, options("float32")).values

    first = fresh()
    (made,) = default_cache("openvino").iterdir()
    np.testing.assert_array_equal(fresh(), first)
    assert len(conversions) == 1
    weights = (made / openvino_model.XML).with_suffix(".bin")
    for path, content in ((made / openvino_model.XML, b"<net"), (weights, bytes(weights.stat().st_size))):
        path.write_bytes(content)
        np.testing.assert_array_equal(fresh(), first)
    assert len(conversions) == 3
    entry = made / openvino_model.ENTRY
    entry.write_text(
        entry.read_text(encoding="utf-8").replace("int8", "float32").replace('"key"', '"of"'), encoding="utf-8"
    )
    np.testing.assert_array_equal(fresh(), first)
    assert len(conversions) == 4, "the entry of something else is not read"
    assert [path.name for path in default_cache("openvino").iterdir()] == [made.name], "no partial folder is left"


def test_the_entries_of_the_cache_that_were_used_last_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_model, "MAX_CACHE_BYTES", 250)
    for age, name in enumerate(["newest", "middle", "oldest"]):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.bin").write_bytes(bytes(100))
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    openvino_model._drop_oldest(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"newest", "middle"}
    monkeypatch.setattr(openvino_model, "MAX_CACHE_BYTES", 50)
    openvino_model._drop_oldest(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["newest"], "the one in use stays, whatever its size"


@pytest.mark.usefixtures("installed")
def test_a_wrong_conversion_is_refused(scorer: PairScorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_METRICS_CACHE", str(tmp_path))
    convert = openvino_model._convert

    wrong = pickle.loads(pickle.dumps(scorer)).model()  # lives on: the conversion shares its weights
    torch.nn.init.ones_(wrong.classifier.bias)

    copy = pickle.loads(pickle.dumps(scorer))
    monkeypatch.setattr(openvino_model, "_convert", lambda _, example: convert(wrong, example))
    with pytest.raises(ValueError, match=r"backend: expected 'torch' for this model: .* bert is off by"):
        copy.logits(PAIRS, options("float32"))
    assert not list(tmp_path.rglob("*.xml"))


@pytest.mark.usefixtures("installed")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_is_refused_at_once(scorer: PairScorer) -> None:
    scorer.logits(PAIRS[:1], options("float32"))
    child = os.fork()
    if child == 0:
        try:
            scorer.logits(PAIRS[:1], options("float32"))
        except ValueError as error:
            os._exit(0 if "backend: expected 'torch' in a process forked" in str(error) else 3)
        os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_without_the_extra_one_line_says_what_to_install(scorer: PairScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.partition(".")[0] == "openvino":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(openvino_model, "_core", None)
    copy = pickle.loads(pickle.dumps(scorer))
    with pytest.raises(ValueError, match=r'^backend: .* not installed \(pip install -e "\.\[fast\]" in a checkout\)$'):
        copy.logits(PAIRS[:1], options("float32"))


def test_what_cannot_be_is_refused(scorer: PairScorer, checkpoint: Path) -> None:
    with pytest.raises(ValueError, match="backend: expected one of 'torch', 'openvino', got str 'onnx'"):
        RunOptions(backend="onnx")
    with pytest.raises(ValueError, match="device: expected 'cpu', the only one for backend 'openvino', got"):
        scorer.resolve(options("float32", device="meta"))
    columns = {"predictions": ["the dog"], "references": ["a dog"]}
    with pytest.raises(ValueError, match="backend: expected 'torch', as a table runs no model, got 'openvino'"):
        load("matcha", f"{checkpoint}/").compute(**columns, backend="openvino")
