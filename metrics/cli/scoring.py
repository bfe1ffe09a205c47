"""Metrics by name, as the commands run them."""

import difflib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import ANSWER_METRICS
from semantic_metrics.core.contract import (
    check_parts,
    describe,
    described_metrics,
    metric_folders,
    missing_parts,
    text_metrics,
)

Columns = dict[str, list | None]  # predictions, references and perhaps questions: n values each


def check_metric(name: str) -> None:
    """Refuse a name that is not a metric of texts.

    Raises:
        InputError: there is no such metric; lists those there are, and suggests the nearest or says what is missing.
    """
    known = text_metrics()
    if name in known:
        return
    matches = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"; did you mean {matches[0]!r}?" if matches else ""
    if name in described_metrics():
        hint = f", which {describe(name).no_text_scores}"
    elif name in metric_folders():
        hint = f": {'; '.join(missing_parts(name))}"
    raise InputError(f"--metric: expected one of {', '.join(known)}, got {name!r}{hint}")


def choose_checkpoints(names: tuple[str, ...], configs: tuple[str, ...]) -> dict[str, str | None]:
    """The checkpoint of each metric, by name; None for the shipped one.

    Args:
        names: metrics.
        configs: CHECKPOINT for one metric, or NAME=CHECKPOINT for some of several.

    Raises:
        InputError: a metric is unknown or named twice, or a checkpoint belongs to none of them.
    """
    for name in names:
        check_metric(name)
    if len(set(names)) < len(names):
        raise InputError(f"--metric: expected each metric once, got {', '.join(names)}")
    checkpoints: dict[str, str | None] = dict.fromkeys(names)
    for config in configs:
        name, equals, checkpoint = config.partition("=")
        if not config or (equals and name in checkpoints and not checkpoint):
            raise InputError(f"--config: expected a checkpoint, got {config!r}")
        if not equals or name not in checkpoints:
            if len(names) > 1:
                raise InputError(f"--config: expected NAME=CHECKPOINT, NAME one of {', '.join(names)}, got {config!r}")
            name, checkpoint = names[0], config
        if (first := checkpoints[name]) is not None:
            raise InputError(f"--config: expected one checkpoint for {name}, got {first!r} and {checkpoint!r}")
        checkpoints[name] = checkpoint
    return checkpoints


def check_questions(option: str, kind: str, given: bool, names: Collection[str]) -> None:
    """Check that `option`, such as `--questions`, is given if, and only if, one of the metrics takes questions.

    Raises:
        InputError: it is missing (it expects `kind`, such as "a column"), or no metric takes it.
    """
    takes = not set(names).isdisjoint(ANSWER_METRICS)
    if given and not takes:
        raise InputError(f"{option}: only {', '.join(ANSWER_METRICS)} takes it")
    if takes and not given:
        raise InputError(f"{option}: expected {kind}, for {', '.join(ANSWER_METRICS)}")


class LoadedMetric:
    """A metric with its checkpoint, loaded once; it scores rows chunk by chunk, the same as all at once.

    Args:
        name: name of the metric.
        checkpoint: a folder or a Hub id; None for the shipped checkpoint.
        command: command that needs the metric.

    Attributes:
        name: name of the metric.
        signature: every setting that can change a score.
        rows: number of rows that were scored.
        total: sum of their scores, or of what else the metric takes the mean of.
        counts: sums of what the metric counts.

    Raises:
        InputError: the metric lacks a part that the command needs, or the checkpoint cannot be used.
    """

    def __init__(self, name: str, checkpoint: str | None = None, command: str = "score") -> None:
        from semantic_metrics import load

        self.name, self._description = name, describe(name)
        self.rows, self.total = 0, 0.0
        self.counts: Counter[str] = Counter()
        with as_input_error(ValueError):
            check_parts(name, command)
            self._metric = load(name, checkpoint, keep_in_memory=True)
            self.signature: str = self._metric.signature()

    @property
    def mean(self) -> float:
        """Mean of all rows so far."""
        return self.total / self.rows

    def score(self, columns: Columns) -> list[float]:
        """The scores of rows; a column that the metric does not take is left out.

        Raises:
            InputError: a value is invalid; an `InvalidInput` is its cause if one text is to blame.
        """
        with as_input_error(ValueError):
            result = self._metric.compute(**{name: columns[name] for name in self._description.columns})
        scores = result["scores"]
        self.signature = result["signature"]
        self.rows += len(scores)
        self.total += result[self.name] * len(scores)
        self.counts.update({name: result[name] for name in self._description.counts if name in result})
        return scores

    def explain(self, texts: dict[str, str], method: str | None = None) -> dict:
        """Contributions of the tokens of one pair; a text that the metric does not take is left out.

        Raises:
            ValueError: a text or the method is invalid.
        """
        taken = {name.removesuffix("s") for name in self._description.columns}
        given = {name: text for name, text in texts.items() if name in taken}
        return self._metric.explain(**given, **({} if method is None else {"method": method}))

    def counted(self) -> dict[str, int]:
        """What the metric counted, in the order of its description."""
        return {name: self.counts[name] for name in self._description.counts if name in self.counts}

    def summary(self) -> str:
        """The mean and the counts: the first always, the others where they are above 0."""
        counts = [f"{name} {count}" for i, (name, count) in enumerate(self.counted().items()) if count or i == 0]
        return ", ".join([f"{self._description.mean_label} {self.mean:.4f}", *counts])


@dataclass(frozen=True)
class ScoredRows:
    """The scores of n rows.

    Attributes:
        scores: n scores.
        signature: signature of the metric.
        remarks: number of distinct rows that were scored, and what the metric counted in them.
    """

    scores: list[float]
    signature: str
    remarks: str


def score_rows(name: str, checkpoint: str | None, columns: Columns, command: str) -> ScoredRows:
    """Score rows, each distinct one once: equal rows get equal scores to the last bit, whatever the other rows are.

    Args:
        name: name of the metric.
        checkpoint: a folder or a Hub id; None for the shipped one.
        columns: n values of each column.
        command: command that needs the metric.

    Raises:
        InputError: a value is invalid, or the checkpoint cannot be used.
    """
    taken = {column: columns[column] for column in describe(name).columns}
    rows = list(zip(*taken.values(), strict=True))
    keys = list(map(repr, rows))  # lists of references cannot be keys
    places = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    distinct = zip(*dict(zip(keys, rows, strict=True)).values(), strict=True)
    metric = LoadedMetric(name, checkpoint, command)
    scores = metric.score(dict(zip(taken, map(list, distinct), strict=True)))
    counts = ", ".join(f"{kind} {count}" for kind, count in metric.counted().items())
    remarks = f"{len(places)} distinct pairs scored: {counts}"
    return ScoredRows([scores[places[key]] for key in keys], metric.signature, remarks)
