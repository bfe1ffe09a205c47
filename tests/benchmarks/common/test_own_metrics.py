"""The package's metrics as a benchmark runs them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.common.own_metrics import load_own, runs_in_float32
from benchmarks.suite.guarantees import main as guarantees
from benchmarks.suite.guarantees import own_metric


def test_a_table_is_given_no_options_of_models_and_a_model_is() -> None:
    assert load_own("matcha", None, {"precision": "int8"})[1] == {}
    metric, arguments = load_own("stsscore", None, {"precision": "int8"})
    assert arguments == {"precision": "int8"}
    assert "int8" in metric.signature(**arguments)


def test_options_reach_the_scores_and_the_report(tmp_path: Path) -> None:
    run = ["--pairs", "4", "--metric", "stsscore", "--precision", "int8", "--output", str(tmp_path)]
    result = CliRunner().invoke(guarantees, run, catch_exceptions=False)
    assert result.stdout.endswith("models ran with precision int8\n")
    fast, exact = (own_metric("row", "stsscore", 4, chosen) for chosen in ({"precision": "int8"}, {}))
    assert 0 < abs(fast.score(fast.rows) - exact.score(exact.rows)).max() < 0.1


@pytest.mark.parametrize(
    ("run", "exact"),
    [
        ({}, True),
        ({"device": "cpu", "workers": 1, "precision": "float32"}, True),
        ({"backend": "openvino"}, True),
        ({"backend": "openvino", "precision": "bfloat16"}, False),
        ({"precision": "auto"}, False),
    ],
)
def test_a_card_gets_figures_of_float32_on_either_backend(run: dict[str, object], exact: bool) -> None:
    assert runs_in_float32(run) is exact
