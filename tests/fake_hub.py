"""A Hub on the loopback address: what `huggingface_hub` asks for to download and to push a repository, and no more.

Weights travel as on the Hub, by LFS (set HF_HUB_DISABLE_XET=1: there is no Xet store here); all else goes in commits.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import unquote, urlsplit

REPO = r"(?P<kind>model|space)s/(?P<repo>[^/]+/[^/]+)"
INFO = re.compile(rf"/api/{REPO}(?:/(?P<what>revision|tree)/(?P<revision>[^/]+).*)?")
FILE = re.compile(r"/(?:(?P<kind>space)s/)?(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
WRITE = re.compile(rf"/api/{REPO}/(?P<what>preupload|commit|branch|tag)/(?P<revision>[^/]+)")
BATCH = re.compile(r"/(?:spaces/)?[^/]+/[^/]+\.git/info/lfs/objects/batch")
STORED = re.compile(r"/lfs/(?P<oid>[0-9a-f]{64})")
LARGE = ".safetensors"  # goes by LFS, as the .gitattributes of a new repository on the Hub says

Files = dict[str, bytes]


@dataclass
class Repository:
    """A repository with its commits, and the branches, tags and commits that name them."""

    private: bool = False
    sdk: str | None = None
    commits: dict[str, Files] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def commit(self, files: Files, revision: str) -> str:
        """Make `files` all that a revision holds; returns the commit."""
        commit = _sha1(repr([revision, list(self.refs), {name: _sha1(data) for name, data in files.items()}]).encode())
        self.commits[commit] = files
        self.refs[revision] = self.refs[commit] = commit
        return commit


class Hub:
    """Repositories, served from memory.

    Attributes:
        url: what HF_ENDPOINT must be.
        requests: paths that were asked for, in order.
        writes: those that were written to.
        committed: paths of the files in the last commit.
        tokens: token -> "read" or "write"; empty lets everybody write.
        repositories: by kind ("model" or "space") and id.
        stored: what was uploaded by LFS, by its sha256.
        silent: a part of the paths of requests that are taken and never answered; empty for none.
    """

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.requests: list[str] = []
        self.writes: list[str] = []
        self.committed: list[str] = []
        self.tokens: dict[str, str] = {}
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.stored: dict[str, bytes] = {}
        self.silent = ""
        self.over = Event()

    def add(self, repo: str, folder: Path, revision: str = "main", kind: str = "model") -> str:
        """Publish a folder as a revision of a repository; returns the commit."""
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
        return self.repositories.setdefault((kind, repo), Repository()).commit(files, revision)

    def files(self, repo: str, revision: str = "main", kind: str = "model") -> Files:
        """What a revision holds."""
        repository = self.repositories[kind, repo]
        return repository.commits[repository.refs[revision]]


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
        server.hub.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


def _describe(path: str, data: bytes) -> dict:
    """A file as git names it: by its blob, or by that of the LFS pointer which stands for it."""
    described = {"path": path, "size": len(data)}
    if path.endswith(LARGE):
        oid = hashlib.sha256(data).hexdigest()
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n".encode()
        described["lfs"] = {"oid": oid, "sha256": oid, "size": len(data), "pointerSize": len(pointer)}
        data = pointer
    return {**described, "oid": _sha1(b"blob %d\0" % len(data) + data)}


def _oid(path: str, data: bytes | None) -> str | None:
    """What the Hub has of a file: the client leaves out what is the same."""
    return None if data is None else (described := _describe(path, data)).get("lfs", described)["oid"]


def _preupload(path: str, data: bytes | None) -> dict:
    mode = "lfs" if path.endswith(LARGE) else "regular"
    return {"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": _oid(path, data)}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer([(INFO, self._info), (FILE, self._file)], "read")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        create, check = re.compile("/api/repos/create"), re.compile("/api/validate-yaml")
        routes = [(create, self._create), (BATCH, self._batch), (WRITE, self._write)]
        routes.append((check, lambda *_: self._send_json({"errors": [], "warnings": []})))  # of a card
        self._answer([(route, lambda match, act=act: act(match, body)) for route, act in routes], "write")

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer([(STORED, lambda match: self._store(match["oid"], body))], "read")  # the address is the permit

    def _answer(self, routes: list[tuple[re.Pattern, Callable]], role: str) -> None:
        path = urlsplit(self.path).path
        hub = self.server.hub
        hub.requests.append(path)
        if hub.silent and hub.silent in path:
            hub.over.wait()
            return
        if self.command in ("POST", "PUT"):
            hub.writes.append(path)
        if hub.tokens and not self._allowed(role):
            return
        match, act = next((match, act) for route, act in routes if (match := route.fullmatch(path)) is not None)
        act(match)

    def _allowed(self, role: str) -> bool:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        has = self.server.hub.tokens.get(token)
        if token and has is None:
            self._fail(401, "Unauthorized", "Invalid credentials in Authorization header")
        elif role == "write" and has != "write":
            self._fail(403 if has else 401, "Forbidden", "you must use a write token")
        else:
            return True
        return False

    def _find(self, match: re.Match) -> tuple[Repository | None, str | None]:
        """The repository and commit that a path names; what is missing is answered."""
        repository = self.server.hub.repositories.get((match["kind"] or "model", match["repo"]))
        if repository is None or (repository.private and "Authorization" not in self.headers):
            return None, self._fail(404, "RepoNotFound")
        commit = repository.refs.get(unquote(match["revision"] or "main"))
        return repository, commit or self._fail(404, "RevisionNotFound")

    def _info(self, match: re.Match) -> None:
        repository, commit = self._find(match)
        if commit is None:
            return None
        entries = [_describe(path, data) for path, data in repository.commits[commit].items()]
        if match["what"] == "tree":
            return self._send_json([{"type": "file", **entry} for entry in entries])
        siblings = [{**entry, "rfilename": entry["path"], "blobId": entry["oid"]} for entry in entries]
        return self._send_json(
            {"id": match["repo"], "sha": commit, "private": repository.private, "siblings": siblings}
        )

    def _file(self, match: re.Match) -> None:
        repository, commit = self._find(match)
        if commit is None:
            return None
        path = unquote(match["path"])
        data = repository.commits[commit].get(path)
        if data is None:
            return self._fail(404, "EntryNotFound")
        return self._send(200, data, {"ETag": f'"{_oid(path, data)}"', "X-Repo-Commit": commit})

    def _create(self, _: re.Match, body: bytes) -> None:
        asked = json.loads(body)
        key = (asked.get("type") or "model", f"{asked['organization']}/{asked['name']}")
        private = asked.get("visibility") == "private" or bool(asked.get("private"))
        made = self.server.hub.repositories[key] = Repository(private, asked.get("sdk"))
        made.commit({".gitattributes": f"*{LARGE} filter=lfs diff=lfs merge=lfs -text\n".encode()}, "main")
        prefix = "" if key[0] == "model" else "spaces/"
        return self._send_json({"url": f"{self.server.hub.url}/{prefix}{key[1]}"})

    def _batch(self, _: re.Match, body: bytes) -> None:
        hub = self.server.hub
        objects = json.loads(body)["objects"]
        for entry in objects:
            if entry["oid"] not in hub.stored:
                entry["actions"] = {"upload": {"href": f"{hub.url}/lfs/{entry['oid']}"}}
        return self._send_json({"transfer": "basic", "objects": objects})

    def _store(self, oid: str, body: bytes) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.server.hub.stored[oid] = body
        self._send(200, b"")

    def _write(self, match: re.Match, body: bytes) -> None:
        revision, what = unquote(match["revision"]), match["what"]
        repository = self.server.hub.repositories[match["kind"], match["repo"]]
        if what == "branch":
            repository.refs[revision] = repository.refs[json.loads(body).get("startingPoint", "main")]
            return self._send_json({})
        if what == "tag":
            repository.refs[json.loads(body)["tag"]] = repository.refs[revision]
            return self._send_json({})
        if what == "preupload":
            head = repository.commits[repository.refs[revision]]
            paths = [entry["path"] for entry in json.loads(body)["files"]]
            return self._send_json({"files": [_preupload(path, head.get(path)) for path in paths]})
        return self._commit(repository, revision, [json.loads(line) for line in body.splitlines()])

    def _commit(self, repository: Repository, revision: str, lines: list[dict]) -> None:
        head = repository.refs[revision]
        files = dict(repository.commits[head])
        for key, value in ((line["key"], line["value"]) for line in lines):
            if key == "header":
                assert value.get("parentCommit", head) == head
            elif key == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif key == "lfsFile":
                files[value["path"]] = self.server.hub.stored[value["oid"]]
            else:
                assert key == "deletedFile"
                del files[value["path"]]
        commit = repository.commit(files, revision)
        self.server.hub.committed = [line["value"]["path"] for line in lines if line["key"] != "header"]
        self._send_json({"commitOid": commit, "commitUrl": f"{self.server.hub.url}/x/y/commit/{commit}"})

    def _fail(self, status: int, code: str, message: str = "") -> None:
        self._send(status, b"{}", {"X-Error-Code": code, "X-Error-Message": message or code})

    def _send_json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
