"""Which passages of a source are read for a claim."""

import numpy as np

from semantic_metrics.support.evidence import Document, Overlap, Source, stems
from semantic_metrics.support.scoring import load_table

TEXT = "Rain fell. The company elected 12 directors. It was dry.\n\nThe king met them. He left. All was well. It was."
TABLE = load_table()


def words(text: str) -> list[tuple[int, int]]:
    ends = np.cumsum([len(word) + 1 for word in text.split(" ")])
    return [(int(end) - len(word) - 1, int(end) - 1) for end, word in zip(ends, text.split(" "), strict=True)]


def source_of(*texts: str) -> Source:
    return Source([Document.read(text, words, 50, TABLE) for text in texts])


def overlap(source: Source, claim: str) -> Overlap:
    return source.overlap(claim, TABLE.encode([claim]).vectors[0])


def test_shares_count_numbers_twice_and_inflections_as_one_word() -> None:
    source = source_of(TEXT)
    shared = overlap(source, "The election of twelve directors by a company")
    assert shared.share((1,)) == 1.0
    assert shared.share((0,)) == 0.0
    assert overlap(source, "13 rains").share((0,)) < 0.5
    assert overlap(source, "It was not.").share((0,)) == 1.0
    assert stems("12 elections") == stems("twelve elected")


def test_a_number_that_the_source_lacks_is_noticed() -> None:
    source = source_of(TEXT)
    assert overlap(source, "It elected 13 directors").lacks_number
    assert not overlap(source, "It elected twelve directors").lacks_number


def test_passages_are_single_sentences_neighbours_a_paragraph_and_distant_sentences() -> None:
    source = source_of(TEXT)
    shared = overlap(source, "The king met the directors of the company")
    passages = source.passages(shared, 3, 50)
    singles = [one for one in passages if len(one) == 1]
    assert singles == passages[:3], "single sentences come first, the nearest of them at the beginning"
    assert {(1,), (3,)} <= set(singles)
    assert (3, 4, 5, 6) in passages, "a short paragraph"
    assert any(1 in one and 3 in one for one in passages), "distant sentences together"
    assert len(set(passages)) == len(passages)
    assert {(i,) for i in range(7)} <= set(source.passages(shared, None, 50))
    assert all(source.size(one) <= 9 for one in source.passages(shared, None, 9) if len(one) > 1)


def test_neighbours_are_of_one_document() -> None:
    source = source_of("A cat sat. A dog ran.", "Rain fell. Snow fell.")
    shared = overlap(source, "Owls")
    passages = set(source.passages(shared, None, 50))
    assert {(0, 1), (2, 3)} <= passages
    assert not any(1 in one and 2 in one for one in passages - set(shared.covers(3)))
