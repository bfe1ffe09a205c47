"""Chains of three sentences and their two fusions -> TextOverlap, TextDifference and TextUnion samples.

A chain is prev, curr, next with S1 = fuse(prev, curr) and S2 = fuse(curr, next). Every sample is three of these five
texts, as FORMS lists them. The difference forms need parts that share nothing, so they are made only of chains whose
neighbours are dissimilar: cos(prev, curr) and cos(curr, next) below THRESHOLD.

Source: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings", section 5 and tables 4 to 8. Its 79,824
difference samples are six times 13,304: a chain gives all six or none.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pandas as pd

from benchmarks.common.encoders import Score

OPERATORS = ("overlap", "difference", "union")
ORDERED = "difference"  # the operator whose inputs cannot be exchanged
THRESHOLD = 0.25  # section 5: "determined empirically"
COLUMNS = ["operator", "a", "b", "target", "form", "source", "fusion", "group", "id"]
GIVEN = "given"  # a fusion that the source contains: a complex sentence, a union that a person wrote

Pair = tuple[str, str]
Fuse = Callable[[Sequence[Pair]], list[str]]
"""Function from pairs of sentences to a fusion of each, in order; an empty text where there is none."""

Dropped = Counter[tuple[str, str]]
"""Number of chains or samples that were left out, by (source, reason)."""


@dataclass(frozen=True)
class Form:
    """Which texts of a chain make a sample."""

    operator: str
    a: str
    b: str
    target: str

    @property
    def name(self) -> str:
        """The paper's notation, such as `((S1,prev),curr)`; braces where the order of the inputs is free."""
        inputs = f"({self.a},{self.b})" if self.operator == ORDERED else f"{{{self.a},{self.b}}}"
        return f"({inputs},{self.target})"

    @property
    def texts(self) -> tuple[str, str, str]:
        """The names of the three texts."""
        return self.a, self.b, self.target


FORMS = (
    Form("overlap", "S1", "S2", "curr"),
    Form("difference", "S1", "prev", "curr"),
    Form("difference", "S1", "curr", "prev"),
    Form("difference", "S1", "S2", "prev"),
    Form("difference", "S2", "curr", "next"),
    Form("difference", "S2", "next", "curr"),
    Form("difference", "S2", "S1", "next"),
    Form("union", "prev", "curr", "S1"),
    Form("union", "curr", "next", "S2"),
)


@dataclass(frozen=True)
class Chain:
    """Three sentences and, once made, their two fusions: s1 of prev and curr, s2 of curr and next.

    `group` is its unique name: samples of one chain are not independent. `fusion1` and `fusion2` are GIVEN, or the name
    of the fusion that made s1 and s2.
    """

    source: str
    group: str
    prev: str
    curr: str
    next: str
    s1: str = ""
    s2: str = ""
    fusion1: str = ""
    fusion2: str = ""

    @property
    def pairs(self) -> list[Pair]:
        """Pairs that are not fused yet."""
        pairs = (self.s1, (self.prev, self.curr)), (self.s2, (self.curr, self.next))
        return [pair for text, pair in pairs if not text]

    @property
    def nested(self) -> bool:
        """Whether a sentence equals or is part of another, ignoring case; then no difference is valid."""
        sentences = [f" {text.casefold()} " for text in (self.prev, self.curr, self.next)]
        return any(one in other for one, other in permutations(sentences, 2))

    def forms(self) -> Iterable[Form]:
        """All forms; in a chain with a given fusion, only those that contain it."""
        fusions = {"S1": self.fusion1, "S2": self.fusion2}
        given = {name for name, fusion in fusions.items() if fusion == GIVEN}
        return (form for form in FORMS if not given or given & set(form.texts))

    def row(self, form: Form) -> dict[str, str]:
        """The sample of one form, by the names of COLUMNS."""
        texts = {"prev": self.prev, "curr": self.curr, "next": self.next, "S1": self.s1, "S2": self.s2}
        fusions = {"S1": self.fusion1, "S2": self.fusion2}
        fusion = "+".join(sorted({fusions[name] for name in form.texts if name in fusions}))
        about = (form.name, self.source, fusion, self.group, f"{self.group}:{form.name}")
        return dict(zip(COLUMNS, (form.operator, *(texts[name] for name in form.texts), *about), strict=True))


def fuse_chains(chains: Sequence[Chain], fuse: Fuse, name: str, dropped: Dropped) -> list[Chain]:
    """Make the missing fusions of chains by `fuse`, called `name`; each distinct pair is fused once.

    Left out and counted: chains with a sentence within another, without a fusion, and those whose fusion is just one of
    its two sentences.

    Raises:
        ValueError: `fuse` does not return one text for each pair.
    """
    dropped.update((chain.source, "chain: a sentence is within another") for chain in chains if chain.nested)
    chains = [chain for chain in chains if not chain.nested]
    pairs = list(dict.fromkeys(pair for chain in chains for pair in chain.pairs))
    texts = fuse(pairs) if pairs else []
    if len(texts) != len(pairs):
        raise ValueError(f"fuse: expected {len(pairs)} texts, one for each pair, got {len(texts)}")
    fused = {pair: " ".join(text.split()) for pair, text in zip(pairs, texts, strict=True)}
    done = []
    for chain in chains:
        if not chain.s1:
            chain = replace(chain, s1=fused[chain.prev, chain.curr], fusion1=name)
        if not chain.s2:
            chain = replace(chain, s2=fused[chain.curr, chain.next], fusion2=name)
        if not (chain.s1 and chain.s2):
            dropped[chain.source, "chain: a fusion is empty, cut off or refused"] += 1
        elif chain.s1 in (chain.prev, chain.curr) or chain.s2 in (chain.curr, chain.next):
            dropped[chain.source, "chain: a fusion is one of its two sentences"] += 1
        else:
            done.append(chain)
    return done


def dissimilar(chains: Sequence[Chain], scores: Sequence[Score], threshold: float) -> np.ndarray:
    """(n,) bool: whether both pairs of neighbours are below the threshold for every encoder; without any, all are."""
    kept = np.ones(len(chains), dtype=bool)
    left = [text for chain in chains for text in (chain.prev, chain.curr)]
    right = [text for chain in chains for text in (chain.curr, chain.next)]
    for score in scores if chains else ():
        cosines = score(left, right).reshape(len(chains), 2)
        kept &= (cosines < threshold).all(axis=1)
    return kept


def chain_samples(
    chains: Sequence[Chain], scores: Sequence[Score], threshold: float, dropped: Dropped
) -> list[dict[str, str]]:
    """The samples of fused chains; differences only where the neighbours are dissimilar."""
    rows = []
    for chain, has_differences in zip(chains, dissimilar(chains, scores, threshold), strict=True):
        for form in chain.forms():
            if has_differences or form.operator != ORDERED:
                rows.append(chain.row(form))
            else:
                dropped[chain.source, f"difference: its chain has neighbours of cosine >= {threshold}"] += 1
    return rows


def sample_table(rows: list[dict[str, str]], dropped: Dropped) -> pd.DataFrame:
    """Samples in the order of the operators, without uninformative ones and repetitions.

    A sample with two equal texts says nothing about an encoder (its plane or its differences vanish). A repetition has
    the same operator and texts as an earlier sample; the inputs of overlap and union may be exchanged.
    """
    table = pd.DataFrame(rows, columns=COLUMNS)
    equal = (table["a"] == table["b"]) | (table["target"] == table["a"]) | (table["target"] == table["b"])
    table = _without(table, equal, "two of its texts are equal", dropped)
    swapped = (table["operator"] != ORDERED) & (table["b"] < table["a"])
    first, second = table["a"].mask(swapped, table["b"]), table["b"].mask(swapped, table["a"])
    keys = table[["operator", "target"]].assign(first=first, second=second)
    table = _without(table, keys.duplicated(), "repeats an earlier sample", dropped)
    order = table["operator"].map(OPERATORS.index)
    return table.loc[order.sort_values(kind="stable").index].reset_index(drop=True)


def draw(table: pd.DataFrame, limit: int | None, seed: int, dropped: Dropped) -> pd.DataFrame:
    """At most `limit` samples of each operator, drawn at random and kept in their order."""
    if limit is None:
        return table
    kept = np.zeros(len(table), dtype=bool)
    for number, operator in enumerate(OPERATORS):
        places = np.flatnonzero(table["operator"] == operator)
        rng = np.random.default_rng([seed, number])
        kept[rng.permutation(places)[:limit]] = True
    return _without(table, pd.Series(~kept), f"over the limit of {limit}", dropped).reset_index(drop=True)


def _without(table: pd.DataFrame, out: pd.Series, reason: str, dropped: Dropped) -> pd.DataFrame:
    gone = out.to_numpy(dtype=bool)
    pairs = table.loc[gone, ["source", "operator"]].itertuples(index=False)
    dropped.update((source, f"{operator}: {reason}") for source, operator in pairs)
    return table[~gone]
