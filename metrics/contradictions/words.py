"""Words that the contradiction rules exchange, from `words.csv`.

Opposites of adjectives and adverbs, noun compounds, and which nouns name a person or an animal come from WordNet 3.0
(whose licence is in `wordnet_license.txt`) and were reviewed; the other lists are written by hand. Commit 33daf1c has
the script that read WordNet, training/data/contradiction_words.py.
"""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "words.csv"
COMPOUND, KIND, PERSON, ANIMAL, SET = "compound", "kind", "person", "animal", "set"


class WordLists:
    """The lists, prepared for lookup.

    Args:
        rows: rows of the file: (list, word, other).

    Attributes:
        opposites: opposites of words by part of speech (adjective, adverb, noun, preposition, verb), and of those that
            say how often ("frequency") and of whom ("pronoun").
        kinds: words by kind, such as fruit or months; each word excludes the others.
        kind_of: kinds of a word, or of a name of several words.
        compounds: (first, second) words of nouns in which the first has another meaning, such as "hot dog".
        people: nouns for persons.
        animate: nouns for persons and animals.
        sets: words that rules treat alike. `quantifiers`: a clause about them and its negation may both be true, of
            different things. `scoped`, `marks`: next to them, "not" would deny something else. `bound`: ungrammatical
            without their "not". `reasons`: the parts that they join would no longer fit. `open`: before a number that
            includes others or is part of a longer one. `unquantified`: before "all" or "many", which then has no
            opposite. `degrees`: before a word that they deny or grade. `mutual`: verbs that say nearly the same with
            subject and object exchanged. `gendered`: words that a noun must agree with. `groups`: of persons or
            animals. `children`: nouns that "old" does not fit. `mass`, `mass kinds`: not counted. `placed kinds`:
            places, which the preposition fits. `coloured`: things whose colour is fixed. `times`, `time units`: nouns
            that say how often or how long. `attributive`: adjectives with an opposite before their noun alone. `with
            object`, `without object`: verbs that have their opposite only so.
    """

    def __init__(self, rows: list[tuple[str, str, str]]) -> None:
        self.opposites: dict[str, dict[str, str]] = defaultdict(dict)
        self.kinds: dict[str, list[str]] = defaultdict(list)
        self.kind_of: dict[str, list[str]] = defaultdict(list)
        self.compounds: set[tuple[str, str]] = set()
        self.people: set[str] = set()
        self.sets: dict[str, set[str]] = defaultdict(set)
        self.animate: set[str] = set()
        for name, word, other in rows:
            if name == KIND:
                self.kinds[other].append(word)
                self.kind_of[word].append(other)
            elif name == SET:
                self.sets[other].add(word)
            elif name == COMPOUND:
                self.compounds.add((word, other))
            elif name in (PERSON, ANIMAL):
                self.animate.add(word)
                self.people.update([word] if name == PERSON else [])
            else:
                self.opposites[name][word] = other

    def others(self, word: str, kind: str) -> list[str]:
        """Other words of a kind."""
        return [other for other in self.kinds[kind] if other != word]


@cache
def word_lists() -> WordLists:
    """The lists of the file, read once."""
    with FILE.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return WordLists([(name, word, other) for name, word, other in rows])


def listed(name: str, word: str) -> bool:
    """Whether one of the `sets` contains a word."""
    return word in word_lists().sets[name]
