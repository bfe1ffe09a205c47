"""Push the checkpoints (model_cards/) and the metrics (metrics/, each as a Space) to the Hub.

    python training/push.py --owner NAME                       # lists the files, uploads nothing
    HF_TOKEN=... python training/push.py --owner NAME --push
    python training/push.py --folder runs/mine/checkpoint --repo ORG/NAME [--push]     # the checkpoint of a run

The training commands take `--push ORG/NAME` and do the last of these when they are done. The owner's name is written
into the Spaces and the cards, so that a metric takes its weights from the owner that it is loaded from. Each repository
gets one commit with the files that differ, or none if nothing does. The token is read from HF_TOKEN alone and never
printed.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from huggingface_hub import HfApi, ModelCard, RepoCard, constants, get_session
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from semantic_metrics.core.checkpoint_files import CONFIG, HUB_OWNER, PASSING_ERRORS, WEIGHTS, describe_error, may_pass
from semantic_metrics.core.contract import described_metrics
from semantic_metrics.cross_encoder import eight_bits
from semantic_metrics.cross_encoder.pair_checkpoint import checkpoint_sha256
from semantic_metrics.support.decision import CHECKPOINT_DIGITS
from training.bundle import with_owner, write_bundle

MODEL_CARDS = Path(__file__).resolve().parents[1] / "model_cards"
CARD = "README.md"
MODEL, SPACE = KINDS = ("model", "space")
TOKEN_VARIABLE = "HF_TOKEN"  # the one that huggingface_hub itself reads
MAIN = "main"
HUB_TIMEOUT_SECONDS = 60  # without a byte from the Hub


class PushError(click.ClickException):
    """A push cannot be done as asked: one line on stderr, exit code 2."""

    exit_code = 2


class HubError(click.ClickException):
    """The Hub did not answer, or refused: one line on stderr, exit code 1."""


@dataclass(frozen=True)
class Repo:
    """A folder and the kind of repository that it becomes.

    Attributes:
        kind: MODEL or SPACE.
        name: name of the repository.
        folder: files to push.
        card: where messages say that the card is, as `folder` may be a copy.
    """

    kind: str
    name: str
    folder: Path
    card: str

    def files(self) -> dict[str, Path]:
        """The files to push, by their path in the repository: all but hidden ones."""
        paths = {path.relative_to(self.folder): path for path in sorted(self.folder.rglob("*")) if path.is_file()}
        return {
            relative.as_posix(): path
            for relative, path in paths.items()
            if not any(part.startswith(".") for part in relative.parts)
        }


@dataclass(frozen=True)
class Target:
    """A repository on the Hub that a folder is pushed to.

    Attributes:
        repo: the folder.
        hub_id: owner/name.
        commit: head of the branch, or of main if the branch is new; None if the repository is new.
        branch_exists: whether the Hub has the branch.
    """

    repo: Repo
    hub_id: str
    commit: str | None
    branch_exists: bool


def select(kind: str | None, only: tuple[str, ...]) -> list[tuple[str, str]]:
    """Kind and name of the repositories asked for, checkpoints first: a Space downloads its own.

    Raises:
        PushError: no repository has such a name; lists the names.
    """
    names = [(MODEL, path.parent.name) for path in sorted(MODEL_CARDS.glob("*/config.json"))]
    names = [pair for pair in [*names, *((SPACE, name) for name in described_metrics())] if kind in (None, pair[0])]
    known = {name for _, name in names}
    for name in only:
        if name not in known:
            raise PushError(f"--only: expected one of {', '.join(sorted(known))}, got {name!r}")
    return [pair for pair in names if not only or pair[1] in only]


def make_repo(kind: str, name: str, owner: str, folder: Path) -> Repo:
    """A checkpoint or a bundled metric in a new folder below `folder`, with the owner's name in card and modules."""
    target = folder / kind / name
    if kind == SPACE:
        write_bundle(name, target, owner)
        return Repo(kind, name, target, f"metrics/{name}/{CARD}")
    shutil.copytree(MODEL_CARDS / name, target, copy_function=os.symlink)  # weights are large
    _to_half(target)
    if (card := target / CARD).exists():
        text = card.read_text(encoding="utf-8")
        card.unlink()
        card.write_text(with_owner(text, owner), encoding="utf-8")
    return Repo(kind, name, target, f"model_cards/{name}/{CARD}")


def _to_half(folder: Path) -> None:
    """Weights in 8 bits become float16; what was fitted for them, and names them by their digest, fits these too."""
    before = checkpoint_sha256(folder)
    eight_bits.to_half(folder)
    after = checkpoint_sha256(folder)
    for path in folder.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        if before[:CHECKPOINT_DIGITS] in text:
            path.unlink()  # a link to the file of this project
            new = text.replace(before, after).replace(before[:CHECKPOINT_DIGITS], after[:CHECKPOINT_DIGITS])
            path.write_text(new, encoding="utf-8")


def make_run_repo(folder: Path, hub_id: str) -> Repo:
    """The checkpoint of a run, to be pushed as `hub_id`.

    Raises:
        PushError: the folder is no checkpoint, or `hub_id` is not owner/name.
    """
    check_hub_id(hub_id, "--repo")
    missing = [name for name in (CONFIG, WEIGHTS, CARD) if not (folder / name).is_file()]
    if missing:
        raise PushError(f"--folder: expected a checkpoint that training wrote, {folder} lacks {', '.join(missing)}")
    return Repo(MODEL, hub_id.partition("/")[2], folder, str(folder / CARD))


def check_hub_id(hub_id: str, option: str) -> None:
    """Check that a repository is named as owner/name.

    Raises:
        PushError: it is not; names the option.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", hub_id):
        raise PushError(f"{option}: expected ORG/NAME of letters, digits, '-', '_' and '.', got {hub_id!r}")


def check_card(repo: Repo) -> None:
    """Check that a card says what the Hub needs: results for a model, how to start for a Space.

    Raises:
        PushError: it does not; names the card.
    """
    try:
        data = (ModelCard if repo.kind == MODEL else RepoCard).load(repo.folder / CARD).data
    except Exception as error:  # no file, bad YAML and a malformed model-index each raise their own
        raise PushError(f"{repo.card}: expected a card with front matter ({describe_error(error)})") from None
    if repo.kind == MODEL and not getattr(data, "eval_results", None):
        raise PushError(f"{repo.card}: expected a model-index with results, got none")
    if repo.kind == SPACE:
        app = data.to_dict().get("app_file")
        if data.to_dict().get("sdk") != "gradio" or app is None or not (repo.folder / app).is_file():
            raise PushError(f"{repo.card}: expected sdk: gradio and app_file, a file of the Space; got app {app!r}")


def find_target(api: HfApi, repo: Repo, hub_id: str, branch: str, tag: str | None, private: bool) -> Target:
    """Look a repository up on the Hub.

    Raises:
        PushError: the tag is there already, or the repository is public and --private was given.
        HubError: the Hub did not answer, or refused.
    """
    with hub_errors(api, hub_id):
        own, tagged = (name and _look_up(api, repo.kind, hub_id, name) for name in (branch, tag))
        remote = own or _look_up(api, repo.kind, hub_id, MAIN)
    if private and remote is not None and remote.private is False:
        raise PushError(f"--private: expected {hub_id} to be private or new, but it is public on the Hub")
    if tagged is not None:
        raise PushError(f"--tag: expected a name that is free; {hub_id} has {tag!r}, of commit {tagged.sha}")
    is_new = remote is None
    return Target(repo, hub_id, None if is_new else remote.sha, branch == MAIN if is_new else own is not None)


def _look_up(api: HfApi, kind: str, hub_id: str, revision: str) -> object | None:
    try:
        return api.repo_info(hub_id, revision=revision, repo_type=kind)
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return None


def upload(api: HfApi, target: Target, branch: str, tag: str | None, private: bool, delete: bool) -> str:
    """Push the files that differ, with one commit at most; returns the branch's commit.

    Raises:
        HubError: the Hub did not answer or refused, or somebody else pushed since it was looked up.
    """
    where = {"repo_id": target.hub_id, "repo_type": target.repo.kind}
    with hub_errors(api, target.hub_id):
        if target.commit is None:
            options = {"space_sdk": "gradio"} if target.repo.kind == SPACE else {}
            api.create_repo(**where, private=private or None, **options)
        if not target.branch_exists:
            api.create_branch(**where, branch=branch, revision=target.commit)
        commit = api.upload_folder(
            **where,
            folder_path=target.repo.folder,
            allow_patterns=list(target.repo.files()),
            delete_patterns="*" if delete else None,
            commit_message=f"Push {target.repo.name}",
            revision=branch,
            parent_commit=target.commit,
        ).oid
        if tag is not None:
            api.create_tag(**where, tag=tag, revision=commit)
    return commit


@contextmanager
def hub_errors(api: HfApi, hub_id: str) -> Iterator[None]:
    """Turn what the Hub's client and the network raise into one line without the token; no request waits without end.

    Raises:
        HubError: in place of any other exception; says whether trying again may help.
    """
    limit_requests()
    try:
        yield
    except Exception as error:  # requests, httpx and the Hub share no class across versions of huggingface_hub
        status = getattr(getattr(error, "response", None), "status_code", None)
        message = f"{hub_id}: the Hub at {api.endpoint} "
        if status in (401, 403):
            message += f"refused ({status}); {TOKEN_VARIABLE} must be a token that may write there"
        elif status is not None:
            message += f"answered with an error ({describe_error(error)})"
        elif PASSING_ERRORS.intersection(kind.__name__ for kind in type(error).__mro__):
            message += f"did not answer ({describe_error(error)})"
        else:
            message = f"{hub_id}: the request to the Hub at {api.endpoint} failed ({describe_error(error)})"
        message += f"; trying again {'may' if may_pass(error) else 'will not'} help"
        raise HubError(message.replace(api.token, "***") if api.token else message) from None


def limit_requests() -> None:
    """Give each request of the Hub's client a timeout; the client gives none to most (huggingface_hub 2.4).

    Versions before 1.0, which use requests, are left as they are.
    """
    session = get_session()
    if hooks := getattr(session, "event_hooks", None):
        others = [hook for hook in hooks["request"] if hook is not _limit_request]
        session.event_hooks = {**hooks, "request": [*others, _limit_request]}


def _limit_request(request: object) -> None:
    limits = request.extensions["timeout"]
    limits |= {kind: HUB_TIMEOUT_SECONDS for kind, seconds in limits.items() if seconds is None}


def read_token(needed: bool) -> str | None:
    """The token of the environment.

    Raises:
        PushError: it is missing where one is needed, or malformed; never repeats it.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token and needed:
        raise PushError(f"{TOKEN_VARIABLE}: expected a token that may write, in the environment; got none")
    if not re.fullmatch(r"[!-~]*", token):
        raise PushError(f"{TOKEN_VARIABLE}: expected a token, got something with white space or other odd characters")
    return token or None


def _push(repos: list[tuple[Repo, str]], branch: str, tag: str | None, private: bool, delete: bool, push: bool) -> None:
    """List the files of these repositories, each with its Hub id, and push them if `push` is set."""
    api = HfApi(token=read_token(push) or False, endpoint=constants.ENDPOINT)
    for repo, _ in repos:
        check_card(repo)
    targets = [find_target(api, repo, hub_id, branch, tag, private) for repo, hub_id in repos]
    for target in targets:
        where = "not on the Hub, or hidden from this token" if target.commit is None else f"at {target.commit[:7]}"
        click.echo(f"{target.hub_id} ({target.repo.kind}): {where}")
        for path, file in target.repo.files().items():
            click.echo(f"  {file.stat().st_size:>12,}  {path}")
    for target in targets if push else ():
        commit = upload(api, target, branch, tag, private, delete)
        outcome = "unchanged, at" if commit == target.commit else "pushed,"
        click.echo(f"{target.hub_id} ({target.repo.kind}): {outcome} {commit}")
    if not push:
        click.echo("Nothing was uploaded; --push uploads those that differ.")


@click.command()
@click.option("--owner", help=f"User or organisation on the Hub; default: {HUB_OWNER}.")
@click.option("--kind", type=click.Choice(KINDS), help="Push only the checkpoints, or only the Spaces.")
@click.option("--only", multiple=True, metavar="NAME", help="Push only this checkpoint or metric; may be repeated.")
@click.option("--folder", type=click.Path(path_type=Path), help="Push this checkpoint of a run, to --repo.")
@click.option("--repo", metavar="ORG/NAME", help="Repository on the Hub for --folder.")
@click.option("--branch", default=MAIN, show_default=True, help="Branch to commit to; made from main if it is new.")
@click.option("--tag", metavar="NAME", help="Also tag the commit, so that checkpoint@NAME loads it.")
@click.option("--private", is_flag=True, help="Make new repositories private.")
@click.option("--delete", is_flag=True, help="Delete files that only the Hub has.")
@click.option("--push/--dry-run", "push", default=False, help="Upload; by default, only list the files.")
def main(
    owner: str | None,
    kind: str | None,
    only: tuple[str, ...],
    folder: Path | None,
    repo: str | None,
    branch: str,
    tag: str | None,
    private: bool,
    delete: bool,
    push: bool,
) -> None:
    """Push checkpoints and metrics to the Hub; without --push, list their files.

    Example: python training/push.py --owner my-team --only matcha --tag v0.1.0
    """
    changes = (branch, tag, private, delete, push)
    if folder is not None or repo is not None:
        if folder is None or repo is None or owner or kind or only:
            raise PushError("--folder, --repo: expected both of them, without --owner, --kind and --only")
        _push([(make_run_repo(folder, repo), repo)], *changes)
        return
    owner = HUB_OWNER if owner is None else owner
    if not re.fullmatch(r"[\w.-]+", owner):
        raise PushError(f"--owner: expected a name of letters, digits, '-', '_' and '.', got {owner!r}")
    with TemporaryDirectory() as folders:
        repos = [make_repo(*pair, owner, Path(folders)) for pair in select(kind, only)]
        _push([(each, f"{owner}/{each.name}") for each in repos], *changes)


def add_push_option(parser: argparse.ArgumentParser) -> None:
    """Give a training command `--push ORG/NAME`."""
    text = f"Repository on the Hub to push the checkpoint to when it is trained; needs a token in {TOKEN_VARIABLE}."
    parser.add_argument("--push", metavar="ORG/NAME", help=text)


def check_push(parser: argparse.ArgumentParser, hub_id: str | None) -> None:
    """End a training command before it trains, if its --push could not be done: no token, no such name, no Hub."""
    if hub_id is None:
        return
    try:
        check_hub_id(hub_id, "--push")
        api = HfApi(token=read_token(needed=True), endpoint=constants.ENDPOINT)
        with hub_errors(api, hub_id):
            _look_up(api, MODEL, hub_id, MAIN)
    except click.ClickException as error:
        parser.error(str(error))


def push_run(output: Path, hub_id: str | None) -> None:
    """Push the checkpoint of a run that has ended, from its first process; without a Hub id, do nothing."""
    from accelerate import PartialState  # of the extra `train`, which pushing alone does without

    if hub_id is None or not PartialState().is_main_process:
        return
    folder = output / "checkpoint"
    try:
        _push([(make_run_repo(folder, hub_id), hub_id)], MAIN, None, private=False, delete=False, push=True)
    except click.ClickException as error:
        again = f"python training/push.py --folder {folder} --repo {hub_id} --push"
        sys.exit(f"{error}\nThe checkpoint is in {folder}; this pushes it: {again}")


if __name__ == "__main__":
    main()
