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
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from semantic_metrics.contradictions import clauses, exchanges, quantities
from semantic_metrics.contradictions.language import is_english, load_pipeline
from semantic_metrics.core.inputs import check_text, check_whole, quote
from semantic_metrics.core.progress import progress_bar

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from semantic_metrics.cross_encoder.pair_scorer import PairScorer

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
THRESHOLD = 0.5  # of the NLI model: a contradiction is more probable than entailment and neutral together
MAX_CHARACTERS = 200_000  # of a text, about 35,000 words: the parser keeps about 1 KB for each word
MIN_WORDS, MAX_WORDS = 3, 60  # of a sentence to change: shorter ones are fragments, longer ones the parser gets wrong
BRACKETS = ("-LRB-", "-LSB-", "-LCB-")  # as the Penn Treebank writes them: the parser takes them for words
TEXTS_AT_A_TIME = 1024  # bounds the memory that their parses take
MAX_TRIES = 12  # changes of a text that the NLI model checks for each contradiction wanted
EMPTY, LONG, FOREIGN, NO_RULE, NOT_AGREED = "empty", "too long", "not English", "no rule applies", "model disagrees"


@dataclass(frozen=True)
class Contradiction:
    """A text that contradicts another.

    Attributes:
        text: the whole text.
        rule: rule of RULES that made it.
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


def contradict(
    texts: Iterable[str],
    rules: Iterable[str] | None = None,
    seed: int = 0,
    per_text: int = 1,
    check: bool = True,
    threshold: float = THRESHOLD,
    checkpoint: str | None = None,
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
        run: how it runs, by the name of a field of `RunOptions` (`device`, `precision`, ...); None for the defaults.

    Returns:
        n results in the order of the texts; a result does not depend on the other texts.

    Raises:
        ValueError: an unknown rule, `texts` that is no list of strings, a number out of range, a missing library, or a
            checkpoint that is not there or has no label for contradiction.

    Examples:
        >>> results = contradict(["She did not eat any apples."], rules=["affirmation"])  # doctest: +SKIP
        >>> results[0].contradictions[0].text  # doctest: +SKIP
        'She ate some apples.'
    """
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise ValueError(f"texts: expected a list of strings, got {quote(texts)}")
    texts = [check_text(f"texts[{i}]", text) for i, text in enumerate(texts)]
    chosen = _chosen_rules(rules)
    check_whole("per_text", per_text, 1)
    if not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a probability in [0, 1], got {threshold!r}")
    pipeline = load_pipeline()
    results = []
    with progress_bar(len(texts), "text") as bar:
        for begin in range(0, len(texts), TEXTS_AT_A_TIME):
            searches = []
            for text in texts[begin : begin + TEXTS_AT_A_TIME]:
                searches.append(_Search(text, pipeline, chosen, seed))
                bar.update(0)  # the parser takes its time for each
            # one round judges the next proposal of every text; the last round leaves no text short that has more
            while waiting := [search for search in searches if search.wants(per_text)]:
                proposed = [search.next() for search in waiting]
                pairs = [(one.sentence, one.changed) for one in proposed if one is not None]
                values = iter(_probabilities(pairs, checkpoint, run) if check else [None] * len(pairs))
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


@lru_cache(maxsize=1)
def _load_scorer(checkpoint: str | None) -> "PairScorer":
    """The scorer of pairs, which has a label for contradiction."""
    from semantic_metrics.cross_encoder.heads import nli_labels  # imports PyTorch, which takes seconds
    from semantic_metrics.nli_lex.features import load_scorer

    scorer = load_scorer(checkpoint)
    if nli_labels(scorer.labels)[1] is None:
        raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
    return scorer


def _probabilities(pairs: list[tuple[str, str]], checkpoint: str | None, run: Mapping[str, Any] | None) -> list[float]:
    """Probabilities that the texts of each pair contradict each other, the lower one of the two orders."""
    if not pairs:
        return []
    from semantic_metrics.core.run_options import RunOptions
    from semantic_metrics.cross_encoder.heads import nli_probabilities

    scorer = _load_scorer(checkpoint)
    logits = scorer.logits([*pairs, *((b, a) for a, b in pairs)], RunOptions(**(run or {})))
    probabilities = nli_probabilities(logits.values, scorer.labels)[:, 1]
    return np.minimum(probabilities[: len(pairs)], probabilities[len(pairs) :]).tolist()


class _Search:
    """Proposals for one text, judged one after the other until enough are accepted."""

    def __init__(self, text: str, pipeline: "Language", rules: list[str], seed: int) -> None:
        self._text, self._tried = text, 0
        self._accepted: list[Contradiction] = []
        self._reason = LONG if len(text) > MAX_CHARACTERS else "" if text.strip() else EMPTY
        if not self._reason and not is_english(pipeline.make_doc(text)):
            self._reason = FOREIGN
        self._proposals: Iterator[Contradiction] = iter(())
        if not self._reason:
            # seeded by the text itself, so that neither its place among others nor Python's own hash matters
            digest = hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()
            self._proposals = proposals(pipeline(text), rules, Random(digest))

    def wants(self, per_text: int) -> bool:
        return not self._reason and len(self._accepted) < per_text

    def next(self) -> Contradiction | None:
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
