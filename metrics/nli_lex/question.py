"""The part of a question that asks: without the story before it, and without options that give the answer away."""

import re
import unicodedata

from semantic_metrics.nli_lex.lexical import lexical_match

LONG = 20  # words: as many as search engines are asked in, which the judge learned from (training/EXPERIMENTS.md, J1)
PART = re.compile(  # lines, sentences ("Dr. Lee" is none), "(A) ..."
    r"\n|(?<=[?!]) |(?:(?<=[a-z0-9)\"'\u201d]{2}\.)|(?<=\s\.)) (?=[A-Z0-9\"'(\u201c])"
    r"| (?=[(\[]?(?:[A-Ha-h]|\d{1,2}|i{1,3}|iv)[)\].] )"
)
WORD = re.compile(r"\S+")
BEGINS = re.compile(r"(?:\w+ )?(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
OPTION = re.compile(
    r"[-*\u2022] |[(\[]?(?:[A-H]|\d{1,2}|i{1,3}|iv)[)\].:] |(?:answer )?(?:options|choices)\b", re.IGNORECASE
)
LINES = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def asked(question: str, references: list[str], number_words: bool = True) -> str:
    """What is read of a question beside an answer and its references.

    A short question that holds none of the references is read whole. Else its last sentence that asks is read, or its
    last one where none has a question mark: of those that are no option and hold no reference, which would let every
    answer pass, as the question is read before it. Where no sentence is left, it is read as one; and of a long sentence
    its first LONG words if it begins by asking ("What ... ?"), else its last.

    Args:
        question: what was asked.
        references: right answers.
        number_words: read "two" as "2", as for the lexical features.
    """

    def told(text: str) -> bool:
        return any(lexical_match(text, reference, number_words) for reference in references)

    if len(question.split()) <= LONG and not told(question):
        return question
    # one space for many: a pattern that begins with any number of them takes quadratic time
    clean = "\n".join(" ".join(line.split()) for line in LINES.split(unicodedata.normalize("NFKC", question)))
    parts = [part.strip() for part in PART.split(clean)]
    parts = [part for part in parts if part and not OPTION.match(part) and not told(part)]
    part = ([part for part in parts if part.endswith("?")] or parts or [clean])[-1]
    words = list(WORD.finditer(part))
    if len(words) <= LONG:
        return part
    return part[: words[LONG - 1].end()] if BEGINS.match(part) else part[words[-LONG].start() :]
