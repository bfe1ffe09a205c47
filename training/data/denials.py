r"""Questions with known answers -> answers that deny, correct, list or only mention the right one, and right ones.

    python -m training.data.denials --config training/configs/data/denials.yaml --data DATA --output runs/denials

Needs the extra `contradict`. Language models write "Leonardo did not paint it" or "Not Leonardo, but Michelangelo":
both name the reference and are incorrect. The forms are in denial_forms.yaml, each with a correct counterpart of the
same words. A wrong answer is a short one that people judged wrong, else one to another question of the same type, or a
number near the right one ("1944" for "1945"). A statement that answers the question is a sentence of a right answer;
the rules of `semantic_metrics.contradictions` negate it.

Writes train.parquet and held_out.parquet, split by question like those of `training.data.judged_answers`, and
fit.parquet, the held-out questions answered in forms that no model is trained on; those of its answers with another
number, and their right counterparts, are in numbers.parquet. Columns: question, sentence1 (the question and its answer;
in some, a statement alone), sentence2 (question and reference, or the statement with it), label (entailment;
contradiction if the answer rejects the reference; not_entailment if it is undecided), form, kind; for `semantic-metrics
fit` answer, reference and correct (0 or 1). Prints counts.
"""

import hashlib
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from semantic_metrics.contradictions import clauses
from semantic_metrics.contradictions.language import inflect_engine, load_pipeline
from semantic_metrics.core.progress import with_progress
from semantic_metrics.fitting.judged_answers import question_key
from semantic_metrics.nli_lex.features import TEMPLATE
from semantic_metrics.nli_lex.lexical import ARTICLES, MONTHS, read_words, stem_recall, token_recall
from semantic_metrics.nli_lex.windows import fill
from semantic_metrics.quantities.spell import is_number
from training.data.config_files import read_yaml
from training.data.denial_forms import CORRECT, NUMBER, AnsweredQuestion, Form, question_type, read_forms, read_written
from training.data.judged_answers import JudgedSource, part_of
from training.data.run_arguments import make_parser
from training.data.sources import read_excluded

FIT = "fit"  # the part of the forms for the weights of the judge, and its file
NUMBERS = "numbers"  # the file of those whose numbers are changed, as they count for more
MAX_REFERENCES = 4  # of a question; a longer list is hardly of the same answer
MAX_PARSES = 3  # sentences that are tried for a statement
MIN_CHARACTERS = 4  # of an answer that may begin with a preposition
MAX_REFERENCE_WORDS, MAX_WRONG_WORDS = 6, 5  # longer answers are sentences or lists, which the forms cannot take
STATEMENT_WORDS = range(4, 25)  # fewer are fragments; of longer ones the parser errs
ALIAS_SHARE = 0.15  # of the answers that name the reference by another of its names, as people do
OPENER_SHARE, LOWER_SHARE, BOLD_SHARE, LONG_SHARE = 0.12, 0.06, 0.06, 0.22  # of the answers that are written so
SPELT_SHARE = 0.3  # of the pairs of answers: years and counts in digits are put in words
SPELT_YEARS = range(1300, 2100)  # years said in two pairs, as `numerals` reads them; longer ones stay in digits
MAX_SPELT = 1000  # the largest count in words
ASKED_SHARE = 0.5  # of the questions that have a capital and a question mark, which those of NQ lack
STATED_SHARE = 0.35  # of the pairs of a question with a statement that take a form with one
ALONE_SHARE = 0.15  # of the pairs of a statement form that are read without the question
SIMILAR_QUESTIONS = 40  # from whose answers wrong ones are drawn
# pairs of a question with a number in forms of such; the share of them that is the number alone
NUMBER_PAIRS, BARE_SHARE = 4, 0.5
NEAR, EXCHANGED_SHARE, DAYS = (1, 2, 10), 0.2, 28  # how far off; the share with exchanged digits; the last day
NUMERIC_SHAPES = ("year", "number", "date")  # results of `shape`
# up to four digits that are no part of a longer number
SHORT_NUMBER = re.compile(r"(?<![\w.,:/\u2010-\u2015-])[1-9]\d{0,3}(?![\w:/\u2010-\u2015-]|[.,]\d)")
YEARS_APART, NUMBER_SHARE = 12, 0.5  # how far a made-up year, and in what share of its size a number, may be off
YEAR, DIGITS = re.compile(r"\d{4}"), re.compile(r"\d+")
PREPOSITION = re.compile(r"^(?:in|on|at|from|by|since|during|near|inside|within|after|before|around|about) ", re.I)
DAMAGE = re.compile(r'null|[/()\[\]{}<>|*\\":;]|^\W|[^\w.!\')]$', re.I)  # EVOUNA has "null" for every "nan"
QUESTION_WORD = re.compile(r"(?:who|when|where|what|which|how|why|is|are|do|does|did|in)\b", re.I)
NO_ANSWER = re.compile(r"^(?:i|as|there|it|no|not|yes|the answer|unknown|none|nobody|never|sorry)\b", re.I)
NO_STATEMENT = re.compile(
    r"\b(?:not|no|never|but|or|however|although|though|unless|if|yes|unknown|information|language model|i|my|unclear)\b"
    r"|n't|[:?\"“”{}*\n]|,(?! \d{4}\b)|^(?:this|that|these|those|they|their|he|his|she|her|its|some|one|yes)\b|\bthem$",
    re.I,
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
WRITTEN = read_written()  # what stands before and after answers
SMALL_INITIALS = ("DET", "PRON", "ADP", "SCONJ", "ADV")  # parts of speech whose capital is only that of a sentence
PRESENT = {"is", "are", "do", "does", "has", "have", "can", "will", "s"}


@dataclass(frozen=True)
class DenialConfig:
    """The tables of judged answers, excluded questions as in `JudgedConfig`, and how many pairs a question gets."""

    train: list[JudgedSource]
    exclude: list[dict] = field(default_factory=list)
    pairs_per_question: int = 5


@dataclass
class Known:
    """A question with all that the tables know about it: references, right and wrong answers."""

    question: str
    references: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Answerable:
    """A question with a reference; `name` is how answers name it, without a preposition.

    `says` and `denies` are as in `AnsweredQuestion`; empty if there is no such statement.
    """

    known: Known
    reference: str
    name: str
    says: str = ""
    denies: str = ""


def main() -> None:
    """Command line."""
    arguments = make_parser(__doc__, "A YAML file; see DenialConfig.").parse_args()
    config = read_yaml(arguments.config, DenialConfig)
    rows = build(config, arguments.data)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for part, own in rows.groupby("part"):
        own.drop(columns="part").to_parquet(arguments.output / f"{part}.parquet", index=False)
        sys.stdout.write(f"{part}: {len(own)} answers to {own['question'].map(question_key).nunique()} questions\n")
        sys.stdout.write(own.groupby(["kind", "label"]).size().unstack(fill_value=0).to_string() + "\n")


def build(config: DenialConfig, data: Path | None) -> pd.DataFrame:
    """The answers to all questions, with the column `part`; see the module for the others."""
    excluded = frozenset(map(question_key, read_excluded(config.exclude, data)))
    questions = read_questions(config.train, data, excluded)
    ready = [answerable(known) for known in with_progress(questions, "question", title="read")]
    pool = WrongPool(variant for variants in ready for variant in variants)
    asked = [variants for variants in ready if variants]
    held_out = [variants for variants in asked if part_of(variants[0].known.question) == "held_out"]
    rows = []
    for name, group in (("train", asked), (FIT, held_out)):
        forms = read_forms(name)
        for variants in with_progress(group, "question", title=f"answered, {name}"):
            part = FIT if name == FIT else part_of(variants[0].known.question)
            rows += [(*row, part) for row in question_rows(variants, pool, forms, config)]
    columns = ["question", "sentence1", "sentence2", "label", "form", "kind", "answer", "reference", "correct", "part"]
    frame = pd.DataFrame(rows, columns=columns).drop_duplicates(["sentence1", "sentence2", "part"])
    frame.loc[(frame["part"] == FIT) & (frame["kind"] == NUMBER), "part"] = NUMBERS
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


def read_questions(sources: list[JudgedSource], data: Path | None, excluded: frozenset[str]) -> list[Known]:
    """The questions of all tables, in the order of its first row."""
    questions: dict[str, Known] = {}
    for source in sources:
        for question, answer, references, correct in source.answers(data, excluded)[0]:
            known = questions.setdefault(question_key(question), Known(question.strip()))
            known.references += [text.strip() for text in references if text.strip() not in known.references]
            (known.right if correct else known.wrong).append(answer.strip())
    return [known for known in questions.values() if "null" not in known.question]


def answerable(known: Known) -> list[Answerable]:
    """A question with each reference that can be named in an answer, with a statement where there is one."""
    variants = []
    for reference in known.references[:MAX_REFERENCES]:
        name = _bare(reference)
        words = read_words(name).plain
        asked = read_words(known.question).all
        short = len(words) <= MAX_REFERENCE_WORDS and (len(name) > 1 or name.isdigit())
        if short and not DAMAGE.search(name) and not set(asked).issuperset(words):
            variants.append(Answerable(known, reference, name, *statement(known, name)))
    return variants


def _bare(text: str) -> str:
    """An answer without its first preposition, as "the bone marrow" of "in the bone marrow", and its full stop."""
    text = " ".join(text.split())
    text = text.removesuffix(".") if text.count(".") == 1 else text
    return PREPOSITION.sub("", text) if len(text) > MIN_CHARACTERS else text


def statement(known: Known, name: str) -> tuple[str, str]:
    """A sentence of a right answer, or the question, with `{}` for the answer, and its negation; blanks if none."""
    mention = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    parts = [part for answer in known.right for part in SENTENCE_END.split(answer)]
    sentences = [part for part in parts if len(mention.findall(part)) == 1]
    found = re.fullmatch(r"who (\w+ (?!the hell).*?)\??", known.question, re.I)
    if found and found[1].split()[0].lower() not in ("did", "does", "do", "else", "all"):
        sentences.append(f"{name} {found[1]}")
    bare = [sentence.strip().removesuffix(".") for sentence in sentences]
    short = [sentence for sentence in bare if len(sentence.split()) in STATEMENT_WORDS]
    fitting = [sentence for sentence in short if not NO_STATEMENT.search(mention.sub("", sentence))]
    for sentence in fitting[:MAX_PARSES]:
        denied = _negated(sentence)
        if denied and len(mention.findall(denied[1])) == 1:
            return tuple(mention.sub("{}", text) for text in denied)
    return "", ""


def _negated(sentence: str) -> tuple[str, str] | None:
    """A statement and its negation, each with a small first letter unless it is a name's; None if no rule applies."""
    (parsed, *others) = load_pipeline()(sentence + ".", disable=["ner"]).sents
    changes = [] if others else [*clauses.negation(parsed)]
    if not changes:
        return None
    denied = changes[0].apply(sentence)
    first = parsed[0]
    small = (first.pos_ in SMALL_INITIALS and first.text not in ("I", "A")) or first.lower_ in ("a", "the")
    return tuple(text[:1].lower() + text[1:] if small else text for text in (sentence, denied))


def is_past(question: str) -> bool:
    """Whether an answer "was" rather than "is"."""
    words = question.lower().replace("'", " ").split()
    verb = words[1] if len(words) > 1 else ""
    present = verb in PRESENT or (verb.endswith("s") and verb not in ("was", "s"))
    return "was" in words[1:4] or "did" in words[1:4] or not present


def shape(text: str) -> str:
    """The look of an answer: "year", "date", "number", "name" or "phrase"."""
    words = text.split() or [""]
    if YEAR.fullmatch(text):
        return "year"
    if re.search(rf"\b(?:{MONTHS})\b", text, re.I):
        return "date"
    if any(map(is_number, read_words(text).all)):
        return "number"
    words = words[1:] if words[0].lower() in ARTICLES else words
    named = bool(words) and words[0][:1].isupper() and all(word[0].isupper() for word in words if len(word) > 3)
    return "name" if named else "phrase"


class WrongPool:
    """Answers to similar questions of the same type and shape, as wrong answers to each of `variants`."""

    def __init__(self, variants: Iterable[Answerable]) -> None:
        pools = defaultdict(list)
        for variant in variants:
            if len(variant.name.split()) <= MAX_WRONG_WORDS:
                pools[self._key(variant)].append(variant)
        self._names = {key: [variant.name for variant in own] for key, own in pools.items()}
        self._vectorizer = TfidfVectorizer(token_pattern=r"\w+")
        self._vectorizer.fit([variant.known.question for own in pools.values() for variant in own])
        questions = {key: [variant.known.question for variant in own] for key, own in pools.items()}
        self._vectors = {key: self._vectorizer.transform(own) for key, own in questions.items()}

    @staticmethod
    def _key(variant: Answerable) -> tuple[str, str]:
        return question_type(variant.known.question), shape(variant.name)

    def similar(self, variant: Answerable) -> list[str]:
        """SIMILAR_QUESTIONS names at most, of the most similar questions first; those of its own among them."""
        if (key := self._key(variant)) not in self._names:
            return []
        similarity = (self._vectors[key] @ self._vectorizer.transform([variant.known.question]).T).toarray().ravel()
        return [self._names[key][i] for i in np.argsort(-similarity, kind="stable")[:SIMILAR_QUESTIONS]]


def wrong_answers(variant: Answerable, pool: WrongPool, draw: random.Random) -> list[str]:
    """Two different wrong answers; fewer if there are none."""
    known, own_shape = variant.known, shape(variant.name)
    judged = [_bare(text) for text in known.wrong]
    judged = [text for text in judged if 0 < len(text.split()) <= MAX_WRONG_WORDS and shape(text) == own_shape]
    numeric = own_shape in NUMERIC_SHAPES
    made = [_another_number(variant.name, draw)] if numeric else []
    others = pool.similar(variant)
    drawn = draw.sample(others, len(others))
    if made and draw.random() < 0.5:
        made, drawn = [], made + drawn
    rejected = known.references if numeric else [known.question, *known.references]
    chosen = []
    for text in [*draw.sample(judged, len(judged)), *made, *drawn]:
        if DAMAGE.search(text) or NO_ANSWER.search(text):
            continue
        if all(_differ(text, other, own_shape) for other in [*rejected, *chosen]):
            chosen.append(text)
        if len(chosen) == 2:
            break
    return chosen


def _differ(text: str, other: str, text_shape: str) -> bool:
    """Whether two answers cannot mean the same: names share no word, numbers and dates not all of either."""
    if text_shape in NUMERIC_SHAPES:
        return max(token_recall(text, other), token_recall(other, text)) < 1
    return max(stem_recall(text, other), stem_recall(other, text)) == 0


def _another_number(text: str, draw: random.Random) -> str:
    """A text with another number in place of its last one; unchanged if it has none in digits."""
    matches = [*DIGITS.finditer(text)]
    if not matches or len(matches) > 2 or ("," in text and shape(text) == "number"):
        return text
    last = matches[-1]
    value = int(last[0])
    span = YEARS_APART if YEAR.fullmatch(last[0]) else max(2, int(NUMBER_SHARE * value))
    other = abs(value + draw.choice([-1, 1]) * draw.randint(1, span))
    return f"{text[: last.start()]}{other}{text[last.end() :]}"


def question_rows(
    variants: list[Answerable], pool: WrongPool, forms: list[Form], config: DenialConfig
) -> Iterator[tuple]:
    """Rows of the answers to one question."""
    question = variants[0].known.question
    draw = random.Random(hashlib.sha256(question_key(question).encode("utf-8")).hexdigest())
    stated = [variant for variant in variants if variant.says]
    kind, seen = question_type(question), set()
    for _ in range(config.pairs_per_question):
        variant = draw.choice(stated if stated and draw.random() < 0.5 else variants)
        wrong = wrong_answers(variant, pool, draw)
        if len(wrong) < 2:
            continue
        written = question
        if draw.random() < ASKED_SHARE and QUESTION_WORD.match(question):
            written = question[:1].upper() + question[1:] + "?" * (not question.endswith("?"))
        named = [_alias(variant, draw), *wrong]
        if draw.random() < SPELT_SHARE:
            named = [spelt(text, kind) for text in named]
        asked = AnsweredQuestion(written, *named, kind, is_past(question), variant.says, variant.denies)
        suited = [form for form in forms if form.suits(asked) and form.name not in seen and form.kind != NUMBER]
        if asked.says and draw.random() < STATED_SHARE:
            suited = [form for form in suited if form.states] or suited
        form = _draw_form(suited, draw)
        seen.add(form.name)
        yield from _pair(form, asked, variant.reference, draw)
    if forms_of_numbers := [form for form in forms if form.kind == NUMBER]:
        yield from number_rows(variants, forms_of_numbers)


def number_rows(variants: list[Answerable], forms: list[Form]) -> Iterator[tuple]:
    """Rows of answers whose number is the reference's, or off by little, in forms of the kind NUMBER or alone."""
    numeric = [variant for variant in variants if shape(variant.name) in NUMERIC_SHAPES]
    question = variants[0].known.question
    kind, draw = question_type(question), random.Random(f"{NUMBER} {question_key(question)}")
    for _ in range(NUMBER_PAIRS if numeric else 0):
        variant = draw.choice(numeric)
        wrong = near_number(variant.name, draw)
        if not all(_differ(wrong, other, NUMBER) for other in variant.known.references):
            continue
        named = variant.name, wrong
        if draw.random() < SPELT_SHARE:
            named = [spelt(text, kind) for text in named]
        asked = AnsweredQuestion(question, *named, wrong, kind, is_past(question))
        form = draw.choice(forms)
        yield from _pair(form.alone() if draw.random() < BARE_SHARE else form, asked, variant.reference, draw)


def near_number(text: str, draw: random.Random) -> str:
    """A text with one of its numbers off by one of NEAR, or with two digits exchanged.

    It is unchanged if it has no number of up to four digits that stands alone, or none that is near it and possible.
    """
    matches = [*SHORT_NUMBER.finditer(text)]
    if not matches:
        return text
    chosen = draw.choice(matches)
    digits, value = chosen[0], int(chosen[0])
    most = max(value, DAYS) if len(digits) < 3 and shape(text) == "date" else np.inf
    off = draw.choice([-1, 1]) * draw.choice(NEAR)
    other = next((str(number) for number in (value + off, value - off) if 1 <= number <= most), digits)
    if len(digits) > 2 and draw.random() < EXCHANGED_SHARE:
        place = draw.randrange(1, len(digits) - 1)
        other = digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]
    return f"{text[: chosen.start()]}{other}{text[chosen.end() :]}"


def spelt(text: str, kind: str) -> str:
    """An answer to a kind of question: a year ("nineteen twelve") or a count in words, any other text as it is."""
    if not text.isdecimal() or not text.isascii() or text != str(int(text)):
        return text
    value, engine = int(text), inflect_engine()
    if kind == "when" and shape(text) == "year":
        said = value in SPELT_YEARS and value % 100 > 9
        return engine.number_to_words(text, group=2).replace(",", "") if said else text
    return engine.number_to_words(value, andword="") if value <= MAX_SPELT else text


def _draw_form(forms: list[Form], draw: random.Random) -> Form:
    """A form; kinds with fewer forms come more often than their share of the forms."""
    counts = Counter(form.kind for form in forms)
    kind = draw.choices([*counts], [count**0.5 for count in counts.values()])[0]
    return draw.choice([form for form in forms if form.kind == kind])


def _alias(variant: Answerable, draw: random.Random) -> str:
    """The name of a reference, or another one that shares words with it: a last name or another reference."""
    names = [text for text in variant.known.references if shape(text) == shape(variant.name) == "name"]
    names = [text for text in names if not DAMAGE.search(text) and len(text.split()) <= MAX_REFERENCE_WORDS]
    others = [text for text in names if stem_recall(text, variant.name) >= 0.5]
    words = variant.name.split()
    if question_type(variant.known.question) == "who" and len(words) in (2, 3) and all(w.isalpha() for w in words):
        others.append(words[-1])
    return draw.choice(others) if others and draw.random() < ALIAS_SHARE else variant.name


def _pair(form: Form, asked: AnsweredQuestion, reference: str, draw: random.Random) -> Iterator[tuple]:
    """The row of an incorrect and of a correct answer of one form."""
    alone = form.states and draw.random() < ALONE_SHARE
    seed = draw.random()  # both are written in the same way
    for correct in (False, True):
        answer = form.fill(asked, correct)
        if alone:
            hypothesis = asked.says.replace("{}", asked.right)
            premise, hypothesis = answer, hypothesis[:1].upper() + hypothesis[1:] + "."
        else:
            answer = _write(answer, asked, random.Random(seed))
            premise, hypothesis = (fill(TEMPLATE, asked.question, text).text for text in (answer, reference))
        label = CORRECT if correct else form.label
        yield asked.question, premise, hypothesis, label, form.name, form.kind, answer, reference, int(correct)


def _write(answer: str, asked: AnsweredQuestion, draw: random.Random) -> str:
    """An answer as it is, or with an opener, in small letters, with bold names, or among other sentences."""
    style = draw.random()
    bounds = [OPENER_SHARE, LOWER_SHARE, BOLD_SHARE, LONG_SHARE]
    opener, lower, bold, long = (style < sum(bounds[: i + 1]) for i in range(len(bounds)))
    if opener:
        return f"{draw.choice(WRITTEN['openers'])} {answer}"
    if lower:
        return answer.lower().removesuffix(".")
    if bold and "*" not in answer:
        names = sorted({asked.right, asked.wrong, asked.other}, key=len, reverse=True)
        pattern = "|".join(re.escape(name) for name in names)
        return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda match: f"**{match[0]}**", answer)
    if long:
        before = draw.sample(WRITTEN["before"], draw.randint(0, 2))
        after = draw.sample(WRITTEN["after"], draw.randint(1, 2))
        answer = answer if answer[-1:] in ".!?" else answer + "."
        return " ".join([*before, answer, *after]).replace("{question}", asked.question)
    return answer


if __name__ == "__main__":
    main()
