"""The words behind `semantic-metrics contradict`: the rows of metrics/contradictions/words.csv from WordNet 3.0.

    python -m training.data.contradiction_words --wordnet FOLDER --reviewed metrics/contradictions/words.csv

Replaces the rows of LISTS and keeps the others, which are written by hand. Many opposites in WordNet read badly or do
not exclude each other; contradiction_words.yaml lists those removed and added after a review.
"""

import argparse
import csv
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nltk
import yaml
from nltk.corpus.reader.wordnet import WordNetCorpusReader

Row = tuple[str, str, str]
ADJECTIVE, ADVERB, COMPOUND, PERSON, ANIMAL = "adjective", "adverb", "compound", "person", "animal"
LISTS = (ADJECTIVE, ADVERB, COMPOUND, PERSON, ANIMAL)
MIN_COUNT = 3  # least count of both words in WordNet's sense-tagged corpora: rarer ones are no plain opposites
PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")  # an opposite made by one of them is sound, however rare
NOT_ANIMALS = ("bat",)  # an animal in WordNet's first sense, but mostly a thing to readers
WORDS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
DROPPED = {name: set(words.split()) for name, words in WORDS["dropped"].items()}
ADDED = {name: dict(pair.split(":") for pair in words.split()) for name, words in WORDS["added"].items()}


class WordNet(WordNetCorpusReader):
    """WordNet 3.0 in English alone."""

    def map_wn(self, version: str = "wordnet") -> dict:
        """An empty map to other versions, which only other languages need."""
        return {}


def pairs(wordnet: WordNetCorpusReader, counts: Counter, pos: str, name: str) -> Iterator[Row]:
    """Opposites of the two most frequent senses of a word: frequent ones, and those made by a prefix."""
    dropped, added = DROPPED[name], ADDED[name]
    candidates: dict[str, list[tuple]] = {}
    for synset in wordnet.all_synsets(pos):
        for lemma in synset.lemmas():
            for other in lemma.antonyms():
                word, opposite = lemma.name(), other.name()
                ranks = wordnet.synsets(word, pos).index(synset), wordnet.synsets(opposite, pos).index(other.synset())
                if (word + opposite).isalpha() and (word + opposite).islower() and word not in dropped:
                    candidates.setdefault(word, []).append((*ranks, -counts[opposite, pos], opposite))
    for word in sorted(candidates.keys() | added.keys()):
        if word in added:
            yield name, word, added[word]
            continue
        *ranks, _, opposite = min(candidates[word])
        prefixed = any(opposite == prefix + word or word == prefix + opposite for prefix in PREFIXES)
        prefixed = prefixed and min(counts[word, pos], counts[opposite, pos]) >= 1 + word.endswith("ed")
        often = min(counts[word, pos], counts[opposite, pos]) >= MIN_COUNT and ranks[0] == 0 and ranks[1] <= 1
        if often or (prefixed and ranks[0] <= 1):
            yield name, word, opposite


def nouns(wordnet: WordNetCorpusReader, counts: Counter, words: set[str]) -> Iterator[Row]:
    """Nouns that stand for a person or an animal in their first sense, and those that begin with one of `words`."""
    roots = {PERSON: wordnet.synset("person.n.01"), ANIMAL: wordnet.synset("animal.n.01")}
    for name in sorted(set(wordnet.all_lemma_names("n"))):
        first, *rest = name.split("_")
        if len(rest) == 1 and first in words and rest[0].isalpha():
            yield COMPOUND, first, rest[0]
        elif not rest and name.isalpha() and counts[name, "n"]:
            above = {one for path in wordnet.synsets(name, "n")[0].hypernym_paths() for one in path}
            for kind in (kind for kind, root in roots.items() if root in above and name not in NOT_ANIMALS):
                yield kind, name, ""


def count_words(wordnet: WordNetCorpusReader) -> Counter:
    """How often WordNet's corpora have a word of a part of speech, over its senses."""
    counts: Counter = Counter()
    with wordnet.open("index.sense") as file:
        for line in file:
            key, _, _, count = line.split()
            word, _, rest = key.partition("%")
            counts[word, "nvara"[int(rest[0]) - 1]] += int(count)
    return counts


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, required=True, help="Folder of WordNet 3.0's database files.")
    parser.add_argument("--reviewed", type=Path, required=True, help="CSV file to bring up to date.")
    arguments = parser.parse_args()
    with arguments.reviewed.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    root = str(arguments.wordnet.resolve())
    nltk.data.path.append(root)  # nltk reads from folders on this list only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that other languages are absent
        wordnet = WordNet(root, None)
    counts = count_words(wordnet)
    built = [*pairs(wordnet, counts, "a", ADJECTIVE), *pairs(wordnet, counts, "r", ADVERB)]
    modifiers = {word for name, word, _ in built if name == ADJECTIVE}
    modifiers |= {word for name, word, kind in rows if name == "kind" and kind.startswith("colour")}
    built += nouns(wordnet, counts, modifiers - {"old"})  # WordNet has "old man", who is an old man all the same
    rows = sorted({tuple(row) for row in rows if row[0] not in LISTS} | set(built))
    with arguments.reviewed.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
