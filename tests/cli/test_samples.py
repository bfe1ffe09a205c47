"""`semantic-metrics samples`: the files of the documentation, and commands that read them."""

from pathlib import Path

import pytest

from semantic_metrics.cli.samples import SAMPLES
from semantic_metrics.files.table import read_table
from tests.cli.conftest import done, invoke, refused
from tests.conftest import ROOT


def test_all_samples_are_written_and_none_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    lines = done(invoke("samples", folder))
    shipped = {path.name: path.read_bytes() for path in (ROOT / "metrics" / "samples").iterdir()}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == shipped
    assert set(shipped) == set(SAMPLES)
    assert [line.split(": ")[0] for line in lines] == [str(folder / name) for name in SAMPLES]
    (folder / "pairs.csv").write_text("mine")
    for name in SAMPLES.keys() - {"pairs.csv"}:
        (folder / name).unlink()
    refused(invoke("samples", folder), "DIR: expected a folder without pairs.csv, got ")
    assert [path.name for path in folder.iterdir()] == ["pairs.csv"]
    assert (folder / "pairs.csv").read_text() == "mine"
    refused(invoke("samples", tmp_path / "no" / "such"), f"{tmp_path}/no/such: No such file or directory")


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith(".csv")])
def test_a_table_has_the_columns_that_are_listed(tmp_path: Path, name: str) -> None:
    (listed,) = [line for line in done(invoke("samples", tmp_path)) if f"{name}: " in line]
    names = [part.split(" (")[0] for part in listed.rpartition(": ")[2].split(", ")]
    assert read_table(tmp_path / name).columns == names
