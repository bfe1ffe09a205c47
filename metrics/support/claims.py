"""The claims of a text: its sentences and their clauses, without markup; those that claim nothing are marked."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from semantic_metrics.cross_encoder.sentences import Span, sentence_spans

MARKER = r"(?:[-*+\u2022\u2023\u2043\u25aa\u25cf\u25e6\u2013\u2014]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]|#{1,6}|>)"
LIST_MARKER = re.compile(rf"\s*(?:{MARKER}\s+)+")
LONE_MARKER = re.compile(rf"\W*(?:{MARKER}|(?:\d{{1,3}}|[a-zA-Z])[.)]?)\W*")
EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`+|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)")
CITATION = re.compile(r"\s?\[\d{1,3}(?:\s?[,\u2013-]\s?\d{1,3})*\]")
LABEL_WORDS = 4  # the most in a label that the rest of its line belongs to: "Schools: four will close."
RULE = re.compile(r"\n(?=[^\n]*[-=])[ |:=-]+(?:\n|$)")  # below a heading or the first row of a table
BELOW = re.compile(r"([^\n]*)\s*([^\n]*)")  # the rest of a line, and the next one that is not blank
TITLE_WORDS = 8  # the most in a line without an end that is a heading
END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"'\u2019\u201d)\]*_]*\s*$")
QUESTION = re.compile(r"[?\uff1f][\"'\u2019\u201d)\]*_]*\s*$")
# what a chat model says to its reader, or that the source says nothing
TALK = re.compile(
    r"thank(?:s| you) for\b.{0,80}|(?:i|we) (?:apologi[sz]e|understand (?:your|that this|how))\b.{0,120}"
    r"|(?:i am|i'm|we are|we're) (?:(?:so|very|truly) )?sorry\b.{0,120}"
    r"|(?:please )?note(?: that|:)? (?:this|it) (?:is not|isn't) (?:legal|medical|financial|professional)\b.*"
    r"|(?:the|this) (?:text|source|document|article|passage) (?:does not|doesn't) "
    r"(?:say|state|mention|specify|provide|contain|include|name)\b.*"
    r"|(?:i|we) (?:could not|couldn't|cannot|can't) (?:find|tell|determine)\b.*"
    r"|(?:sure|certainly|of course|absolutely|okay|ok|great|thanks|thank you|you're welcome|no problem|hello|hi|got it)"
    r"(?:[,!.]? (?:thing|there|question|i can help|i'd be happy|i would be happy|happy|here|below|let)\b.*)?[!.,:]*"
    r"|(?:sure|certainly|of course|absolutely|okay|ok)[,!.:] (?:here|below|let|i)\b.{0,80}"
    r"\b(?:summary|summarize|overview|answer|points)\b.*"
    r"|here(?:'s| is| are)\b.{0,80}\b(?:summary|summaries|overview|answer|points|takeaways|breakdown|list|version)\b"
    r".{0,80}[:.]?"
    r"|(?:the following|below) (?:is|are)\b.{0,80}[:.]?"
    r"|(?:i hope|hope) (?:this|that|it) (?:helps|is helpful|clarifies)\b.*"
    r"|(?:please )?(?:let me know|feel free|do not hesitate|don't hesitate)\b.*"
    r"|(?:i'd|i would|i'll|i will|i'm|i am|i can) (?:be )?(?:happy|glad|try|summarize|summarise|provide|help)\b.*",
    re.IGNORECASE | re.DOTALL,
)
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


@dataclass(frozen=True)
class Claim:
    """A sentence of a text."""

    # begin, end: its characters in the text, with what marks it as an item of a list
    begin: int
    end: int
    written: str  # those characters
    text: str  # what the model reads of it, without markers, emphasis and numbers of sources; empty if it is skipped

    @property
    def skipped(self) -> bool:
        """Whether it claims nothing: a heading, a question, or what is said to the reader."""
        return not self.text


def read_claims(text: str) -> list[Claim]:
    """The sentences of a text, in their order.

    A marker of a list ("3.") and a label ("**Schools:**") belong to the sentence behind them on their line. Claims
    nothing: a line without an end of a sentence that has few words or is marked as a heading, what ends with a colon or
    a question mark, and what a chat model says to its reader ("Here is a summary:", "Sure!", "I hope this helps").
    """
    return [_read(text, span) for span in _joined(text, sentence_spans(text))]


def _joined(text: str, spans: list[Span]) -> Iterator[Span]:
    """Sentences, each with the marker or label in front of it."""
    first: int | None = None
    for (begin, end), following in pairwise([*spans, (len(text) + 1, 0)]):
        begin = begin if first is None else first
        same_line = following[1] > 0 and "\n" not in text[end : following[0]]
        first = begin if same_line and _leads_on(text[begin:end]) else None
        if first is None:
            yield begin, end


def _leads_on(piece: str) -> bool:
    """Whether a piece is a marker or a label of what is behind it."""
    if LONE_MARKER.fullmatch(piece):
        return True
    plain = plain_text(piece)
    return plain.endswith(":") and len(plain.split()) <= LABEL_WORDS


def plain_text(piece: str) -> str:
    """A sentence without the marker of a list, emphasis and numbers of sources."""
    marker = LIST_MARKER.match(piece)
    rest = piece[marker.end() :] if marker else piece
    return " ".join(CITATION.sub("", EMPHASIS.sub("", rest)).split()) or piece.strip()


def _read(text: str, span: Span) -> Claim:
    begin, end = span
    piece, plain = text[begin:end], plain_text(text[begin:end])
    talk, _, rest = plain.partition(": ")
    plain = rest if rest and TALK.fullmatch(talk.replace("\u2019", "'")) else plain
    return Claim(begin, end, piece, "" if _claims_nothing(text, span, piece, plain) else plain)


def _claims_nothing(text: str, span: Span, piece: str, plain: str) -> bool:
    if QUESTION.search(plain) or plain.endswith(":") or LONE_MARKER.fullmatch(piece):
        return True
    if TALK.fullmatch(plain.replace("\u2019", "'")):
        return True
    if END.search(plain):
        return False
    begin, end = span
    if piece.startswith("|"):  # a row of a table; the first one names the columns
        return RULE.match(text, end) is not None
    # a heading stands alone on its line, above sentences or a list
    rest = BELOW.match(text, end)
    assert rest is not None, "its parts may be empty"
    below = rest[2]
    if text[text.rfind("\n", 0, begin) + 1 : begin].strip() or rest[1].strip() or not below:
        return False
    marked = piece.lstrip().startswith("#") or re.fullmatch(r"\*{2}[^*]+\*{2}", piece.strip())
    short = len(plain.split()) <= TITLE_WORDS and not LIST_MARKER.match(piece)
    return bool(marked or (short and (END.search(below) or LIST_MARKER.match(below) or RULE.match(text, end))))


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
