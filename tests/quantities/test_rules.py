"""Probes of each kind of rule: what is written in another way is the same, what is another thing is not."""

from itertools import combinations, pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.quantities.characters import unfold
from semantic_metrics.quantities.compare import DIFFERENT as OTHER
from semantic_metrics.quantities.compare import EQUAL, compare, relate
from semantic_metrics.quantities.manners import MOST_LAYERS, legible, plain, without_thoughts
from semantic_metrics.quantities.read import read
from semantic_metrics.quantities.rewrite import rewrite
from semantic_metrics.quantities.rules import DIFFERENT, SAME, contradicted_by, rule

TABLES = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))


# a source, a claim that it makes, and one that it does not
ELLIPTIC = [
    ("It snowed on March 3. On March 9, too.", "It snowed on March 9.", "It snowed on March 12."),
    ("He was fined in 2009. Again in 2011.", "He was fined in 2011.", "He was fined in 2012."),
]

LONGER = [
    ("The choir met twice a week for 3 months.", "The choir met once a week."),
    ("The bus runs on Fridays after midnight.", "The bus runs on Sundays."),
    ("The tank holds 40 l of oil and weighs 90 kg.", "The tank holds 40 ml of oil."),
    ("The dam cost 30 million dollars, most of it lent.", "The dam cost 30 billion dollars."),
]


@pytest.mark.parametrize(("sentence", "claim"), LONGER)
def test_a_sentence_that_says_more_contradicts_a_claim_with_another_quantity(sentence: str, claim: str) -> None:
    assert contradicted_by(claim, [sentence], [sentence])
    assert not contradicted_by(sentence, [sentence], [sentence])


@pytest.mark.parametrize(("one", "other"), TABLES["conversions"])
def test_a_quantity_in_another_unit_or_writing_is_the_same(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == SAME


@pytest.mark.parametrize(("one", "other"), TABLES["wrong_units"])
def test_another_unit_contradicts(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == DIFFERENT


@pytest.mark.parametrize(("writings", "other"), TABLES["dates"])
def test_a_date_has_many_writings(writings: tuple[str, ...], other: str) -> None:
    read_dates = [read(f"It was signed on {one}.").quantities[0] for one in writings]
    assert {relate(read_dates[0], one) for one in read_dates} == {EQUAL}
    assert {rule(f"It closed on {writings[0]}.", f"It closed on {one}.").ruling.kind for one in writings} == {SAME}
    assert {relate(one, read(other).quantities[0]) for one in read_dates} == {OTHER}


@pytest.mark.parametrize(("source", "claim", "false"), ELLIPTIC)
def test_a_sentence_without_the_words_of_the_other_one_counts(source: str, claim: str, false: str) -> None:
    sentences = [sentence.strip(".") + "." for sentence in source.split(". ")]
    assert not contradicted_by(claim, sentences, sentences)
    assert contradicted_by(false, sentences, sentences)


@pytest.mark.parametrize("text", TABLES["beside_itself"])
def test_a_text_is_the_same_as_itself_in_another_dress(text: str) -> None:
    ligatures = text.replace("ffi", "\ufb03").replace("fi", "\ufb01").replace("ff", "\ufb00")
    wide = "".join(chr(ord(sign) + 0xFEE0) if "a" <= sign <= "z" else sign for sign in text)
    bare = text.removesuffix(".")  # a question without its mark is no question
    for other in (text.upper(), text.lower(), bare, f"  {text} ", f'"{text}"', f"**{text}**", ligatures, wide):
        assert rule(text, other).ruling.kind == rule(other, text).ruling.kind == SAME, other


NOT_THE_SAME = TABLES["not_the_same"]
NOT_THE_SAME += [("p && q", "p || q")]


@pytest.mark.parametrize(("one", "other"), NOT_THE_SAME)
def test_rules_see_what_differs(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == DIFFERENT
    assert rule(one, other).ruling.reason


@pytest.mark.parametrize(("one", "other"), TABLES["open"])
def test_rules_leave_open_what_may_be_true(one: str, other: str) -> None:
    assert not rule(one, other).ruling.kind
    assert not compare(other, one).differences


@pytest.mark.parametrize(("question", "answer", "reference", "kind"), TABLES["answers"])
def test_answers(question: str | None, answer: str, reference: str, kind: str) -> None:
    assert rule(reference, answer, question).ruling.kind == kind


@pytest.mark.parametrize(("one", "other"), TABLES["doubtful"])
def test_what_may_be_the_same_is_left_to_the_model(one: str, other: str) -> None:
    for question in (None, "What?"):
        assert not {rule(a, b, question).ruling.kind for a, b in ((one, other), (other, one))} & {SAME, DIFFERENT}


@pytest.mark.parametrize("row", TABLES["amounts"], ids="~".join)
def test_amounts_in_any_unit_and_writing_are_equal(row: list[str]) -> None:
    for one, other in combinations([f"It was {one} in all." for one in row], 2):
        assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == SAME, (one, other)


@pytest.mark.parametrize("row", TABLES["others"], ids="~".join)
def test_another_amount_contradicts(row: list[str]) -> None:
    one, other = (f"It was {one} in all." for one in row)
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == DIFFERENT


@pytest.mark.parametrize("row", TABLES["both_may_be_true"], ids="~".join)
def test_what_may_both_be_true_is_left_open(row: list[str]) -> None:
    first, *others = (f"It was {one} in all." for one in row)
    for other in others:
        assert rule(first, other).ruling.kind not in (SAME, DIFFERENT), other
        assert rule(other, first).ruling.kind not in (SAME, DIFFERENT), other


@pytest.mark.parametrize("row", TABLES["identifiers"], ids="~".join)
def test_identifiers_are_as_they_are_written(row: list[str]) -> None:
    for one, other in combinations([f"See {one} for it." for one in row], 2):
        assert rule(one, other).ruling.kind != SAME, (one, other)
        assert rule(other, one).ruling.kind != SAME, (one, other)
        assert rule(one, one.upper()).ruling.kind == SAME, one


@pytest.mark.parametrize("row", TABLES["parallel"], ids=" ".join)
def test_of_parallel_sentences_the_right_one_counts(row: list[str]) -> None:
    *source, false = row
    for claim in source:
        assert not contradicted_by(claim, source, source), claim
    assert contradicted_by(false, source, source)


def test_reasons_name_the_words_of_a_bound() -> None:
    for one, other in pairwise(("at least 200", "at most 100", "over 200", "200")):
        reason = rule(f"It was {one} in all.", f"It was {other} in all.").ruling.reason
        assert f"'{other}' is not '{one}'" in reason


@pytest.mark.parametrize("before", ["USD", "per", "abc", "x", "US", "\u00e9", "9", ""])
def test_whatever_stands_before_a_currency_is_read(before: str) -> None:
    assert rule(f"It costs {before}$10.", f"It costs {before}$10.00.").ruling.kind == SAME
    assert rule(f"It costs {before}$10.", f"It costs {before}$11.").ruling.kind != SAME


@pytest.mark.parametrize(("one", "other"), TABLES["two_spellings"])
def test_one_word_in_two_spellings_is_the_same(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one, "What?").ruling.kind == SAME


@pytest.mark.parametrize(("one", "other"), TABLES["other_words"])
def test_another_word_stays_another(one: str, other: str) -> None:
    assert rewrite(one, other).text == one
    assert rule(one, other, "What?").ruling.kind != SAME


MARKUP = ("**", "__", "`", "*", "# ", "\n", "Sure! ", "Answer: ", "\\boxed{", "}", "$", "Paris", "5", "-", "<think>")
MARKUP += (
    '{"answer": "',
    '"}',
    "</think>",
    "\u0130",
    "\u00b2",
    "\uff0a",
    "\ufb01",
    "\u0301",
    "\u200b",
    "\u2212",
    "\u2460",
    "\u2705",
)
texts = st.lists(st.sampled_from(MARKUP) | st.characters(), max_size=12).map("".join)


@settings(deadline=None, max_examples=200)
@given(text=texts)
def test_what_is_plain_stays_as_it_is(text: str) -> None:
    for bare in (unfold, plain):
        assert bare(bare(text)) == bare(text)
    assert legible(plain(text)) == legible(text)
    spoken, _ = without_thoughts([text])
    assert without_thoughts(spoken) == (spoken, 0)
    assert len(spoken[0]) == len(text)
    assert all(kept in (" ", sign) for kept, sign in zip(spoken[0], text, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`**Paris**`", "Paris"),
        ("Sure! **Answer: Paris**", "Paris"),
        (r"\boxed{\boxed{5}}", "5"),
        ("\uff0a\uff0aParis\uff0a\uff0a", "Paris"),
        ("\ufb01\u0301", "f\u00ed"),
        ("\u2212\u200b\u2460", "-1"),
        ("**`Paris`**", "Paris"),
        ("***Paris***", "*Paris*"),
        ('{"answer": "**Paris**"}', "Paris"),
        ('{"Final_Answer": 1.10}', "1.10"),
        ('{"answer": true}', None),
        ('{"answer": "5", "unit": "kg"}', None),
        ('{"city": "Paris"}', None),
        (r"\boxed{" * (MOST_LAYERS + 1) + "5" + "}" * (MOST_LAYERS + 1), None),
    ],
)
def test_layers_of_markup_go_all_or_none(text: str, expected: str | None) -> None:
    assert plain(text) == (text if expected is None else expected)


def test_a_thought_ends_where_it_ends_beside_letters_that_grow_in_lower_case() -> None:
    assert without_thoughts(["\u0130\u0130\u0130</think>Rome"]) == ([" " * 11 + "Rome"], 1)
