"""Open the outbox that a URL names. Its first read creates the table if necessary."""

from __future__ import annotations

from urllib.parse import urlsplit

from detent.errors import InvalidInput, Problem
from detent.outbox.relay import Outbox
from detent.outbox.sqlite import SqliteOutbox
from detent.store.url import scheme, sqlite_path


def open_outbox(url: str) -> Outbox:
    """Return the outbox in an application's database, without connecting yet.

    Raise InvalidInput if it is not supported."""
    match scheme(url):
        case "sqlite":
            return SqliteOutbox(sqlite_path(url))
        case "postgresql":
            from detent.outbox.postgres import PostgresOutbox  # its driver is an optional dependency

            return PostgresOutbox(url)
        case "mysql":
            from detent.outbox.mysql import MysqlOutbox  # its driver is an optional dependency

            return MysqlOutbox(url)
        case _:
            problem = Problem(
                "outbox_urls", f"{urlsplit(url).scheme} is not supported; use sqlite, postgresql or mysql"
            )
            raise InvalidInput("invalid settings", [problem])
