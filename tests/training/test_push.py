"""Pushing to a Hub on the loopback address, by the real client, and loading from there what was pushed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from tests.conftest import METRIC, ROOT, Run
from tests.fake_hub import Hub, serve
from tests.tiny_table import small_table
from training.push_plan import HubError, speaking_of

TOKEN, READ_ONLY = "hf_" + "w" * 34, "hf_" + "r" * 34
AWAY = "http://127.0.0.1:9"  # the discard port: nothing listens
CARD = """\
---
license: cc-by-sa-4.0
model-index:
- name: matcha
  results:
  - task: {type: sentence-similarity}
    dataset: {name: STS-B, type: stsb}
    metrics: [{type: spearmanr, name: Spearman, value: 0.5}]
---

# matcha
"""
SPACE = "sdk: gradio\napp_file: app.py\n"

Push = Callable[..., subprocess.CompletedProcess]


@pytest.fixture
def project(tmp_path: Path, checkpoint: Path) -> Path:
    """A project like this one, with a small checkpoint and the real metric."""
    root = tmp_path / "project"
    (root / "training").mkdir(parents=True)
    for name in ("push.py", "push_plan.py"):
        shutil.copy(ROOT / "training" / name, root / "training")
    shutil.copytree(checkpoint, root / "model_cards" / "matcha")
    (root / "model_cards" / "matcha" / "README.md").write_text(CARD)
    space = root / "metrics" / "matcha"
    shutil.copytree(METRIC, space)
    (space / "__pycache__").mkdir(exist_ok=True)
    (space / "__pycache__" / "matcha.cpython-311.pyc").write_bytes(b"compiled")
    (space / ".cache").write_text("hidden")
    (space / "README.md").write_text(f"---\ntitle: MATCHA\n{SPACE}---\n\n# MATCHA\n")
    (space / "app.py").write_text("import gradio\n")
    return root


@pytest.fixture
def hub() -> Iterator[Hub]:
    """An empty Hub that asks for a token before it writes."""
    with serve() as hub:
        hub.tokens = {TOKEN: "write", READ_ONLY: "read"}
        yield hub


@pytest.fixture
def push(project: Path, hub: Hub, tmp_path: Path) -> Push:
    """Run the command as a user does: `push(*arguments, token=..., endpoint=...)`."""

    def run(
        *arguments: str, token: str | None = TOKEN, endpoint: str = hub.url, code: int = 0
    ) -> subprocess.CompletedProcess:
        own = {"HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": token or ""}
        environment = {**os.environ, **own, "HF_HOME": str(tmp_path / "home")}
        command = [sys.executable, str(project / "training" / "push.py"), "--owner", "org", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stderr
        assert token is None or token not in done.stdout + done.stderr
        return done

    return run


def local(folder: Path) -> dict[str, bytes]:
    hidden = ("__init__.py", ".cache")
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and p.name not in hidden}


def held(hub: Hub, kind: str, revision: str = "main") -> dict[str, bytes]:
    files = hub.files("org/matcha", revision, kind)
    return {name: data for name, data in files.items() if name != ".gitattributes"}


def refusal(done: subprocess.CompletedProcess) -> str:
    """What stderr says, which is one line."""
    (line,) = done.stderr.splitlines()
    assert "Traceback" not in line
    return line


def test_without_push_every_file_is_listed_and_nothing_uploaded(push: Push, hub: Hub, project: Path) -> None:
    lines = push(token=None).stdout.splitlines()
    listed = [line.split() for line in lines if line.startswith("  ")]
    expected = [
        ["new", f"{path.stat().st_size:,}", path.name]
        for folder in (project / "model_cards" / "matcha", project / "metrics" / "matcha")
        for path in sorted(folder.iterdir())
        if path.name in local(folder)
    ]
    assert listed == expected
    assert lines[0] == "org/matcha (model): not on the Hub, or hidden from this token"
    assert "Nothing was uploaded; --push does it." in lines
    assert hub.writes == []
    assert hub.repositories == {}


def test_what_is_pushed_is_the_folders(push: Push, hub: Hub, project: Path) -> None:
    push("--push")
    assert held(hub, "model") == local(project / "model_cards" / "matcha")
    assert held(hub, "space") == local(project / "metrics" / "matcha")
    space = hub.repositories["space", "org/matcha"]
    assert (space.sdk, space.variables, space.private) == ("gradio", {"SEMANTIC_METRICS_HUB_OWNER": "org"}, False)
    assert len(hub.stored) == 1  # the weights, and they alone, by LFS


def test_a_second_push_uploads_nothing_and_a_change_only_itself(push: Push, hub: Hub, project: Path) -> None:
    push("--push")
    before = {key: dict(repository.refs) for key, repository in hub.repositories.items()}
    hub.writes.clear()
    assert "unchanged, at" in push("--push").stdout
    assert hub.writes == []
    assert {key: dict(repository.refs) for key, repository in hub.repositories.items()} == before

    small_table(seed=1).save(project / "model_cards" / "matcha")
    states = [line.split()[0] for line in push().stdout.splitlines() if line.startswith("  ")]
    assert sorted(set(states)) == ["changed", "same"]
    assert states.count("changed") == 1  # of one size: only the sha256 tells
    push("--push")
    assert [path for path in hub.writes if "/commit/" in path] == ["/api/models/org/matcha/commit/main"]
    assert held(hub, "model") == local(project / "model_cards" / "matcha")


def test_what_only_the_hub_has_is_kept_unless_told(push: Push, hub: Hub, project: Path) -> None:
    push("--push", "--kind", "space")
    (project / "metrics" / "matcha" / "table.py").unlink()
    assert "only there" in push("--push", "--kind", "space").stdout
    assert "table.py" in held(hub, "space")
    push("--push", "--kind", "space", "--delete")
    assert held(hub, "space") == local(project / "metrics" / "matcha")
    assert ".gitattributes" in hub.files("org/matcha", kind="space")


def test_selected_by_kind_and_by_name(push: Push, hub: Hub) -> None:
    push("--push", "--kind", "model", "--only", "matcha", "--private")
    assert list(hub.repositories) == [("model", "org/matcha")]
    assert hub.repositories["model", "org/matcha"].private
    line = refusal(push("--only", "macha", code=2))
    assert line == "Error: --only: expected one of matcha, got 'macha'"
    hub.repositories["model", "org/matcha"].private = False
    assert "--private: expected org/matcha to be private" in refusal(push("--push", "--private", code=2))


def test_a_branch_and_a_tag(push: Push, hub: Hub, project: Path) -> None:
    push("--push", "--kind", "model", "--tag", "v1")
    first = held(hub, "model", "v1")
    small_table(seed=1).save(project / "model_cards" / "matcha")
    push("--push", "--kind", "model", "--branch", "next")
    assert held(hub, "model", "next") == local(project / "model_cards" / "matcha")
    assert held(hub, "model") == held(hub, "model", "v1") == first
    writes = list(hub.writes)
    line = refusal(push("--push", "--kind", "model", "--tag", "v1", code=2))
    assert line == "Error: --tag: expected a name that is free; org/matcha has 'v1', with other files"
    assert hub.writes == writes
    push("--push", "--kind", "model", "--tag", "v2")
    push("--push", "--kind", "model", "--tag", "v2")  # the same again is no mistake
    assert held(hub, "model", "v2") == held(hub, "model")


@pytest.mark.parametrize(
    ("arguments", "token", "endpoint", "code", "saying"),
    [
        (["--push"], None, None, 2, "HF_TOKEN: expected a token that may write, in the environment; got none"),
        (["--push"], "hf_with\nnewline", None, 2, "HF_TOKEN: expected a token, got something with white space"),
        (["--push"], "hf_" + "x" * 34, None, 1, r"refused (401); HF_TOKEN must hold a token that may write there"),
        (["--push"], READ_ONLY, None, 1, r"refused (403); HF_TOKEN must hold a token that may write there"),
        (["--push"], TOKEN, AWAY, 1, f"org/matcha: the Hub at {AWAY} did not answer"),
        ([], None, AWAY, 1, f"org/matcha: the Hub at {AWAY} did not answer"),
        (["--owner", "a/b"], None, None, 2, "--owner: expected a name of letters"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    push: Push, hub: Hub, arguments: list[str], token: str | None, endpoint: str | None, code: int, saying: str
) -> None:
    assert saying in refusal(push(*arguments, token=token, endpoint=endpoint or hub.url, code=code))
    assert hub.repositories == {}


@pytest.mark.parametrize(
    ("error", "saying"),
    [
        (FileNotFoundError(f"no file, {TOKEN}"), "speaking with the Hub at http://hub failed (FileNotFoundError: no"),
        (ConnectionResetError("cut off"), "the Hub at http://hub did not answer (ConnectionResetError: cut off)"),
    ],
)
def test_only_a_connection_that_failed_is_called_one(error: Exception, saying: str) -> None:
    with pytest.raises(HubError) as caught, speaking_of(HfApi("http://hub", token=TOKEN), "org/matcha"):
        raise error
    assert caught.value.message.startswith(f"org/matcha: {saying}")
    assert TOKEN not in caught.value.message


@pytest.mark.parametrize(
    ("card", "text", "saying"),
    [
        ("model_cards", "---\nlicense: mit\n---\n", "expected a model-index with results, got none"),
        ("model_cards", "---\nmodel-index: 3\n---\n", "expected a card with front matter"),
        ("model_cards", "---\n: [\n---\n", "expected a card with front matter"),
        ("metrics", "---\ntitle: MATCHA\n---\n", "expected sdk: gradio and app_file"),
        ("metrics", "---\nsdk: gradio\napp_file: other.py\n---\n", "expected sdk: gradio and app_file"),
        ("metrics", None, "expected a card with front matter"),
    ],
)
def test_a_card_that_lacks_what_the_hub_needs_is_refused(
    push: Push, hub: Hub, project: Path, card: str, text: str | None, saying: str
) -> None:
    path = project / card / "matcha" / "README.md"
    path.unlink() if text is None else path.write_text(text)
    line = refusal(push("--push", code=2))
    assert saying in line
    assert str(path) in line
    assert hub.requests == []


LOAD = """
import json, sys
import evaluate

sys.modules["semantic_metrics"] = None  # not installed, as with somebody who only loads from the Hub
found = {}
for name in sys.argv[1:]:
    try:
        metric = evaluate.load("org/matcha", *(() if name == "default" else (name,)))
        found[name] = metric.compute(predictions=["the dog barks"], references=["a dog runs"])["signature"]
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


def test_what_was_pushed_is_loaded_by_its_hub_id(
    push: Push, hub: Hub, project: Path, tmp_path: Path, run_python: Run
) -> None:
    first, second = small_table(), small_table(seed=1)
    push("--push", "--tag", "v1")
    commit = hub.repositories["model", "org/matcha"].refs["v1"]
    second.save(project / "model_cards" / "matcha")
    push("--push")
    environment = {"HF_HUB_OFFLINE": "0", "HF_EVALUATE_OFFLINE": "0", "SEMANTIC_METRICS_HUB_OWNER": "org"}
    names = ["default", "org/matcha", "org/matcha@v1", f"org/matcha@{commit}"]

    def load(home: str, endpoint: str) -> dict[str, str]:
        own = {"HF_HOME": str(tmp_path / home), "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1"}
        done = run_python(LOAD, *names, cwd=tmp_path, **environment, **own)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    found = load("clean", hub.url)
    for name, table in zip(names, (second, second, first, first), strict=True):
        assert f"|checkpoint:{table.checkpoint_sha256[:16]}|" in found[name]
    away = load("another", AWAY)
    assert all("org/matcha" in error and "Hub" in error for error in away.values())


@pytest.mark.parametrize("kind", ["model", "space"])
def test_this_project_can_be_pushed(hub: Hub, tmp_path: Path, kind: str) -> None:
    """Every card has what the Hub needs, and all of this project's folders are found."""
    own = {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_TOKEN": "", "HF_HOME": str(tmp_path)}
    command = [sys.executable, str(ROOT / "training" / "push.py"), "--owner", "org", "--kind", kind]
    done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    heads = [line.split()[0] for line in done.stdout.splitlines() if f"({kind})" in line]
    spaces = ["matcha", "nli_lex", "set_criteria", "stsscore"]
    names = {"model": ["contextual", "matcha", "nli", "stsscore"], "space": spaces}
    assert heads == [f"org/{name}" for name in names[kind]]
    needed = "model.safetensors" if kind == "model" else "requirements.txt"
    assert done.stdout.count(needed) == len(heads)
