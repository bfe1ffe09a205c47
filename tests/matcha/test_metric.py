"""The metric through `evaluate`: scores, options, caches, copies, processes; and what holds for every text."""

import copy
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.core import batching
from semantic_metrics.matcha.attribution import explain
from semantic_metrics.matcha.table import MatchaTable, cosine
from tests.conftest import METRIC
from tests.tiny_table import PREDICTIONS, REFERENCES, SEVERAL, SIGNS, SPECIAL, WORDS, compute, scores, small_table


def test_results(metric: evaluate.Metric) -> None:
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert list(result) == ["matcha", "scores", "signature", "undefined"]
    assert result["matcha"] == np.mean(result["scores"])
    assert all(type(score) is float and -1 <= score <= 1 for score in result["scores"])
    assert type(result["matcha"]) is float
    assert result["undefined"] == 0


def test_rescale_maps_to_zero_and_one(metric: evaluate.Metric) -> None:
    plain = metric.compute(predictions=PREDICTIONS, references=REFERENCES, contradictions=REFERENCES)
    scaled = metric.compute(predictions=PREDICTIONS, references=REFERENCES, contradictions=REFERENCES, rescale=True)
    for key in ("scores", "contradiction_scores"):
        assert scaled[key] == [(score + 1) / 2 for score in plain[key]]
    assert scaled["margins"] == pytest.approx([margin / 2 for margin in plain["margins"]], abs=1e-15)
    assert scaled["matcha"] == pytest.approx((plain["matcha"] + 1) / 2, abs=1e-15)


def test_the_signature_says_what_can_change_a_score(metric: evaluate.Metric) -> None:
    table = metric.encoder
    assert metric.compute(predictions=["a"], references=["b"])["signature"] == (
        f"matcha|checkpoint:{table.checkpoint_sha256[:16]}|tokenizer:{table.tokenizer_sha256[:16]}|dtype:float16"
        "|pad_to:none|pad_id:none|unk:[UNK]|special_tokens:false|max_length:none"
        "|multi_reference:best|rescale:false|version:0.1.0"
    )
    assert "multi_reference:mean|rescale:true" in metric.signature(multi_reference="mean", rescale=True)


@pytest.mark.parametrize(
    "other",
    [
        small_table(seed=1),
        small_table(dtype=torch.float32),
        small_table(max_length=64),
        small_table(pad_to=64, max_length=64, pad_token_id=0),
        small_table(unk_token=None),
        small_table(add_special_tokens=True),
        small_table(source_sha256="0" * 64, seed=1),
    ],
)
def test_another_checkpoint_has_another_signature(metric: evaluate.Metric, tmp_path: Path, other: object) -> None:
    other.save(tmp_path)
    loaded = evaluate.load(METRIC, str(tmp_path))
    assert loaded.signature() != metric.signature()


def test_undefined_scores_are_zero_and_counted(metric: evaluate.Metric) -> None:
    texts = ["", "☃", "the dog", "", " "]
    references = ["", "the dog", "☃", "the dog", "the dog"]
    result = metric.compute(predictions=[*texts, "the dog"], references=[*references, "the dog"])
    assert result["scores"] == [0, 0, 0, 0, 0, 1]
    assert result["undefined"] == 5
    assert result["matcha"] == pytest.approx(1 / 6)
    scaled = metric.compute(predictions=["", "the dog"], references=["the dog"] * 2, rescale=True)
    assert (scaled["scores"], scaled["undefined"]) == ([0.5, 1.0], 1)


def test_one_reference_in_a_list_is_one_and_the_first_of_equals_is_best(metric: evaluate.Metric) -> None:
    assert scores(metric, PREDICTIONS, [[text] for text in REFERENCES]) == scores(metric, PREDICTIONS, REFERENCES)
    result = metric.compute(predictions=["the dog"], references=[["cat", "dog the", "the dog"]])
    assert result["best_reference"] == [1]


@pytest.mark.parametrize("references", [REFERENCES, SEVERAL])
def test_contradictions_are_scored_against_the_same_references(metric: evaluate.Metric, references: list) -> None:
    against = ["the dog is asleep", "a man runs", "", "the dog barks"]
    result = metric.compute(predictions=PREDICTIONS, references=references, contradictions=against)
    assert result["scores"] == scores(metric, PREDICTIONS, references)
    assert result["contradiction_scores"] == scores(metric, against, references)
    pairs = zip(result["scores"], result["contradiction_scores"], strict=True)
    assert result["margins"] == [score - other for score, other in pairs]
    assert result["undefined"] == 1


def test_contradictions_after_add_batch(metric: evaluate.Metric) -> None:
    whole = metric.compute(predictions=PREDICTIONS, references=REFERENCES, contradictions=REFERENCES)
    metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    metric.add(prediction=PREDICTIONS[2], reference=REFERENCES[2])
    with pytest.raises(ValueError, match=r"contradictions: expected 3 items, one for each of predictions, got 4"):
        metric.compute(contradictions=REFERENCES)
    assert len(metric) == 3
    last = {"predictions": PREDICTIONS[3:], "references": REFERENCES[3:]}
    assert metric.compute(**last, contradictions=REFERENCES) == whole


BAD = [
    ({"predictions": ["a"], "references": ["a", "b"]}, r"references: expected 1 items, one for each of pred.*, got 2"),
    ({"predictions": ["a"]}, "references: expected a list of strings, got NoneType"),
    ({"predictions": ["a"], "references": [["b", "x\udc00"]]}, r"references\[0\]\[1\]: .*U\+DC00\) at character 1"),
    ({"predictions": ["a"], "references": ["a"], "contradictions": ["\ud800"]}, r"contradictions\[0\]: .*surrogate"),
    ({"predictions": ["a"], "references": ["a"], "contradictions": list("abc")}, "contradictions: expected 1 items"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_refused_and_costs_nothing(metric: evaluate.Metric, arguments: dict, message: str) -> None:
    for added in (0, 1):
        if added:
            metric.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
        for call in (metric.compute, *([metric.add_batch] if len(arguments) == 2 else [])):
            with pytest.raises(ValueError, match=message if not added or call == metric.add_batch else "."):
                call(**arguments)
        assert len(metric) == added
    result = metric.compute(predictions=PREDICTIONS[1:], references=REFERENCES[1:])
    assert result["scores"] == scores(metric, PREDICTIONS, REFERENCES)


def test_nothing_given_and_invalid_single_rows_are_refused(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="predictions: expected a list of strings, got None, and nothing was added"):
        metric.compute()
    with pytest.raises(ValueError, match=r"predictions\[0\]: expected a string, got NoneType"):
        metric.add(reference="a")
    with pytest.raises(ValueError, match=r"references\[0\]: expected at least one text"):
        metric.add(prediction="a", reference=[])
    assert len(metric) == 0


@pytest.mark.parametrize(("first", "second"), [(["a"], [["a"]]), ([["a"]], ["a"])])
def test_kinds_of_references_do_not_mix_over_batches(metric: evaluate.Metric, first: list, second: list) -> None:
    metric.add_batch(predictions=["a"], references=first)
    for call in (metric.add_batch, metric.compute):
        with pytest.raises(ValueError, match="references: expected the kind that was added before"):
            call(predictions=["a"], references=second)
    assert metric.compute()["scores"] == [1]
    assert scores(metric, ["a"], second) == [1]  # a new round may be of the other kind


def test_scores_are_the_cosines_of_the_vectors_that_encode_returns(metric: evaluate.Metric) -> None:
    texts = ["the dog barks", "a cat", "\u6c34"]
    vectors = metric.encode(texts)
    assert vectors.shape == (3, metric.encoder.config.hidden_size)
    assert not vectors[2].any(), "no token is known"
    left, right = vectors[:2]
    cosine = left @ right / np.linalg.norm(left) / np.linalg.norm(right)
    assert metric.compute(predictions=texts[:1], references=texts[1:2])["scores"] == pytest.approx([cosine])
    with pytest.raises(ValueError, match="texts: expected a list of strings, got a bare str"):
        metric.encode("the dog")
    with pytest.raises(ValueError, match="precision: expected 'float32', as a table runs no model"):
        metric.encode(texts, precision="int8")


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_a_failure_keeps_added_rows(checkpoint: Path, keep_in_memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = evaluate.load(METRIC, str(checkpoint), keep_in_memory=keep_in_memory)
    rest = {"predictions": PREDICTIONS[2:], "references": SEVERAL[2:]}
    expected = metric.compute(predictions=PREDICTIONS, references=SEVERAL)
    metric.add_batch(predictions=PREDICTIONS[:2], references=SEVERAL[:2])

    def fail(**_: object) -> None:
        raise MemoryError

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(metric, "_compute", fail)
            with pytest.raises(MemoryError):
                metric.compute(**rest)
        assert len(metric) == 2
    assert metric.compute(**rest) == expected
    assert len(metric) == 0


def test_evaluate_writes_nothing_into_the_checkpoint(checkpoint: Path, metric: evaluate.Metric) -> None:
    metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert sorted(path.name for path in checkpoint.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert checkpoint not in Path(metric.data_dir).parents
    assert Path(metric.data_dir).is_dir()


def test_a_metric_with_added_rows_is_not_copied(metric: evaluate.Metric) -> None:
    metric.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(ValueError, match=r"^metric: expected one without added rows"):
            copied(metric)
    assert len(metric.compute()["scores"]) == 1


def test_without_docstrings(checkpoint: Path, tmp_path: Path) -> None:
    """`python -OO` leaves none, and evaluate adds to them."""
    code = "import sys, evaluate; m = evaluate.load(*sys.argv[1:]); m.add(prediction='the dog', reference='the dog')\n"
    command = [sys.executable, "-OO", "-c", f"{code}print(m.compute()['scores'])", METRIC, str(checkpoint)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.endswith("[1.0]\n"), done.stderr  # transformers reports its own missing docstrings before


ONE_OF_TWO = """
import json, sys
import evaluate

script, checkpoint, cache, rank = sys.argv[1:]
metric = evaluate.load(script, checkpoint, num_process=2, process_id=int(rank), experiment_id="two", cache_dir=cache)
rows = json.loads(sys.stdin.read())
metric.add_batch(predictions=rows["predictions"], references=rows["references"])
print(json.dumps(metric.compute(contradictions=rows.get("contradictions"))))
"""


@pytest.mark.slow
def test_two_processes_score_together(metric: evaluate.Metric, checkpoint: Path, tmp_path: Path) -> None:
    """As in distributed evaluation: each adds its share, the first computes; it alone is given the contradictions."""
    halves = [{"predictions": PREDICTIONS[part], "references": REFERENCES[part]} for part in (slice(2), slice(2, 4))]
    halves[0]["contradictions"] = REFERENCES
    command = [sys.executable, "-c", ONE_OF_TWO, METRIC, str(checkpoint), str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([*command, str(rank)], **pipes) for rank in range(2)]
    for process, half in zip(running, halves, strict=True):
        process.stdin.write(json.dumps(half))
        process.stdin.close()
    first, second = (json.loads(process.stdout.read()) for process in running)
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    assert second is None
    assert first == metric.compute(predictions=PREDICTIONS, references=REFERENCES, contradictions=REFERENCES)


unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)  # Cs: surrogates, which are refused
sentences = st.lists(st.sampled_from([*WORDS, *SIGNS, *SPECIAL, "☃", "dogs"]), max_size=12).map(" ".join)
texts = st.one_of(unicode, sentences)
batches = st.lists(texts, min_size=1, max_size=8)
EXAMPLES = 60  # each goes through evaluate, which writes a file


@pytest.fixture(scope="module")
def one_metric(checkpoint: Path) -> evaluate.Metric:
    """One metric for all examples: what is left over from one would show in the next."""
    return evaluate.load(METRIC, str(checkpoint), keep_in_memory=True)


@settings(max_examples=EXAMPLES)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_batch_and_order_change_no_bit(one_metric: evaluate.Metric, pairs: list, random: object) -> None:
    predictions, references = map(list, zip(*pairs, strict=True))
    whole = compute(one_metric, predictions, references)["scores"]
    assert [compute(one_metric, [a], [b])["scores"][0] for a, b in pairs] == whole
    order = list(range(len(pairs)))
    random.shuffle(order)
    turned = compute(one_metric, [predictions[i] for i in order], [references[i] for i in order])["scores"]
    assert turned == [whole[i] for i in order]
    for a, b in pairs:
        one_metric.add(prediction=a, reference=b)
    assert one_metric.compute()["scores"] == whole


@settings(max_examples=EXAMPLES)
@given(batches)
def test_scores_are_in_range_symmetric_and_one_for_equal_texts(one_metric: evaluate.Metric, batch: list[str]) -> None:
    others = batch[1:] + batch[:1]
    there, back = compute(one_metric, batch, others)["scores"], compute(one_metric, others, batch)["scores"]
    assert there == back
    assert all(-1 <= score <= 1 for score in there)
    same = compute(one_metric, batch, batch)
    defined = one_metric.encoder.encode(batch).defined
    assert same["scores"] == defined.astype(float).tolist()
    assert same["undefined"] == int((~defined).sum())


@settings(max_examples=EXAMPLES)
@given(texts, st.lists(texts, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_references_have_no_order(
    one_metric: evaluate.Metric, text: str, references: list[str], random: object
) -> None:
    shuffled = random.sample(references, len(references))
    for rule in ("best", "mean"):
        first = compute(one_metric, [text], [references], multi_reference=rule)
        second = compute(one_metric, [text], [shuffled], multi_reference=rule)
        assert first["scores"] == second["scores"]
        assert first["undefined"] == second["undefined"]
    each = compute(one_metric, [text] * len(references), references)
    defined = [one_metric.encoder.encode([text, other]).defined.all() for other in references]
    known = [score for score, kept in zip(each["scores"], defined, strict=True) if kept]
    best, mean = (compute(one_metric, [text], [references], multi_reference=rule) for rule in ("best", "mean"))
    assert best["scores"] == [max(known, default=0)]
    assert mean["scores"] == pytest.approx([np.mean(known) if known else 0], abs=1e-15)
    position = best["best_reference"][0]
    assert position is None if not known else each["scores"][position] == max(known)


@given(batches, st.integers(1, 3), st.integers(1, 50))
def test_chunks_change_no_bit(table: MatchaTable, batch: list[str], size: int, characters: int) -> None:
    whole = table.encode(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "CHUNK_TEXTS", size)
        patch.setattr(batching, "CHUNK_CHARACTERS", characters)
        parts = table.encode(batch)
    assert np.array_equal(parts.vectors, whole.vectors)
    assert np.array_equal(parts.defined, whole.defined)


@given(texts, texts)
def test_exact_contributions_sum_to_the_score(table: MatchaTable, prediction: str, reference: str) -> None:
    explained = explain(table, prediction, reference)
    score = cosine(*(table.encode([text]).vectors for text in (prediction, reference)))[0]
    assert explained["score"] == pytest.approx(score, abs=1e-12)
    for side in ("prediction", "reference"):
        assert explained[side]["total"] == pytest.approx(score, abs=1e-6)
        assert math.fsum(explained[side]["contributions"]) == pytest.approx(score, abs=1e-6)


@given(texts, texts, st.sampled_from([None, "token_0", "other_text"]))
def test_integrated_gradients_sum_up(table: MatchaTable, prediction: str, reference: str, start: str | None) -> None:
    explained = explain(table, prediction, reference, "integrated_gradients", start)
    for side in ("prediction", "reference"):
        change = explained["score"] - explained[side].get("baseline_score", 0)
        assert explained[side]["total"] == pytest.approx(change, abs=1e-6)
        assert math.fsum(explained[side]["contributions"]) == pytest.approx(change, abs=1e-6)


@given(texts)
def test_spans_point_at_the_tokens_in_the_text(table: MatchaTable, text: str) -> None:
    explained = explain(table, text, "the dog")["prediction"]
    assert len(explained["tokens"]) == len(explained["spans"]) == len(explained["contributions"])
    for begin, end in explained["spans"]:
        assert 0 <= begin < end <= len(text)
