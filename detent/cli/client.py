"""The two ways from a command to a Detent: over HTTP to the one that serves, or by opening its database here.

One process at a time has a SQLite file, and its address stands beside the file; so a command finds the running engine
by itself and talks to it, and opens the file only when nobody has it. Either way it is the client's requests that are
sent and the API's documents that are answered, so a command is written once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Event
from typing import Any, Final

from detent.client.calls import (
    Answer,
    Call,
    Effect,
    ExchangeDriver,
    Pages,
    Request,
    RetryPolicy,
    Send,
    Wait,
    bare,
    duration,
    given,
    server_url,
    url_path,
)
from detent.client.errors import NoConnection
from detent.client.transports import Connections
from detent.documents.answers import Many
from detent.errors import DetentError
from detent.settings import Settings
from detent.store.sql.sqlite.lock import FileLock
from detent.store.url import scheme, sqlite_path

#: Seconds. A person who waits for an answer wants to know soon that nobody is there; one who follows a run does not
#: mind that the server is started anew meanwhile.
TIMEOUT: Final = 120.0
PATIENCE: Final = 3.0
LONG_PATIENCE: Final = 300.0
_LONGEST_POLL: Final = 20.0
_SHORTEST_ROUND: Final = 0.1

Document = dict[str, Any]

_whole: Final = bare(dict[str, Any])
_page: Final = bare(Many[dict[str, Any]])


class CommandClient:
    """A Detent, wherever it is. `database` is the kind of the one that is open here; null if it is far away."""

    def __init__(self, send: Callable[[Request], Answer], patience: float, database: str | None = None) -> None:
        self._send, self._terms, self._database = send, RetryPolicy(TIMEOUT, patience), database
        self._never = Event()

    @property
    def has_no_engine(self) -> bool:
        """Whether certainly nobody runs the workflows now: the database is open here, and takes one process only."""
        return self._database in ("sqlite", "memory")

    def need_engine(self, what: str) -> None:
        """Refuse what would wait for ever."""
        if self.has_no_engine:
            raise DetentError(f"{what} needs an engine, and none is running on this database; start `detent serve`")

    def ask(self, call: Call[Any]) -> Any:
        """The `data` that is answered: a document, or a list."""
        return self.answer(call)[1]["data"]

    def answer(self, call: Call[Any]) -> tuple[int, Document]:
        """Status and whole body of an answer."""
        turns: ExchangeDriver[Effect, tuple[int, Document]] = ExchangeDriver(
            replace(call, read=_status_and_body).talk(self._terms)
        )
        effect = turns.take()
        while effect is not None:
            effect = turns.take(self._done(effect))
        return turns.result

    def each(self, pages: Pages[Any]) -> Iterator[Document]:
        """The documents of a list, page by page as far as they are wanted."""
        call, cursor = pages.first, None
        while True:
            query = call.query if cursor is None else (*call.query, ("cursor", cursor))
            _, body = self.answer(replace(call, query=query))
            yield from body["data"]
            cursor = body.get("next_cursor")
            if cursor is None:
                return

    def entries(
        self, run: str, after: int = 0, *, wait: bool = False, until: float | None = None
    ) -> Iterator[list[Document]]:
        """The journal of a run behind an entry, some entries at a time. With `wait` as they are written, and an empty
        list now and then, until the run has ended or the monotonic clock says `until`."""
        where = url_path("runs", run, "events")
        while True:
            begun = time.monotonic()
            left = _LONGEST_POLL if until is None else min(_LONGEST_POLL, until - begun)
            holds = max(0.0, left) if wait else 0.0
            query = given(after=after, limit=200, wait=duration(holds))
            _, body = self.answer(Call("GET", where, _whole, query=query, holds=holds))
            yield body["data"]
            if body["next_cursor"] is None or left <= 0 or not (wait or body["data"]):
                return
            after = int(body["next_cursor"])
            if wait:
                self._never.wait(max(0.0, _SHORTEST_ROUND - (time.monotonic() - begun)))

    def _done(self, effect: Effect) -> object:
        """What came of what a conversation wants; an error of the connection is a result too."""
        match effect:
            case Send(request):
                try:
                    return self._send(request)
                except NoConnection as error:
                    return error
            case Wait(seconds):
                return self._never.wait(seconds)
            case _:
                raise TypeError(f"a door cannot do {effect!r}")


@contextmanager
def open_client(
    settings: Settings, url: str | None, *, patience: float = PATIENCE, makes_database: bool = False
) -> Iterator[CommandClient]:
    """To the Detent at `url`; else to the one that has the database; else to the database itself, which must be there
    unless the command `makes_database`s."""
    with ExitStack() as stack:
        url = url or _found(settings.database_url)
        if url is None:
            # Loaded when it is needed: who has an address needs no engine in this process.
            from detent.cli.database import open_database

            found = stack.enter_context(open_database(settings, makes=makes_database))
            if not isinstance(found, str):
                yield CommandClient(found.send, patience, found.database)
                return
            url = found
        connections = Connections(server_url(url))
        stack.callback(connections.close)
        yield CommandClient(connections.send, patience)


def _found(database_url: str) -> str | None:
    """Where the process answers that has the file."""
    is_file = scheme(database_url) == "sqlite"
    return FileLock(sqlite_path(database_url)).url() if is_file else None


def _status_and_body(answer: Answer) -> tuple[int, Document]:
    return answer.status, _whole(answer)
