"""A service like S3 on loopback: moto, behind the server of the standard library, in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from moto.server import DomainDispatcherApplication, create_backend_app  # type: ignore[attr-defined]


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *values: Any) -> None:  # noqa: A002
        return


@dataclass
class Buckets:
    """Where the service is, and the headers that it got."""

    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)

    def environ(self, url: str = "s3://reports") -> dict[str, str]:
        """The environment of a node that is set up for it."""
        return {
            "CONNECTOR_S3_URL": url,
            "CONNECTOR_S3_ENDPOINT": self.url,
            "CONNECTOR_S3_ACCESS_KEY_ID": "AKIATESTTESTTEST",
            "CONNECTOR_S3_SECRET_ACCESS_KEY": "secret-of-the-bucket",
        }


@contextmanager
def open_buckets() -> Iterator[Buckets]:
    """A service of its own for a module of tests, with an empty bucket `reports`."""
    buckets, app = Buckets(), DomainDispatcherApplication(create_backend_app)

    def noted(environ: dict[str, Any], start: Any) -> Any:
        buckets.headers.append({name: value for name, value in environ.items() if name.startswith("HTTP_")})
        return app(environ, start)

    server = make_server("127.0.0.1", 0, noted, server_class=WSGIServer, handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    buckets.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield buckets
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
