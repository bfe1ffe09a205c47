"""Rules that reverse a whole clause: negation, affirmation, modality.

Each takes a sentence and yields changes to its main clause, or none if no change is sound: the subject is quantified
("Some dogs bark. Some dogs do not bark." is no contradiction), the sentence is a question or a command, or words would
lose their sense ("not even", "at all").
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.language import FINITE, Change, Place, after, drop, inflected, lemma, swap
from semantic_metrics.contradictions.words import listed

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

SUBJECTS = ("nsubj", "nsubjpass", "expl", "csubj")
ANY = {"any": "some", "anyone": "someone", "anybody": "somebody", "anything": "something", "anywhere": "somewhere"}
SOME = {some: word for word, some in ANY.items()}
NOT_SPELLINGS = ("not", "n't", "n\N{RIGHT SINGLE QUOTATION MARK}t")
CONTRACTED = {"ca": "can", "wo": "will", "sha": "shall"}  # before "n't"
MASS_ENDINGS = ("ness", "ity", "nce", "ing", "ism")  # of nouns that are hardly ever counted, such as "evidence"
NEGATIVE = ("no", "never", "nobody", "nothing", "none")
DENIED = {word: f"{word} not" for word in ("could", "must", "will", "would", "should", "shall")}
DENIED |= {word: "cannot" for word in ("can", "may", "might")}
HELPERS = {"VBZ": "does", "VBP": "do", "VBD": "did"}


def subject(verb: "Token") -> "Token | None":
    """The subject of a verb."""
    return next((child for child in verb.children if child.dep_ in SUBJECTS and child.i < verb.i), None)


def finite(verb: "Token") -> "Token | None":
    """First word of a verb group, which agrees with the subject and takes the "not"."""
    helpers = [child for child in verb.children if child.dep_ in ("aux", "auxpass") and child.i < verb.i]
    return next((token for token in [*helpers, verb] if token.tag_ in FINITE), None)


def is_negated(verb: "Token") -> bool:
    """Whether a clause is negated in any way."""
    children = list(verb.children)
    words = {word.lower_ for child in children for word in (child, *child.children)}
    return any(child.dep_ == "neg" for child in children) or not words.isdisjoint(NEGATIVE)


def is_statement(sentence: "Span") -> bool:
    """Whether a sentence states something, with a subject, outside quotation marks."""
    root, text = sentence.root, sentence.text.strip()
    if text.endswith("?") or any(token.is_quote for token in sentence):
        return False
    return root.pos_ in ("VERB", "AUX") and subject(root) is not None


def plain_subject(verb: "Token") -> bool:
    """Whether a clause and its negation are about the same things."""
    noun = subject(verb)
    if noun is None or listed("quantifiers", noun.lower_):
        return False
    phrase = [word for word in noun.subtree if word.i < verb.i]
    clause = any(word.lower_ in ("so", "to", "that") for word in verb.doc[verb.sent.start : verb.i])
    if clause or any(word.tag_ in ("JJR", "RBR") and word.i and word.nbor(-1).lower_ == "the" for word in verb.sent):
        return False  # what looks like the subject contains a clause; or "the more, the better"
    return not any(listed("quantifiers", word.lower_) or word.dep_ == "predet" for word in phrase if word.i <= noun.i)


def definite(verb: "Token") -> tuple[Place, ...]:
    """Turn the subjects "a man" and "two men" into "the man" and "the two men", so that the same ones are meant."""
    head, places = subject(verb), []
    assert head is not None, "the clause was chosen by its subject"
    for noun in (head, *head.conjuncts):
        first = next(iter(noun.subtree))
        if first.i > verb.sent.start and first.nbor(-1).is_punct:  # within a title
            continue
        if first.lower_ in ("a", "an"):
            places.append(swap(first, "the"))
        elif first.dep_ == "nummod" and first.head == noun:
            places.append(swap(first, "the " + first.lower_))
    return tuple(places)


def negation(sentence: "Span") -> Iterator[Change]:
    """Add "not" to the main clause, with "do" if it has no auxiliary verb."""
    root = sentence.root
    if not is_statement(sentence) or is_negated(root) or not _can_be_denied(root):
        return
    if any(child.dep_ == "expl" for child in root.children):
        yield from _nothing_there(root)
        return
    first = finite(root)
    if not plain_subject(root) or first is None or first.tag_ == "MD" or first.text[1:] == "d":
        return
    places = (*definite(root), *(swap(t, SOME[t.lower_]) for t in root.subtree if t.i > root.i and t.lower_ in SOME))
    base = lemma(first.text, "VERB")
    if first != root or base == "be" or first.lemma_ == "be":
        yield Change((*places, after(first, " not")))
    elif not _may_be_participle(first) and not any(t.pos_ == "VERB" for t in root.conjuncts):
        yield Change((*places, swap(first, f"{HELPERS[first.tag_]} not {base}")))


def _can_be_denied(root: "Token") -> bool:
    """Whether "not" before the verb denies the whole clause and nothing else."""
    beside = [word for word in root.subtree if word.dep_ in ("advmod", "neg", "preconj", "cc")]
    if any(listed("scoped", word.lower_) for word in beside):
        return False
    if root.text[0].isupper() and root.i > root.sent.start:  # within a title
        return False
    return not any(listed("marks", word.lower_) for word in root.subtree if word.i > root.i)


def _nothing_there(root: "Token") -> Iterator[Change]:
    """There is a man -> There is no man."""
    there = next((child for child in root.children if child.dep_ in ("attr", "nsubj") and child.i > root.i), None)
    if there is None or there.tag_ not in ("NN", "NNS") or root.lemma_ != "be":
        return
    if any(word.lower_ in ("they", "he", "she", "it", "both", "one") for word in root.sent if word.i > there.i):
        return  # the pronoun would refer to nobody
    first = next(iter(there.subtree))
    if first.lower_ in ("a", "an", "some") or (first.dep_ == "nummod" and there.tag_ == "NNS"):
        yield Change((swap(first, "no"),))
    elif (first == there or first.dep_ == "amod") and not listed("quantifiers", first.lower_):
        yield Change(((first.idx, first.idx, "no "),))


def _may_be_participle(verb: "Token") -> bool:
    """Whether the parser may have taken a caption such as "A dog pictured outside" for a sentence."""
    who = subject(verb)
    assert who is not None, "the clause was chosen by its subject"
    opening = next(iter(who.subtree))
    bare = opening.lower_ in ("a", "an") or opening.dep_ == "nummod" or opening == who
    same = inflected(lemma(verb.text, "VERB"), "VBN") == verb.lower_
    return verb.tag_ == "VBD" and same and bare and not any(child.dep_ == "dobj" for child in verb.children)


def affirmation(sentence: "Span") -> Iterator[Change]:
    """Remove the negation of a verb ("did not go") or a noun ("no man", "nobody")."""
    if any(listed("bound", token.lower_) or listed("reasons", token.lower_) for token in sentence):
        return
    for token in sentence:
        if token.dep_ == "neg" and token.lower_ in NOT_SPELLINGS:
            yield from _unnegated(token)
        elif token.lower_ in ("nobody", "nothing"):
            yield Change((swap(token, token.lower_.replace("no", "some")),))
        elif token.lower_ == "no" and token.dep_ == "det" and token.head.tag_ in ("NN", "NNS", "CD", "PRP"):
            noun = token.head
            if noun.lower_ == "one":
                yield Change((swap(token.doc[token.i : noun.i + 1], "someone"),))
            elif not any(child.dep_ == "compound" for child in noun.children):  # no parking sign
                mass = listed("mass", noun.lower_) or noun.lower_.endswith(MASS_ENDINGS)
                yield Change((swap(token, "a" if noun.tag_ == "NN" and not mass else "some"),))


def _unnegated(no: "Token") -> Iterator[Change]:
    verb = no.head
    first = no.nbor(-1) if no.i > no.sent.start else None
    who = subject(verb)
    if first is None or first.pos_ not in ("AUX", "VERB") or who is None or verb.pos_ not in ("AUX", "VERB"):
        return
    places = tuple(swap(t, ANY[t.lower_]) for t in verb.subtree if t.i > no.i and t.lower_ in ANY)
    if first.lower_ in HELPERS.values() and first != verb:
        tag = next(tag for tag, helper in HELPERS.items() if helper == first.lower_)
        if who.i < first.i and verb.i > no.i:
            span = no.doc[first.i : no.i + 1]
            yield Change((drop(span), swap(verb, inflected(lemma(verb.text, "VERB"), tag)), *places))
    elif no.lower_ == "not" and no.idx > first.idx + len(first):
        yield Change((drop(no), *places))
    else:  # "n't", and the "not" of "cannot"
        yield Change((swap(no.doc[first.i : no.i + 1], CONTRACTED.get(first.lower_, first.text)), *places))


def modality(sentence: "Span") -> Iterator[Change]:
    """Deny a clause with can, may, must, will, should or have to."""
    root = sentence.root
    if not is_statement(sentence) or is_negated(root) or not _can_be_denied(root) or not plain_subject(root):
        return
    first = finite(root)
    if first is None:
        return
    group = root.doc[first.i + 1 : root.i + 1]
    if first.tag_ == "MD" and first.lower_ in DENIED and any(token.tag_ == "VB" for token in group):  # no tin can
        yield Change((*definite(root), swap(first, DENIED[first.lower_])))
    to = next((child for child in root.children if child.dep_ == "xcomp" and child.tag_ == "VB"), None)
    if first == root and to is not None and lemma(root.text, "VERB") in ("have", "need") and to.nbor(-1).lower_ == "to":
        yield Change((*definite(root), swap(first, f"{HELPERS[first.tag_]} not {lemma(root.text, 'VERB')}")))
