"""The client of commands: it talks HTTP to a Detent that serves its API, or opens the database in this process.

One process at a time owns a SQLite file, and stores its address in a file beside it. So a command finds the running
engine and sends its requests there. It opens the file only if no process owns it. Both transports take the requests of
the client and return the answers of the API, so a command is written once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Final

from detent.client.calls import (
    Answer,
    Call,
    Pages,
    RetryPolicy,
    ServerAddress,
    bare,
    duration,
    given,
    server_url,
    url_path,
)
from detent.client.drivers import Driver
from detent.client.identity.key_file import finder
from detent.client.transports import HttpTransport, Transport
from detent.documents.answers import Many
from detent.errors import DetentError
from detent.settings import Settings
from detent.store.sql.sqlite.lock import FileLock
from detent.store.url import scheme, sqlite_path

#: Seconds. A command fails soon if no server answers. A command that follows a run survives a restart of the server.
TIMEOUT: Final = 120.0
PATIENCE: Final = 3.0
LONG_PATIENCE: Final = 300.0
_LONGEST_POLL: Final = 20.0
_SHORTEST_ROUND: Final = 0.1

Document = dict[str, Any]

#: The value of `--key`, which every command with `--url` has.
_FLAG: Final[dict[str, str]] = {}
_whole: Final = bare(dict[str, Any])
_page: Final = bare(Many[dict[str, Any]])


class CommandClient:
    """Sends the requests of a command over a transport, which it owns. It returns documents as plain JSON, because
    commands print them."""

    def __init__(self, transport: Transport, patience: float) -> None:
        self._driver = Driver(transport, RetryPolicy(TIMEOUT, patience))

    @property
    def has_no_engine(self) -> bool:
        """Whether no node can run the workflows: this process has opened the database, and no other process can."""
        return not self._driver.transport.can_wait

    def need_engine(self, what: str) -> None:
        """Raise DetentError if no engine runs: the command would wait for ever."""
        if self.has_no_engine:
            raise DetentError(f"{what} needs an engine, and none is running on this database; start `detent serve`")

    def pause(self, seconds: float) -> None:
        """Wait before the next request of a command that looks again and again."""
        self._driver.wait(seconds)

    def ask(self, call: Call[Any]) -> Any:
        """Return the `data` of an answer: a document, or a list."""
        return self.answer(call)[1]["data"]

    def answer(self, call: Call[Any]) -> tuple[int, Document]:
        """Return the status and the whole body of an answer."""
        found: tuple[int, Document] = self._driver.ask(replace(call, read=_status_and_body))
        return found

    def text(self, call: Call[Any]) -> str:
        """Return an answer that is not JSON, as text."""
        found: str = self._driver.ask(replace(call, read=_text))
        return found

    def each(self, pages: Pages[Any]) -> Iterator[Document]:
        """Yield the documents of a list. Further pages are read only if the caller iterates so far."""
        return self._driver.stream(Pages(replace(pages.first, read=_page)))

    def entries(
        self,
        run: str,
        after: int = 0,
        *,
        wait: bool = False,
        until: float | None = None,
        longest: float = _LONGEST_POLL,
    ) -> Iterator[list[Document]]:
        """Yield the journal of a run after an entry, some entries at a time. With `wait`, yield entries as they are
        written, and an empty list at least every `longest` seconds. End when the run has ended or the monotonic clock
        reaches `until`."""
        where = url_path("runs", run, "events")
        while True:
            begun = time.monotonic()
            left = longest if until is None else min(longest, until - begun)
            holds = max(0.0, left) if wait else 0.0
            query = given(after=after, limit=200, wait=duration(holds))
            _, body = self.answer(Call("GET", where, _whole, query=query, holds=holds))
            yield body["data"]
            if body["next_cursor"] is None or left <= 0 or not (wait or body["data"]):
                return
            after = int(body["next_cursor"])
            if wait:
                self._driver.wait(max(0.0, _SHORTEST_ROUND - (time.monotonic() - begun)))


def use_key(key: str) -> None:
    """Use a key for every request of this command."""
    _FLAG["key"] = key


@contextmanager
def open_client(
    settings: Settings, url: str | None, *, patience: float = PATIENCE, makes_database: bool = False
) -> Iterator[CommandClient]:
    """Open a client of the Detent at `url`, else of the one that owns the database, else of the database itself. The
    database must exist, unless `makes_database` is true."""
    with ExitStack() as stack:
        find_key = None if url is None else finder(server_url(url), _FLAG.get("key"))
        if url is None:
            server = _server(settings.database_url)
            if server is None:
                # Imported late, so that a command with an address does not load the engine.
                from detent.cli.database import open_database

                found = stack.enter_context(open_database(settings, makes=makes_database))
                if not isinstance(found, ServerAddress):
                    yield CommandClient(found, patience)
                    return
                server = found
            url = server[0]

            def find_key() -> str | None:
                owner = _server(settings.database_url)
                return _FLAG.get("key") or (None if owner is None else owner[1])

        transport = HttpTransport(server_url(url), find_key)
        stack.callback(transport.close)
        yield CommandClient(transport, patience)


def _server(database_url: str) -> tuple[str, str | None] | None:
    """Return the address of the process that owns the SQLite file and the key for it, or `None`."""
    is_file = scheme(database_url) == "sqlite"
    return FileLock(sqlite_path(database_url)).server() if is_file else None


def _text(answer: Answer) -> str:
    return answer.body.decode()


def _status_and_body(answer: Answer) -> tuple[int, Document]:
    return answer.status, _whole(answer)
