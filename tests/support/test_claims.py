"""What a text claims, its clauses, the passages of the source that are read for it, and the fitted decision."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from semantic_metrics.cross_encoder.heads import nli_probabilities
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.support.claims import clauses, read_claims
from semantic_metrics.support.decision import FEATURES, FILE, Decision, Logistic, counted, log_odds, verdict_of
from semantic_metrics.support.evidence import Document, Overlap, Source, stems
from semantic_metrics.support.judge import Reader, SupportOptions
from semantic_metrics.support.scoring import load_table
from tests import tiny_pairs as tiny
from training.fit_support import ANY, POSITIVE, fit_logistic

ANSWER = """Sure! Here is a summary of the article:

# Budget 2024

**Schools**

3. **Schools:** Four schools will close in 2025 [1].
- The `tax` rises by 2%.
* Water: prices stay

| Item | Change |
|---|:--|
| Rent | 4% |

Sure, here\u2019s one more point: the pool stays.
Is that all? Let me know if you need more. The text doesn't say who pays. I'm sorry for that. I hope this helps!"""


def test_markers_and_labels_belong_to_their_claim_and_what_claims_nothing_is_skipped() -> None:
    claims = read_claims(ANSWER)
    assert all(ANSWER[one.begin : one.end] == one.written for one in claims)
    assert [one.text for one in claims if not one.skipped] == [
        "Schools: Four schools will close in 2025.",
        "The tax rises by 2%.",
        "Water: prices stay",
        "| Rent | 4% |",
        "the pool stays.",
    ]
    skipped = " ".join(one.written for one in claims if one.skipped)
    said = "Sure!", "Here is a summary of the article:", "# Budget 2024", "**Schools**", "Is that all?", "who pays. I'm"
    for piece in (*said, "helps!"):
        assert piece in skipped


@pytest.mark.parametrize(
    "claim",
    [
        "The dog bites the man.",
        "the dog barks",
        "Sure enough, the bridge closed.",
        "Here is where the king died.",
        "A. Smith won the prize.",
        "No. 10 is empty.",
        "He said: the bridge is closed.",
        "Thank you letters were sent to 300 people.",
        "The report does not say who pays.",
        "The source does not flow.",
        "Of course, the company points to high costs.",
        "\u6865\u5173\u3002\nIt rains.",
    ],
)
def test_a_plain_sentence_is_a_claim(claim: str) -> None:
    assert not any(one.skipped for one in read_claims(claim))


def test_lines_without_ends_are_no_headings_of_each_other() -> None:
    lines = ["the dog barks", "the old cat sleeps on the mat"]
    assert [one.text for one in read_claims("\n".join(lines))] == lines
    assert [one.text for one in read_claims("The new bridge\nIt will open in May.")] == ["", "It will open in May."]


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        (
            "The firm was founded in 1990 by two brothers, and it moved to Berlin after the war.",
            ["The firm was founded in 1990 by two brothers.", "It moved to Berlin after the war."],
        ),
        ("Two people died and 23 were injured.", ["Two people died.", "23 were injured."]),
        ("Sales rose in May; profits fell by a third.", ["Sales rose in May.", "Profits fell by a third."]),
        (
            "The mayor was for it, but the council voted no because the bridge is old.",
            ["The mayor was for it.", "The council voted no.", "The bridge is old."],
        ),
        ("Bob and the mayor met in Paris.", []),
        ("She left.", []),
        ("", []),
    ],
)
def test_cut(sentence: str, parts: list[str]) -> None:
    assert clauses(sentence) == parts


def test_many_conjunctions_end_soon() -> None:
    assert clauses("and the " * 12_000) == []


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    model = tiny.both_heads(tmp_path_factory.mktemp("support") / "model")
    return Reader(PairScorer(model), TABLE, SupportOptions())


def test_the_weakest_clause_lowers_the_feature(reader: Reader) -> None:
    """Each clause has the better of two passages, and the claim the worst of its clauses."""
    claim, source = "He was in and it was it.", "Sales rose in May. The firm is in Berlin."
    [(_, [reading], _)] = reader.readings([claim], [[source]])
    first, second = reading.clause_pairs()
    assert [text for _, text in (first[0], second[0])] == clauses(claim)
    logits = reader.scorer.logits([*first, *second])
    entailments = nli_probabilities(logits.values, reader.scorer.labels)[:, 0]
    assert reading.weakest == pytest.approx(min(entailments[: len(first)].max(), entailments[len(first) :].max()))
    features = dict(zip(FEATURES, reading.features(), strict=True))
    highest = log_odds(reading.probabilities[:, 0].max())
    assert features["short_entailment_of_clauses"] == min(highest, log_odds(np.array(reading.weakest)))


def test_a_claim_of_one_clause_is_read_as_it_is(reader: Reader) -> None:
    [(_, [reading], _)] = reader.readings(["Sales rose."], [["Sales rose in May. The firm is in Berlin."]])
    features = dict(zip(FEATURES, reading.features(), strict=True))
    assert reading.clause_pairs() == []
    assert features["short_entailment_of_clauses"] == log_odds(reading.probabilities[:, 0].max())


def test_features_of_short_sources_make_room_for_those_of_long_ones(reader: Reader) -> None:
    """Of 16 sentences a source is short, of 48 long, and between them both."""
    text = "Sales rose in May. "
    sources = [[text * n] for n in (1, 16, 28, 48, 90)]
    readings = (one for _, [one], _ in reader.readings(["12 cats rose."] * len(sources), sources))
    values = [dict(zip(FEATURES, one.features(), strict=True)) for one in readings]
    assert [one["long"] for one in values] == pytest.approx([0, 0, np.log(28 / 16) / np.log(3), 1, 1])
    for one in values:
        short = [value for name, value in one.items() if name.startswith("short")]
        assert any(short) == (one["long"] < 1)
        assert one["long_lacks_number"] == one["long"]
    assert values[0]["short_entailment_of_one"] == values[0]["short_entailment_of_joined"], "one sentence has no others"


def test_each_feature_reads_its_own_passages(reader: Reader) -> None:
    source = "The king met a dog in Paris. Rain fell. Snow fell. Ships sank. A cat sat there."
    [(_, [reading], _)] = reader.readings(["The king met a cat."], [[source, "A king sang. All was well."]])
    kinds = [(len(one), reading.source.is_run(one), 4 in one and 5 in one) for one in reading.passages]
    assert {(1, True, False), (2, True, False), (2, False, False)} <= set(kinds)
    assert not any(run and across for _, run, across in kinds), "neighbours are of one document"
    reading.probabilities[:, 0] = [0.1 if size == 1 else 0.4 if run else 0.7 for size, run, _ in kinds]
    reading.probabilities[:, 1] = 0.3
    features = dict(zip(FEATURES, reading.features(), strict=True))
    for name, probability in (("one", 0.1), ("neighbours", 0.4), ("joined", 0.7), ("clauses", 0.7)):
        assert features[f"short_entailment_of_{name}"] == pytest.approx(log_odds(np.array(probability)))
    assert features["contradiction_of_nearest"] == features["contradiction"] == pytest.approx(log_odds(np.array(0.3)))


@pytest.mark.parametrize(("share", "counts"), [(0.05, 0.0), (0.1, 0.0), (0.15, 0.5), (0.2, 1.0), (1.0, 1.0)])
def test_the_contradiction_of_a_sentence_that_shares_little_fades(share: float, counts: float) -> None:
    assert counted(np.array([share])) == pytest.approx([counts])


def test_a_sentence_that_shares_nothing_contradicts_nothing(reader: Reader) -> None:
    [(_, [reading], _)] = reader.readings(["The king met a cat."], [["The king met a dog in Paris. Rain fell."]])
    assert reading.passages[:2] == [(0,), (1,)]
    reading.probabilities[:, 1] = 0.8
    reading.probabilities[1, 1] = 1.0
    features = dict(zip(FEATURES, reading.features(), strict=True))
    assert features["short_contradiction"] == features["contradiction"] == pytest.approx(log_odds(np.array(0.8)))


TEXT = "Rain fell. The company elected 12 directors. It was dry.\n\nThe king met them. He left. All was well. It was."
TABLE = load_table()


def words(text: str) -> list[tuple[int, int]]:
    ends = np.cumsum([len(word) + 1 for word in text.split(" ")])
    return [(int(end) - len(word) - 1, int(end) - 1) for end, word in zip(ends, text.split(" "), strict=True)]


def source_of(*texts: str) -> Source:
    return Source([Document.read(text, words, 50, TABLE) for text in texts])


def overlap(source: Source, claim: str) -> Overlap:
    return source.overlap(claim, TABLE.encode([claim]).vectors[0])


def test_shares_count_numbers_twice_and_inflections_as_one_word() -> None:
    source = source_of(TEXT)
    shared = overlap(source, "The election of twelve directors by a company")
    assert shared.share((1,)) == 1.0
    assert shared.share((0,)) == 0.0
    assert overlap(source, "13 rains").share((0,)) < 0.5
    assert overlap(source, "It was not.").share((0,)) == 1.0
    assert stems("12 elections") == stems("twelve elected")


def test_a_number_that_the_source_lacks_is_noticed() -> None:
    source = source_of(TEXT)
    assert overlap(source, "It elected 13 directors").lacks_number
    assert not overlap(source, "It elected twelve directors").lacks_number


def test_passages_are_single_sentences_neighbours_and_distant_sentences() -> None:
    source = source_of(TEXT)
    shared = overlap(source, "The king met the directors of the company")
    passages = source.passages(shared, 3, 50)
    singles = [one for one in passages if len(one) == 1]
    assert singles == passages[:3], "single sentences come first, the nearest of them at the beginning"
    assert {(1,), (3,)} <= set(singles)
    assert max(map(len, passages)) == 3, "of a whole paragraph a model says too much"
    assert any(1 in one and 3 in one for one in passages), "distant sentences together"
    assert len(set(passages)) == len(passages)
    runs = [len(one) for one in passages if one[-1] - one[0] < len(one) <= 3 and one not in shared.covers(3)]
    assert Counter(runs) == {1: 3, 2: 2, 3: 1}, "half as many runs of two, a quarter of three, rounded up"
    assert {(i,) for i in range(7)} <= set(source.passages(shared, None, 50))
    assert all(source.size(one) <= 9 for one in source.passages(shared, None, 9) if len(one) > 1)


def test_neighbours_are_of_one_document() -> None:
    source = source_of("A cat sat. A dog ran.", "Rain fell. Snow fell.")
    shared = overlap(source, "Owls")
    passages = set(source.passages(shared, None, 50))
    assert {(0, 1), (2, 3)} <= passages
    assert not any(1 in one and 2 in one for one in passages - set(shared.covers(3)))


DECISION = Decision(
    Logistic(0.5, tuple(float(i) for i in range(len(FEATURES)))), Logistic(-1.0, (0.25,) * len(FEATURES)), "x", "abc"
)


@pytest.mark.parametrize(
    ("support", "contradiction", "verdict"),
    [
        (0.9, 0.1, "supported"),
        (0.5, 0.5, "supported"),
        (0.4, 0.35, "contradicted"),
        (0.1, 0.8, "contradicted"),
        (0.1, 0.4, "not found"),
        (0.0, 0.0, "not found"),
    ],
)
def test_the_likeliest_verdict_is_given(support: float, contradiction: float, verdict: str) -> None:
    assert verdict_of(support, contradiction) == verdict


def test_support_and_contradiction_are_probabilities_that_leave_room_for_silence() -> None:
    values = DECISION.judge(np.random.default_rng(0).normal(size=(100, len(FEATURES))) * 10)
    assert values.shape == (100, 2)
    assert (values >= 0).all()
    assert (values.sum(axis=1) <= 1).all()


def test_a_decision_comes_back_from_its_file(tmp_path: Path) -> None:
    DECISION.write(tmp_path)
    assert Decision.read(tmp_path, "abcdef") == DECISION
    with pytest.raises(ValueError, match=r"expected the checkpoint that it was fitted for, 'abc', got 'xyz'"):
        Decision.read(tmp_path, "xyz")


@pytest.mark.parametrize("damage", ["no JSON", "[]", '{"support": 3}', "names", "nan"])
def test_a_damaged_file_is_refused_in_one_line(damage: str, tmp_path: Path) -> None:
    DECISION.write(tmp_path)
    values = json.loads((tmp_path / FILE).read_text())
    if damage == "names":
        values["support"]["coefficients"].pop("long_share")
    if damage == "nan":
        values["support"]["intercept"] = float("nan")
    (tmp_path / FILE).write_text(json.dumps(values) if damage in ("names", "nan") else damage)
    with pytest.raises(ValueError, match=r"support.json: expected two logistic regressions over") as error:
        Decision.read(tmp_path, "abc")
    assert "\n" not in str(error.value)


def test_log_odds_are_bounded() -> None:
    assert log_odds(np.array([0.0, 0.5, 1.0])) == pytest.approx([-6, 0, 6])


def test_a_regression_finds_what_tells_the_classes_apart_within_its_bounds() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 3)) * [1, 10, 1]
    labels = features[:, 0] + 0.1 * features[:, 1] + rng.normal(size=400) * 0.2 > 0
    weights = np.full(400, 1 / 400)
    found = fit_logistic(features, labels, weights, [ANY, POSITIVE, POSITIVE])
    assert ((found.probability(features) > 0.5) == labels).mean() > 0.9
    opposite = fit_logistic(features, ~labels, weights, [ANY, POSITIVE, POSITIVE])
    assert opposite.coefficients[0] < 0
    assert opposite.coefficients[1] == 0
