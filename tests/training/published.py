"""The rows of published.yaml, in files as each of the paper's training sets is published in."""

import gzip
import json
from pathlib import Path

import pandas as pd
import yaml

SETS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
ITEMS = {name: [tuple(item) for item in one["items"]] for name, one in SETS.items()}


def write_published(name: str, folder: Path) -> Path:
    """Write a set into a new folder; returns what --from takes: the folder if it is a repository, else the file."""
    one = SETS[name]
    folder.mkdir()
    if "columns" in one:
        _write_repository(folder, one["columns"], one.get("subset", "default"), one.get("split", "train"))
        return folder
    if "csv" in one:
        content = pd.DataFrame(one["csv"]).to_csv()  # with a first column of row numbers, as published
    else:
        content = "\n".join(one["lines"] if "lines" in one else map(json.dumps, one["json_lines"]))
    path = folder / one["file"]
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return folder if one.get("is_repository") else path


def _write_repository(folder: Path, columns: dict, subset: str, split: str) -> None:
    """A folder as the Hub has it: a card that names the files, and one parquet file."""
    (folder / subset).mkdir()
    pd.DataFrame(columns).to_parquet(folder / subset / f"{split}-00000-of-00001.parquet")
    files = f"  data_files:\n  - split: {split}\n    path: {subset}/{split}-*\n"
    (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: {subset}\n{files}---\n")
