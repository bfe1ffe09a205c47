"""Answers to yes-or-no questions that say neither yes nor no."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from benchmarks.papers.nli_lex.nli_checks import YES_OR_NO, judge_table, probe_answers, score
from semantic_metrics import load
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.nli_lex import polar
from semantic_metrics.nli_lex.features import COLUMNS, NLI_PROBABILITIES, Features, extract, load_scorer
from semantic_metrics.nli_lex.weights import write_weights
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import PAPER_WEIGHTS, RICH_WEIGHTS, TWO_WEIGHTS, nli
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import WORDS

CLOSED = "It is closed on Sundays."
QUESTION, ANSWER = "is the dog awake", "the cat sleeps again"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny.both_heads(tmp_path_factory.mktemp("polar") / "model")
    for weights in (RICH_WEIGHTS, TWO_WEIGHTS, PAPER_WEIGHTS):
        write_weights(folder, weights)
    return folder


@pytest.fixture
def all_are_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer is about what is asked, whatever a model of random weights says."""
    monkeypatch.setattr(polar, "ABOUT", -np.inf)


def read(folder: Path, *rows: tuple[str, str, str], **options: object) -> Features:
    questions, answers, references = map(list, zip(*rows, strict=True))
    return extract(load_scorer(str(folder)), questions, answers, [[text] for text in references], **options)


@pytest.mark.parametrize(
    ("question", "answer", "reference", "reads"),
    [
        ("Is it open?", CLOSED, "No", True),
        ("(Did she leave?)", "She stayed until nine.", "no.", True),
        ("can dogs swim", "You need no lessons for that.", "**Yes**", True),
        ("Can't dogs swim?", CLOSED, "Yes", False),
        ("Isn't it open?", CLOSED, "No", False),
        ("Is it not open?", CLOSED, "No", False),
        ("Is it open or closed?", CLOSED, "No", False),
        ("What is it, is it open?", CLOSED, "No", False),
        ("You like it, do you?", CLOSED, "No", False),
        ("Island?", CLOSED, "No", False),
        ("", CLOSED, "No", False),
        ("Is it open?", CLOSED, "No, on Sundays it is closed.", False),
        ("Is it open?", CLOSED, "Not at all", False),
        ("Is it open?", "That is correct.", "Yes", False),
        ("Is it open?", "Hmm, yes it is open.", "No", False),
        ("Is it open?", "No it is not.", "No", False),
    ],
)
def test_which_rows_are_read_so(question: str, answer: str, reference: str, reads: bool) -> None:
    assert polar.is_polar(question, answer, reference) is reads


def test_short_answers_count_beside_their_question() -> None:
    """Such as "Absolutely.", which says nothing without it."""
    answers = ["Absolutely.", "That is correct.", "It is.", "Nope.", "Yes it is", "Hmm, yes they are."]
    columns = {"questions": ["Are whales mammals?"] * len(answers), "predictions": answers}
    says_yes = np.array([answer != "Nope." for answer in answers])
    metric = load("nli_lex")
    for reference, right in (("Yes", says_yes), ("No", ~says_yes)):
        assert metric.compute(**columns, references=[reference] * len(answers))["correct"] == right.tolist()


@pytest.mark.usefixtures("all_are_about")
def test_what_does_not_fit_is_read_as_any_other(model: Path) -> None:
    scorer, triples = load_scorer(str(model)), [(QUESTION, ANSWER, "No"), (QUESTION, f"{ANSWER} and again", "No")]
    tokens = len(scorer.tokenizer(ANSWER, f"{QUESTION}? Yes.")["input_ids"])
    _, readable = polar.probabilities(triples, scorer, scorer.resolve(RunOptions(max_length=tokens)))
    assert readable.tolist() == [True, False]


def test_three_forms_of_the_question_are_weighed(model: Path) -> None:
    """Each pair alone, through plain transformers: yes is what the answer entails, no what it contradicts."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    plain = AutoModelForSequenceClassification.from_pretrained(model, dtype=torch.float32).eval()
    classes = [tiny.LABELS.index(name) for name in ("entailment", "neutral", "contradiction")]

    def opinion(hypothesis: str) -> np.ndarray:
        with torch.inference_mode():
            logits = plain(**tokenizer([ANSWER], [hypothesis], return_tensors="pt")).logits[0, classes]
        return logits.double().softmax(-1).numpy()[[0, 2]]

    both = opinion(f"{QUESTION}.") + opinion(f"{QUESTION}? Yes.") + opinion(f"{QUESTION}? No.")[::-1]
    scorer = load_scorer(str(model))
    triples = [(f" {QUESTION} ?!\n?", ANSWER, "yes"), (f"{QUESTION}.", ANSWER, "No.")]
    found, about = polar.probabilities(triples, scorer, scorer.resolve(RunOptions()))
    assert found == pytest.approx(np.array([both, both[::-1]]) / (both.sum() + 0.1), abs=ROUNDING)
    assert about.tolist() == [tiny.listing(model)(ANSWER, f"{QUESTION}.") >= 0.2] * 2


@pytest.mark.usefixtures("all_are_about")
@settings(max_examples=25, deadline=None)
@given(answer=st.lists(st.sampled_from([word for word in WORDS if word != "no"]), min_size=4, max_size=8).map(" ".join))
def test_what_speaks_for_yes_speaks_against_no(model: Path, answer: str) -> None:
    features = read(model, (QUESTION, answer, "Yes"), (QUESTION, answer, "No"))
    assert features.polar == {0, 1}
    yes, no = features.table[:, [COLUMNS.index(name) for name in NLI_PROBABILITIES]].tolist()
    assert yes == pytest.approx([no[2], no[2], no[0]], abs=1e-12)
    assert yes[0] == yes[1]
    assert yes[0] + yes[2] < 1


@pytest.mark.usefixtures("all_are_about")
def test_only_answers_that_are_left_open_are_read_so(model: Path, tmp_path: Path) -> None:
    row = (QUESTION, ANSWER, "Yes")
    rules = (QUESTION, "no, the cat sleeps", "Yes")
    assert read(model, row, rules, (QUESTION, " ", "Yes"), (QUESTION, "a cat " * 60, "Yes")).polar == {0}
    assert not read(model, row, whole_question=True).polar, "the paper's form"
    assert not read(model, row, template="{answer}").polar, "no question is read"
    assert not read(nli(tmp_path / "nli"), row).polar, "a model that rates no similarity"
    two = tiny.both_heads(tmp_path / "two", ("not_entailment", "similarity", "entailment"))
    assert not read(two, row).polar, "a model that tells no contradiction"


def test_the_scale_of_what_an_answer_is_about_is_in_the_signature(model: Path, tmp_path: Path) -> None:
    """That of config.json, of which the checkpoint's digest is made, not that of sentence-transformers' own file."""
    folder = shutil.copytree(model, tmp_path / "model")
    answer = "not a dog asleep"  # below a fifth of 5, and above a fifth through a sigmoid
    before = load_scorer(str(folder))
    rated = before.logits([(answer, f"{QUESTION}.")]).values[0, tiny.LABELS.index("similarity")]
    assert 0 < rated < 1
    sigmoid = {"activation_fn": "torch.nn.modules.activation.Sigmoid"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(sigmoid), encoding="utf-8")
    after = load_scorer(str(folder))
    for scorer in (before, after):
        _, about = polar.probabilities([(QUESTION, answer, "Yes")], scorer, scorer.resolve(RunOptions()))
        assert about.tolist() == [False]
    assert before.signature_fields() == after.signature_fields()


def test_an_answer_about_something_else_is_read_as_any_other(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polar, "ABOUT", np.inf)
    row = (QUESTION, ANSWER, "Yes")
    features = read(model, row)
    monkeypatch.setattr(polar, "is_polar", lambda *_: False)
    assert not features.polar
    assert features.table.tolist() == read(model, row).table.tolist()


@pytest.mark.usefixtures("all_are_about")
def test_explanations(model: Path) -> None:
    scoring = load("nli_lex", str(model))
    texts = {"prediction": ANSWER, "reference": "Yes", "question": QUESTION}
    result = scoring.explain(**texts)
    (score,) = scoring.compute(**{f"{side}s": [text] for side, text in texts.items()})["scores"]
    assert result["score"] == pytest.approx(score, abs=ROUNDING)
    with pytest.raises(ValueError, match="method: expected 'leave_one_out' for an answer to a yes-or-no question"):
        scoring.explain(**texts, method="integrated_gradients")
    assert scoring.explain(**texts, method="integrated_gradients", features="paper")["question"]["tokens"]


def test_the_shipped_checkpoint_reads_what_says_neither() -> None:
    """The answers of yes_or_no.csv: beside the question alone, 22% of the right ones are called correct."""
    row = judge_table(score(load_scorer(), probe_answers(YES_OR_NO))).set_index(["judge", "kind"]).loc["NLI+lex", "all"]
    assert row.correct > 65
    assert row.incorrect > 80
