"""From the parts of a consensus to a verdict in words, with its reason."""

from semantic_metrics.consensus.parts import Parts
from semantic_metrics.quantities.rules import CONFLICT, DIFFERENT, NOTHING, OPEN, Ruling
from semantic_metrics.quantities.rules import NO_ANSWER as GIVES_NONE
from semantic_metrics.quantities.rules import SAME as EQUAL
from semantic_metrics.quantities.rules import UNREAD as NOT_READ

CONTRADICTS, SAME, UNRELATED = "contradicts", "same", "unrelated"
SAYS_LESS, SAYS_MORE, DIFFERS = "says less", "says more", "differs"
EMPTY, NO_ANSWER, UNREAD = "empty", "no answer", "unread"
VERDICTS = (CONTRADICTS, SAME, SAYS_LESS, SAYS_MORE, DIFFERS, UNRELATED, EMPTY, NO_ANSWER, UNREAD)
BY_RULE = {EQUAL: SAME, DIFFERENT: CONTRADICTS, GIVES_NONE: NO_ANSWER, NOTHING: UNRELATED, NOT_READ: UNREAD}
# Chosen on development sets, see docs/consensus.md.
CONTRADICTS_ABOVE = 0.5  # probability of contradiction, where `weights.limit` is .5
ENTAILS_FROM = 0.5  # probability of entailment
# Similarity below which texts that do not entail each other are unrelated: a model of NLI, which learned from captions
# of one picture, would say that they contradict.
UNRELATED_BELOW = 0.15


def verdict(parts: Parts, row: int) -> tuple[str, str]:
    """The verdict on one of n pairs, one of VERDICTS, and a sentence that gives its reason.

    The first that applies: rules decide (`quantities.rules`), and give their reason; the texts have little in common,
    and neither entails the other ("unrelated"); they contradict each other; each entails the other ("same"); the
    reference entails the prediction ("says less", as the prediction leaves something out); the prediction entails the
    reference ("says more", as it adds something); neither entails the other ("differs", as the prediction adds
    something and leaves something out). Rules alone say "no answer", and "unread" where the model cannot read what
    differs.
    """
    ruling = OPEN if parts.rulings is None else parts.rulings[row]
    if ruling.kind in BY_RULE:
        return BY_RULE[ruling.kind], ruling.reason
    word, reason = _by_model(parts, row, ruling)
    return word, reason + " The texts are longer than the model reads, and were cut." * bool(parts.truncated[row])


def _by_model(parts: Parts, row: int, ruling: Ruling) -> tuple[str, str]:
    """The verdict and the reason where no rule decides."""
    supported, covered = float(parts.supported[row]), float(parts.covered[row])
    contradiction, similarity = float(parts.contradiction[row]), float(parts.similarity[row])
    forward, back = supported >= ENTAILS_FROM, covered >= ENTAILS_FROM
    if similarity < UNRELATED_BELOW and not (forward or back):
        return UNRELATED, f"The texts have little in common (similarity {similarity:.2f})."
    if contradiction > CONTRADICTS_ABOVE:
        if parts.sentences is not None and parts.sentences[row]:
            return CONTRADICTS, f"{parts.sentences[row]} (probability {contradiction:.2f})."
        named = f": {ruling.reason}" if ruling.kind == CONFLICT else ""
        return CONTRADICTS, f"The texts contradict each other (probability {contradiction:.2f}){named}."
    chances = f"({supported:.2f} from reference to prediction, {covered:.2f} back)"
    if forward and back:
        return SAME, f"Each text entails the other {chances}."
    if forward:
        return SAYS_LESS, f"The reference entails the prediction, which leaves something out {chances}."
    if back:
        return SAYS_MORE, f"The prediction entails the reference and adds something {chances}."
    return DIFFERS, f"Neither text entails the other {chances}, and a contradiction has {contradiction:.2f}."
