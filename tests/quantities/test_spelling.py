"""Words that differ as a slip of the keys or another spelling makes them differ, and words that only look so."""

import pytest

from semantic_metrics.quantities.rewrite import rewrite
from semantic_metrics.quantities.rules import SAME, rule


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The waiter was late.", "The waitre was late."),
        ("Bangkok", "Bankgok"),
        ("Mississippi", "Missisippi"),
        ("Picasso", "Piccaso"),
        ("The neighbours organised a fund for the theatre.", "The neighbors organized a fund for the theater."),
        ("An anaesthetist wrote the catalogue.", "An anesthetist wrote the catalog."),
        ("a grey tyre", "a gray tire"),
    ],
)
def test_one_word_in_two_spellings_is_the_same(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one, "What?").ruling.kind == SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The trial was quiet.", "The trail was quite."),
        ("Marian", "Marina"),
        ("Daina won.", "Dania won."),
        ("Brett", "Bret"),
        ("Cameron", "Cameroon"),
        ("desert", "dessert"),
        ("the poet", "the pet"),
        ("form", "from"),
        ("causal", "casual"),
        ("hypertension", "hypotension"),
        ("ladder", "leader"),
        ("persecution", "prosecution"),
        ("competent", "component"),
        ("raining", "ranging"),
        ("conservation", "conservative"),
        ("Alexander", "Alexandra"),
        ("Beatles", "battles"),
        ("patience", "patients"),
        ("There were dogs.", "Three were dogs."),
        ("lions", "loins"),
        ("unite", "untie"),
        ("Leila won.", "Lelia won."),
        ("bitter", "biter"),
        ("Austria", "Australia"),
        ("Alexander besieged Tyre.", "Alexander besieged Tire."),
        ("Grey", "Gray"),
        ("Nasir", "Nasri"),
        ("The dairy keeps a diary.", "The diary keeps a dairy."),
    ],
)
def test_another_word_stays_another(one: str, other: str) -> None:
    assert rewrite(one, other).text == one
    assert rule(one, other, "What?").ruling.kind != SAME
