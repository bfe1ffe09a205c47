"""Texts and scores on a terminal: the table of `semantic-metrics score`, and texts cut to a width."""

import shutil
import textwrap
import unicodedata
from collections.abc import Iterator

import click

MAX_TABLE_ROWS = 50  # rows that are printed; --output keeps them all
BAR_WIDTH = 5  # characters of a bar for each half of the scale, below and above 0
MAX_CHARACTERS = 1000  # of a text; the others are not printed, however wide the terminal is
SCORE_WIDTH = 7  # characters of a score
MIN_WIDTH = 60  # a table is never narrower than this, whatever the terminal says
PIPE_WIDTH = 120  # width of a table without a terminal
MAX_RED, MIN_GREEN = 0.5, 0.75  # shares of the range of scores up to which they are red, and from which green


def table_lines(
    scores: dict[str, list[float]],
    texts: dict[str, list[str]],
    remarks: dict[str, list[str]],
    rows: int,
    ranges: dict[str, tuple[float, float]],
) -> Iterator[str]:
    """The table of the first of `rows` rows, MAX_TABLE_ROWS at most: scores, bars, and texts cut to the terminal.

    `remarks` stand whole below their row; `ranges` are the lowest and highest score there can be, by metric.
    """
    width = max(MIN_WIDTH, shutil.get_terminal_size((PIPE_WIDTH, 0)).columns) - 1
    own = f"{next(iter(scores))}_" if len(scores) == 1 else ""
    names = [name.removeprefix(own) for name in texts]  # without another metric "consensus_verdict" is "verdict"
    left = {name: BAR_WIDTH if min(values) < 0 else 0 for name, values in scores.items()}
    heads = []
    for name in scores:
        heads += [("score" if len(scores) == 1 else name).rjust(SCORE_WIDTH), " " * (left[name] + 1 + BAR_WIDTH)]
    widths = _widths(names, list(texts.values()), width - sum(len(head) + 2 for head in heads))
    yield "  ".join([*heads, *(_fit(name, size) for name, size in zip(names, widths, strict=True))]).rstrip()
    for i, values in enumerate(zip(*scores.values(), strict=True)):
        cells = []
        for name, value, head in zip(scores, values, heads[::2], strict=True):
            bar = click.style(_bar(value, left[name]), fg=_colour(value, *ranges[name]))
            cells += [f"{value:{len(head)}.3f}", bar]
        cells += [_fit(column[i], size) for column, size in zip(texts.values(), widths, strict=True)]
        yield "  ".join(cells).rstrip()
        for column in (column for column in remarks.values() if column[i]):
            yield textwrap.indent(textwrap.fill(plain(column[i]), width - SCORE_WIDTH - 2), " " * (SCORE_WIDTH + 2))
    if rows > MAX_TABLE_ROWS:
        yield f"and {rows - MAX_TABLE_ROWS} more rows; --output FILE keeps them all"


def _colour(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low)
    return "red" if share <= MAX_RED else "green" if share >= MIN_GREEN else "yellow"


def _bar(value: float, left: int) -> str:
    """A bar from 0 to the right for a score above it, to the left for one below; one character for each fifth."""
    below, above = round(max(-value, 0) * left), round(max(value, 0) * BAR_WIDTH)
    return ("-" * below).rjust(left) + "|" + ("#" * above).ljust(BAR_WIDTH)


def _widths(names: list[str], columns: list[list[str]], room: int) -> list[int]:
    """Widths of the columns: what each needs if that fits; the longer ones share the rest evenly."""
    cells = [[name, *column[:MAX_TABLE_ROWS]] for name, column in zip(names, columns, strict=True)]
    needs = [max(width_of(plain(text)) for text in column) for column in cells]
    widths = [0] * len(needs)
    room -= 2 * (len(needs) - 1)
    order = sorted(range(len(needs)), key=needs.__getitem__)
    for done, i in enumerate(order):
        widths[i] = min(needs[i], room // (len(order) - done))
        room -= widths[i]
    return widths


def plain(text: str, most: int = MAX_CHARACTERS) -> str:
    """The first `most` characters on one line: white space is single spaces, control characters are spelled out."""
    line = " ".join(text[:most].split())
    return line if line.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line)


def width_of(text: str) -> int:
    """Terminal cells that a text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """A text on one line, cut to `width` cells."""
    text = plain(text)
    if width_of(text) > width:
        kept, room = [], width - 3
        for character in text:
            room -= width_of(character)
            if room < 0:
                break
            kept.append(character)
        text = ("".join(kept) + "...")[:width]
    return text


def _fit(text: str, width: int) -> str:
    """A text cut or padded to `width` cells."""
    text = cut(text, width)
    return text + " " * (width - width_of(text))
