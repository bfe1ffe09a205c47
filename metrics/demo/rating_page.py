"""A page on which a person rates pairs: blind, in random order; its file is what `semantic-metrics validate` reads."""

from dataclasses import dataclass, replace
from functools import partial
from html import escape

import gradio as gr
import numpy as np

from .page import KEPT, QUIET, tell, upload
from .reading import PREDICTIONS, REFERENCES, WRONG, Columns, read_chosen, write_csv

RATING = "rating"  # the column that is added
SEEDS = 2**63  # numbers from 0 that a seed may be
SCALES = {"0 to 100": (0, 100), "1 to 5": (1, 5)}
PAIR = (REFERENCES, PREDICTIONS)  # nothing else of a row is shown: it may tell who wrote it, or its score
ABOUT = """
Rate how well each prediction says what its reference says. You see nothing but the two texts, in random order. The file
that you download at the end, or before, has your rows with a column `rating`: `semantic-metrics validate FILE --human
rating` says with it which metric agrees with you most.
"""


@dataclass(frozen=True)
class Session:
    """Pairs that one person rates.

    Attributes:
        table: the file.
        pairs: references and predictions.
        order: the rows, in the order in which they are shown.
        scale: lowest and highest rating.
        place: in that order, of the pair that is shown.
        ratings: by row.
    """

    table: Columns
    pairs: Columns
    order: tuple[int, ...]
    scale: tuple[int, int]
    place: int = 0
    ratings: dict[int, float] | None = None

    @property
    def row(self) -> int:
        """That is shown."""
        return self.order[self.place]

    def move(self, steps: int) -> "Session":
        """The same, some pairs further; the last stays."""
        return replace(self, place=min(max(self.place + steps, 0), len(self.order) - 1))

    def rate(self, rating: float | None) -> "Session":
        """The same with a rating of the pair that is shown, at the next pair.

        Raises:
            ValueError: it is none, or beyond the scale.
        """
        low, high = self.scale
        if rating is None or not low <= rating <= high:
            raise ValueError(f"rating: expected a number from {low} to {high}, got {rating}")
        return replace(self, ratings={**(self.ratings or {}), self.row: rating}).move(1)

    def rated(self) -> dict[str, list]:
        """The rows that have a rating, in the order of the file, with it."""
        ratings = self.ratings or {}
        rows = sorted(ratings)
        kept = {name: [values[row] for row in rows] for name, values in self.table.items()}
        return {**kept, RATING: [ratings[row] for row in rows]}


def begin(path: str | None, reference: str | None, prediction: str | None, scale: str, seed: float | None) -> Session:
    """Read a file and draw the order.

    Raises:
        ValueError: a bad file or column, a column named `rating`, an unknown scale, or a seed that is no whole number
            from 0.
    """
    pairs, table = read_chosen(PAIR, path, reference, prediction)
    if RATING in table:
        raise ValueError(f"the file: expected no column named {RATING!r}, which the ratings are written to")
    if scale not in SCALES:
        raise ValueError(f"scale: expected one of {', '.join(SCALES)}, got {scale!r}")
    if seed is None or not 0 <= seed < SEEDS or seed != int(seed):
        raise ValueError(f"seed: expected a whole number from 0, got {seed}")
    rows = np.random.default_rng(int(seed)).permutation(len(pairs["references"]))
    return Session(table, pairs, tuple(rows.tolist()), SCALES[scale])


def show(session: Session) -> str:
    """HTML of the pair, and how far one is."""
    count, rated = len(session.order), len(session.ratings or {})
    texts = {column.label.removesuffix("s"): session.pairs[column.name][session.row] for column in PAIR}
    shown = "".join(
        f"<b>{label}</b><div class='sm-text' dir='auto'>{escape(text) or '<i>(empty)</i>'}</div>"
        for label, text in texts.items()
    )
    done = " All are rated: download the file." if rated == count else ""
    return f"<p>Pair {session.place + 1} of {count}; {rated} rated.{done}</p>{shown}"


class RatingTab:
    """The tab's components and what they do."""

    def __init__(self) -> None:
        gr.Markdown(ABOUT)
        self.message = gr.HTML(visible=False)
        file, chosen = upload(PAIR, self.message)
        with gr.Row():
            scale = gr.Radio(list(SCALES), value="0 to 100", label="Scale")
            seed = gr.Number(0, label="Seed of the order", precision=0)
        start = gr.Button("Begin", variant="primary")
        self.session = gr.State(None, time_to_live=24 * KEPT)
        with gr.Column(visible=False) as self.panel:
            self.pair = gr.HTML()
            self.rating = gr.Number(None, label="Rating")
            with gr.Row():
                back = gr.Button("Back")
                skip = gr.Button("Skip")
                save = gr.Button("Save and next", variant="primary")
            self.file = gr.DownloadButton("Download what is rated as CSV", interactive=False)
        self.all = [self.message, self.session, self.panel, self.pair, self.rating, self.file]
        start.click(self.begin, [file, *chosen, scale, seed], self.all, **QUIET)
        gr.on([save.click, self.rating.submit], self.save, [self.session, self.rating], self.all, **QUIET)
        back.click(partial(self.move, -1), self.session, self.all, **QUIET)
        skip.click(partial(self.move, 1), self.session, self.all, **QUIET)

    def begin(self, *given: object) -> list:
        """Start anew, with the first pair."""
        try:
            return self.show(begin(*given))
        except WRONG as error:
            return [tell(error), None, gr.Column(visible=False), *[gr.skip()] * 3]

    def save(self, session: Session | None, rating: float | None) -> list:
        """Keep the rating, write the file, go on."""
        try:
            return self.show(session and session.rate(rating))
        except WRONG as error:
            return [tell(error), *[gr.skip()] * (len(self.all) - 1)]

    def move(self, steps: int, session: Session | None) -> list:
        """Go back or on; what is in the box is not kept."""
        return self.show(session and session.move(steps))

    def show(self, session: Session | None) -> list:
        """A value for each of `all`; None is a session that the server has let go."""
        if session is None:
            return [tell("The server keeps ratings for a day: begin again."), *[gr.skip()] * (len(self.all) - 1)]
        low, high = session.scale
        ratings = session.ratings or {}
        path = write_csv(self.file.GRADIO_CACHE, "rated.csv", session.rated()) if ratings else None
        label = f"Rating: {low} (contradicts it, or is about something else) to {high} (says the same)"
        return [
            tell(""),
            session,
            gr.Column(visible=True),
            show(session),
            gr.Number(ratings.get(session.row), label=label),
            gr.DownloadButton(f"Download {len(ratings)} rated as CSV", value=path, interactive=bool(ratings)),
        ]


def fill_rating_tab() -> None:
    """Put the components into the tab."""
    RatingTab()
