"""Forms of answers that assert, deny, correct or only mention a reference (denial_forms.yaml), and what fills them."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from semantic_metrics.nli_lex.lexical import read_words
from semantic_metrics.quantities.spell import is_number

PATH = Path(__file__).with_name("denial_forms.yaml")
PARTS = ("train", "fit")  # a form of one is never in another
SLOT = re.compile(r"\{(\w+)\}")
SENTENCE_START = re.compile(r"(?:^|[.!?]\s+|\n)\**$")  # of what stands before a slot
INCORRECT = ("contradiction", "not_entailment")  # names of training.cross_encoder.targets
CORRECT = "entailment"
TYPES = ("who", "where", "what")  # kinds of questions that the `only` of a form may name
NUMBER = "number"  # the kind of forms whose wrong answer is a number near the right one


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with what fills a form.

    Attributes:
        right, wrong, other: the reference as answers name it, and two wrong answers.
        kind: "who", "when", "where", "number" or "what".
        past: whether the answer "was" rather than "is".
        says, denies: a statement that answers the question, and its negation, with `{}` in place of the answer; both
            may be empty. The first letter is small unless a name begins with it.
    """

    question: str
    right: str
    wrong: str
    other: str
    kind: str
    past: bool
    says: str = ""
    denies: str = ""

    @property
    def types(self) -> set[str]:
        """Values of `only` of the forms that suit the question."""
        year = self.kind == "when" and all(re.fullmatch(r"\d{4}", text) for text in (self.right, self.wrong))
        number = self.kind == "number" and all(map(_is_number, (self.right, self.wrong)))
        kind = [self.kind] if self.kind in TYPES else []
        return {"", *kind, *["year"] * year, *["number"] * number}


@dataclass(frozen=True)
class Form:
    """A pair of an incorrect and a correct answer with slots; see denial_forms.yaml.

    `kind` is what the answers do with the reference, `label` the incorrect one's (one of INCORRECT), `only` the only
    type of question that it suits (empty for all). `name` is the kind and the place among the forms of its part.
    """

    name: str
    kind: str
    label: str
    incorrect: str
    correct: str
    only: str = ""

    def suits(self, asked: AnsweredQuestion) -> bool:
        """Whether it has a sense for a question, and the question all that it needs."""
        return self.only in asked.types and (bool(asked.says) or not self.states)

    @property
    def states(self) -> bool:
        """Whether it needs a statement that answers the question."""
        return any(slot.startswith(("says_", "denies_")) for slot in SLOT.findall(self.incorrect + self.correct))

    def alone(self) -> "Form":
        """A form of the same kind that is the answer alone."""
        return replace(self, name=f"{self.kind} alone", incorrect="{W}", correct="{R}")

    def fill(self, asked: AnsweredQuestion, correct: bool) -> str:
        """The correct or the incorrect answer, with capitals where a sentence begins with a slot."""
        template, values = self.correct if correct else self.incorrect, _values(asked)
        text, done = "", 0
        for match in SLOT.finditer(template):
            text += template[done : match.start()]
            value = values[match[1]]
            text += value[:1].upper() + value[1:] if SENTENCE_START.search(text) else value
            done = match.end()
        return re.sub(r"(?<=[^.])\.\.(?!\.)", ".", text + template[done:])  # a name may end with a stop


def _is_number(text: str) -> bool:
    """Whether an answer has digits, or is a number word and nothing else."""
    words = read_words(text)
    return re.search(r"\d", text) is not None or all(map(is_number, words.plain))


def question_type(question: str) -> str:
    """The kind of answer that a question asks for: "who", "when", "where", "number" or "what"."""
    words = question.lower().replace("'", " ").split()
    first = words[0] if words else ""
    if first in ("who", "whose", "whos"):
        return "who"
    if first == "when" or {"what", "year"}.issubset(words[:4]) or {"what", "date"}.issubset(words[:5]):
        return "when"
    if first == "where":
        return "where"
    return "number" if words[:2] in (["how", "many"], ["how", "much"], ["how", "long"]) else "what"


def read_forms(part: str) -> list[Form]:
    """The forms of one of PARTS, with their texts of `both`, or of `incorrect` and `correct`."""
    stored, forms = yaml.safe_load(PATH.read_text(encoding="utf-8")), []
    for i, entry in enumerate(stored[part], 1):
        pair = [_sided(entry["both"], side) for side in ("WR", "RW")] if "both" in entry else None
        kind, texts = entry["kind"], pair or (entry["incorrect"], entry["correct"])
        forms.append(Form(f"{kind} {i}", kind, stored["kinds"][kind], *texts, entry.get("only", "")))
    return forms


def read_written() -> dict[str, list[str]]:
    """Texts that answers are written with, whatever their form: `openers`, and sentences `before` and `after` them."""
    return yaml.safe_load(PATH.read_text(encoding="utf-8"))["written"]


def _sided(text: str, sides: str) -> str:
    """A text with the slots of R and W in place of those of yes and no."""
    for name, side in zip(("yes", "no"), sides, strict=True):
        text = re.sub(rf"\{{((?:\w+_)?){name}\}}", rf"{{\1{side}}}", text)
    return text


def _values(asked: AnsweredQuestion) -> dict[str, str]:
    """The text of each slot."""
    verb, thing = "was" if asked.past else "is", "one" if asked.kind == "who" else "thing"
    answers = {"R": asked.right, "W": asked.wrong, "X": asked.other}
    values = {**answers, "is": verb, "isnt": f"{verb}n't", "any": f"any{thing}", "else": f"some{thing} else"}
    for name, template in (("says", asked.says), ("denies", asked.denies)):
        values |= {f"{name}_{side}": template.replace("{}", text) for side, text in answers.items()}
    return values
