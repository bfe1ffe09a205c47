"""What rules decide of a prediction and its reference before any model: the same, another thing, no answer."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from semantic_metrics.core.texts import cached
from semantic_metrics.quantities.characters import CACHED_TEXTS, name_signs
from semantic_metrics.quantities.compare import DIFFERENT as OTHER
from semantic_metrics.quantities.compare import EQUAL, claims_another, compare, find_conflict, may_say, relate_bare
from semantic_metrics.quantities.manners import gives_no_answer, is_title, plain, right_choice, says_nothing
from semantic_metrics.quantities.names import other_name, plain_wars
from semantic_metrics.quantities.read import read
from semantic_metrics.quantities.rewrite import rewrite

SAME, DIFFERENT, NO_ANSWER, NOTHING, UNREAD = "same", "different", "no answer", "nothing", "unread"
CONFLICT = "conflict"


@dataclass(frozen=True)
class Ruling:
    """What rules decide.

    Attributes:
        kind: SAME, DIFFERENT, NO_ANSWER (the prediction gives none), NOTHING (it has no word), UNREAD (a model cannot
            read what differs); or, where a model decides, CONFLICT (of texts that answer nothing: one has another
            quantity than the other, which makes a contradiction likely) or "".
        reason: a sentence, of CONFLICT a clause; of "" that of a sentence that contradicts, else empty.
        at_most: highest score that is left, besides that of LIMITS for the kind.
    """

    kind: str = ""
    reason: str = ""
    at_most: float = np.inf

    @property
    def limit(self) -> float:
        """Highest score of a pair with this ruling."""
        return min(self.at_most, LIMITS.get(self.kind, np.inf))

    @property
    def decision(self) -> str:
        """The sentence of a rule that decides; empty where a model does."""
        return "" if self.kind == CONFLICT else self.reason


OPEN = Ruling()
UNREAD_RULING = Ruling(UNREAD, "The model cannot read the characters in which the texts differ.")
# highest score of a pair that rules decide; what a model cannot read is never sure
LIMITS = {DIFFERENT: 0.1, NO_ANSWER: 0.1, NOTHING: 0.1, UNREAD: 0.45}


def limited(scores: np.ndarray, rulings: Sequence[Ruling]) -> np.ndarray:
    """(n,) scores with 1 where rules find the same, and at most `Ruling.limit` where they find anything else."""
    limited = scores.copy()
    for i, ruling in enumerate(rulings):
        limited[i] = 1.0 if ruling.kind == SAME else min(limited[i], ruling.limit)
    return limited


def count_unread(rulings: Iterable[Ruling]) -> int:
    """Number of pairs that differ in what the model cannot read; a warning says so."""
    count = sum(ruling.kind == UNREAD for ruling in rulings)
    if count:
        pairs = "1 pair differs" if count == 1 else f"{count} pairs differ"
        warnings.warn(f"{pairs} in characters that the model cannot read (`unread`): scores below .5", stacklevel=2)
    return count


@dataclass(frozen=True)
class Ruled:
    """A pair as a model reads it, and what rules decide of it.

    Attributes:
        reference, prediction: as a model reads them; the reference has numbers and names as the prediction writes them.
        ruling: what rules decide.
    """

    reference: str
    prediction: str
    ruling: Ruling


def as_read(reference: str, prediction: str) -> tuple[str, str]:
    """Two texts as a model reads them; the reference has quantities and names as the prediction writes them."""
    wanted, given = plain_wars(plain(reference)), plain_wars(plain(prediction))
    return name_signs(rewrite(wanted, given).text), name_signs(given)


@cached(CACHED_TEXTS)
def rule(reference: str, prediction: str, question: str | None = None) -> Ruled:
    """Read a pair once.

    Args:
        reference: a right text or answer.
        prediction: the text or answer to judge.
        question: what was asked; None for texts that answer nothing, whose names are not compared.
    """
    wanted, given = plain_wars(plain(reference)), plain_wars(plain(prediction))
    written = rewrite(wanted, given).text
    return Ruled(name_signs(written), name_signs(given), _ruling(wanted, written, given, question))


def _ruling(wanted: str, written: str, given: str, question: str | None) -> Ruling:
    compared = compare(given, written)  # reasons name what the prediction has first
    if compared.same or compare(wanted, given).same:
        return Ruling(SAME, "The texts are the same but for their writing.")
    asked = question is not None
    if gives_no_answer(given, asked):
        if gives_no_answer(wanted, asked) and not is_title(wanted):
            return Ruling(SAME, "Both texts say that there is no answer.")
        return Ruling(NO_ANSWER, "The prediction gives no answer.")
    if question is not None:
        if (right := right_choice(question, given, wanted)) is not None:
            chosen = "chooses what the reference does" if right else "makes another choice than the reference"
            return Ruling(SAME if right else DIFFERENT, f"The answer {chosen}.")
    elif says_nothing(given) and not says_nothing(wanted):
        return Ruling(NOTHING, "The prediction says nothing.")
    if compared.differences:
        return Ruling(DIFFERENT, "The texts contradict each other: " + "; ".join(map(str, compared.differences)) + ".")
    if not asked:
        conflict = find_conflict("", given, written)
        return Ruling(CONFLICT, str(conflict)) if conflict else OPEN
    return _bare_or_named(wanted, written, given)


def _bare_or_named(wanted: str, written: str, given: str) -> Ruling:
    """The ruling on answers that are quantities and nothing else, or that name another than is wanted."""
    bare = relate_bare(written, given)
    if bare == EQUAL:
        return Ruling(SAME, "The quantities are equal.")
    if bare == OTHER:
        return Ruling(DIFFERENT, f"{given!r} is not {wanted!r}.")
    name = other_name(given, wanted)
    return Ruling(DIFFERENT, f"{name[0]!r} is another name than {name[1]!r}.") if name else OPEN


def repeats(sentence: str, claim: str) -> bool:
    """Whether a sentence says a claim, but for its writing."""
    return compare(rewrite(plain(sentence), plain(claim)).text, plain(claim)).same


def contradicted_by(claim: str, sentences: list[str], source: list[str]) -> bool:
    """Whether one of some sentences has another quantity than a claim, and no sentence of the source has the claim's.

    A sentence of the source has it if it says the claim's words too, or no others: "It rained on May 3. On May 4, too."
    """
    claim = plain(claim)
    if not read(claim).quantities:
        return any(compare(plain(sentence), claim).differences for sentence in sentences)  # in signs alone
    if not any(claims_another(claim, plain(sentence)) for sentence in sentences):
        return False
    return not any(may_say(claim, plain(sentence)) for sentence in source)
