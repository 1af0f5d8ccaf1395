"""The journal of a run and the log of its steps: pages of what is stored, and what is new as it comes.

The stream is server-sent events whose id is the `seq` of the entry. A broken connection is opened again with the last
`seq` (`Last-Event-ID`), so a reader sees every entry once, in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from detent.client.calls import (
    PAGE,
    Answer,
    Call,
    Exchange,
    OpenStream,
    ReadStream,
    Request,
    RetryPolicy,
    StreamExchange,
    Wait,
    Yield,
    duration,
    given,
    is_passing,
    page,
    url_path,
)
from detent.client.errors import ApiError, NoConnection, UnexpectedAnswer, refusal
from detent.client.events import Parser, StreamMessage
from detent.client.runs import LONGEST_POLL, SHORTEST_ROUND, get
from detent.documents.answers import Many
from detent.documents.journal import EntryDocument, LogLine

#: Seconds. A stream that is silent for longer is considered lost: a live stream sends a comment every 15 seconds.
LONGEST_SILENCE: Final = 60.0
_END: Final = "end"

_entry = msgspec.json.Decoder(EntryDocument)


@dataclass(frozen=True, slots=True)
class ReadJournal:
    """The exchange that reads the stored entries of a journal, page by page."""

    run: str
    after: int
    limit: int = PAGE

    def stream(self, policy: RetryPolicy) -> StreamExchange[EntryDocument]:
        after = self.after
        while True:
            found = yield from journal_page(self.run, after, self.limit).talk(policy)
            yield Yield(found.data)
            if not found.data or found.next_cursor is None:
                return
            after = found.data[-1].seq


@dataclass(frozen=True, slots=True)
class FollowJournal:
    """The exchange that reads a journal after an entry, as it is written, until the run has ended."""

    run: str
    after: int

    def stream(self, policy: RetryPolicy) -> StreamExchange[EntryDocument]:
        return _Follower(self.run, self.after, policy).follow()


@dataclass(frozen=True, slots=True)
class WholeJournal:
    """The exchange that reads all stored entries of a journal into one list."""

    run: str

    def talk(self, policy: RetryPolicy) -> Exchange[list[EntryDocument]]:
        entries: list[EntryDocument] = []
        while True:
            found = yield from journal_page(self.run, entries[-1].seq if entries else 0).talk(policy)
            entries += found.data
            if not found.data or found.next_cursor is None:
                return entries


class _Follower:
    """Reads one journal over as many connections as necessary. It owns the last seen `seq` and the retry state.

    Each piece of data that arrives restarts the patience."""

    def __init__(self, run: str, after: int, policy: RetryPolicy) -> None:
        self._run, self._seen, self._policy = run, after, policy
        self._tries, self._until, self._is_over = 0, 0.0, False

    def follow(self) -> StreamExchange[EntryDocument]:
        self._hope()
        while True:
            try:
                yield from self._read_stream()
                if not self._is_over:
                    yield from self._look()
                if self._is_over:
                    return
                problem: ApiError | NoConnection = NoConnection("the stream ended before the run did", sent=True)
            except (ApiError, NoConnection) as error:
                if isinstance(error, ApiError) and not is_passing(error):
                    raise
                problem = error
            pause = self._policy.pause(self._tries, problem)
            if self._policy.now() + pause > self._until:
                raise problem
            self._tries += 1
            yield Wait(pause)

    def _poll(self) -> StreamExchange[EntryDocument]:
        """Read by long polling, over a transport without streams."""
        while not self._is_over:
            begun = self._policy.now()
            found = yield from journal_page(self._run, self._seen, wait=LONGEST_POLL).talk(self._policy)
            if found.data:
                self._seen = found.data[-1].seq
                yield Yield(found.data)
            self._is_over = found.next_cursor is None
            early = SHORTEST_ROUND - (self._policy.now() - begun)
            if early > 0 and not self._is_over:
                yield Wait(early)

    def _hope(self) -> None:
        self._tries, self._until = 0, self._policy.now() + self._policy.patience

    def _read_stream(self) -> StreamExchange[EntryDocument]:
        """Read one connection until it breaks or the run has ended."""
        answer: Answer | None = yield OpenStream(self._request())
        if answer is None:
            yield from self._poll()
            return
        error = refusal(answer.status, answer.headers, answer.body)
        if error is not None:
            raise error
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            raise UnexpectedAnswer("that is not a stream of a run", status=answer.status)
        parser = Parser()
        while not self._is_over:
            piece: bytes = yield ReadStream()
            if not piece:
                return
            self._hope()
            found = [entry for message in parser.feed(piece) for entry in self._taken(message)]
            if found:
                yield Yield(found)

    def _request(self) -> Request:
        headers = {**self._policy.headers, "Accept": "text/event-stream"}
        # `Last-Event-ID` is sent on the first connection too: it is how `after` reaches the server.
        headers |= {"Last-Event-ID": str(self._seen)} if self._seen else {}
        return Request("GET", url_path("runs", self._run, "stream"), headers, None, LONGEST_SILENCE)

    def _taken(self, message: StreamMessage) -> Iterator[EntryDocument]:
        """Yield the entry of a message, if it is new. Note whether the run has ended."""
        if message.event == _END:
            self._is_over = True
        if message.id is None or not message.data or self._is_over:
            return
        try:
            entry = _entry.decode("\n".join(message.data))
        except msgspec.MsgspecError as error:
            raise UnexpectedAnswer(f"an entry cannot be read: {error}", status=200) from None
        if entry.seq <= self._seen:
            return
        self._seen = entry.seq
        self._is_over = entry.run_status is not None
        yield entry

    def _look(self) -> StreamExchange[EntryDocument]:
        """Check whether the run has ended, and read the rest of its journal if so. A stream can stop because the run
        has ended, or because the connection broke."""
        run = yield from get(self._run).talk(self._policy)
        if run.is_over:
            yield from ReadJournal(self._run, self._seen).stream(self._policy)
            self._is_over = True


@dataclass(frozen=True, slots=True)
class ReadLog:
    """The exchange that reads what the steps of a run have logged, page by page. With `follow` it reads on until the
    run has ended."""

    run: str
    step: str | None
    attempt: int | None
    level: str | None
    follow: bool
    limit: int = PAGE

    def stream(self, policy: RetryPolicy) -> StreamExchange[LogLine]:
        after: str | None = None
        while True:
            begun = policy.now()
            wait = LONGEST_POLL if self.follow and after is not None else 0.0
            found = yield from self.page(after, wait).talk(policy)
            if found.data:
                yield Yield(found.data)
            if found.next_cursor is None or (not self.follow and not found.data and found.next_cursor == after):
                return
            after = found.next_cursor
            early = SHORTEST_ROUND - (policy.now() - begun)
            if wait and early > 0:
                yield Wait(early)

    def page(self, after: str | None, wait: float = 0.0) -> Call[Many[LogLine]]:
        """Return the lines behind a cursor. The server waits up to `wait` seconds for one."""
        query = given(
            after=after,
            limit=self.limit,
            wait=duration(wait) if wait else None,
            step=self.step,
            attempt=self.attempt,
            level=self.level,
        )
        return Call("GET", url_path("runs", self.run, "logs"), page(LogLine), query=query, holds=wait)


def journal_page(run: str, after: int, limit: int = PAGE, *, wait: float = 0.0) -> Call[Many[EntryDocument]]:
    """Return the entries of a journal after `after`, at most `limit`. The server waits up to `wait` seconds for one."""
    query = given(after=after, limit=limit, wait=duration(wait) if wait else None)
    return Call("GET", url_path("runs", run, "events"), page(EntryDocument), query=query, holds=wait)


def journal(run: str) -> WholeJournal:
    """Return all stored entries of the journal in order: attempts, outcomes, decisions."""
    return WholeJournal(run)


def events(run: str, *, after: int = 0, limit: int = PAGE) -> ReadJournal:
    """Yield the stored entries of the journal after the entry `after`, `limit` per request. It does not wait."""
    return ReadJournal(run, after, limit)


def follow(run: str, *, after: int = 0) -> FollowJournal:
    """Yield the entries of the journal as they are written, until the run has ended. Continue after a lost
    connection."""
    return FollowJournal(run, after)


def logs(
    run: str,
    *,
    step: str | None = None,
    attempt: int | None = None,
    level: str | None = None,
    follow: bool = False,
    limit: int = PAGE,
) -> ReadLog:
    """Yield the lines that the steps of a run have logged, `limit` per request: of a step, of one attempt of it, of a
    level or above. With `follow`, go on until the run has ended."""
    return ReadLog(run, step, attempt, level, follow, limit)
