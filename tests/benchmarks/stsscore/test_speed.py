"""`benchmarks.stsscore.speed` on a few pairs: that it runs and what it says, never how fast anything is."""

import json
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.stsscore import speed as speed
from tests import tiny_pairs as tiny
from tests.stsscore.test_metric import ROUNDING


def _run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.delenv("SEMANTIC_METRICS_DATA", raising=False)
    result = CliRunner().invoke(speed.stsscore, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    record = json.loads(Path(arguments[-1]).read_text(encoding="utf-8"))
    for comparison in record["comparisons"]:
        for side in comparison["sides"]:
            assert f"{side['times_listing']:.2f}" in result.output
    return record


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_every_precision_is_compared_with_the_listing(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the bundled sample; one checkpoint has a rating and one a sigmoid."""
    arguments = ["--checkpoint", str(request.getfixturevalue(kind)), "--pairs", "9", "--repeats", "1"]
    output = str(tmp_path / "speed.json")
    record = _run([*arguments, "--shape", "2", "64", "--output", output], monkeypatch)
    assert set(record) == {"command", "machine", "repeats", "pairs", "comparisons", "checkpoint_times_listing_of_shape"}
    checkpoint, random = ({side["name"]: side for side in found["sides"]} for found in record["comparisons"])
    expected = checkpoint["float32"]["pairs_per_second"] / random["listing"]["pairs_per_second"]
    assert record["checkpoint_times_listing_of_shape"] == pytest.approx(expected)
    assert [found["pairs"] for found in record["comparisons"]] == [9, 9]
    for comparison in record["comparisons"]:
        assert set(comparison) == {field.name for field in fields(speed.Comparison)}
        sides = {side["name"]: side for side in comparison["sides"]}
        assert list(sides) == ["listing", "float32", "bfloat16", "int8"]
        listing, plain = sides["listing"], sides["float32"]
        assert (listing["times_listing"], listing["largest_drift"], plain["times_float32"]) == (1, 0, 1)
        assert plain["largest_drift"] <= ROUNDING
        assert plain["largest_drift"] < sides["int8"]["largest_drift"]
        for side in sides.values():
            assert set(side) == {field.name for field in fields(speed.Side)}
            assert side["times_listing"] == pytest.approx(listing["seconds"] / side["seconds"])
            assert side["pairs_per_second"] == pytest.approx(9 / side["seconds"])
            assert side["r_labels"] is None


def test_labels_of_a_data_folder_are_correlated(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stsb").mkdir()
    rows = [(f"the dog {i}", "a cat " * i, i / 4) for i in range(20)]
    pd.DataFrame(rows, columns=["sentence1", "sentence2", "label"]).to_parquet(tmp_path / "stsb" / "test.parquet")
    arguments = ["--checkpoint", str(bert), "--data", str(tmp_path), "--pairs", "5", "--repeats", "1"]
    record = _run([*arguments, "--shape", "1", "64", "--output", str(tmp_path / "speed.json")], monkeypatch)
    assert record["pairs"] == "STS-B test"
    trained, random = record["comparisons"]
    expected = pd.Series([tiny.listing(bert)(*rows[i][:2]) for i in (0, 4, 9, 14, 19)])
    expected = expected.corr(pd.Series([rows[i][2] for i in (0, 4, 9, 14, 19)]))
    assert trained["sides"][1]["r_labels"] == pytest.approx(expected, abs=1e-4)
    assert {side["r_labels"] for side in random["sides"]} == {None}


def test_what_cannot_be_compared_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEMANTIC_METRICS_DATA", raising=False)
    silent = tiny.bert(tmp_path / "silent", {})
    for arguments, saying in (
        (["--checkpoint", str(silent), "--pairs", "2"], "expected one that says its scale"),
        (["--checkpoint", "nothing"], "checkpoint 'nothing': expected one of"),
        (["--data", str(tmp_path)], "expected stsb/test.parquet"),
    ):
        result = CliRunner().invoke(speed.stsscore, arguments)
        assert result.exit_code == 1
        assert saying in result.output
