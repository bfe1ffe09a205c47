"""Answers to HotpotQA: from a table with its columns to weights that `semantic-metrics fit` writes."""

import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import done, invoke
from tests.cli.conftest import nli_model as nli_model  # a fixture here too
from tests.endpoint.fake_endpoint import Reply, chat_reply, serve
from training.data import hotpotqa

ROWS = 24


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A config of a local table with the columns of `hotpotqa/hotpot_qa`."""
    rows = pd.DataFrame(
        {
            "id": [f"5a{i}" for i in range(ROWS)],
            "question": [f"Who owns dog {i}?" for i in range(ROWS)],
            "answer": ["a man" if i % 2 else "the cat" for i in range(ROWS)],
            "type": ["bridge"] * ROWS,
            "level": ["hard"] * ROWS,
            "supporting_facts": [{"title": ["Dog"], "sent_id": [0]}] * ROWS,
            "context": [{"title": ["Dog"], "sentences": [["It barks."]]}] * ROWS,
        }
    )
    rows.loc[ROWS] = rows.loc[0]  # twice
    rows.loc[ROWS + 1] = rows.loc[1].replace({"a man": " ", "Who owns dog 1?": "Who owns it?"})  # no answer
    rows.to_parquet(tmp_path / "hotpot.parquet")
    pd.DataFrame({"question": ["WHO owns dog 3"]}).to_csv(tmp_path / "held_out.csv", index=False)
    source = {"name": "hotpotqa", "path": "hotpot.parquet", "limit": 20}
    exclude = {"path": "held_out.csv", "columns": ["question"]}
    (tmp_path / "config.yaml").write_text(json.dumps({"train": [source], "exclude": [exclude]}), encoding="utf-8")
    return tmp_path / "config.yaml"


def run(monkeypatch: pytest.MonkeyPatch, config: Path, output: Path, *options: str) -> None:
    arguments = ["--config", config, "--data", config.parent, "--output", output, *options]
    monkeypatch.setattr(sys, "argv", ["hotpotqa", *map(str, arguments)])
    hotpotqa.main()


def answer(body: dict, number: int) -> Reply:
    """The models are right about two of four questions; the judge compares words, and once says neither 1 nor 0."""
    text = body["messages"][0]["content"]
    if body["model"] != "judge":
        dog = int(re.search(r"dog (\d+)\?", text)[1])
        is_man = (dog % 2 == 1) == (dog % 4 < 2)
        return chat_reply("It is a man." if is_man else "The cat\nowns it.")
    reference, candidate = (text.split(f"{name} answer: ")[1].split("\n")[0] for name in ("Reference", "Candidate"))
    if "dog 5?" in text:
        return chat_reply("Maybe")
    return chat_reply(str(int(reference.lower() in candidate.lower())))


def test_questions_alone_are_written_for_people(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    run(monkeypatch, config, tmp_path / "out.csv")
    rows = pd.read_csv(tmp_path / "out.csv")
    assert list(rows) == hotpotqa.COLUMNS
    assert len(rows) == rows["question"].nunique() == 20
    assert "Who owns dog 3?" not in set(rows["question"])
    assert rows["answer"].isna().all()
    printed = capsys.readouterr().out
    for count in ("'rows': 26", "'dropped: empty text': 1", "an evaluation set': 1", "repeated': 1", "limit': 3"):
        assert count in printed


def test_answers_and_judgements_of_an_endpoint_become_weights(
    config: Path, nli_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    output, asked = tmp_path / "out.csv", []
    with serve(answer) as endpoint:
        options = ["--endpoint", endpoint.url, "--model", "a", "--model", "b", "--judge", "judge"]
        for _ in range(2):
            run(monkeypatch, config, output, *options)
            asked.append(len(endpoint.requests))
    assert asked[0] == asked[1] == 40, "what was asked once is not asked again"
    rows = pd.read_csv(output)
    unclear = 20 - len(rows)
    assert f"{unclear} replies of the judge were neither 1 nor 0: dropped" in capsys.readouterr().out
    assert set(rows["model"]) == {"a", "b"}
    right = [r in a.lower() for a, r in zip(rows["answer"], rows["reference"], strict=True)]
    assert rows["label"].tolist() == [int(one) for one in right]
    weights = tmp_path / "weights.json"
    done(
        invoke(
            "fit",
            output,
            options={"metric": "nli_lex", "form": "paper", "config": f"{nli_model}/", "folds": 2, "output": weights},
        )
    )
    assert "paper" in weights.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "a"], "--endpoint, --model: expected both or neither"),
        (["--judge", "a"], "both with --judge"),
        (["--endpoint", "ftp://x", "--model", "a"], "expected a URL that begins with http"),
    ],
)
def test_wrong_options_are_one_line(
    options: list[str],
    message: str,
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, config, tmp_path / "out.csv", *options)
    assert message in capsys.readouterr().err


def test_a_table_without_questions_is_refused(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held_out = pd.read_parquet(tmp_path / "hotpot.parquet")[["question"]]
    held_out.to_csv(tmp_path / "held_out.csv", index=False)
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, config, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
