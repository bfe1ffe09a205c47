"""Long answers are read in windows; the reference never loses a word."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.nli_lex.features import RICH, TEMPLATE, extract, load_scorer
from semantic_metrics.nli_lex.windows import Windows, check_template, fill
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import listing
from tests.tiny_table import WORDS

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


def test_a_question_that_leaves_no_room_is_cut_and_counted(model: Path) -> None:
    features = extract(load_scorer(str(model)), [" ".join(WORDS * 3), "the"], ["a cat"] * 2, [["the dog"], ["the man"]])
    assert (features.truncated, features.windowed) == (1, 0)


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
