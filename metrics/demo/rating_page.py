"""A tab on which a person rates pairs blind, in random order; `semantic-metrics validate` reads its file."""

from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from typing import Any

import gradio as gr
import numpy as np

from .page import QUIET, SESSION_SECONDS, show_message, upload
from .reading import INPUT_ERRORS, PREDICTIONS, REFERENCES, Columns, read_chosen, write_csv

RATING_COLUMN = "rating"
SEED_LIMIT = 2**63  # seeds are below it: signed integers of 64 bits
SCALES = {"0 to 100": (0, 100), "1 to 5": (1, 5)}
PAIR = (REFERENCES, PREDICTIONS)  # no other column is shown: it may name the author or give a score
ABOUT = """
Rate how well each prediction says what its reference says. You see only the two texts, in random order. The file that
you download, at the end or before, has the rows that you rated and a column `rating`. With that file,
`semantic-metrics validate FILE --human rating` shows which metric agrees with you most.
"""


@dataclass(frozen=True)
class Session:
    """Pairs that one person rates."""

    table: Columns  # columns of the file
    pairs: Columns  # references and predictions
    order: tuple[int, ...]  # row numbers in the order in which the pairs are shown
    scale: tuple[int, int]  # lowest and highest rating
    place: int = 0  # position in `order` of the pair on the page
    ratings: dict[int, float] = field(default_factory=dict)  # ratings by row number

    @property
    def row(self) -> int:
        """Number of the row on the page."""
        return self.order[self.place]

    def move(self, steps: int) -> "Session":
        """Session some pairs further on (or back), but not beyond the first or the last."""
        return replace(self, place=min(max(self.place + steps, 0), len(self.order) - 1))

    def rate(self, rating: float | None) -> "Session":
        """Session with a rating for the pair on the page, moved to the next pair."""
        low, high = self.scale
        if rating is None or not low <= rating <= high:
            raise ValueError(f"rating: expected a number from {low} to {high}, got {rating}")
        return replace(self, ratings={**self.ratings, self.row: rating}).move(1)

    def rated(self) -> dict[str, list[Any]]:
        """Rows of the file that have a rating, in its order, with a column for it."""
        rows = sorted(self.ratings)
        kept = {name: [values[row] for row in rows] for name, values in self.table.items()}
        return {**kept, RATING_COLUMN: [self.ratings[row] for row in rows]}


def begin(path: str | None, reference: str | None, prediction: str | None, scale: str, seed: float | None) -> Session:
    """Read a file and draw the order."""
    pairs, table = read_chosen(PAIR, path, reference, prediction)
    if RATING_COLUMN in table:
        raise ValueError(f"the file: expected no column named {RATING_COLUMN!r}, which the ratings are written to")
    if scale not in SCALES:
        raise ValueError(f"scale: expected one of {', '.join(SCALES)}, got {scale!r}")
    if seed is None or not 0 <= seed < SEED_LIMIT or seed != int(seed):
        raise ValueError(f"seed: expected a whole number from 0, got {seed}")
    rows = np.random.default_rng(int(seed)).permutation(len(pairs["references"]))
    return Session(table, pairs, tuple(rows.tolist()), SCALES[scale])


def show(session: Session) -> str:
    """HTML of the pair on the page, and of the progress."""
    count, rated = len(session.order), len(session.ratings)
    texts = {column.label.removesuffix("s"): session.pairs[column.name][session.row] for column in PAIR}
    shown = "".join(
        f"<b>{label}</b><div class='sm-text' dir='auto'>{escape(text) or '<i>(empty)</i>'}</div>"
        for label, text in texts.items()
    )
    done = " All pairs are rated: download the file." if rated == count else ""
    return f"<p>Pair {session.place + 1} of {count}; {rated} rated.{done}</p>{shown}"


class RatingTab:
    """Components of the tab and their callbacks, each of which returns a value for every component in `all`."""

    def __init__(self) -> None:
        gr.Markdown(ABOUT)
        self.message = gr.HTML(visible=False)
        file, chosen = upload(PAIR, self.message)
        with gr.Row():
            scale = gr.Radio(list(SCALES), value="0 to 100", label="Scale")
            seed = gr.Number(0, label="Seed of the order", precision=0)
        start = gr.Button("Begin", variant="primary")
        self.replace = gr.Button(visible=False, variant="stop")
        self.session = gr.State(None, time_to_live=24 * SESSION_SECONDS)
        with gr.Column(visible=False) as self.panel:
            self.pair = gr.HTML()
            self.rating = gr.Number(None, label="Rating")
            with gr.Row():
                back = gr.Button("Back")
                skip = gr.Button("Skip")
                save = gr.Button("Save and next", variant="primary")
            self.file = gr.DownloadButton("Download the ratings as CSV", interactive=False)
        self.all = [self.message, self.replace, self.session, self.panel, self.pair, self.rating, self.file]
        given = [self.session, file, *chosen, scale, seed]
        start.click(partial(self.begin, False), given, self.all, **QUIET)
        self.replace.click(partial(self.begin, True), given, self.all, **QUIET)
        gr.on([save.click, self.rating.submit], self.save, [self.session, self.rating], self.all, **QUIET)
        back.click(partial(self.move, -1), self.session, self.all, **QUIET)
        skip.click(partial(self.move, 1), self.session, self.all, **QUIET)

    def begin(self, discard: bool, session: Session | None, *given: Any) -> list[Any]:
        """Read the file and show the first pair; ratings are discarded only if `discard` says so."""
        try:
            new = begin(*given)
        except INPUT_ERRORS as error:
            return self.refuse(error)
        if session is None or not session.ratings or discard:
            return self.show(new)
        count = len(session.ratings)
        question = f"Rated pairs: {count:,}. Download them first, or discard them with the button below Begin."
        button = gr.Button(f"Discard {count:,} rated and begin again", visible=True)
        message = gr.HTML(f"<p class='sm-alert' role='alert'>{question}</p>", visible=True)
        return [message, button, *[gr.skip()] * (len(self.all) - 2)]

    def save(self, session: Session | None, rating: float | None) -> list[Any]:
        """Save the rating, write the file and show the next pair."""
        try:
            return self.show(session and session.rate(rating))
        except INPUT_ERRORS as error:
            return self.refuse(error)

    def refuse(self, error: Exception | str) -> list[Any]:
        """Show an error message and leave the rest as it is."""
        return [show_message(error), gr.Button(visible=False), *[gr.skip()] * (len(self.all) - 2)]

    def move(self, steps: int, session: Session | None) -> list[Any]:
        """Show another pair; a rating in the box is not saved."""
        return self.show(session and session.move(steps))

    def show(self, session: Session | None) -> list[Any]:
        """Show a session; None is one that the server has dropped."""
        if session is None:
            return self.refuse("The server keeps ratings for a day: begin again.")
        low, high = session.scale
        ratings = session.ratings
        path = write_csv(self.file.GRADIO_CACHE, "rated.csv", session.rated()) if ratings else None
        label = f"Rating: {low} (contradicts it, or is about something else) to {high} (says the same)"
        return [
            show_message(""),
            gr.Button(visible=False),
            session,
            gr.Column(visible=True),
            show(session),
            gr.Number(ratings.get(session.row), label=label),
            gr.DownloadButton(f"Download {len(ratings)} rated as CSV", value=path, interactive=bool(ratings)),
        ]


def fill_rating_tab() -> None:
    """Fill the tab that is being built."""
    RatingTab()
