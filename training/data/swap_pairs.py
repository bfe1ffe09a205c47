"""Generated NLI pairs: what they consist of, what is held out, and what the lexical probe keeps for itself."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pandas as pd

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)
HELD_OUT_ONE_IN = 8  # words, forms and relations
# pairs of the probe that are grammar, not words: any negated sentence contains them
GRAMMAR = {frozenset(pair) for pair in (("is not", "isn t"), ("is not", "is"))}
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=\w{3})(ies|es|ed|ing|s|d|e|y)$")


@dataclass(frozen=True)
class Pair:
    """A premise, a hypothesis and their label, one of LABELS; `kind` is what was changed.

    Keys are the words that were exchanged, or the name of the form; any of them may be held out.
    """

    premise: str
    hypothesis: str
    label: str
    kind: str
    keys: tuple[str, ...]

    @property
    def held_out(self) -> bool:
        """Whether nothing is trained on it."""
        return any(map(is_held_out, self.keys))


@cache
def is_held_out(key: str, one_in: int = HELD_OUT_ONE_IN) -> bool:
    """Whether the digest of a word, form, relation or question chooses it for development."""
    return hashlib.sha256(key.encode("utf-8")).digest()[0] % one_in == 0


def stems(text: str) -> str:
    """Words in lower case without their endings and articles, so that all forms of a word look alike."""
    words = [word for word in _WORD.findall(text.casefold()) if word not in ("a", "an", "the")]
    return " ".join(_ENDING.sub("", word) for word in words)


def embedded(form: str, text: str, proper: bool) -> str:
    """A sentence in a form such as "It is true that {}"; `proper`: its first word has a capital everywhere."""
    inner = text.strip().rstrip(".")
    inner = inner if proper else inner[0].lower() + inner[1:]
    full_stop = "." if text.strip().endswith(".") else ""
    filled = form.format(inner)
    return filled[0].upper() + filled[1:] + full_stop


class ProbeWords:
    """The words that the lexical probe (one_word.csv) exchanges: no pair for training may exchange the same."""

    def __init__(self, probe: pd.DataFrame) -> None:
        pairs = set()
        for row in probe.itertuples():
            for word in (row.same, row.other):
                spelt = frozenset(" ".join(_WORD.findall(text.casefold())) for text in (row.base, word))
                if spelt not in GRAMMAR:
                    pairs.add((f" {stems(row.base)} ", f" {stems(word)} "))
        self._by_word: dict[str, list[tuple[str, str]]] = {}
        for pair in sorted(pairs):
            for words in pair:
                self._by_word.setdefault(words.split()[0], []).append(pair)
        bodies = [stems(row.template.replace("{}", " qqq ")).split("qqq") for row in probe.itertuples()]
        self._templates = re.compile("|".join("^" + ".+".join(map(re.escape, body)) + "$" for body in bodies))

    def contains(self, pair: Pair) -> bool:
        """Whether the two texts exchange words of the probe, or one of them has its sentence."""
        texts = [f" {stems(text)} " for text in (pair.premise, pair.hypothesis)]
        return any(self._templates.match(text.strip()) for text in texts) or any(self._exchanges(*texts))

    def _exchanges(self, one: str, other: str) -> Iterator[bool]:
        for word in set(one.split()):
            for a, b in self._by_word.get(word, ()):
                for first, second in ((one, other), (other, one)):
                    yield a in first and b in second and (a not in second or b not in first)
