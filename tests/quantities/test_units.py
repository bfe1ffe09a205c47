"""Tables of quantities and identifiers: each row is put into one sentence, so that nothing else differs."""

from itertools import combinations, pairwise

import pytest

from semantic_metrics.quantities.rules import DIFFERENT, SAME, contradicted_by, rule


def rows(table: str, sign: str = "=") -> list[list[str]]:
    return [[one.strip() for one in line.split(f" {sign} ")] for line in table.strip().splitlines()]


CONVERSIONS = rows("""
2.5 kg = 2500 g = 2.5 kilograms
10 miles = 16.1 km
90 minutes = 1.5 hours = 1:30 hours = 1h30 = one and a half hours = an hour and a half
an hour = 1 hour = 60 minutes
a week = 7 days = one week
18 months = a year and a half
6 ft 2 in = 6'2" = 188 cm
20 sq ft = 20 square feet = 20 ft2
20 m\u00b2 = 20 m2 = 20 m^2 = 20 square metres
2 m3 = 2000 litres = 2 cubic metres
500 cc = 500 cm\u00b3 = 0.5 l
100 km/h = 100 kilometres per hour = 100 kph = 62.1 mph
9.8 m/s\u00b2 = 9.8 m/s^2
5 mg/kg = 5 mg per kg = 5 milligrams per kilogram
2 g/day = 2000 mg per day = 2 g daily
120 mg/dL = 1.2 g/L
5 g/cm3 = 5000 kg/m3
6 l/100 km = 6 litres per 100 km
2 mM = 2000 \u00b5M = 2 mmol/l
5 ppm = 5000 ppb = 5 parts per million = 0.0005%
400 IU = 400 international units
2 Gy = 2000 mGy
1 Sv = 1000 mSv
3000 rpm = 3000 revolutions per minute
300 dpi = 300 dots per inch
5 kWh = 5000 Wh = 18 MJ
100 Mbps = 100 Mbit/s = 12.5 MB/s
$20 an hour = $20 per hour = $20/h = 20 dollars an hour
\u20ac20 a month = \u20ac20/month = 20 euros per month = \u20ac20 monthly
99c = 99 cents = 99\u00a2 = $0.99
-$5 = $-5 = minus $5 = minus five dollars
Rs 500 = 500 rupees
3% a year = 3% per year = 3 percent annually
50 bps = 50 basis points = 0.5 percentage points = 0.5 pp
a dozen = 12 = twelve
half a dozen = six
a million and a half = 1.5 million = 1,500,000
2 crore = 20 million = 2,00,00,000
5M = 5MM = 5 million
3/4 = three quarters = 75% = 0.75
a ratio of 1:2 = a ratio of 2:4 = a ratio of 1 to 2
a scale of 1:50,000 = a scale of 1:50000
twice a day = two times a day = 2x a day = twice daily
every 12 hours = every twelve hours
every other day = every 2 days = every two days
every fortnight = every two weeks
quarter to nine = 8:45
half past five = 5:30
-40 \u00b0C = -40 \u00b0F
10^6 = 1,000,000 = 1e6 = a million
120/80 = 120 / 80
one in five = 1 in 5
May 3-5 = 3-5 May = 3 to 5 May
""")
OTHERS = rows(
    """
5 kg / 5 lb
5 kWh / 5 kW
5 kcal / 5 cal
5 mM / 5 \u00b5M
5 ppm / 5 ppb
2 Gy / 2 mGy
2 Gy / 2 Sv
2 mSv / 2 \u00b5Sv
400 IU / 400 mg
5 mg/kg / 5 g/kg
5 mg/kg / 5 mg/lb
5 mg/kg/day / 5 mg/kg/hour
2 g/day / 2 g/week
10 ml/h / 10 ml/min
10 \u00b5g/m3 / 10 mg/m3
5 t/ha / 5 kg/ha
3000 rpm / 3000 Hz
300 dpi / 600 dpi
60 fps / 60 Hz
5 lux / 5 lumens
5 carats / 5 grams
100 Mbps / 100 MB/s
20 m\u00b2 / 20 m
20 m2 / 20 m3
20 sq ft / 20 ft
100 km/h / 100 m/s
60 km per hour / 60 miles per hour
$20 an hour / $20 a day
$5 per kg / $5 per lb
10 km a day / 10 km a week
3% a year / 3% a month
5 percent / 5 percentage points
50 basis points / 50 percentage points
1% / 10 basis points
99c / $99
-$5 / $5
5 pence / \u00a35
500 pesos / 500 rupees
a dollar / a euro
an hour / a day
an hour / 2 hours
a mile / a kilometre
1:30 / 40 minutes
2:05:10 / 2:05:40
a ratio of 1:2 / a ratio of 2:1
a ratio of 1:10 / a ratio of 1:20
1:2 / 2:4
24/7 / 12/7
120/80 / 140/90
120/80 / 1.5
50/50 / 1
3 out of 4 / 50%
3 out of 4 / 3 out of 5
one in ten / one in five
twice a day / every 8 hours
every other day / every day
half past five / 5:15
quarter to nine / quarter past nine
at least 200 / 150
May 3-5 / June 3-5
1990-95 / 1997
over 200 / 200
over $1,000 / over $10
""",
    "/",
)
BOTH_MAY_BE_TRUE = rows("""
1:30 = 90 minutes = 90 seconds
3 out of 4 = 75% = 6 out of 8
one in ten = 10%
twice a day = every 12 hours
8 hours a day = 40 hours a week
$20 an hour = $160 a day
$900 = $900 a month
5 mg = 5 mg/kg
0.5% = 50 basis points
9600 bps = 9600 bits per second
20c = 20 \u00b0C
5 m = 5M
5 M = 5 million
two hours = 125 minutes
over 200 = 206
May 3-5 = May 4
1990-95 = 1992
""")
IDENTIFIERS = rows("""
Ruby 2.1 = Ruby 2.10 = Ruby 2.11
v1.3 = v1.30 = v1.3.0
section 6.3 = section 6.30 = section 6.3.1
section 5c = section 5d = section 5m
equation 2.50 = equation 2.5 = equation 2.05
PIN 0911 = PIN 911 = PIN 09110
code 000123 = code 123 = code 0123
flight 0815 = flight 815 = flight BA815
555-0134-22 = 555-0134-23 = 0555-0134-22
ISBN 978-3-16-148410-0 = ISBN 978-3-16-148411-0 = ISBN 978-3-16-14841-00
10.0.0.1 = 10.0.0.10 = 10.0.0.1/24
vitamin B12 = vitamin B6 = vitamin B1
0x1F = 0x1E = 0x01F
the Boeing 737 = the Boeing 747 = the Boeing 73
2.0.10 = 2.0.1 = 2.0.100
serial 0099-12-1 = serial 99-12-1 = serial 0099-12-01
COVID-19 = COVID-20 = COVID-1
AK-47 = AK-74 = AK-4
USB 3.0 = USB 3.1 = USB 3.01
RFC 2616 = RFC 2617 = RFC 02616
Form 1099-C = Form 1099-B = Form 109-9C
H2O = H2O2 = D2O
the A320 = the A321 = the A32
Room 101 = Room 110 = Room 0101
""")


@pytest.mark.parametrize("row", CONVERSIONS, ids="=".join)
def test_amounts_in_any_unit_and_writing_are_equal(row: list[str]) -> None:
    for one, other in combinations([f"It was {one} in all." for one in row], 2):
        assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == SAME, (one, other)


@pytest.mark.parametrize("row", OTHERS, ids="|".join)
def test_another_amount_contradicts(row: list[str]) -> None:
    one, other = (f"It was {one} in all." for one in row)
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == DIFFERENT


@pytest.mark.parametrize("row", BOTH_MAY_BE_TRUE, ids="=".join)
def test_what_may_both_be_true_is_left_open(row: list[str]) -> None:
    first, *others = (f"It was {one} in all." for one in row)
    for other in others:
        assert rule(first, other).ruling.kind not in (SAME, DIFFERENT), other
        assert rule(other, first).ruling.kind not in (SAME, DIFFERENT), other


@pytest.mark.parametrize("row", IDENTIFIERS, ids="=".join)
def test_identifiers_are_as_they_are_written(row: list[str]) -> None:
    for one, other in combinations([f"See {one} for it." for one in row], 2):
        assert rule(one, other).ruling.kind != SAME, (one, other)
        assert rule(other, one).ruling.kind != SAME, (one, other)
        assert rule(one, one.upper()).ruling.kind == SAME, one


# a source of two parallel sentences is made of two rows, a false claim of the first sentence with the quantity of the
# second or of the third, which the source has not
PARALLEL = rows("""
Ann is 31 years old. = Ben is 28 years old. = Ben is 35 years old.
It snowed on March 3. = It snowed on March 9 as well. = It snowed on March 12.
The tea costs $3. = The coffee costs $4. = The coffee costs $3.
He fell on Monday. = He fell on Friday, too. = He fell on Sunday.
The bridge is 40 m long. = The tunnel is 900 m long. = The tunnel is 40 m long.
One group got 5 mg a day. = The other group got 10 mg a day. = The other group got 15 mg a day.
The first trial had 12 patients. = The second trial had 40 patients. = The second trial had 12 patients.
Lima has 10 million people. = Quito has 2 million people. = Quito has 10 million people.
The north lift opens at 8:30. = The south lift opens at 9:15. = The south lift opens at 8:30.
Rents rose by 3% in May. = Rents rose by 5% in June. = Rents rose by 3% in June.
The red pump moves 5 l/min. = The blue pump moves 8 l/min. = The blue pump moves 8 l/h.
The old rule dates from 1987. = The new rule dates from 2004. = The new rule dates from 1987.
The junior team lost 2-1. = The senior team won 3-0. = The senior team won 0-3.
The nurse earns $30 an hour. = The porter earns $20 an hour. = The porter earns $20 a day.
The hall holds 800 people. = The annex holds a dozen people. = The annex holds 20 people.
The lake is 30 km away. = The sea is 50 miles away. = The sea is 50 km away.
""")


@pytest.mark.parametrize("row", PARALLEL, ids=" ".join)
def test_of_parallel_sentences_the_right_one_counts(row: list[str]) -> None:
    *source, false = row
    for claim in source:
        assert not contradicted_by(claim, source, source), claim
    assert contradicted_by(false, source, source)


def test_reasons_name_the_words_of_a_bound() -> None:
    for one, other in pairwise(("at least 200", "at most 100", "over 200", "200")):
        reason = rule(f"It was {one} in all.", f"It was {other} in all.").ruling.reason
        assert f"'{one}' is not '{other}'" in reason


@pytest.mark.parametrize("before", ["USD", "per", "abc", "x", "US", "\u00e9", "9", ""])
def test_whatever_stands_before_a_currency_is_read(before: str) -> None:
    assert rule(f"It costs {before}$10.", f"It costs {before}$10.00.").ruling.kind == SAME
    assert rule(f"It costs {before}$10.", f"It costs {before}$11.").ruling.kind != SAME
