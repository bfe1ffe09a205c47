"""The probes: what is paired with what, the figures, and the command."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.options import Bootstrap
from benchmarks.suite.columns import nli_column
from benchmarks.suite.probes import choose_columns, main
from benchmarks.suite.tables import text_figure
from benchmarks.suite.texts import PAWS, ROLES, STSB, WORDS, own_texts, pair_texts, pairs, role_items
from tests.nli_lex.conftest import nli


def bag(text: str) -> list[str]:
    return sorted(re.findall(r"\w+|[^\w\s]", text.lower()))


def test_role_swaps_are_the_paraphrase_in_another_order() -> None:
    items = role_items()
    assert items["kind"].value_counts().min() >= 8
    assert not items.duplicated(["reference"]).any()
    assert [bag(text) for text in items["swap"]] == [bag(text) for text in items["paraphrase"]]
    assert all(bag(a) != bag(b) for a, b in zip(items["reference"], items["paraphrase"], strict=True))


def test_own_probes_hold_each_item_twice_once_true_and_once_false() -> None:
    words, roles = own_texts()
    assert (words.title, roles.title) == (WORDS, ROLES)
    for probe in (words, roles):
        frame = pd.DataFrame({"item": probe.items, "truth": probe.truth, "reference": [x for (x,) in probe.references]})
        assert (frame.groupby("item")["truth"].agg(["sum", "count"]).to_numpy() == [1, 2]).all()
        assert (frame.groupby("item")["reference"].nunique() == 1).all()
        assert len(probe.parts) == len(probe)
    assert len(words) == 256
    assert roles.candidates[0] == "Her brother borrowed the car from Anna."
    assert roles.candidates[len(roles) // 2] == "Anna borrowed the car from her brother."


def test_figures_are_auc_and_spearman_times_100() -> None:
    texts = pairs("t", list("abcd"), list("abcd"), np.array([1.0, 0.0, 1.0, 0.0]), items=[0, 0, 1, 1])
    figures = text_figure(np.array([3.0, 1.0, 2.0, 2.5]), texts, "auc", Bootstrap(0, 50))
    assert figures["n"] == 4
    assert figures["value"] == 75  # three of four comparisons
    assert figures["low"] <= 75 <= figures["high"]
    rated = pairs("t", list("abcdefghi"), list("abcdefghi"), np.arange(9.0) ** 2)
    assert text_figure(np.arange(9.0), rated, "spearman", Bootstrap(0, 50))["value"] == pytest.approx(100)


def test_data_sets_are_read_with_their_labels(tmp_path: Path) -> None:
    write_sets(tmp_path)
    paws, multinli, stsb, people = pair_texts(tmp_path)
    assert (people.truth.tolist(), people.figures) == ([0.8, 0.2, 0], ("pearson", "ccc", "ccc, as it is"))
    assert (paws.title, paws.truth.tolist(), paws.figures) == (PAWS, [1, 0], ("auc",))
    assert multinli.figures == ("auc", "gap")
    assert multinli.references == [["p"], ["q"], ["p"], ["q"]]
    assert multinli.candidates == ["e1", "e2", "c1", "c2"]
    assert (stsb.title, stsb.truth.tolist()) == (STSB, [1, 0.2])
    (tmp_path / "stsb" / "test.parquet").unlink()
    with pytest.raises(ValueError, match=r"--data: expected stsb/test\.parquet below it"):
        pair_texts(tmp_path)


def write_sets(folder: Path) -> None:
    tables = {
        "paws_wiki/dev": {"sentence1": ["a", "b"], "sentence2": ["a a", "b b"], "label": [1, 0]},
        "nli_triplets/mnli_dev_matched": {
            "premise": ["p", "q"], "correct_answer": ["e1", "e2"], "incorrect_answer": ["c1", "c2"]
        },
        "stsb/test": {"sentence1": ["x", "y"], "sentence2": ["x x", "y y"], "score": [5.0, 1.0]},
        "matcha_human/half": {
            "reference": ["r", "s", "t"], "sentence": ["r r", "s u", "v"], "HumanScore": [4.0, 1.0, 0.0],
            "dataset": ["SNLI"] * 3
        },
    }  # fmt: skip
    for name, columns in tables.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True)
        pd.DataFrame(columns).to_parquet(path)


def test_metrics_are_taken_by_name_and_refused_in_one_line(tmp_path: Path) -> None:
    checkpoint = str(nli(tmp_path / "model"))
    chosen = choose_columns(("table=matcha", "matcha"), (f"own={checkpoint}",))
    assert [column.name for column in chosen] == ["table", "matcha", "own"]
    words, _ = own_texts()
    margins = nli_column("own", checkpoint).load()(words.take([0, 1, 2, 3]))
    assert np.abs(margins).max() <= 1
    assert np.ptp(margins) > 0
    for given, message in (
        ("bleu", "name: expected one of"),
        ("nli_lex", "--metric: expected a metric that needs no questions, got nli_lex"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_columns((given,), ())
    with pytest.raises(ValueError, match="matcha twice"):
        choose_columns(("matcha", "matcha=matcha"), ())


def test_the_command_writes_figures_scores_and_a_table(tmp_path: Path) -> None:
    write_sets(tmp_path / "data")
    out = tmp_path / "out"
    arguments = ["--metric", "old=matcha", "--nli", f"own={nli(tmp_path / 'model')}", "--resamples", "20"]
    result = CliRunner().invoke(main, [*arguments, "--data", str(tmp_path / "data"), "--output", str(out)])
    assert result.exit_code == 0, result.output
    figures = pd.read_csv(out / "probes.csv")
    assert set(figures["metric"]) == {"old", "own"}
    assert figures.query("kind == 'all'")["set"].nunique() == 6
    assert {"hypernym", "antonym", "number", "negation"} <= set(figures["kind"])
    own = figures[figures["kind"] == "all"].set_index(["set", "metric", "figure"])["value"]
    assert own[ROLES, "old", "auc"] == 50, "the table does not see the order of words"
    assert own["people's ratings", "old", "ccc"] != own["people's ratings", "old", "ccc, as it is"]
    assert own["people's ratings", "own", "ccc"] == own["people's ratings", "own", "ccc, as it is"]
    assert {"old", "own", "truth"} <= set(pd.read_csv(out / "probes_scores.csv").columns)
    assert (out / "report.txt").read_text(encoding="utf-8") in result.output
    refused = CliRunner().invoke(main, ["--metric", "bleu", "--output", str(tmp_path / "no")])
    assert refused.exit_code == 2
    assert not (tmp_path / "no").exists()
