"""A Hub whose answers are cut, slow, odd or in a loop: one line that names the checkpoint and says what to do."""

import json
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import huggingface_hub.constants
import pytest
from huggingface_hub import HfApi

from semantic_metrics.matcha.checkpoint import load_checkpoint

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
    """A server that fails in every way."""
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
