"""Demo of Support: each sentence of a text beside the place of its source that decides."""

from functools import partial
from pathlib import Path

from semantic_metrics.demo.check_page import fill_check_tab
from semantic_metrics.demo.page import Page, explain_score, launch, mean_outcome

ABOUT = """
Does the source say what a summary or an answer says? Each sentence is compared with the places of the source that may
say so: supported, contradicted or not found. The score is the mean support of the sentences, from 0 to 1. English only.
"""
EXAMPLES = {
    "A paraphrase, another number, not in the source": (
        "The bridge is going to be replaced.\nThe new bridge costs 64 million pounds.\nThe mayor was born in Wexcombe.",
        "\n".join(["The council will replace the bridge. The new bridge will cost 46 million pounds."] * 3),
    ),
    "A denial": ("Nobody was hurt in the fire.", "Twelve people were hurt when a fire broke out in the hotel."),
}
SCRIPT = Path(__file__).with_name("support.py")
PAGE = Page(
    script=SCRIPT,
    title="Support",
    about=ABOUT,
    outcome=partial(
        mean_outcome,
        "support",
        "0 to 1",
        undefined="of them have a text or a source without a sentence and score 0",
        truncated="pairs were longer than the model reads and were cut",
        unread="sentences differ in characters that the model cannot read",
    ),
    examples=EXAMPLES,
    added_columns=("support",),
    explain=partial(explain_score, "by how much it falls without each word"),
    max_explained=1200,
    tabs={"Check a text": partial(fill_check_tab, SCRIPT)},
)

if __name__ == "__main__":
    launch(PAGE)
