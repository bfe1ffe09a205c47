"""A last layer that computes the first token alone: the logits of the whole model, and the same weights."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForSequenceClassification, BertForSequenceClassification, PreTrainedModel

from semantic_metrics.transformer.first_token import FirstTokenLayer, read_first_token
from tests import tiny_pairs as tiny

ROUNDING = 1e-5


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
