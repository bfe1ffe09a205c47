r"""Fine-tune a MATCHA table on your own pairs, and show what that changed.

    python -m training.finetune pairs.csv --output runs/mine

The file (csv, jsonl or parquet) has the columns reference, correct and incorrect, or reference, candidate and label (1:
says the same, 0: does not). Rows that share a text go into one part: seven tenths of the rows are trained on, one tenth
picks the best step, and two tenths are measured before and after. Triplets of general text that come with the project
are measured too, to show what is forgotten. Pairs are measured on the references that have a right and a wrong
candidate, by the first of each.

The output folder's `checkpoint` is what `evaluate.load("metrics/matcha", "runs/mine/checkpoint")` takes;
before_after.csv holds the table.
"""

import argparse
import hashlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable
from training.data.sources import READERS, LabelledPairs, Source, Table, Triplets, check_columns, normalise
from training.matcha.config import TrainConfig
from training.matcha.validate import load_validation, validate
from training.push import add_push_option, check_push, push_run
from training.train import Run

GENERAL = Path(__file__).parent / "data" / "smoke.csv"
TRIPLETS, PAIRS = ["reference", "correct", "incorrect"], ["reference", "candidate", "label"]
PARTS = {"test": range(2), "dev": range(2, 3), "train": range(3, 10)}  # tenths of the references
MIN_REFERENCES = 10  # of each part: with fewer, its figures mean nothing
FIGURES = {"n_delta": "N-delta", "auc": "AUC", "pairwise": "pairwise accuracy"}


def split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each of PARTS; rows that share a text stay together, also by way of other rows.

    Raises ValueError: columns are missing, a label is neither 0 nor 1, a text is missing, or a part is too small.
    """
    columns = TRIPLETS if set(TRIPLETS) <= set(rows.columns) else PAIRS
    check_columns(rows, columns, f"the file (or {', '.join(TRIPLETS)})")
    rows = rows[columns]
    texts = rows[[name for name in columns if name != "label"]]
    for name, values in texts.items():
        for row, value in values.items():
            if not isinstance(value, str) or not normalise(value):
                raise ValueError(f"{name}, row {row}: expected a text with letters or digits, got {value!r}")
    if columns == PAIRS and not rows["label"].isin([0, 1]).all():
        raise ValueError(f"label: expected 0 or 1, got {rows['label'][~rows['label'].isin([0, 1])].tolist()[0]!r}")
    rows = rows.drop_duplicates()
    forms = rows[texts.columns].map(normalise)
    first = forms["reference"].groupby(_groups(forms)).transform("min")
    tenth = first.map(lambda text: hashlib.sha256(text.encode("utf-8")).digest()[0] % 10)
    parts = {name: rows[tenth.isin(tenths)] for name, tenths in PARTS.items()}
    sizes = {name: _measurable(part) for name, part in parts.items()}
    if min(sizes.values()) < MIN_REFERENCES:
        counts = ", ".join(f"{size} {name}" for name, size in sizes.items())
        kind = "rows" if columns == TRIPLETS else "references with candidates of both labels"
        raise ValueError(
            f"expected at least {MIN_REFERENCES} {kind} for each part, got {counts} of {len(rows)} distinct rows "
            "(rows that share a text go into one part)"
        )
    return parts


def _groups(forms: pd.DataFrame) -> np.ndarray:
    """(n,) number of the group of each row: rows with a text in common are of one group."""
    codes, distinct = pd.factorize(forms.to_numpy().ravel())
    first, *others = codes.reshape(forms.shape).T
    edges = (np.tile(first, len(others)), np.concatenate(others))
    graph = coo_matrix((np.ones(len(edges[0])), edges), shape=(len(distinct),) * 2)
    return connected_components(graph, directed=False)[1][first]


def _measurable(part: pd.DataFrame) -> int:
    if "label" not in part:
        return len(part)
    return int(part.groupby("reference")["label"].nunique().eq(2).sum())


def make_source(name: str, path: Path, columns: list[str]) -> Source:
    """The config's entry for a part, written to a file."""
    table = Table(path=str(path.resolve()))
    if "label" not in columns:
        return Triplets(name=name, table=table)
    # measuring takes a right and a wrong candidate of each reference
    return LabelledPairs(name=name, table=table, correct=[1], incorrect=[0], pivot=name != "train")


def finetune(rows: pd.DataFrame, output: Path, init: str, epochs: int, lr: float) -> pd.DataFrame:
    """Train on the rows and measure before and after: columns set, figure, before, after, times 100, higher is better.

    Args:
        rows: triplets or labelled pairs, as described above.
        output: folder to write to.
        init: checkpoint to start from, a name that `evaluate.load("matcha", name)` takes.
        epochs: number of passes over the training part.
        lr: peak learning rate.

    Raises ValueError: `split` refuses the rows, there is no such checkpoint, or it is not a table.
    """
    parts, start = split(rows), load_checkpoint(init)
    if not isinstance(start, MatchaTable):
        raise ValueError(f"init: expected a table, got {init!r}; train it further with training/train.py")
    (output / "data").mkdir(parents=True, exist_ok=True)
    sources = {}
    for name, part in parts.items():
        path = output / "data" / f"{name}.parquet"
        part.to_parquet(path, index=False)
        sources[name] = make_source(name, path, list(part.columns))
    batch = min(64, len(parts["train"]) // 4)
    config = TrainConfig(
        name=output.resolve().name,
        init=f"checkpoint:{init}",
        network=None,
        train=[sources["train"]],
        validate=[sources["dev"]],
        licence="other",
        loss={"kind": "in_batch", "margin": 1.0, "random": 0.12},  # that of the shipped checkpoint
        batch_size=batch,
        epochs=epochs,
        lr=lr,
        schedule={"kind": "one_cycle", "warmup": 0.1},
        average=0.9,
        validate_every=max(1, round(epochs * len(parts["train"]) / batch / 10)),
        save_every=10**9,
    )
    sets = {"held-out pairs": sources["test"], "general text": Triplets(name="", table=Table(path=str(GENERAL)))}
    measured = {name: load_validation([one], None).popitem()[1] for name, one in sets.items()}
    before = validate(start, measured)
    Run(config, None, output).train()
    after = validate(load_checkpoint(f"{output / 'checkpoint'}/"), measured)
    figures = [(name, FIGURES[key], before[name][key], after[name][key]) for name in sets for key in FIGURES]
    return pd.DataFrame(figures, columns=["set", "figure", "before", "after"])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help=f"A file ending in {', '.join(sorted(READERS))}.")
    parser.add_argument("--output", type=Path, required=True, help="Folder to write to.")
    parser.add_argument(
        "--init", default="matcha", help="Checkpoint to start from, a table (default: the shipped one)."
    )
    parser.add_argument("--epochs", type=int, default=10, help="Passes over the pairs (default 10).")
    parser.add_argument("--lr", type=float, default=5e-4, help="Peak learning rate (default 5e-4).")
    add_push_option(parser)
    arguments = parser.parse_args()
    check_push(parser, arguments.push)
    if arguments.epochs < 1 or not arguments.lr > 0:
        parser.error(f"--epochs, --lr: expected numbers above 0, got {arguments.epochs} and {arguments.lr}")
    try:
        rows = Table(path=str(arguments.pairs.resolve())).read(None)
        table = finetune(rows, arguments.output, arguments.init, arguments.epochs, arguments.lr)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    table.to_csv(arguments.output / "before_after.csv", index=False)
    sys.stdout.write(table.round(2).to_string(index=False) + "\n")
    push_run(arguments.output, arguments.push)


if __name__ == "__main__":
    main()
