"""Sources of samples, the files that are made of them, and the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.baselines import sentence_splitter
from benchmarks.common.encoders import Score, cosine_of
from benchmarks.papers.set_data.chains import COLUMNS, CONCATENATION, GIVEN, Chain, Dropped, concatenate, fuse_chains
from benchmarks.papers.set_data.command import main
from benchmarks.papers.set_data.sources import document_chains, split_chains
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


def test_split_rows_borrow_a_sentence_of_another_row_on_either_side() -> None:
    chains = split_chains(split_frame(40), "s", "f", 0, ANY_LENGTH, Dropped())
    borrowed = [chain.prev if chain.fusion2 else chain.next for chain in chains]
    assert sorted(borrowed) == sorted(split_frame(40)["a"])  # each is used once
    assert all(
        text not in (chain.curr, chain.prev if chain.fusion1 else chain.next)
        for chain, text in zip(chains, borrowed, strict=True)
    )
    assert 5 < sum(chain.fusion1 == GIVEN for chain in chains) < 35
    assert chains == split_chains(split_frame(40), "s", "f", 0, ANY_LENGTH, Dropped())
    assert chains != split_chains(split_frame(40), "s", "f", 1, ANY_LENGTH, Dropped())


def test_documents_give_consecutive_sentences() -> None:
    dropped = Dropped()
    documents = [ARTICLE, "One. Two.", ARTICLE, None, "", "Good. and so on it went. Then it all stopped again."]
    chains = document_chains(documents, "d", (1, 12), dropped)
    sentences = sentence_splitter()(ARTICLE)
    assert [(chain.prev, chain.curr, chain.next) for chain in chains] == [tuple(sentences[:3]), tuple(sentences[3:])]
    assert [chain.group for chain in chains] == ["d:0.0", "d:0.3"]
    assert dropped == {
        ("d", "document: fewer than three sentences"): 1,
        ("d", "document: repeats an earlier one"): 1,
        ("d", "document: empty"): 2,
        ("d", "chain: a sentence begins in lower case"): 1,
    }
    assert len(document_chains([ARTICLE], "d", ANY_LENGTH, Dropped(), stride=1)) == 4
    for text, lengths, count, reason in (
        (f"{ARTICLE} Then it rained.", ANY_LENGTH, 2, "sentence: too few follow for a chain"),
        (ARTICLE, (7, 12), 1, "chain: a sentence of fewer than 7 words"),
    ):
        dropped = Dropped()
        assert len(document_chains([text], "d", lengths, dropped)) == count
        assert dropped == {("d", reason): 1}


def write_data(folder: Path) -> Path:
    """A data folder with two of the sources."""
    for name, files in {"wikisplit": ["test"], "bisect": ["test", "valid", "challenge_test"]}.items():
        (folder / name).mkdir(parents=True)
        for file in files:
            frame = split_frame(12).map(lambda x, at=f"{name}{file}": x if isinstance(x, int) else x.replace("a", at))
            frame.to_parquet(folder / name / f"{file}.parquet")
    return folder


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
