"""Push the checkpoints (model_cards/) and the metrics as Spaces (metrics/) to the Hub.

    python training/push.py --owner NAME                       # says what would change, uploads nothing
    HF_TOKEN=... python training/push.py --owner NAME --push

One commit for each repository, with only the files that differ; where none does, nothing is uploaded. The token is read
from HF_TOKEN alone and printed nowhere.
"""

import os
import re
import sys
from pathlib import Path

import click
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, constants

from semantic_metrics.core.resolve import HUB_OWNER

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from training.push_plan import (
    CHANGED,
    MAIN,
    NEW,
    SAME,
    STRAY,
    TOKEN,
    InputError,
    Plan,
    Repo,
    check_card,
    make_plan,
    repositories,
    speaking_of,
)

KINDS = ("model", "space")
OWNER_VARIABLE = "SEMANTIC_METRICS_HUB_OWNER"  # tells a Space under whose name its checkpoint lies (see locate.py)


def select(repos: list[Repo], kind: str | None, only: tuple[str, ...]) -> list[Repo]:
    """Those that were asked for.

    Raises:
        InputError: a name that none has; lists those there are.
    """
    of_kind = [repo for repo in repos if kind in (None, repo.kind)]
    known = sorted({repo.folder.name for repo in of_kind})
    for name in only:
        if name not in known:
            raise InputError(f"--only: expected one of {', '.join(known)}, got {name!r}")
    return [repo for repo in of_kind if not only or repo.folder.name in only]


def upload(api: HfApi, plan: Plan, branch: str, tag: str | None, private: bool, delete: bool) -> str:
    """Make the Hub as planned, with one commit at most; returns the branch's commit.

    Raises:
        HubError: the Hub is away, refused, or somebody else pushed since the plan was made.
    """
    where = {"repo_id": plan.hub_id, "repo_type": plan.repo.kind}
    files, commit = plan.repo.files(), plan.commit
    changes = [CommitOperationAdd(path, str(files[path])) for path in plan.paths(NEW, CHANGED)]
    changes += [CommitOperationDelete(path) for path in plan.paths(STRAY) if delete]
    with speaking_of(api, plan.hub_id):
        if not plan.exists:
            owner = [{"key": OWNER_VARIABLE, "value": plan.hub_id.partition("/")[0]}]
            space = {"space_sdk": "gradio", "space_variables": owner} if plan.repo.kind == "space" else {}
            api.create_repo(**where, private=private or None, **space)
        if not plan.branch_exists:
            api.create_branch(**where, branch=branch, revision=commit)
        if changes:
            message = f"{plan.repo.folder.name}: {len(changes)} files"
            made = api.create_commit(
                **where, operations=changes, commit_message=message, revision=branch, parent_commit=commit
            )
            commit = made.oid
        if tag is not None and not plan.tagged:
            api.create_tag(**where, tag=tag, revision=commit)
    return commit


def read_token(needed: bool) -> str | None:
    """The token of the environment.

    Raises:
        InputError: it is needed and not there, or cannot be one; never repeats it.
    """
    token = os.environ.get(TOKEN, "").strip()
    if not token and needed:
        raise InputError(f"{TOKEN}: expected a token that may write, in the environment; got none")
    if not re.fullmatch(r"[!-~]*", token):
        raise InputError(f"{TOKEN}: expected a token, got something with white space or other odd characters")
    return token or None


def _show(plans: list[Plan], delete: bool) -> None:
    for plan in plans:
        where = f"at {plan.commit[:7]}" if plan.exists else "not on the Hub, or hidden from this token"
        click.echo(f"{plan.hub_id} ({plan.repo.kind}): {where}")
        for path, (state, size) in plan.states.items():
            note = "" if state != STRAY else "  deleted" if delete else "  kept; --delete"
            click.echo(f"  {state:<10} {size:>12,}  {path}{note}")
    sizes = [plan.states[path][1] for plan in plans for path in plan.paths(NEW, CHANGED)]
    same, stray = (sum(len(plan.paths(state)) for plan in plans) for state in (SAME, STRAY))
    click.echo(
        f"{len(plans)} repositories: {len(sizes)} files to upload ({sum(sizes):,} bytes), "
        f"{stray if delete else 0} to delete, {same} the same"
    )


@click.command()
@click.option("--owner", default=HUB_OWNER, show_default=True, help="User or organisation on the Hub.")
@click.option("--kind", type=click.Choice(KINDS), help="Checkpoints or Spaces alone.")
@click.option("--only", multiple=True, metavar="NAME", help="This one alone; may be repeated.")
@click.option("--branch", default=MAIN, show_default=True, help="Made from main where there is none.")
@click.option("--tag", metavar="NAME", help="Names the commit too, as for checkpoint@NAME.")
@click.option("--private", is_flag=True, help="Make new repositories private.")
@click.option("--delete", is_flag=True, help="Delete what only the Hub has.")
@click.option("--push/--dry-run", "push", default=False, help="Upload; by default only what would change is listed.")
def main(
    owner: str,
    kind: str | None,
    only: tuple[str, ...],
    branch: str,
    tag: str | None,
    private: bool,
    delete: bool,
    push: bool,
) -> None:
    """Push checkpoints and metrics to the Hub; without --push, list what that would change.

    Example: python training/push.py --owner my-team --only matcha --tag v0.1.0
    """
    if not re.fullmatch(r"[\w.-]+", owner):
        raise InputError(f"--owner: expected a name of letters, digits, '-', '_' and '.', got {owner!r}")
    api = HfApi(token=read_token(push) or False, endpoint=constants.ENDPOINT)
    repos = select(repositories(), kind, only)
    for repo in repos:
        check_card(repo)
    plans = [make_plan(api, repo, f"{owner}/{repo.folder.name}", branch, tag, private) for repo in repos]
    _show(plans, delete)
    for plan in plans if push else ():
        commit = upload(api, plan, branch, tag, private, delete)
        done = "unchanged, at" if commit == plan.commit else "pushed,"
        click.echo(f"{plan.hub_id} ({plan.repo.kind}): {done} {commit}")
    if not push:
        click.echo("Nothing was uploaded; --push does it.")
    if owner != HUB_OWNER:
        click.echo(f"Outside the package, these are found by default where {OWNER_VARIABLE}={owner} is set.")


if __name__ == "__main__":
    main()
