"""Whatever a text is made of, to read it takes time in proportion to its length, and fails nowhere."""

from collections.abc import Callable
from math import log
from time import process_time

import pytest

from semantic_metrics.nli_lex.lexical import entity_agreement, number_agreement, stem_recall
from semantic_metrics.nli_lex.mentions import rejected
from semantic_metrics.nli_lex.question import extract_question
from semantic_metrics.quantities.manners import gives_no_answer, says_nothing, without_thoughts
from semantic_metrics.quantities.rules import contradicted_by, repeats, rule
from semantic_metrics.support.claims import read_claims

REPEATED = (
    *(
        "1,",
        "1,000,",
        "1.",
        "1:",
        "1/",
        "1-",
        "1a-",
        "9",
        "10^400 ",
        "1e309 ",
        "5 meter^999999 ",
        "5 to ",
        "5 or ",
        "$",
    ),
    *(
        "one hundred million billion ",
        "one ",
        "twenty-",
        "31/12/9999 ",
        "99999-99-99 ",
        "May ",
        "I",
        "XIV ",
        "A. ",
        "A) ",
    ),
    *("(", "[1, ", '"', "\u201c", "'", "`", "**", "*a", "_", "# ", "\n- ", "\\boxed{", "{", "<think>", "</think>", "|"),
    *("not ", "n't ", "? ", ". ", "...", "Mr. ", "NASA ", "Bob of the ", "A or ", "U.S.", "\t", "\r\n", "\u2028", " "),
    *("\u05d0\u05b0\u05bc", "\u0301\u0316", "\u200b", "\ud800", "\u0665", "\u00bd", "\u00b2", "\U0001f1e9", "\u2705"),
)
NESTED = {"(": ")", "**`": "`**", "\\boxed{": "}", "<think>": "</think>", "\u201c": "\u201d", "Sure! ": ""}
TEXTS = [lambda n, part=part: part * (n // len(part)) for part in REPEATED]
TEXTS += [lambda n, a=a, b=b: a * (n // len(a + b)) + "x" + b * (n // len(a + b)) for a, b in NESTED.items()]
READERS: list[Callable[[str], object]] = [
    lambda text: rule(text, text + " z"),
    lambda text: rule(text + " z", text, "Which? A) x B) " + text),
    lambda text: (contradicted_by(f"z 5 kg of Bob {text}", [text], [text]), repeats(text, text + " z")),
    lambda text: (entity_agreement(text, text + " z"), stem_recall(text, text + " z"), number_agreement(text, "z 5")),
    lambda text: (extract_question(text, ["the answer 5"]), rejected("Who? " + text, text, text[:50])),
    read_claims,
    lambda text: (without_thoughts([text]), gives_no_answer(text), says_nothing(text)),
]
FIRST, LONGEST = 1_500, 100_000  # characters
ENOUGH_SECONDS = 0.2  # of the processor, in which an exponent shows
HIGHEST_EXPONENT = 1.6  # 1 for time in proportion, 2 where each character is compared with each; rest is noise


def seconds(reader: Callable[[str], object], text: str) -> float:
    begin = process_time()
    reader(text)
    return process_time() - begin


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=["pair", "answer", "claim", "words", "question", "claims", "manners"])
def test_time_grows_as_the_text_does(reader: Callable[[str], object]) -> None:
    reader("It has 5 words.")
    for make in TEXTS:
        length, before = FIRST, seconds(reader, make(FIRST))
        while length < LONGEST and before < ENOUGH_SECONDS:
            length, last = 4 * length, before
            before = seconds(reader, make(length))
            exponent = log(before / max(last, ENOUGH_SECONDS / 20), 4)
            assert exponent < HIGHEST_EXPONENT, (
                f"{make(40)!r}: {last:.3f} s, then {before:.3f} s for {length} characters"
            )
