"""Where a checkpoint comes from, its scale, what is refused (no rating, damage, code), and weights in 8 bits."""

import json
import shutil
from functools import partial
from pathlib import Path

import evaluate
import huggingface_hub.constants
import pytest
import torch
from huggingface_hub import HfApi
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from torch import nn
from transformers import BertModel

from semantic_metrics import load
from semantic_metrics.core.checkpoint_files import WEIGHTS
from semantic_metrics.cross_encoder import eight_bits
from semantic_metrics.cross_encoder.eight_bits import to_half
from semantic_metrics.cross_encoder.heads import checkpoint_scale
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.stsscore import scoring
from semantic_metrics.stsscore.scoring import load_scorer
from tests import tiny_pairs as tiny
from tests.cross_encoder.conftest import SCRIPT
from tests.fake_hub import serve
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import PREDICTIONS, REFERENCES, scores
from training.shrink import shrink

LIBRARY = "config_sentence_transformers.json"
IDENTITY_NAME = "torch.nn.modules.linear.Identity"
SIGMOID_NAME = "torch.nn.modules.activation.Sigmoid"


def refused(folder: Path, saying: str) -> None:
    with pytest.raises(ValueError, match=saying) as caught:
        evaluate.load(SCRIPT, str(folder))
    assert folder.name in str(caught.value)


def test_a_shipped_checkpoint_is_found_by_name(bert: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nli = tiny.bert(tmp_path / "nli", labels=3, id2label={0: "contradiction", 1: "entailment", 2: "neutral"})
    kinds = []
    monkeypatch.setattr(scoring, "shipped_checkpoints", lambda kind: kinds.append(kind) or {"pairs": bert, "nli": nli})
    expected = load_scorer(str(bert)).checkpoint_sha256
    for name in (None, "default", "pairs"):
        assert load_scorer(name).checkpoint_sha256 == expected
    with pytest.raises(ValueError, match="got contradiction, entailment, neutral"):
        load_scorer("nli")
    assert not kinds[0]({"model_type": "matcha"}), "MATCHA's checkpoint is of another kind"


# the scale in a checkpoint


@pytest.mark.parametrize(
    ("config", "library_file", "scale"),
    [
        ({"stsscore": {"scale": 5.0}}, None, "5.0"),
        (tiny.IDENTITY, None, "5.0"),
        ({**tiny.SIGMOID, "stsscore": {"scale": 5.0}}, None, "sigmoid"),  # trained on from ours: the library wrote last
        ({"sbert_ce_default_activation_function": SIGMOID_NAME}, None, "sigmoid"),
        ({"sbert_ce_default_activation_function": "torch.nn.Sigmoid"}, None, "sigmoid"),
        # later versions of the library write the activation to a file of their own and leave `config.json` as it was
        (tiny.IDENTITY, SIGMOID_NAME, "sigmoid"),
        ({**tiny.SIGMOID, "stsscore": {"scale": 5.0}}, IDENTITY_NAME, "5.0"),
    ],
)
def test_the_scale_is_the_checkpoint_s(tmp_path: Path, config: dict, library_file: str | None, scale: str) -> None:
    folder = tiny.bert(tmp_path / "model", config)
    if library_file is not None:
        (folder / LIBRARY).write_text(json.dumps({"activation_fn": library_file}))
    assert f"|scale:{scale}|" in evaluate.load(SCRIPT, str(folder)).signature()


@pytest.mark.parametrize("says", [{}, {"sentence_transformers": {"activation_fn": IDENTITY_NAME}}, {"stsscore": {}}])
def test_a_checkpoint_without_a_scale_needs_the_argument(tmp_path: Path, says: dict) -> None:
    """Without an activation a raw score may be a rating of any range."""
    folder = tiny.bert(tmp_path / "model", says)
    metric = evaluate.load(SCRIPT, str(folder))
    with pytest.raises(ValueError, match=r"scale: expected a number or 'sigmoid', as the config of checkpoint .*model"):
        metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    raw = scores(metric, PREDICTIONS, REFERENCES, scale=1)
    assert scores(metric, PREDICTIONS, REFERENCES, scale=5) == pytest.approx([score / 5 for score in raw])


@pytest.mark.parametrize(
    ("activation", "scale"), [(None, "sigmoid"), (nn.Sigmoid(), "sigmoid"), (nn.Identity(), "5.0")]
)
def test_what_the_library_saves_is_scored(bert: Path, tmp_path: Path, activation: nn.Module | None, scale: str) -> None:
    """Whichever file it writes the activation to."""
    says = {"stsscore": {"scale": 5.0}}
    plain = tiny.change(Path(shutil.copytree(bert, tmp_path / "plain")), says, remove=("sentence_transformers",))
    encoder = CrossEncoder(str(plain), device="cpu", activation_fn=activation, model_kwargs={"dtype": torch.float32})
    encoder.save_pretrained(str(tmp_path / "saved"))
    metric = evaluate.load(SCRIPT, str(tmp_path / "saved"))
    assert f"|scale:{scale}|" in metric.signature()
    expected = encoder.predict(list(zip(REFERENCES, PREDICTIONS, strict=True)), show_progress_bar=False)
    expected = expected / (1 if scale == "sigmoid" else 5)
    assert scores(metric, PREDICTIONS, REFERENCES) == pytest.approx(expected.tolist(), abs=ROUNDING)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("settings", [{"do_lower_case": True}, {"max_seq_length": 12}])
def test_settings_of_the_library_count_as_in_the_library(tmp_path: Path, settings: dict, listed: bool) -> None:
    folder, texts = tiny.roberta(tmp_path / "model"), ("A DOG and the man bite a cat", "The Dog BITES a man: no cat")
    before = scores(evaluate.load(SCRIPT, str(folder)), [texts[1]], [texts[0]])
    CrossEncoder(str(folder), device="cpu").save_pretrained(str(folder))
    path = folder / "sentence_bert_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    if not listed:
        (folder / "modules.json").unlink()
    tiny.listing.cache_clear()
    result = scores(evaluate.load(SCRIPT, str(folder)), [texts[1]], [texts[0]])
    assert result == pytest.approx([tiny.listing(folder)(*texts)], abs=ROUNDING)
    assert (result == pytest.approx(before, abs=100 * ROUNDING)) != listed


def test_the_paper_s_checkpoint_has_the_paper_s_scale(bert: Path) -> None:
    scorer = load_scorer(str(bert))
    scorer.config.stsscore = scorer.config.sentence_transformers = None
    for name in ("WillHeld/roberta-base-stsb", "WillHeld/roberta-base-stsb@main"):
        assert checkpoint_scale(scorer.folder, scorer.config, name) == 5.0
    assert checkpoint_scale(scorer.folder, scorer.config, "someone/else") is None


# the Hub


def test_a_checkpoint_of_the_hub(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of the older format are downloaded where a repository has no others; an NLI model is refused."""
    expected = scores(evaluate.load(SCRIPT, str(bert)), PREDICTIONS, REFERENCES)
    old = Path(shutil.copytree(bert, tmp_path / "old"))
    torch.save(load_file(old / "model.safetensors"), old / "pytorch_model.bin")
    (old / "model.safetensors").unlink()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with serve() as hub:
        hub.add("org/name", bert, "v1")
        hub.add("org/nli", tiny.bert(tmp_path / "nli", labels=3))
        hub.add("org/old", old)
        monkeypatch.setattr(huggingface_hub, "HfApi", partial(HfApi, endpoint=hub.url))
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        for name in ("org/name@v1", "org/old"):
            assert scores(evaluate.load(SCRIPT, name), PREDICTIONS, REFERENCES) == expected
        with pytest.raises(ValueError, match="one named 'similarity', got LABEL_0, LABEL_1, LABEL_2"):
            load_scorer("org/nli")


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


PAIRS = [("A man sleeps.", "A man is asleep."), ("It rained.", "It did not rain."), ("a", "b")]


@pytest.fixture
def heads(tmp_path: Path) -> Path:
    return tiny.both_heads(tmp_path / "float")


@pytest.fixture
def shrunk(heads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(eight_bits, "SHARD_BYTES", 4096)
    shrink(heads, tmp_path / "shrunk")
    return tmp_path / "shrunk"


@pytest.mark.parametrize("columns", [33, 128])
def test_each_value_comes_back_within_half_a_step_of_its_group(columns: int) -> None:
    generator = torch.Generator().manual_seed(0)
    weights = {"a.weight": torch.randn(7, columns, generator=generator), "a.bias": torch.randn(7, generator=generator)}
    weights["a.weight"][3] = 0.0
    weights["a.weight"][4, 0] = 1000.0
    stored = eight_bits.to_eight_bits(weights)
    assert stored["a.weight"].dtype == torch.int8
    back = eight_bits.from_eight_bits(stored)
    steps = stored["a.weight.scales"].float().repeat_interleave(columns // stored["a.weight.scales"].shape[1], dim=1)
    assert bool(((back["a.weight"] - weights["a.weight"]).abs() <= steps * 0.6 + 1e-6).all())
    assert torch.equal(back["a.bias"], weights["a.bias"])
    assert not back["a.weight"][3].any()


def test_a_checkpoint_in_shards_scores_as_the_one_that_it_was_made_of(heads: Path, shrunk: Path) -> None:
    assert len(list(shrunk.glob("model-*.safetensors"))) > 1
    assert not (shrunk / WEIGHTS).exists()
    before, after = (PairScorer(path).logits(PAIRS).values for path in (heads, shrunk))
    assert after == pytest.approx(before, abs=0.2)  # of logits of a tiny model whose weights are random
    assert PairScorer(heads).checkpoint_sha256 != PairScorer(shrunk).checkpoint_sha256


def _damage(shrunk: Path, change: str) -> str:
    """Damage the shard of one matrix; result: its name."""
    index = json.loads((shrunk / eight_bits.INDEX).read_text())["weight_map"]
    name = next(name for name in index if name.endswith("weight.scales"))
    path = shrunk / index[name]
    tensors = load_file(path)
    if change == "missing":
        del tensors[name]
    elif change == "short":
        tensors[name] = tensors[name][1:].contiguous()
    elif change == "twice":
        shutil.copy(path, shrunk / "model-99999-of-99999.safetensors")
    elif change == "bool":
        tensors[name] = tensors[name] > 0
    elif change == "flat":
        tensors[name.removesuffix(eight_bits.SCALES)] = torch.zeros(3, dtype=torch.int8)
    else:
        tensors[name][0] = {"zero": 0.0, "negative": -1.0, "nan": torch.nan, "inf": torch.inf}[change]
    save_file(tensors, path, metadata={"format": "pt"})
    return path.name


@pytest.mark.parametrize("change", ["missing", "short", "flat", "twice", "bool", "zero", "negative", "nan", "inf"])
def test_damaged_scales_are_refused_by_the_name_of_their_file(shrunk: Path, change: str) -> None:
    place = _damage(shrunk, change)
    file = {"missing": eight_bits.INDEX, "twice": "model-99999-of-99999.safetensors"}.get(change, place)
    with pytest.raises(ValueError, match=rf"^checkpoint {shrunk}: .*{file}.*expected") as caught:
        PairScorer(shrunk)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "file"),
    [("gone", eight_bits.INDEX), ("cut", "model-00001-of"), ("header", "model-00001-of"), ("index", eight_bits.INDEX)],
)
def test_shards_that_are_gone_or_cut_and_a_damaged_index_are_refused(shrunk: Path, change: str, file: str) -> None:
    first, *_, last = sorted(shrunk.glob("model-*.safetensors"))
    if change == "gone":
        last.unlink()
    elif change == "index":
        (shrunk / eight_bits.INDEX).write_text("[]")
    else:
        first.write_bytes(first.read_bytes()[:-100] if change == "cut" else b"\xff" * 7)
    with pytest.raises(ValueError, match=rf"^checkpoint {shrunk}: .*{file}") as caught:
        PairScorer(shrunk)
    assert "\n" not in str(caught.value)


def test_integers_without_any_scales_are_refused(shrunk: Path) -> None:
    for path in shrunk.glob("model-*.safetensors"):
        kept = {name: values for name, values in load_file(path).items() if not name.endswith(eight_bits.SCALES)}
        save_file(kept, path, metadata={"format": "pt"})
    (shrunk / eight_bits.INDEX).unlink()
    with pytest.raises(ValueError, match="expected scales of the shape"):
        PairScorer(shrunk)


def test_pushed_weights_are_in_half_precision_for_sentence_transformers(
    heads: Path, shrunk: Path, tmp_path: Path
) -> None:
    pushed, other = (Path(shutil.copytree(path, tmp_path / name)) for path, name in ((shrunk, "a"), (heads, "b")))
    to_half(pushed)
    assert load_file(pushed / WEIGHTS)["classifier.weight"].dtype == torch.float16
    assert not list(pushed.glob("model-*"))
    after = CrossEncoder(str(pushed), device="cpu").float().predict(PAIRS, activation_fn=torch.nn.Identity())
    assert after == pytest.approx(PairScorer(shrunk).logits(PAIRS).values, abs=0.01)
    to_half(other)
    assert (other / WEIGHTS).read_bytes() == (heads / WEIGHTS).read_bytes()
