"""Changes of numbers in parsed sentences, and made sentences with measures, times and dates."""

import calendar
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.language import Change, inflect_engine, swap
from semantic_metrics.contradictions.quantities import NUMERALS, ORDINALS, number
from semantic_metrics.quantities.read import YEAR, read
from semantic_metrics.quantities.spell import NUMBER_WORDS, TENS
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair
from training.data.swap_words import WORDS, Edit, is_upward

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

VALUES = {word: value for word, value in (NUMBER_WORDS | TENS).items() if 2 <= value <= 12 or 20 <= value <= 50}
SPELT = {value: word for word, value in VALUES.items()}
EARLIEST_YEAR, LATEST_YEAR = 1500, 2030  # four digits between them are read as a year
MIN_COMMA, MILLION = 1000, 1_000_000
_FORMS = WORDS["numbers"]  # made sentences, and what is said in them


def number_edits(sentence: "Span", draw: random.Random) -> Iterator[Edit]:
    """Rewrite, bound and change the counts and years of a sentence."""
    upward = is_upward(sentence)
    for token in sentence:
        value = VALUES.get(token.lower_)
        if value and upward and _counts_alone(token):
            yield from _counts(token, value, draw)
        if upward and token.ent_type_ == "DATE" and token.dep_ == "pobj" and token.head.lower_ == "in":
            years = [int(one.number) for one in read(token.text).atoms if one.kind == YEAR and token.text.isdigit()]
            yield from _years(token, years[0], draw) if years and EARLIEST_YEAR < years[0] < LATEST_YEAR else ()
    for change in number(sentence, draw) if upward else ():  # who did not buy 3 may not have bought 4 either
        begin, end, new = change.places[0]
        yield Edit(change, CONTRADICTION, CONTRADICTION, "number", (sentence.doc.text[begin:end].lower(), new))


def _counts_alone(token: "Token") -> bool:
    """Whether a number counts a noun, and no word of the sentence implies which number it is."""
    counts = token.dep_ == "nummod" and token.tag_ == "CD" and token.head.tag_ == "NNS" and token.head.i > token.i
    if not counts or any(token.children) or token.ent_type_ not in ("CARDINAL", ""):
        return False
    return not any(t.lower_ in ("both", "other", "respectively", "one") for t in token.sent)


def _counts(token: "Token", value: int, draw: random.Random) -> Iterator[Edit]:
    less, more = draw.randrange(max(1, value - 4), value), draw.randrange(value + 2, value + 7)
    yield _edit(token, str(value), ENTAILMENT, ENTAILMENT, value)
    if token.i == token.sent.start or token.nbor(-1).lower_ not in ("the", "these", "his", "her", "their", "those"):
        true = (("at least", less), ("more than", less), ("fewer than", more), ("no more than", more))
        false = (("more than", value), ("at least", more), ("fewer than", value), ("at most", less))
        for i, (words, bound) in enumerate((*true, *false)):
            label = ENTAILMENT if i < len(true) else CONTRADICTION
            spelt = SPELT.get(bound, "one" if bound == 1 else str(bound))
            if bound > 1:
                yield _edit(token, f"{words} {spelt}", label, NEUTRAL if label == ENTAILMENT else CONTRADICTION, value)


def _edit(token: "Token", new: str, label: str, reverse: str, value: object) -> Edit:
    return Edit(Change((swap(token, new),)), label, reverse, "number", (f"{value}: {new}",))


def _years(token: "Token", year: int, draw: random.Random) -> Iterator[Edit]:
    """In 1987: in the 1980s, before 1990, after 1980; and not."""
    phrase = token.doc[token.head.i : token.i + 1]
    decade, step = year // 10 * 10, draw.randrange(2, 15)
    wrong = decade + draw.choice((-30, -20, -10, 10, 20))
    true = (f"in the {decade}s", f"before {year + step}", f"after {year - step}")
    false = (f"in the {wrong}s", f"before {year - step}", f"after {year + step}")
    for new in (*true, *false):
        label, reverse = (ENTAILMENT, NEUTRAL) if new in true else (CONTRADICTION, CONTRADICTION)
        yield Edit(Change((swap(phrase, new),)), label, reverse, "date", (f"{new.split()[0]} {year}",))


def measures(fillers: dict[str, list[str]], draw: random.Random) -> Iterator[Pair]:
    """Made pairs about amounts, years, ages, times, shares, ranks and dates, without end."""
    makers = (_amount, _amount, _figure, _figure, _growth, _year, _age, _time, _time, _share, _rank, _day)
    words = {"t": "things", "p": "places", "m": "names", "a": "people", "g": "groups"}
    while True:
        values = {slot: draw.choice(fillers[name]) for slot, name in words.items()}
        form, slot, base, same, others = draw.choice(makers)(draw)
        premise = form.format(**values, **{slot: base})
        for text, label in ((same, ENTAILMENT), (draw.choice(others), CONTRADICTION)):
            texts = (premise, form.format(**values, **{slot: text}))
            yield Pair(*(one[0].upper() + one[1:] for one in texts), label, "measure", (f"{form} {base}",))


Drawn = tuple[str, str, str, str, list[str]]  # sentence, its slot, what is there, the same, others


def _quantity(value: int, unit: str, draw: random.Random) -> str:
    if value in SPELT and draw.random() < 0.5:
        written = SPELT[value]
    else:
        written = f"{value:,}" if draw.random() < 0.5 else str(value)
    return f"{written} {unit if value == 1 else _FORMS['plurals'].get(unit, unit + 's')}"


def _amount(draw: random.Random) -> Drawn:
    big, small, ratio, forms = draw.choice(_FORMS["units"])
    value = draw.randrange(2, 13)
    other = draw.choice([n for n in range(1, 16) if n != value])
    texts = [_quantity(value, big, draw), _quantity(value * ratio, small, draw)]
    draw.shuffle(texts)
    wrong = [_quantity(other, big, draw), _quantity(other * ratio, small, draw), _quantity(value, small, draw)]
    if draw.random() < 0.3:
        low = _quantity(max(1, value - draw.randrange(1, 4)), big, draw)
        high = _quantity(value + draw.randrange(1, 5), big, draw)
        texts[1] = draw.choice((f"more than {low}" if value > 4 else f"less than {high}", f"less than {high}"))
        wrong = [f"more than {high}", f"less than {low}"]
    return draw.choice(forms), "q", texts[0], texts[1], [text for text in wrong if text != texts[0]]


def _figure(draw: random.Random) -> Drawn:
    """A count in digits, with commas, in words, and in part in words."""
    value = draw.choice((
        draw.randrange(13, 100), draw.randrange(13, 100), draw.randrange(100, 1000), draw.randrange(1000, 10_000),
        1000 * draw.randrange(2, 100), 100_000 * draw.randrange(11, 60),
    ))  # fmt: skip
    others = [value + draw.choice((-10, -3, 2, 7, 10)), value + draw.randrange(1, value), value * 10]
    digits = str(value)
    if digits[-1] not in (digits[-2], "0"):
        others.append(int(digits[:-2] + digits[-1] + digits[-2]))  # the two last digits exchanged
    base, same = draw.sample(_spellings(value), 2)
    return draw.choice(_FORMS["counted"]), "f", base, same, [draw.choice(_spellings(other)) for other in others]


def _spellings(value: int) -> list[str]:
    """A number in digits and in words."""
    engine = inflect_engine()
    texts = [str(value), engine.number_to_words(value, andword="").replace(",", "")]
    if value >= MIN_COMMA:
        texts += [f"{value:,}", engine.number_to_words(value).replace(",", "")]
    if value % 1000 == 0 and value < MILLION:
        texts.append(f"{value // 1000} thousand")
    if value >= MILLION and value % (MILLION // 10) == 0:
        texts.append(f"{value / MILLION:g} million")
    return list(dict.fromkeys(texts))


def _growth(draw: random.Random) -> Drawn:
    ways = _FORMS["growth"]
    percent, other, another = draw.sample([*ways], 3)
    base, same = draw.sample(ways[percent], 2)
    return draw.choice(_FORMS["grew"]), "r", base, same, [draw.choice(ways[other]), draw.choice(ways[another])]


def _year(draw: random.Random) -> Drawn:
    year, step = draw.randrange(1720, 2020), draw.randrange(3, 30)
    decade, century = year // 10 * 10, (year - 1) // 100 + 1
    named = f"the {century}{'st' if century == 21 else 'th'} century"
    same = draw.choice((f"the {decade}s", named, f"a year before {year + step}", f"a year after {year - step}"))
    wrong = [f"the {decade + 10 * draw.choice((-3, -2, -1, 1, 2))}s", f"the {century - 1}th century"]
    wrong.append(f"a year before {year - step}")
    form = draw.choice(_FORMS["dated"])
    wrong += [f"a year after {year + step}", str(year + draw.choice((-9, -4, 3, 6, 10)))]
    return form, "y", str(year), same, wrong


def _age(draw: random.Random) -> Drawn:
    age = draw.randrange(21, 95)
    bounds = f"over {age - draw.randrange(1, 15)}", f"under {age + draw.randrange(1, 15)}"
    wrong = [f"over {age + draw.randrange(1, 15)}", f"under {age - draw.randrange(1, 15)}"]
    same = draw.choice((*bounds, f"{age}"))
    return "{m} is {n}.", "n", f"{age} years old", same, [*wrong, f"{age + draw.choice((-10, -7, 5, 8, 20))} years old"]


def _time(draw: random.Random) -> Drawn:
    hour, minute = draw.randrange(1, 12), draw.choice((0, 15, 30, 45))
    evening = draw.random() < 0.5
    part = "in the morning" if not evening else "in the afternoon" if hour < 5 else "in the evening"
    name = ["one", *NUMERALS[:11]]
    spoken = {0: name[hour - 1], 15: f"quarter past {name[hour - 1]}", 30: f"half past {name[hour - 1]}"}
    spoken[45] = f"quarter to {name[hour % 12]}"
    half, other_half = ("pm", "am") if evening else ("am", "pm")
    same = [f"{hour}:{minute:02d} {half}", f"{spoken[minute]} {part}", f"{hour + 12 * evening:02d}:{minute:02d}"]
    wrong = [f"{hour % 11 + 1}:{minute:02d} {half}", f"{hour + 12 * (not evening):02d}:{minute:02d}"]
    wrong.append(f"{hour}:{minute:02d} {other_half}")
    base, text = draw.sample(same, 2)
    return draw.choice(_FORMS["timed"]), "c", base, text, wrong


def _share(draw: random.Random) -> Drawn:
    shares = _FORMS["shares"]
    percent = draw.choice([*shares])
    base, same = draw.sample([f"{percent}%", f"{percent} percent", shares[percent]], 2)
    other = draw.choice([p for p in shares if p != percent])
    return draw.choice(_FORMS["shared"]), "s", base, same, [f"{other}%", f"{other} percent", shares[other]]


def _rank(draw: random.Random) -> Drawn:
    rank, other = draw.sample(range(1, len(ORDINALS) + 1), 2)
    digits = [f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n, 'th') }" for n in (rank, other)]
    base, same = draw.sample([digits[0], ORDINALS[rank - 1]], 2)
    return draw.choice(_FORMS["ordered"]), "o", base, same, [digits[1], ORDINALS[other - 1]]


def _day(draw: random.Random) -> Drawn:
    day, month, year = draw.randrange(13, 29), draw.randrange(1, 13), draw.randrange(1850, 2020)
    other = calendar.month_name[draw.choice([m for m in range(1, 13) if m != month])]
    name = calendar.month_name[month]
    base, same = draw.sample([f"{day} {name} {year}", f"{name} {day}, {year}", f"{year}-{month:02d}-{day}"], 2)
    wrong = [f"{day - 4} {name} {year}", f"{other} {day}, {year}", f"{year - 2}-{month:02d}-{day}"]
    return draw.choice(_FORMS["dayed"]), "d", base, same, [*wrong, f"{day} {name} {year + 3}"]
