"""NLI+lex's protocol on the real rows: baselines as issue 4 gives them, published judgements, and the bars.

Run with SEMANTIC_METRICS_DATA naming the data folder; the test of the shipped checkpoint takes some minutes.
"""

from pathlib import Path

import pytest

from benchmarks.common.options import Bootstrap
from benchmarks.papers.nli_lex.judges import LEXICAL, RECALL, Judge, judge_sets, lexical_judges, published_judges
from benchmarks.papers.nli_lex.nli_checks import checks
from benchmarks.papers.nli_lex.nli_judges import NLI, NLI_LEX, NliModel
from benchmarks.papers.nli_lex.sets import BEM, GPT4, JudgedSet, load_judged
from benchmarks.papers.nli_lex.tables import figure_table
from semantic_metrics.fitting.judged_answers import question_key
from semantic_metrics.nli_lex.features import load_scorer
from tests.conftest import ROOT
from training.data.config_files import read_yaml
from training.data.judged_answers import JudgedConfig
from training.data.sources import read_excluded

pytestmark = pytest.mark.real_data

Figures = dict[tuple[str, str, str], float]  # by set, judge and figure


@pytest.fixture(scope="module")
def sets(data_folder: Path) -> dict[str, JudgedSet]:
    loaded, absent = load_judged(data_folder, ("diver_qa", "nq301", "evouna"))
    assert not absent
    return loaded


def figures(judges: list[Judge], sets: dict[str, JudgedSet]) -> Figures:
    table = figure_table(judges, sets, judge_sets(judges, sets), Bootstrap(resamples=1))
    kept = table[(table["by"] == "all") & table["value"].notna()]
    return {(row.set, row.judge, row.figure): row.value for row in kept.itertuples()}


@pytest.fixture(scope="module")
def lexical(sets: dict[str, JudgedSet]) -> Figures:
    return figures([*lexical_judges(), *published_judges()], {key: sets[key] for key in ("diver_qa", "nq301")})


def test_no_question_of_a_test_set_is_trained_on(sets: dict[str, JudgedSet], data_folder: Path) -> None:
    config = read_yaml(ROOT / "training" / "configs" / "data" / "judged_answers.yaml", JudgedConfig)
    excluded = frozenset(map(question_key, read_excluded(config.exclude, data_folder)))
    questions = {question_key(question) for key in ("diver_qa", "nq301") for question in sets[key].questions}
    assert "therecipientoffirstjnanpithawardwasanauthorwhichlanguage" in questions  # in EVOUNA with "null" for "nan"
    for source in config.train:
        answers, counts = source.answers(data_folder, excluded)
        assert questions.isdisjoint(question_key(question) for question, *_ in answers)
        assert counts["rows"] > 3000


@pytest.mark.parametrize(("judge", "accuracy", "mcc"), [("Containment", 71, 46), (LEXICAL, 73, 50), (RECALL, 82, 60)])
def test_baselines_of_diver_qa(lexical: Figures, judge: str, accuracy: float, mcc: float) -> None:
    """Those of the issue are of the other four fifths."""
    assert lexical["DIVER-QA", judge, "accuracy"] == pytest.approx(accuracy, abs=1.5)
    assert lexical["DIVER-QA", judge, "mcc"] == pytest.approx(mcc, abs=1.5)


def test_published_judgements_of_nq301(lexical: Figures) -> None:
    assert lexical["NQ-open 301", BEM, "accuracy"] == pytest.approx(80.65, abs=0.01)
    assert lexical["NQ-open 301", BEM, "mcc"] == pytest.approx(62.86, abs=0.01)
    assert lexical["NQ-open 301", GPT4, "accuracy"] == pytest.approx(84.80, abs=0.01)


@pytest.fixture(scope="module")
def judged(sets: dict[str, JudgedSet]) -> Figures:
    return figures(NliModel(None, {}, {}).judges(), {key: sets[key] for key in ("diver_qa", "nq301")})


def test_shipped_checkpoint_keeps_its_bars(judged: Figures) -> None:
    """DIVER-QA 84.6 / 58.4 and NQ-open 301 80.2 / 61.9, above NLI alone on DIVER-QA and level on the other.

    The bars of the issues, 86 / 64 and 80.7 / 62.9, are not reached; the first stage had 81.6 / 49.1 and 80.6 / 62.8,
    and the fifth 83.2 / 55.8 and 79.2 / 60.2.
    """
    shipped = NLI_LEX["rich"]
    assert judged["DIVER-QA", shipped, "accuracy"] >= 83.5
    assert judged["DIVER-QA", shipped, "mcc"] >= 57
    assert judged["NQ-open 301", shipped, "accuracy"] >= 79.5
    assert judged["NQ-open 301", shipped, "mcc"] >= 60.5
    for figure in ("accuracy", "mcc"):
        assert judged["DIVER-QA", shipped, figure] > judged["DIVER-QA", NLI, figure] + 1
        assert judged["NQ-open 301", shipped, figure] == pytest.approx(judged["NQ-open 301", NLI, figure], abs=0.5)


BELOW_WORDS = pytest.mark.xfail(strict=True, reason="not reached: MCC 58.4 on DIVER-QA, token recall 59.9")


@pytest.mark.parametrize("figure", ["accuracy", pytest.param("mcc", marks=BELOW_WORDS)])
def test_shipped_checkpoint_is_better_than_its_words_alone(judged: Figures, lexical: Figures, figure: str) -> None:
    """DIVER-QA."""
    assert judged["DIVER-QA", NLI_LEX["rich"], figure] > lexical["DIVER-QA", RECALL, figure]


@pytest.mark.xfail(strict=True, reason="not reached: NQ-open 301 80.20 / 61.85, BEM 80.65 / 62.86")
@pytest.mark.parametrize("figure", ["accuracy", "mcc"])
def test_shipped_checkpoint_is_as_good_as_bem(judged: Figures, lexical: Figures, figure: str) -> None:
    """NQ-open 301."""
    assert judged["NQ-open 301", NLI_LEX["rich"], figure] >= lexical["NQ-open 301", BEM, figure]


def test_shipped_nli_model_keeps_its_bars(data_folder: Path) -> None:
    """Issue 4: the NLI model by itself."""
    values = checks(load_scorer(None), data_folder).set_index("set")["value"]
    assert values["probe, all (256 pairs)"] >= 80
    assert values[[name for name in values.index if name.startswith("MultiNLI")]].item() >= 75
    assert values[[name for name in values.index if name.startswith("SNLI")]].item() >= 85
