"""Demo of the set criteria: whether a sentence encoder treats overlap, difference and union as sets do."""

from pathlib import Path
from typing import Any

from semantic_metrics.demo.page import Outcome, Page, launch
from semantic_metrics.demo.reading import Column

ABOUT = """
A test of a sentence encoder, not of texts. The target is what A and B share (`overlap`), what only A says
(`difference`) or what both say together (`union`). Are their embeddings related as sets would be (Bansal et al.,
Set-Theoretic Compositionality of Sentence Embeddings)? Use some hundred samples of each operator; a few only
show how it works.
"""
COLUMNS = (
    Column("a", "A", ("text_a", "sentence1", "s1")),
    Column("b", "B", ("text_b", "sentence2", "s2")),
    Column("target", "Target", ("t", "output")),
    Column("operator", "Operator: overlap, difference or union", ("op",)),
)
HEADS = {
    "criterion": "criterion",
    "holds": "holds, %",
    "measure": "measure",
    "samples": "samples",
    "left_out": "left out",
    "condition": "condition",
}
EXAMPLES = {
    "One sample of each operator": (
        "It rains and blows.\nThe dog barks and the cat sleeps.\nThe court accepted the appeal.",
        "It rains and snows.\nThe cat sleeps.\nThe ruling was made public.",
        "It rains.\nThe dog barks.\nThe court accepted the appeal and made the ruling public.",
        "overlap\ndifference\nunion",
    ),
    "A contradiction in place of the overlap": (
        "It rains and blows.\nIt rains and blows.",
        "It rains and snows.\nIt rains and snows.",
        "It rains.\nThe sky is clear and calm.",
        "overlap\noverlap",
    ),
}


def list_shares(result: Any) -> Outcome:  # noqa: ANN401  (a CriteriaResult, which a Space has by another name)
    """Share of the samples that meet each criterion."""
    rows = result.rows()
    table = {head: [row[name] for row in rows] for name, head in HEADS.items()}
    counted = ", ".join(f"{count:,} of {operator}" for operator, count in result["operators"].items())
    summary = f"Samples: {counted}. Higher shares are better; a criterion without samples has no share."
    if result["truncated"]:
        summary += f" {result['truncated']:,} texts were longer than the encoder reads and were cut."
    return Outcome(summary, table=table)


PAGE = Page(
    script=Path(__file__).with_name("set_criteria.py"),
    title="Set criteria",
    about=ABOUT,
    columns=COLUMNS,
    outcome=list_shares,
    examples=EXAMPLES,
    max_rows=20_000,
    max_characters=5_000_000,
)

if __name__ == "__main__":
    launch(PAGE)
