"""The part of a question that asks, without the story before it and without options that give the answer away."""

import re

from semantic_metrics.nli_lex.lexical import lexical_match
from semantic_metrics.quantities.characters import normalize

# the judge was trained on a search engine's queries, which have no more words than this (docs/decisions/judge.md, J1)
LONG_QUESTION_WORDS = 20
SENTENCE_END = re.compile(  # a line's end, a sentence's end (not that of "Dr." in "Dr. Lee"), what "(A) ..." follows
    r"\n|(?<=[?!]) |(?:(?<=[a-z0-9)\"'\u201d]{2}\.)|(?<=\s\.)) (?=[A-Z0-9\"'(\u201c])"
    r"| (?=[(\[]?(?:[A-Ha-h]|\d{1,2}|i{1,3}|iv)[)\].] )"
)
WORD = re.compile(r"\S+")
QUESTION_WORD = re.compile(r"(?:\w+ )?(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
OPTION_MARK = re.compile(
    r"[-*\u2022] |[(\[]?(?:[A-H]|\d{1,2}|i{1,3}|iv)[)\].:] |(?:answer )?(?:options|choices)\b", re.IGNORECASE
)
LINE_END = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def extract_question(question: str, references: list[str], number_words: bool = True) -> str:
    """The part of a question that is read beside an answer and its references.

    A short question that contains no reference is read whole. Of any other, the last sentence with a question mark is
    read, or the last sentence where none has one. Sentences that are an option or contain a reference do not count:
    as the question is read before the answer, they would let every answer pass. If no sentence is left, nothing is read
    of a question that offers a reference beside another answer ("Is it on or off?"), and any other counts as one
    sentence. A sentence that is still too long is cut to its first LONG_QUESTION_WORDS words if it begins
    by asking ("What ... ?"), else to its last.
    """

    def gives_away(text: str) -> bool:
        return any(lexical_match(text, reference, number_words) for reference in references)

    if len(question.split()) <= LONG_QUESTION_WORDS and not gives_away(question):
        return question
    # one space for many: a pattern that begins with any number of them takes quadratic time
    clean = "\n".join(" ".join(line.split()) for line in LINE_END.split(normalize("NFKC", question)))
    parts = [part.strip() for part in SENTENCE_END.split(clean)]
    parts = [part for part in parts if part and not OPTION_MARK.match(part) and not gives_away(part)]
    if not parts and any(_offers(clean, reference) for reference in references):
        return ""
    part = ([part for part in parts if part.endswith("?")] or parts or [clean])[-1]
    words = list(WORD.finditer(part))
    if len(words) <= LONG_QUESTION_WORDS:
        return part
    if QUESTION_WORD.match(part):
        return part[: words[LONG_QUESTION_WORDS - 1].end()]
    return part[words[-LONG_QUESTION_WORDS].start() :]


def _offers(question: str, reference: str) -> bool:
    """Whether the reference stands beside an "or" in a question."""
    named = re.escape(" ".join(reference.split()))
    return bool(re.search(rf"(?<!\w){named},? or\b|\bor (?:an? |the )?{named}(?!\w)", question, re.IGNORECASE))
