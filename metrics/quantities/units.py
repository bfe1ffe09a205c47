"""Units, currencies and their sizes.

A table and not pint: pint starts in a second, and reads "a" and "at" as units (docs/quantities.md compares libraries).
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Unit:
    """A unit of measure.

    Attributes:
        name: one spelling for all of its writings.
        dimension: what it measures, by the base unit that `size` counts; a currency is a dimension of its own.
        size: base units in one of it.
        zero: base units at its 0, as of a scale of temperature.
    """

    name: str
    dimension: str
    size: Fraction
    zero: Fraction = Fraction(0)

    def per(self, other: "Unit", count: int = 1) -> "Unit":
        """This unit for `count` of another: km/h, l/100 km."""
        divisor = f"{count} {other.name}" if count > 1 else other.name
        return Unit(f"{self.name}/{divisor}", f"{self.dimension}/{other.dimension}", self.size / (other.size * count))

    def power(self, exponent: int) -> "Unit":
        """Its square or cube; a litre, the base unit of volume, is a thousandth of a cubic metre."""
        dimension = {2: "area", 3: "volume"}[exponent] if self.dimension == "length" else f"{self.dimension}^{exponent}"
        return Unit(f"{self.name}^{exponent}", dimension, self.size**exponent * (1000 if dimension == "volume" else 1))


NO_UNIT = Unit("", "", Fraction(1))
PERCENT = Unit("%", "", Fraction(1, 100))

_PREFIXES = (
    ("p", "pico", -12), ("n", "nano", -9), ("\u00b5", "micro", -6), ("u", "micro", -6), ("m", "milli", -3),
    ("c", "centi", -2), ("d", "deci", -1), ("h", "hecto", 2), ("k", "kilo", 3), ("K", "kilo", 3), ("M", "mega", 6),
    ("G", "giga", 9), ("T", "tera", 12), ("P", "peta", 15),
)  # fmt: skip
# symbols and names of units that take prefixes; size in the base unit
_METRIC = (
    ("length", "m", "metre", 1),
    ("mass", "g", "gram gramme", 1),
    ("volume", "l L", "litre", 1),
    ("time", "s", "second sec", 1),
    ("power", "W", "watt", 1),
    ("frequency", "Hz", "hertz", 1),
    ("voltage", "V", "volt", 1),
    ("current", "A", "ampere amp", 1),
    ("resistance", "\u03a9", "ohm", 1),
    ("data", "B", "byte", 8),
    ("data", "bit b", "bit", 1),
    ("energy", "J", "joule", 1),
    ("energy", "cal", "gramcalorie calorie", "4.184"),
    ("energy", "Wh", "watthour watt_hour", 3600),
    ("pressure", "Pa", "pascal", 1),
    ("pressure", "bar", "bar", 100_000),
    ("force", "N", "newton", 1),
    ("data/time", "Bps", "", 8),
    ("data/time", "bps", "", 1),
    ("amount", "mol", "mole", 1),
    ("activity", "Bq", "becquerel", 1),
)
# symbols, which keep their case, then names, whose case does not count
_OTHERS = (
    ("length", "in", "inch inche", "0.0254"), ("length", "ft", "foot feet", "0.3048"),
    ("length", "yd", "yard", "0.9144"), ("length", "mi", "mile", "1609.344"), ("length", "nmi", "nautical_mile", 1852),
    ("mass", "mcg", "", "0.000001"), ("mass", "t", "tonne ton metric_ton", 1_000_000),
    ("mass", "oz", "ounce", "28.349523125"),
    ("mass", "lb lbs", "pound", "453.59237"), ("mass", "st", "stone", "6350.29318"), ("mass", "", "kilo", 1000),
    ("volume", "pt", "pint", "0.473176473"),
    ("volume", "gal", "gallon", "3.785411784"), ("volume", "tsp", "teaspoon", "0.00492892159375"),
    ("volume", "tbsp", "tablespoon", "0.01478676478125"), ("volume", "cc ccm", "", "0.001"),
    ("volume", "", "cup", "0.2365882365"), ("volume", "fl_oz", "fluid_ounce", "0.0295735295625"),
    ("volume", "bbl", "barrel", "158.987294928"),
    ("area", "sqm", "", 1), ("area", "ha", "hectare", 10_000), ("area", "", "acre", "4046.8564224"),
    ("area", "sqft", "", "0.09290304"),
    ("time", "min", "minute min", 60), ("time", "h hr hrs", "hour", 3600), ("time", "d", "day", 86_400),
    ("time", "wk", "week", 604_800), ("time", "", "fortnight", 1_209_600), ("time", "mo", "month", "2629746"),
    ("time", "yr yrs", "year", "31556952"), ("time", "", "decade", "315569520"),
    ("time", "", "century centurie", "3155695200"), ("time", "", "millennium millennia", "31556952000"),
    ("length/time", "kph kmh", "", Fraction(1000, 3600)), ("length/time", "mph", "", "0.44704"),
    ("length/time", "kn", "knot", "0.514444"),
    ("energy", "", "calorie", "4.184"), ("pressure", "psi", "", "6894.757"), ("pressure", "atm", "atmosphere", 101_325),
    ("pressure", "mmHg", "", "133.322"),
    ("power", "hp", "horsepower", "745.7"), ("angle", "rad", "radian", "57.29577951"),
    ("frequency", "rpm", "revolution_per_minute revolutions_per_minute", Fraction(1, 60)),
    ("rotation", "", "turn revolution", 1), ("times", "", "time", 1), ("image", "px", "pixel", 1),
    ("frames", "fps", "frame_per_second frames_per_second", 1),
    ("resolution", "dpi ppi", "dot_per_inch dots_per_inch pixel_per_inch pixels_per_inch", 1),
    ("points of percent", "pp", "percentage_point", 1), ("points of percent", "bp bps bips", "basis_point", "0.01"),
    ("", "ppm", "part_per_million parts_per_million", "0.000001"),
    ("", "ppb", "part_per_billion parts_per_billion", "0.000000001"),
    ("amount/volume", "mM", "millimolar", "0.001"), ("amount/volume", "\u00b5M uM", "micromolar", "0.000001"),
    ("amount/volume", "nM", "nanomolar", "0.000000001"), ("torque", "Nm", "newton_metre", 1),
    ("absorbed dose", "Gy", "gray", 1), ("absorbed dose", "mGy", "milligray", "0.001"),
    ("dose", "Sv", "sievert", 1), ("dose", "mSv", "millisievert", "0.001"),
    ("dose", "\u00b5Sv uSv", "microsievert", "0.000001"), ("light", "lm", "lumen", 1), ("illuminance", "lx", "lux", 1),
    ("effect", "IU", "international_unit", 1), ("mass", "", "carat", "0.2"), ("purity", "", "karat", 1),
    ("sound", "dB", "decibel", 1), ("data", "KiB", "kibibyte", 8192), ("data", "MiB", "mebibyte", 8_388_608),
    ("data", "GiB", "gibibyte", 8_589_934_592), ("data", "TiB", "tebibyte", 8_796_093_022_208),
)  # fmt: skip
# ISO code, signs, names, and those of its hundredth
_CURRENCIES = (
    ("USD", "$ US$", "dollar us_dollar american_dollar buck", "cent \u00a2"),
    ("EUR", "\u20ac", "euro", "euro_cent eurocent"),
    ("GBP", "\u00a3", "pound_sterling pounds_sterling british_pound quid", "penny pence p"),
    ("JPY", "\u00a5", "yen", ""),
    ("INR", "\u20b9 Rs Rs.", "rupee", "paisa"), ("CNY", "RMB", "yuan renminbi", ""),
    ("CHF", "", "franc swiss_franc", "rappen"),
    ("CAD", "C$ CA$", "canadian_dollar", ""), ("AUD", "A$ AU$", "australian_dollar", ""), ("KRW", "\u20a9", "won", ""),
    ("RUB", "\u20bd", "ruble rouble", ""), ("SEK", "", "swedish_krona", ""), ("NOK", "", "norwegian_krone", ""),
    ("BRL", "R$", "real reais", ""), ("MXN", "", "peso mexican_peso", ""), ("TRY", "\u20ba", "lira", ""),
    ("ILS", "\u20aa", "shekel", ""), ("PLN", "", "zloty", ""), ("HKD", "HK$", "", ""), ("SGD", "S$", "", ""),
    ("BTC", "\u20bf", "bitcoin", ""),
)  # fmt: skip
# how many times as large a unit is elsewhere: tons and pints of two countries, calories of food
ELSEWHERE = {
    "t": Fraction("0.907185"),
    "pt": Fraction("1.20095"),
    "gal": Fraction("1.20095"),
    "calorie": Fraction(1000),
}
STUFF = frozenset(("mass", "volume", "amount", "effect"))  # one gives the other for a substance that is known
NOT_AFTER_NUMBERS = frozenset(("won", "real", "in", "turn", "st", "pt", "time", "bar", "stone", "may"))


def _add(table: dict[str, Unit], names: str, unit: Unit, plural: bool = False) -> None:
    for name in names.split():
        for spelt in {name, name.replace("metre", "meter").replace("litre", "liter")}:
            table.setdefault(spelt, unit)
            if plural and not spelt.endswith("s"):
                table.setdefault(f"{spelt}s", unit)


def _build() -> tuple[dict[str, Unit], dict[str, Unit], dict[str, Unit]]:
    symbols: dict[str, Unit] = {"%": PERCENT, "\u2030": Unit("\u2030", "", Fraction(1, 1000))}
    names: dict[str, Unit] = {"percent": PERCENT, "per_cent": PERCENT, "pct": PERCENT}
    signs: dict[str, Unit] = {}
    for dimension, symbol, name, size in _OTHERS:
        unit = Unit((symbol or name).split()[0], dimension, Fraction(size))
        _add(symbols, symbol, unit)
        _add(names, name, unit, plural=True)
    for dimension, symbol, name, size in _METRIC:
        for short, long, power in (("", "", 0), *_PREFIXES):
            if power < 0 and dimension.startswith("data"):  # "50 mb" are millions
                continue
            unit = Unit(long + (name or symbol).split()[0], dimension, Fraction(size) * Fraction(10) ** power)
            _add(symbols, " ".join(short + one for one in symbol.split()), unit)
            _add(names, " ".join(long + one for one in name.split()), unit, plural=True)
    for name, degree, zero, writings in (
        ("celsius", 1, "273.15", "\u00b0C C degree_celsius degrees_celsius degrees_centigrade celsius centigrade"),
        ("fahrenheit", Fraction(5, 9), Fraction(45967, 180), "\u00b0F F degrees_fahrenheit fahrenheit"),
        ("kelvin", 1, 0, "K kelvin kelvins"),
    ):
        unit = Unit(name, "temperature", Fraction(degree), Fraction(zero))
        for writing in writings.split():
            (names if writing.islower() else symbols)[writing] = unit
    _add(symbols, "\u00b0", Unit("degree", "degrees", Fraction(1)))
    _add(names, "degree degrees", symbols["\u00b0"])
    for code, sign, name, hundredth in _CURRENCIES:
        whole, part = Unit(code, code, Fraction(1)), Unit(f"{code}/100", code, Fraction(1, 100))
        _add(signs, f"{code} {sign}", whole)
        _add(symbols, f"{code} {sign}", whole)
        _add(names, name, whole, plural=True)
        _add(names, hundredth, part, plural=True)
    symbols["c"] = names["cent"]
    return symbols, names, signs


SYMBOLS, NAMES, CURRENCY_SIGNS = _build()
# a symbol in the case of a text that has but one; "mw" may be two units and is none
_FOLDED: dict[str, set[Unit]] = {}
for _symbol, _unit in SYMBOLS.items():
    _FOLDED.setdefault(_symbol.casefold(), set()).add(_unit)


def find_unit(words: tuple[str, ...], after_digits: bool) -> tuple[Unit | None, int]:
    """The unit that some words begin with, and how many of them it takes; a symbol stands behind digits alone."""
    for count in range(min(4, len(words)), 0, -1):
        written = "_".join(words[:count])
        if after_digits and count == 1 and (unit := SYMBOLS.get(written)):
            return unit, count
        if (unit := NAMES.get(written.lower())) and written.lower() not in NOT_AFTER_NUMBERS - {"time"}:
            return unit, count
        if after_digits and count == 1 and len(written) > 1 and len(found := _FOLDED.get(written.casefold(), ())) == 1:
            return next(iter(found)), count
    return None, 0
