"""What a rule says of the numbers in a sentence of a source beside a claim: the one place that compares numbers."""

from dataclasses import dataclass

from semantic_metrics.nli_lex.conflicts import differing_numbers, same_but_for_writing
from semantic_metrics.nli_lex.lexical import read_words
from semantic_metrics.nli_lex.numerals import write_as_in


@dataclass(frozen=True)
class Quantities:
    """A sentence of a source beside a claim.

    Attributes:
        text: the sentence, its numbers written as the claim writes them.
        same: whether it is the claim but for white space and how its numbers are written.
        same_words: whether it has the claim's words in their order.
        conflict: whether it is the claim with another number, date or unit.
    """

    text: str
    same: bool
    same_words: bool
    conflict: bool


def compare_quantities(sentence: str, claim: str) -> Quantities:
    """What the rule of numbers says of a sentence of a source beside a claim."""
    return Quantities(
        write_as_in(sentence, claim).text,
        same_but_for_writing(sentence, claim),
        read_words(sentence).all == read_words(claim).all,
        bool(differing_numbers(sentence, claim)),
    )
