"""What a push to the Hub would change: each folder, compared with its repository file by file."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from huggingface_hub import HfApi, ModelCard, RepoCard
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

ROOT = Path(__file__).resolve().parents[1]
TOKEN = "HF_TOKEN"  # the variable that huggingface_hub itself reads
MAIN = "main"
LEFT_OUT = ("__init__.py",)  # makes a package of the folder, which a Space is not
OF_THE_HUB = (".gitattributes",)  # made with a repository; says which files go by LFS
NEW, CHANGED, SAME, STRAY = "new", "changed", "same", "only there"
PATIENCE = 30  # seconds for the Hub's first answer
_AWAY = {"ConnectionError", "Timeout", "TimeoutError", "TransportError"}  # of Python, requests and httpx


@dataclass(frozen=True)
class Repo:
    """A folder here and the kind of repository that it becomes; its name is the folder's."""

    kind: str
    folder: Path

    @property
    def card(self) -> Path:
        """Its README.md."""
        return self.folder / "README.md"

    def files(self) -> dict[str, Path]:
        """What is pushed, by its path in the repository: all but hidden and compiled files."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            parts = path.relative_to(self.folder).parts
            hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
            if path.is_file() and not hidden and path.name not in LEFT_OUT:
                found["/".join(parts)] = path
        return found


@dataclass(frozen=True)
class Plan:
    """What a push would change.

    Attributes:
        repo: the folder.
        hub_id: owner/name.
        exists: whether the Hub has the repository.
        commit: what `states` compares with: the branch, or main where there is no such branch; None for neither.
        branch_exists: whether the Hub has the branch.
        tagged: whether the Hub has the tag, with these files.
        states: path -> what would happen to it, and its size in bytes.
    """

    repo: Repo
    hub_id: str
    exists: bool
    commit: str | None
    branch_exists: bool
    tagged: bool
    states: dict[str, tuple[str, int]]

    def paths(self, *states: str) -> list[str]:
        """Paths in one of these states."""
        return [path for path, (state, _) in self.states.items() if state in states]


class InputError(click.ClickException):
    """The user's input cannot be used: one line on stderr, exit code 2 as for a mistyped option."""

    exit_code = 2


class HubError(click.ClickException):
    """The Hub is away, or refused: one line on stderr, exit code 1."""


def repositories(root: Path = ROOT) -> list[Repo]:
    """The checkpoints and the metrics of this project, the checkpoints first: a Space downloads its own."""
    models = [path.parent for path in sorted(root.glob("model_cards/*/model.safetensors"))]
    spaces = [path.parent for path in sorted(root.glob("metrics/*/*.py")) if path.stem == path.parent.name]
    return [*(Repo("model", folder) for folder in models), *(Repo("space", folder) for folder in spaces)]


def check_card(repo: Repo) -> None:
    """See that a card says what the Hub needs: results for a model, how to start for a Space.

    Raises:
        InputError: it does not; names the card.
    """
    try:
        card = (ModelCard if repo.kind == "model" else RepoCard).load(repo.card)
    except Exception as error:  # no file, bad YAML or a malformed model-index, each an exception of its own
        raise InputError(f"{repo.card}: expected a card with front matter ({_one_line(error)})") from None
    if repo.kind == "model" and not getattr(card.data, "eval_results", None):
        raise InputError(f"{repo.card}: expected a model-index with results, got none")
    if repo.kind == "space":
        fields = card.data.to_dict()
        app = fields.get("app_file")
        if fields.get("sdk") != "gradio" or app is None or not (repo.folder / app).is_file():
            raise InputError(f"{repo.card}: expected sdk: gradio and app_file, a file of this folder; got app {app!r}")


def make_plan(api: HfApi, repo: Repo, hub_id: str, branch: str, tag: str | None, private: bool) -> Plan:
    """Compare a folder with the Hub.

    Raises:
        InputError: the tag names other files, or the repository is public and --private was given.
        HubError: the Hub is away, or refused.
    """
    files = repo.files()
    with speaking_of(api, hub_id):
        there, branch_exists = _look(api, repo, hub_id, branch), True
        if there is None:
            there, branch_exists = _look(api, repo, hub_id, MAIN), False
        marked = None if tag is None or there is None else _look(api, repo, hub_id, tag)
    if there is None:
        states = {path: (NEW, file.stat().st_size) for path, file in files.items()}
        return Plan(repo, hub_id, False, None, branch == MAIN, False, states)
    if private and there.private is False:
        raise InputError(f"--private: expected {hub_id} to be private or not there yet; on the Hub it is public")
    if marked is not None and any(state in (NEW, CHANGED) for state, _ in _compare(files, marked.siblings).values()):
        raise InputError(f"--tag: expected a name that is free; {hub_id} has {tag!r}, with other files")
    return Plan(repo, hub_id, True, there.sha, branch_exists, marked is not None, _compare(files, there.siblings))


def _look(api: HfApi, repo: Repo, hub_id: str, revision: str) -> object | None:
    try:
        return api.repo_info(hub_id, revision=revision, repo_type=repo.kind, files_metadata=True, timeout=PATIENCE)
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return None


def _compare(files: dict[str, Path], siblings: list) -> dict[str, tuple[str, int]]:
    remote = {sibling.rfilename: sibling for sibling in siblings if sibling.rfilename not in OF_THE_HUB}
    states = {}
    for path, file in files.items():
        state = NEW if path not in remote else SAME if _equal(file, remote[path]) else CHANGED
        states[path] = (state, file.stat().st_size)
    return states | {path: (STRAY, there.size or 0) for path, there in remote.items() if path not in files}


def _equal(file: Path, sibling: object) -> bool:
    """Whether the Hub has these bytes: by sha256 what went by LFS, by git's name of the blob the rest."""
    data = file.read_bytes()
    if sibling.lfs is not None:
        return hashlib.sha256(data).hexdigest() == sibling.lfs.sha256
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == sibling.blob_id


@contextmanager
def speaking_of(api: HfApi, hub_id: str) -> Iterator[None]:
    """One line instead of what the Hub's client and the network raise; the token in none of it."""
    try:
        yield
    except Exception as error:  # requests, httpx and the Hub share no class across versions of huggingface_hub
        status = getattr(getattr(error, "response", None), "status_code", None)
        message = f"{hub_id}: the Hub at {api.endpoint} "
        if status in (401, 403):
            message += f"refused ({status}); {TOKEN} must hold a token that may write there"
        elif status is not None:
            message += f"answered with an error ({_one_line(error)})"
        elif _AWAY.intersection(kind.__name__ for kind in type(error).__mro__):
            message += f"did not answer ({_one_line(error)})"
        else:
            message = f"{hub_id}: speaking with the Hub at {api.endpoint} failed ({_one_line(error)})"
        raise HubError(message.replace(api.token, "***") if api.token else message) from None


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
