"""Forms for raters (sheets): samples to rate from 0 to 4, without their origin, in a different order for each rater.

Source: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings", section 5.1: 400 samples of each
operator, two or three raters for each, 0 strongly disagree, 2 neutral or satisfactory, 4 strongly agree. The guidelines
that it mentions are not in its appendix; these are ours.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.data_files import read_table
from benchmarks.set_data.chains import OPERATORS

PER_OPERATOR = 400
SCALE = {0: "strongly disagree", 1: "disagree", 2: "neutral: it will do", 3: "agree", 4: "strongly agree"}
KEY_FILE, GUIDELINES = "key.csv", "guidelines.md"
SHEET_COLUMNS = ["item", "operator", "a", "b", "target", "rating", "comment"]
KEY_COLUMNS = ["item", "id", "operator", "form", "source", "fusion"]
ENCODING = "utf-8-sig"  # without the byte order mark, spreadsheets read non-ASCII characters in another code page
_FORMULA = ("=", "+", "-", "@")  # first characters of a cell that a spreadsheet would compute
_QUESTIONS = {
    "overlap": "The target says what A and B both say, and nothing that only one of them says.",
    "difference": "The target says what A says and B does not: all of it, and nothing that B says too.",
    "union": "The target says all that A says and all that B says, and nothing else.",
}
_TEXT = """# How to rate

Each row of your sheet has two texts, A and B, a target, and the name of an operator. Say how far you agree with the
sentence that belongs to the operator:

{questions}

Write a whole number into the column `rating`, in every row:

{scale}

* Judge what the texts say. Other words for the same thing count as the same.
* Texts may be awkward, cut short or put together from two; that alone costs nothing.
* A target that brings in something that neither text says, or leaves out something that matters, loses points by how
  much it matters; one that has nothing to do with what is asked gets 0.
* Small words, tense and names in another form do not matter unless the meaning changes.
* For overlap and union the order of A and B means nothing; for difference it does.

An example. A: "The bridge was closed on Monday and the mayor apologised." B: "The bridge was closed on Monday, and
buses were late." Overlap: "The bridge was closed on Monday." Difference: "The mayor apologised." Union: "The bridge was
closed on Monday, buses were late, and the mayor apologised." Each of these is a 4.

Work alone: do not look at another rater's sheet, and do not look anything up. `comment` is free. Leave the other
columns as they are, and save the file as CSV under its own name.
"""


def read_samples(path: Path) -> pd.DataFrame:
    """Read samples that `build` wrote.

    Raises:
        ValueError: the file cannot be read, or lacks a column; names it.
    """
    table = read_table(path)
    missing = sorted({*SHEET_COLUMNS[1:5], *KEY_COLUMNS[1:], "group"} - set(table.columns))
    if missing:
        raise ValueError(f"{path}: expected the columns of benchmarks.set_data, missing {missing}")
    return table


def write_sheets(table: pd.DataFrame, output: Path, per_operator: int, raters: int, seed: int) -> list[Path]:
    """Draw samples, at most one of a group for each operator, and write the files for the raters.

    Args:
        table: result of `read_samples`.
        output: folder, created if missing; existing sheets are not overwritten.
        per_operator: number of samples of each operator.
        raters: number of sheets.
        seed: seed of the draw and of the orders.

    Returns:
        The files rater1.csv and so on, guidelines.md, and key.csv, which maps items to samples and is not for raters.

    Raises:
        ValueError: an operator has too few groups, or a sheet already exists.
    """
    files = [output / f"rater{number}.csv" for number in range(1, raters + 1)]
    for file in (*files, output / KEY_FILE):
        if file.exists():  # it may contain days of somebody's work
            raise ValueError(f"output: expected a folder without sheets, got {output} with {file.name}")
    rng = np.random.default_rng(seed)
    items = _draw(table, per_operator, rng)
    output.mkdir(parents=True, exist_ok=True)
    sheet = items.assign(rating="", comment="")[SHEET_COLUMNS]
    for column in ("a", "b", "target"):
        sheet[column] = sheet[column].map(lambda text: f"'{text}" if text.startswith(_FORMULA) else text)
    for file in files:
        sheet.iloc[rng.permutation(len(sheet))].to_csv(file, index=False, encoding=ENCODING)
    items[KEY_COLUMNS].to_csv(output / KEY_FILE, index=False)
    (output / GUIDELINES).write_text(guidelines(), encoding="utf-8")
    return [*files, output / GUIDELINES, output / KEY_FILE]


def guidelines() -> str:
    """Instructions for raters, in Markdown."""
    questions = "\n".join(f"* **{operator}**: {_QUESTIONS[operator]}" for operator in OPERATORS)
    return _TEXT.format(questions=questions, scale="\n".join(f"* {rating}: {word}" for rating, word in SCALE.items()))


def _draw(table: pd.DataFrame, per_operator: int, rng: np.random.Generator) -> pd.DataFrame:
    """The chosen samples in a random order, numbered in the column `item`."""
    chosen = []
    for operator in OPERATORS:
        places = rng.permutation(np.flatnonzero(table["operator"] == operator))
        distinct = table.iloc[places].drop_duplicates("group")
        if len(distinct) < per_operator:
            raise ValueError(
                f"per_operator: expected at most {len(distinct)}, the groups with {operator}, got {per_operator}"
            )
        chosen.append(distinct.head(per_operator))
    items = pd.concat(chosen)
    items = items.iloc[rng.permutation(len(items))]
    return items.assign(item=range(1, len(items) + 1))
