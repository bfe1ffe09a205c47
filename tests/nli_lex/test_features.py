"""The table of features: those of plain transformers, one pair at a time; long answers are read in windows."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.nli_lex.features import COLUMNS, LEXICAL, RICH, TEMPLATE, TWO_FEATURES, extract, load_scorer
from semantic_metrics.nli_lex.windows import Windows, check_template, fill
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import LABELS, listing, named, nli
from tests.tiny_table import WORDS

QUESTIONS = ["who bites the man", "is the cat awake", "", "who runs"]
ANSWERS = ["the dog", "no", "a man sleeps", "not a dog"]
REFERENCES = [["a dog", "the cat"], ["it is not"], ["the man is asleep", "a", "a man"], ["the man runs"]]
ROUNDING = 1e-5


def column(table: np.ndarray, name: str) -> list[float]:
    return table[:, RICH.index(name)].tolist()


@pytest.mark.parametrize(
    "labels", [LABELS, ("entailment", "neutral", "contradiction"), ("Neutral", "CONTRADICTION", "Entailment")]
)
def test_probabilities_are_those_of_one_pair_at_a_time(tmp_path: Path, labels: tuple[str, ...]) -> None:
    """The answer is the premise; labels may have any order."""
    folder = nli(tmp_path / "model", labels)
    features, opinion = extract(load_scorer(str(folder)), QUESTIONS, ANSWERS, REFERENCES), listing(folder)
    lower = [label.lower() for label in labels]
    expected = []
    for question, answer, group in zip(QUESTIONS, ANSWERS, REFERENCES, strict=True):
        for reference in group:
            premise, hypothesis = f"{question} {answer}".strip(), f"{question} {reference}".strip()
            there, back = opinion(premise, hypothesis), opinion(hypothesis, premise)
            named = dict(zip(lower, there, strict=True))
            expected.append([named["entailment"], back[lower.index("entailment")], named["contradiction"]])
    np.testing.assert_allclose(features.table[:, :3], expected, atol=ROUNDING)
    assert features.answer_index.tolist() == [0, 0, 1, 2, 2, 2, 3]
    assert (features.table.dtype, features.table.shape) == (np.float64, (7, len(COLUMNS)))
    assert (features.truncated, features.windowed, features.blank.tolist()) == (0, 0, [False] * 4)


def test_a_head_of_two_labels_gives_no_contradiction(tmp_path: Path) -> None:
    folder = nli(tmp_path / "model", ("not_entailment", "entailment"))
    table, opinion = extract(load_scorer(str(folder)), ["who"], ["the dog"], [["a cat"]]).table, listing(folder)
    assert column(table, "entailment") == pytest.approx([opinion("who the dog", "who a cat")[1]], abs=ROUNDING)
    assert column(table, "contradiction") == [0]


def test_the_template_and_number_words_count(model: Path) -> None:
    scorer, texts = load_scorer(str(model)), (["who"], ["two dogs"], [["2"]])
    plain = extract(scorer, *texts, template="{answer}", number_words=False).table
    assert column(plain, "entailment") == pytest.approx([listing(model)("two dogs", "2")[1]], abs=ROUNDING)
    assert column(plain, "lexical_match") == [0]
    assert column(extract(scorer, *texts).table, "lexical_match") == [1]


def _passes(model: Path, answers: list[str], references: list, features: tuple[str, ...]) -> int:
    scorer, rows = load_scorer(str(model)), []
    scorer.model().register_forward_pre_hook(
        lambda _, args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    extract(scorer, ["who"] * len(answers), answers, references, features=features)
    return sum(rows)


def test_nothing_is_read_twice_or_needlessly(model: Path) -> None:
    answers, references = ["the dog", "a cat"] * 20, [["a dog", "no"]] * 40
    assert _passes(model, answers, references, RICH) == 8
    assert _passes(model, answers, references, TWO_FEATURES) == 4
    assert _passes(model, answers, references, tuple(LEXICAL)) == 0
    assert _passes(model, ["", " \n"], [["a dog"]] * 2, RICH) == 0


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1", "LABEL_2"], ["not_entailment", "other"], ["entailment"]])
def test_a_checkpoint_without_entailment_is_refused_with_its_labels(tmp_path: Path, labels: list[str]) -> None:
    folder = tiny.bert(tmp_path / "model", named(tuple(labels)), labels=len(labels))
    with pytest.raises(ValueError, match=f"checkpoint .*model: expected labels for NLI.*, got {', '.join(labels)}"):
        load_scorer(str(folder))


ROOM = tiny.POSITIONS - 3  # three separators
EXAMPLES = 30


@pytest.fixture(scope="module")
def windows(model: Path) -> Windows:
    """Over the tiny model."""
    return Windows(load_scorer(str(model)), TEMPLATE, None)


def words(longest: int, least: int = 0) -> st.SearchStrategy[list[str]]:
    """Words that are one token each."""
    return st.lists(st.sampled_from(WORDS), min_size=least, max_size=longest)


@settings(max_examples=EXAMPLES)
@given(words(25), words(150, 1), words(12, 1))
def test_windows_hold_the_whole_answer_and_the_reference(
    windows: Windows, question: list, answer: list, reference: list
) -> None:
    numbered = [f"{i // 26 % 10} {chr(97 + i % 26)} {word}" for i, word in enumerate(answer)]  # no two are alike
    (reading,) = windows.read(" ".join(question), " ".join(numbered), " ".join(reference))
    assert reading.hypothesis.text.split()[-len(reference) :] == reference
    kept = reading.hypothesis.text.split()[: -len(reference)]
    assert kept == question[: len(kept)]
    assert reading.cut == (kept != question)
    assert all(len(premise.text.split()) + len(reading.hypothesis.text.split()) <= ROOM for premise in reading.premises)
    parts = [premise.text.split()[len(kept) :] for premise in reading.premises]
    whole, covered = " ".join(numbered).split(), 0
    for part in parts:
        begin = next(i for i in range(covered + 1) if whole[i : i + len(part)] == part)
        assert begin <= covered < begin + len(part), "a window begins where the last one ends, or before"
        covered = begin + len(part)
    assert covered == len(whole)
    fits = len(question) * 2 + len(whole) + len(reference) <= ROOM
    assert (len(parts) == 1 and not reading.cut) or not fits


def test_a_word_without_spaces_is_cut_inside(windows: Windows) -> None:
    (reading,) = windows.read("", "x" * 90, "a cat")
    assert len(reading.premises) > 2
    assert all(set(premise.text) == {"x"} and 0 < len(premise.text) <= ROOM - 2 for premise in reading.premises)


def test_the_window_that_entails_most_counts(model: Path) -> None:
    scorer, opinion = load_scorer(str(model)), listing(model)
    answer, question, reference = " ".join(WORDS * 8), "is the dog awake", "the dog sleeps"
    (reading,) = Windows(scorer, TEMPLATE, None).read(question, answer, reference)
    each = [opinion(premise.text, reading.hypothesis.text) for premise in reading.premises]
    best = max(range(len(each)), key=lambda i: each[i][1])
    back = opinion(reading.hypothesis.text, reading.premises[best].text)
    features = extract(scorer, [question], [answer], [[reference]])
    assert features.table[0, :3] == pytest.approx([each[best][1], back[1], each[best][0]], abs=1e-5)
    assert (features.windowed, features.truncated) == (1, 0)
    assert features.table[0, RICH.index("token_recall")] == 1, "words are counted in the whole answer"


def test_a_reference_that_leaves_no_room_is_read_in_parts(model: Path) -> None:
    """Each with its best window; the probabilities are the means over the parts."""
    scorer, opinion, long = load_scorer(str(model)), listing(model), " ".join(WORDS * 3)
    readings = Windows(scorer, TEMPLATE, None).read("the", "a dog " * 9, long)
    assert len(readings) == 4
    assert " ".join(reading.hypothesis.text.removeprefix("the ") for reading in readings) == long
    expected = []
    for reading in readings:
        there = max((opinion(part.text, reading.hypothesis.text) for part in reading.premises), key=lambda p: p[1])
        expected.append([there[1], there[0]])
    features = extract(scorer, ["the"] * 2, ["a dog " * 9] * 2, [["a cat"], [long]])
    assert features.table[1, [0, 2]] == pytest.approx(np.mean(expected, axis=0), abs=1e-5)
    assert (features.split, features.table[1, RICH.index("token_recall")]) == (1, 1 / 12), (
        "words are counted in all parts"
    )
    whole = extract(scorer, [""], ["a"], [[" ".join(WORDS * 2)]])
    assert (whole.truncated, whole.split) == (0, 0)


@pytest.mark.parametrize("template", ["{answer}", "Q: {question}\nA: {answer}", "{{{question}}} {answer}"])
def test_templates(template: str) -> None:
    expected = template.replace("{{{", "{{0}").replace("}}}", "}").replace("{{0}", "{")
    shown = fill(check_template(template), " {answer} why? ", " {question} \n").text
    assert "{question}" in shown
    assert shown.count("why?") == expected.count("question")


INVALID = ["", "{question}", "{answer} {answer}", "{question} {question} {answer}", "{} {answer}", "{answer!r}"]
INVALID += ["{answer", "{answer:>9}", "{answer.__class__}", "{answer} {other}"]


@pytest.mark.parametrize("template", [*INVALID, None, 3, b"{answer}"])
def test_an_invalid_template_is_refused(template: object) -> None:
    with pytest.raises(ValueError, match=r"template: expected a string with \{answer\} once"):
        check_template(template)
