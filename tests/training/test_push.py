"""Pushing to a Hub on the loopback address, by the real client, and loading from there what was pushed."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import evaluate
import huggingface_hub
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result
from huggingface_hub import HfApi, constants

import semantic_metrics
from semantic_metrics.cross_encoder.pair_checkpoint import checkpoint_digest
from tests import tiny_pairs as tiny
from tests.conftest import METRIC, ROOT, Run
from tests.demo.test_bundle import COLUMNS, rounded
from tests.fake_hub import Hub, serve
from tests.tiny_table import small_table
from tests.training.conftest import TRAINING
from tests.training.test_finetune import as_pairs, trade
from training import finetune, train, train_cross_encoder
from training import push as push_module
from training.bundle import with_owner, write_bundle
from training.matcha.config import TrainConfig
from training.push import main, make_repo

TOKEN, READ_ONLY = "hf_" + "w" * 34, "hf_" + "r" * 34
ENDPOINT = constants.ENDPOINT
AWAY = "http://127.0.0.1:9"  # the discard port: nothing listens
Push = Callable[..., Result]


@pytest.fixture
def model(tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkpoint in a model_cards/ of its own, with a hidden file that stays here."""
    folder = tmp_path / "model_cards" / "matcha"
    shutil.copytree(checkpoint, folder)
    card = (ROOT / "model_cards" / "matcha" / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(with_owner(card, "org"), encoding="utf-8")
    (folder / ".cache").write_text("hidden")
    monkeypatch.setattr(push_module, "MODEL_CARDS", folder.parent)
    return folder


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serve() as hub:
        hub.tokens = {TOKEN: "write", READ_ONLY: "read"}
        yield hub


@pytest.fixture
def push(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Push:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)

    def run(*arguments: str, token: str | None = TOKEN, endpoint: str = hub.url, code: int = 0) -> Result:
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setenv("HF_TOKEN", token or "")
        owner = () if "--folder" in arguments else ("--owner", "org")
        result = CliRunner().invoke(main, [*owner, *arguments])
        assert result.exit_code == code, result.output
        assert token is None or token not in result.output
        return result

    return run


def local(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != ".cache"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def pushed(hub: Hub, kind: str, revision: str = "main") -> dict[str, bytes]:
    files = hub.files("org/matcha", revision, kind)
    return {name: data for name, data in files.items() if name != ".gitattributes"}


def only_line(result: Result) -> str:
    (line,) = result.stderr.splitlines()
    return line


def test_a_second_push_uploads_what_changed(push: Push, hub: Hub, model: Path, tmp_path: Path) -> None:
    write_bundle("matcha", tmp_path / "space", "org")
    push("--push", "--only", "matcha")
    assert pushed(hub, "model") == local(model)
    assert pushed(hub, "space") == local(tmp_path / "space")
    space = hub.repositories["space", "org/matcha"]
    assert (space.sdk, space.private) == ("gradio", False)
    assert len(hub.stored) == 1  # the weights, and they alone, by LFS

    before = {key: dict(repository.refs) for key, repository in hub.repositories.items()}
    hub.writes.clear()
    assert "unchanged, at" in push("--push", "--only", "matcha").stdout
    assert not [path for path in hub.writes if "/commit/" in path]
    assert {key: dict(repository.refs) for key, repository in hub.repositories.items()} == before

    small_table(seed=1).save(model)  # of the same size: only the sha256 differs
    push("--push", "--only", "matcha")
    assert [path for path in hub.writes if "/commit/" in path] == ["/api/models/org/matcha/commit/main"]
    assert hub.committed == ["model.safetensors"]
    assert pushed(hub, "model") == local(model)


def test_a_tag_is_new_and_what_only_the_hub_has_stays(push: Push, hub: Hub, model: Path) -> None:
    push("--push", "--only", "matcha", "--tag", "v1")
    hub.files("org/matcha")["old.json"] = b"{}"
    small_table(seed=1).save(model)
    push("--push", "--only", "matcha")
    assert pushed(hub, "model") == local(model) | {"old.json": b"{}"}
    assert pushed(hub, "model") != pushed(hub, "model", "v1")
    writes = list(hub.writes)
    line = only_line(push("--push", "--only", "matcha", "--tag", "v1", code=2))
    assert line.startswith("Error: --tag: expected a name that is free; org/matcha has 'v1', of commit ")
    assert hub.writes == writes
    assert "Error: --only: expected one of " in only_line(push("--only", "macha", code=2))


def test_a_private_repository_stays_private(push: Push, hub: Hub, model: Path) -> None:
    push("--push", "--only", "matcha", "--private")
    assert {one.private for one in hub.repositories.values()} == {True}
    hub.repositories["model", "org/matcha"].private = False
    small_table(seed=1).save(model)
    line = only_line(push("--push", "--only", "matcha", "--private", code=2))
    assert "--private: expected org/matcha to be private or new, but it is public" in line
    assert pushed(hub, "model") != local(model)


@pytest.mark.parametrize(
    ("arguments", "token", "endpoint", "code", "message"),
    [
        (["--push"], None, None, 2, "HF_TOKEN: expected a token that may write, in the environment; got none"),
        (["--push"], "hf_with\nnewline", None, 2, "HF_TOKEN: expected a token, got something with white space"),
        (["--push"], "hf_" + "x" * 34, None, 1, "refused (401); HF_TOKEN must be a token that may write there"),
        (["--push"], READ_ONLY, None, 1, "that may write there; trying again will not"),
        (["--push"], TOKEN, AWAY, 1, f"org/matcha: the Hub at {AWAY} did not answer"),
        ([], None, AWAY, 1, f"org/matcha: the Hub at {AWAY} did not answer"),
    ],
)
@pytest.mark.usefixtures("model")
def test_what_cannot_be_done_is_one_line(
    push: Push, hub: Hub, arguments: list[str], token: str | None, endpoint: str | None, code: int, message: str
) -> None:
    result = push("--only", "matcha", *arguments, token=token, endpoint=endpoint or hub.url, code=code)
    assert message in only_line(result)
    assert hub.repositories == {}


@pytest.mark.skipif(not hasattr(huggingface_hub.get_session(), "event_hooks"), reason="of clients before 1.0")
@pytest.mark.parametrize("silent", ["revision/main", "repos/create", "commit/main", "tag/"])
@pytest.mark.usefixtures("model")
def test_a_hub_that_never_answers_is_one_line(
    push: Push, hub: Hub, monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    hub.silent = silent
    monkeypatch.setattr(push_module, "HUB_TIMEOUT_SECONDS", 2)
    line = push("--push", "--only", "matcha", "--tag", "v1", code=1).stderr.splitlines()[
        -1
    ]  # behind bars of the client
    assert line.startswith(f"Error: org/matcha: the Hub at {hub.url} did not answer (ReadTimeout")
    assert line.endswith("; trying again may help")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("model", "---\nlicense: mit\n---\n", "expected a model-index with results, got none"),
        ("model", "---\nmodel-index: 3\n---\n", "expected a card with front matter"),
        ("model", "---\n: [\n---\n", "expected a card with front matter"),
        ("space", "---\ntitle: MATCHA\n---\n", "expected sdk: gradio and app_file"),
        ("space", "---\nsdk: gradio\napp_file: other.py\n---\n", "expected sdk: gradio and app_file"),
        ("space", None, "expected a card with front matter"),
    ],
)
def test_a_card_that_lacks_what_the_hub_needs_is_refused(
    push: Push, hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch, kind: str, text: str | None, message: str
) -> None:
    def spoil(name: str, folder: Path, owner: str) -> None:
        write_bundle(name, folder, owner)
        (folder / "README.md").unlink() if text is None else (folder / "README.md").write_text(text)

    if kind == "model":
        (model / "README.md").write_text(text)
    monkeypatch.setattr(push_module, "write_bundle", spoil)
    line = only_line(push("--push", "--only", "matcha", code=2))
    folder = "model_cards" if kind == "model" else "metrics"
    assert f"{folder}/matcha/README.md: {message}" in line
    assert hub.requests == []


def test_the_checkpoint_of_a_run_is_pushed_and_loaded_back(
    push: Push, hub: Hub, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "runs" / "mine" / "checkpoint"
    shutil.copytree(model, run)
    arguments = ("--folder", str(run), "--repo", "team/mine")
    assert "Nothing was uploaded" in push(*arguments, token=None).stdout
    assert hub.writes == []
    assert "team/mine (model): pushed," in push(*arguments, "--push").stdout
    assert {name for name in hub.files("team/mine") if name != ".gitattributes"} == set(local(run))
    monkeypatch.setattr(huggingface_hub, "HfApi", partial(HfApi, endpoint=hub.url, token=TOKEN))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "ENDPOINT", ENDPOINT)  # what the client replaces by the argument
    signature = evaluate.load(METRIC, "team/mine").signature()
    assert f"|checkpoint:{small_table().checkpoint_sha256[:16]}|" in signature


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--folder", "no/such", "--repo", "team/mine"], "--folder: expected a checkpoint that training wrote"),
        (["--folder", "no/such"], "--folder, --repo: expected both of them"),
        (["--folder", "no/such", "--repo", "mine"], "--repo: expected ORG/NAME of letters"),
        (["--folder", "no/such", "--repo", "team/mine", "--only", "matcha"], "--folder, --repo: expected both of them"),
    ],
)
def test_a_folder_that_cannot_be_pushed_is_refused(push: Push, hub: Hub, arguments: list[str], message: str) -> None:
    assert message in only_line(push(*arguments, code=2))
    assert hub.requests == []


def with_config(module: ModuleType, folder: Path, config: dict) -> tuple[ModuleType, list[str]]:
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return module, ["--config", str(folder / "config.yaml"), "--data", str(folder), "--output", str(folder / "out")]


def command_of_finetune(folder: Path, checkpoint: Path, _: TrainConfig) -> tuple[ModuleType, list[str]]:
    as_pairs(trade()).to_csv(folder / "pairs.csv", index=False)
    arguments = [str(folder / "pairs.csv"), "--output", str(folder / "out"), "--init", f"{checkpoint}/"]
    return finetune, [*arguments, "--epochs", "1"]


def command_of_train(folder: Path, _: Path, config: TrainConfig) -> tuple[ModuleType, list[str]]:
    changed = ("init", "network", "lr", "batch_size", "validate_every")
    stored = yaml.safe_load((TRAINING / "configs" / "smoke.yaml").read_text())
    return with_config(train, folder, stored | {name: getattr(config, name) for name in changed} | {"steps": 3})


def command_of_train_cross_encoder(folder: Path, *_: object) -> tuple[ModuleType, list[str]]:
    columns = ["sentence1", "sentence2", "score"]
    rows = [(f"the dog {i}", f"a dog {i}", i % 6) for i in range(48)]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "rows.csv", index=False)
    source = {"name": "rows", "path": "rows.csv", "columns": columns, "scale": 5}
    config = {"name": "mine", "init": str(tiny.bert(folder / "bert", labels=2)), "licence": "mit", "max_length": 32}
    config |= {"train": [source], "validate": [source], "epochs": 1, "batch_tokens": 128, "validate_every": 3}
    return with_config(train_cross_encoder, folder, config)


@pytest.mark.parametrize("make", [command_of_finetune, command_of_train, command_of_train_cross_encoder])
def test_a_training_command_pushes_what_it_trained_or_says_before_that_it_cannot(
    make: Callable,
    push: Push,
    hub: Hub,
    checkpoint: Path,
    config: TrainConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    push("--folder", "no/such", "--repo", "a/b", code=2)  # sets the Hub's address and the token
    module, arguments = make(tmp_path, checkpoint, config)
    for hub_id, token, message in (
        ("team/mine", "", "HF_TOKEN: expected a token that may write, in the environment; got none"),
        ("mine", TOKEN, "--push: expected ORG/NAME of letters, digits, '-', '_' and '.', got 'mine'"),
    ):
        monkeypatch.setenv("HF_TOKEN", token)
        monkeypatch.setattr(sys, "argv", [f"{make.__name__}.py", *arguments, "--push", hub_id])
        with pytest.raises(SystemExit):
            module.main()
        assert message in capsys.readouterr().err
        assert not (tmp_path / "out").exists()
    monkeypatch.setattr(sys, "argv", [f"{make.__name__}.py", *arguments, "--push", "team/mine"])
    module.main()
    files = hub.files("team/mine")
    assert {name: files[name] for name in files if name != ".gitattributes"} == local(tmp_path / "out" / "checkpoint")
    assert {"README.md", "config.json", "model.safetensors"} <= set(files)


EACH = """
import json, sys
import evaluate

sys.modules["semantic_metrics"] = None
calls = json.loads(sys.argv[1])
owner = sys.argv[2]
print(json.dumps([evaluate.load(f"{owner}/{name}", *names).compute(**columns) for name, names, columns in calls]))
"""


@pytest.mark.slow
def test_every_metric_takes_its_weights_from_the_owner_that_pushed(
    push: Push, hub: Hub, tmp_path: Path, run_python: Run
) -> None:
    """The real checkpoints of two owners; no environment variable names one of them."""
    owners = ("other-team", "second-lab")
    for owner in owners:
        push("--push", "--owner", owner)
    assert {repo.partition("/")[0] for _, repo in hub.repositories} == set(owners)
    calls = [(name, (), columns) for name, columns in COLUMNS.items()]
    calls.append(("matcha", ("contextual",), COLUMNS["matcha"]))
    environment = {"HF_HUB_OFFLINE": "0", "HF_EVALUATE_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    in_half = str(make_repo("model", "pairs", "org", tmp_path).folder)  # as pushed
    expected = [
        semantic_metrics.load(name, *(names or [in_half] * (name not in ("matcha", "set_criteria")))).compute(**columns)
        for name, names, columns in calls
    ]
    for owner in owners:
        hub.requests.clear()
        environment |= {"HF_HOME": str(tmp_path / owner), "HF_ENDPOINT": hub.url}
        done = run_python(EACH, json.dumps(calls), owner, cwd=tmp_path, **environment)
        assert done.returncode == 0, done.stderr
        other = next(name for name in owners if name != owner)
        assert not [path for path in hub.requests if f"/{other}/" in path], "weights of the other owner"
        assert any(f"/{owner}/pairs/" in path for path in hub.requests)
        for call, loaded, result in zip(calls, json.loads(done.stdout), expected, strict=True):
            assert rounded(loaded) == rounded(json.loads(json.dumps(result))), call
        for kind, name in (("space", "nli_lex"), ("model", "pairs")):
            card = hub.files(f"{owner}/{name}", kind=kind)["README.md"].decode()
            assert f'evaluate.load("{owner}/' in card
            assert 'evaluate.load("metrics/' not in card


def test_what_was_fitted_for_weights_in_8_bits_is_for_those_that_are_pushed(tmp_path: Path) -> None:
    shipped = ROOT / "model_cards" / "pairs"
    folder = make_repo("model", "pairs", "org", tmp_path).folder
    before, after = checkpoint_digest(shipped), checkpoint_digest(folder)
    assert after != before
    for name in ("nli_lex.json", "support.json", "precision.json"):
        text = (shipped / name).read_text(encoding="utf-8")
        assert before[:16] in text, "the shipped file is as it was"
        new = text.replace(before, after).replace(before[:16], after[:16])
        assert (folder / name).read_text(encoding="utf-8") == new


def test_this_project_can_be_pushed(push: Push) -> None:
    """Every card has what the Hub needs, and all of this project's folders are found."""
    heads = [line.split(":")[0] for line in push(token=None).stdout.splitlines() if line.startswith("org/")]
    models = ("contextual", "large", "matcha", "pairs")
    spaces = ("consensus", "matcha", "nli_lex", "set_criteria", "stsscore", "support")
    assert heads == [*(f"org/{name} (model)" for name in models), *(f"org/{name} (space)" for name in spaces)]


def test_script_runs_as_a_file(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "training" / "push.py"), "--owner", "a.b"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: --owner: expected a name of letters")
