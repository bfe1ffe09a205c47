"""Whether a text has anything to judge, and whether two texts are the same."""

import unicodedata

INVISIBLE_CATEGORIES = {"Cc", "Cf", "Zs", "Zl", "Zp"}  # Unicode's controls, format characters and separators


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


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal but for white space; blank ones are not."""
    words = one.split()
    return bool(words) and words == other.split()
