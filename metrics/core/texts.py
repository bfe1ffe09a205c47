"""Texts: whether one has anything to judge, whether two are the same, and the scores of several references."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

import numpy as np

from semantic_metrics.core.inputs import References, Texts

INVISIBLE_CATEGORIES = {"Cc", "Cf", "Zs", "Zl", "Zp"}  # Unicode's controls, format characters and separators
MULTI_REFERENCE = ("best", "mean")
CACHED_CHARACTERS = 2**19  # of the texts whose results one cache keeps: results take ten to thirty bytes for each
ALWAYS_CACHED = 16  # texts, however long: what compares two texts reads each of them again and again

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def cached(texts: int) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorate a function of texts so that it keeps its results, `texts` of them at most, as `lru_cache` does.

    After CACHED_CHARACTERS characters it begins anew, as the results of long texts take megabytes, but it keeps
    ALWAYS_CACHED results at least.
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        kept = 0

        @lru_cache(texts)
        @wraps(function)
        def read(*given: Arguments.args, **named: Arguments.kwargs) -> Result:
            nonlocal kept
            if kept > CACHED_CHARACTERS and read.cache_info().currsize >= ALWAYS_CACHED:
                kept = 0
                read.cache_clear()
            kept += sum(len(text) for text in given if isinstance(text, str))
            return function(*given, **named)

        return cast(Callable[Arguments, Result], read)

    return decorate


def is_blank(text: str) -> bool:
    """Whether a text has no visible character: nothing but white space, controls and format characters."""
    return all(unicodedata.category(sign) in INVISIBLE_CATEGORIES for sign in text)


def is_punctuation(text: str) -> bool:
    """Whether a text has visible characters, and all of them are punctuation; "+" and pictures are not."""
    categories = {unicodedata.category(sign) for sign in text} - INVISIBLE_CATEGORIES
    return bool(categories) and all(category.startswith("P") for category in categories)


def can_compare(one: str, other: str) -> bool:
    """Whether two texts can say the same: none is blank, and none is punctuation beside words ("..." for an answer)."""
    return not is_blank(one) and not is_blank(other) and is_punctuation(one) == is_punctuation(other)


def flatten(references: References) -> tuple[Texts, np.ndarray]:
    """The texts of n strings or n lists of strings as one list, and (n,) int, how many of them each prediction has."""
    groups = references if isinstance(references[0], list) else [[text] for text in references]
    return [text for group in groups for text in group], np.array([len(group) for group in groups])


def best_or_mean(
    scores: np.ndarray, counts: np.ndarray, multi_reference: str, defined: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the scores of several references.

    Args:
        scores: (references,) float, in the order of `flatten`.
        counts: (n,) int, number of references of each prediction.
        multi_reference: one of MULTI_REFERENCE: the highest score or the mean.
        defined: (references,) bool, which scores count; None for all.

    Returns:
        (n,) scores, 0 if no score of a prediction is defined, and (n,) int, the index of the best reference, the first
        one of equals.
    """
    defined = np.ones(len(scores), dtype=bool) if defined is None else defined
    if len(scores) == len(counts):  # one reference each
        return np.where(defined, scores, 0.0).astype(np.float64), np.zeros(len(counts), dtype=int)
    ranked = np.where(defined, scores, -np.inf)
    merged, best, begin = np.zeros(len(counts)), np.zeros(len(counts), dtype=int), 0
    for i, count in enumerate(counts):
        group = slice(begin, begin + count)
        begin += count
        best[i] = ranked[group].argmax()
        if defined[group].any():
            known = np.sort(scores[group][defined[group]])  # sorted: the mean is the same in any order
            merged[i] = known[-1] if multi_reference == "best" else known.mean()
    return merged, best
