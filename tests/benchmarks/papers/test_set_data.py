"""Sets of samples: sources, chains and their filter, the files that are made of them, and the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
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
    concatenate,
    draw,
    fuse_chains,
    sample_table,
)
from benchmarks.papers.set_data.command import main
from benchmarks.papers.set_data.sources import split_chains
from tests.endpoint.fake_endpoint import Reply, chat_reply, serve

ANY_LENGTH = (1, 1000)
ARTICLE = (
    "The old dam near the village broke at noon. A mayor of another party spoke on television. "
    "Two ships left the harbour with grain. Nobody expected such a cold winter. "
    "Her book about violins sold out. The striker missed a penalty late."
)


def bag_of_words(texts: list[str]) -> np.ndarray:
    """Counts of words: a simple encoder."""
    words = {word: i for i, word in enumerate(sorted({word for text in texts for word in text.split()}))}
    vectors = np.zeros((len(texts), len(words)))
    for row, text in zip(vectors, texts, strict=True):
        for word in text.split():
            row[words[word]] += 1
    return vectors


WORDS: Score = cosine_of(bag_of_words)


def fused(*chains: Chain) -> list[Chain]:
    return fuse_chains(chains, concatenate, CONCATENATION, Dropped())


def split_frame(rows: int) -> pd.DataFrame:
    """Rows without common words; the complex sentence has the words of both simple ones, in another order."""
    a = [f"a{i} b{i} c{i}" for i in range(rows)]
    b = [f"d{i} e{i}" for i in range(rows)]
    return pd.DataFrame({"a": a, "b": b, "target": [f"{y} {x}" for x, y in zip(a, b, strict=True)], "n_parts": 2})


def test_the_same_command_gives_the_same_bytes(tmp_path: Path) -> None:
    """With the real encoder, whose cosines decide which chains give differences."""
    (tmp_path / "articles.txt").write_text(ARTICLE)
    arguments = ["build", "--documents", tmp_path / "articles.txt", "--licence", "mine"]
    for name in ("one", "two"):
        given = list(map(str, [*arguments, "--output", tmp_path / name]))
        result = CliRunner().invoke(main, given, env={"SEMANTIC_METRICS_DATA": ""})
        assert result.exit_code == 0, result.output
    table = pd.read_parquet(tmp_path / "one" / "samples.parquet")
    assert list(table.columns) == COLUMNS
    assert table["operator"].value_counts().to_dict() == {"difference": 12, "union": 4, "overlap": 2}
    card = (tmp_path / "one" / "README.md").read_text()
    assert "threshold 0.25" in card
    assert "filtered by all-MiniLM-L6-v2" in card
    assert "| articles.txt | mine" in card
    assert str(tmp_path) not in card
    for name in ("samples.parquet", "README.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_model_fuses_and_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real HTTP server on the loopback address stands for the endpoint; the third pair is cut off."""
    monkeypatch.setattr("benchmarks.papers.set_data.command.sentence_transformer", lambda *_, **__: WORDS)

    def answer(body: dict, number: int) -> Reply:
        text = "Fused: " + " ".join(body["messages"][1]["content"].partition(": ")[2].split("\n"))
        return chat_reply(text, "length" if "Nobody" in text and "Her" not in text else "stop")

    (tmp_path / "articles.txt").write_text(ARTICLE)
    arguments = ["build", "--documents", tmp_path / "articles.txt", "--model", "gpt-x", "--output", tmp_path / "out"]
    with serve(answer) as endpoint:
        for _ in range(2):
            result = CliRunner().invoke(main, [*map(str, arguments), "--endpoint", f"{endpoint.url}/"])
            assert result.exit_code == 0, result.output
        assert len(endpoint.requests) == 4  # two chains, two fusions each: the second run needs none
        body = endpoint.requests[0][2]
    assert body["temperature"] == 0.5
    assert body["messages"][1]["content"].startswith("Fuse the following two sentences in 8.5 words: The old dam")
    table = pd.read_parquet(tmp_path / "out" / "samples.parquet")
    assert set(table["fusion"]) == {"model gpt-x"}
    assert table[table["operator"] == "overlap"].iloc[0]["a"].startswith("Fused: The old dam")


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
