"""The data set's files: samples.parquet and README.md, its card; the same bytes for the same samples."""

from collections import Counter
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import pandas as pd
import pyarrow
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pyarrow import parquet

from benchmarks.set_data.chains import COLUMNS, FORMS, GIVEN, OPERATORS, Dropped
from benchmarks.set_data.fusion import CONCATENATION
from benchmarks.set_data.sources import SOURCES, Lengths

SAMPLES, CARD = "samples.parquet", "README.md"
PAPER = "Bansal, Mahajan, Sinha and Karmaker, *Set-Theoretic Compositionality of Sentence Embeddings*"
_TEMPLATE = "card.md"


@dataclass(frozen=True)
class Recipe:
    """How samples were made, for their card.

    Attributes:
        command: line that makes them again.
        fusion: name of the fusion that was made.
        encoders: names of those that filtered.
        threshold: of their cosine.
        lengths: of the sentences.
        stride: sentences from one chain of a document to the next.
        documents: the user's own sources of documents, with their licence.
    """

    command: str
    fusion: str
    encoders: tuple[str, ...]
    threshold: float
    lengths: Lengths
    stride: int
    documents: dict[str, str] = field(default_factory=dict)


def write(table: pd.DataFrame, dropped: Dropped, recipe: Recipe, output: Path) -> None:
    """Write samples.parquet and README.md into a folder, which is made."""
    output.mkdir(parents=True, exist_ok=True)
    held = pyarrow.table({column: pyarrow.array(table[column], pyarrow.string()) for column in COLUMNS})
    parquet.write_table(held, output / SAMPLES, compression="zstd")
    (output / CARD).write_text(card(table, dropped, recipe), encoding="utf-8", newline="\n")


def card(table: pd.DataFrame, dropped: Dropped, recipe: Recipe) -> str:
    """The card: command, counts, construction, what was left out, licences, citation, an example of each operator."""
    held = [name for name in [*SOURCES, *recipe.documents] if (table["source"] == name).any()]
    kinds = {name: SOURCES[name].kind if name in SOURCES else "documents" for name in held}
    totals = Counter(table["operator"])
    each = ", ".join(f"{operator} {totals[operator]:,}" for operator in OPERATORS)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, keep_trailing_newline=True
    )  # Markdown, not HTML: the one place with texts of others escapes them itself
    return environment.get_template(_TEMPLATE).render(
        recipe=recipe,
        paper=PAPER,
        given=GIVEN,
        concatenation=CONCATENATION,
        concatenated=table["fusion"].str.contains(CONCATENATION).any(),
        model=recipe.fusion != CONCATENATION,
        totals=f"{len(table):,} in {table['group'].nunique():,} groups: {each}.",
        counts=_counts(table),
        left_out=_left_out(dropped),
        licences=_licences(held, recipe),
        examples=_examples(table),
        **{kind: [name for name in held if kinds[name] == kind] for kind in ("split", "union", "documents")},
    )


def _counts(table: pd.DataFrame) -> str:
    counted = table.groupby(["operator", "form", "fusion", "source"], sort=False).size().reset_index(name="samples")
    forms = [form.name for form in FORMS]
    places = counted["form"].map(lambda name: forms.index(name) if name in forms else len(forms))
    return _markdown(counted.iloc[places.argsort(kind="stable")])


def _left_out(dropped: Dropped) -> str:
    rows = [{"source": source, "what": what, "count": count} for (source, what), count in sorted(dropped.items())]
    return _markdown(pd.DataFrame(rows)) if rows else "Nothing.\n"


def _licences(held: list[str], recipe: Recipe) -> str:
    rows = []
    for name in held:
        if name in SOURCES:
            source = SOURCES[name]
            texts = (source.note, source.licence, source.credit)
        else:
            texts = ("documents given by whoever made this", recipe.documents[name], "their source")
        rows.append((name, *texts))
    return _markdown(pd.DataFrame(rows, columns=["source", "what", "licence as stated", "cite"]))


def _examples(table: pd.DataFrame) -> str:
    lines = []
    for operator in OPERATORS:
        for row in table[table["operator"] == operator].head(1).to_dict("records"):
            about = ", ".join((operator, row["form"], row["source"], row["fusion"]))
            lines.append(f"* {escape(about, quote=False)}")
            lines += [f"  * {name}: {escape(row[name], quote=False)}" for name in ("a", "b", "target")]
    return "\n".join(lines)


def _markdown(table: pd.DataFrame) -> str:
    """A Markdown table; numbers to the right, with their thousands apart; what would be HTML is shown as it is."""
    rules = ["---:" if pd.api.types.is_numeric_dtype(table[name]) else "---" for name in table]
    shown = [
        [f"{x:,}" if isinstance(x, int) else escape(str(x), quote=False).replace("|", "\\|") for x in row]
        for row in table.values.tolist()
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in [list(table), rules, *shown])
