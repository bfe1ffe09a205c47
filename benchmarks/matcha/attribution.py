r"""Table 9 of the MATCHA paper: how much the tokens of correct and of incorrect pairs add to a score (appendix C).

    python -m benchmarks.matcha.attribution --data FOLDER
        the shipped checkpoint and EmbSim, 200 rows each of SNLI, MultiNLI and TruthfulQA
    python -m benchmarks.matcha.attribution --data FOLDER --limit 20 --encoder GTE=thenlper/gte-large \
        --checkpoint A=runs/a
        fewer rows, a further encoder, and another MATCHA checkpoint than the shipped one

A pair's attribution is the sum of its tokens' integrated gradients, the mean of both directions, times 100. As in the
paper the path has 50 points and begins at token id 0 in every place where the score is above 0, else at the other text.
By completeness the sum is the score minus the baseline's; `error` is the mean distance from that. MATCHA has two more
rows: the integral in closed form, and `exact`, the shares that sum to the score itself.

Writes table9.csv and table9.txt to --output.
"""

from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pandas as pd

from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import NotMeasured
from benchmarks.common.published import Published
from benchmarks.common.text_tables import Cell, Row, render
from benchmarks.matcha.attribution_paths import Attribution, encoder_attribution, matcha_attributions
from benchmarks.matcha.sets import TITLES, TripletSet, load_sets
from semantic_metrics.stats.bootstrap import bootstrap

SETS = ("snli", "multinli", "truthfulqa")  # appendix C
ROWS = 200  # of each set, the paper's 600 together
PUBLISHED = "matcha"
OVERALL = "Overall"
FIGURES = ("correct", "incorrect", "gap", "error")
NOTES = [
    "mean sum of a pair's token attributions, both directions, times 100; gap: correct minus incorrect [95% bootstrap]",
    "published: 600 pairs that the paper does not list; error: mean |sum - (score - baseline score)|",
    "closed form: the same integral without points; exact: shares that sum to the score, no baseline",
]


_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_OUTPUT = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("--data", required=True, type=_FOLDER, envvar="SEMANTIC_METRICS_DATA", help="Folder of the sets.")
@click.option("--limit", default=ROWS, show_default=True, type=click.IntRange(1), help="Rows of each set.")
@click.option("--checkpoint", multiple=True, help="[NAME=]CHECKPOINT of MATCHA; the shipped one by default.")
@click.option("--encoder", multiple=True, help="[NAME=]FOLDER_OR_ID of an encoder.")
@click.option("--embsim", default=default_embsim, show_default="all-MiniLM-L6-v2", help="Model of the EmbSim row.")
@click.option("--device", help="Where encoders run: cpu, cuda, mps.")
@click.option("--seed", default=0, show_default=True, help="Of the choice of rows and of the bootstrap.")
@click.option("--output", type=_OUTPUT, default="results/attribution", show_default=True)
def main(
    data: Path,
    limit: int,
    checkpoint: tuple[str, ...],
    encoder: tuple[str, ...],
    embsim: str,
    device: str | None,
    seed: int,
    output: Path,
) -> None:
    """Table 9 of the MATCHA paper, published numbers beside."""
    try:
        sets = load_sets(data, SETS)
        if not sets:
            raise ValueError(f"--data: expected the sets {', '.join(SETS)}, there is none of them in {data}")
        kinds = _kinds(checkpoint, encoder, embsim, device)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    text = write_table(kinds, sample(list(sets.values()), limit, seed), seed, output)
    click.echo(text)
    click.echo(f"written to {output}", err=True)


Load = Callable[[], Attribution]


def _kinds(
    checkpoints: tuple[str, ...], encoders: tuple[str, ...], embsim: str, device: str | None
) -> list[tuple[str, str | None, Load]]:
    """Name, row of the paper beside it, and what gives the attributions."""
    kinds: list[tuple[str, str | None, Load]] = [("EmbSim", "EmbSim", lambda: encoder_attribution(embsim, device))]
    for name, source in map(_named, encoders):
        kinds.append((name, None, lambda source=source: encoder_attribution(source, device)))
    given = [(f"MATCHA ({name})", source) for name, source in map(_named, checkpoints)]
    for name, source in given or [("MATCHA", None)]:
        for way, attribution in matcha_attributions(source).items():
            kinds.append((f"{name}{way}", None if way else "MATCHA", lambda attribution=attribution: attribution))
    names = [name for name, _, _ in kinds]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"expected names that differ (NAME=FOLDER_OR_ID gives one), got {', '.join(twice)} twice")
    return kinds


def write_table(kinds: list[tuple[str, str | None, Load]], rows: pd.DataFrame, seed: int, output: Path) -> str:
    """Measure every row of the table and write it to a folder, as CSV and as the text that is returned."""
    parts = []
    for name, published, load in kinds:
        click.echo(name, err=True)
        parts.append(measure(name, published, load, rows, seed))
    table = pd.concat(parts, ignore_index=True)
    counts = {TITLES[key]: len(held) for key, held in rows.groupby("key", sort=False)}
    text = table_text(table, counts, [TITLES[key] for key in SETS if TITLES[key] not in counts])
    output.mkdir(parents=True, exist_ok=True)
    table.to_csv(output / "table9.csv", index=False)
    (output / "table9.txt").write_text(text + "\n", encoding="utf-8")
    return text


def _named(given: str) -> tuple[str, str]:
    name, sign, source = given.partition("=")
    return (name, source) if sign else (Path(given).name, given)


def sample(sets: list[TripletSet], limit: int, seed: int) -> pd.DataFrame:
    """Rows of each set, drawn without replacement: columns key, reference, correct, incorrect."""
    rng = np.random.default_rng(seed)
    parts = []
    for found in sets:
        rows = np.sort(rng.permutation(len(found))[:limit])
        columns = {name: [getattr(found, held)[i] for i in rows] for name, held in _COLUMNS.items()}
        parts.append(pd.DataFrame({"key": found.key, **columns}))
    return pd.concat(parts, ignore_index=True)


_COLUMNS = {"reference": "references", "correct": "correct", "incorrect": "incorrect"}


def measure(name: str, published: str | None, load: Load, rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Every figure of one row of the table, of each set and of all.

    Returns:
        Columns metric, set, figure, value, low, high, published, n and reason (why there is no value).
    """
    values, reason = {}, None
    try:
        attribute = load()
        for side in ("correct", "incorrect"):
            values[side] = np.array([attribute(a, b) for a, b in zip(rows[side], rows["reference"], strict=True)])
    except NotMeasured as absent:
        reason = str(absent)
    told = Published(PUBLISHED)
    found = []
    for key in [*rows["key"].unique(), OVERALL]:
        held = np.flatnonzero((rows["key"] == key) | (key == OVERALL))
        title = TITLES.get(key, key)
        figures = _figures(values["correct"][held], values["incorrect"][held], seed) if values and not reason else {}
        for figure in FIGURES:
            value, low, high = figures.get(figure, (None, None, None))
            beside = told.get("9", title, published, figure) if published else None
            row = {"metric": name, "set": title, "figure": figure, "value": value, "low": low, "high": high}
            found.append({**row, "published": beside, "n": len(held), "reason": reason})
    return pd.DataFrame(found)


def _figures(correct: np.ndarray, incorrect: np.ndarray, seed: int) -> dict[str, tuple]:
    """(n, 2) sums and errors of the correct and of the incorrect pairs -> figures, with an interval for the gap."""
    a, b = 100 * correct[:, 0], 100 * incorrect[:, 0]
    drawn = bootstrap(lambda rows: {"gap": (a[rows] - b[rows]).mean(axis=-1)}, (len(a),), seed)
    errors = 100 * np.concatenate([correct[:, 1], incorrect[:, 1]])
    plain = {"correct": a.mean(), "incorrect": b.mean(), "error": errors.mean()}
    return {"gap": ((a - b).mean(), *drawn["gap"])} | {key: (float(value), None, None) for key, value in plain.items()}


def table_text(table: pd.DataFrame, counts: dict[str, int], missing: list[str]) -> str:
    """The table as text: all rows with the published figures, then the gap on each set."""
    names = list(table["metric"].unique())
    overall = _rows(table, names, [(OVERALL, figure) for figure in FIGURES])
    told = Published(PUBLISHED)
    for name in told.metrics("9"):
        if name not in names:
            cells = [Cell(published=told.get("9", OVERALL, name, figure)) for figure in FIGURES]
            overall.append(Row(name, cells, "published only"))
    rows = ", ".join(f"{count} of {title}" for title, count in counts.items())
    notes = NOTES + ([f"missing: {', '.join(missing)}"] if missing else [])
    first = render(f"Table 9, attributions ({rows})", list(FIGURES), overall, notes)
    gaps = _rows(table, names, [(title, "gap") for title in counts])
    return f"{first}\n\n{render('Gap on each set', list(counts), gaps)}"


def _rows(table: pd.DataFrame, names: list[str], keys: list[tuple[str, str]]) -> list[Row]:
    held = table.set_index(["metric", "set", "figure"])
    rows = []
    for name in names:
        found = [held.loc[(name, *key)] for key in keys]
        cells = [Cell.of(one) for one in found]
        rows.append(Row(name, cells, found[0]["reason"]))
    return rows


if __name__ == "__main__":
    main()
