"""Scores as columns of batches, data sets and data frames: what is added and refused; the exported encoder; Ray."""

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import datasets
import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sentence_transformers import SentenceTransformer

from semantic_metrics import load
from semantic_metrics.batches import Scorer
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import cosine
from tests.conftest import ROOT
from tests.hooks.conftest import ROWS as ANSWERS
from tests.hooks.conftest import TEXTS
from tests.tiny_table import small_table

ROWS = {"answer": ["the dog barks", "no", ""], "gold": ["a dog runs", "the cat is awake", "a man"], "row": [1, 2, 3]}


@pytest.fixture
def scorer(checkpoint: Path) -> Scorer:
    return Scorer("matcha", str(checkpoint), predictions="answer", references="gold")


@pytest.fixture
def expected(metric: evaluate.Metric) -> list[float]:
    return metric.compute(predictions=ROWS["answer"], references=ROWS["gold"])["scores"]


def test_a_column_is_added_and_no_other_touched(scorer: Scorer, expected: list[float]) -> None:
    scored = scorer(ROWS)
    assert list(scored) == ["answer", "gold", "row", "matcha"]
    assert scored["answer"] is ROWS["answer"]
    assert "matcha" not in ROWS
    assert (scored["matcha"].tolist(), scored["matcha"].dtype) == (expected, np.float64)
    arrays = scorer({name: np.array(values, dtype=object) for name, values in ROWS.items()})  # as Ray sends them
    assert arrays["matcha"].tolist() == expected
    assert scorer({name: pa.chunked_array([values]) for name, values in ROWS.items()})["matcha"].tolist() == expected
    frame = pd.DataFrame(ROWS, index=[7, 8, 9])
    assert scorer(frame)["matcha"].to_dict() == dict(zip([7, 8, 9], expected, strict=True))


def test_an_empty_batch_gets_an_empty_column(scorer: Scorer) -> None:
    scored = scorer({"answer": [], "gold": []})
    assert (scored["matcha"].shape, scored["matcha"].dtype) == ((0,), np.float64)


def test_a_copy_in_another_process_gives_the_same(scorer: Scorer, expected: list[float]) -> None:
    sent = pickle.dumps(scorer)
    assert len(sent) < 1000  # its settings, not the model
    assert pickle.loads(sent)(ROWS)["matcha"].tolist() == expected


def test_datasets_keeps_the_scores_of_a_checkpoint_only(tmp_path: Path) -> None:
    """A checkpoint that changes in its place is not mistaken for the one whose scores are cached."""
    data = datasets.Dataset.from_dict(ROWS)
    folder = tmp_path / "changing"
    scored = []
    for seed in (0, 0, 1):
        small_table(seed).save(folder)
        scored.append(data.map(Scorer("matcha", str(folder), predictions="answer", references="gold"), batched=True))
    prints = [each._fingerprint for each in scored]
    assert prints[0] == prints[1] != prints[2]
    assert scored[0]["matcha"][:] == scored[1]["matcha"][:] != scored[2]["matcha"][:]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"answer": ["a"]}, r"references: expected one of the columns \['answer'\], got 'gold'"),
        ({**ROWS, "matcha": [0, 0, 0]}, "column: expected a name that no column has, got 'matcha'"),
        (pd.DataFrame({"answer": ["a", "b"], "gold": ["c", float("nan")]}), r"references\[1\]: expected a string, got"),
        (
            pd.DataFrame([["a"] * 3], columns=["gold", "answer", "answer"]),
            "^predictions: expected one column 'answer', got 2",
        ),
        ({"answer": "abc", "gold": "abc"}, r"^predictions: expected a batch of rows \(batched=True\)"),
        (pa.table(ROWS), "^batch: expected a dict of columns or a data frame of pandas, got a pyarrow.lib.Table"),
    ],
)
def test_batches_that_cannot_be_scored_are_refused(scorer: Scorer, batch: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scorer(batch)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("set_criteria", {}, "name: expected a metric that works with 'score', got 'set_criteria'"),
        ("matcha", {"output": "mean"}, "^options: expected some of"),
        ("matcha", {"questions": "q"}, "^questions"),
        ("matcha", {"column": 5}, "^column: expected a string or None, got 5"),
    ],
)
def test_invalid_settings_are_refused(name: str, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Scorer(name, **options)


def test_datasets_map(run_example: Callable[[str], dict]) -> None:
    scored = run_example("datasets")["scored"]
    texts = {"predictions": TEXTS["answer"], "references": TEXTS["gold"], "questions": TEXTS["question"]}
    assert scored.to_dict() == {**TEXTS, "nli_lex": load("nli_lex").compute(**texts)["scores"]}


def test_pandas(run_example: Callable[[str], dict]) -> None:
    scored = run_example("pandas")["scored"]
    expected = load("nli_lex").compute(
        predictions=TEXTS["answer"], references=TEXTS["gold"], questions=TEXTS["question"]
    )
    assert scored.to_dict("list") == {**TEXTS, "nli_lex": expected["scores"]}


def test_the_exported_encoder(run_example: Callable[[str], dict]) -> None:
    names = run_example("sentence-transformers")
    expected = load("matcha").compute(predictions=["It rains."], references=["It does not rain."])["scores"]
    assert names["similarity"].item() == pytest.approx(expected[0], abs=1e-5)
    table = load_checkpoint(str(ROOT / "model_cards" / "matcha"))
    texts = [*TEXTS["question"], *TEXTS["answer"], *TEXTS["gold"], "\U0001f995", "known \U0001f995 and unknown", " "]
    check(names["model"], table, texts)


def check(model: SentenceTransformer, table: object, texts: list[str]) -> None:
    """All cosines of all pairs of texts agree; a text without a known token is all zeros in both."""
    theirs, ours = model.encode(texts).astype(np.float64), table.encode(texts)
    left, right = (grid.ravel() for grid in np.meshgrid(range(len(texts)), range(len(texts))))
    difference = cosine(theirs[left], theirs[right]) - cosine(ours.vectors[left], ours.vectors[right])
    assert np.abs(difference).max() < 1e-5
    assert (theirs.any(axis=1) == ours.defined).all()
    assert not ours.defined.all()


def test_an_exported_encoder_passes_over_unknown_tokens(tmp_path: Path) -> None:
    """Also where the unknown token has a row of its own in the table."""
    table = small_table()
    assert table.weights[table.unknown_id].any()
    table.to_sentence_transformer().save(str(tmp_path / "export"))
    texts = ["the dog Ж sleeps", "the dog sleeps", "ЖЖ", "", "a man runs", "日本 Ж"]
    check(SentenceTransformer(str(tmp_path / "export"), device="cpu"), table, texts)


COPIES = 100


@pytest.fixture
def cluster(folder: Path) -> Iterator[Path]:
    """Ray Data on this machine, started in the folder, so that its processes find the files by their names."""
    ray = pytest.importorskip("ray", reason="ray is not installed (pip install ray[data])")
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)  # of Ray's counting: two workers, and readers
    yield folder
    ray.shutdown()


@pytest.mark.slow
def test_the_scores_of_a_cluster_are_those_of_one_process(cluster: Path, run_example: Callable[[str], dict]) -> None:
    rows = [{**row, "answer": f"{row['answer']} {i}", "row": i} for i in range(COPIES) for row in ANSWERS]
    frame = pd.DataFrame(rows)
    frame.to_csv("answers.csv", index=False)
    run_example("Ray Data")
    columns = {"predictions": "answer", "references": "gold", "questions": "question"}
    texts = {name: frame[column].tolist() for name, column in columns.items()}
    frame["nli_lex"] = load("nli_lex").compute(**texts)["scores"]
    scored = pd.concat(pd.read_parquet(path) for path in sorted((cluster / "scored").glob("*.parquet")))
    keys = ["row", "question"]
    scored, expected = (each.sort_values(keys).reset_index(drop=True) for each in (scored, frame))
    assert scored["nli_lex"].tolist() == pytest.approx(expected["nli_lex"].tolist(), abs=1e-5)
    assert scored["answer"].tolist() == expected["answer"].tolist()
    assert len(scored) == COPIES * len(ANSWERS)


@pytest.mark.slow
def test_files_are_scored_in_turn_and_a_stopped_run_goes_on(cluster: Path, run_example: Callable[[str], dict]) -> None:
    (cluster / "pairs").mkdir()
    frames = {f"{i}.parquet": pd.DataFrame([{**row, "row": i} for row in ANSWERS] * (i + 1)) for i in range(4)}
    for name, frame in frames.items():
        frame.to_parquet(cluster / "pairs" / name)
    run_example("Ray Data, at scale")
    target = cluster / "scored_pairs"
    written = {name: (target / name).stat().st_mtime_ns for name in frames}
    (target / "2.parquet").rename(target / "2.parquet.partial")  # as a stop leaves it
    run_example("Ray Data, at scale")
    assert {path.name for path in target.iterdir()} == set(frames)
    again = {name: (target / name).stat().st_mtime_ns for name in frames}
    assert [name for name in frames if again[name] != written[name]] == ["2.parquet"]
    for name, frame in frames.items():
        scores = load("matcha").compute(predictions=frame["answer"].tolist(), references=frame["gold"].tolist())
        pd.testing.assert_frame_equal(pd.read_parquet(target / name), frame.assign(matcha=scores["scores"]))
