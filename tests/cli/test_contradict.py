"""`semantic-metrics contradict`, and the language model that can write instead of the rules."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from semantic_metrics import endpoint as endpoint_client
from semantic_metrics.cli import main
from semantic_metrics.contradictions import chat_model, contradict
from semantic_metrics.contradictions.chat_model import Writer
from semantic_metrics.endpoint import KEY_VARIABLE
from tests.contradictions.test_contradictions import CAPTIONS
from tests.endpoint.fake_endpoint import SECRET, Reply, chat_reply, serve


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["contradict", *map(str, arguments)])
    return result.exit_code, result.output


def test_command_writes_row_rule_and_probability(tmp_path: Path) -> None:
    source, target = tmp_path / "texts.csv", tmp_path / "out.jsonl"
    source.write_text("id,claim\n1,The dog is asleep on the couch.\n2,\n3,All of the children are happy.\n")
    code, output = run(source, "--column", "claim", "--rules", "negation, quantifier", "--output", target)
    assert code == 0
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [(row["row"], row["rule"]) for row in rows] == [(1, "negation"), (3, "quantifier")]
    assert rows[0]["contradiction"] == "The dog is not asleep on the couch."
    assert rows[0]["probability"] >= 0.5
    assert "texts 3, contradictions 2, rule negation 1, rule quantifier 1, none: empty 1" in output


def test_command_mines_the_file_itself(tmp_path: Path) -> None:
    source = tmp_path / "texts.txt"
    source.write_text("\n".join(CAPTIONS))
    assert "mined: A man is sleeping on a couch." in run(source, "--mine", "--threshold", "0.8")[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rules", "nonsense"], "rules: expected some of"),
        (["--mine", "--no-check"], "--mine: expected no --no-check"),
        (["--endpoint", "http://127.0.0.1:1/v1"], "--endpoint: expected a URL and --model"),
        (["--group", "text"], "--group: expected with --mine alone"),
    ],
)
def test_command_refuses_in_one_line(tmp_path: Path, options: list[str], words: str) -> None:
    source = tmp_path / "texts.txt"
    source.write_text("A dog runs.\n")
    code, output = run(source, *options)
    assert code == 2
    assert words in output
    assert len(output.strip().splitlines()) == 1


def test_a_language_model_writes_and_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)
    with serve(lambda body, number: chat_reply(" It is hot outside.\n")) as endpoint:
        writer = Writer(endpoint.url, "some-model")
        results = contradict(["It is cold outside.", "It is hot outside today."], writer=writer, seed=7)
    assert [(one.text, one.rule) for one in results[0].contradictions] == [("It is hot outside.", "language model")]
    assert results[0].contradictions[0].p >= 0.5
    assert results[1].reason == "model disagrees"
    path, headers, body = endpoint.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert (body["model"], body["seed"], body["temperature"]) == ("some-model", 7, 0)
    assert body["messages"][0]["content"].endswith("It is cold outside.")


def test_replies_of_a_language_model_are_kept_when_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 22, 18."""
    monkeypatch.setattr(endpoint_client.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(chat_model, "ATTEMPTS", 1)
    texts, output = tmp_path / "texts.txt", tmp_path / "out.csv"
    texts.write_text("".join(f"It is {i} degrees.\n" for i in range(10)))
    broken = [True]

    def answer(body: dict, number: int) -> Reply:
        if broken[0] and number >= 4:
            return 503, {}, {}
        return chat_reply("Not so: " + body["messages"][0]["content"].splitlines()[-1])

    with serve(answer) as server:
        arguments = (texts, "--endpoint", server.url, "--model", "m", "--no-check", "--output", output)
        code, message = run(*arguments)
        assert (code, message.count("\n")) == (2, 1)
        assert f"HTTP 503: {{}} (attempt 1 of 1); the replies until then are kept in {output}.replies.jsonl" in message
        assert len(server.requests) == 5
        assert not output.exists()
        broken[0] = False
        code, message = run(*arguments)
        assert (code, len(server.requests)) == (0, 5 + 6), message
    assert "contradictions 10" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "texts.txt"]
