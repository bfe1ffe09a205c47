"""The files of the data set: samples.parquet and its card README.md; the same samples give the same bytes."""

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
from benchmarks.set_data.sources import KINDS, SOURCES, Lengths

SAMPLES, CARD = "samples.parquet", "README.md"
PAPER = "Bansal, Mahajan, Sinha and Karmaker, *Set-Theoretic Compositionality of Sentence Embeddings*"
_TEMPLATE = "card.md"


@dataclass(frozen=True)
class Recipe:
    """How samples were made, for their card.

    Attributes:
        command: command that makes them again.
        fusion: name of the fusion.
        encoders: names of the encoders that filter.
        threshold: threshold of their cosine.
        lengths: lengths of the sentences.
        stride: number of sentences from one chain of a document to the next.
        documents: licence of each of the user's own sources of documents.
    """

    command: str
    fusion: str
    encoders: tuple[str, ...]
    threshold: float
    lengths: Lengths
    stride: int
    documents: dict[str, str] = field(default_factory=dict)


def write(table: pd.DataFrame, dropped: Dropped, recipe: Recipe, output: Path) -> None:
    """Write samples.parquet and README.md to a folder, which is created if missing."""
    output.mkdir(parents=True, exist_ok=True)
    texts = pyarrow.table({column: pyarrow.array(table[column], pyarrow.string()) for column in COLUMNS})
    parquet.write_table(texts, output / SAMPLES, compression="zstd")
    (output / CARD).write_text(card(table, dropped, recipe), encoding="utf-8", newline="\n")


def card(table: pd.DataFrame, dropped: Dropped, recipe: Recipe) -> str:
    """The card: command, counts, construction, what was left out, licences, citation, an example of each operator."""
    sources = [name for name in [*SOURCES, *recipe.documents] if (table["source"] == name).any()]
    kinds = {name: SOURCES[name].kind if name in SOURCES else "documents" for name in sources}
    totals = Counter(table["operator"])
    each = ", ".join(f"{operator} {totals[operator]:,}" for operator in OPERATORS)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, keep_trailing_newline=True
    )  # Markdown, not HTML: the functions below escape texts of others themselves
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
        licences=_licences(sources, recipe),
        examples=_examples(table),
        **{kind: [name for name in sources if kinds[name] == kind] for kind in KINDS},
    )


def _counts(table: pd.DataFrame) -> str:
    counted = table.groupby(["operator", "form", "fusion", "source"], sort=False).size().reset_index(name="samples")
    forms = [form.name for form in FORMS]
    places = counted["form"].map(lambda name: forms.index(name) if name in forms else len(forms))
    return _markdown(counted.iloc[places.argsort(kind="stable")])


def _left_out(dropped: Dropped) -> str:
    rows = [{"source": source, "what": what, "count": count} for (source, what), count in sorted((+dropped).items())]
    return _markdown(pd.DataFrame(rows)) if rows else "Nothing.\n"


def _licences(sources: list[str], recipe: Recipe) -> str:
    known = {name: (source.note, source.licence, source.credit) for name, source in SOURCES.items()}
    own = {
        name: ("documents given by whoever made this", licence, "their source")
        for name, licence in recipe.documents.items()
    }
    rows = [(name, *(known | own)[name]) for name in sources]
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
    """A Markdown table with numbers aligned to the right and HTML escaped."""
    rules = ["---:" if pd.api.types.is_numeric_dtype(table[name]) else "---" for name in table]
    cells = [
        [f"{x:,}" if isinstance(x, int) else escape(str(x), quote=False).replace("|", "\\|") for x in row]
        for row in table.values.tolist()
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in [list(table), rules, *cells])
