"""The word-order probe: its items, and what is counted of a metric's scores."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.baselines import Metric
from benchmarks.matcha.word_order import ALL, PAWS, PAWS_KIND, TEXTS, choose_metrics, main, measure, probe_items, report


def bag(text: str) -> list[str]:
    return sorted(re.findall(r"\w+|[^\w\s]", text.lower()))


def test_items_are_many_and_swaps_are_the_paraphrase_in_another_order() -> None:
    items = probe_items()
    assert len(items) >= 100
    assert items["kind"].nunique() >= 8
    assert items["kind"].value_counts().min() >= 8
    assert not items.duplicated(["reference"]).any()
    for row in items.itertuples():
        assert len({row.reference, row.paraphrase, row.swap}) == 3
        assert all(text[0].isupper() and text.endswith(".") for text in row[2:])
    assert [bag(text) for text in items["swap"]] == [bag(text) for text in items["paraphrase"]]
    assert all(bag(a) != bag(b) for a, b in zip(items["reference"], items["paraphrase"], strict=True))


def scorer(name: str, score: object) -> Metric:
    return Metric(name, load=lambda: lambda candidates, references: np.array([score(text) for text in candidates]))


def test_figures_of_known_scores() -> None:
    items = pd.DataFrame(
        [("x", "r1", "good a", "bad a"), ("x", "r2", "good b", "good c"), ("y", "r3", "bad d", "good d")],
        columns=["kind", *TEXTS],
    )
    paws = pd.DataFrame({"sentence1": list("abcd"), "sentence2": ["good", "bad", "bad", "bad"], "label": [1, 1, 0, 0]})
    metrics = [scorer("half", lambda text: float(text.startswith("good"))), scorer("blind", lambda text: 0.5)]
    figures, scored = measure(metrics, items, paws)
    by_kind = figures.set_index(["metric", "kind"])
    half = by_kind.loc["half"]
    assert half.loc[ALL, ["n", "auc", "pairwise", "ties"]].tolist() == pytest.approx([3, 50, 100 / 3, 100 / 3])
    assert half.loc["x", ["auc", "pairwise", "ties"]].tolist() == [75, 50, 50]
    assert half.loc["y", "auc"] == 0
    assert half.loc[PAWS_KIND, "auc"] == 75
    assert by_kind.loc[("blind", ALL), ["auc", "low", "high", "pairwise", "ties"]].tolist() == [50, 50, 50, 0, 100]
    assert scored.groupby("metric").size().tolist() == [3, 3]
    assert "AUC by kind of swap" in report(figures)


def test_a_table_of_tokens_is_at_chance(checkpoint: Path) -> None:
    """The small checkpoint knows letters, so that it has a vector for every text."""
    figures, _ = measure(choose_metrics((f"small={checkpoint}",), "unused")[1:], probe_items(), None)
    assert figures["metric"].unique() == ["MATCHA (small)"]
    assert figures["auc"].eq(50).all()
    assert figures["ties"].eq(100).all()
    assert figures["pairwise"].eq(0).all()


def test_command_refuses_what_it_cannot_measure(checkpoint: Path, tmp_path: Path) -> None:
    output = ["--output", str(tmp_path / "out")]
    for arguments, message in (
        (["--data", str(tmp_path)], f"expected {PAWS} below it"),
        (["--embsim", str(tmp_path / "none")], "does not load"),
        (["--checkpoint", "a=x", "--checkpoint", "a=y"], "names that differ"),
    ):
        result = CliRunner().invoke(main, [*arguments, *output], env={"SEMANTIC_METRICS_DATA": ""})
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()
