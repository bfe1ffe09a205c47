"""The part of a question that asks: without the story before it, and without options that give the answer away."""

import re

from .lexical import lexical_match

LONG = 20  # words: as many as search engines are asked in, which the judge learned from (training/EXPERIMENTS.md, J1)
PART = re.compile(  # lines, sentences ("Dr. Lee" is none), "(A) ..."
    r"\n+|(?<=[?!])\s+|(?:(?<=[a-z0-9)\"'\u201d]{2}\.)|(?<=\s\.))\s+(?=[A-Z0-9\"'(\u201c])|\s+(?=\(?[A-Ea-e1-9][).]\s)"
)
WORD = re.compile(r"\S+")
BEGINS = re.compile(r"(?:\w+ )?(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
OPTION = re.compile(r"\(?[A-Ha-h1-9][).:]\s|(?:answer )?(?:options|choices)\b", re.IGNORECASE)


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
    parts = [part.strip() for part in PART.split(question)]
    parts = [part for part in parts if part and not OPTION.match(part) and not told(part)]
    part = ([part for part in parts if part.endswith("?")] or parts or [question])[-1]
    words = list(WORD.finditer(part))
    if len(words) <= LONG:
        return part
    return part[: words[LONG - 1].end()] if BEGINS.match(part) else part[words[-LONG].start() :]
