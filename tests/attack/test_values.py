"""Arguments of every type and value: each call returns finite scores for its texts, or refuses in one line.

An error that a caller's own iterator raises is the cause of such a refusal: it does not come through as it is.
"""

import array
import datetime
import decimal
import fractions
import math
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path

import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

import semantic_metrics
from semantic_metrics.core.texts import is_blank
from tests.attack.conftest import answer

pytestmark = pytest.mark.slow

BATCHES = 10
CALLS = 120  # in a batch and for a metric: 6,000 calls together
COLUMNS = {
    "consensus": ("predictions", "references"),
    "matcha": ("predictions", "references"),
    "stsscore": ("predictions", "references"),
    "nli_lex": ("predictions", "references", "questions"),
    "support": ("predictions", "references"),
}
RUN = ("precision", "max_length", "batch_size", "device", "output", "progress")  # options of a metric that runs a model
OPTIONS = {
    "consensus": ("multi_reference", "contradictions", "weights", *RUN),
    "matcha": ("multi_reference", "rescale", "calibrated", "output", "contradictions", "progress", "threshold"),
    "stsscore": ("scale", "clip", "symmetric", "multi_reference", *RUN),
    "nli_lex": ("features", "weights", "template", "number_words", *RUN),
    "support": ("k", "coverage", *RUN),
}
ALLOWED = (
    *("best", "mean", True, False, "all", "reasons", "rich", "paper", "float32", "bfloat16", "int8"),
    *(None, 1, 2, 7, 16, 32, 5.0, "sigmoid", "cpu", "{question} {answer}", "{answer}"),
)


class FailingRepr:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class FailingString(str):
    """A string that cannot be shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class FailingLength:
    """A sequence whose length is not known."""

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __iter__(self) -> Iterator[str]:
        return iter(["the dog"])


def failing_iterator() -> Iterator[str]:
    """Yields one text, then fails."""
    yield "the dog"
    raise RuntimeError("no more")


def deep(levels: int = 5_000) -> list:
    """A list in a list in a list."""
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


def cyclic() -> list:
    """A list that holds itself."""
    value: list = ["the dog"]
    value.append(value)
    return value


TEXTS: tuple[Callable[[], object], ...] = tuple(
    (lambda text=text: text)
    for text in (
        *("the dog bites", "a man sleeps", "", " ", "\t\n", "\x00", "\ufeff", "\u202e dog", "日本"),
        *("é", "e\u0301", "🎉🎉"),
        *("[SEP]", "[CLS][PAD]", "</s>", "##s", "{question}", "{0}", "%s", "<b>dog</b>", "=1+1", "dog " * 300),
        *("5 meter^999999", "31/12/9999 or 99999-99-99", "10^400 \u20ac", "1e309 kg", "every 0 days", "A) 1 B) 2"),
        *("one hundred million billion " * 20, "\u202e\u0661\u0662 km", "1," * 200, "\u00bd" * 90),
        *("x" * 5000, "1" * 400, "-0.0", "1e999", "nan", "None", "not " * 50, "\r\n\r", "\u2028", "a\u0300" * 200),
    )
)
ODD: tuple[Callable[[], object], ...] = (
    *(lambda value=value: value for value in (None, True, 0, -1, 3.5, math.nan, math.inf, 10**400, 1j, b"dog", ...)),
    *(lambda value=value: value for value in ("\ud800", "dog\udfff", [], (), {}, set(), [[]], [None], {"a": "dog"})),
    *(lambda value=value: value for value in (object(), type, len, NotImplemented, slice(3), range(3), range(0))),
    *(lambda value=value: value for value in (np.str_("dog"), np.float64("nan"), pd.NA, pd.NaT, Path("/nowhere"))),
    *(lambda value=value: value for value in (datetime.datetime(1, 1, 1), datetime.timedelta(1))),
    *(lambda value=value: value for value in (decimal.Decimal("NaN"), fractions.Fraction(1, 3))),
    *(lambda: FailingRepr(), lambda: [FailingRepr()], lambda: FailingString("dog"), lambda: FailingLength()),
    *(failing_iterator, deep, cyclic, lambda: iter(["dog", "cat"]), lambda: (text for text in ("dog", "cat"))),
    *(lambda: deque(["dog", "cat"]), lambda: OrderedDict(a="dog"), lambda: bytearray(b"dog")),
    *(lambda: memoryview(b"dog"), lambda: array.array("i", [1, 2]), lambda: np.array(["dog", "cat"])),
    *(lambda: np.array(["dog", None], dtype=object), lambda: np.array([["dog", "cat"]]), lambda: np.array("dog")),
    *(lambda: np.array([]), lambda: pd.Series(["dog", "cat"]), lambda: pd.Series(["dog", None])),
    *(lambda: pd.DataFrame({"a": ["dog", "cat"]}), lambda: pa.array(["dog", "cat"])),
    *(lambda: pa.array(["dog", None]), lambda: pa.chunked_array([["dog"], ["cat"]]), lambda: torch.tensor([1, 2])),
    *(lambda: torch.tensor(1), lambda: ["dog", ["cat"]], lambda: [["dog"], "cat"], lambda: [["dog", None]]),
    lambda: [["dog"], []],
)


VISIBLE = tuple(make for make in TEXTS if not is_blank(make()))  # a blank reference is refused by nli_lex


def pick(draw: random.Random, pool: tuple[Callable[[], object], ...]) -> object:
    return draw.choice(pool)()


def column(draw: random.Random, rows: int, several: bool = False, pool: tuple = TEXTS) -> object:
    """Mostly a list of texts; else something of another length, or with something odd in it or in its place."""
    kind = draw.random() * (2 if pool is VISIBLE else 1)  # of three columns, fewer may be odd for a call to be valid
    if kind < 0.08:
        return pick(draw, ODD)
    if kind < 0.14:
        rows = draw.choice((0, 1, rows + 1, 3 * rows))
    texts: list = [pick(draw, pool) for _ in range(rows)]
    if several:
        texts = [[text, *(pick(draw, pool) for _ in range(draw.randrange(3)))] for text in texts]
    if texts and 0.14 <= kind < 0.24:
        texts[draw.randrange(len(texts))] = pick(draw, ODD)
    return draw.choice((list, list, list, tuple, deque))(texts)


def arguments(draw: random.Random, name: str) -> dict[str, object]:
    """Arguments of one call of `compute`."""
    rows, several = draw.choice((1, 1, 2, 3, 9)), draw.random() < 0.3
    given = {}
    for key in COLUMNS[name]:
        pool = VISIBLE if name == "nli_lex" and draw.random() < 0.9 else TEXTS
        given[key] = column(draw, rows, several and key == "references", pool)
    for option in draw.sample(OPTIONS[name], draw.choice((0, 0, 0, 1, 2))):
        odd = draw.random() < 0.3
        given[option] = column(draw, rows) if option == "contradictions" else draw.choice(ALLOWED)
        given[option] = pick(draw, ODD) if odd else given[option]
    if draw.random() < 0.05:
        given.pop(draw.choice(list(given)))
    return given


def count(texts: object) -> int:
    """Number of texts; each of the iterators has two, and a call has consumed them."""
    return 2 if isinstance(texts, Iterator) else len(texts)


def check(name: str, result: dict, given: dict[str, object]) -> None:
    """The result is whole: a finite mean, and a finite score for each text."""
    assert math.isfinite(result[name])
    if "scores" in result:
        assert len(result["scores"]) == count(given["predictions"])
        assert all(math.isfinite(score) for score in result["scores"])


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in an empty folder, where no value names a file, and leave it empty: no call is asked to write anything."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir()), "a call wrote a file that nobody asked for"


@pytest.fixture(scope="module")
def metrics(checkpoints: dict[str, Path]) -> dict[str, evaluate.Metric]:
    """Every metric that scores texts, with its tiny checkpoint."""
    return {
        name: semantic_metrics.load(name, f"{folder}/", keep_in_memory=True)
        for name, folder in checkpoints.items()
        if name in COLUMNS
    }


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("name", COLUMNS)
def test_compute(name: str, batch: int, metrics: dict[str, evaluate.Metric]) -> None:
    draw = random.Random(f"{name} {batch}")
    scored = 0
    for call in range(CALLS):
        given = arguments(draw, name)
        try:
            result, refusal = answer(lambda given=given: metrics[name].compute(**given))
        except BaseException as error:
            error.add_note(f"{name} {batch}, call {call}: {sorted(given)}") if hasattr(error, "add_note") else None
            raise
        if refusal is None:
            check(name, result, given)
            scored += 1
    assert scored > CALLS // 5, "the attack would show nothing if nearly all were refused"


@pytest.mark.parametrize("name", COLUMNS)
def test_explain(name: str, metrics: dict[str, evaluate.Metric]) -> None:
    draw = random.Random(name)
    singular = [key.removesuffix("s") for key in COLUMNS[name]]
    for _ in range(CALLS):
        given = {key: pick(draw, ODD if draw.random() < 0.1 else TEXTS) for key in singular}
        given = {key: text[:60] if type(text) is str else text for key, text in given.items()}
        if draw.random() < 0.5:
            given["method"] = draw.choice(("exact", "leave_one_out", "integrated_gradients", None, 3, "x"))
        result, refusal = answer(lambda given=given: metrics[name].explain(**given))
        assert refusal is not None or math.isfinite(result["score"])


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_that_are_added(name: str, metrics: dict[str, evaluate.Metric]) -> None:
    """What is refused is not kept; what was added before stays."""
    draw = random.Random(name)
    metric = metrics[name]
    for _ in range(CALLS // 4):
        added = 0
        for _ in range(draw.randrange(4)):
            given = {key: column(draw, 2, pool=VISIBLE) for key in COLUMNS[name]}
            _, refusal = answer(lambda given=given: metric.add_batch(**given))
            added += 0 if refusal else count(given["predictions"])
        result, refusal = answer(metric.compute)
        assert (refusal is None) == (added > 0)
        assert refusal is not None or len(result["scores"]) == added


@pytest.mark.parametrize(
    "name", [None, 3, "", " ", "/", "..", "matcha\x00", "x" * 5000, "org/none@", FailingRepr(), []]
)
def test_names(name: object) -> None:
    for load in (lambda: semantic_metrics.load(name), lambda: semantic_metrics.load("matcha", name)):
        result, refusal = answer(load)
        assert refusal or (name is None and result.name == "matcha")
