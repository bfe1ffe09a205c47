"""Texts that contradict a text, by rules that change one thing and a model that checks that it matters.

A rule changes one sentence: negation in or out, an antonym, a number, a date, a quantity, a name or thing, who does it
to whom, a quantifier, a modal verb. What the shipped NLI checkpoint does not take for a contradiction is thrown away.
The text itself is never changed, and every result says which rule made it. English alone.

The shipped checkpoint does not see who does it to whom: of 23 exchanged roles it gave none a probability above 0.05.
With the check, `role` makes next to nothing; ask for it by itself, unchecked.
"""

import hashlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from semantic_metrics.contradictions import clauses as clauses
from semantic_metrics.contradictions import exchanges as exchanges
from semantic_metrics.contradictions import quantities as quantities
from semantic_metrics.contradictions.language import is_english, load_pipeline
from semantic_metrics.contradictions.nli_check import THRESHOLD, Checker
from semantic_metrics.core.inputs import check_text

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from semantic_metrics.contradictions.chat_model import Writer

RULES: dict[str, Callable] = {
    "negation": clauses.negation,
    "affirmation": clauses.affirmation,
    "modality": clauses.modality,
    "antonym": exchanges.antonym,
    "entity": exchanges.entity,
    "role": exchanges.role,
    "quantifier": quantities.quantifier,
    "number": quantities.number,
    "quantity": quantities.quantity,
    "date": quantities.date,
}
LONGEST = 200_000  # characters of a text, about 35,000 words: the parser keeps about 1 KB for each word
WORDS = (3, 60)  # in a sentence that is changed: below there is none, above the parser errs
BRACKETS = ("-LRB-", "-LSB-", "-LCB-")  # as the Penn Treebank writes them: the parser takes them for words
CHUNK = 1024  # texts whose parses are held at a time
TRIES = 12  # changes of a text that the model is asked about, at most
WRITTEN = "language model"  # stands for the rule of what one wrote
EMPTY, LONG, FOREIGN, NO_RULE, NOT_AGREED = "empty", "too long", "not English", "no rule applies", "model disagrees"


@dataclass(frozen=True)
class Contradiction:
    """A text that contradicts another.

    Attributes:
        text: all of it.
        rule: which one made it, of RULES, or "language model".
        sentence: the one that was changed, as it was.
        changed: that sentence now.
        p: probability of a contradiction between the two, of the model; None where it was not asked.
    """

    text: str
    rule: str
    sentence: str
    changed: str
    p: float | None = None


@dataclass(frozen=True)
class Contradicted:
    """What was found for one text.

    Attributes:
        text: as it was given.
        contradictions: as many as were asked for, fewer where there are no more.
        reason: why there is none ("empty", "too long", "not English", "no rule applies", "model disagrees"); "" if any.
    """

    text: str
    contradictions: tuple[Contradiction, ...]
    reason: str = ""


def contradict(
    texts: Iterable[str],
    rules: Iterable[str] | None = None,
    seed: int = 0,
    per_text: int = 1,
    check: bool = True,
    threshold: float = THRESHOLD,
    checkpoint: str | None = None,
    writer: "Writer | None" = None,
) -> list[Contradicted]:
    """Contradictions of texts, one result for each, in their order; the same whatever the other texts are.

    Args:
        texts: English texts of any length; of a long one, one sentence is changed.
        rules: names of RULES; None for all.
        seed: of the choice among the rules, sentences and words that fit.
        per_text: contradictions of a text, at most.
        check: keep those alone that the NLI model calls a contradiction of the sentence as it was.
        threshold: probability from which on it does, in [0, 1].
        checkpoint: the NLI model: None for the shipped one, a folder, or a Hub id.
        writer: a language model that writes the contradictions instead of the rules.

    Raises:
        ValueError: unknown rules, texts that are no list of strings, numbers out of range, or a missing library.

    Example:
        >>> found = contradict(["She did not eat any apples."], rules=["affirmation"])  # doctest: +SKIP
        >>> found[0].contradictions[0].text  # doctest: +SKIP
        'She ate some apples.'
    """
    texts, chosen = _checked(texts, rules, per_text, threshold)
    checker = Checker(checkpoint) if check else None
    propose = _written(writer, seed, per_text) if writer else _ruled(chosen, seed)
    found = []
    for begin in range(0, len(texts), CHUNK):
        found += _search(
            [_Search(text, propose) for text in texts[begin : begin + CHUNK]], per_text, checker, threshold
        )
    return found


def _search(searches: "list[_Search]", per_text: int, checker: Checker | None, threshold: float) -> list[Contradicted]:
    """Ask the model about the next proposal of each text at once, until all have enough or no more."""
    while waiting := [search for search in searches if search.wants(per_text)]:
        made = [search.next() for search in waiting]
        pairs = [(one.sentence, one.changed) for one in made if one is not None]
        values = iter(checker.contradiction(pairs) if checker else [None] * len(pairs))
        for search, proposal in zip(waiting, made, strict=True):
            search.judge(proposal, None if proposal is None else next(values), threshold)
    return [search.result() for search in searches]


def summary(results: Iterable[Contradicted]) -> dict[str, int]:
    """Counts of results: texts, contradictions, those of each rule, and texts without one by reason."""
    results = list(results)
    made = [one for result in results for one in result.contradictions]
    counts = {"texts": len(results), "contradictions": len(made)}
    counts |= {f"rule {name}": count for name, count in sorted(Counter(one.rule for one in made).items())}
    return counts | dict(sorted(Counter(f"none: {result.reason}" for result in results if result.reason).items()))


def _checked(
    texts: Iterable[str], rules: Iterable[str] | None, per_text: int, threshold: float
) -> tuple[list[str], list[str]]:
    if isinstance(texts, str):
        raise ValueError(f"texts: expected a list of strings, got the string {texts[:40]!r}")
    texts = list(texts)
    for i, text in enumerate(texts):
        check_text(f"texts[{i}]", text)
    chosen = list(RULES) if rules is None else list(dict.fromkeys([rules] if isinstance(rules, str) else rules))
    unknown = [name for name in chosen if name not in RULES]
    if unknown or not chosen:
        raise ValueError(f"rules: expected some of {', '.join(RULES)}, got {', '.join(map(repr, unknown)) or 'none'}")
    if isinstance(per_text, bool) or not isinstance(per_text, int) or per_text < 1:
        raise ValueError(f"per_text: expected a whole number from 1 on, got {per_text!r}")
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a probability in [0, 1], got {threshold!r}")
    return texts, chosen


class _NotEnglish(Exception):
    """A text that the rules cannot read."""


def _ruled(rules: list[str], seed: int) -> Callable[[str], Iterator[Contradiction]]:
    """What the rules propose for a text."""
    pipeline = load_pipeline()

    def propose(text: str) -> Iterator[Contradiction]:
        if not is_english(pipeline.make_doc(text)):
            raise _NotEnglish
        # of the text itself: neither its place among others nor Python's own hash decides
        digest = hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()
        return proposals(pipeline(text), rules, Random(digest))

    return propose


def _written(writer: "Writer", seed: int, per_text: int) -> Callable[[str], Iterator[Contradiction]]:
    """What a language model proposes for a text; twice as many as are wanted, as it may repeat itself."""

    def propose(text: str) -> Iterator[Contradiction]:
        seen = {"", text}
        for attempt in range(2 * per_text):
            new = writer.write(text, seed + attempt)
            if new not in seen:
                seen.add(new)
                yield Contradiction(new, WRITTEN, text, new)

    return propose


class _Search:
    """Proposals for one text, one after the other, until enough are kept."""

    def __init__(self, text: str, propose: Callable[[str], Iterator[Contradiction]]) -> None:
        self._text, self._kept, self._tried = text, [], 0
        self._reason = "" if text.strip() else EMPTY
        self._reason = LONG if len(text) > LONGEST else self._reason
        self._proposals: Iterator[Contradiction] = iter(())
        try:
            self._proposals = iter(()) if self._reason else propose(text)
        except _NotEnglish:
            self._reason = FOREIGN

    def wants(self, per_text: int) -> bool:
        return not self._reason and len(self._kept) < per_text

    def next(self) -> Contradiction | None:
        return next(self._proposals, None) if self._tried < TRIES * (1 + len(self._kept)) else None

    def judge(self, proposal: Contradiction | None, p: float | None, threshold: float) -> None:
        if proposal is None:
            self._reason = NOT_AGREED if self._tried else NO_RULE
            return
        self._tried += 1
        if p is None or p >= threshold:
            self._kept.append(replace(proposal, p=p))

    def result(self) -> Contradicted:
        return Contradicted(self._text, tuple(self._kept), "" if self._kept else self._reason)


def proposals(doc: "Doc", rules: list[str], random: Random) -> Iterator[Contradiction]:
    """Changes of a text: sentences in a random order, the rules of each in another, each rule's in one more."""
    sentences = [s for s in doc.sents if WORDS[0] <= sum(t.is_alpha or t.like_num for t in s) <= WORDS[1]]
    sentences = [s for s in sentences if not any(mark in s.text for mark in BRACKETS) and "?" not in s.text]
    random.shuffle(sentences)
    seen = {" ".join(doc.text.split())}
    for sentence in sentences:
        order = list(rules)
        random.shuffle(order)
        for rule in order:
            for one in _of_rule(sentence, rule, random):
                if " ".join(one.text.split()) not in seen:
                    seen.add(" ".join(one.text.split()))
                    yield one


def _of_rule(sentence: "Span", rule: str, random: Random) -> list[Contradiction]:
    function, text = RULES[rule], sentence.doc.text
    draws = (random,) if "random" in inspect.signature(function).parameters else ()
    changes = list(function(sentence, *draws))
    random.shuffle(changes)
    made = []
    for change in changes:
        new = change.apply(text)
        end = sentence.end_char + len(new) - len(text)
        made.append(Contradiction(new, rule, sentence.text, new[sentence.start_char : end]))
    return made
