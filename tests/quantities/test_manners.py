"""What chat models put around an answer is taken away once, whatever is inside of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.quantities.characters import unfold
from semantic_metrics.quantities.manners import MOST_LAYERS, legible, plain, without_thoughts

MARKUP = ("**", "__", "`", "*", "# ", "\n", "Sure! ", "Answer: ", "\\boxed{", "}", "$", "Paris", "5", "-", "<think>")
MARKUP += (
    '{"answer": "',
    '"}',
    "</think>",
    "\u0130",
    "\u00b2",
    "\uff0a",
    "\ufb01",
    "\u0301",
    "\u200b",
    "\u2212",
    "\u2460",
    "\u2705",
)
texts = st.lists(st.sampled_from(MARKUP) | st.characters(), max_size=12).map("".join)


@settings(deadline=None, max_examples=200)
@given(text=texts)
def test_what_is_plain_stays_as_it_is(text: str) -> None:
    for bare in (unfold, plain):
        assert bare(bare(text)) == bare(text)
    assert legible(plain(text)) == legible(text)
    spoken, _ = without_thoughts([text])
    assert without_thoughts(spoken) == (spoken, 0)
    assert len(spoken[0]) == len(text)
    assert all(kept in (" ", sign) for kept, sign in zip(spoken[0], text, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`**Paris**`", "Paris"),
        ("Sure! **Answer: Paris**", "Paris"),
        (r"\boxed{\boxed{5}}", "5"),
        ("\uff0a\uff0aParis\uff0a\uff0a", "Paris"),
        ("\ufb01\u0301", "f\u00ed"),
        ("\u2212\u200b\u2460", "-1"),
        ("**`Paris`**", "Paris"),
        ("***Paris***", "*Paris*"),
        ('{"answer": "**Paris**"}', "Paris"),
        ('{"Final_Answer": 1.10}', "1.10"),
        ('{"answer": true}', None),
        ('{"answer": "5", "unit": "kg"}', None),
        ('{"city": "Paris"}', None),
        (r"\boxed{" * (MOST_LAYERS + 1) + "5" + "}" * (MOST_LAYERS + 1), None),
    ],
)
def test_layers_of_markup_go_all_or_none(text: str, expected: str | None) -> None:
    assert plain(text) == (text if expected is None else expected)


def test_a_thought_ends_where_it_ends_beside_letters_that_grow_in_lower_case() -> None:
    assert without_thoughts(["\u0130\u0130\u0130</think>Rome"]) == ([" " * 11 + "Rome"], 1)
