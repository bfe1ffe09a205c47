"""Metrics by name, as the commands run them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import click

from semantic_metrics.cli.errors import Gate, InputError, as_input_error, did_you_mean, read_number
from semantic_metrics.cli.options import ANSWER_METRICS, SHARED, Decorator, TextColumns, group_options
from semantic_metrics.core import contract
from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.core.loading import load_scoring
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.core.threshold import Threshold, resolve

Place = Callable[[str, int], str]  # what a message calls a value, given its column and its index

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
Columns = Mapping[str, list[Any]]  # predictions, references and perhaps questions: n values each
CORRECT = "correct"  # column, and count, of the texts whose score reaches the threshold


def check_metric(name: str) -> None:
    """Refuse a name that is not a metric of texts."""
    known = contract.text_metrics()
    if name in known:
        return
    hint = did_you_mean(name, known)
    if name in contract.described_metrics():
        hint = f", which {contract.describe(name).no_text_scores}"
    elif name in contract.metric_folders():
        hint = f": {'; '.join(contract.missing_parts(name))}"
    raise InputError(f"--metric: expected one of {', '.join(known)}, got {name!r}{hint}")


@dataclass(frozen=True)
class MetricChoice:
    """A metric as the options of a command describe it, before it is loaded."""

    name: str  # name of the metric
    checkpoint: str | None = None  # a folder or a Hub id; None for the shipped checkpoint
    weights: str | None = None  # a file that `semantic-metrics fit` wrote; None for the checkpoint's own weights
    # lowest score of a correct text, as a number or as a file that `semantic-metrics fit` wrote; None for no decision
    threshold: str | None = None
    # fail_under, max_wrong: lowest mean, and most wrong texts, with which a command exits with code 0; None for any
    fail_under: str | None = None
    max_wrong: str | None = None
    correct_column: str = CORRECT  # name of the column of the decisions
    details: bool = False  # whether what the metric says of a row beside its score is a column too
    missing: str | None = None  # what becomes of rows without an answer; with "zero" an empty text must score 0

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `compute`, `signature` and `explain` that are not columns."""
        return {} if self.weights is None else {"weights": self.weights}

    @property
    def decides(self) -> bool:
        """Whether each text is called correct or not: by a threshold, by the metric, or to count the wrong ones."""
        asked = self.threshold is not None or self.max_wrong is not None
        return asked or contract.describe(self.name).decides

    @property
    def columns(self) -> dict[str, type]:
        """Names and types of the columns that commands add to a file: the scores, the words and the decisions."""
        description = contract.describe(self.name)
        decided = {self.correct_column: bool} if self.decides else {}
        details = description.details if self.details else {}
        named = {self._column(key): type for key, type in details.items()}
        return description.added_columns(self.name) | decided | named

    @property
    def remarks(self) -> list[str]:
        """Names of those columns that say something in a sentence."""
        details = contract.describe(self.name).details if self.details else {}
        return [self._column(key) for key, type in details.items() if type is str]

    def _column(self, key: str) -> str:
        return f"{self.name}_{key.rpartition('.')[2].removesuffix('s')}"

    @cached_property
    def gate(self) -> Gate:
        """The demands on the scores."""
        description = contract.describe(self.name)
        if self.max_wrong is not None and self.threshold is None and description.correct_above is None:
            raise InputError(f"--max-wrong: expected --threshold, as {self.name} does not say what is correct")
        fail_under = read_number("--fail-under", self.fail_under, *description.score_range)
        return Gate(fail_under, read_number("--max-wrong", self.max_wrong, 0))

    @cached_property
    def fitted_threshold(self) -> float | Threshold | None:
        """The threshold as a number, or as what a file of `semantic-metrics fit` holds."""
        if self.threshold is None:
            return None
        given: float | str = self.threshold
        with suppress(ValueError):  # it is the name of a file
            given = float(given)
        with as_input_error(ValueError, prefix="--"):
            line = resolve(given)
        if isinstance(line, Threshold) and line.metric != self.name:
            raise InputError(f"--threshold: expected a file fitted for {self.name}, got one for {line.metric}")
        return line


@dataclass(frozen=True)
class MetricOptions:
    """Metrics that score a file, and what belongs to each (see `MetricChoice`): options that `metric_options` declares.

    A value belongs to the only metric, or as NAME=VALUE to one of several; a bare file of weights to the only metric
    that takes weights.
    """

    metrics: tuple[str, ...]
    configs: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    fail_under: tuple[str, ...] = ()
    max_wrong: tuple[str, ...] = ()

    @classmethod
    def of_one(cls, metric: str, config: str | None, weights: str | None) -> MetricChoice:
        """The one metric of a command that takes no more."""
        (choice,) = cls((metric,), *(() if value is None else (value,) for value in (config, weights))).choices()
        return choice

    def choose(self, texts: TextColumns, details: bool = False) -> list[MetricChoice]:
        """The `choices` for texts of these columns, after a check that a metric that takes questions has them."""
        choices = self.choices(details)
        check_questions("--questions", "a column", texts.questions is not None, self.metrics)
        return [replace(choice, missing=texts.missing) for choice in choices]

    def choices(self, details: bool = False) -> list[MetricChoice]:
        """The metrics, checked as far as can be before a model is loaded."""
        names = self.metrics
        for name in names:
            check_metric(name)
        if len(set(names)) < len(names):
            raise InputError(f"--metric: expected each metric once, got {', '.join(names)}")
        weighted = [name for name in names if contract.describe(name).takes_weights]
        if self.weights and not weighted:
            known = ", ".join(name for name in contract.text_metrics() if contract.describe(name).takes_weights)
            raise InputError(f"--weights: only {known} take them, got --metric {', '.join(names)}")
        checkpoints = _for_each_metric("--config", "checkpoint", names, self.configs)
        files = _for_each_metric("--weights", "file", weighted, self.weights)
        lines = _for_each_metric("--threshold", "number or file", names, self.thresholds)
        means = _for_each_metric("--fail-under", "number", names, self.fail_under)
        wrong = _for_each_metric("--max-wrong", "number", names, self.max_wrong)
        if details and not any(contract.describe(name).details for name in names):
            known = ", ".join(name for name in contract.text_metrics() if contract.describe(name).details)
            raise InputError(f"--details: only {known} have them, got --metric {', '.join(names)}")
        choices = []
        for name in names:
            given = checkpoints[name], files.get(name), lines[name], means[name], wrong[name]
            column = CORRECT if len(names) == 1 and lines[name] is not None else f"{name}_{CORRECT}"
            choices.append(MetricChoice(name, *given, column, details))
            _ = choices[-1].fitted_threshold, choices[-1].gate  # read before a model is loaded
        return choices


def metric_options(gate: bool = False, **metric: Any) -> Decorator:
    """The options of `MetricOptions`, --metric with settings of its own, which a command gets as `metrics`."""
    names = ["--metric", "--config", "--weights", "--threshold", *(["--fail-under", "--max-wrong"] if gate else [])]
    options = {name: SHARED[name] for name in names}
    return group_options("metrics", MetricOptions, {**options, "--metric": {**SHARED["--metric"], **metric}})


def _for_each_metric(option: str, kind: str, names: Collection[str], values: tuple[str, ...]) -> dict[str, str | None]:
    """The value of each metric, by name: VALUE for the only metric, or NAME=VALUE for some of several."""
    chosen: dict[str, str | None] = dict.fromkeys(names)
    for given in values:
        name, equals, value = given.partition("=")
        if not given or (equals and name in chosen and not value):
            raise InputError(f"{option}: expected a {kind}, got {given!r}")
        if not equals or name not in chosen:
            if len(chosen) > 1:
                pattern = " or ".join(f"NAME={value.upper()}" for value in kind.split(" or "))
                raise InputError(f"{option}: expected {pattern}, NAME one of {', '.join(names)}, got {given!r}")
            if equals and name in contract.text_metrics():
                raise InputError(f"{option}: expected one of the metrics {', '.join(names)}, got {given!r}")
            (name,), value = names, given
        if (first := chosen[name]) is not None:
            raise InputError(f"{option}: expected one {kind} for {name}, got {first!r} and {value!r}")
        chosen[name] = value
    return chosen


def check_questions(option: str, kind: str, given: bool, names: Collection[str]) -> None:
    """Check that `option`, such as `--questions`, is given if, and only if, one of the metrics takes questions."""
    takes = not set(names).isdisjoint(ANSWER_METRICS)
    if given and not takes:
        raise InputError(f"{option}: only {', '.join(ANSWER_METRICS)} takes it, got --metric {', '.join(names)}")
    if takes and not given:
        raise InputError(f"{option}: expected {kind}, for {', '.join(ANSWER_METRICS)}")


def table_row(column: str, index: int) -> str:
    """A value of a table, for messages."""
    return f"row {index + 1}, {column}"


class LoadedMetric:
    """A metric with its checkpoint, loaded once; it scores rows chunk by chunk, the same as all at once.

    `run`, as `model_options` gives it, has no effect on a metric that runs no model, which says so.

    Attributes:
        name: name of the metric.
        runs_model: whether it runs a model, and not a table.
        signature: every setting that can change a score.
        threshold: lowest score of a correct text, which is given or, where the metric decides or wrong texts are
            counted, its own; None for no decision.
        line: the same, or the metric's own line where it decides nothing by it.
        given: the threshold that was given; None for none.
        gate: what the scores must reach.
        rows: number of rows that were scored.
        total: sum of their scores, or of what else the metric takes the mean of.
        counts: sums of what the metric counts, and of the correct texts where a line says what is correct.
        columns: names and types of the columns that its scores, its words and its decisions are written to.
        remarks: names of those that say something in a sentence.
        best_reference: of the rows that were scored last, index of the reference that counts, None where a row
            has no score; None if each row has one reference.
    """

    def __init__(self, choice: MetricChoice, command: str = "score", run: Mapping[str, Any] = NO_OPTIONS) -> None:
        self.name, self._description, self._options = choice.name, contract.describe(choice.name), choice.options
        self._missing = choice.missing
        self.rows, self.total = 0, 0.0
        self.columns, self.remarks, self.gate = choice.columns, choice.remarks, choice.gate
        self.best_reference: list[int | None] | None = None
        self.counts: Counter[str] = Counter()
        with as_input_error(ValueError):
            self._metric = load_scoring(self.name, choice.checkpoint, command)
            self.runs_model: bool = getattr(self._metric, "runs_model", True)
            self._options = {**choice.options, **self._checked_run(run)}
            self.signature: str = self._metric.signature(**self._options)
        fitted = choice.fitted_threshold
        given = fitted if fitted is None or isinstance(fitted, float) else self._checked(fitted)
        self.line = self._description.lowest_correct if given is None else given
        self.threshold = self.line if choice.decides else None
        self.given = given
        if given is not None and self._description.decides:
            self._options["threshold"] = given  # its mean is the share of correct texts
        self._details = self._description.details if choice.details else {}

    def _checked_run(self, run: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.runs_model:
            RunOptions(**run)  # a mistake is one here too
            if run:
                options = ", ".join(f"--{name.replace('_', '-')}" for name in run)
                verb = "has" if len(run) == 1 else "have"
                click.echo(f"{self.name}: a table runs no model, {options} {verb} no effect", err=True)
            return {}
        contract.check_option_names(self.name, self._metric, run)
        return run

    def _checked(self, fitted: Threshold) -> float:
        with as_input_error(ValueError, prefix="--"):
            fitted.check_signature(self.signature)
        return fitted.value

    @property
    def mean(self) -> float:
        """Mean of all rows so far."""
        return self.total / self.rows

    def score(self, columns: Columns, place: Place = table_row) -> dict[str, list[Any]]:
        """The scores of rows, their words and decisions, by `columns`; columns that the metric lacks are left out.

        Args:
            columns: n values of each column.
            place: what a message calls a value, given its column and its index.
        """
        names = self._description.columns
        with as_input_error(ValueError):
            try:
                result = self._metric.compute(**{name: columns[name] for name in names}, **self._options)
            except InvalidInput as error:
                if error.index is None or error.argument not in names:
                    raise
                raise InputError(f"{place(error.argument, error.index)}: {self.name}: {error.reason}") from None
        said = zip(columns["predictions"], result["scores"], strict=True)
        if self._missing == "zero" and any(score for text, score in said if not text):
            raise InputError(f"--missing: expected skip, as {self.name} has a score for an empty text")
        return self._add(result)

    def _add(self, result: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Add a result of the next rows to the sums; returns its columns."""
        scores = result["scores"]
        self.signature, self.best_reference = result["signature"], result.get("best_reference")
        self.rows += len(scores)
        self.total += result[self.name] * len(scores)
        self.counts.update({name: result[name] for name in self._description.counts if name in result})
        values = [scores] if self._description.words is None else [scores, result[self._description.words]]
        if self.line is not None:
            correct = [value >= self.line for value in scores]
            self.counts[CORRECT] += sum(correct)
            values += [correct] if self.threshold is not None else []
        for key in self._details:
            group, _, name = key.rpartition(".")
            values.append(result[group][name] if group else result[key])
        return dict(zip(self.columns, values, strict=True))

    def explain(self, texts: dict[str, str]) -> Mapping[str, Any]:
        """Contributions of the tokens of one pair; a text that the metric does not take is left out."""
        taken = {name.removesuffix("s") for name in self._description.columns}
        given = {name: text for name, text in texts.items() if name in taken}
        known = contract.argument_names(self._metric.explain)
        options = {name: value for name, value in self._options.items() if name in known}
        return self._metric.explain(**given, **options)

    def feature_reasons(self, texts: dict[str, str]) -> dict[str, float]:
        """Contribution of each feature for one pair (see the metric's description); empty for a metric without."""
        if self._description.feature_reasons is None:
            return {}
        columns = {name: [texts[name.removesuffix("s")]] for name in self._description.columns}
        return self._metric.compute(**columns, **self._options, output="reasons")["reasons"][0]

    def counted(self) -> dict[str, int]:
        """Counts of the metric, in the order of its description."""
        return {name: self.counts[name] for name in self._description.counts if name in self.counts}

    def summary(self) -> str:
        """The mean and the counts: the first always, the others where they are above 0."""
        counts = [f"{name} {count}" for i, (name, count) in enumerate(self.counted().items()) if count or i == 0]
        decided = [] if self.given is None else [share_correct(self.counts[CORRECT], self.rows, self.given)]
        if decided and (self._description.words or self._description.decides):
            decided.append("the threshold decides, not the metric's own verdict")
        return ", ".join([f"{self._description.mean_label} {self.mean:.4f}", *decided, *counts])

    def failures(self) -> list[str]:
        """Failures at the gate, a line each."""
        return self.gate.failures(self.name, self.mean, self.wrong, self.line)

    @property
    def wrong(self) -> int | None:
        """Number of texts that are not correct; None if nothing says what is."""
        return None if self.line is None else self.rows - self.counts[CORRECT]

    def to_json(self) -> dict[str, Any]:
        """The summary, for machines."""
        decided = {} if self.line is None else {"threshold": self.line, "wrong": self.wrong}
        return {"mean": self.mean, **decided, **self.counted(), "signature": self.signature}


def share_correct(correct: int, rows: int, threshold: float) -> str:
    """How many texts reach a threshold, for people."""
    return f"{correct} correct ({correct / rows:.1%}: {threshold:.4f} or more)"


@dataclass(frozen=True)
class ScoredRows:
    """The scores of n rows."""

    scores: list[float]  # n scores
    signature: str  # signature of the metric
    remarks: str  # number of distinct rows that were scored, and what the metric counted in them
    threshold: float | None = None  # lowest score of a correct text; None for no decision
    line: float | None = None  # the same, or the metric's own line where it decides nothing by it

    def decide(self, scores: Iterable[float]) -> list[bool]:
        """Which of some scores reach the threshold."""
        assert self.threshold is not None, "it is asked where there is one"
        return [score >= self.threshold for score in scores]


def score_rows(
    choice: MetricChoice, columns: Columns, command: str, run: Mapping[str, Any] = NO_OPTIONS, place: Place = table_row
) -> ScoredRows:
    """Score rows, each distinct one once: equal rows get equal scores to the last bit, whatever the other rows are.

    `choice`, `command` and `run` are those of `LoadedMetric`, `columns` and `place` those of its method `score`.
    """
    taken = {column: columns[column] for column in contract.describe(choice.name).columns}
    rows = list(zip(*taken.values(), strict=True))
    keys = list(map(repr, rows))  # lists of references cannot be keys
    firsts: dict[str, int] = {}  # of each distinct row
    for row, key in enumerate(keys):
        firsts.setdefault(key, row)
    places, read = {key: i for i, key in enumerate(firsts)}, list(firsts.values())
    distinct = {name: [values[row] for row in read] for name, values in taken.items()}
    metric = LoadedMetric(choice, command, run)
    scores = metric.score(distinct, lambda column, i: place(column, read[i]))[choice.name]
    counts = ", ".join(f"{kind} {count}" for kind, count in metric.counted().items())
    remarks = f"{len(places)} distinct pairs scored: {counts}"
    return ScoredRows([scores[places[key]] for key in keys], metric.signature, remarks, metric.threshold, metric.line)
