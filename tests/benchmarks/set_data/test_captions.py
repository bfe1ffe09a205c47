"""Samples of captions, no two of whose texts share a content word."""

from itertools import combinations
from pathlib import Path

import pandas as pd
from click.testing import CliRunner

from benchmarks.set_data.__main__ import main
from benchmarks.set_data.captions import caption_samples, content_words
from benchmarks.set_data.chains import Dropped
from tests.benchmarks.set_data.test_command import ANY_LENGTH, WORDS

PICTURES = 12
PLACE = ("flickr30k", "dev")


def captions() -> pd.DataFrame:
    """Pictures with three captions of their own words; of two pictures the captions share one word."""
    rows = []
    for picture in range(PICTURES):
        for number in range(3):
            word = "bear" if picture < 2 else f"w{picture}x{number}"
            rows.append((picture, f"A {word} is on the v{picture}y{number} ."))
    return pd.DataFrame(rows, columns=["image_idx", "caption"])


def made(seed: int = 0) -> tuple[list[dict[str, str]], Dropped]:
    dropped = Dropped()
    columns = ("image_idx", "caption")
    return caption_samples(captions(), columns, PLACE, ANY_LENGTH, seed, (WORDS,), 0.8, dropped), dropped


def test_no_two_texts_share_a_content_word_and_mentions_are_of_the_same_pictures() -> None:
    rows, dropped = made()
    counts = pd.Series([row["operator"] for row in rows]).value_counts().to_dict()
    assert counts == {"overlap": 3 * (PICTURES - 2), "difference": PICTURES - 2, "union": (PICTURES - 2) / 2}
    assert +dropped == {("flickr30k", "picture: any two captions share a content word"): 2}
    picture_of = dict(captions()[["caption", "image_idx"]].itertuples(index=False))
    for row in rows:
        words = [content_words(row[name]) for name in ("a", "b", "target")]
        assert not any(one & other for one, other in combinations(words, 2))
        a, b, target = (
            {picture_of[f"{text.strip()} ."] for text in row[name].split(" .") if text} for name in ("a", "b", "target")
        )
        assert target == {"overlap": a & b, "difference": a - b, "union": a | b}[row["operator"]]
    assert len({row["id"] for row in rows}) == len(rows)
    assert made() == made()
    assert made()[0] != made(1)[0]


def test_similar_pictures_give_no_difference() -> None:
    dropped = Dropped()
    rows = caption_samples(captions(), ("image_idx", "caption"), PLACE, ANY_LENGTH, 0, (WORDS,), 0.1, dropped)
    assert "difference" not in {row["operator"] for row in rows}
    assert dropped["flickr30k", "difference: its chain has neighbours of cosine >= 0.1"] == PICTURES - 2


def test_the_command_makes_them_when_asked_for(tmp_path: Path) -> None:
    (tmp_path / "flickr30k").mkdir()
    for file in ("dev", "test"):
        captions().to_parquet(tmp_path / "flickr30k" / f"{file}.parquet")
    arguments = ["build", "--data", str(tmp_path), "--output", str(tmp_path / "out")]
    assert "expected one of the folders" in CliRunner().invoke(main, arguments).output  # not by default
    result = CliRunner().invoke(main, [*arguments, "--source", "flickr30k"])
    assert result.exit_code == 0, result.output
    table = pd.read_parquet(tmp_path / "out" / "samples.parquet")
    assert set(table["source"]) == {"flickr30k"}
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "share the stem of a content word" in card
    assert "makes a sample easier" not in card
    assert "Young et al." in card
