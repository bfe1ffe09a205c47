"""Where a checkpoint comes from: the package, a folder, or a Hub (here on the loopback address)."""

import json
import shutil
from functools import partial
from pathlib import Path

import evaluate
import huggingface_hub.constants
import pytest
import torch
from huggingface_hub import snapshot_download
from safetensors.torch import save_file

from semantic_metrics.core import resolve
from semantic_metrics.matcha import checkpoint as checkpoint_module
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable
from tests.conftest import METRIC, Run
from tests.fake_hub import serve
from tests.tiny_table import small_table


@pytest.fixture
def damaged(checkpoint: Path, tmp_path: Path) -> Path:
    """A copy of the checkpoint, to damage."""
    return Path(shutil.copytree(checkpoint, tmp_path / "damaged"))


def refused(folder: Path, saying: str) -> None:
    with pytest.raises(ValueError, match=saying) as caught:
        evaluate.load(METRIC, str(folder))
    assert folder.name in str(caught.value)


def test_a_folder_is_named_with_a_slash(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_checkpoint(str(checkpoint)).checkpoint_sha256
    monkeypatch.chdir(checkpoint.parent)
    monkeypatch.setenv("HOME", str(checkpoint.parent))
    for name in ("./small", "small/", f"../{checkpoint.parent.name}/small", "~/small"):
        assert load_checkpoint(name).checkpoint_sha256 == expected
    with pytest.raises(ValueError, match="checkpoint 'small': expected one of"):
        load_checkpoint("small")


def test_a_shipped_checkpoint_is_found_by_name(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "embedded_checkpoints", lambda: {"matcha": checkpoint, "other": checkpoint})
    expected = load_checkpoint(str(checkpoint)).checkpoint_sha256
    for name in (None, "default", "matcha", "other"):
        assert load_checkpoint(name).checkpoint_sha256 == expected
    with pytest.raises(ValueError, match=r"checkpoint 'third': expected one of \['matcha', 'other'\], a folder"):
        load_checkpoint("third")


@pytest.mark.parametrize("name", ["unknown", "no such/name", "a/b/c", "./missing", "../x", "/missing", "org/", "@v1"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected one of .* a folder .* or a Hub id") as caught:
        evaluate.load(METRIC, name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", [5, b"x", ["a"], True, "z" * 5000, "~nosuchuser/x", "/" + "y/" * 3000])
def test_an_invalid_name_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match="checkpoint"):
        evaluate.load(METRIC, name)


def test_a_folder_with_a_long_name_loads(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["p" * 60] * 5)
    small_table().save(folder)
    result = evaluate.load(METRIC, str(folder)).compute(predictions=["the dog"], references=["the dog"])
    assert result["matcha"] == 1.0


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(damaged: Path, missing: str) -> None:
    (damaged / missing).unlink()
    refused(damaged, missing)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, r"expected config.json and model.safetensors, .*; found \[\]")


@pytest.mark.parametrize(
    "content",
    [b"", b"not safetensors", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ", b"\xff" * 64, None],
)
def test_corrupted_weights_are_refused(damaged: Path, content: bytes | None) -> None:
    path = damaged / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)  # None: cut short
    refused(damaged, "checkpoint .*(Safetensor|expected a tensor named)")


def test_a_pickle_under_the_name_of_safetensors_is_refused(damaged: Path) -> None:
    torch.save({"embedding.weight": torch.zeros(3, 3)}, damaged / "model.safetensors")
    refused(damaged, "Safetensor")


@pytest.mark.parametrize(
    ("tensors", "saying"),
    [
        ({"other": torch.zeros(3, 3)}, "expected a tensor named 'embedding.weight', got none"),
        ({"embedding.weight": torch.zeros(3, 3)}, "weights: expected shape"),
        ({"embedding.weight": torch.zeros(3, 3, dtype=torch.int64)}, "weights: expected"),
        ({"embedding.weight": torch.full(small_table().weights.shape, torch.inf)}, "weights: expected finite numbers"),
    ],
)
def test_weights_that_do_not_fit_are_refused(damaged: Path, tensors: dict, saying: str) -> None:
    save_file(tensors, damaged / "model.safetensors")
    refused(damaged, saying)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"vocab_size": 3}', '{"model_type": "bert"}'])
def test_a_damaged_config_is_refused(damaged: Path, text: str) -> None:
    (damaged / "config.json").write_text(text)
    refused(damaged, "checkpoint")


@pytest.mark.parametrize(
    ("change", "saying"),
    [
        ({"model_type": "bert"}, "model_type: expected"),
        ({"vocab_size": 3}, "weights: expected shape"),
        ({"hidden_size": 5}, "weights: expected shape"),
        ({"pad_to": 512, "max_length": 512}, "pad_token_id: expected a row of the table, as pad_to is set, got None"),
        ({"pad_to": 512, "max_length": 512, "pad_token_id": 999}, "pad_token_id: .*got 999"),
        ({"pad_to": 512, "pad_token_id": 0}, r"max_length: expected pad_to \(512\), got None"),
        ({"pad_to": 0, "max_length": 0, "pad_token_id": 1}, "pad_to: expected"),
        ({"pad_to": True, "max_length": True, "pad_token_id": 1}, "pad_to: expected"),
        ({"pad_to": 10**30, "max_length": 10**30, "pad_token_id": 1}, "pad_to: expected"),
        ({"pad_token_id": 1.5, "pad_to": 64, "max_length": 64}, "pad_token_id: expected"),
        ({"max_length": -1}, "max_length: expected"),
        ({"vocab_size": "5"}, "vocab_size: expected"),
        ({"add_special_tokens": "no"}, "add_special_tokens: expected"),
        ({"unk_token": "nope"}, "unk_token: expected"),
    ],
)
def test_a_config_that_does_not_fit_is_refused(damaged: Path, change: dict, saying: str) -> None:
    config = json.loads((damaged / "config.json").read_text())
    (damaged / "config.json").write_text(json.dumps({**config, **change}))
    refused(damaged, f"checkpoint.*{saying}")


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b"\xff\xfe"])
def test_a_damaged_tokenizer_is_refused(damaged: Path, content: bytes) -> None:
    (damaged / "tokenizer.json").write_bytes(content)
    refused(damaged, "not a tokenizer")


def test_files_of_a_later_version_are_read(damaged: Path) -> None:
    """Settings that this version does not know are passed over."""
    config = json.loads((damaged / "config.json").read_text())
    (damaged / "config.json").write_text(json.dumps({**config, "of_a_later_version": 1}))
    load_checkpoint(str(damaged))


def test_without_a_network_the_hub_is_named() -> None:
    with pytest.raises(ValueError, match="checkpoint 'org/name': no such folder, and the Hub did not give it"):
        load_checkpoint("org/name")


@pytest.fixture(scope="module")
def answers(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Digest or error that each name gives where a Hub is reached ("near"), and after it has gone ("away").

    The Hub has the small checkpoint as org/name at the tag v1 and another one at main. No checkpoint is shipped, as in
    a Space without the package.
    """
    folder = tmp_path_factory.mktemp("hub")
    small_table(seed=1).save(folder / "second")
    (folder / "empty").mkdir()
    (folder / "empty" / "README.md").write_text("no weights here")
    names = ["org/name", "org/name@v1", "org/name@COMMIT", "default", "org/none", "org/name@v9", "org/empty"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "HUB_OWNER", "someone")
        patch.setattr(checkpoint_module, "embedded_checkpoints", dict)
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        with serve() as hub:
            commit = hub.add("org/name", checkpoint, "v1")
            hub.add("org/name", folder / "second")
            hub.add("org/empty", folder / "empty")
            hub.add("someone/matcha", checkpoint)
            download = partial(snapshot_download, endpoint=hub.url, cache_dir=folder / "cache")
            patch.setattr(resolve, "snapshot_download", download)
            near = {name: _load(name.replace("COMMIT", commit)) for name in names}
        away = {name: _load(name.replace("COMMIT", commit)) for name in [*names[:4], "org/other"]}
    return {"near": near, "away": away}


def _load(name: str) -> str:
    try:
        return load_checkpoint(name).checkpoint_sha256
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("hub", ["near", "away"])
def test_a_hub_id_with_and_without_a_revision(answers: dict, table: MatchaTable, hub: str) -> None:
    """What was downloaded once is used when the Hub is away."""
    assert answers[hub]["org/name"] == small_table(seed=1).checkpoint_sha256
    for name in ("org/name@v1", "org/name@COMMIT"):
        assert answers[hub][name] == table.checkpoint_sha256


def test_the_owner_of_the_default_checkpoint_comes_from_the_environment(
    answers: dict, table: MatchaTable, run_python: Run, tmp_path: Path
) -> None:
    assert answers["near"]["default"] == table.checkpoint_sha256
    code = "from semantic_metrics.core.resolve import HUB_OWNER; print(HUB_OWNER)"
    assert run_python(code, cwd=tmp_path, SEMANTIC_METRICS_HUB_OWNER="someone").stdout == "someone\n"


@pytest.mark.parametrize("hub_and_name", [("near", "org/none"), ("near", "org/name@v9"), ("away", "org/other")])
def test_what_the_hub_does_not_give_is_named(answers: dict, hub_and_name: tuple[str, str]) -> None:
    hub, name = hub_and_name
    assert f"checkpoint '{name}': no such folder, and the Hub did not give it" in answers[hub][name]


def test_a_repository_without_weights_is_named(answers: dict) -> None:
    assert "expected config.json and model.safetensors" in answers["near"]["org/empty"]
