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
from typing import Any

import click
from huggingface_hub import HfApi, ModelCard, RepoCard, constants, get_session
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from semantic_metrics.core.checkpoint_files import CONFIG, HUB_OWNER, PASSING_ERRORS, WEIGHTS, describe_error, may_pass
from semantic_metrics.core.contract import described_metrics
from semantic_metrics.cross_encoder import eight_bits
from semantic_metrics.cross_encoder.pair_checkpoint import checkpoint_digest
from training.bundle import with_owner, write_bundle

MODEL_CARDS = Path(__file__).resolve().parents[1] / "model_cards"
CARD = "README.md"
MODEL, SPACE = "model", "space"
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
    """A folder and the kind of repository that it becomes, MODEL or SPACE; `card` is the path in messages."""

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


def select(only: tuple[str, ...]) -> list[tuple[str, str]]:
    """Kind and name of the repositories asked for, checkpoints first: a Space downloads its own.

    Raises PushError: no repository has such a name; lists the names.
    """
    names = [(MODEL, path.parent.name) for path in sorted(MODEL_CARDS.glob("*/config.json"))]
    names += [(SPACE, name) for name in described_metrics()]
    known = sorted({name for _, name in names})
    for name in only:
        if name not in known:
            raise PushError(f"--only: expected one of {', '.join(known)}, got {name!r}")
    return [pair for pair in names if not only or pair[1] in only]


def make_repo(kind: str, name: str, owner: str, folder: Path) -> Repo:
    """A checkpoint or a bundled metric in a new folder below `folder`, with the owner's name in card and modules."""
    target = folder / kind / name
    if kind == SPACE:
        write_bundle(name, target, owner)
        return Repo(kind, name, target, f"metrics/{name}/{CARD}")
    shutil.copytree(MODEL_CARDS / name, target, copy_function=os.symlink)  # weights are large
    to_half(target)
    if (card := target / CARD).exists():
        text = card.read_text(encoding="utf-8")
        card.unlink()
        card.write_text(with_owner(text, owner), encoding="utf-8")
    return Repo(kind, name, target, f"model_cards/{name}/{CARD}")


def to_half(folder: Path) -> None:
    """Weights in 8 bits as float16; files of what was fitted or measured for them (nli_lex.json) name the new ones."""
    before = checkpoint_digest(folder)
    eight_bits.to_half(folder)
    after = checkpoint_digest(folder)
    for path in folder.glob("*.json") if after != before else ():
        text = path.read_text(encoding="utf-8")
        path.unlink()  # may be a link to the one that is shipped
        path.write_text(text.replace(before, after).replace(before[:16], after[:16]), encoding="utf-8")


def make_run_repo(folder: Path, hub_id: str) -> Repo:
    """The checkpoint of a run, to be pushed as `hub_id`.

    Raises PushError: the folder is no checkpoint, or `hub_id` is not owner/name.
    """
    check_hub_id(hub_id, "--repo")
    missing = [name for name in (CONFIG, WEIGHTS, CARD) if not (folder / name).is_file()]
    if missing:
        raise PushError(f"--folder: expected a checkpoint that training wrote, {folder} lacks {', '.join(missing)}")
    return Repo(MODEL, hub_id.partition("/")[2], folder, str(folder / CARD))


def check_hub_id(hub_id: str, option: str) -> None:
    """Check that a repository is named as owner/name. Raises PushError: it is not; names the option."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", hub_id):
        raise PushError(f"{option}: expected ORG/NAME of letters, digits, '-', '_' and '.', got {hub_id!r}")


def check_card(repo: Repo) -> None:
    """Check that a card says what the Hub needs: results for a model, how to start for a Space.

    Raises PushError: it does not; names the card.
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


def find_commit(api: HfApi, kind: str, hub_id: str, tag: str | None = None, private: bool = False) -> str | None:
    """The head of a repository on the Hub; None for a new one.

    Raises:
        PushError: the tag is there already, or the repository is public and must be `private`.
        HubError: the Hub did not answer, or refused.
    """

    def look_up(revision: str) -> Any:  # noqa: ANN401  (one class for each kind)
        try:
            return api.repo_info(hub_id, revision=revision, repo_type=kind)
        except (RepositoryNotFoundError, RevisionNotFoundError):
            return None

    with hub_errors(api, hub_id):
        tagged, head = tag and look_up(tag), look_up(MAIN)
    if private and head is not None and head.private is False:
        raise PushError(f"--private: expected {hub_id} to be private or new, but it is public on the Hub")
    if tagged:
        raise PushError(f"--tag: expected a name that is free; {hub_id} has {tag!r}, of commit {tagged.sha}")
    return None if head is None else head.sha


def upload(api: HfApi, repo: Repo, hub_id: str, commit: str | None, tag: str | None, private: bool = False) -> str:
    """Push the files that differ from the Hub's `commit`, with one commit at most; returns it, which gets the tag.

    Raises HubError: the Hub did not answer or refused, or somebody else pushed since it was looked up.
    """
    where = {"repo_id": hub_id, "repo_type": repo.kind}
    with hub_errors(api, hub_id):
        if commit is None:
            options = {"space_sdk": "gradio"} if repo.kind == SPACE else {}
            api.create_repo(**where, private=private or None, **options)
        pushed = api.upload_folder(
            **where,
            folder_path=repo.folder,
            allow_patterns=list(repo.files()),
            commit_message=f"Push {repo.name}",
            revision=MAIN,
            parent_commit=commit,
        ).oid
        if tag is not None:
            api.create_tag(**where, tag=tag, revision=pushed)
    return pushed


@contextmanager
def hub_errors(api: HfApi, hub_id: str) -> Iterator[None]:
    """Turn what the Hub's client and the network raise into one line without the token; no request waits without end.

    Raises HubError: in place of any other exception; says whether trying again may help.
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
    """The token of the environment. PushError: it is missing where one is needed, or malformed; never repeats it."""
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token and needed:
        raise PushError(f"{TOKEN_VARIABLE}: expected a token that may write, in the environment; got none")
    if not re.fullmatch(r"[!-~]*", token):
        raise PushError(f"{TOKEN_VARIABLE}: expected a token, got something with white space or other odd characters")
    return token or None


def _push(repos: list[tuple[Repo, str]], tag: str | None, push: bool, private: bool = False) -> None:
    """List the files of these repositories, each with its Hub id, and push them if `push` is set."""
    api = HfApi(token=read_token(push) or False, endpoint=constants.ENDPOINT)
    for repo, _ in repos:
        check_card(repo)
    commits = [find_commit(api, repo.kind, hub_id, tag, private) for repo, hub_id in repos]
    for (repo, hub_id), commit in zip(repos, commits, strict=True):
        where = "not on the Hub, or hidden from this token" if commit is None else f"at {commit[:7]}"
        click.echo(f"{hub_id} ({repo.kind}): {where}")
        for path, file in repo.files().items():
            click.echo(f"  {file.stat().st_size:>12,}  {path}")
    for (repo, hub_id), commit in zip(repos, commits, strict=True) if push else ():
        pushed = upload(api, repo, hub_id, commit, tag, private)
        click.echo(f"{hub_id} ({repo.kind}): {'unchanged, at' if pushed == commit else 'pushed,'} {pushed}")
    if not push:
        click.echo("Nothing was uploaded; --push uploads those that differ.")


@click.command()
@click.option("--owner", help=f"User or organisation on the Hub; default: {HUB_OWNER}.")
@click.option("--only", multiple=True, metavar="NAME", help="Push only this checkpoint or metric; may be repeated.")
@click.option("--folder", type=click.Path(path_type=Path), help="Push this checkpoint of a run, to --repo.")
@click.option("--repo", metavar="ORG/NAME", help="Repository on the Hub for --folder.")
@click.option("--tag", metavar="NAME", help="Also tag the commit, so that checkpoint@NAME loads it.")
@click.option("--private", is_flag=True, help="Make new repositories private.")
@click.option("--push/--dry-run", "push", default=False, help="Upload; by default, only list the files.")
def main(
    owner: str | None,
    only: tuple[str, ...],
    folder: Path | None,
    repo: str | None,
    tag: str | None,
    private: bool,
    push: bool,
) -> None:
    """Push checkpoints and metrics to the Hub; without --push, list their files.

    Example: python training/push.py --owner my-team --only matcha --tag v0.1.0
    """
    if folder is not None or repo is not None:
        if folder is None or repo is None or owner or only:
            raise PushError("--folder, --repo: expected both of them, without --owner and --only")
        _push([(make_run_repo(folder, repo), repo)], tag, push, private)
        return
    owner = HUB_OWNER if owner is None else owner
    if not re.fullmatch(r"[\w-]+", owner):  # `evaluate` cannot import from an owner with a dot in the name
        raise PushError(f"--owner: expected a name of letters, digits, '-' and '_', got {owner!r}")
    with TemporaryDirectory() as folders:
        repos = [make_repo(*pair, owner, Path(folders)) for pair in select(only)]
        _push([(each, f"{owner}/{each.name}") for each in repos], tag, push, private)


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
        find_commit(api, MODEL, hub_id)
    except click.ClickException as error:
        parser.error(str(error))


def push_run(output: Path, hub_id: str | None) -> None:
    """Push the checkpoint of a run that has ended, from its first process; without a Hub id, do nothing."""
    from accelerate import PartialState  # of the extra `train`, which pushing alone does without

    if hub_id is None or not PartialState().is_main_process:
        return
    folder = output / "checkpoint"
    try:
        _push([(make_run_repo(folder, hub_id), hub_id)], None, push=True)
    except click.ClickException as error:
        again = f"python training/push.py --folder {folder} --repo {hub_id} --push"
        sys.exit(f"{error}\nThe checkpoint is in {folder}; this pushes it: {again}")


if __name__ == "__main__":
    main()
