"""A server that is not well is found out, even where its document has an excuse for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.property.campaign import Campaign, Report
from tests.property.pools import Pools

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "ill", "version": "1"},
    "paths": {"/ill": {"get": {"responses": {"200": {"description": "well"}, "503": {"description": "not now"}}}}},
}


class Nothing(Pools):
    """There is nothing to put there."""

    def furnish(self, session: object, url: str) -> None:
        """Nothing."""


@contextmanager
def ill_server(illness: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(DOCUMENT).encode()
            if self.path == "/ill" and illness == "hangs up":
                self.close_connection = True
                return
            self.send_response(503 if self.path == "/ill" else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *parts: object) -> None:
            """Nothing is told."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def asked(illness: str) -> Report:
    with ill_server(illness) as url:
        return Campaign(url, 1, pools=Nothing()).run(10.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("illness", "reason"), [("answers 503", "answered 503"), ("hangs up", "the connection was lost")]
)
def test_a_server_that_is_ill_is_found_out(illness: str, reason: str) -> None:
    [violation] = asked(illness).violations
    assert violation.operation == "GET /ill"
    assert reason in violation.reason
