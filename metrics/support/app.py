"""Demo of Support: each sentence of a text beside the place of its source that decides."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from semantic_metrics.demo.page import QUEUED, QUOTA, Outcome, Page, explain_score, launch, load_metric, mean_outcome
from semantic_metrics.demo.quota import visitor
from semantic_metrics.demo.reading import INPUT_ERRORS
from semantic_metrics.html.checked_texts import MARKS, checked_texts, render_check
from semantic_metrics.html.drawing import alert

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
CHECK_ABOUT = """
Does the source say what the text says? Each sentence of a summary or a long answer is compared with the places of the
source that may say so. English only.
"""
CHECK_EXAMPLE = (
    "The council of Harrow Bay decided to replace its old bridge. The new bridge will cost 64 million pounds. "
    "It will not open before 2029.",
    "The town council of Harrow Bay voted on Monday to replace the old harbour bridge. Engineers had found cracks in "
    "four of its main girders in March. A new concrete bridge will cost 46 million pounds, most of which the county "
    "will pay. Work is to begin next spring, and the council expects the new bridge to open in 2029. Until then, "
    "lorries of more than seven tonnes must take the longer road through Wexcombe.",
)
SUPPORTED, CONTRADICTED, NOT_FOUND, SKIPPED = MARKS  # verdicts
MAX_CHARACTERS = 100_000  # of both texts together, as other visitors wait meanwhile
SCRIPT = Path(__file__).with_name("support.py")


def check(text: str, source: str) -> str:
    """HTML of a text checked against its source, or of the error."""
    try:
        if len(text) + len(source) > MAX_CHARACTERS:
            got = f"got {len(text) + len(source):,}; `semantic-metrics check` takes more"
            raise ValueError(f"expected at most {MAX_CHARACTERS:,} characters on this page, {got}")
        with QUOTA.charge(visitor()):
            result = load_metric(SCRIPT).compute(predictions=[text], references=[source])
        return render_check(checked_texts(["Result"], [text], [source], result), result["signature"])
    except INPUT_ERRORS as error:
        return alert(error)


def fill_check_tab() -> None:
    """Fill the tab that is being built."""
    gr.Markdown(CHECK_ABOUT)
    with gr.Row():
        boxes = [
            gr.Textbox(text, label=label, lines=6, max_lines=20, min_width=320)
            for label, text in zip(("Text to check", "Source"), CHECK_EXAMPLE, strict=True)
        ]
    button = gr.Button("Check", variant="primary")
    button.click(check, boxes, gr.HTML(), **QUEUED)


def judge(result: dict[str, Any]) -> Outcome:
    """Show the mean supports, each with the worst verdict of its sentences and how many of them have it."""
    outcome = mean_outcome(
        "support",
        "0 to 1",
        result,
        undefined="of them have a text or a source without a sentence and score 0",
        truncated="pairs were longer than the model reads and were cut",
        unread="sentences differ in characters that the model cannot read",
    )
    verdicts = [_worst([one["verdict"] for one in sentences]) for sentences in result["sentences"]]
    return replace(outcome, added={**outcome.added, "verdict": verdicts})


def _worst(verdicts: list[str]) -> str:
    worst = next((one for one in (CONTRADICTED, NOT_FOUND, SUPPORTED) if one in verdicts), SKIPPED)
    claims = len(verdicts) - verdicts.count(SKIPPED)
    return f"{worst} ({verdicts.count(worst)} of {claims})" if claims > 1 else worst


PAGE = Page(
    script=SCRIPT,
    title="Support",
    about=ABOUT,
    outcome=judge,
    examples=EXAMPLES,
    added_columns=("support", "verdict"),
    explain=partial(explain_score, "by how much it falls without each word"),
    max_explained=1200,
    tabs={"Check a text": fill_check_tab},
)

if __name__ == "__main__":
    launch(PAGE)
