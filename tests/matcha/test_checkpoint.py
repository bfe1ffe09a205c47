"""Where a checkpoint comes from: the package, a folder, or a Hub (here on the loopback address)."""

import json
import shutil
from pathlib import Path

import evaluate
import pytest
import torch
from safetensors.torch import save_file

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


@pytest.mark.parametrize("change", [{"model_type": "bert"}, {"vocab_size": 3}, {"hidden_size": 5}, {"pad_to": 512}])
def test_a_config_that_does_not_fit_is_refused(damaged: Path, change: dict) -> None:
    config = json.loads((damaged / "config.json").read_text())
    (damaged / "config.json").write_text(json.dumps({**config, **change}))
    refused(damaged, "expected")


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


ASK_THE_HUB = """
import json, sys
import evaluate

sys.modules["semantic_metrics"] = None  # as in a Space, where the package is not installed
found = {}
for name in sys.argv[2:]:
    try:
        found[name] = evaluate.load(sys.argv[1], None if name == "default" else name).signature()
    except ValueError as error:
        found[name] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def answers(checkpoint: Path, run_python: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What each name gives, signature or error, in a process that reaches a Hub and in one after the Hub has gone.

    The Hub holds the small checkpoint as org/name at the tag v1 and another one at main.
    """
    folder = tmp_path_factory.mktemp("hub")
    script = shutil.copytree(METRIC, folder / "matcha")  # away from the repository, as in a Space
    small_table(seed=1).save(folder / "second")
    (folder / "empty").mkdir()
    (folder / "empty" / "README.md").write_text("no weights here")
    with serve() as hub:
        commit = hub.add("org/name", checkpoint, "v1")
        hub.add("org/name", folder / "second")
        hub.add("org/empty", folder / "empty")
        hub.add("someone/matcha", checkpoint)
        names = ["org/name", "org/name@v1", f"org/name@{commit}", "default", "org/none", "org/name@v9", "org/empty"]
        environment = {"HF_HOME": str(folder / "home"), "HF_ENDPOINT": hub.url, "SEMANTIC_METRICS_HUB_OWNER": "someone"}
        near = run_python(ASK_THE_HUB, script, *names, cwd=folder, HF_HUB_OFFLINE="0", **environment)
    away = run_python(ASK_THE_HUB, script, *names[:4], "org/other", cwd=folder, HF_HUB_OFFLINE="0", **environment)
    found = {}
    for label, process in (("near", near), ("away", away)):
        assert process.returncode == 0, process.stderr
        found[label] = {name.replace(commit, "COMMIT"): value for name, value in json.loads(process.stdout).items()}
    return found


@pytest.mark.parametrize("hub", ["near", "away"])
def test_a_hub_id_with_and_without_a_revision(answers: dict, table: MatchaTable, hub: str) -> None:
    """What was downloaded once is used when the Hub is away."""
    found = answers[hub]
    assert f"checkpoint:{small_table(seed=1).checkpoint_sha256[:16]}|" in found["org/name"]
    for name in ("org/name@v1", "org/name@COMMIT"):
        assert f"checkpoint:{table.checkpoint_sha256[:16]}|" in found[name]


def test_the_owner_of_the_default_comes_from_the_environment(answers: dict, table: MatchaTable) -> None:
    assert f"checkpoint:{table.checkpoint_sha256[:16]}|" in answers["near"]["default"]


@pytest.mark.parametrize("name", ["org/none", "org/name@v9"])
def test_what_the_hub_does_not_have_is_named(answers: dict, name: str) -> None:
    assert f"checkpoint '{name}': no such folder, and the Hub did not give it" in answers["near"][name]


def test_a_repository_without_weights_is_named(answers: dict) -> None:
    assert "expected config.json and model.safetensors" in answers["near"]["org/empty"]


def test_a_hub_that_is_away_is_named(answers: dict) -> None:
    assert "checkpoint 'org/other': no such folder, and the Hub did not give it" in answers["away"]["org/other"]
