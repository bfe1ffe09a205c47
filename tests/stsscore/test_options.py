"""Bad input is refused with its name before the model runs, and odd input is scored."""

import copy
import pickle
from pathlib import Path

import evaluate
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from tests import tiny_pairs as tiny
from tests.stsscore.conftest import SCRIPT
from tests.stsscore.test_metric import PREDICTIONS, REFERENCES, ROUNDING, scores

ONE = {"predictions": ["a"], "references": ["a"]}
BAD = [
    ({"predictions": ["a"], "references": ["a", "b"]}, r"references: expected 1 items, one for each of pred.*, got 2"),
    ({"predictions": [], "references": []}, "predictions: expected at least one text, got an empty list"),
    ({"predictions": ["a"], "references": []}, "references: expected at least one text, got an empty list"),
    ({"predictions": None, "references": ["a"]}, "predictions: expected a list of strings, got NoneType"),
    ({"predictions": ["a"]}, "references: expected a list of strings, got NoneType"),
    ({"predictions": ["a", None], "references": ["a", "b"]}, r"predictions\[1\]: expected a string, got NoneType"),
    ({"predictions": "ab", "references": ["a", "b"]}, "predictions: expected a list of strings, got a bare str"),
    ({"predictions": ["a"], "references": [1.5]}, r"references\[0\]: expected a string or a list.*float 1.5"),
    ({"predictions": ["a", "b"], "references": ["a", ["b"]]}, "references: .*got a str at 0 and list"),
    ({"predictions": ["a"], "references": [[]]}, r"references\[0\]: expected at least one text"),
    ({"predictions": ["a", "\ud800"], "references": ["a", "b"]}, r"predictions\[1\]: .*lone surrogate \(U\+D800\)"),
    ({**ONE, "output": "median"}, "output: expected one of 'all', 'mean'"),
    ({**ONE, "clip": "yes"}, "clip: expected one of False, True"),
    ({**ONE, "symmetric": 1}, "symmetric: expected one of False, True"),
    ({**ONE, "multi_reference": "min"}, "multi_reference: expected one of 'best'"),
    ({**ONE, "precision": "float16"}, "precision: expected one of 'float32', 'bfloat16', 'int8', got str 'float16'"),
    ({**ONE, "batch_size": 0}, "batch_size: expected a whole number from 1, got int 0"),
    ({**ONE, "batch_size": True}, "batch_size: expected a whole number from 1, got bool True"),
    ({**ONE, "batch_size": 2.0}, "batch_size: expected a whole number from 1, got float 2.0"),
    ({**ONE, "max_length": 3}, f"max_length: expected a whole number from 4 to {tiny.POSITIONS}, got int 3"),
    ({**ONE, "max_length": tiny.POSITIONS + 1}, f"max_length: .* from 4 to {tiny.POSITIONS}, got int"),
    ({**ONE, "device": "nowhere"}, "device: expected one that torch has here, as 'cpu', got 'nowhere'"),
    ({**ONE, "device": "meta"}, "device: expected one that torch has here, as 'cpu', got 'meta'"),
    ({**ONE, "device": 7.5}, "device: expected one that torch has here, as 'cpu', got 7.5"),
    ({**ONE, "scale": 0}, "scale: expected a number above 0, 'sigmoid' or None, got 0"),
    ({**ONE, "scale": float("nan")}, "scale: expected a number above 0, 'sigmoid' or None, got nan"),
    ({**ONE, "scale": float("inf")}, "scale: expected a number above 0"),
    ({**ONE, "scale": True}, "scale: expected a number above 0, 'sigmoid' or None, got True"),
    ({**ONE, "scale": "5"}, "scale: expected a number above 0, 'sigmoid' or None, got '5'"),
]


@pytest.mark.parametrize(("arguments", "saying"), BAD)
def test_bad_input_is_refused_before_the_model_runs(metric: evaluate.Metric, arguments: dict, saying: str) -> None:
    metric.add_batch(predictions=PREDICTIONS[:1], references=REFERENCES[:1])
    runs = []
    hook = metric.scorer._model("float32").register_forward_pre_hook(lambda *_: runs.append(1))
    with pytest.raises(ValueError, match=saying):
        metric.compute(**arguments)
    hook.remove()
    assert not runs
    assert len(metric) == 1, "what was added before must stay"


def test_nothing_added_and_nothing_given(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="predictions: expected a list of strings, got None, and none was added"):
        metric.compute()


def test_kinds_of_references_do_not_mix_over_batches(metric: evaluate.Metric) -> None:
    metric.add_batch(predictions=["a"], references=["a"])
    with pytest.raises(ValueError, match="references: expected the kind that was added before"):
        metric.compute(predictions=["a"], references=[["a"]])


def test_names_that_are_no_arguments_are_refused(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="reference: expected an argument named 'predictions' or 'references'"):
        metric.add_batch(predictions=["a"], reference=["a"])
    with pytest.raises(ValueError, match="references: expected an argument named 'prediction' or 'reference'"):
        metric.add(prediction="a", references="a")


def test_odd_texts_are_scored(folder: Path) -> None:
    texts = ["", " ", "\n\t", "☃ ☂", "🎉", "a\x00b", "\x00", "e\u0301", "日本語", "x" * 1_000_000, "dog " * 250_000]
    metric = evaluate.load(SCRIPT, str(folder))
    result = metric.compute(predictions=texts, references=texts[::-1])
    score = tiny.listing(folder)
    expected = [score(*pair) for pair in zip(texts[::-1], texts, strict=True)]
    assert result["scores"] == pytest.approx(expected, abs=ROUNDING)
    assert result["undefined"] == 6


SPECIAL = ["[SEP]", "[CLS]", "[PAD]", "[MASK]", "[UNK]", "</s>", "<s>", "<pad>", "<mask>", "[SEP] [SEP]", "[[SEP]SEP]"]


@pytest.mark.parametrize("special", SPECIAL)
def test_special_strings_are_plain_text_to_word_pieces(metric: evaluate.Metric, bert: Path, special: str) -> None:
    """BERT's words end at brackets: set apart, the same tokens, and none of them a separator."""
    apart = special.replace("[", " [ ").replace("]", " ] ").replace("<", " < ").replace(">", " > ").replace("/", " / ")
    found = scores(metric, [f"the dog {special} the cat"], [f"{special}a man"])
    assert found == pytest.approx([tiny.listing(bert)(f"{apart}a man", f"the dog {apart} the cat")], abs=ROUNDING)


@pytest.mark.parametrize("special", SPECIAL)
def test_special_strings_are_plain_text_to_byte_pairs(roberta: Path, special: str) -> None:
    """What the model gives for tokens of a vocabulary that knows no special ones."""
    metric = evaluate.load(SCRIPT, str(roberta))
    found = scores(metric, [f"the dog {special} the cat"], [f"a man{special}"])
    plain = tiny.without_special_tokens(roberta)
    a, b = (
        plain.encode(text, add_special_tokens=False).ids for text in (f"a man{special}", f"the dog {special} the cat")
    )
    assert not {0, 1, 2, 4}.intersection(a + b)
    model = AutoModelForSequenceClassification.from_pretrained(roberta).eval()
    with torch.inference_mode():
        logit = model(torch.tensor([[0, *a, 2, 2, *b, 2]][:1])[:, : tiny.POSITIONS]).logits
    assert found == pytest.approx([torch.sigmoid(logit).item()], abs=ROUNDING)


@pytest.mark.parametrize("special", [*SPECIAL, "\uff3bSEP\uff3d"])
def test_special_strings_are_no_separators_among_sentence_pieces(unigram: Path, special: str) -> None:
    """Its vocabulary holds the separators, and its normaliser makes plain brackets of wide ones."""
    scorer = evaluate.load(SCRIPT, str(unigram)).scorer
    separators = {scorer.tokenizer.cls_token_id, scorer.tokenizer.sep_token_id, scorer.tokenizer.pad_token_id}
    (pair,), _ = scorer._encode([(f"a {special} b", special)], tiny.POSITIONS)
    assert len(pair) > 3
    assert sum(token in separators for token in pair.ids) == 3


def test_the_vocabulary_of_sentence_pieces_would_give_separators_away(unigram: Path) -> None:
    """What the test above is there for: the tokeniser alone, its flag set, reads "[SEP]" as the separator."""
    scorer = evaluate.load(SCRIPT, str(unigram)).scorer
    ids = scorer.tokenizer("a[SEP]b", add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert scorer.tokenizer.sep_token_id in ids


def test_a_fresh_metric_can_be_copied_and_pickled(metric: evaluate.Metric) -> None:
    copies = [copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    expected = scores(metric, PREDICTIONS, REFERENCES)
    assert [scores(made, PREDICTIONS, REFERENCES) for made in copies] == [expected, expected]
