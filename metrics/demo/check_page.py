"""A tab of a demo that checks each sentence of a text against its source."""

from functools import partial
from pathlib import Path

import gradio as gr

from semantic_metrics.html.checked_texts import checked_texts, render_check
from semantic_metrics.html.drawing import alert

from .page import QUEUED, QUOTA, load_metric
from .quota import visitor
from .reading import INPUT_ERRORS

ABOUT = """
Does the source say what the text says? Each sentence of a summary or a long answer is compared with the places of the
source that may say so. English only.
"""
EXAMPLE = (
    "The council of Harrow Bay decided to replace its old bridge. The new bridge will cost 64 million pounds. "
    "It will not open before 2029.",
    "The town council of Harrow Bay voted on Monday to replace the old harbour bridge. Engineers had found cracks in "
    "four of its main girders in March. A new concrete bridge will cost 46 million pounds, most of which the county "
    "will pay. Work is to begin next spring, and the council expects the new bridge to open in 2029. Until then, "
    "lorries of more than seven tonnes must take the longer road through Wexcombe.",
)
MAX_CHARACTERS = 100_000  # of both texts together, as other visitors wait meanwhile


def check(script: Path, text: str, source: str) -> str:
    """HTML of a text checked against its source by the metric of a script, or of the error."""
    try:
        if len(text) + len(source) > MAX_CHARACTERS:
            got = f"got {len(text) + len(source):,}; `semantic-metrics check` takes more"
            raise ValueError(f"expected at most {MAX_CHARACTERS:,} characters on this page, {got}")
        with QUOTA.charge(visitor()):
            result = load_metric(script).compute(predictions=[text], references=[source])
        return render_check(checked_texts(["Result"], [text], [source], result), result["signature"])
    except INPUT_ERRORS as error:
        return alert(error)


def fill_check_tab(script: Path) -> None:
    """Fill the tab that is being built, for the metric of a script."""
    gr.Markdown(ABOUT)
    with gr.Row():
        boxes = [
            gr.Textbox(text, label=label, lines=6, max_lines=20, min_width=320)
            for label, text in zip(("Text to check", "Source"), EXAMPLE, strict=True)
        ]
    button = gr.Button("Check", variant="primary")
    button.click(partial(check, script), boxes, gr.HTML(), **QUEUED)
