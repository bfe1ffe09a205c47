"""NLI+lex's benchmark: sets, judges, figures, and the command from end to end on data made here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from matplotlib.image import imread

from benchmarks.common.plot_style import FORMATS
from benchmarks.papers.nli_lex import judges as judges
from benchmarks.papers.nli_lex.command import main
from benchmarks.papers.nli_lex.sets import JudgedSet, judged_set, read_judged
from semantic_metrics import load
from tests import tiny_pairs as tiny
from tests.endpoint.fake_endpoint import Reply, chat_reply, serve
from tests.nli_lex.conftest import nli

QUESTIONS = 10
MODELS = ("claude", "phi")
DATASETS = ("aqa", "medqa")
RIGHT = ("the dog", "a man", "12 dogs", "the cat", "no")


def judged(key: str) -> pd.DataFrame:
    """A set with the columns of its file: two answers to each question, of which one is often right.

    NQ-open 301 has two gold answers joined as in its file, and published judgements with gaps; EVOUNA's are joined by a
    slash. The first question of each set is the same.
    """
    rng = np.random.default_rng(["diver_qa", "nq301", "evouna"].index(key))
    rows = []
    for i in range(QUESTIONS):
        gold = RIGHT[i % len(RIGHT)]
        for model in MODELS:
            right = bool(rng.random() < 0.6)
            said = f"it is {gold} and runs" if right else f"a man {'sleeps ' * int(rng.integers(1, 4))}"
            question = "who is it" if i == 0 else f"who is it {key[0]} {i}"
            label = int(right if rng.random() < 0.9 else not right)
            rows.append((question, gold, said, label, DATASETS[i % 2], model))
    frame = pd.DataFrame(rows, columns=["question", "reference", "candidate", "human_label", "source", "model"])
    if key == "diver_qa":
        return frame
    between = " | " if key == "nq301" else "/"
    frame["reference"] += between + "awake"
    if key == "nq301":
        frame["model"], frame["source"] = "pooled", "NQ"
        frame["bem_prob_max"] = rng.random(len(frame))
        frame["gpt4_label"] = frame["human_label"].astype(float)
        frame.loc[3, "gpt4_label"] = np.nan
    return frame


def write_data(folder: Path) -> Path:
    classes = ["entailment", "neutral", "contradiction"]
    pairs = {"premise": ["a dog runs"] * 6, "hypothesis": ["a cat sleeps"] * 6, "label": classes * 2}
    frames = {
        "diver_qa/sample": judged("diver_qa"),
        "openqa_eval/nq301": judged("nq301"),
        "evouna/nq": judged("evouna"),
        "snli/dev": pd.DataFrame(pairs),
    }
    for name, frame in frames.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(path)
    return folder


def one(candidate: str, references: list[str]) -> JudgedSet:
    frame = {"question": ["is it"], "reference": [references], "candidate": [candidate], "human_label": [1]}
    return judged_set(pd.DataFrame(frame), "one", "here")


def test_diver_qa_is_read_as_it_is_published(tmp_path: Path) -> None:
    names = {"question": "questions", "reference": "answers", "candidate": "prediction", "human_label": "eval"}
    frame = judged("diver_qa")
    frame.loc[0, "reference"] = "None"  # an answer
    frame.rename(columns={**names, "source": "dataset"}).to_csv(tmp_path / "all.csv", index=False)
    read = read_judged(tmp_path / "all.csv")
    assert (read.title, read.references[0], read.datasets[0]) == ("DIVER-QA", ["None"], "AdversarialQA")
    assert read.candidates == list(frame["candidate"])


ROWS = 2 * QUESTIONS
FORMS = {"paper": "NLI+lex, the paper's", "two_features": "NLI+lex, two features", "rich": "NLI+lex"}
NLI = ["NLI alone, the paper's", "NLI alone"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("nli_lex") / "data")


@pytest.fixture(autouse=True)
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run of `output`, which is older than this, draws the figures; they take longer than all the rest."""
    monkeypatch.setattr("benchmarks.papers.nli_lex.report.draw_figures", lambda *_: "")


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    return nli(data.parent / "model")


def run(*arguments: object) -> Result:
    return CliRunner(env={"SEMANTIC_METRICS_DATA": ""}).invoke(main, list(map(str, arguments)))


@pytest.fixture(scope="module")
def output(data: Path, model: Path) -> Path:
    folder, bem = data.parent / "results", tiny.bert(data.parent / "bem", {}, labels=2)
    result = run("--data", data, "--checkpoint", model, "--bem", bem, "--resamples", 20, "--output", folder)
    assert result.exit_code == 0, result.output
    assert result.stdout == (folder / "report.txt").read_text(encoding="utf-8")
    return folder


def figures(output: Path, name: str = "table1") -> pd.Series:
    frame = pd.read_csv(output / f"{name}.csv")
    return frame.set_index(["set", "part", "judge", "figure"])["value"]


def test_all_tables_and_figures_are_written(output: Path) -> None:
    names = {path.name for path in output.iterdir()}
    tables = {f"{name}.csv" for name in ("table1", "by_model", "by_dataset", "cost", "checks")}
    stems = [f"figure{i}" for i in (2, 4, 5, 6, 7, 8, 9)]
    drawn = {name + ending for name in stems for ending in (*FORMATS, ".txt")}
    assert names == tables | drawn | {f"scores_{key}.csv" for key in ("diver_qa", "nq301", "evouna")} | {"report.txt"}
    assert all(
        0.5 < imread(output / f"{name}.png")[..., :3].mean() < 0.999 for name in stems
    )  # neither blank nor black


@pytest.mark.parametrize("form", FORMS)
def test_nli_lex_is_the_metric_that_users_load(output: Path, model: Path, form: str) -> None:
    frame, metric = judged("nq301"), load("nli_lex", str(model))
    texts = {"predictions": list(frame["candidate"]), "questions": list(frame["question"])}
    references = [text.split(" | ") for text in frame["reference"]]
    result = metric.compute(**texts, references=references, features=form)
    kept = pd.read_csv(output / "scores_nq301.csv")
    assert kept[FORMS[form]].tolist() == pytest.approx(result["scores"], abs=1e-9)
    accuracy = 100 * np.mean(np.array(result["correct"]) == frame["human_label"])
    assert figures(output)["NQ-open 301", "all", FORMS[form], "accuracy"] == pytest.approx(accuracy)


def test_a_users_file_and_an_endpoint(model: Path, tmp_path: Path) -> None:
    frame = judged("diver_qa").drop(columns=["source", "model"])
    frame.loc[1, "candidate"] = ""  # an answer too
    frame.to_csv(tmp_path / "mine.csv", index=False)

    def judge(body: dict, number: int) -> Reply:
        return chat_reply("I cannot say" if number == 0 else "1")

    with serve(judge) as endpoint:
        arguments = ("--file", tmp_path / "mine.csv", "--baselines-only", "--output", tmp_path / "out")
        result = run(*arguments, "--endpoint", endpoint.url, "--endpoint-model", "tiny")
        asked = [body["messages"][0]["content"] for _, _, body in endpoint.requests]
    assert result.exit_code == 0, result.output
    columns = ["question", "reference", "candidate"]
    first, different = frame.iloc[0], len(frame.drop_duplicates(columns))
    assert len(asked) == different < ROWS, "the same question is asked once"
    assert all(first[column] in asked[0] for column in columns)
    kept = pd.read_csv(tmp_path / "out" / "scores_mine.csv")["Judge tiny"]
    unclear = (frame[columns] == first[columns]).all(axis=1)
    assert kept.tolist() == [0.0 if row else 1.0 for row in unclear]
    assert f"Judge tiny, mine: {unclear.sum()} of {ROWS} replies were neither 1 nor 0" in result.stdout
    assert (tmp_path / "out" / "replies.jsonl").read_text().count("\n") == different
    assert "Judge" not in run(*arguments).stdout  # off by default


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--data: expected a folder"),
        (("--data", "{empty}"), "diver_qa: no file diver_qa/sample.parquet"),
        (("--data", "{data}", "--checkpoint", "{model}", "--weights", "mine=x.json"), "--weights: expected SET=FILE"),
        (("--data", "{data}", "--endpoint", "http://127.0.0.1:1/v1"), "expected both or neither"),
        (("--data", "{data}", "--trained-on", "{known}"), "expected answers to other questions, diver_qa has none"),
    ],
)
def test_invalid_arguments_are_refused_before_anything_runs(
    data: Path, model: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    judged("diver_qa")[["question"]].to_csv(tmp_path / "known.csv", index=False)
    files = {"known": tmp_path / "known.csv", "empty": tmp_path / "empty"}
    given = [argument.format(data=data, model=model, **files) for argument in arguments]
    result = run(*given, "--output", tmp_path / "results")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "results").exists()
