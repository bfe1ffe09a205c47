"""Ratings from the sheets of raters: checks, summary, agreement and figure 3.

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

from benchmarks.common.plot_style import PALETTE, save_figure
from benchmarks.set_data.chains import OPERATORS
from benchmarks.set_data.rater_sheets import ENCODING, KEY_COLUMNS, KEY_FILE, SCALE

MEAN, ALL = "mean", "all"  # a further rater: the mean of all; a further operator: all samples
PUBLISHED = (
    "published, on the paper's own samples: mean 2.77 over all operators, above 2.5 on each and about 3.0 on union; "
    "median 3 on difference and on union"
)
_MAX_PROBLEMS = 10  # number of problems that an error message lists
_HATCHES = ("", "////", "....", "xxxx")


def read_ratings(folder: Path, partial: bool = False) -> pd.DataFrame:
    """Read every rater's sheet of a folder.

    Args:
        folder: folder of `write_sheets`, with the ratings filled in.
        partial: whether ratings may be missing.

    Returns:
        A row for each item and rater: the columns of the key, `rater` (the name of the sheet) and `rating`, 0 to 4,
        NaN where it is missing.

    Raises:
        ValueError: there is no sheet; an item is unknown, repeated or missing; a rating is not 0, 1, 2, 3 or 4; or a
            rating is missing and `partial` is false. Names the sheet and the items.
    """
    if not (folder / KEY_FILE).is_file():
        raise ValueError(f"{folder}: expected the file {KEY_FILE} that was written with the sheets, found none")
    try:
        key = pd.read_csv(folder / KEY_FILE, dtype={"item": str})[KEY_COLUMNS]
    except (KeyError, ValueError) as error:  # a column is missing, or the file is empty
        raise ValueError(f"{folder / KEY_FILE}: expected the columns {', '.join(KEY_COLUMNS)} ({error})") from None
    files = sorted(folder.glob("rater[0-9]*.csv"))
    if not files:
        raise ValueError(f"{folder}: expected sheets rater1.csv, rater2.csv and so on, found none")
    problems, parts = [], []
    for file in files:
        ratings = _read_sheet(file, set(key["item"]), partial, problems)
        parts.append(key.assign(rater=file.stem, rating=key["item"].map(ratings).astype(float)))
    if problems:
        more = f"; and {len(problems) - _MAX_PROBLEMS} more" if len(problems) > _MAX_PROBLEMS else ""
        raise ValueError("; ".join(problems[:_MAX_PROBLEMS]) + more)
    table = pd.concat(parts, ignore_index=True)
    if table["rating"].isna().all():
        raise ValueError(f"{folder}: expected at least one rating, found none")
    return table


def summary(ratings: pd.DataFrame) -> pd.DataFrame:
    """Columns operator, rater, n, missing, mean, sd, q1, median, q3; rater MEAN is a sample's mean."""
    means = ratings.groupby(["operator", "item"], sort=False)["rating"].mean().reset_index().assign(rater=MEAN)
    rows = []
    for operator in (*OPERATORS, ALL):
        for rater in (*ratings["rater"].unique(), MEAN):
            rated = means if rater == MEAN else ratings
            chosen = [operator] if operator != ALL else OPERATORS
            values = rated[(rated["rater"] == rater) & rated["operator"].isin(chosen)]
            given = values["rating"].dropna()
            row = {"operator": operator, "rater": rater, "n": len(given), "missing": len(values) - len(given)}
            q1, median, q3 = given.quantile([0.25, 0.5, 0.75])
            rows.append(row | {"mean": given.mean(), "sd": given.std(), "q1": q1, "median": median, "q3": q3})
    return pd.DataFrame(rows)


def agreement(ratings: pd.DataFrame) -> pd.DataFrame:
    """Agreement of each two raters on the items that both rated.

    Returns:
        Columns operator, first, second, n, kappa (Cohen's, with quadratic weights), pearson, exact and within_one
        (shares, %). Kappa and Pearson are NaN where a rater gave one rating only.
    """
    rows = []
    for operator in (*OPERATORS, ALL):
        chosen = ratings if operator == ALL else ratings[ratings["operator"] == operator]
        wide = chosen.pivot(index="item", columns="rater", values="rating")
        for first, second in combinations(wide.columns, 2):
            both = wide[[first, second]].dropna().astype(int)
            x, y = both[first].to_numpy(), both[second].to_numpy()
            row = {"operator": operator, "first": first, "second": second, "n": len(both)}
            row |= {"kappa": np.nan, "pearson": np.nan}
            if len(both) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0:
                row["kappa"] = cohen_kappa_score(x, y, labels=list(SCALE), weights="quadratic")
                row["pearson"] = pearsonr(x, y).statistic
            gap = np.abs(x - y)
            shares = {"exact": gap == 0, "within_one": gap <= 1}
            rows.append(row | {name: 100 * share.mean() if len(both) else np.nan for name, share in shares.items()})
    columns = ["operator", "first", "second", "n", "kappa", "pearson", "exact", "within_one"]
    return pd.DataFrame(rows, columns=columns)


def write_ratings(ratings: pd.DataFrame, folder: Path) -> str:
    """Write ratings.csv, summary.csv, agreement.csv, figure3.png and report.txt; returns the report."""
    summed, agreed = summary(ratings), agreement(ratings)
    for name, table in (("ratings", ratings), ("summary", summed), ("agreement", agreed)):
        table.to_csv(folder / f"{name}.csv", index=False)
    draw_boxes(ratings, folder / "figure3.png")
    parts = ["Ratings from 0 to 4, by rater, and as a sample's mean"]
    parts += [summed.to_string(index=False, float_format="%.2f"), f"({PUBLISHED})", ""]
    parts += ["Agreement of raters", agreed.to_string(index=False, float_format="%.2f", na_rep="undefined")]
    report = "\n".join(parts)
    (folder / "report.txt").write_text(report + "\n", encoding="utf-8")
    return report


def draw_boxes(ratings: pd.DataFrame, path: Path) -> None:
    """Figure 3: for each operator a box of the samples' mean ratings and one of each rater's; a diamond at the mean."""
    means = ratings.groupby(["operator", "item"], sort=False)["rating"].mean().reset_index().assign(rater=MEAN)
    rated = pd.concat([means, ratings]).dropna(subset=["rating"])
    raters = list(rated["rater"].unique())
    figure = Figure(figsize=(2 + 0.6 * len(OPERATORS) * len(raters), 4.2), layout="constrained")
    panel = figure.subplots()
    for number, rater in enumerate(raters):
        values = [rated[(rated["rater"] == rater) & (rated["operator"] == name)]["rating"] for name in OPERATORS]
        places = np.arange(len(OPERATORS)) + (number - (len(raters) - 1) / 2) * 0.8 / len(raters)
        boxes = panel.boxplot(
            values,
            positions=places,
            widths=0.6 / len(raters),
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
    figure.legend(loc="outside lower center", ncols=len(raters))
    save_figure(figure, path, f"Figure 3: ratings of {ratings['item'].nunique():,} samples by {len(raters) - 1} raters")


def _read_sheet(file: Path, items: set[str], partial: bool, problems: list[str]) -> dict[str, float]:
    """The ratings of a sheet by item; adds what is wrong with it to the problems."""
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
    missing = sorted(items - ratings.keys(), key=lambda item: (len(item), item))
    problems += [f"{file.name}: item {item} is gone" for item in missing]
    return ratings


def _number(text: str) -> float:
    """A rating from 0 to 4, also as spreadsheets write it (`3.0`, `3,0`); NaN for anything else."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return np.nan
    return value if value in SCALE else np.nan
