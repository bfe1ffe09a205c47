"""Demo of MATCHA: scores and token heat maps."""

from functools import partial
from pathlib import Path

from semantic_metrics.demo.page import Page, explain_score, launch, mean_outcome

ABOUT = """
Does one text say the same as another? The score runs from -1 to 1; higher is better, and contradictions fall low (Li et
al., Findings of ACL 2026). It sees which words a text has, not their order, and misses most numbers. English only.
"""
EXAMPLES = {
    "A paraphrase, and two contradictions caught": (
        "The judges allowed the appeal.\nThe court did not accept the appeal.\nThe court rejected the appeal.",
        "The court accepted the appeal.\nThe court accepted the appeal.\nThe court accepted the appeal.",
    ),
    "More contradictions caught": (
        "The children are sleeping in their beds.\nThe restaurant was empty.\nSales fell sharply in the spring.",
        "The children are running around in the yard.\nThe restaurant was packed with guests.\n"
        "Sales rose strongly in the spring.",
    ),
    "What it misses: numbers and word order": (
        "The bridge is 300 metres long.\nThe dog bites the man.",
        "The bridge is 800 metres long.\nThe man bites the dog.",
    ),
}


PAGE = Page(
    script=Path(__file__).with_name("matcha.py"),
    title="MATCHA",
    about=ABOUT,
    outcome=partial(mean_outcome, "matcha", "from -1 to 1", undefined="of them have a text without a known word"),
    examples=EXAMPLES,
    added_columns=("matcha",),
    explain=partial(explain_score, "what each token adds to it"),
    scale=(-1.0, 1.0),
    max_rows=100_000,
    max_characters=20_000_000,
    max_explained=20_000,
)

if __name__ == "__main__":
    launch(PAGE)
