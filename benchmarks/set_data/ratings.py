"""Sheets that raters filled in: checked, summed up, and drawn (figure 3).

Source: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings", section 5.1 and figure 3, whose scores
are the mean of a sample's two or three ratings.
"""

import csv
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import pearsonr
from sklearn.metrics import cohen_kappa_score

from benchmarks.matcha.figures import DPI, PALETTE
from benchmarks.set_data.chains import OPERATORS
from benchmarks.set_data.rater_sheets import ENCODING, KEY_COLUMNS, KEY_FILE, SCALE

MEAN, ALL = "mean", "all"  # beside the raters: a sample's mean rating; beside the operators: all of them
PUBLISHED = (
    "published, on the paper's own samples: mean 2.77 over all operators, above 2.5 on each and about 3.0 on union; "
    "median 3 on difference and on union"
)
_NAMED = 10  # problems that an error message names
_HATCHES = ("", "////", "....", "xxxx")


def read_ratings(folder: Path, partial: bool = False) -> pd.DataFrame:
    """Read every rater's sheet of a folder.

    Args:
        folder: key.csv and rater1.csv, rater2.csv, ... as `write_sheets` wrote them, ratings filled in.
        partial: lets ratings be missing.

    Returns:
        A row for each item and rater: the columns of the key, `rater` (the name of the sheet) and `rating`, 0 to 4,
        NaN where it is missing.

    Raises:
        ValueError: no sheet; an item that is unknown, doubled or gone; a rating that is not 0, 1, 2, 3 or 4; or one
            that is missing, unless `partial`. Names the sheet and the items.
    """
    if not (folder / KEY_FILE).is_file():
        raise ValueError(f"{folder}: expected the file {KEY_FILE} that was written with the sheets, found none")
    try:
        key = pd.read_csv(folder / KEY_FILE, dtype={"item": str})[KEY_COLUMNS]
    except (KeyError, ValueError) as error:  # a column is gone, or all of it
        raise ValueError(f"{folder / KEY_FILE}: expected the columns {', '.join(KEY_COLUMNS)} ({error})") from None
    files = sorted(folder.glob("rater[0-9]*.csv"))
    if not files:
        raise ValueError(f"{folder}: expected sheets rater1.csv, rater2.csv and so on, found none")
    problems, parts = [], []
    for file in files:
        ratings = _read_sheet(file, set(key["item"]), partial, problems)
        parts.append(key.assign(rater=file.stem, rating=key["item"].map(ratings).astype(float)))
    if problems:
        more = f"; and {len(problems) - _NAMED} more" if len(problems) > _NAMED else ""
        raise ValueError("; ".join(problems[:_NAMED]) + more)
    table = pd.concat(parts, ignore_index=True)
    if table["rating"].isna().all():
        raise ValueError(f"{folder}: expected a rating at least, found none")
    return table


def summary(ratings: pd.DataFrame) -> pd.DataFrame:
    """Columns operator, rater, n, missing, mean, sd, q1, median, q3; MEAN among the raters for the samples' means."""
    means = ratings.groupby(["operator", "item"], sort=False)["rating"].mean().reset_index().assign(rater=MEAN)
    rows = []
    for operator in (*OPERATORS, ALL):
        for rater in (*ratings["rater"].unique(), MEAN):
            held = means if rater == MEAN else ratings
            values = held[
                (held["rater"] == rater) & held["operator"].isin([operator] if operator != ALL else OPERATORS)
            ]
            given = values["rating"].dropna()
            row = {"operator": operator, "rater": rater, "n": len(given), "missing": len(values) - len(given)}
            q1, median, q3 = given.quantile([0.25, 0.5, 0.75])
            rows.append(row | {"mean": given.mean(), "sd": given.std(), "q1": q1, "median": median, "q3": q3})
    return pd.DataFrame(rows)


def agreement(ratings: pd.DataFrame) -> pd.DataFrame:
    """How far each two raters agree on the items that both rated.

    Returns:
        Columns operator, first, second, n, kappa (Cohen's, with quadratic weights), pearson, exact and within_one
        (shares, %). Kappa and Pearson are NaN where a rater gave one rating only.
    """
    rows = []
    for operator in (*OPERATORS, ALL):
        held = ratings if operator == ALL else ratings[ratings["operator"] == operator]
        wide = held.pivot(index="item", columns="rater", values="rating")
        for first, second in combinations(wide.columns, 2):
            both = wide[[first, second]].dropna().astype(int)
            x, y = both[first].to_numpy(), both[second].to_numpy()
            row = {
                "operator": operator,
                "first": first,
                "second": second,
                "n": len(both),
                "kappa": np.nan,
                "pearson": np.nan,
            }
            if len(both) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0:
                row["kappa"] = cohen_kappa_score(x, y, labels=list(SCALE), weights="quadratic")
                row["pearson"] = pearsonr(x, y).statistic
            gap = np.abs(x - y)
            shares = {"exact": gap == 0, "within_one": gap <= 1}
            rows.append(row | {name: 100 * held.mean() if len(both) else np.nan for name, held in shares.items()})
    columns = ["operator", "first", "second", "n", "kappa", "pearson", "exact", "within_one"]
    return pd.DataFrame(rows, columns=columns)


def write_ratings(ratings: pd.DataFrame, folder: Path) -> str:
    """Write ratings.csv, summary.csv, agreement.csv, figure3.png and report.txt; returns the report."""
    summed, agreed = summary(ratings), agreement(ratings)
    for name, table in (("ratings", ratings), ("summary", summed), ("agreement", agreed)):
        table.to_csv(folder / f"{name}.csv", index=False)
    draw_boxes(ratings, folder / "figure3.png")
    parts = [
        "Ratings from 0 to 4, by rater, and as a sample's mean",
        summed.to_string(index=False, float_format="%.2f"),
    ]
    parts += [f"({PUBLISHED})", ""]
    parts += ["Agreement of raters", agreed.to_string(index=False, float_format="%.2f", na_rep="undefined")]
    report = "\n".join(parts)
    (folder / "report.txt").write_text(report + "\n", encoding="utf-8")
    return report


def draw_boxes(ratings: pd.DataFrame, path: Path) -> None:
    """Figure 3: a box for each operator of the samples' mean ratings, and of each rater's; a diamond at the mean."""
    means = ratings.groupby(["operator", "item"], sort=False)["rating"].mean().reset_index().assign(rater=MEAN)
    held = pd.concat([means, ratings]).dropna(subset=["rating"])
    who = list(held["rater"].unique())
    figure = Figure(figsize=(2 + 0.6 * len(OPERATORS) * len(who), 4.2), layout="constrained")
    panel = figure.subplots()
    for number, rater in enumerate(who):
        values = [held[(held["rater"] == rater) & (held["operator"] == name)]["rating"] for name in OPERATORS]
        places = np.arange(len(OPERATORS)) + (number - (len(who) - 1) / 2) * 0.8 / len(who)
        boxes = panel.boxplot(
            values,
            positions=places,
            widths=0.6 / len(who),
            patch_artist=True,
            showmeans=True,
            manage_ticks=False,
            medianprops={"color": "black", "linewidth": 2},
            meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 4},
            flierprops={"marker": "o", "markersize": 3},
        )
        for box in boxes["boxes"]:
            box.set(facecolor=PALETTE[number % len(PALETTE)], alpha=0.6, hatch=_HATCHES[number % len(_HATCHES)])
        boxes["boxes"][0].set_label("mean of the raters" if rater == MEAN else rater)
    panel.set_xticks(range(len(OPERATORS)), OPERATORS)
    panel.set_yticks(list(SCALE))
    panel.set_ylim(-0.2, max(SCALE) + 0.2)
    panel.set_ylabel("rating")
    panel.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=len(who))
    figure.suptitle(f"Figure 3: ratings of {ratings['item'].nunique():,} samples by {len(who) - 1} raters")
    figure.savefig(path, dpi=DPI)


def _read_sheet(file: Path, items: set[str], partial: bool, problems: list[str]) -> dict[str, float]:
    """The ratings of a sheet by item; what is wrong with it is added to the problems."""
    try:
        text = file.read_text(encoding=ENCODING)
    except UnicodeDecodeError as error:
        problems.append(f"{file.name}: expected UTF-8 ({error.reason}); save the sheet as CSV UTF-8")
        return {}
    header = text.partition("\n")[0]
    rows = list(csv.DictReader(text.splitlines(keepends=True), delimiter=";" if ";" in header else ","))
    if not rows or not {"item", "rating"} <= rows[0].keys():
        problems.append(f"{file.name}: expected the columns item and rating, got {header.strip()!r}")
        return {}
    ratings: dict[str, float] = {}
    for row in rows:
        item, rating = (row["item"] or "").strip(), (row["rating"] or "").strip()
        if item not in items or item in ratings:
            problems.append(f"{file.name}: item {item!r} is {'there twice' if item in items else 'in no key'}")
            continue
        ratings[item] = np.nan
        if rating:
            ratings[item] = _number(rating)
            if np.isnan(ratings[item]):
                problems.append(f"{file.name}: expected 0, 1, 2, 3 or 4 for item {item}, got {rating!r}")
        elif not partial:
            problems.append(f"{file.name}: the rating of item {item} is missing")
    gone = sorted(items - ratings.keys(), key=lambda item: (len(item), item))
    problems += [f"{file.name}: item {item} is gone" for item in gone]
    return ratings


def _number(text: str) -> float:
    """0 to 4, also as a spreadsheet may write it (`3.0`, `3,0`); NaN for anything else."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return np.nan
    return value if value in SCALE else np.nan
