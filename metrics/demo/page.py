"""The page of a demo: texts or a CSV file in; scores, explanations, a histogram and a CSV file out.

The app.py of each metric fills in a `Page` and launches it. The environment variable SEMANTIC_METRICS_CHECKPOINT names
another checkpoint than the default one: a folder (with a slash) or a Hub id.
"""

import os
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
import pandas as pd
from gradio.components import Component
from gradio.events import Dependency
from starlette.middleware import Middleware

from semantic_metrics.html.drawing import alert, histogram
from semantic_metrics.html.heat_map import draw_heat_maps

from .quota import BodyLimit, Quota, visitor
from .reading import (
    INPUT_ERRORS,
    PREDICTIONS,
    REFERENCES,
    Column,
    Columns,
    read_chosen,
    read_csv,
    read_typed,
    write_csv,
)

CHECKPOINT_VARIABLE = "SEMANTIC_METRICS_CHECKPOINT"
SESSION_SECONDS = 3600  # how long the server keeps a visitor's texts and files
MAX_TABLE_ROWS = 1000  # on the page; the file to download has them all
ENDPOINT = "score"  # of the API: Client(URL).predict(predictions=[...], references=[...], api_name="/score")
MAX_QUOTED = 80  # characters of a value in an error message
NARROW_CHARACTERS = 22  # the longest cell of a narrow column, on two lines
MAX_UPLOAD = 20 * 2**20  # bytes of a visitor's CSV file
MAX_REQUEST = 2**26  # bytes of a request: a file, or texts of the longest kind that a page takes
LIMITS = {"max_file_size": MAX_UPLOAD, "app_kwargs": {"middleware": [Middleware(BodyLimit, most=MAX_REQUEST)]}}
MAX_WAITING = 20  # jobs of all visitors: as one runs at a time, the last would wait for half an hour

CSS = """
.sm-alert {padding: .6em .8em; border: 2px solid currentColor; border-radius: 6px; overflow-wrap: anywhere}
.sm-small {font-size: .8em; overflow-wrap: anywhere}
.sm-signed {border-collapse: collapse; width: 100%}
.sm-signed, .sm-signed tr, .sm-signed td {border: 0 !important} .sm-signed td:first-child {min-width: 7.5em}
.sm-signed td {padding: 2px 10px 2px 0 !important; font-variant-numeric: tabular-nums; min-width: 3.5em}
.sm-signed td:nth-child(2) {text-align: right} .sm-signed td:last-child {width: 100%} .sm-bar {height: .9em}
button[role=tab].selected {color: var(--primary-700)} .dark button[role=tab].selected {color: var(--primary-300)}
"""

NOTES = {  # on counts of a result, of which each metric has some
    "undefined": "of them have a blank text and score 0",
    "truncated": "of them were longer than the model reads and were cut",
    "unread": "differ in characters that the model cannot read",
    "thoughts": "have a part in <think>, which is not judged",
}
QUIET = {"api_visibility": "private", "show_progress": "hidden"}
ONE_AT_A_TIME = {"concurrency_id": "metric", "concurrency_limit": 1}
QUEUED = {"api_visibility": "private", **ONE_AT_A_TIME}

QUOTA = Quota()

Read = Callable[..., tuple[Columns, Columns]]  # from the inputs to texts by argument, and all columns of the file


@dataclass(frozen=True)
class Outcome:
    """Result of a metric for some rows."""

    summary: str  # one or two sentences, plain text
    # columns to add to the rows, one value for each row; the first column is drawn as the histogram
    added: dict[str, list[Any]] = field(default_factory=dict)
    table: dict[str, list[Any]] = field(default_factory=dict)  # table to show in place of the rows


@dataclass(frozen=True)
class Page:
    """The differences of one demo from another."""

    script: Path  # script of the metric
    title: str  # title of the page
    about: str  # introduction below the title, Markdown
    outcome: Callable[[dict[str, Any]], Outcome]  # function from the result of `compute` to what the page shows
    examples: Mapping[str, tuple[str, ...]]  # examples by label, each with the lines of text for every column
    columns: tuple[Column, ...] = (PREDICTIONS, REFERENCES)  # columns that `compute` takes
    added_columns: tuple[str, ...] = ()  # names of the columns that `outcome` adds to the rows
    # function from the metric and the texts of one row, by argument of the metric's `explain`, to HTML; None for a
    # metric that explains no rows
    explain: Callable[[evaluate.Metric, dict[str, str]], str] | None = None
    scale: tuple[float, float] = (0.0, 1.0)  # lowest and highest score
    max_rows: int = 1000  # most rows that are scored at a time, as other visitors wait meanwhile
    max_characters: int = 300_000  # most characters of all texts that are scored at a time
    max_explained: int = 600  # most characters of the texts of a row that is explained
    # further tabs by name, each with the function that fills it
    tabs: dict[str, Callable[[], None]] = field(default_factory=dict)


@cache
def load_metric(script: Path) -> evaluate.Metric:
    """Load the metric of a script, with the checkpoint that the environment names."""
    return evaluate.load(str(script), os.environ.get(CHECKPOINT_VARIABLE) or None)


def compute(page: Page, texts: Columns) -> dict[str, Any]:
    """Score the texts of a visitor, by argument of the metric."""
    count = max(map(len, texts.values()))
    if count > page.max_rows:
        raise ValueError(f"expected at most {page.max_rows:,} rows on this page, got {count:,}")
    characters = sum(len(text) for column in texts.values() for text in column)
    if characters > page.max_characters:
        limit = f"{page.max_characters:,} characters at a time on this page"
        raise ValueError(f"expected at most {limit}, got {characters:,}")
    with QUOTA.charge(visitor()):
        return load_metric(page.script).compute(**texts)


def count_notes(result: dict[str, Any], **notes: str) -> str:
    """Sentences on the counts of a result that are above 0, by what NOTES and `notes` say behind each count."""
    return "".join(f" {result[name]:,} {note}." for name, note in {**NOTES, **notes}.items() if result.get(name))


def mean_outcome(name: str, scale: str, result: dict[str, Any], **notes: str) -> Outcome:
    """Outcome of a metric that gives each row a score; `notes` are those of `count_notes`."""
    summary = f"Mean {result[name]:.3f} over {len(result['scores']):,} rows; {scale}, higher is better."
    return Outcome(summary + count_notes(result, **notes), {name: result["scores"]})


def explain_score(meaning: str, metric: evaluate.Metric, row: dict[str, str]) -> str:
    """HTML of a row's score and its heat map, whose numbers have a meaning."""
    explanation = metric.explain(**row)
    return f"<p>Score {explanation['score']:+.3f}, and {meaning}:</p>{draw_heat_maps(explanation, row)}"


class Results:
    """The lower half of the page, hidden until there are results."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.message = gr.HTML(visible=False)
        self.rows = gr.State({}, time_to_live=SESSION_SECONDS)  # texts by column
        with gr.Column(visible=False) as self.panel:
            self.summary = gr.HTML()
            self.table = gr.Dataframe(interactive=False, wrap=True, max_height=420, label="Results")
            explained = page.explain is not None
            self.row = gr.Number(1, label="Row to explain (or select it in the table)", precision=0, visible=explained)
            self.reasons = gr.HTML(visible=explained)
            self.plot = gr.HTML()
            self.file = gr.DownloadButton("Download all rows as CSV")
        self.all = [self.message, self.panel, self.rows, self.summary, self.table, self.row, self.plot, self.file]
        if explained:
            self.row.input(self.explain, [self.rows, self.row], self.reasons, **QUEUED)
            self.table.select(pick_row, None, self.row, **QUIET).then(
                self.explain, [self.rows, self.row], self.reasons, **QUEUED
            )

    def on(self, event: Callable[..., Dependency], read: Read, inputs: list[Component]) -> None:
        """When `event` happens, score what `read` makes of the inputs and show the results."""
        done = event(partial(self.run, read), inputs, self.all, **QUEUED)
        if self.page.explain is not None:
            done.then(self.explain, [self.rows, self.row], self.reasons, **QUEUED)

    def run(self, read: Read, *values: object) -> list[Any]:
        """Read and score the inputs; returns a value for each component in `all`."""
        try:
            texts, given = read(*values)
            count = len(next(iter(texts.values())))
            for name in self.page.added_columns:
                if name in given:
                    raise ValueError(f"the file: expected no column named {name!r}, which the page will add")
            result = compute(self.page, texts)
            outcome = self.page.outcome(result)
            path = write_csv(self.file.GRADIO_CACHE, "scores.csv", outcome.table or {**given, **outcome.added})
        except INPUT_ERRORS as error:
            return [show_message(error), gr.Column(visible=False), {}, *[gr.skip()] * (len(self.all) - 3)]
        # verdict and score are next to the row number, as a phone shows little more
        first = dict(reversed(list(outcome.added.items())[:2]))
        rows: Columns = outcome.table or {"row": list(range(1, count + 1)), **first, **texts, **outcome.added}
        table = pd.DataFrame(rows)
        shown = table.head(MAX_TABLE_ROWS)
        cut = f" The table shows the first {len(shown):,} of {len(table):,} rows." if len(shown) < len(table) else ""
        summary = f"<p>{escape(outcome.summary)}{cut}</p><p class='sm-small'>{escape(result['signature'])}</p>"
        plot = histogram(next(iter(outcome.added.values())), self.page.scale) if outcome.added else ""
        return [show_message(""), gr.Column(visible=True), texts, summary, show_table(shown), 1, plot, path]

    def explain(self, rows: Columns, row: int | None) -> str:
        """HTML that explains the score of a row, counted from 1."""
        count = len(next(iter(rows.values()), []))
        if not count:
            return ""
        try:
            if type(row) is not int or not 1 <= row <= count:
                raise ValueError(f"row: expected a number from 1 to {count}, got {row}")
            texts = {name.removesuffix("s"): column[row - 1] for name, column in rows.items()}
            characters = sum(map(len, texts.values()))
            if characters > self.page.max_explained:
                limit = f"a row of at most {self.page.max_explained:,} characters to explain on this page"
                raise ValueError(f"row: expected {limit}, got {characters:,}; `semantic-metrics explain` takes more")
            with QUOTA.charge(visitor()):
                assert self.page.explain is not None, "the button is there where it explains"
                return self.page.explain(load_metric(self.page.script), texts)
        except INPUT_ERRORS as error:
            return alert(error)


def show_message(error: Exception | str) -> gr.HTML:
    """Show an error message; an empty one hides the place for it."""
    return gr.HTML(alert(error), visible=bool(str(error)))


def pick_row(event: gr.SelectData) -> int:
    """Number of the row that was selected, read from its first cell, as the table may be sorted."""
    return int(event.row_value[0])


def show_table(table: pd.DataFrame) -> gr.Dataframe:
    """Table with rounded numbers, all else as plain text in columns that are wide enough to read on a phone."""
    numbers = [kind.kind in "iuf" for kind in table.dtypes]
    widest = [table[name].astype(str).str.len().max() for name in table]
    return gr.Dataframe(
        table.round(4),
        datatype=["number" if number else "str" for number in numbers],
        column_widths=[
            "60px" if name == "row" else "130px" if number or width <= NARROW_CHARACTERS else "360px"
            for name, number, width in zip(table, numbers, widest, strict=True)
        ],
    )


def choose(columns: tuple[Column, ...], path: str | None) -> list[Any]:
    """Message and drop-downs for a new file: each column gets the name that fits it, else one that fits no other."""
    try:
        header = list(read_csv(path)) if path else []
        if path and len(header) < len(columns):
            raise ValueError(f"the file: expected at least {len(columns)} columns, got {', '.join(header)}")
    except INPUT_ERRORS as error:
        return [show_message(error), *[gr.Dropdown(choices=[], value=None) for _ in columns]]
    fitting: dict[str, str] = {}
    for column in columns:
        left = {name.strip().lower(): name for name in reversed(header) if name not in fitting.values()}
        if guess := next((guess for guess in (column.name, *column.guesses) if guess in left), None):
            fitting[column.name] = left[guess]
    others = iter([name for name in header if name not in fitting.values()])
    chosen = [fitting.get(column.name) or next(others, None) for column in columns]
    return [show_message(""), *[gr.Dropdown(choices=header, value=name) for name in chosen]]


def build(page: Page) -> gr.Blocks:
    """Build the page of a demo."""
    with gr.Blocks(
        title=page.title, analytics_enabled=False, delete_cache=(SESSION_SECONDS, SESSION_SECONDS)
    ) as blocks:
        gr.Markdown(f"# {page.title}\n{page.about}")
        gr.api(endpoint(page), api_name=ENDPOINT, **ONE_AT_A_TIME)
        if not page.tabs:
            _fill_score_tab(page)
            return blocks
        with gr.Tabs():
            tabs: dict[str, Callable[[], None]] = {"Score": partial(_fill_score_tab, page), **page.tabs}
            for name, fill in tabs.items():
                with gr.Tab(name):
                    fill()
    return blocks


def endpoint(page: Page) -> Callable[..., dict[str, Any]]:
    """The function of a page's API: lists of texts, by argument of the metric, to the result of `compute`.

    The limits are those of the page. A `gr.Error` says what is invalid.
    """
    names = [column.name for column in page.columns]

    def score(*columns: object) -> dict[str, Any]:
        texts: dict[str, list[str]] = {}
        try:
            for name, column in zip(names, columns, strict=True):
                if not isinstance(column, list) or not all(isinstance(text, str) for text in column):
                    raise ValueError(f"{name}: expected a list of strings, got {str(column)[:MAX_QUOTED]!r}")
                texts[name] = column
            return compute(page, texts)
        except INPUT_ERRORS as error:
            raise gr.Error(str(error), print_exception=False) from None

    # gradio reads the names and types of the arguments here
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=list[str]) for name in names]
    function: Any = score  # a function takes any attribute, which its type does not say
    function.__signature__ = Signature(parameters, return_annotation=dict)
    score.__annotations__ = {**dict.fromkeys(names, list[str]), "return": dict}
    score.__doc__ = f"Scores of {page.title}: {', '.join(names)} are lists of strings of one length."
    return score


def _fill_score_tab(page: Page) -> None:
    first = next(iter(page.examples.values()))
    with gr.Tabs():
        with gr.Tab("Type or paste"):
            with gr.Row():
                boxes = [
                    gr.Textbox(text, label=f"{column.label}, one per line", lines=4, max_lines=12, min_width=320)
                    for column, text in zip(page.columns, first, strict=True)
                ]
            whole = gr.Checkbox(label="One text in each box, with its line breaks")
            typed = gr.Button("Score", variant="primary")
            examples = gr.Examples(
                [[False, *texts] for texts in page.examples.values()],
                [whole, *boxes],
                example_labels=list(page.examples),
                cache_examples=False,
            )
        with gr.Tab("Upload a CSV"):
            message = gr.HTML(visible=False)
            file = gr.File(label="CSV file (UTF-8, commas, a header line)", file_types=[".csv"], height=120)
            with gr.Row():
                chosen = [gr.Dropdown([], label=f"Column: {one.label}", interactive=True) for one in page.columns]
            file.change(partial(choose, page.columns), file, [message, *chosen], **QUIET)
            uploaded = gr.Button("Score the file", variant="primary")
    whole.change(partial(_label_boxes, page.columns), whole, boxes, **QUIET)
    results = Results(page)
    results.on(typed.click, partial(_read_boxes, page.columns), [whole, *boxes])
    results.on(examples.load_input_event.then, partial(_read_boxes, page.columns), [whole, *boxes])
    results.on(uploaded.click, partial(read_chosen, page.columns), [file, *chosen])


def _read_boxes(columns: tuple[Column, ...], whole: bool, *boxes: str | None) -> tuple[Columns, Columns]:
    return read_typed(columns, *boxes, whole=whole)


def _label_boxes(columns: tuple[Column, ...], whole: bool) -> list[gr.Textbox]:
    """The boxes with labels that say what is read of them."""
    return [gr.Textbox(label=column.label if whole else f"{column.label}, one per line") for column in columns]


def launch(page: Page) -> None:
    """Serve the page as a script does: `python app.py --host NAME --port N`."""
    parser = ArgumentParser(description=f"Serve the page of {page.title} until Ctrl-C.")
    parser.add_argument("--host", help="Address to serve at; default: GRADIO_SERVER_NAME or 127.0.0.1.")
    parser.add_argument("--port", type=int, help="Its port; default: GRADIO_SERVER_PORT or 7860.")
    given = parser.parse_args()
    serve(page, given.host, given.port)


def serve(page: Page, host: str | None = None, port: int | None = None) -> None:
    """Serve the page, by default at GRADIO_SERVER_NAME and GRADIO_SERVER_PORT; no other host is asked for anything."""
    fonts = {"font": ["system-ui", "sans-serif"], "font_mono": ["ui-monospace", "monospace"]}
    build(page).queue(max_size=MAX_WAITING).launch(
        server_name=host,
        server_port=port,
        theme=gr.themes.Default(primary_hue="blue", **fonts),
        css=CSS,
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        **LIMITS,
    )
