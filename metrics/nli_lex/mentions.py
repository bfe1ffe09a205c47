"""Whether an answer rejects the reference where it names it: by cues around each mention, without a model.

"Not Leonardo, but Michelangelo", "Leonardo did not paint it" and "Leonardo is a common wrong answer" have as many words
of the reference as a right answer. A mention is read in its clause, with the sign or word that the clause follows and
the beginning of the next clause. The cues are English. What they miss is left to the NLI model.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from semantic_metrics.nli_lex.lexical import NEGATIONS, read_words

SHARE_OF_NAME = 0.5  # of the reference's words that a clause must have, where none has all: "da Vinci"
_FEW = r"(?:\S+ ){0,3}?"
_IS = r"(?:is|was|are|were|been|an|a|only|the)"
_WRONG = (
    r"(?:wrong|incorrect|false|untrue|myth|mistaken|mistake|error|misconception|legend|refuted|disproved|excluded|"
    r"ruled out|out of the question)"
)
# where a clause ends: not at the comma of "May 4, 1970" or "1,000", nor at the stop of "J. K." or "3.5"
BOUNDARY = re.compile(
    r"[;:!?()\n\u2014\u2013]+|\.{3}|(?<=\w\w)\.(?=\s|$)|(?<=\*)\.|\.$|,(?! ?\d)|\s-\s|\b(?:but|although|though)\b", re.I
)
REJECTS_BEFORE = re.compile(
    r"\b(?:not|never|neither|nor|cannot|isnt|wasnt|arent|werent|didnt|doesnt|dont|cant|couldnt|rather than|"
    r"instead of|unlike|opposed to|contrary to|rule out|ruled out|doubt|anyone|anybody|false that|wrong that|"
    r"wrong to say|idea that|misconception|myth|mistaken for|confused? with|confuse|forget|nobody believes|"
    r"if you (?:guess|guessed|say|said))\b"
)
DOUBLE = re.compile(  # two negations, or one that denies nothing
    r"\b(?:no|without|not|never|cannot|dont|nobody|beyond) (?:\S+ ){0,3}?(?:doubts?|question|wrong|false|mistaken|deny|"
    r"other than|but|only|just|anyone|anything|until|till)\b"
)
REJECTS_AFTER = re.compile(
    r"^(?:who )?(?:(?:is|was|are|were|did|does|do|has|had|can|could|will|would|may|might) )?(?:\S+ly )?(?:not|never)\b"
    r"|^(?:\S+ )?(?:isnt|wasnt|arent|werent|didnt|doesnt|dont|hasnt|hadnt|cant|couldnt|wont|wouldnt)\b"
    rf"|^{_FEW}{_IS} {_FEW}{_WRONG}\b"
)
AFFIRMS = re.compile(rf"\b(?:not|never|isnt|hardly) (?:an? )?{_WRONG}\b")
TAKEN_BACK = re.compile(  # the beginning of the next clause
    r"^(?:no|nope|wrong|incorrect|incorrectly|wrongly|mistakenly|false|sorry|wait|hold on|scratch that|correction|edit|"
    r"i mean|i meant|i apologi[sz]e|i take (?:that|it) back|let me correct|on reflection|"
    rf"(?:that|this|it|which) (?:is|was) {_FEW}(?:not|{_WRONG})|(?:that|this|it) (?:isnt|wasnt))\b"
)
REPORTS = re.compile(  # what others say is rejected where "but" or the like follows, or "although" stands before it
    r"\b(?:people|many|most|some|others|everyone|everybody|often|commonly|sometimes|usually|popular|common|once|"
    r"used to|first|might|claimed|believed|guess)\b"
)
CONTRASTS = re.compile(r"\s*(?:but|yet|however|though|in fact|actually|really|the truth|the real|the right)\b", re.I)
CONCESSIONS = ("but", "though", "although")


@dataclass(frozen=True)
class _Clause:
    """A clause in normalised words, and the sign or word that it follows."""

    words: tuple[str, ...]
    sign: str


def rejected(question: str, answer: str, reference: str, number_words: bool = True) -> float:
    """1 if the answer names the reference and rejects every mention of it, else 0.

    A clause mentions the reference if it has all of its words; where no clause has, if it has half of them. Negations
    that the question has as well ("Can't Help Falling in Love") are no cues.
    """
    wanted = set(read_words(reference, number_words).plain)
    asked = NEGATIONS.intersection(read_words(question, number_words).all)
    clauses = _clauses(answer, number_words)
    shares = [len(wanted.intersection(clause.words)) / max(len(wanted), 1) for clause in clauses]
    least = 1.0 if 1.0 in shares else SHARE_OF_NAME
    mentions = [i for i, share in enumerate(shares) if share >= least]
    following = [*clauses[1:], _Clause((), "")]
    return float(bool(mentions) and all(_rejects(clauses[i], following[i], wanted, asked) for i in mentions))


def _clauses(answer: str, number_words: bool) -> list[_Clause]:
    ends = [(0, 0), *(match.span() for match in BOUNDARY.finditer(answer)), (len(answer), len(answer))]
    parts = ((answer[end:begin], answer[start:end]) for (start, end), (begin, _) in pairwise(ends))
    return [
        _Clause(read_words(text, number_words).all, sign.strip().lower())
        for text, sign in parts
        if re.search(r"\w", text)
    ]


def _rejects(clause: _Clause, following: _Clause, wanted: set[str], asked: set[str]) -> bool:
    """Whether a clause that mentions the reference rejects it."""
    places = [i for i, word in enumerate(clause.words) if word in wanted]
    before, after, text, spoken = (
        " ".join(word for word in words if word not in asked)
        for words in (clause.words[: places[0]], clause.words[places[-1] + 1 :], clause.words, following.words)
    )
    if AFFIRMS.search(after):
        return False
    if (REJECTS_BEFORE.search(before) and not DOUBLE.search(before)) or REJECTS_AFTER.match(after):
        return True
    if TAKEN_BACK.match(spoken) and not DOUBLE.match(spoken):
        return True
    contrasted = following.sign in CONCESSIONS or bool(CONTRASTS.match(spoken)) or clause.sign in CONCESSIONS[1:]
    return contrasted and bool(REPORTS.search(text))
