"""Demo of STSScore: predicted similarity of pairs of texts."""

from functools import partial
from pathlib import Path

from semantic_metrics.demo.page import Page, explain_score, launch, mean_outcome

ABOUT = """
How similar would people find two texts? A small model reads both and predicts their rating: 0 for nothing in common,
1 for the same meaning (Herbold, TMLR 2023). A contradiction rates lower than a paraphrase, but not at 0: it shares its
topic. English only.
"""
EXAMPLES = {
    "A paraphrase, a contradiction caught, another topic": (
        "A man plays a guitar.\nNobody is playing a guitar.\nThe vote was put off again.",
        "A man is playing the guitar.\nA man is playing the guitar.\nA man is playing the guitar.",
    ),
    "More contradictions caught": (
        "The children are sleeping in their beds.\nA woman is standing alone in the desert.",
        "The children are running around in the yard.\nA woman is swimming in a crowded pool.",
    ),
    "What it misses: who does what to whom": ("The dog bites the man.", "The man bites the dog."),
}


PAGE = Page(
    script=Path(__file__).with_name("stsscore.py"),
    title="STSScore",
    about=ABOUT,
    outcome=partial(mean_outcome, "stsscore", "about 0 to 1", undefined="of them compare a blank text"),
    examples=EXAMPLES,
    added_columns=("stsscore",),
    explain=partial(explain_score, "by how much it falls without each word"),
    max_rows=2000,
    max_characters=1_000_000,
    max_explained=1200,
)

if __name__ == "__main__":
    launch(PAGE)
