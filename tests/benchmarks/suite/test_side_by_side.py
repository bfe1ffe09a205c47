"""The table of all metrics beside what is usually taken, and its pictures."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.image import imread

from benchmarks.common.encoders import NotMeasured
from benchmarks.common.options import Bootstrap
from benchmarks.suite import pictures, tables
from benchmarks.suite.columns import BERTSCORE, MINILM, OURS, ROUGE_L, TOKEN_F1, Ask, Column, score_all
from benchmarks.suite.side_by_side import main
from benchmarks.suite.texts import CCC, DENIALS, MULTINLI, NATIVE_CCC, SPEARMAN, STSB, TextSet
from semantic_metrics.stats.separation import COSINE
from tests.benchmarks.suite.test_probes import write_sets

QUICK = Bootstrap(0, 30)


def texts(title: str = DENIALS, count: int = 8, **changes: object) -> TextSet:
    """Texts "good 0" and "bad 1" in turn; two of an item."""
    candidates = [f"{'bad' if i % 2 else 'good'} {i}" for i in range(count)]
    truth = np.array([1.0 - i % 2 for i in range(count)])
    return TextSet(title, candidates, [[text] for text in candidates], truth, [i // 2 for i in range(count)], **changes)


def liking(name: str) -> Column:
    """A cosine that is 1 for a good text, -1 for another."""
    scores = lambda given: np.array([1.0 if text.startswith("good") else -1.0 for text in given.candidates])  # noqa: E731
    return Column(name, "liking", lambda: scores, COSINE, cosine=True)


def absent() -> Ask:
    raise NotMeasured("no weights")


def test_a_sample_takes_whole_items_and_is_the_same_each_time() -> None:
    whole = texts(count=40)
    sample = whole.sample(10, seed=0)
    assert len(sample) == 10
    assert all(sample.items.count(item) == 2 for item in sample.items)
    assert sample.candidates == whole.sample(10, seed=0).candidates != whole.sample(10, seed=1).candidates
    assert set(sample.candidates) <= set(whole.sample(20, seed=0).candidates), "more rows add to those of fewer"
    assert whole.sample(None, 0) is whole.sample(99, 0) is whole


def test_every_cell_has_a_figure_or_a_reason_and_losses_are_named() -> None:
    rated = texts(STSB, figures=(SPEARMAN, CCC, NATIVE_CCC))
    rouge = Column(ROUGE_L, "rouge", lambda: lambda given: np.zeros(len(given)))
    columns = [rouge, liking("consensus"), Column("nli_lex", "nli", absent)]
    sets = [texts(MULTINLI, figures=("auc", "gap")), rated]
    scores = score_all(columns, sets, print)
    figures = tables.figure_table(columns, sets, scores, QUICK)
    by_place = figures.set_index(["set", "figure", "metric"])["value"]
    assert by_place[MULTINLI, "auc", "consensus"] == 100
    assert by_place[MULTINLI, "auc", ROUGE_L] == 50
    assert by_place[MULTINLI, "gap", "consensus"] == 100, "cosines are mapped to [0, 1]"
    assert by_place[MULTINLI, "gap", "BLEURT, published"] > 0
    assert by_place[STSB, "ccc", "consensus"] == 100
    assert by_place[STSB, "ccc, as it is", "consensus"] < 100
    assert by_place[STSB, "spearman", "BERTScore, published"] == pytest.approx(53)
    assert (figures["value"].notna() ^ figures["reason"].notna()).all()
    for table in (tables.whole_table(figures), tables.small_table(figures)):
        cells = [line.split("|")[1:-1] for line in table.splitlines()]
        assert len({len(line) for line in cells}) == 1
        assert all(cell.strip() for line in cells for cell in line), "no blank cell"
    assert "| 50.0 ±0.0 | **100.0** ±0.0 | n/a |" in tables.small_table(figures)
    notes = "\n".join(tables.notes(figures, columns, ["WiCE dev"], 8))
    assert "n/a of nli_lex: no weights." in notes
    assert "highest or level in 4 of 4 lines" in notes
    assert "WiCE dev" in notes
    assert "BLEURT, published: " in notes


@pytest.mark.slow
def test_the_command_and_the_pictures(tmp_path: Path) -> None:
    write_sets(tmp_path / "data")
    results, drawn = tmp_path / "results", tmp_path / "pictures"
    arguments = ["--data", str(tmp_path / "data"), "--rows", "10", "--resamples", "10", "--output", str(results)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    figures = pd.read_csv(results / "figures.csv")
    assert {ROUGE_L, TOKEN_F1, MINILM, BERTSCORE, *OURS} <= set(figures["metric"])
    denials = figures[(figures["set"] == DENIALS) & (figures["metric"] != "BLEURT, published")].set_index("metric")
    assert denials.loc[list(OURS), "value"].notna().all()
    assert "nli_lex: judges answers to questions" in result.output
    captions = CliRunner().invoke(pictures.main, ["--results", str(results), "--output", str(drawn)])
    assert captions.exit_code == 0, captions.output
    assert "consensus: AUC" in captions.output
    for name in ("distributions", "speed"):
        assert min(imread(drawn / f"{name}.png").shape[:2]) > 200
