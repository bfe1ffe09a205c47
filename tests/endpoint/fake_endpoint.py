"""A real HTTP server on the loopback address that stands for an endpoint."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

SECRET = "sk-not-a-real-key"

Reply = tuple[int, object, dict[str, str]]  # status, JSON (bytes as they are), headers
Answer = Callable[[dict, int], Reply]


def chat_reply(text: str | None, reason: str = "stop") -> Reply:
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": reason}]}, {}


class Endpoint(ThreadingHTTPServer):
    """A running server and the requests that it got."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.answer = answer
        self.requests: list[tuple[str, dict[str, str], dict]] = []  # path, headers, body
        self.lock = Lock()


@contextmanager
def serve(answer: Answer) -> Iterator[Endpoint]:
    with Endpoint(answer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer a request."""
        endpoint: Endpoint = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with endpoint.lock:
            number = len(endpoint.requests)
            endpoint.requests.append((self.path, dict(self.headers), body))
        status, answer, headers = endpoint.answer(body, number)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
