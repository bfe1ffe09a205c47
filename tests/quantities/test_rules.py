"""Probes of each kind of rule: what is written in another way is the same, what is another thing is not."""

import pytest

from semantic_metrics.quantities.compare import DIFFERENT as OTHER
from semantic_metrics.quantities.compare import EQUAL, compare, relate
from semantic_metrics.quantities.read import read
from semantic_metrics.quantities.rules import DIFFERENT, NO_ANSWER, SAME, contradicted_by, rule

CONVERSIONS = [
    ("The crate weighs 2.5 kg.", "The crate weighs 2500 g."),
    ("The cable is 3 m long.", "The cable is 300 centimetres long."),
    ("The trail is 10 miles long.", "The trail is 16.1 km long."),
    ("The wait is 45 minutes.", "The wait is three quarters of an hour."),
    ("The course lasts 3 weeks.", "The course lasts 21 days."),
    ("The disk holds 2 TB.", "The disk holds 2000 gigabytes."),
    ("The bulb draws 0.06 kW.", "The bulb draws 60 watts."),
    ("Add 25 cl of milk.", "Add a quarter of a litre of milk."),
    ("The stamp costs $0.85.", "The stamp costs 85 cents."),
    ("The car costs \u20ac12,000.", "The car costs 12 thousand euros."),
    ("The loan is \u00a31.5m.", "The loan is 1.5 million pounds sterling."),
    ("The field is 2 hectares.", "The field is 20,000 square metres."),
    ("The water is 100 \u00b0C.", "The water is 212 degrees Fahrenheit."),
    ("The limit is 100 km/h.", "The limit is 100 kilometres per hour."),
    ("The odds are 3/4.", "The odds are 75 percent."),
    ("She ran two and a half laps.", "She ran 2.5 laps."),
    ("He earned a quarter of a million.", "He earned 250,000."),
    ("Water it 3 times a week.", "Water it three times per week."),
    ("The fee is due monthly.", "The fee is due every month."),
    ("Take 2.5 tablets.", "Take 2 1/2 tablets."),
    ("Use 0.50 eggs.", "Use 0.5 eggs."),
    ("It costs 12,50 \u20ac.", "It costs \u20ac12.50."),
    ("It costs US$40.", "It costs $40."),
    ("It costs C$40.", "It costs CAD 40."),
    ("The mean is 2,5 and not 3.", "The mean is 2.5 and not 3."),
    ("Henry V won.", "Henry the Fifth won."),
    ("x \u2260 5", "x != 5"),
    ("a \u2264 b", "a <= b"),
    ("a \u2192 b", "a -> b"),
    ("\U0001f44d\U0001f3fb ok", "\U0001f44d ok"),
    ("It costs \u00a32.50.", "It costs two pounds fifty."),
    ("He is 5'10\" tall.", "He is five foot ten tall."),
    ("It is 1.80 m long.", "It is one metre eighty long."),
    ("It costs CHF 1'234.50.", "It costs CHF 1234.50."),
    ("It costs 1 234,50 \u20ac.", "It costs \u20ac1,234.50."),
    ("The file has 1_000_000 rows.", "The file has 1,000,000 rows."),
    ("It takes three-fourths of it.", "It takes 3/4 of it."),
    ("It is seven and three quarters.", "It is 7.75."),
    ("It is two and a third.", "It is 2 1/3."),
    ("It is negative five percent.", "It is -5%."),
    ("It used 5 kWh.", "It used 5 kilowatt hours."),
    ("x\u00b2 + 1", "x^2 + 1"),
    ("x**2", "x^2"),
    ("x*y", "x \u00d7 y"),
    ("$x = 5$", "x = 5"),
    ("We get $x = 5$.", "We get x = 5."),
    ("The answer is $\\boxed{42}$.", "The answer is 42."),
    ("\\(x = 5\\)", "x = 5"),
    ("$\\boxed{\\frac{1}{2}}$", "0.5"),
    ("\\{1, 2\\}", "{1, 2}"),
    ("\\boxed{\\text{Paris}}", "Paris"),
    ("<answer>42</answer>", "42"),
    ("I cannot answer that.", "Unknown."),
    ("(2,3)", "(2, 3)"),
    ("45\u00b0", "45 degrees"),
    ("$2-a-day", "$2 a day"),
    ("221B Baker Street", "221b Baker Street"),
    ("Growth was negative 1.2 percent.", "Growth was -1.2%."),
    ("It took 2 and a half hours.", "It took 2.5 hours."),
    ("It rose by 5% points.", "It rose by 5 percentage points."),
    ("1,5", "1,5."),
    ("\u2018A\u2019", "'A'"),
    ("79 CE", "79"),
    ("He got an A*", "He got an A*."),
    ("*terms apply", "terms apply"),
    ("rock 'n' roll", "rock n' roll"),
]
WRONG_UNITS = [
    ("The crate weighs 5 kg.", "The crate weighs 5 pounds."),
    ("Take 5 mg of it.", "Take 5 ml of it."),
    ("Take 20 \u00b5g of it.", "Take 20 mg of it."),
    ("The trail is 10 miles long.", "The trail is 10 km long."),
    ("The lease runs for 2 years.", "The lease runs for 2 months."),
    ("The line has 50 MB.", "The line has 50 Mbit."),
    ("The bulb draws 60 W.", "The bulb draws 60 kW."),
    ("The fuse is for 10 A.", "The fuse is for 10 V."),
    ("Add 3 cups of milk.", "Add 3 litres of milk."),
    ("The stamp costs $85.", "The stamp costs 85 cents."),
    ("The car costs \u20ac12,000.", "The car costs \u00a312,000."),
    ("The car costs 900 yen.", "The car costs 900 yuan."),
    ("The loan is $3 million.", "The loan is $3 billion."),
    ("The field is 2 acres.", "The field is 2 hectares."),
    ("The water is 30 \u00b0C.", "The water is 30 \u00b0F."),
    ("Rates rose by 2 percentage points.", "Rates rose by 2 percent."),
    ("Water it 3 times a week.", "Water it 3 times a day."),
    ("The yield is 7%.", "The yield is 7 basis points."),
    ("It costs 40 \u20ac.", "It costs $40."),
    ("It costs A$40.", "It costs US$40."),
    ("The disk holds 1 GB.", "The disk holds 1 Gb."),
    ("The line has 100 Mbps.", "The line has 100 MBps."),
    ("It costs \u00a32.50.", "It costs two pounds fifteen."),
    ("He is 5'10\" tall.", "He is five foot two tall."),
    ("Take vitamin C.", "Take vitamin D."),
    ("It is at 40\u00b0 N.", "It is at 40\u00b0 S."),
]
# what may be the same, so that no rule is sure
DOUBTFUL = [
    ("Glucose was 90 mg/dl.", "Glucose was 5 mmol/l."),
    ("Add 245 g of milk.", "Add 240 ml of milk."),
    ("The rent is \u00a3900 a month.", "The rent is 900 pounds a month."),
    ("Monthly rent: \u00a3900 a month", "Monthly rent: 900 pounds"),
    ("It lasted 1.5 hours.", "It lasted 90."),
    ("It weighs 4 tons.", "It weighs 8000 lb."),
    ("The beer was a pint.", "The beer was 568 ml."),
    ("It has 200 calories.", "It has 200 kcal."),
    ("in the early 1900s", "in the early nineteen hundreds"),
    ("20210505", "2021-05-05"),
    ("USB 2", "USB 2.0"),
    ("50-50", "50/50"),
    ("0xFF", "255"),
    ("ten to four", "3:50"),
    ("x = 2 or x = 3", "x = 3 or x = 2"),
    ("arr[0]", "arr[1]"),
    ("The speed is 100 mbps.", "The speed is 100."),
    ("He tested negative two times.", "He tested -2 times."),
    ("between one and three quarters", "between 1 and 3/4"),
    ("between one and three quarters", "1 3/4"),
    ("a million and a third", "1000000 1/3"),
    ("a hundred and a half", "100.5"),
    ("The balance is ($5).", "The balance is -$5."),
    ("($5 million)", "$5 million"),
    ("50/50", "fifty-fifty"),
    ("The odds are fifty-fifty.", "The odds are 50%."),
    ("9/11", "11 September 2001"),
    ("10-20%", "10 to 20"),
    ("They won 3-1.", "They lost 1-3."),
    ("{2, 3}", "{3, 2}"),
    ("1,5", "1.5"),
    ("$1,000", "$1.000"),
    ("$20", "C$20"),
    ("350\u00b0F", "180\u00b0C"),
    ("1 yard", "1 m"),
    ("2 pounds", "1 kg"),
    ("at 0900", "at 9 am"),
    ("at 1500", "at 3 pm"),
    ("10:30", "10.30"),
    ("9 a.m. to 5 p.m.", "9-5"),
    ("1969", "69"),
    ("Wait a second.", "Wait 1 s."),
    ("the twenty second", "the 22nd"),
    ("555-123-4567", "555.123.4567"),
    ("version 2.0", "version 2"),
    ("5G", "5 g"),
    ("!ready", "ready"),
    ("5!", "5"),
    ("\u221a4", "2"),
    ("about 40", "40ish"),
    ("He earns $2 million a quarter.", "He earns $2 million per quarter."),
    ("from 3 to 5 May", "from May 3 to May 5, 2020"),
    ("The odds are 50-50.", "The odds are 50/50."),
    ("mixed in a ratio of 2:4", "mixed 1:2"),
    ("5!", "120"),
]
# writings of a date, then those of another one
DATES = [
    (("7 October 1998", "October 7, 1998", "1998-10-07", "07.10.1998", "the 7th of October 1998"), "7 November 1998"),
    (("23 March 2011", "March 23rd, 2011", "2011-03-23", "23/03/2011", "23 Mar 2011"), "2011-03-22"),
    (("31 Dec. 1999", "Dec 31, 1999", "1999-12-31", "31.12.1999", "December 31st, 1999"), "31 December 1998"),
    (("14 July 1789", "July 14, 1789", "1789-07-14", "14.7.1789", "the 14th of July, 1789"), "July 4, 1789"),
    (("2 Sept. 1945", "September 2, 1945", "1945-09-02", "2.9.1945", "Sep 2nd, 1945"), "9 September 1945"),
    (("19 January 2038", "Jan. 19, 2038", "2038-01-19", "19/1/2038", "19th January 2038"), "19 June 2038"),
]
# a source, a claim that it makes, and one that it does not
ELLIPTIC = [
    ("It snowed on March 3. On March 9, too.", "It snowed on March 9.", "It snowed on March 12."),
    ("He was fined in 2009. Again in 2011.", "He was fined in 2011.", "He was fined in 2012."),
]

LONGER = [
    ("The choir met twice a week for 3 months.", "The choir met once a week."),
    ("The bus runs on Fridays after midnight.", "The bus runs on Sundays."),
    ("The tank holds 40 l of oil and weighs 90 kg.", "The tank holds 40 ml of oil."),
    ("The dam cost 30 million dollars, most of it lent.", "The dam cost 30 billion dollars."),
]


@pytest.mark.parametrize(("sentence", "claim"), LONGER)
def test_a_sentence_that_says_more_contradicts_a_claim_with_another_quantity(sentence: str, claim: str) -> None:
    assert contradicted_by(claim, [sentence], [sentence])
    assert not contradicted_by(sentence, [sentence], [sentence])


@pytest.mark.parametrize(("one", "other"), CONVERSIONS)
def test_a_quantity_in_another_unit_or_writing_is_the_same(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == SAME


@pytest.mark.parametrize(("one", "other"), WRONG_UNITS)
def test_another_unit_contradicts(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == DIFFERENT


@pytest.mark.parametrize(("writings", "other"), DATES)
def test_a_date_has_many_writings(writings: tuple[str, ...], other: str) -> None:
    read_dates = [read(f"It was signed on {one}.").quantities[0] for one in writings]
    assert {relate(read_dates[0], one) for one in read_dates} == {EQUAL}
    assert {rule(f"It closed on {writings[0]}.", f"It closed on {one}.").ruling.kind for one in writings} == {SAME}
    assert {relate(one, read(other).quantities[0]) for one in read_dates} == {OTHER}


@pytest.mark.parametrize(("source", "claim", "false"), ELLIPTIC)
def test_a_sentence_without_the_words_of_the_other_one_counts(source: str, claim: str, false: str) -> None:
    sentences = [sentence.strip(".") + "." for sentence in source.split(". ")]
    assert not contradicted_by(claim, sentences, sentences)
    assert contradicted_by(false, sentences, sentences)


BESIDE_ITSELF = [
    "The office closed at 5 pm on 3 May 2020, and 12 people left.",
    "The profit rose by 7.5% to $3 million.",
    "He drank 250 ml of water at 20 \u00b0C.",
    "Was it B or C?",
    "A 60 W bulb and a 5 mW laser.",
    "It is 10:30; she's late, isn't she?",
    "MIT and NASA signed version 3.10 of it.",
    "x < y, 2 + 2 = 4",
    "caf\u00e9 \u2705 \u732b",
]


@pytest.mark.parametrize("text", BESIDE_ITSELF)
def test_a_text_is_the_same_as_itself_in_another_dress(text: str) -> None:
    ligatures = text.replace("ffi", "\ufb03").replace("fi", "\ufb01").replace("ff", "\ufb00")
    wide = "".join(chr(ord(sign) + 0xFEE0) if "a" <= sign <= "z" else sign for sign in text)
    bare = text.removesuffix(".")  # a question without its mark is no question
    for other in (text.upper(), text.lower(), bare, f"  {text} ", f'"{text}"', f"**{text}**", ligatures, wide):
        assert rule(text, other).ruling.kind == rule(other, text).ruling.kind == SAME, other


NOT_THE_SAME = [
    ("B", "C"),
    ("(b)", "(c)"),
    ("Status: \u2705", "Status: \u274c"),
    ("a \u2286 b", "a \u2284 b"),
    ("p && q", "p || q"),
    ("B+", "B-"),
    ("The power is 5 mW.", "The power is 5 MW."),
    ("It grew from 3 to 9.", "It grew from 9 to 3."),
    ("They won 4-2.", "They won 2-4."),
    ("It dropped from 90 ms to 30 ms today.", "Yesterday it fell from 30 ms to 90 ms."),
    ("Copy A to B", "Copy B to A"),
    ("/etc/opt", "/opt/etc"),
    ("At least 5 came.", "At most 5 came."),
    ("It costs over $5,000.", "It costs over $50."),
    ("More than 90 came.", "90 came."),
    ("10\u00b2", "102"),
    ("The CTO left.", "The chief executive officer left."),
    ("n!", "n"),
    ("!x", "x"),
    ("x'", "x"),
    ("*p", "p"),
    ("a -> b", "b -> a"),
    ("(2,3)", "(2,4)"),
    ("1,2,3", "1,2,4"),
    ("5-7 days", "5-8 days"),
    ("2020 people came.", "20 people came."),
    ("2005 people came.", "5 people came."),
    ("Total = 5", "Total: 6"),
    ("\u2022 The dose is 5 mg.", "The dose is 10 mg."),
]
OPEN = [
    ("Over 200 came.", "206 came."),
    ("About 40 came.", "41 came."),
    ("It takes 5 to 7 days.", "It takes 6 days."),
    ("At least 38 died.", "50 died."),
    ("It costs 5.", "It costs 5 dollars."),
    ("He came in May 2010.", "He came on 5 May 2010."),
    ("No one came.", "No 1 came."),
    ("Vitamin C helps.", "Vitamin 100 helps."),
    ("Planet X", "Planet 10"),
    ("Malcolm X spoke.", "Malcolm Ten spoke."),
    ("Five to ten people came.", "Seven people came."),
]


@pytest.mark.parametrize(("one", "other"), NOT_THE_SAME)
def test_rules_see_what_differs(one: str, other: str) -> None:
    assert rule(one, other).ruling.kind == rule(other, one).ruling.kind == DIFFERENT
    assert rule(one, other).ruling.reason


@pytest.mark.parametrize(("one", "other"), OPEN)
def test_rules_leave_open_what_may_be_true(one: str, other: str) -> None:
    assert not rule(one, other).ruling.kind
    assert not compare(other, one).differences


ANSWERS = [
    ("Which kind?", "WWF", "World Wildlife Fund", SAME),
    ("Which kind?", "U.K.", "United Kingdom", SAME),
    ("Which kind?", "CIA", "Federal Bureau of Investigation", ""),
    ("Which king?", "George VI", "George V", DIFFERENT),
    ("Which war?", "the First World War", "World War I", SAME),
    ("Who?", "Bjork", "Bj\u00f6rk", SAME),
    ("Where?", "New Hampshire", "Hampshire", DIFFERENT),
    ("Where?", "in North Carolina", "South Carolina", DIFFERENT),
    ("Where?", "York, England", "York", ""),
    ("Who?", "John Q. Adams", "John Adams", ""),
    ("Who?", "Andrew Johnson", "Lyndon B. Johnson", DIFFERENT),
    ("Who?", "L. Johnson", "Lyndon B. Johnson", ""),
    ("Who?", "Bob Dylan", "Robert Dylan", ""),
    ("Where?", "Mt. Everest", "Mount Everest", ""),
    ("How many?", "It is twelve.", "12", SAME),
    ("How many?", "none", "0", SAME),
    ("How long?", "about 3 h", "3 hours", ""),
    ("Which?", "The answer is 2, 2.", "2, 3", DIFFERENT),
    ("Which?", "2, 3", "The answer is 2, 2.", DIFFERENT),
    ("Which? A) red B) green C) blue", "C", "C) blue", SAME),
    ("Which?", "C#", "C", DIFFERENT),
    ("Which? A) red B) green C) blue", "It is blue.", "C", SAME),
    ("Which? A) red B) green C) blue", "A", "C) blue", DIFFERENT),
    ("Which? A) red B) green C) blue", "The answer is B, as C is wrong.", "C", DIFFERENT),
    ("Which? A) red B) green C) blue", "It's not C.", "C", ""),
    ("Which? A) red B) green C) blue", "I would not choose C.", "C", ""),
    ("What is it?", "I have no idea.", "Unknown Pleasures", NO_ANSWER),
    ("Which? A) red B) green C) blue", "No problem! The answer is C.", "C", SAME),
    ("Which? A) red B) green C) blue", "I'm not sure, but the answer is C.", "C", SAME),
    ("Which? A) red B) green C) blue", "B and C", "C", DIFFERENT),
    ("What is it?", "I do not know.", "a cat", NO_ANSWER),
    ("What is it?", "I'm sorry, but I can't help with that.", "a cat", NO_ANSWER),
    ("What is it?", "I refuse to answer.", "a cat", NO_ANSWER),
    ("What is it?", "idk", "a cat", NO_ANSWER),
    ("What is it?", "There's no answer in the text.", "a cat", NO_ANSWER),
    ("What is it?", "It is unclear.", "a cat", NO_ANSWER),
    ("What is it?", "It is unclear water in a jar.", "a cat", ""),
    ("What is it?", "I don't know, but I think it is a cat.", "a cat", ""),
    (None, "I can't say I liked it.", "I didn't like it.", ""),
    (None, "I can't say.", "I didn't like it.", NO_ANSWER),
    ("What is it?", "n/a", "The text does not say.", SAME),
    ("What is it?", "Not specified", "unanswerable", SAME),
    ("What is it?", "**A cat**", "a cat", SAME),
    ("What is it?", "$\\boxed{42}$", "42", SAME),
    ("What is it?", "Sure! A cat.", "A cat", SAME),
]


@pytest.mark.parametrize(("question", "answer", "reference", "kind"), ANSWERS)
def test_answers(question: str | None, answer: str, reference: str, kind: str) -> None:
    assert rule(reference, answer, question).ruling.kind == kind


@pytest.mark.parametrize(("one", "other"), DOUBTFUL)
def test_what_may_be_the_same_is_left_to_the_model(one: str, other: str) -> None:
    for question in (None, "What?"):
        assert not {rule(a, b, question).ruling.kind for a, b in ((one, other), (other, one))} & {SAME, DIFFERENT}
