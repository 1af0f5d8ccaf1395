"""A small HTTP server that plays what a test wrote down, and remembers what it was sent.

It stands in for what a real Detent does only when things go wrong: answers that do not come, are cut off or say "not
now", and streams that break in the middle.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Play:
    """One answer. `pieces` are sent one by one, as a stream; `cut` closes the connection instead of ending it well;
    `hold` is waited for before anything is said; `claims` is the length that is announced."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    pieces: list[bytes] | None = None
    cut: bool = False
    close: bool = False
    hold: threading.Event | None = None
    claims: int | None = None
    raw: bytes | None = None


@dataclass
class Heard:
    """One request, and which connection it came on."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Player:
    """Plays one answer after the other; the last for ever."""

    def __init__(self) -> None:
        self.url = ""
        self.heard: list[Heard] = []
        self.closed = threading.Semaphore(0)
        """Released for each connection that is closed from here."""
        self._plays: list[Play] = [Play(503)]
        self._lock = threading.Lock()

    def plays(self, *plays: Play) -> None:
        self._plays = list(plays)

    def targets(self) -> list[str]:
        return [one.target for one in self.heard]

    def next(self, heard: Heard) -> Play:
        with self._lock:
            self.heard.append(heard)
            return self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]


_numbers = itertools.count(1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    player: Player

    def setup(self) -> None:
        super().setup()
        self._number = next(_numbers)  # an `id` is given again once its object is gone

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        play = self.player.next(Heard(self.command, self.path, headers, body, self._number))
        if play.hold is not None:
            play.hold.wait(10)
        if play.cut and play.pieces is None and play.claims is None:
            self.close_connection = True
            return
        self._send(play)

    def _send(self, play: Play) -> None:
        data = play.raw if play.raw is not None else json.dumps(play.body).encode()
        self.send_response(play.status)
        for name, value in play.headers.items():
            self.send_header(name, value)
        if play.pieces is not None:
            self._stream(play)
            return
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if play.claims is None else play.claims))
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = self.close_connection or play.close or play.cut

    def _stream(self, play: Play) -> None:
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in play.pieces or []:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if play.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    player: Player

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.player.closed.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Callers that leave in the middle are what many tests are about."""


@contextmanager
def playing(port: int = 0) -> Iterator[Player]:
    """A player on that loopback port, or on one of its own."""
    player = Player()
    handler = type("Handler", (_Handler,), {"player": player})
    server = _Server(("127.0.0.1", port), handler)
    server.player = player
    player.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield player
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
