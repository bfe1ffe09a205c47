"""Token contributions: their sums, signs, spans and padding, and the integral of the gradient."""

import evaluate
import numpy as np
import pytest
import torch

from semantic_metrics.matcha.attribution import explain
from semantic_metrics.matcha.table import PADDING, MatchaTable, TableConfig, cosine
from tests.tiny_table import UNKNOWN, WIDTH, small_table, small_tokenizer

SIDES = ("prediction", "reference")


def test_what_is_returned(metric: evaluate.Metric) -> None:
    explained = metric.explain("The dogs bite.", "a man")
    assert list(explained) == ["score", "method", "prediction", "reference"]
    assert explained["method"] == "exact"
    assert explained["score"] == pytest.approx(
        metric.compute(predictions=["The dogs bite."], references=["a man"])["scores"][0], abs=1e-12
    )
    assert explained["prediction"]["tokens"] == ["the", "dog", "##s", "b", "##i", "##t", "##e", "."]
    assert explained["prediction"]["spans"] == [(0, 3), (4, 7), (7, 8), (9, 10), (10, 11), (11, 12), (12, 13), (13, 14)]
    assert explained["reference"]["tokens"] == ["a", "man"]
    for side in SIDES:
        assert explained[side]["total"] == pytest.approx(explained["score"], abs=1e-12)
        assert all(type(share) is float for share in explained[side]["contributions"])


def test_a_contribution_is_the_tokens_share_of_the_cosine(table: MatchaTable) -> None:
    explained = explain(table, "dog cat", "man")
    ids = [table.tokenizer.token_to_id(word) for word in ("dog", "cat", "man")]
    dog, cat, man = table.rows_of(np.array(ids))
    scale = np.linalg.norm((dog + cat) / 2) * np.linalg.norm(man)
    assert explained["prediction"]["contributions"] == pytest.approx([dog @ man / 2 / scale, cat @ man / 2 / scale])


@pytest.mark.parametrize("method", ["exact", "integrated_gradients"])
@pytest.mark.parametrize("text", ["dog", "dog cat man", "dog " * 8, "dog cat " * 6, "dog " * 7 + "☃"])
def test_padding_is_one_item(method: str, text: str) -> None:
    table = small_table(pad_to=8, max_length=8, pad_token_id=0)
    explained = explain(table, text, "the man sleeps", method)
    score = cosine(table.encode([text]).vectors, table.encode(["the man sleeps"]).vectors)[0]
    assert explained["score"] == pytest.approx(score, abs=1e-12)
    assert explained["prediction"]["tokens"].count(PADDING) == (len(text.replace("☃", "").split()) < 8)
    assert explained["reference"]["tokens"][-1] == PADDING
    assert explained["reference"]["spans"][-1] is None
    for side in SIDES:
        change = score - explained[side].get("baseline_score", 0)
        assert explained[side]["total"] == pytest.approx(change, abs=1e-6)


def test_the_baseline_follows_the_sign_of_the_score(metric: evaluate.Metric) -> None:
    texts = ["dog", "cat", "man", "runs", "awake", "asleep", "barks"]
    explained = [metric.explain(a, b, method="integrated_gradients") for a in texts for b in texts]
    assert {(one["score"] > 0, one["prediction"]["baseline"]) for one in explained} == {
        (True, "token_0"),
        (False, "other_text"),
    }
    for one in explained:
        if one["prediction"]["baseline"] == "other_text":
            assert one["prediction"]["baseline_score"] == pytest.approx(1)


def table_with_cosine(score: float) -> MatchaTable:
    """A table in which the cosine of "dog" and "cat" is as asked."""
    tokenizer = small_tokenizer()
    rows = torch.randn(tokenizer.get_vocab_size(), WIDTH, generator=torch.Generator().manual_seed(0))
    dog, cat = (tokenizer.token_to_id(word) for word in ("dog", "cat"))
    rows[dog], aside = torch.linalg.qr(rows[[dog, cat]].T).Q.T
    rows[cat] = score * rows[dog] + (1 - score**2) ** 0.5 * aside
    return MatchaTable(rows.numpy(), tokenizer, TableConfig(*rows.shape, unk_token=UNKNOWN))


@pytest.mark.parametrize("score", [1.0, 0.999, 0.0, -0.9, -0.99, -0.9999, -0.99999999, -1.0])
@pytest.mark.parametrize("baseline", [None, "token_0", "other_text"])
def test_opposite_texts_sum_too(score: float, baseline: str | None) -> None:
    """The path from one to the other passes close to the origin, where the gradient is large."""
    explained = explain(table_with_cosine(score), "dog", "cat", "integrated_gradients", baseline)
    assert explained["score"] == pytest.approx(score, abs=1e-6)
    for side in SIDES:
        change = explained["score"] - explained[side]["baseline_score"]
        assert explained[side]["total"] == pytest.approx(change, abs=1e-6)


def test_integrated_gradients_are_the_limit_of_many_steps(table: MatchaTable) -> None:
    text, other = "the dog bites", "a man is not awake"
    explained = explain(table, text, other, "integrated_gradients", "token_0")["prediction"]
    rows = torch.from_numpy(table.rows_of(np.array([table.tokenizer.token_to_id(word) for word in text.split()])))
    target = torch.from_numpy(table.encode([other]).vectors[0])
    begin = torch.from_numpy(table.rows_of(np.zeros(len(rows), dtype=int)))
    steps = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    path = (begin + steps[:, None, None] * (rows - begin)).requires_grad_()  # (steps, tokens, D)
    torch.cosine_similarity(path.mean(dim=1), target[None]).sum().backward()
    expected = (path.grad.mean(dim=0) * (rows - begin)).sum(dim=1)
    assert explained["contributions"] == pytest.approx(expected.tolist(), abs=1e-8)


@pytest.mark.parametrize(
    ("arguments", "saying"),
    [
        ({"prediction": None, "reference": "a"}, "prediction: expected a string, got NoneType"),
        ({"prediction": "a", "reference": "\ud800"}, "reference: expected valid Unicode"),
        ({"prediction": "a", "reference": "b", "method": "shap"}, "method: expected one of 'exact', 'integrated"),
        ({"prediction": "a", "reference": "b", "baseline": 0}, "baseline: expected one of None, 'token_0', 'other"),
        ({"prediction": "a", "reference": "b", "precision": "int8"}, "precision: expected 'float32', as a table"),
        ({"prediction": "a", "reference": "b", "backend": "openvino"}, "backend: expected 'torch', as a table runs no"),
    ],
)
def test_bad_arguments_are_refused(metric: evaluate.Metric, arguments: dict, saying: str) -> None:
    with pytest.raises(ValueError, match=saying):
        metric.explain(**arguments)
