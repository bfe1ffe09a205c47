"""Names in two forms: initials beside the words that they stand for, and a longer name that is another one."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from semantic_metrics.quantities.characters import fold, word_set

ACRONYM = re.compile(r"(?:\b[Tt]he\s)?(?<![\w.])((?:[A-Z]\.\s?){2,}|[A-Z]{2,6})s?(?!\w)")
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
NO_INITIAL = word_set("of and the for in on de la du des to a at")
MOST_INITIALS = 6
# words before a name that make it the name of another place or team
OTHER_PLACE = word_set(
    "new north south east west northern southern eastern western upper lower outer inner papua central"
)
SAME_NAME = word_set("jr sr junior senior city state county province town village river inc ltd corp company co")
TITLES = word_set(
    "king queen prince princess president sir dr mr mrs ms saint st lord lady emperor pope general captain "
    "professor the senator minister actor actress author director singer former us american british it he she was "
    "is it's he's she's that's that this"
)
SHORT_NAMES = (
    "william bill will billy", "robert bob rob bobby", "richard dick rick", "john jack johnny jon",
    "james jim jimmy jamie", "thomas tom tommy", "charles charlie chuck", "edward ed ted eddie", "theodore ted teddy",
    "henry harry hank", "elizabeth liz beth betty", "margaret maggie meg peggy",
    "katherine kate kathy catherine kathleen", "anthony tony", "michael mike mick", "joseph joe", "samuel sam",
    "alexander alex al", "albert al bert", "francis frank", "lawrence larry", "gerald jerry gerry", "ronald ron",
    "donald don", "daniel dan danny", "david dave", "peter pete",
)  # fmt: skip
_SHORT = {frozenset((one, other)) for names in map(str.split, SHORT_NAMES) for one in names for other in names}
NAME = re.compile(r"(?:[A-Z]\.\s?)+|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*\.?")
PARTICLES = word_set("of the and de van von la da di del")
WARS = re.compile(r"\bWW\s?(II|I|2|1|Two|One)\b|\b(?:the )?(first|second|1st|2nd) world war\b", re.I)
_WAR = {"ii": "II", "2": "II", "two": "II", "second": "II", "2nd": "II"}
MOST_WORDS = 8  # of a name
MOST_LETTERS = 40  # of a given name that is compared letter by letter
MOST_AROUND = 4  # words around a name in an answer whose given name is compared
ALIKE = 0.7  # share of letters of two spellings of one name: "Yevgenia", "Evgenia"


def plain_wars(text: str) -> str:
    """The world wars by one name, of the same number in any form."""
    if "w" not in text.lower():
        return text
    return WARS.sub(lambda match: "World War " + _WAR.get((match[1] or match[2]).lower(), "I"), text)


def short_and_long(text: str, other: str) -> Iterator[tuple[int, int, str]]:
    """Begin and end of each name in a text that another text has in its other form, with that form.

    "NASA" beside "National Aeronautics and Space Administration", with "the" before either; small words may lack their
    initial, and one word may give two ("HyperText Markup Language").
    """
    for one, another, flip in ((text, other, False), (other, text, True)):
        if one.isupper() and len(one.split()) > 2:
            continue
        for match in list(ACRONYM.finditer(one))[:20]:
            letters = re.sub(r"[^A-Z]", "", match[1])
            if not 2 <= len(letters) <= MOST_INITIALS or match[1] in another.replace(". ", "."):
                continue
            span = _long_form(letters.lower(), another)
            if span is None:
                continue
            (begin, end), form = (span, match[0]) if flip else (match.span(), another[slice(*span)])
            yield begin, end, form


def _long_form(letters: str, text: str) -> tuple[int, int] | None:
    """Begin and end of the words whose initials are the letters, with "the" before them."""
    words = list(WORD.finditer(text))
    for i, word in enumerate(words):
        if word[0][0].lower() != letters[0] or word[0].lower() in NO_INITIAL:
            continue
        if (last := _spells(letters, words, i)) is None:
            continue
        capitals = sum(one[0][0].isupper() for one in words[i : last + 1])
        if len(letters) == 2 and capitals < 2:
            continue
        first = words[i - 1] if i and words[i - 1][0].lower() == "the" else word
        return first.start(), words[last].end()
    return None


def _spells(letters: str, words: list[re.Match[str]], first: int) -> int | None:
    """The last of the words from `first` on that spell the letters; None if they do not."""
    place, inner, i = 0, 1, first
    while i < len(words) and i - first < 2 * MOST_INITIALS:
        word = words[i][0].lower()
        if word[0] == letters[place]:
            place += 1
            if place < len(letters) and inner and len(letters) > 3 and letters[place] in word[1:]:
                behind = [one[0].lower() for one in words[i + 1 : i + 3]]
                follows = next((one for one in behind if one not in NO_INITIAL), " ")
                if follows[0] != letters[place]:
                    place, inner = place + 1, inner - 1
        elif word not in NO_INITIAL:
            return None
        if place == len(letters):
            return i
        i += 1
    return None


def other_initials(words: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, str] | None:
    """What differs where one text has initials and the other, in their place, as many words with another initial."""
    for one, other, flip in ((words, others, False), (others, words, True)):
        extra = len(other) - len(one)
        if not 2 <= extra < MOST_INITIALS:
            continue
        start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
        if start < 0:
            continue
        letters, long = one[start], other[start : start + extra + 1]
        if letters in long or one[start + 1 :] != other[start + extra + 1 :] or len(letters) != len(long):
            continue
        agreeing = sum(letter == word[0] for letter, word in zip(letters, long, strict=True))
        if len(letters) - 1 <= agreeing < len(letters):
            found = letters, " ".join(long)
            return found[::-1] if flip else found
    return None


def other_name(answer: str, reference: str) -> tuple[str, str] | None:
    """The answer's name and the reference's, where the first has the second in it, or its last part, and is another."""
    name = _words(reference)
    if not name or len(name) > MOST_WORDS or not all(word[0].isupper() or word in PARTICLES for word in name):
        return None
    mentions = [run for run in _runs(answer) if fold(name[-1]) in map(fold, run) or _find(name, run) is not None]
    another = [run for run in mentions if _is_another(run, name, len(answer.split()))]
    return (" ".join(another[0]), reference) if another and len(another) == len(mentions) else None


def _words(text: str) -> list[str]:
    words = [
        part
        for match in NAME.finditer(text)
        for part in re.findall(r"[A-Z](?=\.)|[^\W\d_](?:[^\W\d_]|['\u2019-](?=\w))*", match[0])
    ]
    while len(words) > 1 and fold(words[0]).replace("\u2019", "'") in TITLES:
        words = words[1:]
    return words


def _runs(text: str) -> Iterator[list[str]]:
    """The runs of capitalised words in a text, without titles."""
    run: list[str] = []
    last = 0
    for match in NAME.finditer(text):
        word = match[0]
        apart = text[last : match.start()].strip() or (run and run[-1].endswith(".") and len(run[-1]) > 3)
        if apart or not (word[0].isupper() or (run and fold(word) in PARTICLES)):
            if run:
                yield _words(" ".join(run))
            run = []
        if word[0].isupper() or run:
            run.append(word)
        last = match.end()
    if run:
        yield _words(" ".join(run))


def _find(name: list[str], run: list[str]) -> int | None:
    wanted, words = list(map(fold, name)), list(map(fold, run))
    return next((i for i in range(len(words) - len(wanted) + 1) if words[i : i + len(wanted)] == wanted), None)


def _is_another(run: list[str], name: list[str], answer_words: int) -> bool:
    place = _find(name, run)
    if place is not None:
        before, after = run[:place], run[place + len(name) :]
        if before and fold(before[-1]) in OTHER_PLACE:
            return True
        longer = len(name) > 1 and len(after) == 1 and not before and fold(after[0]) not in SAME_NAME
        return longer and answer_words <= len(run) + 1 and after[0].isalpha() and after[0][0].isupper()
    if fold(run[-1]) != fold(name[-1]) or len(run) < 2 or len(name) < 2 or {*run, *name} & PARTICLES:
        return False
    if answer_words > len(run) + MOST_AROUND:  # a long answer has many names: "Studio City" beside "Quebec City"
        return False
    given, wanted = run[:-1], name[:-1]
    if not _same_given(given[0], wanted[0]):
        return not any(_same_given(one, other) for one in given for other in wanted)
    middles = ["".join(fold(word)[0] for word in words[1:]) for words in (given, wanted)]
    return all(middles) and middles[0] != middles[1] and all(len(word) == 1 for word in (*given[1:], *wanted[1:]))


def _same_given(one: str, other: str) -> bool:
    """Whether two given names may be one: equal, an initial, a short form, or spelt nearly alike."""
    one, other = fold(one), fold(other)
    short = min(len(one), len(other))
    if one[:short] == other[:short] or frozenset((one, other)) in _SHORT:
        return True
    if 1 < short <= 3 and len(one) != len(other) and (one[0], one[-1]) == (other[0], other[-1]):  # "Mt" for "Mount"
        return True
    if max(len(one), len(other)) > MOST_LETTERS:  # no name: to compare its letters takes quadratic time
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE
