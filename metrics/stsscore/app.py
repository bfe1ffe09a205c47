"""Demo of STSScore: predicted similarity of pairs of texts."""

from pathlib import Path

from semantic_metrics.demo.drawing import heat_map
from semantic_metrics.demo.page import Outcome, Page, launch, load_metric
from semantic_metrics.demo.reading import PREDICTIONS, REFERENCES, Columns, singular

SCRIPT = Path(__file__).with_name("stsscore.py")
ABOUT = """
How similar would people find two texts? A cross-encoder reads both and predicts their rating: 0 for nothing in common,
1 for the same meaning (Herbold, TMLR 2023). A contradiction rates lower than a paraphrase, but not at 0: it shares its
topic.
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


def score(texts: Columns) -> Outcome:
    """Score all rows."""
    result = load_metric(SCRIPT).compute(**texts)
    summary = f"Mean {result['stsscore']:.3f} over {len(result['scores']):,} rows; about 0 to 1, higher is better."
    if result["undefined"]:
        summary += f" {result['undefined']:,} of them have a blank text, so their scores compare nothing."
    if result["truncated"]:
        summary += f" {result['truncated']:,} of them were longer than the model reads and were cut."
    return Outcome(summary, result["signature"], {"stsscore": result["scores"]})


def explain(row: dict[str, str]) -> str:
    """Show by how much the score of a row falls without each token."""
    texts = singular(row)
    explanation = load_metric(SCRIPT).explain(**texts)
    heading = f"Score {explanation['score']:+.3f}, and by how much it falls without each token:"
    return f"<p>{heading}</p>{heat_map(explanation, texts)}"


PAGE = Page(
    title="STSScore",
    about=ABOUT,
    columns=(PREDICTIONS, REFERENCES),
    score=score,
    examples=EXAMPLES,
    added_columns=("stsscore",),
    explain=explain,
    max_rows=2000,
)

if __name__ == "__main__":
    launch(PAGE)
