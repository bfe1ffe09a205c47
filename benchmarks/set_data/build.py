"""From sources to samples: read, chain, fuse, filter, draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path

import pandas as pd

from benchmarks.common.encoders import Score
from benchmarks.set_data.captions import caption_samples
from benchmarks.set_data.chains import THRESHOLD, Chain, Dropped, Fuse, chain_samples, draw, fuse_chains, sample_table
from benchmarks.set_data.fusion import CONCATENATION, concatenate
from benchmarks.set_data.sources import (
    SOURCES,
    STRIDE,
    Lengths,
    document_chains,
    read_source,
    split_chains,
    union_samples,
)


@dataclass(frozen=True)
class Plan:
    """What a build depends on, besides its sources.

    Attributes:
        scores: cosine of each encoder that filters the differences; without any, nothing is filtered.
        fuse: function that makes the missing fusions.
        fusion: name of the fusion.
        threshold: threshold of the cosines.
        lengths: lengths of the sentences of chains.
        stride: number of sentences from one chain of a document to the next.
        limit: largest number of samples of each operator; None for all.
        seed: seed of everything that is drawn.
    """

    scores: Sequence[Score] = ()
    fuse: Fuse = concatenate
    fusion: str = CONCATENATION
    threshold: float = THRESHOLD
    lengths: Lengths = field(default_factory=Lengths)
    stride: int = STRIDE
    limit: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if isnan(self.threshold):  # no cosine is below it: every difference would be left out
            raise ValueError("threshold: expected a number, got nan")


def build(
    plan: Plan,
    data: Path | None = None,
    names: Sequence[str] = (),
    documents: Mapping[str, Sequence[object]] | None = None,
) -> tuple[pd.DataFrame, Dropped]:
    """Make samples.

    Args:
        plan: settings of the build.
        data: data folder of the sources in `names`.
        names: names of sources, keys of SOURCES.
        documents: texts by the name of their source.

    Returns:
        The samples, columns COLUMNS, and the counts of what was left out.

    Raises:
        ValueError: a source cannot be read, a name is taken, or no sample is left.
    """
    dropped: Dropped = Dropped()
    chains, rows = [], []
    for name in names:
        if data is None:
            raise ValueError(f"data: expected the folder of {name}, got none")
        some_chains, some_rows = _from_source(name, data, plan, dropped)
        chains += some_chains
        rows += some_rows
    for name, texts in (documents or {}).items():
        if name in SOURCES:
            raise ValueError(f"documents: expected a name other than {', '.join(SOURCES)}, got {name!r}")
        chains += document_chains(texts, name, plan.lengths, dropped, plan.stride)
    chains = fuse_chains(chains, plan.fuse, plan.fusion, dropped)
    rows += chain_samples(chains, plan.scores, plan.threshold, dropped)
    table = draw(sample_table(rows, dropped), plan.limit, plan.seed, dropped)
    if table.empty:
        raise ValueError(f"expected at least one sample, got none; left out: {dict(dropped)}")
    return table, dropped


def _from_source(name: str, data: Path, plan: Plan, dropped: Dropped) -> tuple[list[Chain], list[dict[str, str]]]:
    source = SOURCES[name]
    chains, rows = [], []
    for file, frame in read_source(name, data).items():
        if source.kind == "split":
            chains += split_chains(frame, name, file, plan.seed, plan.lengths, dropped)
        elif source.kind == "union":
            rows += union_samples(frame, name, file, dropped)
        elif source.kind == "captions":
            filters = (plan.scores, plan.threshold)
            columns = (source.picture, source.column)
            rows += caption_samples(frame, columns, (name, file), plan.lengths, plan.seed, *filters, dropped)
        else:
            chains += document_chains(list(frame[source.column]), name, plan.lengths, dropped, plan.stride)
    return chains, rows
