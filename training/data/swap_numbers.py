"""Changes of numbers in parsed sentences, and made sentences with measures, times and dates."""

import calendar
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.language import Change, inflect_engine, swap
from semantic_metrics.contradictions.quantities import NUMERALS, ORDINALS, number
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair
from training.data.swap_words import Edit, is_upward

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

VALUES = {word: value for value, word in enumerate(NUMERALS[:11], start=2)} | {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
}
SPELT = {value: word for word, value in VALUES.items()}
EARLIEST_YEAR, LATEST_YEAR = 1500, 2030  # four digits between them are read as a year
# unit, smaller unit, how many of these it has, and sentences about the amount
UNITS = (
    ("kilogram", "gram", 1000, ("The {t} weighs {q}.", "We bought {q} of flour.", "The parcel weighed {q}.")),
    ("kilometre", "metre", 1000, ("The {p} is {q} away.", "{m} swam {q}.", "The tunnel is {q} long.")),
    ("metre", "centimetre", 100, ("The {t} is {q} high.", "The rope is {q} long.", "The snow was {q} deep.")),
    ("hour", "minute", 60, ("The surgery took {q}.", "{m} waited {q} for the bus.", "The drive lasts {q}.")),
    ("minute", "second", 60, ("The clip is {q} long.", "{m} held on for {q}.", "The alarm rang for {q}.")),
    ("day", "hour", 24, ("The power was out for {q}.", "The crossing took {q}.", "{m} stayed awake for {q}.")),
    ("week", "day", 7, ("The trip took {q}.", "{m} was ill for {q}.", "The course lasts {q}.")),
    ("year", "month", 12, ("The contract runs for {q}.", "{m} served {q} in the army.", "The repairs took {q}.")),
    ("litre", "millilitre", 1000, ("The jug holds {q}.", "Add {q} of milk.", "{m} drank {q} of tea.")),
    (
        "tonne",
        "kilogram",
        1000,
        ("The {t} weighs {q}.", "The ship carried {q} of coal.", "They harvested {q} of plums."),
    ),
    ("dollar", "cent", 100, ("The {t} costs {q}.", "{m} found {q} on the floor.", "The fee is {q}.")),
    ("foot", "inch", 12, ("The shelf is {q} wide.", "The {t} is {q} tall.", "The trench is {q} deep.")),
    ("decade", "year", 10, ("The war lasted {q}.", "{m} worked there for {q}.", "The dispute went on for {q}.")),
    ("century", "year", 100, ("The law stood for {q}.", "The {p} was in use for {q}.", "The dynasty ruled for {q}.")),
)
MIN_COMMA, MILLION = 1000, 1_000_000
PLURALS = {"foot": "feet", "inch": "inches", "century": "centuries"}
DATED = (
    "The {p} opened in {y}.",
    "{m} was born in {y}.",
    "The treaty dates from {y}.",
    "The company was founded in {y}.",
    "{m} emigrated in {y}.",
)
TIMED = (
    "The {p} opens at {c}.",
    "{m} woke up at {c}.",
    "The ferry leaves at {c}.",
    "The talk begins at {c}.",
    "The {a} called at {c}.",
)
SHARED = (
    "{s} of the {g} voted yes.",
    "{s} of the {g} came by bus.",
    "{s} of the money was lost.",
    "{s} of the harvest was spoiled.",
)
SHARES = {
    25: "a quarter",
    50: "half",
    75: "three quarters",
    20: "a fifth",
    10: "one tenth",
    100: "all",
    1: "one in a hundred",
    5: "one in twenty",
}
ORDERED = (
    "{m} came {o} in the race.",
    "The {a} lives on the {o} floor.",
    "This is the {o} time that {m} won.",
    "The {p} is on {o} Street.",
)
# percent of change, and ways to say so
GROWTH = {
    100: ("doubled", "rose by 100 percent", "increased twofold", "became twice what it had been", "grew by 100%"),
    200: ("tripled", "rose by 200 percent", "increased threefold", "became three times what it had been"),
    300: ("quadrupled", "rose by 300 percent", "increased fourfold", "became four times what it had been"),
    50: ("rose by 50 percent", "rose by half", "increased by half", "grew by 50%"),
    25: ("rose by a quarter", "rose by 25 percent", "increased by one fourth", "grew by 25%"),
    -50: ("halved", "was halved", "fell by 50 percent", "fell by half", "was cut in half"),
    -25: ("fell by a quarter", "fell by 25 percent", "dropped by 25%", "shrank by one fourth"),
    -10: ("fell by a tenth", "fell by 10 percent", "dropped by 10%"),
    10: ("rose by a tenth", "rose by 10 percent", "grew by 10%"),
}
GREW = (
    "The price of the {t} {r}.",
    "Traffic at the {p} {r}.",
    "The number of {g} {r}.",
    "{m}'s rent {r}.",
    "The company's profit {r}.",
)
COUNTED = (
    "The {p} has {f} seats.",
    "{f} people live in the town.",
    "The company employs {f} people.",
    "{m} paid {f} dollars for the {t}.",
    "About the {p} there are {f} photographs.",
    "The petition was signed by {f} {g}.",
    "{m} owns {f} books.",
    "The answer is {f}.",
)
DAYED = ("{m} was born on {d}.", "The {p} closed on {d}.", "The letter is dated {d}.", "They married on {d}.")


def number_edits(sentence: "Span", draw: random.Random) -> Iterator[Edit]:
    """Rewrite, bound and change the counts and years of a sentence."""
    upward = is_upward(sentence)
    for token in sentence:
        value = VALUES.get(token.lower_)
        if value and upward and _counts_alone(token):
            yield from _counts(token, value, draw)
        year = int(token.text) if upward and token.text.isdigit() and token.ent_type_ == "DATE" else 0
        if EARLIEST_YEAR < year < LATEST_YEAR and token.dep_ == "pobj" and token.head.lower_ == "in":
            yield from _years(token, year, draw)
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
            texts = map(_capital, (premise, form.format(**values, **{slot: text})))
            yield Pair(*texts, label, "measure", (f"{form} {base}",))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


Drawn = tuple[str, str, str, str, list[str]]  # sentence, its slot, what is there, the same, others


def _quantity(value: int, unit: str, draw: random.Random) -> str:
    spelt = (
        SPELT[value] if value in SPELT and draw.random() < 0.5 else f"{value:,}" if draw.random() < 0.5 else str(value)
    )
    return f"{spelt} {unit if value == 1 else PLURALS.get(unit, unit + 's')}"


def _amount(draw: random.Random) -> Drawn:
    big, small, ratio, forms = draw.choice(UNITS)
    value = draw.randrange(2, 13)
    other = draw.choice([n for n in range(1, 16) if n != value])
    texts = [_quantity(value, big, draw), _quantity(value * ratio, small, draw)]
    draw.shuffle(texts)
    wrong = [_quantity(other, big, draw), _quantity(other * ratio, small, draw), _quantity(value, small, draw)]
    if draw.random() < 0.3:
        bound = (
            _quantity(max(1, value - draw.randrange(1, 4)), big, draw),
            _quantity(value + draw.randrange(1, 5), big, draw),
        )
        texts[1] = draw.choice(
            (f"more than {bound[0]}" if value > 4 else f"less than {bound[1]}", f"less than {bound[1]}")
        )
        wrong = [f"more than {bound[1]}", f"less than {bound[0]}"]
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
    return draw.choice(COUNTED), "f", base, same, [draw.choice(_spellings(other)) for other in others]


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
    percent, other, another = draw.sample([*GROWTH], 3)
    base, same = draw.sample(GROWTH[percent], 2)
    return draw.choice(GREW), "r", base, same, [draw.choice(GROWTH[other]), draw.choice(GROWTH[another])]


def _year(draw: random.Random) -> Drawn:
    year, step = draw.randrange(1720, 2020), draw.randrange(3, 30)
    century = (year - 1) // 100 + 1
    ending = {21: "st"}.get(century, "th")
    same = draw.choice(
        (
            f"the {year // 10 * 10}s",
            f"the {century}{ending} century",
            f"a year before {year + step}",
            f"a year after {year - step}",
        )
    )
    wrong = [
        f"the {year // 10 * 10 + 10 * draw.choice((-3, -2, -1, 1, 2))}s",
        f"the {century - 1}th century",
        f"a year before {year - step}",
    ]
    return (
        draw.choice(DATED),
        "y",
        str(year),
        same,
        [*wrong, f"a year after {year + step}", str(year + draw.choice((-9, -4, 3, 6, 10)))],
    )


def _age(draw: random.Random) -> Drawn:
    age = draw.randrange(21, 95)
    bounds = f"over {age - draw.randrange(1, 15)}", f"under {age + draw.randrange(1, 15)}"
    wrong = f"over {age + draw.randrange(1, 15)}", f"under {age - draw.randrange(1, 15)}"
    form = "{m} is {n}."
    return (
        form,
        "n",
        f"{age} years old",
        draw.choice((*bounds, f"{age}")),
        [*wrong, f"{age + draw.choice((-10, -7, 5, 8, 20))} years old"],
    )


def _time(draw: random.Random) -> Drawn:
    hour, minute = draw.randrange(1, 12), draw.choice((0, 15, 30, 45))
    evening = draw.random() < 0.5
    part = "in the morning" if not evening else "in the afternoon" if hour < 5 else "in the evening"
    name = ["one", *NUMERALS[:11]]
    spoken = {
        0: name[hour - 1],
        15: f"quarter past {name[hour - 1]}",
        30: f"half past {name[hour - 1]}",
        45: f"quarter to {name[hour % 12]}",
    }[minute]
    same = [
        f"{hour}:{minute:02d} {'pm' if evening else 'am'}",
        f"{spoken} {part}",
        f"{hour + 12 * evening:02d}:{minute:02d}",
    ]
    shifted = hour % 11 + 1
    wrong = [
        f"{shifted}:{minute:02d} {'pm' if evening else 'am'}",
        f"{hour + 12 * (not evening):02d}:{minute:02d}",
        f"{hour}:{minute:02d} {'am' if evening else 'pm'}",
    ]
    base, text = draw.sample(same, 2)
    return draw.choice(TIMED), "c", base, text, wrong


def _share(draw: random.Random) -> Drawn:
    percent = draw.choice([*SHARES])
    spelt = [f"{percent}%", f"{percent} percent", SHARES[percent]]
    base, same = draw.sample(spelt, 2)
    other = draw.choice([p for p in SHARES if p != percent])
    return draw.choice(SHARED), "s", base, same, [f"{other}%", f"{other} percent", SHARES[other]]


def _rank(draw: random.Random) -> Drawn:
    rank, other = draw.sample(range(1, len(ORDINALS) + 1), 2)
    digits = [f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n, 'th') }" for n in (rank, other)]
    base, same = draw.sample([digits[0], ORDINALS[rank - 1]], 2)
    return draw.choice(ORDERED), "o", base, same, [digits[1], ORDINALS[other - 1]]


def _day(draw: random.Random) -> Drawn:
    day, month, year = draw.randrange(13, 29), draw.randrange(1, 13), draw.randrange(1850, 2020)
    other = draw.choice([m for m in range(1, 13) if m != month])
    forms = [
        f"{day} {calendar.month_name[month]} {year}",
        f"{calendar.month_name[month]} {day}, {year}",
        f"{year}-{month:02d}-{day}",
    ]
    base, same = draw.sample(forms, 2)
    wrong = [
        f"{day - 4} {calendar.month_name[month]} {year}",
        f"{calendar.month_name[other]} {day}, {year}",
        f"{year - 2}-{month:02d}-{day}",
        f"{day} {calendar.month_name[month]} {year + 3}",
    ]
    return draw.choice(DAYED), "d", base, same, wrong
