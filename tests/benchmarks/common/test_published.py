"""Published numbers are those that the papers print: a few of each table."""

import pytest

from benchmarks.common.published import Published
from benchmarks.papers.matcha.ablation import FIGURES, ORDER, SETS
from benchmarks.papers.matcha.sets import TITLES


@pytest.mark.parametrize(
    ("paper", "place", "value"),
    [
        ("matcha", ("3", "SNLI", "MATCHA", "n_delta"), 34.95),
        ("matcha", ("4", "NEWTS", "EmbSim", "macro_f1"), 60.89),
        ("matcha", ("5", "COCO-Caption", "SimCSE", "wasserstein"), 30.38),
        ("matcha", ("6", "MedNLI", "MATCHA", "macro_f1"), 59.49),
        ("matcha", ("7", "STS-B test", "EmbSim", "ccc"), 34.37),
        ("matcha", ("7", "STS-B test", "MATCHA", "ccc"), None),  # its 61.08 is of another checkpoint
        ("matcha", ("8", "Overall", "BERTScore", "r1"), 13.0),
        ("matcha", ("10", "Overall", "interleaved", "ccc"), 45.35),
        ("matcha", ("figure 4", "Overall", "MATCHA", "ccc"), 45.35),
        ("stsscore", ("1", "STS-B test", "STSScore", "r"), 0.90),
        ("stsscore", ("1", "QQP train", "BERTScore", "pos_sd"), 0.17),
        ("stsscore", ("2", "WMT22 zh-en", "STSScore BERT-base", "r"), 0.08),
        ("stsscore", ("3", "MRPC test", "Ensemble", "neg_mean"), 0.62),
        ("stsscore", ("4", "WMT22 zh-en", "STSScore longer half", "rho"), 0.42),
        ("stsscore", ("figure 9", "MRPC test", "STSScore BERT-base", "auc"), 0.81),
        ("stsscore", ("A.3", "QQP train", "", "median"), 52),
        ("nli_lex", ("1", "DIVER-QA", "NLI+lex", "mcc"), 0.6603),
        ("nli_lex", ("abstract", "DIVER-QA", "NLI+lex", "accuracy"), 0.899),
        ("nli_lex", ("D.2", "SQuAD", "BEM", "f1"), 0.985),
        ("nli_lex", ("D.2", "SQuAD", "top-performing", "accuracy_low"), 0.9),
        ("nli_lex", ("D.2", "MedQA", "top-performing", "accuracy_low"), 0.65),
        ("nli_lex", ("D.2", "MedQA", "top-performing", "accuracy_high"), 0.74),
        ("nli_lex", ("D.2", "MedQA", "all", "f1_low"), 0.0),
        ("nli_lex", ("D.2", "MedQA", "all", "f1_high"), 0.731),
        ("nli_lex", ("D.2", "MedQA", "BERTScore", "f1"), 0.03),
        ("nli_lex", ("D.2", "MedQA", "BLEURT", "f1"), 0.03),
        ("nli_lex", ("D.2", "MedQA", "ROUGE-L", "f1"), 0.0),
        ("nli_lex", ("D.2", "MedQA", "F1-score", "f1"), 0.0),
        ("set_criteria", ("1", "cosine", "SBERT-mini", "both"), 28.96),
        ("set_criteria", ("3", "cosine", "SBERT-L", "share"), 74.75),
    ],
)
def test_published_numbers_are_the_papers(paper: str, place: tuple[str, str, str, str], value: float | None) -> None:
    assert Published(paper).get(*place) == value


def test_rows_of_the_tables() -> None:
    matcha = Published("matcha")
    assert [len(matcha.metrics(table)) for table in ("3", "8")] == [10, 9]
    assert Published("stsscore").metrics("1") == ["BLEU", "BERTScore", "S-BERT", "STSScore"]
    assert matcha.metrics("10") == list(ORDER)
    titles = [TITLES[name] for name in SETS if name != "human"]
    assert None not in [matcha.get("10", title, name, FIGURES[0]) for title in titles for name in ORDER]
