"""Changes of a word or two of a parsed sentence, with what they do to its meaning.

A word for its kind (a violin, an instrument) is entailed, and the reverse neutral; another word of its kind
contradicts, but not under a negation; a synonym is entailed both ways. Words are in `swap_words.yaml`. The rules of
`semantic_metrics.contradictions` give the changes that contradict by opposites, amounts, dates, quantifiers and
exchanged roles.
"""

import inspect
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from semantic_metrics.contradictions import RULES
from semantic_metrics.contradictions.clauses import finite, is_negated, is_statement
from semantic_metrics.contradictions.language import Change, Place, drop, inflected, lemma, swap
from semantic_metrics.contradictions.words import listed, word_lists
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair, embedded

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

WORDS = yaml.safe_load(Path(__file__).with_name("swap_words.yaml").read_text(encoding="utf-8"))
DOWNWARD = frozenset(WORDS["downward"].split())
CONTRADICTING_RULES = {  # of semantic_metrics.contradictions, with the kind of pairs they give
    "antonym": "antonym",
    "quantity": "number",
    "date": "date",
    "quantifier": "quantifier",
    "role": "roles",
}
NAME_LISTS = {"cities": "GPE", "countries": "GPE", "nationalities": "NORP"}
GENDERED_PAIRS = (("man", "woman"), ("boy", "girl"), ("men", "women"), ("boys", "girls"), ("lady", "gentleman"))
# what these govern is not stated
UNCERTAIN = ("if", "unless", "whether", "or", "would", "could", "might", "may", "should")
# what the rule for opposites takes wrongly for an adjective, or for a place ("under British rule")
NOT_OPPOSITES = ("shorts", "under", "over")
PLURAL_ONLY = ("jeans", "shorts", "trousers", "leggings", "pliers")
MAX_CONJUNCT_WORDS = 4
HEDGE, HEDGE_PAIRS = "hedge", 3  # the kind of hedged, reported and confirmed sentences, and how many pairs one gives
MODALS = ("may", "might")  # "could" is also what one was able to do


@dataclass(frozen=True)
class Edit:
    """A change of a sentence, with the label of (text, changed text) and of the reverse.

    `kind` is what is changed, `keys` are the words that are exchanged, as base forms.
    """

    change: Change
    label: str
    reverse: str
    kind: str
    keys: tuple[str, ...]


def edits(sentence: "Span", draw: random.Random) -> Iterator[Edit]:
    """All changes of a sentence that states something; which word of a kind takes the place of another is drawn.

    Under "no", "few" and the like another word of its kind does not contradict: who has no violin may have no guitar
    either. Only the rule for quantifiers knows what such words do.
    """
    if any(token.lower_ in UNCERTAIN for token in sentence):
        return
    upward = is_upward(sentence)
    by_words, by_rules = _by_words(sentence, draw, upward), _by_rules(sentence, draw)
    for edit in chain(by_words, _conjunctions(sentence), _bound(sentence), by_rules):
        if upward or edit.label != CONTRADICTION or edit.kind == CONTRADICTING_RULES["quantifier"]:
            yield edit


def is_upward(sentence: "Span") -> bool:
    """Whether no word of a sentence, such as "no" or "few", makes what is said of a kind hold for all of it."""
    return not any(token.lower_ in DOWNWARD for token in sentence)


def is_proper(sentence: "Span") -> bool:
    """Whether the first word of a sentence has a capital everywhere."""
    return sentence[0].pos_ == "PROPN" or sentence[0].text == "I"


def _by_words(sentence: "Span", draw: random.Random, upward: bool) -> Iterator[Edit]:
    """Changes of a word that `swap_words.yaml` has."""
    present = {token.lower_ for token in sentence} | {lemma(token.text, "NOUN") for token in sentence}
    for token in sentence:
        if token.ent_type_ in ("GPE", "NORP", "PERSON"):
            yield from _names(token, draw, present, upward)
        elif token.tag_ in ("NN", "NNS") and _plain_noun(token):
            yield from _nouns(token, draw, present, upward)
        elif token.pos_ == "VERB" and not any(c.dep_ in ("prt", "neg", "xcomp", "ccomp") for c in token.children):
            yield from _verbs(token, draw, present, upward)
        elif token.pos_ == "ADJ" and token.dep_ == "amod":
            yield from _adjectives(token, draw, present, upward)
        elif token.dep_ == "prep":
            yield from _prepositions(token)


def _by_rules(sentence: "Span", draw: random.Random) -> Iterator[Edit]:
    """Changes by the rules of `semantic_metrics.contradictions`."""
    for rule, kind in CONTRADICTING_RULES.items():
        function = RULES[rule]
        draws = (draw,) if "random" in inspect.signature(function).parameters else ()
        for change in function(sentence, *draws):
            if any(sentence.doc.text[begin:end].lower() in NOT_OPPOSITES for begin, end, _ in change.places):
                continue
            words = [word for begin, end, new in change.places for word in (sentence.doc.text[begin:end], new) if word]
            keys = tuple(sorted({lemma(word, "NOUN") for word in words}))
            yield Edit(change, CONTRADICTION, CONTRADICTION, kind, keys)


def _up(place: Place, kind: str, *keys: str) -> Edit:
    return Edit(Change((place,)), ENTAILMENT, NEUTRAL, kind, keys)


def _same(place: Place, kind: str, *keys: str) -> Edit:
    return Edit(Change((place,)), ENTAILMENT, ENTAILMENT, kind, keys)


def _other(places: tuple[Place, ...], kind: str, *keys: str) -> Edit:
    return Edit(Change(places), CONTRADICTION, CONTRADICTION, kind, keys)


def _plain_noun(token: "Token") -> bool:
    """Whether a noun is no part of a name or a compound, and is not compared or joined by a hyphen."""
    around = token.doc[max(token.i - 1, 0)].text, token.doc[min(token.i + 1, len(token.doc) - 1)].text
    hyphened = "-" in around or "/" in around or "'s" in around[1]
    parts = ("hot", "same", "other", "such", "kind", "type", "toy")
    partial = any(c.dep_ == "compound" or c.lower_ in parts for c in token.children)
    return token.dep_ != "compound" and not hyphened and not partial and not token.ent_type_


def overlapping(word: str, other: str) -> bool:
    """Whether one thing may be called both."""
    return any({word, other} <= set(group.split()) for group in WORDS["overlapping"])


def _others(word: str, words: list[str], present: set[str]) -> list[str]:
    return [w for w in words if w != word and w not in present and not overlapping(word, w)]


def _nouns(token: "Token", draw: random.Random, present: set[str], upward: bool) -> Iterator[Edit]:
    base, plural = lemma(token.text, "NOUN"), token.tag_ == "NNS"
    determined = plural or any(c.dep_ in ("det", "poss", "nummod") for c in token.children)
    for kind, entry in WORDS["kinds"].items():
        if base not in entry["words"] or determined == entry.get("mass", False):
            continue
        above = entry.get("bare" if entry.get("mass") else "above")
        if upward and above and child(token, "amod") is None:
            yield _up(swap(token, _noun_like(above, token)), "hypernym", base, kind)
        choices = _others(base, entry["words"], present) if entry.get("apart", True) else []
        if choices:
            other = draw.choice(choices)
            yield _other((swap(token, _noun_like(other, token)),), "hyponym", base, other)
    if synonym := WORDS["synonyms"]["NOUN"].get(base):
        yield _same(swap(token, _noun_like(synonym, token)), "synonym", base, synonym)
    gendered = any(listed("gendered", word) for word in present)
    for pair in GENDERED_PAIRS:
        other = pair[token.lower_ == pair[0]]
        if token.lower_ in pair and not gendered and other not in present:
            yield _other((swap(token, other),), "hyponym", *pair)


def _noun_like(phrase: str, token: "Token") -> str:
    """Phrase in the number of a noun: "piece of fruit", "pieces of fruit"."""
    if token.tag_ != "NNS" or phrase.startswith("a "):
        return phrase
    words = phrase.split()
    head = words.index("of") - 1 if "of" in words else words.index("on") - 1 if "on" in words else len(words) - 1
    words[head] = words[head] if words[head] in PLURAL_ONLY else inflected(words[head], "NNS")
    return " ".join(words)


def _verbs(token: "Token", draw: random.Random, present: set[str], upward: bool) -> Iterator[Edit]:
    base = lemma(token.text, "VERB")
    bare = not any(c.dep_ in ("dobj", "nsubjpass", "auxpass", "agent") for c in token.children)
    if upward and (above := WORDS["verb_above"].get(base)):
        yield _up(swap(token, _verb_like(above, token)), "hypernym", base, above)
    if (synonym := WORDS["synonyms"]["VERB"].get(base)) and child(token, "dobj"):
        yield _same(swap(token, _verb_like(synonym, token)), "synonym", base, synonym)
    for words in WORDS["verb_kinds"].values():
        if base in words and bare and token.tag_ == "VBG" and token.dep_ in ("ROOT", "acl"):
            choices = [word for word in _others(base, words, present) if inflected(word, "VBG") not in present]
            if choices:
                other = draw.choice(choices)
                yield _other((swap(token, _verb_like(other, token)),), "hyponym", base, other)


def _verb_like(phrase: str, token: "Token") -> str:
    first, *rest = phrase.split()
    return " ".join([inflected(first, token.tag_), *rest])


def _adjectives(token: "Token", draw: random.Random, present: set[str], upward: bool) -> Iterator[Edit]:
    word, noun = token.lower_, token.head
    graded = any(c.dep_ in ("conj", "cc", "advmod") for c in token.children)
    hyphened = token.i > 0 and "-" in token.nbor(-1).text
    named = token.text[0].isupper() and token.i > token.sent.start
    if graded or hyphened or named or token.i >= noun.i:
        return
    colours = WORDS["colours"]
    if word in colours and not _never_coloured(noun) and (choices := _others(word, colours, present)):
        other = draw.choice(choices)
        yield _other((swap(token, other),), "colour", word, other)
    if upward and (above := WORDS["adjective_above"].get(word)):
        yield _up(swap(token, above), "hypernym", word, above)
    if synonym := WORDS["synonyms"]["ADJ"].get(word):
        yield _same(swap(token, synonym), "synonym", word, synonym)
    droppable = word in colours or word in word_lists().opposites["adjective"]
    if upward and droppable and not _never_coloured(noun):
        yield Edit(Change((drop(token),)), ENTAILMENT, NEUTRAL, "dropped", (word,))


def _never_coloured(noun: "Token") -> bool:
    base = lemma(noun.text, "NOUN")
    return base in word_lists().people or listed("coloured", base) or noun.ent_type_ != "" or listed("groups", base)


def _prepositions(token: "Token") -> Iterator[Edit]:
    thing = child(token, "pobj")
    if thing is None or thing.ent_type_ or thing.tag_ not in ("NN", "NNS") or thing.i == token.i + 1:
        return
    span, word = token, token.lower_
    for words in ("in front of", "on top of", "next to"):
        length = len(words.split())
        window = token.doc[token.i : token.i + length]
        if window.text.lower() == words:
            span, word = window, words
    if word == "on" and thing.lower_ not in WORDS["surfaces"]:
        return
    if same := WORDS["prepositions_same"].get(word):
        yield _same(swap(span, same), "synonym", word, same)
    if other := WORDS["prepositions_other"].get(word):
        yield _other((swap(span, other),), "preposition", word, other)


def _names(token: "Token", draw: random.Random, present: set[str], upward: bool) -> Iterator[Edit]:
    word, label = token.text, token.ent_type_
    ends = token.i + 1 == len(token.doc) or token.nbor().text not in (",", "-")
    whole = token.doc[max(token.i - 1, 0)].ent_type_ != label and ends
    if label == "PERSON" and token.ent_iob_ == "B":
        for names in WORDS["names"].values():
            if word in names and not any(t.text == word for t in token.sent if t.i != token.i):
                other = draw.choice([name for name in names if name.lower() not in present and name != word])
                yield _other((swap(token, other),), "name", word, other)
    for name, wanted in NAME_LISTS.items():
        places, of_a_nation = WORDS[name], name == "nationalities"
        if label != wanted or word not in places or not whole or token.dep_ == "compound":
            continue
        if of_a_nation and token.tag_ != "JJ":
            continue
        other = draw.choice([place for place in places if place.lower() not in present and place != word])
        yield _other((swap(token, other),), "name", word, other)
        inside = of_a_nation or (token.dep_ == "pobj" and token.head.lower_ in ("in", "from"))
        if upward and inside and places[word].lower() not in present:
            yield _up(swap(token, places[word]), "hypernym", word)


def child(token: "Token", relation: str) -> "Token | None":
    """The first word that depends on another one in some way."""
    return next((c for c in token.children if c.dep_ == relation), None)


def joined(first: "Token") -> tuple["Token | None", "Token | None"]:
    """The second of two words joined by "and", and the "and"; None for both if they are not two."""
    second, joint = child(first, "conj"), child(first, "cc")
    two = second and joint and joint.lower_ == "and" and not any(c.dep_ in ("conj", "cc") for c in second.children)
    return (second, joint) if two else (None, None)


def unbroken(words: list["Token"]) -> bool:
    """Whether words follow each other."""
    return all(a.i + 1 == b.i for a, b in pairwise(words))


def _conjunctions(sentence: "Span") -> Iterator[Edit]:
    """Exchange two joined phrases, which says the same."""
    for first in sentence:
        second, joint = joined(first)
        if second is None or first.pos_ != second.pos_ or first.pos_ not in ("NOUN", "PROPN"):
            continue
        if first.head.dep_ == "conj":
            continue
        spans = [_phrase(first, joint.i), _phrase(second, sentence.end)]
        if None in spans or spans[1].start != joint.i + 1 or spans[0].end != joint.i:
            continue
        if any(t.pos_ == "PRON" or t.lower_ in DOWNWARD for span in spans for t in span):
            continue
        if all(span[0].dep_ in ("det", "nummod", "poss") or span[0].tag_ == "NNS" for span in spans):
            places = swap(spans[0], _within(spans[1])), swap(spans[1], _within(spans[0]))
            yield Edit(Change(places), ENTAILMENT, ENTAILMENT, "reordered", ())


def _bound(sentence: "Span") -> Iterator[Edit]:
    """Exchange the colours of two things, or two opposite adjectives."""
    adjectives = [t for t in sentence if t.dep_ == "amod" and t.i < t.head.i and not any(t.children)]
    for one, other in combinations(adjectives, 2):
        nouns = {lemma(token.head.text, "NOUN") for token in (one, other)}
        fixed = any(_never_coloured(token.head) for token in (one, other)) and one.lower_ in WORDS["colours"]
        if len(nouns) > 1 and not fixed and _comparable(one.lower_, other.lower_):
            yield _other((swap(one, other.lower_), swap(other, one.lower_)), "reordered")


def _comparable(one: str, other: str) -> bool:
    """Whether two adjectives exclude each other: two colours, or opposites."""
    colours = WORDS["colours"]
    opposites = word_lists().opposites["adjective"]
    opposite = opposites.get(one) == other or opposites.get(other) == one
    return (one in colours and other in colours and not overlapping(one, other)) or opposite


def _phrase(noun: "Token", end: int) -> "Span | None":
    """A short noun phrase up to a place, if nothing follows its noun."""
    words = [t for t in noun.subtree if t.i <= noun.i]
    follows = [c for c in noun.children if c.i > noun.i and c.i < end and c.dep_ not in ("cc", "conj", "punct")]
    if len(words) > MAX_CONJUNCT_WORDS or not unbroken(words) or follows or any(t.is_punct for t in words):
        return None
    return noun.doc[words[0].i : noun.i + 1]


def _within(span: "Span") -> str:
    text = span.text
    return text if span[0].pos_ == "PROPN" else text[0].lower() + text[1:]


def hedge_pairs(sentence: "Span", draw: random.Random) -> Iterator[Pair]:
    """A few pairs of a sentence that states something and its hedged, reported and confirmed forms.

    "She may have left" and "some say that she left" do not entail "she left"; "she left" entails "she may have left",
    but not that anybody says so.
    """
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
    yield from draw.sample(options, HEDGE_PAIRS)


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
