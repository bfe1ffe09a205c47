"""Which parts of a text claim something, and what the model reads of them."""

import pytest

from semantic_metrics.support.claims import read_claims

ANSWER = """Sure! Here is a summary of the article:

# Budget 2024

**Schools**

3. **Schools:** Four schools will close in 2025 [1].
- The `tax` rises by 2%.
* Water: prices stay

Is that all? Let me know if you need more. I hope this helps!"""


def test_markers_and_labels_belong_to_their_claim_and_what_claims_nothing_is_skipped() -> None:
    claims = read_claims(ANSWER)
    assert all(ANSWER[one.begin : one.end] == one.written for one in claims)
    assert [one.text for one in claims if not one.skipped] == [
        "Schools: Four schools will close in 2025.",
        "The tax rises by 2%.",
        "Water: prices stay",
    ]
    skipped = " ".join(one.written for one in claims if one.skipped)
    for piece in (
        "Sure!",
        "Here is a summary of the article:",
        "# Budget 2024",
        "**Schools**",
        "Is that all?",
        "helps!",
    ):
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
    ],
)
def test_a_plain_sentence_is_a_claim(claim: str) -> None:
    assert [one for one in read_claims(claim) if not one.skipped]


def test_lines_without_ends_are_no_headings_of_each_other() -> None:
    lines = ["the dog barks", "the old cat sleeps on the mat"]
    assert [one.text for one in read_claims("\n".join(lines))] == lines
    assert [one.text for one in read_claims("The new bridge\nIt will open in May.")] == ["", "It will open in May."]
