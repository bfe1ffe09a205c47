"""Real sentences that are hedged, reported or confirmed: who may have left need not have left.

"She may have left" and "some say that she left" do not entail "she left"; "she left" entails "she may have left", but
not that anybody says so. Words around a clause are in `swap_words.yaml`.
"""

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.clauses import finite, is_negated, is_statement
from semantic_metrics.contradictions.language import Change, inflected, lemma, swap
from training.data.swap_pairs import ENTAILMENT, NEUTRAL, Pair, embedded
from training.data.swap_words import UNCERTAIN, WORDS, is_proper

if TYPE_CHECKING:
    from spacy.tokens import Span

HEDGE = "hedge"
MODALS = ("may", "might")  # "could" is also what one was able to do
PAIRS_OF_SENTENCE = 3


def hedge_pairs(sentence: "Span", draw: random.Random) -> Iterator[Pair]:
    """A few pairs of a sentence that states something and its hedged, reported and confirmed forms."""
    text = sentence.doc.text
    if any(token.lower_ in UNCERTAIN for token in sentence) or not is_statement(sentence):
        return
    possible, reports, assertions = (
        [(form, embedded(form, text, is_proper(sentence))) for form in draw.sample(WORDS[name], 2)]
        for name in ("possibilities", "reports", "assertions")
    )
    (one, hedged), (other, hedged_too) = draw.sample([*possible, *modal_forms(sentence, draw).items()], 2)
    (report, reported), (sure, confirmed) = draw.choice(reports), draw.choice(assertions)
    options = [
        Pair(hedged, text, NEUTRAL, HEDGE, (one,)),
        Pair(hedged, confirmed, NEUTRAL, HEDGE, (one, sure)),
        Pair(reported, text, NEUTRAL, HEDGE, (report,)),
        Pair(text, reported, NEUTRAL, HEDGE, (report,)),
        Pair(text, hedged, ENTAILMENT, HEDGE, (one,)),
        Pair(hedged, hedged_too, ENTAILMENT, HEDGE, (one, other)),
        Pair(confirmed, hedged, ENTAILMENT, HEDGE, (one, sure)),
    ]
    yield from draw.sample(options, PAIRS_OF_SENTENCE)


def modal_forms(sentence: "Span", draw: random.Random) -> dict[str, str]:
    """A sentence with a modal verb, by that verb; empty where its verb group is negated, has a modal or is in doubt."""
    root = sentence.root
    first = finite(root)
    clauses = any(token.dep_ in ("conj", "advcl", "ccomp", "parataxis") for token in root.children)
    if is_negated(root) or first is None or first.tag_ == "MD" or clauses or first.lower_ == "used":
        return {}  # where there is another clause, the modal verb would hedge one of them
    base = lemma(first.text, "VERB")
    if first.text.startswith("'") or (base == "do" and first != root):
        return {}
    group = base
    if first.tag_ == "VBD":
        group = "have" if base == "have" and first != root else f"have {inflected(base, 'VBN')}"
    modal = draw.choice(MODALS)
    return {modal: Change((swap(first, f"{modal} {group}"),)).apply(sentence.doc.text)}
