"""Reading tables of the data folder and of users."""

from pathlib import Path

import pandas as pd


def read_table(path: Path) -> pd.DataFrame:
    """Read a parquet, CSV or JSON-lines file.

    Raises:
        ValueError: the file name has another ending, or the file cannot be read; names it.
    """
    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv, ".jsonl": lambda file: pd.read_json(file, lines=True)}
    if path.suffix not in readers:
        raise ValueError(f"{path}: expected a file that ends in one of {', '.join(readers)}, got {path.suffix!r}")
    try:
        return readers[path.suffix](path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from error
