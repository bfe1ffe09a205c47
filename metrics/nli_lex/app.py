"""Demo of NLI+lex: whether free-form answers are right, and why."""

from pathlib import Path
from typing import Any

import evaluate

from semantic_metrics.demo.page import Outcome, Page, count_notes, launch
from semantic_metrics.demo.reading import PREDICTIONS, REFERENCES, Column
from semantic_metrics.html.drawing import signed_table
from semantic_metrics.html.heat_map import draw_heat_maps

ABOUT = """
Is an answer right, given the question and a right answer? A small model judges whether one answer follows from the
other, and their words are compared. Above 0.5 the answer counts as correct (Balamurali and Cheng, 2025). English only.
"""
QUESTIONS = Column("questions", "Questions", ("question", "query", "prompt"))
ADDED_COLUMNS = ("nli_lex", "correct", "entailment", "lexical_match")
EXAMPLES = {
    "A right answer, a wrong one, and a contradiction caught": (
        "Who painted the Mona Lisa?\nWho painted the Mona Lisa?\nIs the drug safe for pregnant women?",
        "It was painted by Leonardo da Vinci around 1503.\nIt was painted by Michelangelo.\nYes, it is safe.",
        "Leonardo da Vinci\nLeonardo da Vinci\nNo, it is not safe.",
    ),
    "Numbers": (
        "When did the war end?\nWhen did the war end?",
        "It ended in 1945.\nIt began in 1939 and ended in 1946.",
        "1945\n1945",
    ),
    "A denial and another year caught": (
        "Who painted the Mona Lisa?\nWhen did World War II end?",
        "Not Leonardo da Vinci, but Michelangelo.\n1944",
        "Leonardo da Vinci\n1945",
    ),
}


def judge(result: dict[str, Any]) -> Outcome:
    """Count the correct answers."""
    count = len(result["scores"])
    summary = f"{sum(result['correct']):,} of {count:,} answers are judged correct ({result['nli_lex']:.1%})."
    cut = "were not read in full, as the question was cut"
    summary += count_notes(result, blank="are blank, which counts as incorrect", truncated=cut)
    columns = {**result, "nli_lex": result["scores"]}
    return Outcome(summary, {name: columns[name] for name in ADDED_COLUMNS})


def explain(metric: evaluate.Metric, row: dict[str, str]) -> str:
    """Show what each feature adds to the judgement of a row, and each token."""
    result = metric.compute(**{f"{name}s": [text] for name, text in row.items()}, output="reasons")
    verdict = "correct" if result["correct"][0] else "incorrect"
    heading = (
        f"Judged {verdict}, p = {result['scores'][0]:.3f}. What each feature adds to the log odds of being correct:"
    )
    words = draw_heat_maps(metric.explain(**row), row)
    return f"{signed_table(result['reasons'][0], heading)}<p>By how much p falls without each word:</p>{words}"


PAGE = Page(
    script=Path(__file__).with_name("nli_lex.py"),
    title="NLI+lex",
    about=ABOUT,
    columns=(QUESTIONS, PREDICTIONS, REFERENCES),
    outcome=judge,
    examples=EXAMPLES,
    added_columns=ADDED_COLUMNS,
    explain=explain,
)

if __name__ == "__main__":
    launch(PAGE)
