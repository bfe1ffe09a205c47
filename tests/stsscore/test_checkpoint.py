"""Where a checkpoint comes from, what it says of its scale, and what is refused."""

import json
from pathlib import Path
import shutil

import evaluate
import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
from semantic_metrics import load
from semantic_metrics.stsscore import stsscore as script
from semantic_metrics.stsscore.stsscore import load_scorer
from sentence_transformers import CrossEncoder
import torch
from torch import nn
from transformers import BertModel

from tests.conftest import Run
from tests.hub import serve
from tests.stsscore import tiny
from tests.stsscore.conftest import SCRIPT
from tests.stsscore.test_metric import PREDICTIONS
from tests.stsscore.test_metric import REFERENCES
from tests.stsscore.test_metric import ROUNDING
from tests.stsscore.test_metric import scores

LIBRARY = "config_sentence_transformers.json"
IDENTITY_NAME = "torch.nn.modules.linear.Identity"
SIGMOID_NAME = "torch.nn.modules.activation.Sigmoid"


def refused(folder: Path, saying: str) -> None:
    with pytest.raises(ValueError, match=saying) as caught:
        evaluate.load(SCRIPT, str(folder))
    assert folder.name in str(caught.value)


def scale_of(folder: Path) -> str:
    """The scale that a checkpoint says."""
    return evaluate.load(SCRIPT, str(folder)).signature().partition("scale:")[2].partition("|")[0]


def test_a_folder_is_named_with_a_slash(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_scorer(str(bert)).checkpoint_sha256
    monkeypatch.chdir(bert.parent)
    for name in ("./bert", "bert/", f"../{bert.parent.name}/bert"):
        assert load_scorer(name).checkpoint_sha256 == expected
    with pytest.raises(ValueError, match="checkpoint 'bert': expected one of"):
        load_scorer("bert")


def test_a_shipped_checkpoint_is_found_by_name(bert: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nli = tiny.bert(tmp_path / "nli", labels=3, id2label={0: "contradiction", 1: "entailment", 2: "neutral"})
    kinds = []
    monkeypatch.setattr(script, "embedded_folders", lambda kind: kinds.append(kind) or {"stsscore": bert, "nli": nli})
    expected = load_scorer(str(bert)).checkpoint_sha256
    for name in (None, "default", "stsscore"):
        assert load_scorer(name).checkpoint_sha256 == expected
    with pytest.raises(ValueError, match="got 3: contradiction, entailment, neutral"):
        load_scorer("nli")
    assert not kinds[0]({"model_type": "matcha"}), "MATCHA's checkpoint is none of its kind"


@pytest.mark.parametrize("name", ["unknown", "no such/name", "a/b/c", "./missing", "/missing", "org/", "@v1"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected one of .* a folder .* or a Hub id") as caught:
        evaluate.load(SCRIPT, name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", [5, b"x", ["a"], True])
def test_a_name_that_is_none_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match="checkpoint: expected a name"):
        evaluate.load(SCRIPT, name)


# what a checkpoint says of its scale


@pytest.mark.parametrize(
    ("says", "scale"),
    [
        ({"stsscore": {"scale": 5.0}}, "5.0"),
        (tiny.IDENTITY, "5.0"),
        ({**tiny.IDENTITY, "stsscore": {"scale": 4}}, "4.0"),
        (tiny.SIGMOID, "sigmoid"),
        ({**tiny.SIGMOID, "stsscore": {"scale": 5.0}}, "sigmoid"),  # trained on from ours: what the library wrote last
        ({"sbert_ce_default_activation_function": SIGMOID_NAME}, "sigmoid"),
        ({"sbert_ce_default_activation_function": "torch.nn.Sigmoid"}, "sigmoid"),
    ],
)
def test_the_config_says_the_scale(tmp_path: Path, says: dict, scale: str) -> None:
    assert scale_of(tiny.bert(tmp_path / "model", says)) == scale


@pytest.mark.parametrize(
    ("says", "activation", "scale"),
    [
        ({}, SIGMOID_NAME, "sigmoid"),
        (tiny.IDENTITY, SIGMOID_NAME, "sigmoid"),
        ({"stsscore": {"scale": 5.0}}, IDENTITY_NAME, "5.0"),
        ({**tiny.SIGMOID, "stsscore": {"scale": 5.0}}, IDENTITY_NAME, "5.0"),
    ],
)
def test_the_file_of_the_library_says_it_first(tmp_path: Path, says: dict, activation: str, scale: str) -> None:
    """Its later versions write the activation there and leave what `config.json` said before."""
    folder = tiny.bert(tmp_path / "model", says)
    (folder / LIBRARY).write_text(json.dumps({"activation_fn": activation}))
    assert scale_of(folder) == scale


@pytest.mark.parametrize("says", [{}, {"sentence_transformers": {"activation_fn": IDENTITY_NAME}}, {"stsscore": {}}])
def test_a_checkpoint_that_does_not_say_needs_the_argument(tmp_path: Path, says: dict) -> None:
    """Without an activation a raw score may be a rating of any range."""
    folder = tiny.bert(tmp_path / "model", says)
    metric = evaluate.load(SCRIPT, str(folder))
    with pytest.raises(ValueError, match=r"scale: expected a number or 'sigmoid', as the config of checkpoint .*model"):
        metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    raw = scores(metric, PREDICTIONS, REFERENCES, scale=1)
    assert scores(metric, PREDICTIONS, REFERENCES, scale=5) == pytest.approx([score / 5 for score in raw])


@pytest.mark.parametrize("scale", ["5", 0, -1, True, [5]])
def test_a_scale_in_a_config_that_is_none_is_refused(tmp_path: Path, scale: object) -> None:
    metric = evaluate.load(SCRIPT, str(tiny.bert(tmp_path / "model", {"stsscore": {"scale": scale}})))
    with pytest.raises(ValueError, match="scale: expected a number above 0"):
        metric.compute(predictions=["a"], references=["a"])


@pytest.mark.parametrize(
    ("activation", "scale"), [(None, "sigmoid"), (nn.Sigmoid(), "sigmoid"), (nn.Identity(), "5.0")]
)
def test_what_the_library_saves_is_scored_as_it_predicts(
    bert: Path, tmp_path: Path, activation: nn.Module | None, scale: str
) -> None:
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


def test_the_paper_s_checkpoint_has_the_paper_s_scale(bert: Path) -> None:
    scorer = load_scorer(str(bert))
    scorer.config.stsscore = scorer.config.sentence_transformers = None
    for name in ("WillHeld/roberta-base-stsb", "WillHeld/roberta-base-stsb@main"):
        assert script.checkpoint_scale(scorer.folder, scorer.config, name) == 5.0
    assert script.checkpoint_scale(scorer.folder, scorer.config, "someone/else") is None


# checkpoints that are no rating


@pytest.mark.parametrize("labels", [2, 3])
def test_a_checkpoint_with_several_labels_is_refused_with_their_names(tmp_path: Path, labels: int) -> None:
    names = dict(enumerate(["entailment", "neutral", "contradiction"][:labels]))
    folder = tiny.bert(tmp_path / "model", labels=labels, id2label=names)
    refused(folder, f"expected one label, a rating, got {labels}: {', '.join(names.values())}")


def test_a_multi_label_checkpoint_is_refused(tmp_path: Path) -> None:
    folder = tiny.bert(tmp_path / "model", labels=4, problem_type="multi_label_classification")
    refused(folder, "expected one label, a rating, got 4: LABEL_0, LABEL_1, LABEL_2, LABEL_3")


@pytest.mark.parametrize("architectures", [["BertModel"], ["BertForMaskedLM"], [], None])
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
    held = json.loads(path.read_text(encoding="utf-8"))
    held["model"]["vocab"]["dog"] = 99999
    path.write_text(json.dumps(held), encoding="utf-8")
    refused(copied, "expected a tokeniser of .* tokens at most, got one of 100000")


def test_logits_that_are_not_finite_are_refused(copied: Path) -> None:
    tiny.change(copied, {"layer_norm_eps": -1.0})
    metric = load("stsscore", str(copied))
    with pytest.raises(ValueError, match="expected finite logits in float32, got inf or nan"):
        metric.compute(predictions=["a dog"], references=["the dog"])


# damage


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(copied: Path, missing: str) -> None:
    (copied / missing).unlink()
    refused(copied, missing)


def test_a_missing_tokenizer_is_refused(copied: Path) -> None:
    for path in copied.glob("tokenizer*"):
        path.unlink()
    refused(copied, "expected tokenizer.json, found")


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ", None])
def test_corrupted_weights_are_refused(copied: Path, content: bytes | None) -> None:
    path = copied / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)  # None: cut short
    refused(copied, "checkpoint .*(did not load|missing)")


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_refused(copied: Path, value: float) -> None:
    tensors = load_file(copied / "model.safetensors")
    tensors["classifier.weight"][0, 0] = value
    save_file(tensors, copied / "model.safetensors", {"format": "pt"})
    refused(copied, "expected finite numbers, got inf or nan in classifier.weight")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"model_type": "unknown"}'])
def test_a_damaged_config_is_refused(copied: Path, text: str) -> None:
    (copied / "config.json").write_text(text)
    refused(copied, "checkpoint .*expected")


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b"\xff\xfe"])
def test_a_damaged_tokenizer_is_refused(copied: Path, content: bytes) -> None:
    (copied / "tokenizer.json").write_bytes(content)
    refused(copied, "checkpoint")


def test_a_prompt_is_refused(bert: Path, tmp_path: Path) -> None:
    encoder = CrossEncoder(str(bert), device="cpu", prompts={"query": "rate this: "}, default_prompt_name="query")
    encoder.save_pretrained(str(tmp_path / "model"))
    refused(tmp_path / "model", "expected texts without a prompt in front, got 'query'")


# code and pickles

EVIL = "open({path!r}, 'w').close()\n"


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


def test_a_pickle_with_anything_else_is_refused_unread(copied: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    tensors = load_file(copied / "model.safetensors")
    torch.save({**tensors, "more": Opens(marker)}, copied / "pytorch_model.bin")
    (copied / "model.safetensors").unlink()
    refused(copied, "did not load")
    assert not marker.exists()


def test_a_pickle_under_the_name_of_safetensors_is_refused(copied: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    torch.save({"more": Opens(marker)}, copied / "model.safetensors")
    refused(copied, "did not load")
    assert not marker.exists()


def test_code_beside_a_config_is_not_run(copied: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    (copied / "evil.py").write_text(EVIL.format(path=str(marker)))
    tiny.change(copied, {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}})
    refused(copied, "expected a config.json of transformers")
    assert not marker.exists()


@pytest.mark.parametrize(
    "types",
    [
        ["evil.Module"],
        ["sentence_transformers.base.modules.transformer.Transformer", "evil.Module"],
        [
            "sentence_transformers.base.modules.transformer.Transformer",
            "sentence_transformers.base.modules.dense.Dense",
        ],
        [],
    ],
)
def test_modules_that_are_not_a_transformer_are_refused_and_not_run(
    copied: Path, tmp_path: Path, types: list[str]
) -> None:
    marker = tmp_path / "marker"
    (copied / "evil.py").write_text(EVIL.format(path=str(marker)))
    entries = [{"idx": i, "name": str(i), "path": "", "type": kind} for i, kind in enumerate(types)]
    (copied / "modules.json").write_text(json.dumps(entries))
    refused(copied, r"expected one module in modules\.json, a Transformer")
    assert not marker.exists()


# the Hub

ASK_THE_HUB = """
import json, sys
import evaluate

sys.modules["semantic_metrics"] = None  # as in a Space, where the package is not installed
found = {}
for name in sys.argv[2:]:
    try:
        metric = evaluate.load(sys.argv[1], None if name == "default" else name)
        scores = metric.compute(predictions=["the dog"], references=["a cat"])["scores"]
        found[name] = [metric.signature(), scores[0]]
    except ValueError as error:
        found[name] = [str(error), None]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def answers(bert: Path, roberta: Path, run_python: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """What each name gives in a process that reaches a Hub and in one after the Hub has gone.

    The Hub holds the tiny BERT as org/name at the tag v1, and the tiny RoBERTa at main.
    """
    folder = tmp_path_factory.mktemp("hub")
    copy = shutil.copytree(SCRIPT, folder / "stsscore")  # away from the repository, as in a Space
    nli = tiny.bert(folder / "nli", labels=3)
    old = Path(shutil.copytree(bert, folder / "old"))
    torch.save(load_file(old / "model.safetensors"), old / "pytorch_model.bin")
    (old / "model.safetensors").unlink()
    with serve() as hub:
        commit = hub.add("org/name", bert, "v1")
        hub.add("org/name", roberta)
        hub.add("org/nli", nli)
        hub.add("org/old", old)
        hub.add("someone/stsscore", bert)
        names = ["org/name", "org/name@v1", f"org/name@{commit}", "org/old", "default", "org/nli", "org/none"]
        environment = {"HF_HOME": str(folder / "home"), "HF_ENDPOINT": hub.url, "SEMANTIC_METRICS_HUB_OWNER": "someone"}
        near = run_python(ASK_THE_HUB, copy, *names, cwd=folder, HF_HUB_OFFLINE="0", **environment)
    away = run_python(ASK_THE_HUB, copy, *names[:5], "org/other", cwd=folder, HF_HUB_OFFLINE="0", **environment)
    found = {}
    for label, process in (("near", near), ("away", away)):
        assert process.returncode == 0, process.stderr
        found[label] = {name.replace(commit, "COMMIT"): value for name, value in json.loads(process.stdout).items()}
    return found


@pytest.mark.parametrize("hub", ["near", "away"])
@pytest.mark.parametrize("name", ["org/name@v1", "org/name@COMMIT", "default", "org/old"])
def test_a_hub_id_names_a_checkpoint(answers: dict, metric: evaluate.Metric, hub: str, name: str) -> None:
    """What was downloaded once is used when the Hub is away; outside the package the default comes from the Hub."""
    signature, score = answers[hub][name]
    if name != "org/old":  # the same tensors in another file
        assert signature == metric.signature()
    assert score == pytest.approx(scores(metric, ["the dog"], ["a cat"])[0], abs=ROUNDING)


@pytest.mark.parametrize("hub", ["near", "away"])
def test_a_hub_id_without_a_revision_is_the_branch_main(answers: dict, roberta: Path, hub: str) -> None:
    assert answers[hub]["org/name"][0] == evaluate.load(SCRIPT, str(roberta)).signature()


def test_what_the_hub_does_not_have_is_named(answers: dict) -> None:
    assert "checkpoint 'org/none': no such folder, and the Hub did not give it" in answers["near"]["org/none"][0]
    assert "checkpoint 'org/other': no such folder, and the Hub did not give it" in answers["away"]["org/other"][0]


def test_an_nli_checkpoint_of_the_hub_is_refused(answers: dict) -> None:
    assert "expected one label, a rating, got 3: LABEL_0, LABEL_1, LABEL_2" in answers["near"]["org/nli"][0]
