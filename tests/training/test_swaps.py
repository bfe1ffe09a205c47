"""Generated pairs and triplets: what each change does to the label, what is held out, and what belongs to a probe."""

import random
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from semantic_metrics.contradictions.language import load_pipeline
from training.data import swaps
from training.data.config_files import read_yaml
from training.data.roles import FRAMES, Frames, build
from training.data.sources import normalise
from training.data.swap_numbers import number_edits
from training.data.swap_order import order_pairs
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, LABELS, Pair, ProbeWords, stems
from training.data.swap_words import edits

TABLES = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))
PROBE = pd.read_csv(swaps.PROBE, keep_default_na=False)


def changes(text: str, seeds: int = 4) -> set[tuple[str, str, str]]:
    """Changed texts of a sentence with their label and the label of the reverse."""
    made = set()
    for seed in range(seeds):
        sentence = next(load_pipeline()(text).sents)
        for edit in (*edits(sentence, random.Random(seed)), *number_edits(sentence, random.Random(seed))):
            made.add((edit.change.apply(text), edit.label, edit.reverse))
    return made


@pytest.mark.parametrize(("text", "changed", "label", "reverse"), TABLES["changes"])
def test_a_change_has_the_label_of_both_directions(text: str, changed: str, label: str, reverse: str) -> None:
    assert (changed, label, reverse) in changes(text)


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


def order_pairs_of(text: str, premise: str | None = None, seeds: int = 12) -> list[Pair]:
    sentence = next(load_pipeline()(text).sents)
    return [pair for seed in range(seeds) for pair in order_pairs(sentence, premise, random.Random(seed))]


def labelled(text: str, premise: str | None = None) -> dict[frozenset[str], str]:
    return {frozenset((pair.premise, pair.hypothesis)): pair.label for pair in order_pairs_of(text, premise)}


@pytest.mark.parametrize(("text", "other", "label"), TABLES["order"])
def test_the_order_decides_the_label(text: str, other: str, label: str) -> None:
    assert labelled(text)[frozenset((text, other))] == label


ROLES_PROBE = Path(__file__).parents[2] / "benchmarks" / "suite" / "word_order.csv"


@pytest.fixture(scope="module")
def frames() -> Frames:
    return read_yaml(FRAMES, Frames)


def test_build_draws_the_same_by_seed_and_parts_share_no_relation(frames: Frames) -> None:
    train, held_out = build(frames, 800, seed=3)
    again, _ = build(frames, 800, seed=3)
    other, _ = build(frames, 800, seed=4)
    pd.testing.assert_frame_equal(train, again)
    assert not train.equals(other)
    assert not set(train["relation"]) & set(held_out["relation"])
    assert not train.duplicated().any()
    assert (train[["reference", "correct", "incorrect"]].nunique(axis=1) == 3).all()


def test_no_text_of_the_probe_is_drawn(frames: Frames) -> None:
    probe = pd.read_csv(ROLES_PROBE)[["reference", "paraphrase", "swap"]].to_numpy().ravel()
    train, held_out = build(frames, 5000, seed=0)
    drawn = pd.concat([train, held_out])[["reference", "correct", "incorrect"]].to_numpy().ravel()
    assert not set(probe) & set(drawn)
