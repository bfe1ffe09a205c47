"""Sentences of a text with their places in it.

sentencex (Wikimedia, MIT) finds the ends of sentences by rules and lists of abbreviations: no model, no network, and
offsets in characters. It is maintained. spaCy's sentencizer ends a sentence behind an opening quote, and is 25 times
slower; pysbd takes 3 seconds for 40,000 characters, and ever more for longer texts.
"""

import re
from collections.abc import Callable, Iterator
from itertools import groupby

import sentencex

Span = tuple[int, int]  # begin and end
Offsets = Callable[[str], list[Span]]  # begin and end of each token of a text

LANGUAGE = "en"
BLOCK_CHARACTERS = 5_000  # sentencex takes quadratic time for some texts: longer paragraphs are cut first
MAX_WRAPPED_WIDTH = 120  # longest line of a paragraph whose lines an editor or a mail program broke
WORD_START = re.compile(
    r"[\w(\"'\u201c\u2018]"
)  # a line that begins with anything else, such as a bullet, stands alone
NO_END = re.compile(r"\b(?:Ms|Mx|[Aa]pprox)\.\s*$")  # abbreviations that sentencex does not know


def sentence_spans(text: str) -> list[Span]:
    """Begin and end of each sentence of an English text, in their order, without the white space around it.

    A line break ends a sentence (headings, bullets, rows of a table, lines of code), except in a paragraph that was
    wrapped: where no next word would have fitted into the line. A piece without any letter or digit is no sentence.
    """
    return [span for block in _blocks(text) for span in _split(text, *block)]


def _blocks(text: str) -> Iterator[Span]:
    """Lines, wrapped ones joined, each at most BLOCK_CHARACTERS long; together all characters that are not blank."""
    lines = [match.span() for match in re.finditer(r"[^\n\r\v\f\x85\u2028\u2029]+", text)]
    for _, paragraph in groupby(_paragraphs(text, lines), key=lambda item: item[0]):
        spans = [span for _, span in paragraph]
        width = max(end - begin for begin, end in spans)
        begin = spans[0][0]
        for line, following in zip(spans, [*spans[1:], None], strict=True):
            if following is None or not _is_wrapped(text, line, following, width):
                yield from _cut_block(text, begin, line[1])
                begin = following[0] if following else line[1]


def _paragraphs(text: str, lines: list[Span]) -> Iterator[tuple[int, Span]]:
    """Lines that are not blank, each with the number of its paragraph; blank lines lie between paragraphs."""
    number, end = 0, 0
    for line in lines:
        if text[slice(*line)].isspace():
            number += 1
            continue
        number += text.count("\n", end, line[0]) > 1
        end = line[1]
        yield number, line


def _is_wrapped(text: str, line: Span, following: Span, width: int) -> bool:
    """Whether a paragraph goes on in the next line, whose first word has no room in this one."""
    next_line = text[slice(*following)].strip()
    if width > MAX_WRAPPED_WIDTH or not WORD_START.match(next_line):
        return False
    return line[1] - line[0] + 1 + len(next_line.split(maxsplit=1)[0]) > width


def _cut_block(text: str, begin: int, end: int) -> Iterator[Span]:
    while end - begin > BLOCK_CHARACTERS:
        space = text.rfind(" ", begin + BLOCK_CHARACTERS // 2, begin + BLOCK_CHARACTERS)
        cut = space + 1 if space >= 0 else begin + BLOCK_CHARACTERS
        yield begin, cut
        begin = cut
    yield begin, end


def _split(text: str, begin: int, end: int) -> Iterator[Span]:
    """Sentences of a block."""
    block = text[begin:end]
    bounds = [
        (found["start_index"], found["end_index"]) for found in sentencex.get_sentence_boundaries(LANGUAGE, block)
    ]
    starts = sorted({0, *(start for start, _ in bounds if not NO_END.search(block, max(0, start - 10), start))})
    for start, stop in zip(starts, [*starts[1:], len(block)], strict=True):  # no character is lost between two
        piece = block[start:stop]
        if any(sign.isalnum() for sign in piece):
            left = begin + start + len(piece) - len(piece.lstrip())
            yield left, left + len(piece.strip())


def cut_long(text: str, spans: list[Span], offsets: Offsets, tokens: int) -> tuple[list[Span], list[int]]:
    """Cut sentences of more tokens than a model reads, at white space where there is any.

    Returns:
        The spans of n pieces, most of them whole sentences, and the number of tokens in each.
    """
    pieces, sizes = [], []
    for begin, end in spans:
        places = offsets(text[begin:end])
        while len(places) > tokens:
            last = tokens
            while last > tokens // 2 and not text[begin + places[last][0] - 1].isspace():
                last -= 1
            last = last if last > tokens // 2 else tokens
            pieces.append((begin + places[0][0], begin + places[last - 1][1]))
            sizes.append(last)
            places = places[last:]
        pieces.append((begin + places[0][0], end) if places else (begin, end))
        sizes.append(len(places))
    return pieces, sizes
