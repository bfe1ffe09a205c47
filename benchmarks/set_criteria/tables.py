"""Tables 1 to 3 and 12 to 15 as data: one row for each figure, what the paper prints beside it."""

from collections.abc import Iterator

import pandas as pd

from benchmarks.common.published import Published
from benchmarks.set_criteria.encoders import Contender
from benchmarks.set_criteria.means import CONDITIONS
from semantic_metrics.set_criteria.epsilon import CELLS
from semantic_metrics.set_criteria.geometry import MEASURES

PUBLISHED = "set_criteria"
CELL_TABLES = {("C1", "cosine"): "1", ("C3", "cosine"): "2", ("C1", "ned"): "13", ("C3", "ned"): "15"}
SHARE_TABLE = "3"
MEAN_TABLES = {"C1": "12", "C3": "14"}
UNPUBLISHED = ""  # the table of a figure that the paper does not print
SHARED, OWN, NO_RANGES = "shared", "own", ""
COLUMNS = ["table", "criterion", "measure", "ranges", "encoder", "published_as", "figure", "value", "low", "high"]

Key = tuple[str, str, str, str]  # table, criterion, measure, figure


def figure_table(
    contenders: list[Contender], results: dict[str, dict], means: pd.DataFrame, own: dict[str, dict] | None = None
) -> pd.DataFrame:
    """Every figure of the tables.

    Args:
        contenders: that were measured, in the order of the tables.
        results: by name, from the metric's `report`, with the ranges of margins that all share.
        means: from `set_criteria_means.means_table`.
        own: by name, the results with each encoder's own ranges; None leaves them out.

    Returns:
        Columns COLUMNS and published. `ranges` is SHARED or OWN, or NO_RANGES where they play no part; `published_as`
        is the paper's name of the encoder. Cells and shares are percentages, means are in the measure's own sign.
        Encoders that only the paper has come last, without a value.
    """
    published = Published(PUBLISHED)
    intervals = means.set_index(["encoder", "criterion", "measure", "condition"])[["low", "high"]]
    rows = []
    for one in contenders:
        who = one.name, one.published
        for key, value in _percentages(results[one.name]):
            rows.append(_row(key, SHARED, who, value, _printed(published, key, one.published)))
        for key, value in _percentages(own[one.name]) if own else ():
            rows.append(_row(key, OWN, who, value, None))
        for key, value in _others(results[one.name]):
            _, criterion, measure, figure = key
            condition, _, kind = figure.partition("_")
            inside = kind == "mean" and condition in CONDITIONS
            bounds = intervals.loc[(one.name, criterion, measure, condition)] if inside else (None, None)
            rows.append(_row(key, NO_RANGES, who, value, _printed(published, key, one.published), *bounds))
    here = {one.published for one in contenders}
    rows += [
        _row(key, SHARED if key[1:3] in CELL_TABLES or key[0] == SHARE_TABLE else NO_RANGES, (name, name), None, value)
        for key, name, value in _published_figures(published)
        if name not in here
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "published"])
    return frame.astype(dict.fromkeys(("value", "low", "high", "published"), float))


def _row(
    key: Key,
    ranges: str,
    who: tuple[str, str | None],
    value: float | None,
    published: float | None,
    low: float | None = None,
    high: float | None = None,
) -> tuple:
    table, criterion, measure, figure = key
    return (table, criterion, measure, ranges, *who, figure, value, low, high, published)


def _printed(published: Published, key: Key, name: str | None) -> float | None:
    table, _, measure, figure = key
    return None if name is None else published.get(table, measure, name, figure)


def _percentages(result: dict) -> Iterator[tuple[Key, float | None]]:
    """What depends on the ranges of the margins."""
    for measure in MEASURES:
        for criterion in ("C1", "C3"):
            table = CELL_TABLES.get((criterion, measure), UNPUBLISHED)
            for cell in CELLS:
                yield (table, criterion, measure, cell), result[criterion][measure][cell]
        yield (SHARE_TABLE, "C4", measure, "share"), result["C4"][measure]["share"]


def _others(result: dict) -> Iterator[tuple[Key, float | None]]:
    for measure in MEASURES:
        for criterion, table in MEAN_TABLES.items():
            held = result[criterion][measure]
            yield (table, criterion, measure, "base_mean"), held["base"]
            for i, condition in enumerate(CONDITIONS):
                for kind in ("mean", "sd"):
                    yield (table, criterion, measure, f"{condition}_{kind}"), held[kind][i] if held["n"] else None
        for kind in ("mean", "sd"):
            yield (UNPUBLISHED, "C4", measure, f"first_{kind}"), result["C4"][measure][kind]
    for criterion in ("C2", "C5", "C6"):
        for figure in ("share", "between", "n"):
            yield (UNPUBLISHED, criterion, "", figure), result[criterion][figure]
        yield (UNPUBLISHED, criterion, "", "angle"), result[criterion]["angle"]["unsigned"]["median"]
    for figure in ("mean", "sd", "median"):
        yield (UNPUBLISHED, "norm_ratio", "", figure), result["norm_ratio"][figure]


def _published_figures(published: Published) -> Iterator[tuple[Key, str, float]]:
    places = {(table, *pair): CELLS for pair, table in CELL_TABLES.items()}
    places |= {(SHARE_TABLE, "C4", measure): ("share",) for measure in MEASURES}
    figures = ("base_mean", *(f"{condition}_{kind}" for condition in CONDITIONS for kind in ("mean", "sd")))
    places |= {(table, criterion, measure): figures for criterion, table in MEAN_TABLES.items() for measure in MEASURES}
    for (table, criterion, measure), names in places.items():
        for model in published.metrics(table):
            for figure in names:
                value = published.get(table, measure, model, figure)
                if value is not None:
                    yield (table, criterion, measure, figure), model, value
