"""`semantic-metrics contradict`, and the language model that can write instead of the rules."""

import importlib.util
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest
from click.testing import CliRunner

from semantic_metrics.cli import main
from semantic_metrics.contradictions.chat_model import Writer
from semantic_metrics.contradictions.generate import contradict
from semantic_metrics.contradictions.language import PIPELINES

if not any(importlib.util.find_spec(name) for name in PIPELINES):
    pytest.skip("spaCy's English pipeline is not installed (extra: contradict)", allow_module_level=True)

CAPTIONS = [
    "A man is sleeping on a couch.", "A man lies on a sofa and sleeps.", "A man is running on a track.",
    "A woman cooks dinner in a kitchen.", "A man sprints around a track.",
]  # fmt: skip


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["contradict", *map(str, arguments)])
    return result.exit_code, result.output


def test_command_writes_row_rule_and_probability(tmp_path: Path) -> None:
    source, target = tmp_path / "texts.csv", tmp_path / "out.jsonl"
    source.write_text("id,claim\n1,The dog is asleep on the couch.\n2,\n3,All of the children are happy.\n")
    code, said = run(source, "--column", "claim", "--rules", "negation, quantifier", "--output", target)
    assert code == 0
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [(row["row"], row["rule"]) for row in rows] == [(1, "negation"), (3, "quantifier")]
    assert rows[0]["contradiction"] == "The dog is not asleep on the couch."
    assert rows[0]["probability"] >= 0.5
    assert "texts 3, contradictions 2, rule negation 1, rule quantifier 1, none: empty 1" in said


def test_help_fits_a_screen() -> None:
    code, said = run("--help")
    assert code == 0
    assert "Example: semantic-metrics contradict claims.csv" in said
    assert said.count("\n") <= 24


def test_command_mines_the_file_itself(tmp_path: Path) -> None:
    source = tmp_path / "texts.txt"
    source.write_text("\n".join(CAPTIONS))
    code, said = run(source, "--mine", "--threshold", "0.8")
    assert code == 0
    assert "mined: A man is sleeping on a couch." in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rules", "nonsense"], "rules: expected some of"),
        (["--mine", "--no-check"], "--mine: expected no --no-check"),
        (["--endpoint", "http://127.0.0.1:1/v1"], "--endpoint: expected a URL and --model"),
        (["--endpoint", "ftp://host", "--model", "m"], "endpoint: expected a URL that begins with http"),
        (["--group", "text"], "--group: expected with --mine alone"),
        (["--column", "nothing"], "--column: expected one of the columns 'text'"),
    ],
)
def test_command_refuses_in_one_line(tmp_path: Path, options: list[str], words: str) -> None:
    source = tmp_path / "texts.txt"
    source.write_text("A dog runs.\n")
    code, said = run(source, *options)
    assert code == 2
    assert words in said
    assert len(said.strip().splitlines()) == 1


class Handler(BaseHTTPRequestHandler):
    """Answers as a chat API does; what it was asked is kept."""

    asked: ClassVar[list[dict]] = []
    status: ClassVar[int] = 200

    def do_POST(self) -> None:
        """Write the same contradiction for everybody."""
        Handler.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))) | dict(self.headers))
        body = json.dumps({"choices": [{"message": {"content": " It is hot outside.\n"}}]}).encode()
        self.send_response(Handler.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("SEMANTIC_METRICS_API_KEY", "secret")
    Handler.asked, Handler.status = [], 200
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_language_model_writes_and_is_checked(endpoint: str) -> None:
    writer = Writer(endpoint, "some-model")
    results = contradict(["It is cold outside.", "It is hot outside today."], writer=writer, seed=7)
    assert [(one.text, one.rule) for one in results[0].contradictions] == [("It is hot outside.", "language model")]
    assert results[0].contradictions[0].p >= 0.5
    assert results[1].reason == "model disagrees"
    assert Handler.asked[0]["model"] == "some-model"
    assert Handler.asked[0]["seed"] == 7
    assert Handler.asked[0]["messages"][0]["content"].endswith("It is cold outside.")
    assert Handler.asked[0]["Authorization"] == "Bearer secret"


def test_language_model_that_refuses_is_an_error_without_the_key(endpoint: str) -> None:
    Handler.status = 401
    with pytest.raises(ValueError, match="HTTP 401") as caught:
        Writer(endpoint, "m", pause=0).write("The dog is asleep.", 0)
    assert "secret" not in str(caught.value)
    assert len(Handler.asked) == 1
    Handler.status = 503
    with pytest.raises(ValueError, match="HTTP 503"):
        Writer(endpoint, "m", pause=0).write("The dog is asleep.", 0)
    assert len(Handler.asked) == 4
