"""What chat models put around an answer, answers that give none, and choices of a question."""

import json
import re

from semantic_metrics.core.texts import cached
from semantic_metrics.quantities.characters import CACHED_TEXTS, fold, name_signs, unfold, word_set

THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
CUT_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.S | re.I)  # the prompt had the beginning
# what a box of LaTeX, its signs for mathematics, or a tag holds
WRAPPED = [re.compile(pattern, re.S) for pattern in (
    r"(?:(?<!\$)\$+)?\\boxed\{([^{}]*)\}\$*",
    r"\\(?:text|mathrm|mathbf)\{([^{}]*)\}",
    r"\A\s*\$+([^$]+)\$+\s*\Z",
    r"(?<![\w$])\$([A-Za-z\\][^$\n]*)\$(?![\w$])",  # no amounts: "$5 and $6"
    r"\\\(((?:(?!\\[()]).)*)\\\)",
    r"\\\[((?:(?!\\[\[\]]).)*)\\\]",
    r"\A\s*<answer>(.*)</answer>\s*\Z",
)]  # fmt: skip
ESCAPED = re.compile(r"\\([{}$%#&_])")
LATEX_FRACTION = re.compile(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}")
MIXED = re.compile(r"(?<=\d)(?=\\[dt]?frac\{)")  # a whole number before its fraction
JSON_KEYS = word_set("answer response result final_answer")  # of an object with nothing else
MOST_LAYERS = 8  # of markup in markup
MARKDOWN = re.compile(r"(?<!\w)(\*\*|__|`)(?=[^\s*_`])([^*_`\n]+)(?<=\S)\1(?!\w)|^#{1,6}\s+", re.M)
LEAD = re.compile(
    r"\A\s*(?:(?:sure|certainly|of course|great question)\s*[!.,:]\s+(?=\S)|(?:final )?answer\s*:\s*(?=\S)"
    r"|(?:here is|here's) the answer\s*:\s*)+", re.I
)  # fmt: skip
_KNOW = "know|tell|say|determine|answer|be (?:sure|certain)|find|help|assist|provide|comply"
_ABSENT = "stated|mentioned|given|specified|provided|known|available|applicable|found|answerable|clear|possible to"
_TEXT = "text|document|context|passage|article|source|story|information"
_SAY = "say|state|mention|tell|specify|contain|provide|give|answer|include"
_CANNOT = "do not|don't|dont|can ?not|can't|cant|am (?:unable|not able) to|could not|couldn't"
NO_ANSWER = re.compile(
    "|".join(
        (
            r"n ?/ ?a\b|none given|no answer|no idea|no clue|idk\b|unknown|unanswerable|(?:it is |it's )?unclear",
            r"(?:no|insufficient) information|i (?:refuse to|decline to|won't|will not) (?:answer|say|comply)",
            rf"(?:it |this |that |the answer )?(?:is |was )?not (?:{_ABSENT})|(?:it |this |that )isn't (?:{_ABSENT})",
            rf"i (?:{_CANNOT}) (?:really )?(?:{_KNOW})|i'm (?:not sure|unable)|i am not sure",
            r"i (?:have no|(?:do not|don't) have (?:any|enough|that|the)?) ?"
            r"(?:idea|clue|answer|information|access|data|knowledge)",
            r"(?:(?:the |this )?(?:question|answer|it|that) )?(?:can ?not|can't|could not) be "
            r"(?:answered|determined|known|inferred|found)|cannot say|can't say",
            rf"(?:the |this )?(?:{_TEXT}) (?:does not|doesn't|do not|provides no) (?:{_SAY})|(?:it )?does not say",
            r"there(?: is|'s| isn't| is not) (?:no |not |any )?(?:enough )?(?:information|answer|mention)",
            r"not enough info",
            rf"as an ai[^,.]*, i (?:have no|{_CANNOT})",
        )
    ),
    re.I,
)
BEGIN_STATEMENTS = frozenset(
    ("unknown", "unclear", "it is unclear", "it's unclear", "no idea", "no clue", "no information")
)
POLITE = re.compile(
    r"(?:i'?m (?:very )?sorry|i am sorry|sorry|i apologi[sz]e|unfortunately)\b[,.:]?\s*(?:but\s+)?", re.I
)
GUESS = re.compile(r"\b(?:but|however|probably|maybe|i think|i believe|i guess|my guess|except)\b", re.I)
HOWEVER = re.compile(r"\bhowever\b", re.I)  # behind "As an AI, I cannot ..." an answer often follows
MOST_WORDS_WITHOUT_ANSWER = 30
SUBORDINATE = re.compile(
    r"\s(?:how|why|if|whether|what|who|when|where|which|that|any|but|i|we|he|she|they|my|his|her)\s+\w", re.I
)
CHOICE = re.compile(r"(?:\A|(?<=\s))[(\[]?([A-Ha-h]|[1-9])[)\].:]\s+")
LETTER = re.compile(r"(?<![\w'\u2019.])[(\[]?([A-H])[)\]]?(?![\w'\u2019+#*-]|\.\w)")
_CUE = "answer|option|choice|letter|choose|chose|pick|select|leaving|leaves|is"
CHOSEN = re.compile(rf"(?:{_CUE})(?:\s*(?:is|:|=))?\s*\(?([A-H]|[1-9])\)?(?![\w'\u2019+#-])")
CLAUSE_END = re.compile(r"[.!?,;:](?:\s*but\b)?", re.I)
NEGATED = re.compile(r"\b(?:not|no|wrong|but|except|neither|never|rather)\b|n['\u2019]t\b", re.I)
ONLY_LETTERS = re.compile(r"\W*[A-H](?:\W|and|or|both)*(?:[A-H](?:\W|and|or|both)*)*\Z")


def without_thoughts(texts: list[str]) -> tuple[list[str], int]:
    """Texts with spaces for what stands between <think> and </think>, also cut off, and how many of them had such."""
    spoken = [_without_thought(text) if "think" in text.lower() else text for text in texts]
    return spoken, sum(one != other for one, other in zip(spoken, texts, strict=True))


def _without_thought(text: str) -> str:
    for pattern in (THOUGHT, CUT_THOUGHT):
        text = pattern.sub(lambda match: " " * len(match[0]), text)  # characters keep their places
    return text


@cached(CACHED_TEXTS)
def plain(text: str) -> str:
    """A text unfolded, without emphasis of Markdown, a box of LaTeX, JSON and "Sure!", as long as anything is left.

    `plain(plain(text))` is `plain(text)`. A text with more than MOST_LAYERS inside one another keeps all of them.
    """
    bare = whole = unfold(text)
    for _ in range(MOST_LAYERS):
        less = _unpacked(ESCAPED.sub(r"\1", LATEX_FRACTION.sub(r"\1/\2", MIXED.sub(" ", bare))))
        for pattern in WRAPPED:
            less = pattern.sub(r"\1", less)
        less = LEAD.sub("", MARKDOWN.sub(lambda match: match[2] or "", less))
        if less == bare or not less.strip():
            return bare
        bare = unfold(less)
    return whole


def _unpacked(text: str) -> str:
    """The answer of a JSON object that holds nothing else; any other text as it is."""
    if not (text.lstrip().startswith("{") and text.rstrip().endswith("}")):
        return text
    try:
        content = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)  # as they are written
    except (ValueError, RecursionError):
        return text
    ((key, value), *others) = content.items() or [("", None)]
    return value if not others and key.lower() in JSON_KEYS and isinstance(value, str) else text


def legible(text: str) -> str:
    """What a model reads of a text: `plain`, with names for emoji and signs."""
    return name_signs(plain(text))


def gives_no_answer(text: str, asked: bool = True) -> bool:
    """Whether a text says that it gives no answer: "I don't know", "not stated", "N/A"; a guess behind it is one.

    Where nothing was asked, "I don't know why he left." is a statement.
    """
    text = " ".join(text.replace("\u2019", "'").split())
    rest = text[match.end() :] if (match := POLITE.match(text)) else text
    match = NO_ANSWER.match(rest)
    if not match or len(rest.split()) > MOST_WORDS_WITHOUT_ANSWER:
        return False
    if not asked and SUBORDINATE.match(rest, match.end()):
        return False
    if match[0].lower() in BEGIN_STATEMENTS and len(rest.split()) > 3:
        return False
    guess = HOWEVER if match[0].lower().startswith("as an ai") else GUESS
    return not guess.search(rest, match.end())


def is_title(text: str) -> bool:
    """Whether each of several words has a capital: "Unknown Pleasures" is no way to give no answer."""
    words = re.findall(r"[^\W\d_]+", text)
    return len(words) > 1 and all(word[0].isupper() for word in words) and not text.isupper()


def says_nothing(text: str) -> bool:
    """Whether a text is an article, a small letter or one character again and again."""
    words = re.findall(r"\w+", text)
    if len(words) != 1:
        return False
    word = words[0].lower()
    return word == "the" or words[0] in ("a", "an") or (len(word) > 5 and len(set(word)) == 1)


YES_OR_NO = re.compile(r"\b(yes|no)\b(?=\W*\Z|[,.;:!\u2013\u2014])", re.I)
YES_OR_NO_FIRST = re.compile(r"\W*" + YES_OR_NO.pattern, re.I)
BARE_YES_OR_NO = re.compile(r"\W*(?:yes|no)\W*", re.I)


def right_choice(question: str, answer: str, reference: str) -> bool | None:
    """Whether the answer chooses what the reference does, by yes, no, letter or text; None if that cannot be told."""
    if BARE_YES_OR_NO.fullmatch(reference) and YES_OR_NO_FIRST.match(answer):
        said = YES_OR_NO.findall(answer)
        return None if len(said) > 1 else (said[0].lower() == "no") == ("no" in reference.lower())
    choices = _choices(question)
    letter = re.fullmatch(r"[(\[\s]*([A-H])[)\]\s.:]*", reference)
    wanted = _choice_of(reference, choices) or (letter[1] if letter and not choices else None)
    if wanted is None:
        return None
    letters = set(LETTER.findall(answer))
    if not choices and len(answer.split()) > 8 and not CHOSEN.search(answer):
        return None
    first = CHOSEN.search(answer)
    if NEGATED.search(CLAUSE_END.split(answer[: first.start()])[-1] if first else answer):
        return None
    if ONLY_LETTERS.match(answer) and len(letters) > 1:
        return False
    if re.search(r"\bA [a-z]", answer):  # an article
        letters.discard("A")
    if chosen := [one for one in CHOSEN.findall(answer) if not choices or one in choices]:
        return chosen[-1 if "leaving" in answer else 0] == wanted
    given = _choice_of(answer, choices) or (letters.pop() if len(letters) == 1 else None)
    return None if given is None or (choices and given not in choices) else given == wanted


def _choices(question: str) -> dict[str, str]:
    """The choices of a question, by their letters or numbers in capitals; none if there are fewer than two."""
    marks = list(CHOICE.finditer(question))
    ends = [mark.start() for mark in marks[1:]] + [len(question)]
    if len(marks) < 2:
        return {}
    return {mark[1].upper(): question[mark.end() : end].strip(" .,;\n") for mark, end in zip(marks, ends, strict=True)}


def _choice_of(text: str, choices: dict[str, str]) -> str | None:
    """The one choice that a text is or begins with, by its letter or its words."""
    bare = text.strip().strip("()[].*: ")
    if bare.upper() in choices:
        return bare.upper()
    if (mark := CHOICE.match(text.strip() + " ")) and mark[1].upper() in choices:
        return mark[1].upper()
    words = _spaced(text)
    named = [key for key, choice in choices.items() if choice and _spaced(choice) in words]
    return named[0] if len(named) == 1 else None


def _spaced(text: str) -> str:
    return " ".join(["", *re.findall(r"[^\W_]+", fold(text)), ""])
