"""Sheets for raters, and the ratings that are read from them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.set_data.__main__ import main
from benchmarks.set_data.chains import COLUMNS, OPERATORS
from benchmarks.set_data.rater_sheets import read_samples, write_sheets
from benchmarks.set_data.ratings import ALL, MEAN, agreement, read_ratings, summary

GROUPS, EACH = 8, 5


@pytest.fixture
def samples() -> pd.DataFrame:
    rows = [
        (operator, f"a {i}{form}", f"=b {i}", f"{operator} é {i}{form}", f"form {form}", "source", "given", f"g{i}")
        for operator in OPERATORS
        for i in range(GROUPS)
        for form in "xy"
    ]
    table = pd.DataFrame(rows, columns=COLUMNS[:-1])
    return table.assign(id=[f"id{i}" for i in range(len(table))])


@pytest.fixture
def folder(samples: pd.DataFrame, tmp_path: Path) -> Path:
    """Empty sheets of two raters."""
    write_sheets(samples, tmp_path / "sheets", EACH, 2, seed=1)
    return tmp_path / "sheets"


def fill(file: Path, rating: dict[int, object], separator: str = ",") -> None:
    """Fill a sheet in like a spreadsheet, which drops the byte order mark."""
    sheet = pd.read_csv(file, dtype=str, keep_default_na=False)
    sheet["rating"] = [str(rating.get(int(item), "")) for item in sheet["item"]]
    sheet.to_csv(file, index=False, sep=separator)


def test_sheets_hide_the_origin_and_have_different_orders(samples: pd.DataFrame, folder: Path) -> None:
    one, two = (pd.read_csv(folder / f"rater{i}.csv", keep_default_na=False) for i in (1, 2))
    assert list(one.columns) == ["item", "operator", "a", "b", "target", "rating", "comment"]
    assert sorted(one["item"]) == list(range(1, 16))
    assert list(one["item"]) != list(two["item"])
    assert one.sort_values("item").reset_index(drop=True).equals(two.sort_values("item").reset_index(drop=True))
    assert one["operator"].value_counts().to_dict() == dict.fromkeys(OPERATORS, EACH)
    assert set(one["rating"]) == {""}
    assert "é" in (folder / "rater1.csv").read_bytes().removeprefix(b"\xef\xbb\xbf").decode()
    key = pd.read_csv(folder / "key.csv").merge(samples, on="id", suffixes=("", "_"))
    assert len(key) == 15
    assert not key.duplicated(["operator", "group"]).any()
    both = one.merge(key, on="item", suffixes=("", "_key"))
    for column in ("operator", "a", "target"):
        assert (both[column] == both[f"{column}_key"]).all()
    assert set(both["b"]) <= {f"'=b {i}" for i in range(GROUPS)}  # a spreadsheet does not compute it


def test_the_seed_draws_the_sheets(samples: pd.DataFrame, folder: Path, tmp_path: Path) -> None:
    files = write_sheets(samples, tmp_path / "again", EACH, 2, seed=1)
    assert [file.name for file in files] == ["rater1.csv", "rater2.csv", "guidelines.md", "key.csv"]
    assert all(file.read_bytes() == (folder / file.name).read_bytes() for file in files)
    write_sheets(samples, tmp_path / "other", EACH, 2, seed=2)
    assert (tmp_path / "other" / "key.csv").read_bytes() != (folder / "key.csv").read_bytes()


def test_unsuitable_samples_are_refused(samples: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="per_operator: expected at most 8, the groups with overlap, got 9"):
        write_sheets(samples, tmp_path / "sheets", GROUPS + 1, 2, seed=0)
    assert not (tmp_path / "sheets").exists()
    samples.drop(columns="group").to_parquet(tmp_path / "s.parquet")
    with pytest.raises(ValueError, match=r"missing \['group'\]"):
        read_samples(tmp_path / "s.parquet")


def test_ratings_come_back_by_item(folder: Path) -> None:
    first = {item: item % 5 for item in range(1, 16)}
    second = {item: min(item % 5 + 1, 4) for item in range(1, 16)}
    fill(folder / "rater1.csv", first)
    fill(folder / "rater2.csv", {item: f"{rating},0" for item, rating in second.items()}, separator=";")
    ratings = read_ratings(folder)
    assert len(ratings) == 30
    for rater, given in (("rater1", first), ("rater2", second)):
        own = ratings[ratings["rater"] == rater]
        assert dict(zip(own["item"].astype(int), own["rating"], strict=True)) == given
    key = pd.read_csv(folder / "key.csv", dtype={"item": str})
    assert ratings[:15][list(key.columns)].equals(key)
    table = summary(ratings).set_index(["operator", "rater"])
    assert table.loc[(ALL, "rater1"), "mean"] == np.mean(list(first.values()))
    assert table.loc[(ALL, MEAN), "mean"] == pytest.approx(np.mean([*first.values(), *second.values()]))
    assert table.loc[(ALL, MEAN), "n"] == 15
    both = agreement(ratings).set_index("operator").loc[ALL]
    assert both["n"] == 15
    assert both["exact"] == pytest.approx(100 * 3 / 15)  # those with 4 and 4
    assert both["within_one"] == 100
    assert both["pearson"] == pytest.approx(np.corrcoef(list(first.values()), list(second.values()))[0, 1])


def test_agreement_of_two_raters() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 60)
    y = np.clip(x + rng.integers(-1, 2, 60), 0, 4)
    kappa = 1 - np.mean((x - y) ** 2) / np.mean((x[:, None] - y[None, :]) ** 2)  # Cohen's, with quadratic weights
    items = {"item": [*map(str, range(60))] * 2, "operator": "union", "rater": ["r1"] * 60 + ["r2"] * 60}
    ratings = pd.DataFrame(items).assign(rating=[*map(float, x), *map(float, y)])

    def union(ratings: pd.DataFrame) -> pd.Series:
        return agreement(ratings).set_index("operator").loc["union"]

    assert union(ratings)["kappa"] == pytest.approx(kappa)
    assert union(ratings)["pearson"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    apart = union(ratings.assign(item=list(map(str, range(120)))))  # no item that both rated
    assert apart["n"] == 0
    assert apart[["kappa", "pearson", "exact"]].isna().all()
    constant = union(ratings.assign(rating=2.0))
    assert constant[["kappa", "pearson"]].isna().all()
    assert constant["exact"] == 100


def test_problems_of_sheets_are_listed(folder: Path) -> None:
    fill(folder / "rater1.csv", {item: 3 for item in range(1, 16)} | {4: 5, 7: "good", 9: "", 12: 2.5})
    rows = (folder / "rater2.csv").read_text(encoding="utf-8-sig").splitlines()
    gone = rows[3].split(",")[0]
    (folder / "rater2.csv").write_text("\n".join([*rows[:3], rows[1], "99,union,a,b,c,3,", *rows[4:]]))
    with pytest.raises(ValueError, match=r"rater1\.csv") as raised:
        read_ratings(folder, partial=True)
    problems = {f"rater1.csv: expected 0, 1, 2, 3 or 4 for item {i}, got {x!r}" for i, x in ((4, "5"), (7, "good"))}
    problems |= {f"rater2.csv: item '{rows[1].split(',')[0]}' is there twice", "rater2.csv: item '99' is in no key"}
    problems |= {"rater1.csv: expected 0, 1, 2, 3 or 4 for item 12, got '2.5'", f"rater2.csv: item {gone} is gone"}
    assert set(str(raised.value).split("; ")) == problems


def test_missing_ratings_are_named_or_counted(folder: Path) -> None:
    fill(folder / "rater1.csv", dict.fromkeys(range(1, 16), 4))
    fill(folder / "rater2.csv", dict.fromkeys(range(1, 4), 1))
    with pytest.raises(ValueError, match=r"rater2\.csv: the rating of item \d+ is missing.*; and 2 more$"):
        read_ratings(folder)
    ratings = read_ratings(folder, partial=True)
    table = summary(ratings).set_index(["operator", "rater"])
    assert table.loc[(ALL, "rater2"), ["n", "missing"]].tolist() == [3, 12]
    assert table.loc[(ALL, MEAN), "mean"] == pytest.approx((12 * 4 + 3 * 2.5) / 15)
    assert agreement(ratings).set_index("operator").loc[ALL, "n"] == 3


def test_folders_without_sheets(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected the file key\.csv"):
        read_ratings(tmp_path)
    with pytest.raises(ValueError, match="expected at least one rating, found none"):
        read_ratings(folder, partial=True)
    (folder / "rater1.csv").write_text("number,score\n1,2\n")
    (folder / "rater2.csv").write_bytes("item,rating\n1,é\n".encode("latin-1"))
    with pytest.raises(
        ValueError, match=r"rater1\.csv: expected the columns item and rating.*rater2\.csv: expected UTF-8"
    ):
        read_ratings(folder)
    for file in folder.glob("rater*"):
        file.unlink()
    with pytest.raises(ValueError, match=r"expected sheets rater1\.csv, rater2\.csv and so on, found none"):
        read_ratings(folder)
    for content in ("", "item,id\n1,x\n"):
        (folder / "key.csv").write_text(content)
        with pytest.raises(ValueError, match=r"key.csv: expected the columns item, id, operator"):
            read_ratings(folder)


def test_the_command_line(samples: pd.DataFrame, tmp_path: Path) -> None:
    samples.to_parquet(tmp_path / "samples.parquet")
    sheets, folder = ["sheet", tmp_path / "samples.parquet", "--output", tmp_path / "s", "--raters", 3], tmp_path / "s"
    sheets = [*map(str, [*sheets, "--per-operator", 3])]
    assert CliRunner().invoke(main, sheets).exit_code == 0
    text = (folder / "guidelines.md").read_text(encoding="utf-8")
    assert all(f"**{operator}**" in text for operator in OPERATORS)
    assert all(f"* {rating}: " in text for rating in range(5))
    assert CliRunner().invoke(main, ["ratings", str(folder)]).exit_code == 1  # nothing is filled in
    for number in (1, 2, 3):
        fill(folder / f"rater{number}.csv", {1: number, 2: 4, 3: 0})
    done = CliRunner().invoke(main, ["ratings", str(folder), "--partial"])
    assert done.exit_code == 0, done.output
    assert "published, on the paper's own samples: mean 2.77" in done.output
    assert (folder / "report.txt").read_text() == done.output
    assert (folder / "figure3.png").read_bytes().startswith(b"\x89PNG")
    assert [len(pd.read_csv(folder / f"{name}.csv")) for name in ("ratings", "summary", "agreement")] == [27, 16, 12]
    assert len(read_ratings(folder, partial=True)) == 27  # the results are not read as sheets
    again = CliRunner().invoke(main, sheets)
    assert again.exit_code == 1
    assert re.search(r"output: expected a folder without sheets, got .* with rater1\.csv", again.output)
