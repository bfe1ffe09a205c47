"""Where a checkpoint comes from: the package, a folder, or a Hub (here on the loopback address)."""

import shutil
from functools import partial
from pathlib import Path

import evaluate
import huggingface_hub.constants
import pytest
import torch
from huggingface_hub import HfApi
from safetensors.torch import save

from semantic_metrics.core import checkpoint_files
from semantic_metrics.matcha import checkpoint as checkpoint_module
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable
from tests.conftest import METRIC
from tests.fake_hub import serve
from tests.matcha.conftest import rewrite_json
from tests.tiny_table import small_table


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


WEIGHTS, CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
NO_TENSORS = "checkpoint .*(Safetensor|expected a tensor named)"
ZEROS = torch.zeros(small_table().weights.shape)
PADDED = {"pad_to": 512, "max_length": 512}
DAMAGE = [
    *((name, None, f"missing .*{name}|expected config.json and") for name in (WEIGHTS, CONFIG, TOKENIZER)),
    *((WEIGHTS, content, NO_TENSORS) for content in (b"", b"not safetensors", b"\x08" + b"\x00" * 7 + b"{}      ")),
    *((WEIGHTS, content, NO_TENSORS) for content in (b"\xff" * 64, save({"other": torch.zeros(3, 3)})[:100])),
    (WEIGHTS, save({"other": torch.zeros(3, 3)}), "expected a tensor named 'embedding.weight', got none"),
    (WEIGHTS, save({"embedding.weight": torch.zeros(3, 3)}), "weights: expected shape"),
    *(
        (WEIGHTS, save({"embedding.weight": x}), "weights: expected float16 or f")
        for x in (ZEROS.long(), ZEROS.bfloat16())
    ),
    (WEIGHTS, save({"embedding.weight": ZEROS + torch.inf}), "weights: expected finite numbers"),
    *((CONFIG, text, "checkpoint") for text in (b"", b"{", b"[]", b"null", b'{"vocab_size": 3}')),
    (CONFIG, {"model_type": "bert"}, "model_type: expected"),
    (CONFIG, {"vocab_size": 3}, "weights: expected shape"),
    (CONFIG, PADDED, "pad_token_id: expected a row of the table, as pad_to is set, got None"),
    (CONFIG, {**PADDED, "pad_token_id": 999}, "pad_token_id: .*got 999"),
    (CONFIG, {"pad_to": 512, "pad_token_id": 0}, r"max_length: expected pad_to \(512\), got None"),
    *((CONFIG, {"pad_to": n, "max_length": n, "pad_token_id": 1}, "pad_to: expected") for n in (0, True, 10**30)),
    (CONFIG, {"add_special_tokens": "no"}, "add_special_tokens: expected"),
    (CONFIG, {"unk_token": "nope"}, "unk_token: expected"),
    *((TOKENIZER, content, "not a tokenizer") for content in (b"", b"{}", b"not json", b"\xff\xfe")),
]


@pytest.mark.parametrize(("name", "content", "message"), DAMAGE)
def test_damage_is_refused_by_folder(
    checkpoint: Path, tmp_path: Path, name: str, content: object, message: str
) -> None:
    """A file is missing (None), has other bytes, or config.json has other values."""
    folder = Path(shutil.copytree(checkpoint, tmp_path / "damaged"))
    if content is None:
        (folder / name).unlink()
    elif isinstance(content, bytes):
        (folder / name).write_bytes(content)
    else:
        rewrite_json(folder / name, **content)
    with pytest.raises(ValueError, match=message) as caught:
        evaluate.load(METRIC, str(folder))
    assert folder.name in str(caught.value)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"checkpoint .*: expected config.json and model.safetensors, .*; found \[\]"):
        load_checkpoint(str(tmp_path))


def test_files_of_a_later_version_are_read(checkpoint: Path, tmp_path: Path) -> None:
    """Settings that this version does not know are passed over."""
    folder = Path(shutil.copytree(checkpoint, tmp_path / "later"))
    rewrite_json(folder / CONFIG, of_a_later_version=1)
    load_checkpoint(str(folder))


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
        patch.setattr(checkpoint_files, "HUB_OWNER", "someone")
        patch.setattr(checkpoint_module, "embedded_checkpoints", dict)
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        with serve() as hub:
            commit = hub.add("org/name", checkpoint, "v1")
            hub.add("org/name", folder / "second")
            hub.add("org/empty", folder / "empty")
            hub.add("someone/matcha", checkpoint)
            patch.setattr(huggingface_hub, "HfApi", partial(HfApi, endpoint=hub.url))
            patch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder / "cache"))
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


def test_a_branch_that_moves_during_a_download_gives_one_commit(
    checkpoint: Path, table: MatchaTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_table(seed=1).save(tmp_path / "second")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with serve() as hub:
        hub.add("org/name", checkpoint)

        class MovingBranch(HfApi):
            """The Hub's client; after each file that it downloads, the branch is at the second checkpoint."""

            def hf_hub_download(self, *arguments: object, **settings: object) -> str:
                path = super().hf_hub_download(*arguments, **settings)
                hub.add("org/name", tmp_path / "second")
                return path

        monkeypatch.setattr(huggingface_hub, "HfApi", partial(MovingBranch, endpoint=hub.url))
        assert _load("org/name") == table.checkpoint_sha256
        assert _load("org/name") == small_table(seed=1).checkpoint_sha256
    assert _load("org/name") == small_table(seed=1).checkpoint_sha256, "what was downloaded last"


def test_the_default_checkpoint_is_the_owner_s(answers: dict, table: MatchaTable) -> None:
    assert answers["near"]["default"] == table.checkpoint_sha256


@pytest.mark.parametrize("hub_and_name", [("near", "org/none"), ("near", "org/name@v9"), ("away", "org/other")])
def test_what_the_hub_does_not_give_is_named(answers: dict, hub_and_name: tuple[str, str]) -> None:
    hub, name = hub_and_name
    assert f"checkpoint '{name}': no such folder, and the Hub did not give it" in answers[hub][name]


def test_a_repository_without_weights_is_named(answers: dict) -> None:
    reason = "the Hub did not give it (FileNotFoundError: the repository has no file like *.json, "
    assert reason in answers["near"]["org/empty"]
    assert answers["near"]["org/empty"].endswith("; trying again will not help")
