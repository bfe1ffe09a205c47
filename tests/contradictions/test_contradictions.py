"""Contradictions: the rules, the check of the NLI model, and the command."""

import importlib.util
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.contradictions import RULES, contradict, language, summary
from semantic_metrics.contradictions.language import PIPELINES, Change
from semantic_metrics.contradictions.words import word_lists
from tests.cli.conftest import done, invoke, refused

if not any(importlib.util.find_spec(name) for name in PIPELINES):
    pytest.skip("spaCy's English pipeline is not installed (extra: contradict)", allow_module_level=True)

TABLES = yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))
MADE, UNCHANGED = TABLES["made"], TABLES["unchanged"]
LONG = "The old man sat on the bench near the church. " * 300  # 3,000 words


def made(rule: str, text: str, **options: object) -> set[str]:
    return {one.text for one in contradict([text], [rule], per_text=20, check=False, **options)[0].contradictions}


@pytest.mark.parametrize("rule", sorted({*MADE, *UNCHANGED}))
def test_rule_says_the_opposite_in_good_english(rule: str) -> None:
    expected = {text: set(all_made) for text, all_made in MADE.get(rule, {}).items()}
    expected |= {text: set() for text in UNCHANGED.get(rule, ())}
    assert {text: made(rule, text) for text in expected} == expected


NUMBERS = {"Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven"}


@pytest.mark.parametrize(
    ("rule", "text", "begin", "end", "among"),
    [
        ("number", "Two dogs run.", "", " dogs run.", NUMBERS),
        ("number", "He paid for 1,200 seats.", "He paid for ", " seats.", {"300", "600", "2,400", "3,600", "6,000"}),
        ("date", "She was born in May.", "She was born in ", ".", set(word_lists().kinds["month"]) - {"May"}),
        (
            "entity",
            "The dog ate an apple.",
            "The dog ate ",
            ".",
            {"a pear", "an orange", "a banana", "a cherry", "a melon", "a lemon", "a peach", "a strawberry", "a grape"},
        ),
        ("entity", "He lives in France.", "He lives in ", ".", set(word_lists().kinds["country"]) - {"France"}),
    ],
)
def test_rule_swaps_one_word_for_another_of_its_kind(
    rule: str, text: str, begin: str, end: str, among: set[str]
) -> None:
    texts = {one for seed in range(8) for one in made(rule, text, seed=seed)}
    middles = {one[len(begin) : -len(end)] for one in texts if one.startswith(begin) and one.endswith(end)}
    assert len(middles) > 1
    assert middles <= among


def test_model_discards_what_does_not_contradict() -> None:
    texts = ["A man is playing the guitar on a stage.", "The film was released in 1998."]
    for result in contradict(texts, per_text=5):
        assert result.contradictions
        assert all(one.p >= 0.5 for one in result.contradictions)
    assert contradict(texts[:1], threshold=1.0)[0].reason == "model disagrees"


def test_long_text_is_changed_in_one_sentence() -> None:
    (one,) = contradict([LONG], check=False)[0].contradictions
    assert one.text.replace(one.changed, one.sentence) == LONG
    assert one.sentence != one.changed
    assert len(one.changed) < 80


def test_texts_without_a_contradiction_are_counted_by_reason() -> None:
    german = "Der Hund läuft mit dem Ball durch den Park und bellt."
    results = contradict(["", " \n", german, "今日は天気がいい。", "!?", "Hello.", "x" * 200_001], check=False)
    assert summary(results) == {
        "texts": 7,
        "contradictions": 0,
        "none: empty": 2,
        "none: no rule applies": 1,
        "none: not English": 3,
        "none: too long": 1,
    }


def test_result_depends_on_text_and_seed_alone() -> None:
    text = "Two old men in red shirts sat on a bench in Paris on Monday and never spoke."
    alone = contradict([text], check=False, per_text=3)[0]
    assert contradict(["A dog runs.", text, text], check=False, per_text=3)[1:] == [alone, alone]
    others = {contradict([text], check=False, seed=seed)[0].contradictions[0].text for seed in range(10)}
    assert len(others) > 3


PLAIN = """the a two old man woman dog is was not never runs did see can must all some many 1998 20 May Paris in with
hat more than there no he his bought . , ? 's U.S. ("""
TOKENS = [*PLAIN.split(), "\n", "\t", "\u201c", "\u201d", "\xe9", "\u4e2d", "\U0001f600"]


@settings(max_examples=30)
@given(words=st.lists(st.sampled_from(TOKENS), min_size=1, max_size=25), seed=st.integers(0, 3))
def test_a_text_is_neither_changed_nor_its_own_contradiction(words: list[str], seed: int) -> None:
    text = " ".join(words)
    first, again = contradict([text, text], check=False, seed=seed, per_text=3)
    assert first.text == text
    assert first == again
    assert (first.reason == "") == bool(first.contradictions)
    texts = [" ".join(one.text.split()) for one in first.contradictions]
    assert " ".join(text.split()) not in texts
    assert len(set(texts)) == len(texts) <= 3
    assert {one.rule for one in first.contradictions} <= set(RULES)


@given(text=st.text(max_size=60), place=st.integers(0, 60), length=st.integers(0, 10), new=st.text("abn ", max_size=8))
def test_a_change_touches_only_its_place_and_articles(text: str, place: int, length: int, new: str) -> None:
    begin = min(place, len(text))
    end = min(begin + length, len(text))
    changed = Change(((begin, end, new),)).apply(text)
    plain = text[:begin] + new + text[end:]
    drop = str.maketrans("", "", "nN")
    assert changed.translate(drop).casefold() == plain.translate(drop).casefold()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"texts": ["a", None]}, r"texts\[1\]: expected a string, got NoneType"),
        ({"rules": ["negate"]}, "rules: expected some of negation, .*got 'negate'"),
        ({"per_text": 0}, "per_text: expected a whole number"),
        ({"threshold": 1.5}, "threshold: expected a probability"),
        ({"threshold": "x"}, "threshold: expected a probability"),
        ({"texts": None}, "texts: expected a list of strings, got None"),
    ],
)
def test_invalid_arguments_are_named(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        contradict(**{"texts": ["A dog runs."], **options})


@pytest.mark.parametrize("names", ["REQUIRED_LIBRARIES", "PIPELINES"])
def test_missing_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, names: str) -> None:
    monkeypatch.setattr(language, names, ("no_such_thing",))
    with pytest.raises(ValueError, match=r'no_such_thing .*pip install -e "\.\[contradict\]" in a checkout'):
        language.load_pipeline.__wrapped__()


def test_the_command_writes_row_rule_and_probability(tmp_path: Path) -> None:
    source, target = tmp_path / "texts.csv", tmp_path / "out.jsonl"
    source.write_text("id,text\n1,The dog is asleep.\n2,\n3,The film was released in 1998.\n")
    lines = done(invoke("contradict", source, "--output", target))
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [row["row"] for row in rows] == [1, 3]
    assert all(row["probability"] >= 0.5 and row["contradiction"] != row["text"] for row in rows)
    assert lines[-1].startswith("texts 3, contradictions 2, rule ")
    assert lines[-1].endswith("none: empty 1")


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    source = tmp_path / "texts.csv"
    source.write_text("claim\nA dog runs.\n")
    refused(invoke("contradict", source), "texts.csv: expected one of the columns 'claim', got 'text'")
    refused(invoke("contradict", source, "--output", "o.txt"), "--output: expected a file of .csv, .tsv, ")
