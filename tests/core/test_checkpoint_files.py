"""Reasons to refuse a folder before a library reads it, and a Hub whose answers are cut, slow, odd or in a loop."""

import base64
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import huggingface_hub.constants
import pytest
import torch
from huggingface_hub import HfApi
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from semantic_metrics import load
from semantic_metrics.consensus.weights import Weights
from semantic_metrics.core.checkpoint_files import check_tokenizer
from semantic_metrics.core.threshold import Threshold, read_threshold
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable, TableConfig
from semantic_metrics.nli_lex.features import load_scorer as load_judge
from semantic_metrics.set_criteria.encoders import load_encoder
from semantic_metrics.stsscore.scoring import load_scorer
from tests import tiny_pairs as tiny

UNIT = b"\1\2\3\4"  # of a trie
DEEP = "[" * 100_000


def normalized(folder: Path, data: bytes | str, nested: bool = False) -> Path:
    stored = data if isinstance(data, str) else base64.b64encode(data).decode()
    normalizer = {"type": "Precompiled", "precompiled_charsmap": stored}
    if nested:
        normalizer = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, normalizer]}
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps({"model": {}, "normalizer": normalizer}))
    return folder


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0\0",
        b"\3\0\0\0abc",  # no whole unit
        b"\xff\xff\xff\x7f" + UNIT,  # more than there is
        b"\4\0\0\0" + UNIT + b"\xff",  # no UTF-8
        "no base64!",
    ],
)
def test_a_table_of_characters_of_another_form_is_refused(data: bytes | str, nested: bool, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tokenizer\.json: precompiled_charsmap: expected a trie of its stated size"):
        check_tokenizer(normalized(tmp_path / "model", data, nested))
    check_tokenizer(normalized(tmp_path / "model", b"\4\0\0\0" + UNIT + "a\0ü\0".encode(), nested))


def test_a_table_of_characters_is_found_however_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = normalized(tmp_path / "model", b"") / "tokenizer.json"
    stored = json.loads(path.read_text())
    for _ in range(5000):  # more than Python's calls may nest; newer Pythons parse as much from the file
        stored["normalizer"] = {"type": "Sequence", "normalizers": [stored["normalizer"]]}
    monkeypatch.setattr(json, "loads", lambda text: stored)
    with pytest.raises(ValueError, match="precompiled_charsmap: expected a trie"):
        check_tokenizer(path.parent)


def test_settings_are_read_from_regular_files_that_end(tmp_path: Path) -> None:
    deep, pipe = tmp_path / "deep.json", tmp_path / "pipe.json"
    deep.write_text(DEEP)
    os.mkfifo(pipe)
    for path, reason in ((deep, ""), (Path(os.devnull), "expected a regular file"), (pipe, "expected a regular file")):
        with pytest.raises(ValueError, match=f"weights: expected a JSON file, got .*{reason}"):
            Weights.read(path)
        with pytest.raises(ValueError, match=f"threshold .*: expected a JSON file with .*{reason}"):
            read_threshold(path)


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1" * 400])
def test_a_threshold_is_finite(tmp_path: Path, value: str) -> None:
    names = ", ".join(f'"{one.name}": ""' for one in fields(Threshold) if one.name != "value")
    (tmp_path / "threshold.json").write_text(f'{{{names}, "value": {value}}}')
    with pytest.raises(ValueError, match=r"threshold .*: expected a JSON file with "):
        read_threshold(tmp_path)


def test_a_checkpoint_of_another_kind_is_not_looked_for_on_the_hub() -> None:
    with pytest.raises(ValueError, match=r"checkpoint 'large': expected one of \['contextual', 'matcha'\]"):
        load("matcha", "large")


TEXT = "the dog bites the man and the man bites the dog"


def bpe_table(folder: Path) -> Path:
    """A MATCHA table whose tokeniser is a BPE, without dropout."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel()
    trainer = BpeTrainer(initial_alphabet=ByteLevel.alphabet(), vocab_size=330, show_progress=False)
    tokenizer.train_from_iterator([TEXT] * 5, trainer)
    size = tokenizer.get_vocab_size()
    rows = torch.randn(size, 8, generator=torch.Generator().manual_seed(0)).half()
    MatchaTable(rows.numpy(), tokenizer, TableConfig(size, 8, unk_token=None)).save(folder)
    return folder


def with_dropout(folder: Path, dropout: object, copy: Path) -> Path:
    shutil.copytree(folder, copy)
    path = copy / "tokenizer.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["model"]["type"] == "BPE"
    stored["model"]["dropout"] = dropout
    path.write_text(json.dumps(stored), encoding="utf-8")
    return copy


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[Callable, Path]:
    """A checkpoint with a BPE for each metric, by the function that loads it."""
    folder = tmp_path_factory.mktemp("bpe")
    table, pairs = bpe_table(folder / "table"), tiny.roberta(folder / "pairs")
    return {load_checkpoint: table, load_encoder: table, load_scorer: pairs, load_judge: pairs}


@pytest.mark.parametrize("load", [load_checkpoint, load_encoder, load_scorer, load_judge])
def test_every_metric_refuses_bpe_dropout(load: Callable, checkpoints: dict[Callable, Path], tmp_path: Path) -> None:
    folder = with_dropout(checkpoints[load], 0.5, tmp_path / "copy")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert len({tuple(tokenizer.encode(TEXT).ids) for _ in range(20)}) > 1, "the reason to refuse it"
    expected = (
        f"checkpoint {folder}: tokenizer.json: expected a tokeniser that splits a text in one way, got BPE dropout"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)} of 0.5; set model.dropout to null$"):
        load(f"{folder}/")


def test_the_tokeniser_of_a_module_is_checked_too(checkpoints: dict[Callable, Path], tmp_path: Path) -> None:
    with_dropout(checkpoints[load_checkpoint], 1, tmp_path / "model" / "0_Transformer")
    with pytest.raises(ValueError, match=r"0_Transformer/tokenizer\.json: expected a tokeniser that splits"):
        check_tokenizer(tmp_path / "model")
    check_tokenizer(with_dropout(checkpoints[load_checkpoint], 0.0, tmp_path / "without"))


@pytest.mark.parametrize("text", ["", "[]", '{"model": 3}', '{"model": {"type": "BPE"}}', "[" * 100_000])
def test_a_damaged_tokeniser_is_left_to_its_reader(text: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    check_tokenizer(tmp_path)


AGAIN = {
    "silent": True,  # takes the first request and never answers
    "silent_list": True,  # answers what the commit is, and no more
    "silent_file": True,  # gives one file, and never answers for the next
    "closed": True,  # no answer at all: RemoteProtocolError
    "slow": True,  # ReadTimeout of a file
    "busy": True,  # 503
    "cut": True,  # fewer bytes than announced
    "loop": False,  # TooManyRedirects
    "odd": False,  # an object without the keys that the client reads
    "html": False,  # no JSON
    "gone": False,  # 404
}
SILENT = {"silent": "/", "silent_list": "/resolve/", "silent_file": "tokenizer.json"}


class Failing(BaseHTTPRequestHandler):
    """Answers as the first part of the path says."""

    def do_GET(self) -> None:
        """Every request."""
        kind = self.path.split("/")[1]
        if kind == "closed":
            return
        if kind in SILENT and SILENT[kind] in self.path:
            self.server.over.wait(600)
            return
        if kind == "loop":
            self._send(302, b"", {"Location": self.path})
        elif kind in ("cut", "slow") and "/tree/" in self.path:
            self._send(200, json.dumps([{"type": "file", "path": "config.json", "size": 9, "oid": "1"}]))
        elif kind in ("cut", "slow", "silent_list", "silent_file") and "/resolve/" not in self.path:
            files = [{"rfilename": name} for name in ("config.json", "tokenizer.json")[: 1 + (kind == "silent_file")]]
            self._send(200, json.dumps({"id": "org/name", "sha": "0" * 40, "siblings": files}))
        elif kind == "slow":
            time.sleep(3)
        else:
            body = {"odd": "{}", "html": "<html>", "cut": "{"}.get(kind, "")
            status = {"busy": 503, "gone": 404}.get(kind, 200)
            headers = {"ETag": '"1"', "X-Repo-Commit": "0" * 40} | ({"Content-Length": "9"} if kind == "cut" else {})
            self._send(status, body, headers)

    do_HEAD = do_GET

    def _send(self, status: int, body: str | bytes, headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing on the screen."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    server.daemon_threads = True
    server.over = Event()  # set at the end, for requests that are never answered
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.over.set()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "slow")) for kind in AGAIN])
def test_a_failing_hub_is_one_line(kind: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "HfApi", partial(HfApi, endpoint=f"{url}/{kind}"))
    settings = {"HF_HUB_OFFLINE": False, "HF_HUB_CACHE": str(tmp_path)}
    for name, value in (settings | {"HF_HUB_DOWNLOAD_TIMEOUT": 1, "HF_HUB_ETAG_TIMEOUT": 1}).items():
        monkeypatch.setattr(huggingface_hub.constants, name, value)
    with pytest.raises(ValueError, match=r"^checkpoint 'org/name': no such folder, and the Hub did not") as caught:
        load_checkpoint("org/name")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(f"; trying again {'may' if AGAIN[kind] else 'will not'} help"), caught.value
