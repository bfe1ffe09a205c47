"""Demo of Consensus: one score of two texts, and a verdict in words."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from semantic_metrics.demo.page import Outcome, Page, count_notes, explain_score, launch

ABOUT = """
Does a text say what its reference says? The score runs from 0 to 1, where people would call both the same. The verdict
says what differs: the text says less or more than its reference, both ("differs"), its opposite or another number
("contradicts"), or something else ("unrelated"). English only.
"""
ADDED_COLUMNS = ("consensus", "verdict", "similarity", "entailment", "contradiction", "matcha", "reason")
EXAMPLES = {
    "A paraphrase, a contradiction, another topic": (
        "A man plays a guitar.\nNobody is playing a guitar.\nThe vote was put off again.",
        "A man is playing the guitar.\nA man is playing the guitar.\nA man is playing the guitar.",
    ),
    "Says less, says more, differs": (
        "A dog is running.\nA brown dog is running along the beach at sunset.\nThe council met on Monday.",
        "A brown dog is running along the beach.\nA dog is running along the beach.\nThe council met in the town hall.",
    ),
    "Numbers and negations": (
        "The bridge is 300 metres long.\nThe court did not accept the appeal.",
        "The bridge is 800 metres long.\nThe court accepted the appeal.",
    ),
}


def judge(result: dict[str, Any]) -> Outcome:
    """Show the scores with their verdicts and parts."""
    count = len(result["scores"])
    verdicts = ", ".join(f"{number:,} {word!r}" for word, number in Counter(result["verdicts"]).most_common())
    summary = f"Mean of {count:,} scores: {result['consensus']:.3f} (0 to 1). Verdicts: {verdicts}."
    columns = {"consensus": result["scores"], "verdict": result["verdicts"], "reason": result["reasons"]}
    columns |= result["parts"]
    return Outcome(summary + count_notes(result), {name: columns[name] for name in ADDED_COLUMNS})


PAGE = Page(
    script=Path(__file__).with_name("consensus.py"),
    title="Consensus",
    about=ABOUT,
    outcome=judge,
    examples=EXAMPLES,
    added_columns=ADDED_COLUMNS,
    explain=partial(explain_score, "by how much it falls without each word"),
    max_explained=1200,
)

if __name__ == "__main__":
    launch(PAGE)
