"""Rules that exchange words: antonym, entity (a name or thing for another of its kind), role (who does it to whom)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.clauses import is_negated, subject
from semantic_metrics.contradictions.language import Change, inflected, lemma, swap
from semantic_metrics.contradictions.words import listed, word_lists

if TYPE_CHECKING:
    from random import Random

    from spacy.tokens import Span, Token

DASHES = ("-", "/", "\N{EN DASH}")
PARTS = {"ADJ": "adjective", "ADV": "adverb", "VERB": "verb", "NOUN": "noun"}
# kinds of proper names, with the parser's labels that confirm them; the words of other kinds are common nouns
NAME_LABELS = {
    "country": ("GPE",),
    "city": ("GPE",),
    "state": ("GPE",),
    "continent": ("LOC", "GPE"),
    "nationality": ("NORP",),
    "religion": ("NORP",),
    "planet": ("LOC",),
    "first name (woman)": ("PERSON",),
    "first name (man)": ("PERSON",),
}
DATE_KINDS = ("month", "weekday", "part of day")  # left to the rule for dates
POSSIBLE = ("can", "could", "may", "might")
MAX_COMPARED_LETTERS = 6  # longer adjectives take "more" instead of "-er"
MAX_PHRASE_WORDS = 6  # longer phrases do not change places well


def antonym(sentence: "Span") -> Iterator[Change]:
    """The opposite of an adjective, adverb, verb, noun or preposition, in the same form."""
    lists = word_lists()
    present = {token.lower_ for token in sentence}
    bases = [lemma(t.text, t.pos_) if t.pos_ in ("NOUN", "VERB") else t.lower_ for t in sentence]
    gendered = any(listed("gendered", word) for word in present)
    for token in sentence:
        part = PARTS.get(token.pos_, "")
        if token.dep_ == "prep":
            yield from _preposition(token)
        if not part or token.ent_type_ or not _free(token):
            continue
        base = token.lower_ if part in ("adjective", "adverb") else lemma(token.text, token.pos_)
        if part == "adjective" and token.tag_ in ("JJR", "JJS") and base not in lists.opposites[part]:
            base = lemma(token.text, "ADJ")
        other = _suited(token, base, lists.opposites[part].get(base, ""))
        if not other or (part == "noun" and gendered and base in lists.people):
            continue
        if token.tag_ in ("JJR", "JJS") and base != token.lower_ and len(other) > MAX_COMPARED_LETTERS:
            continue
        new = inflected(other, token.tag_) if base != token.lower_ else other
        if new not in present and other not in bases and bases.count(base) <= 1:
            yield Change((swap(token, new),))


def _free(token: "Token") -> bool:
    """Whether a word is not part of a compound, name or fixed phrase, and is neither denied nor graded."""
    sentence, i, lists = token.sent, token.i, word_lists()
    following = token.doc[i + 1] if i + 1 < sentence.end else None
    previous = token.doc[i - 1] if i > sentence.start else None
    if any(near is not None and near.text in DASHES for near in (following, previous)):
        return False
    if previous is not None and listed("degrees", previous.lower_):
        return False
    if following is not None and following.tag_ in ("NN", "NNS"):
        if token.pos_ == "NOUN":
            return False
        base = lemma(following.text, "NOUN")
        if not lists.compounds.isdisjoint([(token.lower_, following.lower_), (token.lower_, base)]):
            return False
    children = list(token.children)
    if token.pos_ == "ADJ":
        related = any(child.dep_ in ("conj", "cc", "npadvmod") for child in children)
        return token.dep_ in ("amod", "acomp", "attr") and token.head.pos_ != "PROPN" and not related
    if token.pos_ == "NOUN":
        return token.dep_ != "compound" and not any(child.dep_ == "compound" for child in children)
    return not any(child.dep_ in ("prt", "neg") for child in children)


def _suited(token: "Token", base: str, other: str) -> str:
    """Opposite of a word that fits the noun it describes; "" if none fits, or the verb's clause does not."""
    noun = _described_noun(token)
    animate = noun is not None and is_animate(noun)
    if token.dep_ == "acomp" and any(child.lower_ in POSSIBLE for child in token.head.children):
        return ""  # what can be so can also be otherwise
    if base == "old" and animate:
        return "young"
    if base in ("young", "elderly") and noun is not None and (not animate or listed("children", noun.lemma_)):
        return ""
    if base == "short":
        return "tall" if animate else "long"
    if base == "dead":
        return "living" if token.dep_ == "amod" else "alive"
    if listed("attributive", base) and token.dep_ != "amod":
        return ""
    if base in ("sit", "stand") and not animate and not (noun is not None and noun.pos_ == "PRON"):
        return ""
    if token.pos_ == "VERB" and (is_negated(token) or any(c.dep_ in ("xcomp", "ccomp") for c in token.children)):
        return ""
    if token.pos_ == "VERB" and (listed("with object", base) or listed("without object", base)):
        has = any(child.dep_ in ("dobj", "nsubjpass") for child in token.children)
        return other if has == listed("with object", base) else ""
    return other


def is_animate(noun: "Token") -> bool:
    """Whether a noun names a person, a group of them, or an animal."""
    base = lemma(noun.text, "NOUN")
    return noun.ent_type_ == "PERSON" or base in word_lists().animate or listed("groups", base)


def _described_noun(token: "Token") -> "Token | None":
    """Noun that an adjective or verb describes."""
    if token.dep_ == "amod" or token.dep_ in ("acl", "relcl"):
        return token.head
    if token.pos_ == "VERB" and subject(token) is not None:
        return subject(token)
    return subject(token.head) if token.dep_ in ("acomp", "conj", "xcomp", "advcl") else None


def _preposition(token: "Token") -> Iterator[Change]:
    """With a hat -> without a hat; up the stairs -> down the stairs."""
    thing = next((child for child in token.children if child.dep_ == "pobj"), None)
    other = word_lists().opposites["preposition"].get(token.lower_)
    if thing is None or other is None or thing.ent_type_ or thing.i == token.i + 1 or thing.tag_ not in ("NN", "NNS"):
        return
    article = next(iter(thing.subtree)).lower_
    if sum(word.lower_ == "with" for word in token.sent) > 1 or listed("quantifiers", thing.lower_):
        return
    if thing.lower_ == "couple" or any(child.lower_ == "couple" for child in thing.children):
        return
    if token.lower_ == "with" and (token.head.pos_ != "NOUN" or article not in ("a", "an")):
        return  # "with" names company or means, not what somebody has or wears
    if token.lower_ in ("up", "down") and article not in ("a", "an", "the"):
        return
    yield Change((swap(token, other),))


def entity(sentence: "Span", random: "Random") -> Iterator[Change]:
    """Another country, town, nationality or first name; another animal, fruit, vehicle, colour, and so on."""
    lists = word_lists()
    words = {token.lower_ for token in sentence} | {lemma(token.text, "NOUN") for token in sentence}
    names = {ent.text for ent in sentence.ents}
    for span, word, tag in (*_names(sentence), *_things(sentence)):
        for kind in lists.kind_of.get(word, ()):
            choices = [w for w in lists.others(word, kind) if w.lower() not in words and w not in names]
            if kind not in DATE_KINDS and _confirmed(span, word, kind) and choices:
                other = random.choice(choices)
                yield Change((swap(span, inflected(other, tag) if tag == "NNS" else other),))


def _names(sentence: "Span") -> Iterator[tuple["Span", str, str]]:
    """Names that the parser labels; only the first word of a person's name."""
    for ent in sentence.ents:
        part = ent[1:] if ent[0].lower_ == "the" and len(ent) > 1 else ent
        part = part[:1] if ent.label_ == "PERSON" else part
        if sentence.text.count(part.text) == 1:
            yield part, part.text, "NNP"


def _things(sentence: "Span") -> Iterator[tuple["Span", str, str]]:
    """Common nouns by themselves, and colours."""
    for token in sentence:
        word = lemma(token.text, "NOUN") if token.tag_ == "NNS" else token.lower_
        once = sum(other.lower_ == token.lower_ for other in sentence) == 1
        if once and token.tag_ in ("NN", "NNS", "JJ") and not token.ent_type_ and _free(token):
            yield token.doc[token.i : token.i + 1], word, token.tag_


def _confirmed(span: "Span", word: str, kind: str) -> bool:
    """Whether a word of a kind is used in that sense here."""
    token = span[0]
    if kind in NAME_LABELS:
        whole = token.text[0].isupper() and token.dep_ != "compound" and not _is_part_of_place(span)
        return whole and token.ent_type_ in NAME_LABELS[kind]
    if token.tag_ == "JJ" or kind.startswith("colour"):
        head = lemma(token.head.text, "NOUN")
        plain = token.tag_ == "JJ" and head not in word_lists().people and not listed("coloured", head)
        return plain and kind.startswith("colour")
    if kind == "dish" and any(child.dep_ == "amod" for child in token.children):
        return False
    articles = [child.lower_ for child in token.children if child.dep_ in ("det", "poss")]
    if listed("mass kinds", kind):
        return token.tag_ == "NN" and not {"a", "an"}.intersection(articles)
    return bool(articles) or token.tag_ == "NNS" or not listed("placed kinds", kind)


def _is_part_of_place(span: "Span") -> bool:
    """Whether a name belongs to another one, as in "Miami, Florida"."""
    doc, places = span.doc, ("GPE", "LOC")
    behind = span.end + 1 < len(doc) and doc[span.end].text == "," and doc[span.end + 1].ent_type_ in places
    ahead = span.start > 1 and doc[span.start - 1].text == "," and doc[span.start - 2].ent_type_ in places
    return span[0].ent_type_ in places and (behind or ahead)


def role(sentence: "Span") -> Iterator[Change]:
    """Exchange who does something and to whom; where from and where to."""
    for verb in (token for token in sentence if token.pos_ in ("VERB", "AUX")):
        who, whom = subject(verb), None
        by = next((c for c in verb.children if c.dep_ == "agent" and c.lower_ == "by"), None)
        if who is not None and who.dep_ == "nsubjpass" and by is not None:
            whom = next((c for c in by.children if c.dep_ == "pobj"), None)
        elif who is not None and verb.pos_ == "VERB":
            whom = next((c for c in verb.children if c.dep_ == "dobj"), None)
        elif who is not None:
            whom = _compared(verb)
        if whom is not None and not listed("mutual", lemma(verb.text, "VERB")) and _can_swap(who, whom):
            yield _exchange(who, whom)
    for start in (token for token in sentence if token.lower_ == "from" and token.dep_ == "prep"):
        end = next((t for t in start.head.children if t.lower_ == "to" and t.i > start.i and t.dep_ == "prep"), None)
        ends = [next((c for c in t.children if c.dep_ == "pobj"), None) for t in (start, end) if t is not None]
        places = [t for t in ends if t is not None and t.ent_type_ in ("GPE", "LOC", "PERCENT", "MONEY")]
        if len(places) == 2:
            yield _exchange(*places)


def _compared(verb: "Token") -> "Token | None":
    """Noun that the subject is compared with: John in "Mary is taller than John"."""
    for word in verb.children:
        than = next((c for c in word.children if c.lower_ == "than"), None)
        compared = word.tag_ == "JJR" or any(child.lower_ == "more" for child in word.children)
        if word.dep_ == "acomp" and than is not None and compared:
            return next((c for c in than.children if c.dep_ == "pobj"), None)
    return None


def _can_swap(who: "Token", whom: "Token") -> bool:
    """Whether both are of one sort and number, and short enough to change places."""
    if any(token.lower_ in ("his", "her", "its", "their", "each", "other") for token in who.sent):
        return False
    for noun in (who, whom):
        words = [word for word in noun.subtree if not word.is_space]
        if len(words) > MAX_PHRASE_WORDS or len(words) != words[-1].i - words[0].i + 1 or noun.pos_ == "PRON":
            return False
        if any(t.pos_ in ("VERB", "PRON", "PUNCT") or t.dep_ in ("conj", "cc", "prep") for t in words):
            return False
        if any(listed("quantifiers", t.lower_) for t in words):
            return False
    same = (who.tag_ in ("NNS", "NNPS")) == (whom.tag_ in ("NNS", "NNPS"))
    return same and _sort(who) == _sort(whom) != "" and who.lower_ != whom.lower_


def _sort(noun: "Token") -> str:
    """Sort of a noun: a person or an animal, an organisation, a place; "" for anything else."""
    base = lemma(noun.text, "NOUN")
    if noun.ent_type_ == "PERSON" or base in word_lists().animate:
        return "animate"
    return noun.ent_type_ if noun.ent_type_ in ("ORG", "GPE", "NORP") else ""


def _exchange(one: "Token", other: "Token") -> Change:
    ends = [[word.i for word in token.subtree if not word.is_space] for token in (one, other)]
    spans = [one.doc[places[0] : places[-1] + 1] for places in ends]
    texts = [_within(span) for span in spans]
    return Change((swap(spans[0], texts[1]), swap(spans[1], texts[0])))


def _within(span: "Span") -> str:
    """Phrase as it is written within a sentence."""
    keep = span[0].pos_ == "PROPN" or span[0].ent_type_ in ("PERSON", "ORG", "GPE", "NORP", "LOC")
    return span.text if keep and span[0].lower_ not in ("the", "a", "an") else span.text[0].lower() + span.text[1:]
