"""Pairs of sentences of the same words that differ in roles, coordination, negation, binding, order, amount or degree.

Forms are in `swap_forms.yaml`. What people do in them is taken from real captions ("playing chess in the park"), so
that a form is not learned by its words. The relations of `role_frames.yaml` give pairs too.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from semantic_metrics.contradictions.language import Change, inflected, lemma
from training.data.config_files import read_yaml
from training.data.roles import FRAMES, Frames, Relation, triplet
from training.data.swap_numbers import SPELT
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair

FILE = Path(__file__).with_name("swap_forms.yaml")
ACTIVITIES = "vw"
SLOTS = {"people": "abc", "groups": "gh", "names": "mo", "transitive": "r", "things": "tu", "colours": "kl"}
SLOTS |= {"traits": "xy", "places": "pq", "animals": "ij"}
SLOTS |= {"offices": "AB", "firms": "FG", "teams": "TU", "countries": "CD", "illnesses": "I", "figures": "S"}
SLOTS |= {"events": "E", "mishaps": "H", "papers": "P", "plans": "L", "features": "X", "devices": "Y"}
# slots of numbers, which are drawn in ascending order
SMALL = ("s1", "s2", "s3")  # spelt in half of the sentences
ASCENDING = {SMALL: range(2, 13), ("n1", "n2", "n3"): range(20, 901), ("h1", "h2", "h3"): range(5, 46)}
ASCENDING |= {("y1", "y2", "y3"): range(1950, 2025)}
MAX_ACTIVITY_WORDS = 6  # after the verb
_ACTIVITY = re.compile(
    r"(?:A|The) (?:\w+ ){0,2}?(?:man|woman|person|boy|girl|child|lady|guy|kid) is (\w+ing)\b([^.,;]*)\.?"
)
# words after a verb that would refer to somebody, count the subject, or begin another clause
UNFIT = re.compile(
    r"\b(his|her|him|he|she|their|them|they|it|its|himself|herself|while|as|and|or|who|that|not|n't|alone|together|each|other|to|being)\b"
)
UNFIT_VERBS = {"being", "going", "having", "getting", "trying", "about", "wearing", "looking", "using", "doing"}
UNFIT_VERBS |= {"making", "taking", "lying", "laying"}
# relations of role_frames.yaml that may hold in both directions at once: words of their names.
# Of deeds in the past, a text and its exchange tell of the same event, and contradict each other.
MUTUAL = frozenset((
    "loves", "hates", "fears", "trusts", "misses", "admires", "supports", "obeys", "envies", "said", "thinks",
    "promised", "wanted", "exports", "although", "dependent", "son", "drives", "looks", "reading", "watching",
))  # fmt: skip


@dataclass(frozen=True)
class Activity:
    """A verb, by its base form, with what follows it, a space before it, in every form."""

    verb: str
    rest: str = ""

    def __getattr__(self, name: str) -> str:
        """Past, participle (en), ing, base and third person (s)."""
        tags = {"past": "VBD", "en": "VBN", "ing": "VBG", "s": "VBZ", "base": "VB"}
        if name not in tags:
            raise AttributeError(name)
        return inflected(self.verb, tags[name]) + self.rest


@dataclass(frozen=True)
class Form:
    """A premise and its hypotheses by label (entailed, neither, contradicted); see `swap_forms.yaml`."""

    kind: str
    premise: str
    e: list[str] = field(default_factory=list)
    n: list[str] = field(default_factory=list)
    c: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FormsFile:
    """The file: lists of words by name, and the forms."""

    fillers: dict[str, list[str]]
    forms: list[Form]


def activities(texts: list[str]) -> list[Activity]:
    """The doings of people in captions ("A man is playing chess in the park."), without repeats."""
    from lemminflect import getAllLemmas

    by_text = {}
    for text in texts:
        match = _ACTIVITY.fullmatch(" ".join(text.split()))
        if not match or match[1].lower() in UNFIT_VERBS or UNFIT.search(match[2]):
            continue
        verb, rest = lemma(match[1], "VERB"), match[2].rstrip()
        known = bool(getAllLemmas(match[1].lower(), upos="VERB")) and rest.isascii() and "'" not in rest
        if known and len(rest.split()) <= MAX_ACTIVITY_WORDS:
            by_text[verb, rest] = Activity(verb, rest)
    return list(by_text.values())


class FormPairs:
    """Draws pairs from the forms and from the relations of `role_frames.yaml`, filled with activities."""

    def __init__(self, doings: list[Activity]) -> None:
        self._by_verb: dict[str, list[Activity]] = {}
        for doing in doings:
            self._by_verb.setdefault(doing.verb, []).append(doing)
        self._file = read_yaml(FILE, FormsFile)
        self._roles = read_yaml(FRAMES, Frames)

    @property
    def fillers(self) -> dict[str, list[str]]:
        """Lists of words by name."""
        return self._file.fillers

    def draw(self, draw: random.Random) -> Iterator[Pair]:
        """Pairs of a random form without end: of each label that it has, one hypothesis."""
        while True:
            form = draw.choice(self._file.forms)
            values = self._values(draw)
            premise = _sentence(form.premise, values)
            for label, texts in ((ENTAILMENT, form.e), (NEUTRAL, form.n), (CONTRADICTION, form.c)):
                if texts:
                    yield Pair(premise, _sentence(draw.choice(texts), values), label, form.kind, (form.premise,))

    def _values(self, draw: random.Random) -> dict[str, object]:
        values: dict[str, object] = {}
        for name, letters in SLOTS.items():
            words = draw.sample(self._file.fillers[name], len(letters))
            values |= zip(letters, map(Activity, words) if name == "transitive" else words, strict=True)
        for slots, numbers in ASCENDING.items():
            drawn = sorted(draw.sample(numbers, len(slots)))
            spell = slots == SMALL and draw.random() < 0.5
            values |= {slot: SPELT[n] if spell else str(n) for slot, n in zip(slots, drawn, strict=True)}
        verbs = draw.sample(list(self._by_verb), len(ACTIVITIES))
        return values | {slot: draw.choice(self._by_verb[verb]) for slot, verb in zip(ACTIVITIES, verbs, strict=True)}

    def roles(self, draw: random.Random) -> Iterator[Pair]:
        """Pairs of a random relation without end: who did it is the same in one, exchanged in the other."""
        while True:
            relation = draw.choice(self._roles.relations)
            reference, correct, incorrect = triplet(relation, self._roles, draw)
            yield Pair(reference, correct, ENTAILMENT, "roles", (relation.name,))
            yield Pair(reference, incorrect, exchanged_label(relation), "roles", (relation.name,))


def exchanged_label(relation: Relation) -> str:
    """Label of a relation with its roles exchanged: neutral where both directions may hold at once."""
    both = relation.symmetric or any(word in relation.name.replace("'", " ").split() for word in MUTUAL)
    return NEUTRAL if both else CONTRADICTION


def _sentence(form: str, values: dict[str, object]) -> str:
    text = form.format(**values)
    # an empty change at the beginning: `Change` corrects articles beside what it changes
    return Change(((0, len(text), text),)).apply(text[0].upper() + text[1:])
