"""Pairs of a real sentence and its words in another order: the same said otherwise, or somebody else's deed.

The voice is changed ("A man carries a child." "A child is carried by a man."), a phrase moves to the front or the end,
joined phrases change places, and a definition is turned round: all of these say the same. Who does it and who suffers
it, two names of one sort, or two people in one sentence are exchanged: that says something else. Both are combined, so
that neither the order of the words nor what is plausible tells the label.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.clauses import finite, is_negated, is_statement, subject
from semantic_metrics.contradictions.exchanges import is_animate
from semantic_metrics.contradictions.language import Change, Place, inflected, lemma, swap
from semantic_metrics.contradictions.words import listed, word_lists
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair
from training.data.swap_words import WORDS, Edit, child, joined, unbroken

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_LISTS = WORDS["order"]
EXCHANGED, SURNAME, MOVED, AGENTLESS = "exchanged", "surname", "moved", "agentless"  # kinds
MAX_PHRASE_WORDS = 7
REFERRING = frozenset(_LISTS["referring"].split())
UNCERTAIN = frozenset(_LISTS["uncertain"].split())
OBJECT_OF = {"he": "him", "she": "her", "they": "them", "we": "us"}
SUBJECT_OF = {target: source for source, target in OBJECT_OF.items()}
PLURAL_PRONOUNS = ("they", "them", "we", "us")
BE = {"VBD": ("was", "were"), "VBZ": ("is", "are"), "VBP": ("is", "are")}  # one, many
NUMBERED = {"is": "are", "was": "were", "has": "have", "does": "do"}
SINGULAR = {plural: single for single, plural in NUMBERED.items()}
NO_PASSIVE = frozenset(_LISTS["no_passive"].split())
MUTUAL = frozenset(_LISTS["mutual"].split())
SYMMETRIC_VERBS = frozenset(_LISTS["symmetric_verbs"].split())
SYMMETRIC = frozenset(_LISTS["symmetric"].split())
# clauses and parts of a verb that do not let it be turned
CLAUSES = frozenset(("advcl", "ccomp", "conj", "dative", "mark", "oprd", "xcomp"))
NAME_LABELS = ("PERSON", "ORG", "GPE", "NORP", "LOC", "FAC", "WORK_OF_ART")
UNFIT = frozenset(_LISTS["clause_openers"].split())
MOVABLE = frozenset(_LISTS["movable"].split())
GENERAL = frozenset(_LISTS["general"].split())
SURNAMES = tuple(_LISTS["surnames"].split())


def order_pairs(sentence: "Span", premise: str | None, draw: random.Random) -> Iterator[Pair]:
    """Pairs of one parsed sentence, which is all of its text; of a premise that entails it too, if there is one."""
    if not is_statement(sentence) or any(token.lower_ in UNCERTAIN for token in sentence):
        return
    yield from _surnames(sentence, premise, draw)
    text = sentence.doc.text
    moves = list(_moves(sentence))
    for same in draw.sample(moves, min(2, len(moves))):
        yield _either(text, Change(same).apply(text), ENTAILMENT, MOVED, (), draw)
    if any(token.lower_ in REFERRING for token in sentence):
        return
    exchanges = [*_names(sentence), *_people(sentence)]
    for exchange in draw.sample(exchanges, min(2, len(exchanges))):
        yield from _exchanged(text, exchange, moves, premise, draw)
    yield from _voices(sentence, premise, draw)


def _either(one: str, other: str, label: str, kind: str, keys: tuple[str, ...], draw: random.Random) -> Pair:
    """A pair whose label is the same in both directions, in one of them."""
    first, second = (one, other) if draw.random() < 0.5 else (other, one)
    return Pair(first, second, label, kind, keys)


def _exchange(places: tuple[Place, ...], verb: str) -> Edit:
    """Two phrases that change places; of a verb such as "marry" it may hold both ways."""
    label = _label(verb)
    return Edit(Change(places), label, label, EXCHANGED, (verb,))


def _exchanged(
    text: str, exchange: Edit, moves: list[tuple[Place, ...]], premise: str | None, draw: random.Random
) -> Iterator[Pair]:
    """The exchange beside the text, beside its premise, and with a phrase moved too; and true pairs of that sort."""
    changed, what = exchange.change.apply(text), (EXCHANGED, exchange.keys)
    yield _either(text, changed, exchange.label, *what, draw)
    places = exchange.change.places
    if free := [move for move in moves if not _overlap(move, places)]:
        both = Change((*draw.choice(free), *places)).apply(text)
        yield _either(text, both, exchange.label, *what, draw)
        yield _either(changed, both, ENTAILMENT, *what, draw)
    if premise is not None and draw.random() < 0.5:
        yield Pair(premise, changed, exchange.label, *what)
        yield Pair(premise, text, ENTAILMENT, *what)


def _overlap(one: tuple[Place, ...], other: tuple[Place, ...]) -> bool:
    return any(a[0] < b[1] and b[0] < a[1] for a in one for b in other)


def _whole(token: "Token") -> "Span | None":
    """The phrase of a noun, if it is short, unbroken, and holds no clause."""
    words = [word for word in token.subtree if not word.is_space]
    clause = any(w.dep_ in ("relcl", "acl", "ccomp", "advcl") or (w.is_punct and w.text not in "-'.") for w in words)
    if not unbroken(words) or clause or len(words) > MAX_PHRASE_WORDS:
        return None
    return token.doc[words[0].i : words[-1].i + 1]


def _inside(span: "Span") -> str:
    """A phrase as it is written within a sentence."""
    keep = span[0].pos_ == "PROPN" or (span[0].ent_type_ in NAME_LABELS and span[0].pos_ not in ("DET", "ADP"))
    return span.text if keep or span[0].text == "I" else span.text[0].lower() + span.text[1:]


def _swap_spans(one: "Span", other: "Span") -> tuple[Place, ...]:
    return swap(one, _inside(other)), swap(other, _inside(one))


# --- somebody else's deed -------------------------------------------------------------------------------------------


def _names(sentence: "Span") -> Iterator[Edit]:
    """Two names of one sort, such as two towns, change places."""
    entities = [ent for ent in sentence.ents if ent.label_ in NAME_LABELS and sentence.text.count(ent.text) == 1]
    for one, other in combinations(entities, 2):
        between = {token.lower_ for token in sentence.doc[one.end : other.start]}
        verb = _common_verb(one.root, other.root)
        if verb in SYMMETRIC_VERBS or verb == "play":  # two teams play each other
            continue
        if one.label_ != other.label_ or one.text == other.text or not between or not between.isdisjoint(SYMMETRIC):
            continue
        if (one[0].lower_ == "the" and other[0].lower_ != "the") or any("'" in ent.text for ent in (one, other)):
            continue
        yield _exchange(_swap_spans(one, other), verb)


def _label(verb: str) -> str:
    """The label of a deed whose two people, who can both do it, are exchanged."""
    return NEUTRAL if verb in MUTUAL else CONTRADICTION


def _common_verb(one: "Token", other: "Token") -> str:
    """Base form of the nearest verb above two words."""
    above = list(one.ancestors)
    shared = [token for token in other.ancestors if token in above and token.pos_ in ("VERB", "AUX")]
    return lemma((shared or [one.sent.root])[0].text, "VERB")


def _people(sentence: "Span") -> Iterator[Edit]:
    """Two people or animals change places, whatever they are in the sentence."""
    parts = ("nsubj", "dobj", "pobj", "dative", "nsubjpass")
    nouns = [t for t in sentence if t.tag_ in ("NN", "NNS") and t.dep_ in parts and t.lemma_ not in GENERAL]
    for one, other in combinations(nouns, 2):
        between = {token.lower_ for token in sentence.doc[one.i + 1 : other.i]}
        spans = [_short(one), _short(other)]
        if one.tag_ != other.tag_ or None in spans or not between.isdisjoint(SYMMETRIC - {"by"}):
            continue
        if not (is_animate(one) and is_animate(other)) or lemma(one.text, "NOUN") == lemma(other.text, "NOUN"):
            continue
        verb = _common_verb(one, other)
        if verb in SYMMETRIC_VERBS or one in other.ancestors:  # "the mother of a boy"
            continue
        yield _exchange(_swap_spans(*spans), verb)


def _short(noun: "Token") -> "Span | None":
    """A noun with its article and adjectives, without what follows it."""
    words = [word for word in noun.subtree if word.i <= noun.i]
    if len(words) > MAX_PHRASE_WORDS or not unbroken(words):
        return None
    if any(word.is_punct or word.pos_ in ("VERB", "PRON") or word.dep_ in ("conj", "cc") for word in words):
        return None
    return noun.doc[words[0].i : noun.i + 1]


def _surnames(sentence: "Span", premise: str | None, draw: random.Random) -> Iterator[Pair]:
    """Another surname, half of the time one that begins alike; and the full name beside the surname alone."""
    text = sentence.doc.text
    for ent in sentence.ents:
        words = [token for token in ent if token.is_alpha]
        if ent.label_ != "PERSON" or len(words) != len(ent) or not 2 <= len(ent) <= 3 or text.count(ent[-1].text) > 1:
            continue
        if not _is_full_name(ent):
            continue
        alike = [name for name in SURNAMES if name[:2] == ent[-1].text[:2] and name != ent[-1].text]
        other = draw.choice(alike if alike and draw.random() < 0.6 else [n for n in SURNAMES if n != ent[-1].text])
        changed = Change((swap(ent[-1], other),)).apply(text)
        first = text if premise is None or ent.text not in premise or draw.random() < 0.5 else premise
        yield Pair(first, changed, CONTRADICTION, SURNAME, (other,))
        if not (ent.start > sentence.start and ent[0].nbor(-1).pos_ in ("PROPN", "DET", "ADJ")):
            yield Pair(text, Change((swap(ent, ent[-1].text),)).apply(text), ENTAILMENT, SURNAME, (ent[-1].text,))


def _is_full_name(ent: "Span") -> bool:
    """Whether a name begins with a known first name and ends in what looks like a surname, and is not one of two."""
    known = [word for names in WORDS["names"].values() for word in names]
    kinds = word_lists().kind_of.get(ent[0].text, ())
    written = all(token.text[0].isupper() and len(token) > 2 and not token.text.isupper() for token in ent)
    joined = ent.start > ent.sent.start and ent[0].nbor(-1).lower_ == "and"
    first = ent[0].text in known or any(kind.startswith("first name") for kind in kinds)
    return written and not joined and first


# --- the same said otherwise ----------------------------------------------------------------------------------------


def _moves(sentence: "Span") -> Iterator[tuple[Place, ...]]:
    """Changes of the order that keep the meaning."""
    for kind in (_to_the_end, _to_the_front, _joined, _given, _turned):
        yield from kind(sentence)


def _end_of_statement(sentence: "Span") -> int:
    """Character behind the last word."""
    last = sentence[-1]
    return last.idx if last.is_punct else last.idx + len(last)


def _to_the_end(sentence: "Span") -> Iterator[tuple[Place, ...]]:
    """In 1990, he left. -> He left in 1990."""
    opening, doc = sentence[0], sentence.doc
    if opening.dep_ != "prep" or opening.head != sentence.root or sentence[-2].ent_type_ in ("DATE", "TIME"):
        return
    if any(child.dep_ in ("conj", "ccomp", "xcomp", "advcl") for child in sentence.root.children):
        return  # the phrase would seem to belong to the other clause
    comma = next((token for token in sentence if token.text == ","), None)
    phrase = [token for token in opening.subtree if not token.is_punct]
    if comma is None or phrase[-1].i != comma.i - 1 or len(phrase) != comma.i - sentence.start:
        return
    rest, end = doc[comma.i + 1], _end_of_statement(sentence)
    if any(token.text == "," for token in doc[comma.i + 1 : sentence.end]) or rest.dep_ in ("prep", "cc"):
        return
    name = _inside(doc[sentence.start : comma.i])
    first = rest.text[0].upper() + rest.text[1:]
    yield (opening.idx, rest.idx + len(rest), first), (end, end, f" {name}")


def _to_the_front(sentence: "Span") -> Iterator[tuple[Place, ...]]:
    """He left in 1990. -> In 1990, he left."""
    root, doc, end = sentence.root, sentence.doc, _end_of_statement(sentence)
    if subject(root) is None or finite(root) is None or sentence[0].dep_ in ("prep", "advmod", "cc", "mark", "advcl"):
        return
    if lemma(root.text, "VERB") == "be" and not any(child.dep_ in ("attr", "acomp") for child in root.children):
        return  # it needs the phrase: "two men are"
    for prep in root.children:
        if prep.dep_ != "prep" or prep.lower_ not in MOVABLE or prep.i < root.i:
            continue
        words = [token for token in prep.subtree if not token.is_punct]
        last = words[-1]
        if last.idx + len(last) != end or prep.nbor(-1).lower_ == "ever":
            continue
        if any(token.dep_ in ("relcl", "conj") for token in words) or prep.nbor(-1).is_punct or len(words) > 8:
            continue
        first, phrase = doc[sentence.start : sentence.start + 1], doc[prep.i : last.i + 1].text
        front = f"{phrase[0].upper()}{phrase[1:]}, {_inside(first)}"
        yield (first.start_char, first.end_char, front), (prep.idx - 1, end, "")


def _joined(sentence: "Span") -> Iterator[tuple[Place, ...]]:
    """Paris and London -> London and Paris."""
    if any(token.lower_ in ("respectively", "former", "latter") for token in sentence):
        return
    for first in sentence:
        second, joint = joined(first)
        if second is None or first.dep_ in ("conj", "compound") or first.pos_ not in ("NOUN", "PROPN", "ADJ"):
            continue
        words = [t for t in first.subtree if t.i < joint.i]
        if any(t.is_punct for t in words) or first.pos_ != second.pos_:
            continue
        one, other = sentence.doc[words[0].i : joint.i], _whole(second)
        if other is None or other.start != joint.i + 1 or any(t.pos_ in ("PRON", "VERB") for t in (*one, *other)):
            continue
        if len(one) > MAX_PHRASE_WORDS or one[-1] != first or other[-1] != second:
            continue
        bare = [not any(c.dep_ in ("det", "poss", "nummod") for c in token.children) for token in (first, second)]
        if bare[0] == bare[1] and (first.pos_ != "NOUN" or not bare[0] or first.tag_ == second.tag_ == "NNS"):
            yield _swap_spans(one, other)


def _given(sentence: "Span") -> Iterator[tuple[Place, ...]]:
    """Gave the boy a ball -> gave a ball to the boy."""
    for verb in sentence:
        if lemma(verb.text, "VERB") not in ("give", "show", "send", "hand", "offer", "teach"):
            continue
        whom = next((c for c in verb.children if c.dep_ == "dative" and c.pos_ in ("NOUN", "PROPN")), None)
        spans = [_whole(token) for token in (whom, child(verb, "dobj")) if token is not None]
        if len(spans) == 2 and None not in spans and spans[0].start == verb.i + 1 and spans[1].start == spans[0].end:
            whole = sentence.doc[spans[0].start : spans[1].end]
            yield (swap(whole, f"{spans[1].text} to {spans[0].text}"),)


def _turned(sentence: "Span") -> Iterator[tuple[Place, ...]]:
    """Paris is the capital of France. -> The capital of France is Paris."""
    root = sentence.root
    who, what = subject(root), child(root, "attr")
    if lemma(root.text, "VERB") != "be" or who is None or what is None or who.pos_ == "PRON":
        return
    spans = [_whole(who), _whole(what)]
    if None in spans or spans[0].end != root.i or spans[1].start != root.i + 1 or spans[1][0].lower_ != "the":
        return
    if who.pos_ == "PROPN" or spans[0][0].lower_ == "the":
        yield _swap_spans(*spans)


# --- voices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deed:
    """An active clause that has a passive voice, in pieces.

    Attributes:
        before, after: text before the subject and after the object.
        who, whom: subject and object as they are written within a sentence.
        who_many, whom_many: whether each is plural.
        people: whether both name somebody.
        helpers: texts of the auxiliary verbs.
        verb, tag, particle: base form of the verb, its part of speech, and "up" of "picks up" with a space, or "".
    """

    before: str
    who: str
    whom: str
    who_many: bool
    whom_many: bool
    people: bool
    helpers: tuple[str, ...]
    verb: str
    tag: str
    particle: str
    after: str

    def exchanged(self) -> "Deed":
        """The same with subject and object exchanged."""
        return replace(self, who=self.whom, whom=self.who, who_many=self.whom_many, whom_many=self.who_many)

    def active(self) -> str:
        """Who does it to whom."""
        tag = self.tag if self.helpers or self.tag == "VBD" else "VBP" if self.who_many else "VBZ"
        return self._written(self.who, self._agreeing(self.who_many, inflected(self.verb, tag)), self.whom)

    def passive(self) -> str:
        """To whom it is done by whom."""
        return self._written(self.whom, f"{self._passive_helpers()} {inflected(self.verb, 'VBN')}", self.who, by=" by")

    def agentless(self, negated: bool = False) -> str:
        """To whom it is done, or is not, whoever does it."""
        first, *others = self._passive_helpers().split()
        verbs = [first, *["not"] * negated, *others, inflected(self.verb, "VBN")]
        return self._written(self.whom, " ".join(verbs))

    def _passive_helpers(self) -> str:
        """The auxiliary verbs of the passive voice."""
        middle = {"VBG": "being", "VBN": "been", "VB": "be"}.get(self.tag, "")
        return self._agreeing(self.whom_many, middle) if self.helpers else BE[self.tag][self.whom_many]

    def _agreeing(self, many: bool, last: str) -> str:
        """The auxiliary verbs in the number of a subject, and the verb after them."""
        if not self.helpers:
            return last
        first, *others = self.helpers
        one = SINGULAR.get(first, first)
        return " ".join([NUMBERED.get(one, one) if many else one, *others, last])

    def _written(self, first: str, verbs: str, last: str = "", by: str = "") -> str:
        clause = f"{SUBJECT_OF.get(first, first)} {verbs}{self.particle}{by} {OBJECT_OF.get(last, last)}".rstrip()
        text = f"{self.before}{clause}{self.after}"
        return Change(((0, len(text), text),)).apply(text[0].upper() + text[1:])


def _deed(sentence: "Span") -> Deed | None:
    """The main clause in pieces, if it is active and simple enough to be turned."""
    verb, doc = sentence.root, sentence.doc
    who, whom = subject(verb), child(verb, "dobj")
    if who is None or whom is None or who.dep_ != "nsubj" or verb.pos_ != "VERB" or is_negated(verb):
        return None
    base, spans = lemma(verb.text, "VERB"), [_noun_phrase(who), _noun_phrase(whom)]
    beside = [child.dep_ for child in verb.children]
    if base in NO_PASSIVE | SYMMETRIC_VERBS or None in spans or not CLAUSES.isdisjoint(beside):
        return None
    one, other = spans
    helpers = tuple(doc[i].lower_ for i in range(one.end, verb.i))
    if any(doc[i].dep_ != "aux" for i in range(one.end, verb.i)) or not _usual(helpers, verb.tag_):
        return None
    particle = doc[verb.i + 1 : other.start]
    if len(particle) > 1 or any(token.dep_ != "prt" for token in particle) or finite(verb) is None:
        return None
    pieces = doc.text[: one.start_char], doc.text[other.end_char :]
    if any(word in UNFIT for word in re.findall(r"[a-z]+", pieces[1].lower())) or pieces[1].startswith(" by "):
        return None
    up = f" {particle.text}" if len(particle) else ""
    many, people = (_many(who), _many(whom)), is_person(who) and is_person(whom)
    deed = Deed(pieces[0], _inside(one), _inside(other), *many, people, helpers, base, verb.tag_, up, pieces[1])
    return deed if deed.active() == doc.text else None  # else a base form is wrong: "lie" of "laid"


def is_person(noun: "Token") -> bool:
    """Whether a noun or pronoun names somebody who can do what others do to them."""
    return noun.pos_ in ("PROPN", "PRON") or is_animate(noun)


def _usual(helpers: tuple[str, ...], tag: str) -> bool:
    """Whether auxiliary verbs are of a form that has a simple passive."""
    if not helpers:
        return tag in BE
    if len(helpers) > 1:
        return False
    forms = {"VBG": ("is", "are", "was", "were"), "VBN": ("has", "have", "had"), "VB": ("will", "can", "must")}
    return helpers[0] in forms.get(tag, ())


def _noun_phrase(noun: "Token") -> "Span | None":
    if noun.pos_ == "PRON":
        known = noun.lower_ in OBJECT_OF or noun.lower_ in SUBJECT_OF
        return noun.doc[noun.i : noun.i + 1] if known else None
    fits = noun.pos_ in ("NOUN", "PROPN") and not any(listed("quantifiers", t.lower_) for t in noun.subtree)
    return _whole(noun) if fits else None


def _many(noun: "Token") -> bool:
    joined = any(child.dep_ == "conj" for child in noun.children)
    return joined or noun.tag_ in ("NNS", "NNPS") or noun.lower_ in PLURAL_PRONOUNS


def _voices(sentence: "Span", premise: str | None, draw: random.Random) -> Iterator[Pair]:
    """The active and the passive voice, and both with their roles exchanged, in pairs that agree or do not."""
    deed = _deed(sentence)
    if deed is None or deed.who.lower() == deed.whom.lower() or (deed.verb in MUTUAL and not deed.people):
        return
    key, label = (deed.verb,), _label(deed.verb)
    own, others = [[one.active(), one.passive()] for one in (deed, deed.exchanged())]
    yield _either(*own, ENTAILMENT, EXCHANGED, key, draw)
    yield _either(*others, ENTAILMENT, EXCHANGED, key, draw)
    for voice in (0, 1):
        yield _either(own[0], others[voice], label, EXCHANGED, key, draw)
    yield _either(own[1], draw.choice(others), label, EXCHANGED, key, draw)
    if premise is not None:
        yield Pair(premise, own[1], ENTAILMENT, EXCHANGED, key)
        yield Pair(premise, draw.choice(others), label, EXCHANGED, key)
    yield from _agentless(deed, own, others)


def _agentless(deed: Deed, own: list[str], others: list[str]) -> Iterator[Pair]:
    """Both voices beside the passive that does not say who does it; `others` are those with the roles exchanged."""
    key, done, undone = (deed.verb,), deed.agentless(), deed.agentless(negated=True)
    for text in own:
        yield Pair(text, done, ENTAILMENT, AGENTLESS, key)
        yield Pair(text, undone, CONTRADICTION, AGENTLESS, key)
        yield Pair(undone, text, CONTRADICTION, AGENTLESS, key)
        yield Pair(done, text, NEUTRAL, AGENTLESS, key)
    if deed.people:
        yield Pair(others[0], done, _label(deed.verb), AGENTLESS, key)
