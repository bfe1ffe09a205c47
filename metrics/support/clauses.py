"""The clauses of a claim: a long sentence may be right in one and wrong in the other."""

import re
from bisect import bisect_left

FEWEST_WORDS = 3  # of a clause
# how a clause begins that has a subject of its own
_SUBJECT = (
    r"(?:he|she|it|they|we|this|that|these|those|the|a|an|its|their|his|her|some|many|most|no|all|both|each|one|two"
    r"|[A-Z][\w'-]*|\d[\d,.]*)\b"
)
_CUT = re.compile(
    r"; | [-\u2013\u2014] |, (?:and|but|while|whereas|although|though|because|so|yet|or) "
    rf"| (?:and|but|while|whereas|although|because|after|before|so) (?={_SUBJECT})"
)
# endings and forms of most verbs; plural nouns look like them, so that two nouns may be taken for clauses
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|will|would|can|could|may|might|must|should|said|won|lost"
    r"|made|gave|took|went|came|left|began|became|led|held|found|told|met|rose|fell|grew|kept|set|put|saw|got|ran|paid"
    r"|sold|bought|built|wrote|spoke|[a-z]{2,}ed|[a-z]{3,}s)\b"
)


def clauses(text: str) -> list[str]:
    """The clauses of a sentence with single spaces, each as a sentence; none if it has only one.

    It is cut at a semicolon, a dash or a conjunction between two parts that both have what looks like a verb.
    """
    verbs = [match.start() for match in _VERB.finditer(text)]
    words = [match.start() for match in re.finditer(r"\S+", text)]

    def is_clause(begin: int, end: int) -> bool:
        count = bisect_left(words, end) - bisect_left(words, begin)
        return count >= FEWEST_WORDS and bisect_left(verbs, begin) < bisect_left(verbs, end)

    pieces, begin = [], 0
    for cut in _CUT.finditer(text):
        if is_clause(begin, cut.start()) and is_clause(cut.end(), len(text)):
            pieces.append(text[begin : cut.start()])
            begin = cut.end()
    if not pieces:
        return []
    return [f"{one[0].upper()}{one[1:].rstrip(' ,.;')}." for one in (*pieces, text[begin:])]
