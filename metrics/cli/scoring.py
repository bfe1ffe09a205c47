"""Metrics by name, as the commands run them."""

import difflib
from collections import Counter

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.core.inputs import InvalidInput

NOT_OF_TEXTS = {"set_criteria": "tests an encoder and gives texts no score"}
OF_QUESTIONS = ("nli_lex",)  # metrics that judge answers to questions
# what metrics count; the first that one has is always said
COUNTS = ("undefined", "blank", "windowed", "shortened", "truncated")


def known_metrics() -> list[str]:
    """The metrics that score texts."""
    from semantic_metrics import available

    return [metric for metric in available() if metric not in NOT_OF_TEXTS]


def check_metric(name: str) -> None:
    """Refuse a name that is no metric of texts.

    Raises:
        InputError: lists those there are, and says which is nearest.
    """
    known = known_metrics()
    if name in known:
        return
    near = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    hint = f", which {NOT_OF_TEXTS[name]}" if name in NOT_OF_TEXTS else hint
    raise InputError(f"--metric: expected one of {', '.join(known)}, got {name!r}{hint}")


def check_metrics(names: tuple[str, ...], configs: tuple[str, ...]) -> dict[str, str | None]:
    """The checkpoint of each metric, by name; None for the shipped one.

    Args:
        names: of metrics.
        configs: CHECKPOINT for one metric, NAME=CHECKPOINT for each of several that is to have one.

    Raises:
        InputError: an unknown metric, one that is named twice, or a checkpoint of none of them.
    """
    for name in names:
        check_metric(name)
    if len(set(names)) < len(names):
        raise InputError(f"--metric: expected each metric once, got {', '.join(names)}")
    found: dict[str, str | None] = dict.fromkeys(names)
    for config in configs:
        name, equals, checkpoint = config.partition("=")
        if not config or (equals and name in found and not checkpoint):
            raise InputError(f"--config: expected a checkpoint, got {config!r}")
        if not equals or name not in found:
            if len(names) > 1:
                raise InputError(f"--config: expected NAME=CHECKPOINT, NAME one of {', '.join(names)}, got {config!r}")
            name, checkpoint = names[0], config
        if found[name] is not None:
            raise InputError(f"--config: expected one checkpoint for {name}, got {found[name]!r} and {checkpoint!r}")
        found[name] = checkpoint
    return found


def check_run(names: tuple[str, ...], configs: tuple[str, ...], questions: str | None) -> dict[str, str | None]:
    """As `check_metrics`, and sees that a column of questions is named where, and only where, a metric takes them.

    Raises:
        InputError: as `check_metrics`, or questions are missing or not asked for.
    """
    found = check_metrics(names, configs)
    if any(name in OF_QUESTIONS for name in names) != (questions is not None):
        needed = "a column, for nli_lex" if questions is None else "it with nli_lex alone, which answers questions"
        raise InputError(f"--questions: expected {needed}")
    return found


class RefusedText(InputError):
    """A metric refused one of its texts.

    Attributes:
        column: predictions, references or questions.
        index: of the text in it.
    """

    def __init__(self, message: str, column: str, index: int) -> None:
        super().__init__(message)
        self.column, self.index = column, index


class Running:
    """A metric that is loaded once and scores rows chunk by chunk, the same as all at once.

    Args:
        metric: its name.
        config: a folder or a Hub id; None for the shipped checkpoint.

    Attributes:
        signature: every setting that can change a score.
        rows: how many were scored.
        total: sum of what the metric takes the mean of.
        counts: sums of what it counts, of COUNTS.

    Raises:
        InputError: the metric refused its checkpoint.
    """

    def __init__(self, metric: str, config: str | None = None) -> None:
        from semantic_metrics import load

        self.name, self.rows, self.total = metric, 0, 0.0
        self.counts: Counter[str] = Counter()
        with as_input_error(ValueError):
            self._metric = load(metric, config, keep_in_memory=True)
            self.signature: str = self._metric.signature()

    @property
    def mean(self) -> float:
        """Of all rows so far."""
        return self.total / self.rows

    def score(self, texts: dict[str, list]) -> list[float]:
        """The scores of a chunk of rows: `predictions` and `references`, and `questions` for who takes them.

        Raises:
            InputError: the metric refused its input.
        """
        if self.name not in OF_QUESTIONS:
            texts = {name: column for name, column in texts.items() if name != "questions"}
        with as_input_error(ValueError):
            try:
                result = self._metric.compute(**texts)
            except InvalidInput as error:
                if error.index is None:
                    raise
                raise RefusedText(f"{self.name}: {error.reason}", error.argument, error.index) from None
        scores = result["scores"]
        self.signature = result["signature"]
        self.rows += len(scores)
        self.total += result[self.name] * len(scores)
        self.counts.update({name: result[name] for name in COUNTS if name in result})
        return scores

    def summary(self) -> str:
        """The mean and the counts; of those the first always, the others where there are any."""
        first = next(name for name in COUNTS if name in self.counts)
        told = [f"{name} {self.counts[name]}" for name in COUNTS if name == first or self.counts[name]]
        what = "share correct" if self.name in OF_QUESTIONS else "mean"
        return ", ".join([f"{what} {self.mean:.4f}", *told])


def run_metric(metric: str, config: str | None, texts: dict[str, list]) -> dict:
    """What a metric's `compute` gives for columns of texts.

    Args:
        metric: its name.
        config: a folder or a Hub id; None for the shipped checkpoint.
        texts: `predictions` and `references`, and `questions` for a metric that takes them.

    Raises:
        InputError: the metric refused its input or its checkpoint.
    """
    from semantic_metrics import load

    with as_input_error(ValueError):
        return load(metric, config, keep_in_memory=True).compute(**texts)
