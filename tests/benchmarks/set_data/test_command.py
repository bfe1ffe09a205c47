"""Sources of samples, the files that are made of them, and the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.encoders import Score, cosine_of
from benchmarks.set_data.__main__ import main
from benchmarks.set_data.build import Plan, build
from benchmarks.set_data.card import Recipe, write
from benchmarks.set_data.chains import COLUMNS, GIVEN, Chain, Dropped, fuse_chains, sample_table
from benchmarks.set_data.fusion import CONCATENATION, concatenate
from benchmarks.set_data.sources import (
    Lengths,
    document_chains,
    read_documents,
    split_chains,
    split_sentences,
    union_samples,
)

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
    sentences = split_sentences(ARTICLE)
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


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mr. Smith met Dr. J. K. Jones. They spoke.", ["Mr. Smith met Dr. J. K. Jones.", "They spoke."]),
        ("It cost $3.5 million in the U.S. last year. Why?", ["It cost $3.5 million in the U.S. last year.", "Why?"]),
        ('"Go!" she said. He went .', ['"Go!"', "she said.", "He went ."]),
        ("No stop at all", ["No stop at all"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def write_data(folder: Path) -> Path:
    """A data folder with two of the sources."""
    for name, files in {"wikisplit": ["test"], "bisect": ["test", "valid", "challenge_test"]}.items():
        (folder / name).mkdir(parents=True)
        for file in files:
            frame = split_frame(12).map(lambda x, at=f"{name}{file}": x if isinstance(x, int) else x.replace("a", at))
            frame.to_parquet(folder / name / f"{file}.parquet")
    return folder


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    recipe = Recipe("command", CONCATENATION, ("words",), 0.25, ANY_LENGTH, 3)
    for folder, seed in (("a", 3), ("b", 3), ("c", 4)):
        plan = Plan(scores=(WORDS,), lengths=ANY_LENGTH, limit=20, seed=seed)
        write(*build(plan, data, ("wikisplit", "bisect")), recipe, tmp_path / folder)
    for name in ("samples.parquet", "README.md"):
        one, same, other = ((tmp_path / folder / name).read_bytes() for folder in "abc")
        assert one == same != other
    plan = Plan(scores=(WORDS,), lengths=ANY_LENGTH)  # a further source changes no sample of another
    both, _ = build(plan, data, ("wikisplit", "bisect"))
    assert both[both["source"] == "bisect"].reset_index(drop=True).equals(build(plan, data, ("bisect",))[0])


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
        build(Plan(), tmp_path, ("wikisplit",))


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


def test_the_command_line(tmp_path: Path) -> None:
    """With the real encoder, whose cosines decide which chains give differences."""
    (tmp_path / "articles.txt").write_text(ARTICLE)
    arguments = ["build", "--documents", tmp_path / "articles.txt", "--licence", "<b> mine | own"]
    arguments += ["--output", tmp_path / "out"]
    result = CliRunner().invoke(main, list(map(str, arguments)), env={"SEMANTIC_METRICS_DATA": ""})
    assert result.exit_code == 0, result.output
    table = pd.read_parquet(tmp_path / "out" / "samples.parquet")
    assert list(table.columns) == COLUMNS
    assert set(table["source"]) == {"articles.txt"}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "python -m benchmarks.set_data build --documents articles.txt --licence '<b> mine | own' --seed 0\n" in card
    assert "18 in 2 groups: overlap 2, difference 12, union 4." in card
    assert "| difference | ((S1,prev),curr) | concatenation | articles.txt | 2 |" in card
    assert "| articles.txt | documents given by whoever made this | &lt;b&gt; mine \\| own | their source |" in card
    assert "by all-MiniLM-L6-v2." in card
    assert str(tmp_path) not in card
    assert "{{" not in card
    assert "Split-and-rephrase" not in card


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
