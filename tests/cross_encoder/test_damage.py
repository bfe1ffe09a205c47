"""What is refused of a checkpoint: heads that are no rating, damage, code."""

import json
from pathlib import Path

import evaluate
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from transformers import BertModel

from semantic_metrics import load
from tests import tiny_pairs as tiny
from tests.cross_encoder.conftest import SCRIPT
from tests.cross_encoder.test_checkpoint import refused
from tests.stsscore.test_metric import PREDICTIONS, REFERENCES, scores

EMPTY = b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "  # safetensors without a tensor

# checkpoints that do not rate


@pytest.mark.parametrize("architectures", [["BertForMaskedLM"], [], None])
def test_a_checkpoint_without_a_head_is_refused(copied: Path, architectures: list | None) -> None:
    tiny.change(copied, {"architectures": architectures})
    refused(copied, "expected an architecture ...ForSequenceClassification, got ")


def test_a_head_that_the_weights_lack_is_not_made_up(copied: Path) -> None:
    BertModel.from_pretrained(copied).save_pretrained(copied)
    tiny.change(copied, {"architectures": ["BertForSequenceClassification"], **tiny.IDENTITY})
    refused(copied, "expected all weights of its BertForSequenceClassification, missing classifier.bias, classifier.w")


@pytest.mark.parametrize(
    "lost", ["bert.encoder.layer.0.attention.self.query.weight", "bert.pooler.dense.weight", "word_embeddings"]
)
def test_weights_of_the_encoder_are_not_made_up(copied: Path, lost: str) -> None:
    tensors = load_file(copied / "model.safetensors")
    kept = {name: values for name, values in tensors.items() if lost not in name}
    assert len(kept) == len(tensors) - 1
    save_file(kept, copied / "model.safetensors", {"format": "pt"})
    refused(copied, f"expected all weights of its BertForSequenceClassification, missing .*{lost}")


def test_weights_by_an_older_name_are_known(copied: Path) -> None:
    tensors = load_file(copied / "model.safetensors")
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): values for name, values in tensors.items()}
    assert old.keys() != tensors.keys()
    expected = load("stsscore", str(copied)).compute(predictions=["a dog"], references=["the dog"])["scores"]
    save_file(old, copied / "model.safetensors", {"format": "pt"})
    assert load("stsscore", str(copied)).compute(predictions=["a dog"], references=["the dog"])["scores"] == expected


def test_a_config_of_more_or_fewer_layers_is_refused(copied: Path) -> None:
    layers = json.loads((copied / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"]
    tiny.change(copied, {"num_hidden_layers": layers + 1})
    refused(copied, f"missing bert.encoder.layer.{layers}.* and 1[0-9] more")
    tiny.change(copied, {"num_hidden_layers": layers - 1})
    refused(copied, f"expected as many layers as config.json says, got bert.encoder.layer.{layers - 1} too")


def test_a_tokeniser_of_more_tokens_than_the_model_is_refused(copied: Path) -> None:
    path = copied / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["dog"] = 99999
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    refused(copied, "expected a tokeniser of .* tokens at most, got one of 100000")


def test_logits_that_are_not_finite_are_refused(copied: Path) -> None:
    tiny.change(copied, {"layer_norm_eps": -1.0})
    refused(copied, "expected finite logits in float32, got inf or nan")


# damage


@pytest.mark.parametrize(
    ("file", "content", "saying"),
    [
        ("config.json", None, "config.json"),
        *(("config.json", text, "expected") for text in (b"", b"[]", b"null", b"{}", b'{"model_type": "unknown"}')),
        ("model.safetensors", None, "expected model.safetensors, found"),
        *(("model.safetensors", text, "(did not load|missing)") for text in (b"", b"other", EMPTY, EMPTY[:12])),
        ("tokenizer.json", None, "expected tokenizer.json, found"),
        *(("tokenizer.json", text, "did not load") for text in (b"", b"{}", b"not json", b"\xff\xfe")),
    ],
)
def test_a_missing_or_damaged_file_is_refused(copied: Path, file: str, content: bytes | None, saying: str) -> None:
    (copied / file).unlink()
    if content is not None:
        (copied / file).write_bytes(content)
    refused(copied, f"checkpoint .*{saying}")


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_refused(copied: Path, value: float) -> None:
    tensors = load_file(copied / "model.safetensors")
    tensors["classifier.weight"][0, 0] = value
    save_file(tensors, copied / "model.safetensors", {"format": "pt"})
    refused(copied, "expected finite numbers, got inf or nan in classifier.weight")


def test_a_prompt_is_refused(bert: Path, tmp_path: Path) -> None:
    encoder = CrossEncoder(str(bert), device="cpu", prompts={"query": "rate this: "}, default_prompt_name="query")
    encoder.save_pretrained(str(tmp_path / "model"))
    refused(tmp_path / "model", "expected texts without a prompt in front, got 'query'")


# code and pickles


class Opens:
    """A pickle that opens a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return open, (str(self.path), "w")


def test_weights_of_an_older_format_are_read_as_plain_tensors(copied: Path) -> None:
    expected = scores(evaluate.load(SCRIPT, str(copied)), PREDICTIONS, REFERENCES)
    torch.save(load_file(copied / "model.safetensors"), copied / "pytorch_model.bin")
    (copied / "model.safetensors").unlink()
    assert scores(evaluate.load(SCRIPT, str(copied)), PREDICTIONS, REFERENCES) == expected


@pytest.mark.parametrize("file", ["model.safetensors", "pytorch_model.bin"])
def test_a_pickle_with_anything_but_tensors_is_refused_unread(copied: Path, tmp_path: Path, file: str) -> None:
    marker = tmp_path / "marker"
    tensors = load_file(copied / "model.safetensors")
    (copied / "model.safetensors").unlink()
    torch.save({**tensors, "more": Opens(marker)}, copied / file)
    refused(copied, "did not load")
    assert not marker.exists()


EVIL_CONFIG = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
TRANSFORMER = "sentence_transformers.base.modules.transformer.Transformer"


@pytest.mark.parametrize(
    ("config", "modules", "saying"),
    [
        (EVIL_CONFIG, None, "expected a config.json of transformers"),
        *(({}, types, "expected one module in modules.json, a") for types in (["evil.A"], [TRANSFORMER, "evil.A"], [])),
    ],
)
def test_code_of_a_checkpoint_is_refused_and_not_run(
    copied: Path, tmp_path: Path, config: dict, modules: list[str] | None, saying: str
) -> None:
    marker = tmp_path / "marker"
    (copied / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    tiny.change(copied, config)
    if modules is not None:
        entries = [{"idx": i, "name": str(i), "path": "", "type": kind} for i, kind in enumerate(modules)]
        (copied / "modules.json").write_text(json.dumps(entries))
    refused(copied, saying)
    assert not marker.exists()
