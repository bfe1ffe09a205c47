"""Texts that contradict a text, by rules that change one thing and a model that checks that it matters.

A rule changes one sentence: it adds or removes a negation, or exchanges an antonym, a number, a date, a quantity, a
name or thing, who does it to whom, a quantifier or a modal verb. Changes that the shipped NLI checkpoint does not call
a contradiction are discarded. Every result names the rule that made it. The rules know English only.

The shipped checkpoint does not see who does it to whom: of 23 exchanged roles it gave none a probability above 0.05.
With the check, `role` makes next to nothing; use it by itself, unchecked.
"""

import hashlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from semantic_metrics.contradictions import clauses, exchanges, quantities
from semantic_metrics.contradictions.chat_model import Writer
from semantic_metrics.contradictions.language import is_english, load_pipeline
from semantic_metrics.contradictions.nli_check import THRESHOLD, check_threshold, contradiction_probabilities
from semantic_metrics.core.inputs import check_text, check_whole
from semantic_metrics.core.progress import progress_bar

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

RULES: dict[str, Callable[..., Any]] = {
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
MAX_CHARACTERS = 200_000  # of a text, about 35,000 words: the parser keeps about 1 KB for each word
MIN_WORDS, MAX_WORDS = 3, 60  # of a sentence to change: shorter ones are fragments, longer ones the parser gets wrong
BRACKETS = ("-LRB-", "-LSB-", "-LCB-")  # as the Penn Treebank writes them: the parser takes them for words
TEXTS_AT_A_TIME = 1024  # bounds the memory that their parses take
MAX_TRIES = 12  # changes of a text that the NLI model checks for each contradiction wanted
WRITTEN = "language model"  # in place of a rule, for what a language model wrote
EMPTY, LONG, FOREIGN, NO_RULE, NOT_AGREED = "empty", "too long", "not English", "no rule applies", "model disagrees"


@dataclass(frozen=True)
class Contradiction:
    """A text that contradicts another.

    Attributes:
        text: the whole text.
        rule: rule of RULES that made it, or "language model".
        sentence: the sentence that was changed, before the change.
        changed: the same sentence after the change.
        p: probability of the NLI model that the two contradict each other; None without the check.
    """

    text: str
    rule: str
    sentence: str
    changed: str
    p: float | None = None


@dataclass(frozen=True)
class Contradicted:
    """Contradictions of one text.

    Attributes:
        text: the text as it was given.
        contradictions: as many contradictions as were asked for, or as there are.
        reason: why there are none ("empty", "too long", "not English", "no rule applies", "model disagrees"), else "".
    """

    text: str
    contradictions: tuple[Contradiction, ...]
    reason: str = ""


Propose = Callable[[str], Iterator[Contradiction] | None]  # from a text to its proposals; None if it is not English


def contradict(
    texts: Iterable[str],
    rules: Iterable[str] | None = None,
    seed: int = 0,
    per_text: int = 1,
    check: bool = True,
    threshold: float = THRESHOLD,
    checkpoint: str | None = None,
    writer: Writer | None = None,
    run: Mapping[str, Any] | None = None,
) -> list[Contradicted]:
    """Contradict texts.

    Args:
        texts: n English texts of any length; one sentence of each is changed.
        rules: names of RULES; None for all.
        seed: seed of the choice among the rules, sentences and words that fit.
        per_text: most contradictions of a text.
        check: keep only what the NLI model calls a contradiction of the sentence before the change.
        threshold: lowest probability of a contradiction that passes the check, in [0, 1].
        checkpoint: NLI model: None for the shipped one, a folder, or a Hub id.
        writer: language model that writes the contradictions instead of the rules.
        run: how the NLI model runs, as `contradiction_probabilities` takes it.

    Returns:
        n results in the order of the texts; a result does not depend on the other texts.

    Raises:
        ValueError: an unknown rule, `texts` that is no list of strings, a number out of range, or a missing library.

    Examples:
        >>> results = contradict(["She did not eat any apples."], rules=["affirmation"])  # doctest: +SKIP
        >>> results[0].contradictions[0].text  # doctest: +SKIP
        'She ate some apples.'
    """
    if isinstance(texts, str):
        raise ValueError(f"texts: expected a list of strings, got the string {texts[:40]!r}")
    texts = [check_text(f"texts[{i}]", text) for i, text in enumerate(texts)]
    chosen = _chosen_rules(rules)
    check_whole("per_text", per_text, 1)
    check_threshold(threshold)
    judge = partial(contradiction_probabilities, checkpoint=checkpoint, run=run) if check else None
    propose = _written(writer, seed, per_text) if writer else _ruled(chosen, seed)
    results = []
    with progress_bar(len(texts), "text") as bar:
        for begin in range(0, len(texts), TEXTS_AT_A_TIME):
            searches = []
            for text in texts[begin : begin + TEXTS_AT_A_TIME]:
                searches.append(_Search(text, propose))
                bar.update(0)  # a parser, or a language model, takes its time for each
            # one round judges the next proposal of every text; the last round leaves no text short that has more
            while waiting := [search for search in searches if search.wants(per_text)]:
                proposed = [search.next() for search in waiting]
                pairs = [(one.sentence, one.changed) for one in proposed if one is not None]
                values = iter(judge(pairs) if judge else [None] * len(pairs))
                for search, proposal in zip(waiting, proposed, strict=True):
                    search.judge(proposal, None if proposal is None else next(values), threshold)
                bar.update(begin + sum(not search.wants(per_text) for search in searches) - bar.n)
            results += [search.result() for search in searches]
    return results


def summary(results: Iterable[Contradicted]) -> dict[str, int]:
    """Count texts, contradictions, contradictions by rule, and texts without one by reason."""
    results = list(results)
    contradictions = [one for result in results for one in result.contradictions]
    counts = {"texts": len(results), "contradictions": len(contradictions)}
    counts |= {f"rule {name}": count for name, count in sorted(Counter(one.rule for one in contradictions).items())}
    return counts | dict(sorted(Counter(f"none: {result.reason}" for result in results if result.reason).items()))


def _chosen_rules(rules: Iterable[str] | None) -> list[str]:
    chosen = list(RULES) if rules is None else list(dict.fromkeys([rules] if isinstance(rules, str) else rules))
    unknown = [name for name in chosen if name not in RULES]
    if unknown or not chosen:
        raise ValueError(f"rules: expected some of {', '.join(RULES)}, got {', '.join(map(repr, unknown)) or 'none'}")
    return chosen


def _ruled(rules: list[str], seed: int) -> Propose:
    """Function from a text to the proposals of the rules."""
    pipeline = load_pipeline()

    def propose(text: str) -> Iterator[Contradiction] | None:
        if not is_english(pipeline.make_doc(text)):
            return None
        # seeded by the text itself, so that neither its place among others nor Python's own hash matters
        digest = hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()
        return proposals(pipeline(text), rules, Random(digest))

    return propose


def _written(writer: Writer, seed: int, per_text: int) -> Propose:
    """Function from a text to the proposals of a language model, twice as many as wanted, as it may repeat itself."""

    def propose(text: str) -> Iterator[Contradiction]:
        seen = {"", text}
        for attempt in range(2 * per_text):
            new = writer.write(text, seed + attempt)
            if new not in seen:
                seen.add(new)
                yield Contradiction(new, WRITTEN, text, new)

    return propose


class _Search:
    """Proposals for one text, judged one after the other until enough are accepted."""

    def __init__(self, text: str, propose: Propose) -> None:
        self._text, self._tried = text, 0
        self._accepted: list[Contradiction] = []
        self._reason = LONG if len(text) > MAX_CHARACTERS else "" if text.strip() else EMPTY
        self._proposals = None if self._reason else propose(text)
        self._reason = FOREIGN if self._proposals is None and not self._reason else self._reason

    def wants(self, per_text: int) -> bool:
        return not self._reason and len(self._accepted) < per_text

    def next(self) -> Contradiction | None:
        assert self._proposals is not None, "it is asked where a text has proposals"
        return next(self._proposals, None) if self._tried < MAX_TRIES * (1 + len(self._accepted)) else None

    def judge(self, proposal: Contradiction | None, p: float | None, threshold: float) -> None:
        if proposal is None:
            self._reason = NOT_AGREED if self._tried else NO_RULE
            return
        self._tried += 1
        if p is None or p >= threshold:
            self._accepted.append(replace(proposal, p=p))

    def result(self) -> Contradicted:
        return Contradicted(self._text, tuple(self._accepted), "" if self._accepted else self._reason)


def proposals(doc: "Doc", rules: list[str], random: Random) -> Iterator[Contradiction]:
    """Changes of a text: its sentences, the rules for each and the changes of each rule, all in random order."""
    sentences = [s for s in doc.sents if MIN_WORDS <= sum(t.is_alpha or t.like_num for t in s) <= MAX_WORDS]
    sentences = [s for s in sentences if not any(mark in s.text for mark in BRACKETS) and "?" not in s.text]
    random.shuffle(sentences)
    seen = {" ".join(doc.text.split())}
    for sentence in sentences:
        order = list(rules)
        random.shuffle(order)
        for rule in order:
            for one in _apply_rule(sentence, rule, random):
                if " ".join(one.text.split()) not in seen:
                    seen.add(" ".join(one.text.split()))
                    yield one


def _apply_rule(sentence: "Span", rule: str, random: Random) -> list[Contradiction]:
    function, text = RULES[rule], sentence.doc.text
    draws = (random,) if "random" in inspect.signature(function).parameters else ()
    changes = list(function(sentence, *draws))
    random.shuffle(changes)
    proposed = []
    for change in changes:
        new = change.apply(text)
        end = sentence.end_char + len(new) - len(text)
        proposed.append(Contradiction(new, rule, sentence.text, new[sentence.start_char : end]))
    return proposed
