"""Sources of samples, the files that are made of them, and the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.baselines import sentence_splitter
from benchmarks.common.encoders import Score, cosine_of
from benchmarks.papers.set_data.chains import COLUMNS, GIVEN, Chain, Dropped, fuse_chains, sample_table
from benchmarks.papers.set_data.command import main
from benchmarks.papers.set_data.fusion import CONCATENATION, concatenate
from benchmarks.papers.set_data.sources import (
    Lengths,
    Plan,
    build,
    document_chains,
    read_documents,
    split_chains,
    union_samples,
)
from tests.endpoint.fake_endpoint import Reply, chat_reply, serve

ANY_LENGTH = Lengths(1, 1000)
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


def test_unsuitable_rows_are_counted() -> None:
    frame = split_frame(8)
    frame.loc[0, "n_parts"] = 3
    frame.loc[1, "b"] = None
    frame.loc[2, "target"] = "  "
    frame.loc[3, "a"] = "one . . ."  # full stops do not count as words
    frame.loc[4, "a"] = "word " * 9
    dropped = Dropped()
    chains = split_chains(frame, "s", "f", 0, Lengths(2, 8), dropped)
    assert {chain.group for chain in chains} == {"s/f:5", "s/f:6", "s/f:7"}
    assert dropped == {
        ("s", "row: other than two parts"): 1,
        ("s", "row: a text is missing"): 2,
        ("s", "row: a sentence of fewer than 2 words"): 1,
        ("s", "row: a sentence of more than 8 words"): 1,
    }
    assert split_chains(frame[5:6], "s", "f", 0, Lengths(2, 8), dropped) == []
    assert dropped["s", "row: no other row to take a sentence from"] == 1


def test_unions_by_people_are_not_changed() -> None:
    frame = pd.DataFrame({"a": ["x y ", "x", None], "b": ["z", "y", "z"], "target": ["x  y z", "x", "z"]})
    dropped = Dropped()
    table = sample_table(union_samples(frame, "u", "train", dropped), dropped)
    assert table[["operator", "a", "b", "target", "group"]].values.tolist() == [
        ["union", "x y", "z", "x y z", "u/train:0"]
    ]
    assert dropped == {("u", "row: a text is missing"): 1, ("u", "union: two of its texts are equal"): 1}


def test_documents_give_consecutive_sentences() -> None:
    dropped = Dropped()
    documents = [ARTICLE, "One. Two.", ARTICLE, None, "", "Good. and so on it went. Then it all stopped again."]
    chains = document_chains(documents, "d", Lengths(1, 12), dropped)
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
        (ARTICLE, Lengths(7, 12), 1, "chain: a sentence of fewer than 7 words"),
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


@pytest.mark.parametrize(
    ("names", "documents", "message"),
    [
        ((), {"wikisplit": [ARTICLE]}, "documents: expected a name other than wikisplit, .*, got 'wikisplit'"),
        ((), {"mine": ["Too short."]}, "expected at least one sample, got none; left out: .*fewer than three"),
    ],
)
def test_invalid_builds_are_refused(tmp_path: Path, names: tuple[str, ...], documents: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(Plan(lengths=ANY_LENGTH), tmp_path, names, documents)


def test_a_source_without_a_column_is_refused(tmp_path: Path) -> None:
    write_data(tmp_path)
    split_frame(3).drop(columns="b").to_parquet(tmp_path / "wikisplit" / "test.parquet")
    with pytest.raises(ValueError, match=r"test.parquet: expected columns .*, missing \['b'\]"):
        build(Plan(), tmp_path, ("wikisplit",), {})


def test_documents_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("\n\none\ntwo\n \n\nthree\n")
    assert read_documents(tmp_path / "d.txt", None) == ["one\ntwo", "three"]
    (tmp_path / "d.jsonl").write_text('{"article": "x"}\n{"article": "y"}\n')
    assert read_documents(tmp_path / "d.jsonl", "article") == ["x", "y"]
    with pytest.raises(ValueError, match=r"column: expected one of \['article'\] of d.jsonl, got None"):
        read_documents(tmp_path / "d.jsonl", None)
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.txt: cannot be read as UTF-8"):
        read_documents(tmp_path / "latin.txt", None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "{folder}", "--source", "bisect"], "bisect: expected a file"),
        (["--data", "{folder}"], "data: expected one of the folders wikisplit, bisect, sentence_union, newts in"),
        ([], "data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --documents, got neither"),
        (["--documents", "{folder}/d.txt", "--encoder", "{folder}/none/"], "none/ does not load"),
        (["--documents", "{folder}/d.txt", "--threshold", "nan"], "threshold: expected a number, got nan"),
        (["--documents", "{folder}/d.txt", "--endpoint", "ftp://x"], "endpoint: expected a URL that begins with http"),
    ],
)
def test_invalid_arguments_are_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "d.txt").write_text(ARTICLE)
    arguments = [argument.format(folder=tmp_path) for argument in arguments]
    result = CliRunner().invoke(
        main, ["build", *arguments, "--output", str(tmp_path / "out")], env={"SEMANTIC_METRICS_DATA": ""}
    )
    assert result.exit_code == 1
    assert message in result.output
    assert not (tmp_path / "out").exists()


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
    assert body["messages"][1]["content"].startswith("Fuse the following two sentences in 9.0 words: The old dam")
    table = pd.read_parquet(tmp_path / "out" / "samples.parquet")
    assert set(table["fusion"]) == {"model gpt-x"}
    assert table[table["operator"] == "overlap"].iloc[0]["a"].startswith("Fused: The old dam")
