"""Progress bars: on a terminal alone, after a while, and none where none is wanted."""

import sys

import pytest

from semantic_metrics import load
from semantic_metrics.core import progress
from semantic_metrics.core.progress import progress_bar, with_progress
from tests.demo.test_bundle import COLUMNS

TEXTS = (["a dog", "a cat"], ["the dog", "the cat"])


def be_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_items_are_counted_on_a_terminal(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_terminal(monkeypatch)
    assert list(with_progress([1, 2, 3], "row", title="made")) == [1, 2, 3]
    shown = capsys.readouterr().err
    assert "made" in shown
    assert "0.00/3.00" in shown


def test_what_is_no_terminal_stays_empty(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    list(with_progress(iter([1, 2]), "row"))
    assert capsys.readouterr().err == ""


def test_nothing_is_shown_where_standard_error_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    monkeypatch.setattr("semantic_metrics.core.progress.DELAY_SECONDS", 0)
    assert list(with_progress(range(3), "row")) == [0, 1, 2]


def test_a_variable_switches_all_bars_off(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_terminal(monkeypatch)
    for value, shown in (("1", False), ("true", False), ("0", True), ("", True)):
        monkeypatch.setenv("TQDM_DISABLE", value)
        list(with_progress([1, 2, 3], "row"))
        assert bool(capsys.readouterr().err) == shown


@pytest.mark.parametrize("name", COLUMNS)
def test_compute_shows_a_bar_unless_told_otherwise(
    name: str, checkpoints: dict[str, str], capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = load(name, checkpoints[name])
    be_a_terminal(monkeypatch)
    result = metric.compute(**COLUMNS[name])
    assert "/s]" in capsys.readouterr().err
    assert metric.compute(**COLUMNS[name], progress=False) == result
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match=r"^progress: expected one of False, True, got str 'no'"):
        metric.compute(**COLUMNS[name], progress="no")
    if name != "set_criteria":
        assert metric.signature(progress=False) == metric.signature()


def test_no_call_shows_what_its_caller_does_not_want(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_a_terminal(monkeypatch)
    with progress.progress(False), progress.progress(True), progress_bar(2, "row") as bar:
        bar.update()
    assert capsys.readouterr().err == ""
