"""From chains to samples: the paper's forms, its filter, and the count of what is left out."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.common.encoders import Score, cosine_of
from benchmarks.papers.set_data.chains import (
    COLUMNS,
    CONCATENATION,
    FORMS,
    OPERATORS,
    Chain,
    Dropped,
    chain_samples,
    draw,
    sample_table,
)
from benchmarks.papers.set_data.sources import split_chains
from tests.benchmarks.papers.set_data.test_command import ANY_LENGTH, WORDS, fused, split_frame

P, C, N = "The dam broke.", "A mayor spoke.", "Two ships left."


def is_sound(row: dict[str, str]) -> bool:
    """Whether a sample is what its operator says, texts read as sets of words."""
    a, b, target = (set(row[name].split()) for name in ("a", "b", "target"))
    return target == {"overlap": a & b, "difference": a - b, "union": a | b}[row["operator"]]


def test_a_chain_gives_the_papers_nine_samples() -> None:
    rows = chain_samples(fused(Chain("s", "s:0", P, C, N)), (), 0.25, Dropped())
    one, two = f"{P} {C}", f"{C} {N}"
    assert [(row["form"], row["a"], row["b"], row["target"]) for row in rows] == [
        ("({S1,S2},curr)", one, two, C),
        ("((S1,prev),curr)", one, P, C),
        ("((S1,curr),prev)", one, C, P),
        ("((S1,S2),prev)", one, two, P),
        ("((S2,curr),next)", two, C, N),
        ("((S2,next),curr)", two, N, C),
        ("((S2,S1),next)", two, one, N),
        ("({prev,curr},S1)", P, C, one),
        ("({curr,next},S2)", C, N, two),
    ]
    assert all(is_sound(row) for row in rows)
    assert {row["fusion"] for row in rows} == {CONCATENATION}
    assert len({row["id"] for row in rows}) == len(FORMS)


def test_differences_need_dissimilar_neighbours() -> None:
    near = Chain("s", "s:0", "red cat sat", "red dog ran", "two ships left")  # cos(prev, curr) is 1/3
    far = Chain("s", "s:1", "one dam broke", "a mayor spoke", "two ships left")
    dropped = Dropped()
    rows = chain_samples(fused(near, far), (WORDS,), 0.25, dropped)
    by_group = {group: Counter(row["operator"] for row in rows if row["group"] == group) for group in ("s:0", "s:1")}
    assert by_group["s:0"] == {"overlap": 1, "union": 2}
    assert by_group["s:1"] == {"overlap": 1, "difference": 6, "union": 2}
    assert dropped == {("s", "difference: its chain has neighbours of cosine >= 0.25"): 6}
    assert len(chain_samples(fused(near, far), (WORDS,), 0.34, Dropped())) == 18
    constant: Score = cosine_of(lambda texts: np.ones((len(texts), 2)))
    assert len(chain_samples(fused(far), (WORDS, constant), 0.25, Dropped())) == 3  # every encoder must agree
    equal = Chain("s", "s:0", "a b c d", "a e f g", "h i j k")  # cos(prev, curr) is 1/4, the threshold
    assert len(chain_samples(fused(equal), (WORDS,), 0.25, Dropped())) == 3


def test_repeated_and_uninformative_samples_are_counted() -> None:
    def row(operator: str, a: str, b: str, target: str) -> dict[str, str]:
        return dict.fromkeys(COLUMNS, "s") | {"operator": operator, "a": a, "b": b, "target": target}

    dropped = Dropped()
    rows = [row("union", "x", "y", "xy"), row("union", "y", "x", "xy"), row("difference", "xy", "x", "y")]
    rows += [row("difference", "x", "xy", "y"), row("overlap", "x", "x", "z"), row("difference", "xy", "x", "y")]
    table = sample_table(rows, dropped)
    assert table[["operator", "a", "b"]].values.tolist() == [
        ["difference", "xy", "x"],
        ["difference", "x", "xy"],
        ["union", "x", "y"],
    ]
    assert dropped == {
        ("s", "overlap: two of its texts are equal"): 1,
        ("s", "union: repeats an earlier sample"): 1,
        ("s", "difference: repeats an earlier sample"): 1,
    }


@given(rows=st.integers(3, 30), limit=st.one_of(st.none(), st.integers(1, 60)), seed=st.integers(0, 5))
@settings(max_examples=25)
def test_nothing_is_dropped_silently(rows: int, limit: int | None, seed: int) -> None:
    dropped = Dropped()
    chains = fused(*split_chains(split_frame(rows), "s", "f", seed, ANY_LENGTH, dropped))
    made = chain_samples(chains, (WORDS,), 0.25, dropped)
    table = draw(sample_table(made, dropped), limit, seed, dropped)
    assert len(table) + dropped.total() == 6 * rows
    counts = table["operator"].value_counts()
    assert all(counts[name] == min(limit or rows * 4, rows * (4 if name == "difference" else 1)) for name in OPERATORS)
    assert list(table["operator"]) == sorted(table["operator"], key=OPERATORS.index)
