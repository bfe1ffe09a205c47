"""A Hub on the loopback address: what `huggingface_hub` asks for when it downloads a repository, and no more."""

from collections.abc import Iterator
from contextlib import contextmanager
import hashlib
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
import json
from pathlib import Path
import re
from threading import Thread
from urllib.parse import unquote
from urllib.parse import urlsplit

API = re.compile(r"/api/(?:models|spaces)/(?P<repo>[^/]+/[^/]+)(?:/(?P<what>revision|tree)/(?P<revision>[^/]+).*)?")
FILE = re.compile(r"/(?:spaces/)?(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")

Files = dict[str, bytes]


class Hub:
    """Repositories and their revisions, served from memory.

    Attributes:
        url: what HF_ENDPOINT must be.
        requests: paths that were asked for, in order.
    """

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.requests: list[str] = []
        self._commits: dict[tuple[str, str], str] = {}  # (repository, branch, tag or commit) -> commit
        self._files: dict[str, Files] = {}  # commit -> its files

    def add(self, repo: str, folder: Path, revision: str = "main") -> str:
        """Publish a folder as a revision of a repository; returns the commit."""
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
        commit = _digest(repr([repo, revision, {path: _digest(data) for path, data in files.items()}]).encode())
        self._files[commit] = files
        self._commits[repo, revision] = self._commits[repo, commit] = commit
        return commit

    def find(self, repo: str, revision: str) -> tuple[str | None, str]:
        """The commit of a revision, or None and the Hub's name for what is missing."""
        if all(known != repo for known, _ in self._commits):
            return None, "RepoNotFound"
        return self._commits.get((repo, unquote(revision))), "RevisionNotFound"

    def files(self, commit: str) -> Files:
        """What a commit holds."""
        return self._files[commit]


@contextmanager
def serve() -> Iterator[Hub]:
    """Run a Hub for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.hub = Hub(server)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _digest(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.server.hub.requests.append(path)
        asked, file = API.fullmatch(path), FILE.fullmatch(path)
        if asked is None and file is None:
            return self._fail("NotFound")
        asked = asked or file
        commit, missing = self.server.hub.find(asked["repo"], asked["revision"] or "main")
        if commit is None:
            return self._fail(missing)
        files = self.server.hub.files(commit)
        if file is not None:
            return self._send_file(files.get(unquote(file["path"])), commit)
        if asked["what"] == "tree":
            entries = [
                {"type": "file", "path": name, "size": len(data), "oid": _digest(data)} for name, data in files.items()
            ]
            return self._send(200, json.dumps(entries).encode())
        info = {"id": asked["repo"], "sha": commit, "siblings": [{"rfilename": name} for name in files]}
        return self._send(200, json.dumps(info).encode())

    do_HEAD = do_GET

    def _send_file(self, data: bytes | None, commit: str) -> None:
        if data is None:
            return self._fail("EntryNotFound")
        return self._send(200, data, {"ETag": f'"{_digest(data)}"', "X-Repo-Commit": commit})

    def _fail(self, name: str) -> None:
        self._send(404, b"{}", {"X-Error-Code": name, "X-Error-Message": name})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
