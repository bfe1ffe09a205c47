"""Generated NLI pairs: what each change does to the label, what is held out, and what belongs to the probe."""

import random
import sys
from itertools import islice
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics.contradictions.language import load_pipeline
from training.data import swaps
from training.data.sources import normalise
from training.data.swap_forms import Activity, FormPairs
from training.data.swap_numbers import number_edits
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL, Pair, ProbeWords, stems
from training.data.swap_words import WORDS, edits

PROBE = pd.read_csv(swaps.PROBE, keep_default_na=False)
DOINGS = [Activity("play", " chess in the park"), Activity("sing"), Activity("write", " a letter"), Activity("swim")]


def changes(text: str, seeds: int = 4) -> set[tuple[str, str, str]]:
    """Changed texts of a sentence with their label and the label of the reverse."""
    made = set()
    for seed in range(seeds):
        sentence = next(load_pipeline()(text).sents)
        for edit in (*edits(sentence, random.Random(seed)), *number_edits(sentence, random.Random(seed))):
            made.add((edit.change.apply(text), edit.label, edit.reverse))
    return made


@pytest.mark.parametrize(
    ("text", "changed", "label", "reverse"),
    [
        ("A woman is playing a violin.", "A woman is playing a musical instrument.", ENTAILMENT, NEUTRAL),
        ("A man repairs a bike.", "A man fixes a bike.", ENTAILMENT, ENTAILMENT),
        ("A man in a red shirt is eating.", "A man in a shirt is eating.", ENTAILMENT, NEUTRAL),
        ("She was born in Paris.", "She was born in France.", ENTAILMENT, NEUTRAL),
        ("Seven dogs are running.", "7 dogs are running.", ENTAILMENT, ENTAILMENT),
        ("A man and a dog are sleeping.", "A dog and a man are sleeping.", ENTAILMENT, ENTAILMENT),
        ("A red car and a blue van are here.", "A blue car and a red van are here.", CONTRADICTION, CONTRADICTION),
        ("A cup is on the table.", "A cup is under the table.", CONTRADICTION, CONTRADICTION),
    ],
)
def test_a_change_has_the_label_of_both_directions(text: str, changed: str, label: str, reverse: str) -> None:
    assert (changed, label, reverse) in changes(text)


def test_another_word_of_its_kind_contradicts_but_not_one_that_may_name_the_same() -> None:
    made = {(text, label) for text, label, _ in changes("A man sits on a couch.", 40)}
    assert ("A man sits on a bed.", CONTRADICTION) in made
    assert "A man sits on a sofa." not in {text for text, label in made if label == CONTRADICTION}


@pytest.mark.parametrize(
    ("stated", "denied"),
    [
        ("The man has a violin.", "The man has no violin."),
        ("A cup is on the table.", "A cup is not on the table."),
        ("The boy bought three apples.", "The boy never bought three apples."),
    ],
)
def test_under_a_negation_another_word_of_its_kind_does_not_contradict(stated: str, denied: str) -> None:
    assert CONTRADICTION in {label for _, label, _ in changes(stated)}
    assert CONTRADICTION not in {label for _, label, _ in changes(denied)}


def test_forms_give_each_label_and_whole_sentences() -> None:
    pairs = list(islice(FormPairs(DOINGS).draw(random.Random(0)), 4000))
    assert {pair.label for pair in pairs} == set(LABELS)
    for pair in pairs:
        assert pair.premise != pair.hypothesis
        assert "{" not in pair.premise + pair.hypothesis
        assert pair.premise[0].isupper()
        assert pair.hypothesis.endswith(".")
        assert " a orange" not in pair.premise + pair.hypothesis


def test_the_probe_keeps_its_words_in_any_form_and_its_sentences() -> None:
    probe = ProbeWords(PROBE)

    def kept(one: str, other: str) -> bool:
        return probe.contains(Pair(one, other, ENTAILMENT, "", ()))

    for row in PROBE.itertuples():
        for word in (row.same, row.other):
            texts = [f"We think that this one is {text} indeed." for text in (row.base, word)]
            assert kept(*texts) or {row.base, word} in ({"is not", "isn't"}, {"is not", "is"}), (row.base, word)
            assert kept(*reversed(texts)) == kept(*texts)
            assert kept(row.template.format(word).capitalize(), "Something else.")
    assert kept("Men with guitars sing.", "Men with violins sing.")
    assert kept("They shut the door of the shop.", "They are opening the door of the shop.")
    assert not kept("Men with guitars sing.", "Men with banjos sing.")
    assert not kept("A guitar and a violin lie here.", "A violin and a guitar lie here.")
    assert stems("The shoes") == stems("a shoe")


def test_real_sentences_are_denied_with_the_right_label() -> None:
    rows = [("A tall man is reading a book in the park.", "A man is reading a book.")]
    pairs = {pair for seed in range(60) for pair in swaps.real_pairs(rows, seed) if pair.kind == "denied"}
    texts = {(pair.premise, pair.hypothesis): pair.label for pair in pairs}
    assert texts["A man is reading a book.", "The man is not reading a book."] == CONTRADICTION
    for (premise, hypothesis), label in texts.items():
        denials = sum(any(mark in text for mark in (" not reading", "n't reading")) for text in (premise, hypothesis))
        form = next((f for f in WORDS["denials"] if _begins(hypothesis, f)), "")
        assert label == (CONTRADICTION if (denials + bool(form)) % 2 else ENTAILMENT), (premise, hypothesis)


def _begins(text: str, form: str) -> bool:
    head, _, tail = form.partition("{}")
    return text.startswith(head) and text.rstrip(".").endswith(tail)


def test_command_writes_both_parts_without_the_probe_and_evaluation_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    verbs = ("singing", "eating an apple", "riding a horse", "holding a trumpet", "sleeping")
    rows = [
        (f"A young {person} is {verb} near a small house.", f"A {person} is {verb}.")
        for person in ("man", "boy", "girl")
        for verb in verbs
    ]
    pd.DataFrame(rows, columns=["premise", "hypothesis"]).to_parquet(tmp_path / "rows.parquet")
    pd.DataFrame({"text": ["A boy is sleeping."]}).to_parquet(tmp_path / "test.parquet")
    config = tmp_path / "swaps.yaml"
    config.write_text(
        "train: [{name: a, path: rows.parquet}]\nexclude: [{path: test.parquet, columns: [text]}]\n"
        "pairs: {hypernym: [50, 50, 0], hyponym: [0, 0, 50], roles: [80, 80, 80], negation: [80, 80, 80]}\n",
        encoding="utf-8",
    )
    arguments = ["--config", str(config), "--data", str(tmp_path), "--output", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["swaps.py", *arguments])
    swaps.main()
    assert "train: " in capsys.readouterr().out
    parts = {name: pd.read_parquet(tmp_path / "out" / f"{name}.parquet") for name in ("train", "held_out")}
    probe = ProbeWords(PROBE)
    for part in parts.values():
        assert list(part.columns) == swaps.COLUMNS
        assert set(part["label"]) == set(LABELS)
        assert not part.duplicated(swaps.COLUMNS[:3]).any()
        texts = set(map(normalise, part["sentence1"])) | set(map(normalise, part["sentence2"]))
        assert "a boy is sleeping" not in texts
        assert not any(probe.contains(Pair(r.sentence1, r.sentence2, r.label, r.kind, ())) for r in part.itertuples())
    pairs = [(part["sentence1"] + "|" + part["sentence2"]) for part in parts.values()]
    assert not set(pairs[0]) & set(pairs[1])
