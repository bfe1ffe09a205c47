"""Figures of how far probabilities can be trusted, against their definitions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from semantic_metrics.files.errors import FileError
from semantic_metrics.stats import binary as calibration


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_error_by_hand(rows: list[tuple[float, bool]]) -> None:
    p, labels = (np.array(column) for column in zip(*rows, strict=True))
    bins = [min(int(value * 10), 9) for value in p]
    expected = sum(
        abs(sum(p[i] - labels[i] for i in range(len(p)) if bins[i] == which)) / len(p) for which in set(bins)
    )
    assert calibration.reliability(p, labels).error == pytest.approx(expected, abs=1e-12)


def test_a_plot_is_a_png_whatever_its_name_and_written_aside(tmp_path: Path) -> None:
    found = {"rich": calibration.reliability(np.array([0.2, 0.9]), np.array([False, True]))}
    (tmp_path / "link").symlink_to(tmp_path / "plot.pdf")
    calibration.draw_reliability(found, tmp_path / "link", "title")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "plot.pdf").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileError, match="expected an existing folder, there is no "):
        calibration.draw_reliability(found, tmp_path / "none" / "plot.png", "title")
    assert {path.name for path in tmp_path.iterdir()} == {"link", "plot.pdf"}


def test_figures_of_a_perfect_judge() -> None:
    labels = np.array([True, False, True])
    found = calibration.figures(labels.astype(float), labels)
    assert found == {"accuracy": 1.0, "f1": 1.0, "mcc": 1.0, "ece": 0.0}
    half = calibration.figures(np.array([0.9, 0.6, 0.5]), labels)  # 0.5 itself is not correct
    assert half["f1"] == pytest.approx(f1_score(labels, [True, True, False]))
