"""The words behind `semantic-metrics contradict`: what of WordNet 3.0 `metrics/contradictions/words.csv` holds.

    python -m training.data.contradiction_words --wordnet FOLDER --reviewed metrics/contradictions/words.csv

Replaces the rows of the lists below and keeps the others, which are written by hand. WordNet holds far more opposites
than read well or exclude each other; `DROPPED` and `ADDED` are what reading them all left out and put in.
"""

import argparse
import csv
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nltk
from nltk.corpus.reader.wordnet import WordNetCorpusReader

Row = tuple[str, str, str]
ADJECTIVE, ADVERB, COMPOUND, PERSON, ANIMAL = "adjective", "adverb", "compound", "person", "animal"
LISTS = (ADJECTIVE, ADVERB, COMPOUND, PERSON, ANIMAL)
SEEN = 3  # times in the sense-tagged corpora that WordNet counts, of both words: rarer ones are no plain opposites
PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")  # of an opposite that is sound however rare it is
DROPPED = {
    ADJECTIVE: """
        absolute abstract actual all alternate ample analytic anti back black bound broken busy calm central
        certain charged close common concrete conventional cool covered crooked delicate different distal
        dominant due early easy elated emotional empirical even evil explicit fancy far few fewer finite first
        foreign forward free frivolous front functional future general green gradual greater gross half hard
        homozygous humble idle inclined individual infinite inward joint last latter lean left less lesser light
        like linear liquid little live local loud lyric many middle minimal moral more mortal most much multiple
        naive national native near net no nonspecific nuclear odd off old on open opening ordered orderly
        organic other out overhead own parallel particular past personal posterior potent potential preceding
        present pro profound proportional proud quantitative qualitative relative right ripe rugged same second
        separate serious short side single solid some specific stained straight strange structured superficial
        surface synthetic tender theoretical thick thin top tough ultimate up down usual well white whole worn
        international conservative primary secondary former outside inside famous human equal conditional formed
        tied true stressed married alike animated born changed christian civil civilized clean commercial
        committed composed compromising considerable constant critical curious deductible descriptive
        determinable determinate determined dignified discriminating edifying exhausted expendable exploratory
        extraordinary fatal financial fit immaterial impalpable implacable inanimate incalculable inconsiderable
        incorporeal incredible indeterminate indiscriminate indispensable inevitable inexcusable inexhaustible
        inexplicable inexpressible inextricable infallible insane insubstantial intolerable intractable involved
        irremediable irresolute just likely linguistic made material maximum mental minimum moderate moving
        musical noncommissioned nonionic nonparticulate nonvolatile ordinary partial particulate perfect
        physical politic presidential professional proportionate proved questionable real religious sensational
        sensible sized social sound statesmanlike succeeding taxable uncousinly undeniable uneasy uneven
        unforgettable uninjectable union unlike unprecedented unreal unwelcome unwitting welcome woven worldly
        worthy unworthy anterior peripheral continual sporadic docile stubborn dull lively superior inferior
        north south east west ill restrained junior senior meager loving gregarious high low outer major minor
        deep weak strong""",
    ADVERB: """
        above ahead backward below centrally down empirically equally ever forward generally here least less
        more most naturally necessarily never perfectly primarily secondarily specifically there up well wholly
        partly agreeably believably fortunately unfortunately happily sadly honestly ill imperceptibly
        improperly inadvertently incredibly infinitely insanely interestingly justly kindly luckily unluckily
        moderately musically organically possibly reasonably remarkably significantly visibly unashamedly
        unmanageably unnecessarily unsmilingly smilingly unobtrusively unwittingly wittingly early late steadily
        grudgingly emotionally""",
}
ADDED = {
    ADJECTIVE: """
        old:new short:long big:small happy:sad sad:happy warm:cold loud:quiet quiet:loud bright:dark crowded:deserted
        deserted:crowded blonde:dark-haired bald:long-haired barefoot:fully-clad shirtless:fully-dressed
        early:late easy:difficult true:false married:unmarried close:distant shut:open closed:open elderly:young
        bottom:top top:bottom clear:cloudy sunny:rainy rainy:sunny cloudy:sunny friendly:unfriendly hungry:full
        heavy:light usual:unusual common:rare rare:common northern:southern ancient:modern modern:ancient
        high:low low:high deep:shallow weak:strong strong:weak lit:unlit moist:dry curly:straight""",
    ADVERB: """
        indoors:outdoors outdoors:indoors carefully:carelessly frequently:rarely seldom:often
        correctly:incorrectly successfully:unsuccessfully legally:illegally together:separately gently:roughly
        directly:indirectly""",
}


OTHERWISE = ("bat",)  # first of all an animal to WordNet, and to others a thing


class WordNet(WordNetCorpusReader):
    """WordNet 3.0 in English alone."""

    def map_wn(self, version: str = "wordnet") -> dict:
        """Synsets of other versions, which other languages need: none."""
        return {}


def pairs(wordnet: WordNetCorpusReader, counts: Counter, pos: str, name: str) -> Iterator[Row]:
    """Opposites of the two most frequent senses of a word, by the rules in the heading."""
    dropped = set(DROPPED[name].split())
    added = dict(pair.split(":") for pair in ADDED[name].split())
    found: dict[str, list[tuple]] = {}
    for synset in wordnet.all_synsets(pos):
        for lemma in synset.lemmas():
            for other in lemma.antonyms():
                word, opposite = lemma.name(), other.name()
                ranks = wordnet.synsets(word, pos).index(synset), wordnet.synsets(opposite, pos).index(other.synset())
                if (word + opposite).isalpha() and (word + opposite).islower() and word not in dropped:
                    found.setdefault(word, []).append((*ranks, -counts[opposite, pos], opposite))
    for word in sorted(found.keys() | added):
        if word in added:
            yield name, word, added[word]
            continue
        *ranks, _, opposite = min(found[word])
        prefixed = any(opposite == prefix + word or word == prefix + opposite for prefix in PREFIXES)
        prefixed = prefixed and min(counts[word, pos], counts[opposite, pos]) >= 1 + word.endswith("ed")
        often = min(counts[word, pos], counts[opposite, pos]) >= SEEN and ranks[0] == 0 and ranks[1] <= 1
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
            for kind in (kind for kind, root in roots.items() if root in above and name not in OTHERWISE):
                yield kind, name, ""


def counted(wordnet: WordNetCorpusReader) -> Counter:
    """How often a word of a part of speech was met, over its senses."""
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
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet 3.0's database files")
    parser.add_argument("--reviewed", type=Path, required=True, help="CSV file to bring up to date")
    arguments = parser.parse_args()
    with arguments.reviewed.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    root = str(arguments.wordnet.resolve())
    nltk.data.path.append(root)  # nltk reads from folders on this list only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that other languages are absent
        wordnet = WordNet(root, None)
    counts = counted(wordnet)
    found = [*pairs(wordnet, counts, "a", ADJECTIVE), *pairs(wordnet, counts, "r", ADVERB)]
    modifiers = {word for name, word, _ in found if name == ADJECTIVE}
    modifiers |= {word for name, word, kind in rows if name == "kind" and kind.startswith("colour")}
    found += nouns(wordnet, counts, modifiers - {"old"})  # WordNet has "old man", who is an old man all the same
    rows = sorted({tuple(row) for row in rows if row[0] not in LISTS} | set(found))
    with arguments.reviewed.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
