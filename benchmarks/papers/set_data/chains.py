"""Chains of three sentences and their two fusions -> TextOverlap, TextDifference and TextUnion samples.

A chain is prev, curr, next with S1 = fuse(prev, curr) and S2 = fuse(curr, next). Every sample is three of these five
texts, as FORMS lists them. The difference forms need parts that share nothing, so they are made only of chains whose
neighbours are dissimilar: cos(prev, curr) and cos(curr, next) below THRESHOLD. Sentences are fused by concatenation, or
by a model behind an OpenAI-compatible endpoint.

Source: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings", section 5, tables 4 to 8 and appendix
A.1 (gpt-3.5-turbo, temperature 0.5). Its 79,824 difference samples are six times 13,304: a chain gives all six or none.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pandas as pd

from benchmarks.common.encoders import Score
from semantic_metrics.core.progress import with_progress
from semantic_metrics.endpoint import EndpointError, JsonEndpoint
from semantic_metrics.set_criteria.samples import OPERATORS

ORDERED = "difference"  # the operator whose inputs cannot be exchanged
THRESHOLD = 0.25  # section 5: "determined empirically"
COLUMNS = ["operator", "a", "b", "target", "form", "source", "fusion", "group", "id"]
FORMS = (  # operator, and the names of the texts a, b and target
    ("overlap", "S1", "S2", "curr"),
    ("difference", "S1", "prev", "curr"),
    ("difference", "S1", "curr", "prev"),
    ("difference", "S1", "S2", "prev"),
    ("difference", "S2", "curr", "next"),
    ("difference", "S2", "next", "curr"),
    ("difference", "S2", "S1", "next"),
    ("union", "prev", "curr", "S1"),
    ("union", "curr", "next", "S2"),
)
GIVEN = "given"  # a fusion that the source contains: a complex sentence, a union that a person wrote
CONCATENATION = "concatenation"  # value of the column `fusion`
PAPER_MODEL = "gpt-3.5-turbo"
TEMPERATURE = 0.5
SYSTEM = "You are a paraphraser."

Pair = tuple[str, str]
Fuse = Callable[[Sequence[Pair]], list[str]]  # pairs of sentences -> a fusion of each, empty where there is none
Dropped = Counter[tuple[str, str]]  # number of chains or samples that were left out, by (source, reason)


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

    def rows(self) -> list[dict[str, str]]:
        """The samples of all forms, by COLUMNS; in a chain with a given fusion, only those that contain it."""
        named = {"prev": self.prev, "curr": self.curr, "next": self.next, "S1": self.s1, "S2": self.s2}
        fusions = {"S1": self.fusion1, "S2": self.fusion2}
        given = {name for name, fusion in fusions.items() if fusion == GIVEN}
        rows = []
        for operator, *texts in (form for form in FORMS if not given or given & set(form)):
            # the paper's notation, such as ((S1,prev),curr); braces where the order of the inputs is free
            form = "(({},{}),{})" if operator == ORDERED else "({{{},{}}},{})"
            form, fusion = form.format(*texts), "+".join(sorted({fusions[name] for name in texts if name in fusions}))
            values = (operator, *map(named.get, texts), form, self.source, fusion, self.group, f"{self.group}:{form}")
            rows.append(dict(zip(COLUMNS, values, strict=True)))
        return rows


def concatenate(pairs: Sequence[Pair]) -> list[str]:
    """The two sentences, one after the other: a fusion that rewords nothing.

    >>> concatenate([("It rained.", "We went in.")])
    ['It rained. We went in.']
    """
    return [f"{first} {second}" for first, second in pairs]


def messages(first: str, second: str) -> list[dict[str, str]]:
    r"""The paper's chat messages; the word limit is half the number of words and, as in the paper, may end in .5.

    >>> messages("It rained.", "We went in.")[1]["content"]
    'Fuse the following two sentences in 2.5 words: It rained.\nWe went in.'
    """
    limit = 0.5 * (len(first.split()) + len(second.split()))
    request = f"Fuse the following two sentences in {limit} words: {first}\n{second}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": request}]


def model_fusion(endpoint: JsonEndpoint, model: str) -> Fuse:
    """Fusion by a chat model: an empty text where it gave none, was cut off, or the endpoint's filter refused the pair.

    A temperature above 0 makes a build repeatable only through the replies that the endpoint keeps in a file.
    """
    if not model:
        raise ValueError("model: expected the name of a model, got an empty one")

    def fuse_one(pair: Pair) -> str:
        try:
            text, reason = endpoint.chat(model, messages(*pair), temperature=TEMPERATURE)
        except EndpointError as error:
            if error.code == 400 and "content_filter" in error.body:  # only this pair is refused
                return ""
            raise
        return "" if not isinstance(text, str) or reason in ("length", "content_filter") else text.strip()

    return lambda pairs: [fuse_one(pair) for pair in with_progress(list(pairs), "pair")]


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


def chain_samples(
    chains: Sequence[Chain], scores: Sequence[Score], threshold: float, dropped: Dropped
) -> list[dict[str, str]]:
    """The samples of fused chains; differences only where both pairs of neighbours are below the threshold for all."""
    dissimilar = np.ones(len(chains), dtype=bool)
    left = [text for chain in chains for text in (chain.prev, chain.curr)]
    right = [text for chain in chains for text in (chain.curr, chain.next)]
    for score in scores if chains else ():
        dissimilar &= (score(left, right).reshape(len(chains), 2) < threshold).all(axis=1)
    rows = []
    for chain, has_differences in zip(chains, dissimilar, strict=True):
        for row in chain.rows():
            if has_differences or row["operator"] != ORDERED:
                rows.append(row)
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
    return table.sort_values("operator", key=lambda names: names.map(OPERATORS.index), kind="stable", ignore_index=True)


def draw(table: pd.DataFrame, limit: int | None, seed: int, dropped: Dropped) -> pd.DataFrame:
    """At most `limit` samples of each operator, drawn at random and kept in their order."""
    if limit is None:
        return table
    kept = np.zeros(len(table), dtype=bool)
    for number, operator in enumerate(OPERATORS):
        places = np.flatnonzero(table["operator"] == operator)
        kept[np.random.default_rng([seed, number]).permutation(places)[:limit]] = True
    return _without(table, pd.Series(~kept), f"over the limit of {limit}", dropped).reset_index(drop=True)


def _without(table: pd.DataFrame, out: pd.Series, reason: str, dropped: Dropped) -> pd.DataFrame:
    gone = out.to_numpy(dtype=bool)
    pairs = table.loc[gone, ["source", "operator"]].itertuples(index=False)
    dropped.update((source, f"{operator}: {reason}") for source, operator in pairs)
    return table[~gone]
