"""A pytest plugin: tests that assert what a text says, offline and the same every time.

    def test_answer(assert_means):
        assert_means(answer("Is the museum open?"), "The museum is closed on Mondays.", threshold=0.5)

    def test_summary(assert_supported):
        assert_supported(summarise(article), article)

pytest finds it by the entry point group `pytest11`. It imports nothing that takes long until a test asks for a score,
and each process of pytest-xdist loads a model once. `--semantic-report FILE` writes the score of every assertion.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from semantic_metrics.integrations import DEFAULT_METRIC

if TYPE_CHECKING:
    from semantic_metrics.integrations.micro_batcher import MicroBatcher

PROPERTY = "semantic_metrics"  # name of the user property that carries rows from the processes of pytest-xdist
EVEN = 0.5  # a support that stands for even odds
Assertion = Callable[..., float]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --semantic-report."""
    group = parser.getgroup("semantic-metrics")
    group.addoption(
        "--semantic-report", metavar="FILE", help="Write the scores of all assertions to FILE as JSON lines."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect rows in the one process that reports; the others send them along with their tests' reports."""
    path = config.getoption("--semantic-report")
    if path is not None and not hasattr(config, "workerinput"):
        folder = Path(path).resolve().parent
        if not folder.is_dir() or Path(path).is_dir():
            raise pytest.UsageError(f"--semantic-report: expected a file in a folder that exists, got {path}")
        config.pluginmanager.register(_Report(Path(path).resolve()), "semantic-metrics-report")


class _Report:
    """Rows of all processes, written when the session ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the rows of a test once: of the phase in which a test's body, or its teardown, made them."""
        for name, rows in report.user_properties:
            if name == PROPERTY and report.when == "teardown":
                self.rows += [{"test": report.nodeid, **row} for row in rows]

    def pytest_sessionfinish(self) -> None:
        """Write the file, sorted by test: the same in any number of processes."""
        rows = sorted(self.rows, key=lambda row: row["test"])
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        self.path.write_text(text, encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where the scores are."""
        failed = sum(not row["passed"] for row in self.rows)
        line = f"{len(self.rows)} semantic assertions, {failed} failed, written to {self.path}"
        terminalreporter.write_line(line)


@pytest.fixture
def assert_means(request: pytest.FixtureRequest) -> Assertion:
    """Assert that a text says what a reference says: `assert_means(text, reference, threshold=0.5)`.

    `metric` is "consensus" unless a test names another one. `reference` may be a list of references, the best of which
    counts. `question` is for metrics that take one; a ValueError says so without it. `checkpoint` is as
    `semantic_metrics.load` takes it, and further arguments are options of the metric's `compute`. `threshold` is the
    lowest score that passes, or a file of `semantic-metrics fit`; a metric that itself says what is correct needs none.
    The score is returned; a failure says which words lower it.
    """
    rows: list[dict[str, Any]] = []
    request.node.user_properties.append((PROPERTY, rows))

    def check(
        text: str,
        reference: str | list[str],
        threshold: float | str | Path | None = None,
        metric: str = DEFAULT_METRIC,
        *,
        question: str | None = None,
        checkpoint: str | None = None,
        **options: Any,
    ) -> float:
        __tracebackhide__ = True  # the failure is shown where the test calls
        # imports of seconds, which a session without such an assertion does without
        from semantic_metrics.core.contract import describe
        from semantic_metrics.integrations.micro_batcher import shared_batcher
        from semantic_metrics.integrations.verdicts import resolve_threshold

        if question is None and describe(metric).takes_questions:
            raise ValueError(f"question: expected what was asked, as {metric} judges answers, got None")
        batcher = shared_batcher(metric, checkpoint, **options)
        lowest = resolve_threshold(metric, batcher.metric, threshold, **options)
        row, failure = _judge(batcher, lowest, text, reference, question)
        rows.append(row)
        if failure is not None:
            raise AssertionError(failure)
        return row["score"]

    return check


@pytest.fixture
def assert_supported(request: pytest.FixtureRequest) -> Assertion:
    """Assert that a source says each sentence of a text: `assert_supported(text, source)`.

    `source` may be a list of texts, which count as one. `threshold` is the lowest support with which a sentence passes;
    `checkpoint` is as `semantic_metrics.load` takes it, and further arguments are options of `compute` of the metric
    `support`. The support of the lowest sentence is returned; a failure lists the sentences that the source does not
    support, each with the place that decides.
    """
    rows: list[dict[str, Any]] = []
    request.node.user_properties.append((PROPERTY, rows))

    def check(
        text: str, source: str | list[str], threshold: float = EVEN, *, checkpoint: str | None = None, **options: object
    ) -> float:
        __tracebackhide__ = True  # the failure is shown where the test calls
        from semantic_metrics.integrations.micro_batcher import shared_batcher
        from semantic_metrics.integrations.verdicts import resolve_threshold

        batcher = shared_batcher("support", checkpoint, **options)
        lowest = resolve_threshold("support", batcher.metric, threshold, **options)
        scored = batcher.score(text, source)
        score = scored.details["minimum"]
        claims = any(one["support"] is not None for one in scored.details["sentence"])
        passed = claims and score >= lowest
        row = {"metric": "support", "score": score, "threshold": lowest, "passed": passed, "text": text}
        rows.append(row | {"reference": source, **scored.details, "signature": scored.signature})
        if not claims:
            raise AssertionError(f"the text has no sentence that claims something: {text!r}")
        if score < lowest:
            raise AssertionError("\n".join(_unsupported(scored.details["sentence"], lowest)))
        return score

    return check


def _unsupported(sentences: list[dict[str, Any]], lowest: float) -> Iterator[str]:
    """The message of a failure."""
    judged = [one for one in sentences if one["support"] is not None]
    low = [one for one in judged if one["support"] < lowest]
    yield f"the source does not support {len(low)} of {len(judged)} sentences with {lowest:.4f}"
    for one in low:
        yield f"  {one['verdict']}, support {one['support']:.4f}: {one['text']!r}"
        for place in one["places"][:1]:
            yield f"    source: {place['text']!r}"


def _judge(
    batcher: "MicroBatcher", lowest: float, text: str, reference: str | list[str], question: str | None
) -> tuple[dict[str, Any], str | None]:
    """The row of the report, and the message of a failure."""
    from semantic_metrics.integrations.verdicts import reasons

    scored = batcher.score(text, reference, question)
    passed = scored.value >= lowest
    row = {"metric": batcher.name, "score": scored.value, "threshold": lowest, "passed": passed, "text": text}
    row |= {"reference": reference, **({} if question is None else {"question": question})}
    row |= {**scored.details, **({"parts": dict(scored.parts)} if scored.parts else {}), "signature": scored.signature}
    if passed:
        return row, None
    why = "\n".join(f"  {line}" for line in reasons(batcher, scored, True, text, reference, question))
    texts = f"  text:      {text!r}\n  reference: {reference!r}"
    return row, f"the text does not say what the reference says: {scored.value:.4f} < {lowest:.4f}\n{texts}\n{why}"
