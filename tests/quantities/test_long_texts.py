"""Whatever a text is made of, to read it takes work in proportion to its length, and fails nowhere."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from math import log
from time import process_time

import pytest

from semantic_metrics.nli_lex.lexical import lexical_match, stem_recall
from semantic_metrics.nli_lex.question import extract_question
from semantic_metrics.quantities.manners import gives_no_answer, right_choice, says_nothing, without_thoughts
from semantic_metrics.quantities.names import other_name
from semantic_metrics.quantities.rules import contradicted_by, repeats, rule
from semantic_metrics.support.claims import read_claims

REPEATED = (  # lone surrogates are refused before anything is read
    *("1,", "1,000,", "1.", "1:", "1/", "1-", "1a-", "9", "10^400 ", "1e309 ", "5 meter^999999 ", "5 to ", "5 or "),
    *("one hundred million billion ", "one ", "twenty-", "31/12/9999 ", "99999-99-99 ", "May ", "I", "XIV ", "A. "),
    *("$", "A) ", "every 0 days ", "a\0 5 ", "5 Apr\u0131l ", "5 m\u0131llion "),
    *("(", "[1, ", '"', "\u201c", "'", "`", "**", "*a", "_", "# ", "\n- ", "\\boxed{", "{", "<think>", "</think>", "|"),
    *("not ", "n't ", "? ", ". ", "...", "Mr. ", "NASA ", "Bob of the ", "A or ", "U.S.", "\t", "\r\n", "\u2028", " "),
    *("\u05d0\u05b0\u05bc", "\u0301\u0316", "\u200b", "\u0665", "\u00bd", "\u00b2", "\U0001f1e9", "\u2705"),
)
NESTED = {"(": ")", "**`": "`**", "\\boxed{": "}", "<think>": "</think>", "\u201c": "\u201d", "Sure! ": ""}
TEXTS = [lambda n, part=part: part * (n // len(part)) for part in REPEATED]
TEXTS += [lambda n, a=a, b=b: a * (n // len(a + b)) + "x" + b * (n // len(a + b)) for a, b in NESTED.items()]
TEXTS += [lambda n, cue=cue: cue + " " * n for cue in ("The answer is", "Answer:", "A of", "1.", "?", "one", "# x\n")]
TEXTS += [lambda n: " ".join(map(str, range(n // 4)))[:n]]
TEXTS += [lambda n: "x\n" * (n // 2), lambda n: "- " * (n // 2) + "x", lambda n: "-" * n + "x"]
READERS: dict[str, Callable[[str], object]] = {
    "pair": lambda text: rule(text, text + " z"),
    "other numbers": lambda text: rule(text, text.translate(str.maketrans("0123456789", "3456789012"))),
    "answer": lambda text: rule(text + " z", text, "Which? A) x B) " + text),
    "choice": lambda text: right_choice("A) 1 B) 2", text, "A"),
    "name": lambda text: other_name(f"A{text} Smith", f"B{text} Smith"),
    "claim": lambda text: (contradicted_by(f"z 5 kg of Bob {text}", [text], [text]), repeats(text, text + " z")),
    "words": lambda text: (lexical_match(text, text + " z"), stem_recall(text, "z 5")),
    "question": lambda text: extract_question(text, ["the answer 5"]),
    "sentences": read_claims,
    "manners": lambda text: (without_thoughts([text]), gives_no_answer(text), says_nothing(text)),
}
LENGTHS = 500, 2_000  # characters
HIGHEST_EXPONENT = 1.3  # of the work: 1 in proportion to the length, 2 where each piece is compared with each
NAMES = ("characters", "manners", "names", "read", "rewrite", "spell", "compare")
ROOMS = [f"semantic_metrics.quantities.{name}" for name in NAMES]
ROOMS += [f"semantic_metrics.nli_lex.{name}" for name in ("lexical", "question")]
ROOMS += ["semantic_metrics.support.claims", "semantic_metrics.cross_encoder.sentences"]
LONG, SHORT = 20_000, 5_000  # characters for a pattern, which works without calls


def calls(reader: Callable[[str], object], text: str) -> int:
    """Calls of functions, Python's own among them, while a text is read."""
    count = 0

    def see(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        reader(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_work_grows_as_the_text_does(name: str) -> None:
    READERS[name]("It has 5 words.")
    for make in TEXTS:
        # what a cache knows is no work: each reader has texts of its own
        short, long = (calls(READERS[name], f"{name} {make(length)}") for length in LENGTHS)
        exponent = log(long / short, LENGTHS[1] / LENGTHS[0])
        assert exponent < HIGHEST_EXPONENT, f"{make(40)!r}: {short}, then {long} calls"


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each pattern that is looked for everywhere in a text, with its name; others are matched at a known place."""
    for room in map(import_module, ROOMS):
        searched = re.findall(r"\b(\w+)\.(?:search|sub|finditer|findall|split)\(", inspect.getsource(room))
        for name, value in vars(room).items():
            if isinstance(value, re.Pattern) and name in searched:
                yield f"{room.__name__}.{name}", value


def seconds(pattern: re.Pattern[str], text: str) -> float:
    """Time on the processor to look for a pattern everywhere in a text."""
    begin = process_time()
    for _ in pattern.finditer(text):
        pass
    return process_time() - begin


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*one, id=one[0]) for one in patterns()])
def test_no_pattern_goes_back_again_and_again(name: str, pattern: re.Pattern[str]) -> None:
    """Linear, the long text takes some milliseconds; quadratic, a second, sixteen times what the short one takes."""
    for make in TEXTS:
        if (long := seconds(pattern, make(LONG) + "!")) > 0.2:
            assert long < 9 * seconds(pattern, make(SHORT) + "!"), f"{name}: {make(40)!r}"
