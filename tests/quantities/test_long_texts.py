"""Whatever a text is made of, to read it takes work in proportion to its length, and fails nowhere."""

import gc
import inspect
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice, product
from math import log
from time import process_time

import pytest

from semantic_metrics.core import texts
from semantic_metrics.cross_encoder.sentences import sentence_spans
from semantic_metrics.nli_lex.lexical import lexical_match, read_words, stem_recall
from semantic_metrics.nli_lex.question import extract_question
from semantic_metrics.quantities.characters import fold, name_signs, unfold
from semantic_metrics.quantities.compare import compare, find_conflict
from semantic_metrics.quantities.manners import gives_no_answer, plain, right_choice, says_nothing, without_thoughts
from semantic_metrics.quantities.names import other_name
from semantic_metrics.quantities.read import read
from semantic_metrics.quantities.rewrite import rewrite
from semantic_metrics.quantities.rules import contradicted_by, repeats, rule
from semantic_metrics.support.claims import read_claims
from semantic_metrics.support.evidence import stems
from tests.conftest import ROOT

REPEATED = (  # lone surrogates are refused before anything is read
    *("1,", "1,000,", "1.", "1:", "1/", "1-", "1a-", "9", "10^400 ", "1e309 ", "5 meter^999999 ", "5 to ", "5 or "),
    *("one hundred million billion ", "one ", "twenty-", "31/12/9999 ", "99999-99-99 ", "May ", "I", "XIV ", "A. "),
    *("1'123", "5kg-", "1e9-", "1x1-", "none ", "5 km/0 h ", "$5/0 kg ", "5 mg per 0 l "),
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
ROOMS = (
    "quantities",
    "nli_lex",
    "support",
    "cross_encoder",
    "demo",
    "html",
    "fitting",
    "contradictions",
    "files",
    "matcha",
)


@contextmanager
def uncollected() -> Iterator[None]:
    """What other tests left is not collected meanwhile: a finalizer is work too."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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
        with uncollected():
            short, long = (calls(READERS[name], f"{name} {make(length)}") for length in LENGTHS)
        exponent = log(long / short, LENGTHS[1] / LENGTHS[0])
        assert exponent < HIGHEST_EXPONENT, f"{make(40)!r}: {short}, then {long} calls"


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each pattern that is looked for everywhere in a text, with its name; others are matched at a known place."""
    files = (path for room in ROOMS for path in sorted((ROOT / "metrics" / room).glob("*.py")) if path.stem != "app")
    for path in files:
        if "re.compile(" not in path.read_text(encoding="utf-8"):
            continue
        room = import_module(f"semantic_metrics.{path.parent.name}.{path.stem}")
        searched = re.findall(r"\b(\w+)\.(?:search|sub|finditer|findall|split)\(", inspect.getsource(room))
        for name, value in vars(room).items():
            if isinstance(value, re.Pattern) and name in searched:
                yield f"{room.__name__}.{name}", value


def seconds(work: Callable[[], object]) -> float:
    """Time on the processor that some work takes."""
    with uncollected():
        begin = process_time()
        work()
        return process_time() - begin


def check_growth(work: Callable[[int], object], lengths: tuple[int, int], about: str) -> None:
    """Linear, the long text takes some milliseconds; quadratic, seconds, sixteen times what a quarter of it takes."""
    short, long = lengths
    work(short // 2)  # patterns are compiled once; what is read is kept, so no text twice
    if (taken := seconds(lambda: work(long))) > 0.2:
        assert taken < 9 * seconds(lambda: work(short)), about


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*one, id=one[0]) for one in patterns()])
def test_no_pattern_goes_back_again_and_again(name: str, pattern: re.Pattern[str]) -> None:
    for make in TEXTS:

        def look_everywhere(length: int, make: Callable[[int], str] = make) -> None:
            deque(pattern.finditer(make(length) + "!"), maxlen=0)

        check_growth(look_everywhere, (5_000, 20_000), f"{name}: {make(40)!r}")


def numbers(length: int, odd: int) -> str:
    """Numbers of five digits, all of them even or odd."""
    return " ".join(str(i + odd) for i in range(10_000, 10_000 + length // 3, 2))


def words(length: int, ending: str) -> str:
    return " ".join("".join(letters) + ending for letters in islice(product("bcdfghjk", repeat=6), length // 8))


WORK: dict[str, Callable[[int], object]] = {  # all that C does, where no calls are to be counted
    "other numbers": lambda n: find_conflict("", numbers(n, 0), numbers(n, 1)),
    "differences": lambda n: compare(numbers(n, 0), numbers(n, 1)),
    "years": lambda n: rewrite("nineteen forty five, " * (n // 21), "1945 "),
    "stems": lambda n: stem_recall(words(n, "ing"), words(n, "ed")),
    "thousands": lambda n: lexical_match("1" + ",000" * (n // 4) + ",0", "Leonardo"),
    "zeros": lambda n: lexical_match("1.5" + "0" * n + ".", "1.5"),
    "nines": lambda n: lexical_match("9" * n + ",", "9"),
    "points": lambda n: lexical_match("1." * (n // 2), "Leonardo"),
    "initials": lambda n: lexical_match("a." * (n // 2) + "bc", "Leonardo"),
    "groups": lambda n: read("1" + " 123" * (n // 4)),
    "codes": lambda n: [read(part * (n // len(part))) for part in ("5kg-", "1e9-", "1x1-")],
    "nothing": lambda n: read("none " * (n // 5)),
    "marks of two": lambda n: unfold("b" + "\u0f73" * n),
    "marks that are letters": lambda n: lexical_match("\u0301\uff9e" * (n // 2), "Leonardo"),
    "asked": lambda n: find_conflict(f"Which of {numbers(n, 0)}?", numbers(n, 1), "5"),
    "spaces": lambda n: extract_question("w " * 21 + " " * n + "end?", ["Paris"]),
    **{
        f"sentences of {text!r}": lambda n, text=text: sentence_spans(text * (n // len(text)))
        for text in ("word ", "a. ", '"He (said. ', "Mr. ", "x", "\u4eca\u5929\u3002", "\n", "a,b;c|d\n")
    },
}


@pytest.mark.parametrize("name", WORK)
def test_work_of_long_texts_is_linear(name: str) -> None:
    check_growth(WORK[name], (10_000, 40_000), name)


@pytest.mark.parametrize("reader", [unfold, name_signs, fold, plain, read, read_words, stems])
def test_what_is_kept_of_texts_is_bounded(reader: Callable[[str], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "CACHED_CHARACTERS", 1_000)
    for i in range(99):
        reader(f"{i} words" * 20)
    assert 1 <= reader.cache_info().currsize <= texts.ALWAYS_CACHED
