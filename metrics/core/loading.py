"""Load a metric by its name: for `evaluate`, or to score texts without it."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from semantic_metrics.core import contract
from semantic_metrics.core.inputs import References, describe_value, invalid_input
from semantic_metrics.core.text_scoring import check_checkpoint_name

if TYPE_CHECKING:
    import evaluate

FolderState = tuple[tuple[str, int, int], ...]  # name, size and time of each file

MAX_METRICS = 8  # loaded metrics that a process keeps; the one that was used least recently goes first


def load(name: str, checkpoint: str | None = None, **options: Any) -> "evaluate.EvaluationModule":
    """Load a metric from the installed package, in any folder and without a network.

    The result is what `evaluate.load` returns, but its class is the package's own, not a copy in evaluate's module
    cache: a pickled metric can be read wherever the package is installed.

    Args:
        name: one of `available()`.
        checkpoint: `config_name` of `evaluate.load`: None for the checkpoint shipped with the package, or another
            shipped one, a folder (written with a slash), or a Hub id.
        options: further arguments of `evaluate.load` (`keep_in_memory`, `num_process`, ...).

    Raises:
        ValueError: the package has no such metric (the message lists those it has), the metric's folder lacks a part
            (see `core.contract`), or the checkpoint is an empty string.

    Examples:
        >>> from semantic_metrics import load
        >>> load("matcha").compute(predictions=["It rains."], references=["It rains."])["matcha"]
        1.0
    """
    contract.check_parts(name, "load")
    check_checkpoint_name(checkpoint)
    from evaluate.loading import files_to_hash  # takes seconds to import; `semantic-metrics --help` does without it

    download_config = options.pop("download_config", None)
    script = contract.metric_folders()[name] / f"{name}.py"
    kind = contract.metric_class(name)
    assert kind is not None, "check_parts has found it"
    metric = kind(config_name=checkpoint, hash=files_to_hash([str(script)]), **options)
    metric.download_and_prepare(download_config=download_config)
    return metric


def load_scoring(name: str, checkpoint: str | None = None, command: str = "score") -> contract.TextMetric:
    """Load a metric that scores texts, for a command, without `evaluate` where the metric can do without."""
    contract.check_parts(name, command)
    check_checkpoint_name(checkpoint)
    plain = contract.scoring_class(name)
    scoring = load(name, checkpoint, keep_in_memory=True) if plain is None else plain.from_checkpoint(checkpoint)
    return cast(contract.TextMetric, scoring)


def loaded_scoring(name: str, checkpoint: str | None) -> contract.TextMetric:
    """Like `load_scoring`, but a metric that was loaded before, in this process, is used again.

    It is loaded anew if a file of the checkpoint's folder has changed since.
    """
    return _loaded_scoring(name, checkpoint, _folder_state(checkpoint))


@lru_cache(maxsize=MAX_METRICS)
def _loaded_scoring(name: str, checkpoint: str | None, state: FolderState) -> contract.TextMetric:
    return load_scoring(name, checkpoint)


def _folder_state(checkpoint: str | None) -> FolderState:
    """The files in the folders that a checkpoint names; none for a shipped one or a Hub id."""
    state = []
    # consensus takes two of them with a "+" between; a name with a slash and a NUL is no folder
    for part in () if checkpoint is None or "/" not in checkpoint else (checkpoint, *checkpoint.rpartition("+")[::2]):
        with suppress(OSError, ValueError), os.scandir(os.path.expanduser(part)) as files:
            for file in files:
                details = file.stat()
                state.append((file.path, details.st_size, details.st_mtime_ns))
    return tuple(sorted(state))


def score(
    name: str,
    predictions: list[str] | str,
    references: References | str,
    *,
    questions: list[str] | str | None = None,
    checkpoint: str | None = None,
    **options: Any,
) -> Mapping[str, Any]:
    """Score texts: what `load(name, checkpoint).compute(...)` returns, in a fraction of its start-up time.

    `evaluate` is not imported, and for "matcha" with its shipped table neither is torch. The metric stays loaded for
    the next call with the same name and checkpoint, until a file of the checkpoint's folder changes.

    Args:
        name: "consensus", "matcha", "nli_lex", "stsscore" or "support".
        predictions: n texts to judge, or one text as a string; then all columns are strings.
        references: n texts to compare with, or n lists of texts (several references each).
        questions: n questions, which "nli_lex" needs and the others do not take.
        checkpoint: None for the checkpoint shipped with the package, or another shipped one, a folder (written with a
            slash), or a Hub id.
        options: options of the metric's `compute` (`multi_reference`, `precision`, `progress=False` for no bar, ...).

    Returns:
        The mean under the metric's name, `scores` (n floats, higher is better), `signature`, and what else the metric
        returns; its docstring, `help(load(name).compute)`, describes each. The same, with n = 1, for one text.

    Raises:
        ValueError: there is no such metric or checkpoint, or a text or an option is invalid; names the argument.

    Examples:
        >>> from semantic_metrics import score
        >>> score("matcha", ["It rains."], ["It rains."])["scores"]
        [1.0]
        >>> score("matcha", "It rains.", "It rains.")["matcha"]
        1.0
    """
    contract.check_parts(name, "score")
    check_checkpoint_name(checkpoint)
    columns: dict[str, Any] = {"predictions": predictions, "references": references}
    if contract.describe(name).takes_questions:
        columns["questions"] = questions
    elif questions is not None:
        raise invalid_input(
            "questions", f"expected None, as {name} takes no questions, got {describe_value(questions)}"
        )
    given = {argument: column for argument, column in columns.items() if column is not None}
    if all(isinstance(column, str) for column in given.values()):  # with a list among them, a string is a mistake
        columns |= {argument: [text] for argument, text in given.items()}
    metric = loaded_scoring(name, checkpoint)
    contract.check_option_names(name, metric, options)
    return metric.compute(**columns, **options)
