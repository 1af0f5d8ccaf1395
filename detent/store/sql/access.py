"""How verbs use a SQL database: the contract of a dialect's connections, and a pool of them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Generic, Protocol, TypeVar

from sqlalchemy import ClauseElement, SelectBase, text

from detent.errors import StoreBusy
from detent.store.audit import AuditRow, PendingAudit, unwritten_audit
from detent.store.sql.compiler import InsertIfAbsent, Values

# Time limits of calls, for every database.


#: The minimum time of a call, however long it took to connect.
LEAST_TIME: Final = 0.5
#: A timer that rings so many seconds late shows that the loop was blocked.
_LATE: Final = 0.1
#: How many seconds a call gets after its loop was blocked, and how often.
_EXTENSION: Final = 1.0
_EXTENSIONS: Final = 5


class Alarm:
    """Calls `ring` at `when`, in the time of the loop, unless it is cancelled before.

    A loop that was blocked, by a step or on a busy machine, finds the answer and the end of the time in the same turn.
    The answer must win, so an alarm that is late rings only after the loop has run for a while."""

    def __init__(self, when: float, ring: Callable[[], None]) -> None:
        self._loop, self._ring, self._extensions = asyncio.get_running_loop(), ring, _EXTENSIONS
        self._timer = self._loop.call_at(when, self._ring_if_on_time)

    def cancel(self) -> None:
        self._timer.cancel()

    def _ring_if_on_time(self) -> None:
        now = self._loop.time()
        if now - self._timer.when() > _LATE and self._extensions:
            self._extensions -= 1
            self._timer = self._loop.call_at(now + _EXTENSION, self._ring_if_on_time)
        else:
            self._ring()


@asynccontextmanager
async def time_limit(when: float) -> AsyncIterator[None]:
    """Raise TimeoutError in the block at `when`, as `asyncio.timeout_at` does, but not because the loop was blocked."""
    async with asyncio.timeout(None) as limit:
        alarm = Alarm(when, lambda: limit.reschedule(when))
        try:
            yield
        finally:
            alarm.cancel()


# The pool: a few connections that callers share, for every database.


class Closable(Protocol):
    """Any object that owns a dialect's connection."""

    async def close(self) -> None: ...


L = TypeVar("L", bound=Closable)


class ConnectionPool(Generic[L]):
    """A fixed set of connections. A caller that waits longer than `patience` seconds for one gets StoreBusy."""

    def __init__(self, connections: Iterable[L], patience: float) -> None:
        self._free = list(connections)
        self._all = tuple(self._free)
        self._room = asyncio.Semaphore(len(self._free))
        self._patience = patience

    @asynccontextmanager
    async def connection(self, is_preferred: Callable[[L], bool] | None = None) -> AsyncIterator[L]:
        """Lend a connection, if possible one that is preferred."""
        if self._room.locked():
            until = asyncio.get_running_loop().time() + self._patience
            try:
                async with time_limit(until):  # `wait_for` of Python 3.11 can lose a cancellation
                    await self._room.acquire()
            except TimeoutError:
                raise StoreBusy("every connection to the database is in use") from None
        else:
            await self._room.acquire()  # at once
        connection = self._take(is_preferred)
        try:
            yield connection
        finally:
            self._free.append(connection)
            self._room.release()

    def _take(self, is_preferred: Callable[[L], bool] | None) -> L:
        """Remove a free connection: the one that was used last of those that are preferred, or of all."""
        if is_preferred is not None:
            for place in range(len(self._free) - 1, -1, -1):
                if is_preferred(self._free[place]):
                    return self._free.pop(place)
        return self._free.pop()

    async def close(self) -> None:
        for connection in self._all:
            await connection.close()


T = TypeVar("T")
Rows = Sequence[Sequence[Any]]
Step = tuple[ClauseElement, Values]
#: A transaction as a generator: it yields one statement after another and receives the rows of each.
Script = Generator[Step, Rows, T]


#: Writes the row of an audited command, unless another transaction of the command has written it.
_FIELDS: Final = AuditRow._fields
ADD_AUDIT: Final = InsertIfAbsent(
    text(f"insert into audit ({', '.join(_FIELDS)}) values ({', '.join(f':{name}' for name in _FIELDS)})")
)


class SqlAccess(ABC):
    """Owns every connection of a store. Verbs that are the same on every SQL database use only these methods."""

    @abstractmethod
    async def now(self) -> int:
        """Return the database's time."""

    @abstractmethod
    async def query(self, clause: ClauseElement, values: Values) -> Rows:
        """Return the rows of one statement that changes nothing."""

    async def search(self, clause: ClauseElement, values: Values) -> Rows:
        """Return the rows of one statement that changes nothing, planned for these very arguments.

        A list may be as long as its limit or end at once. A plan for arguments that are not known would be wrong for
        one of the two."""
        return await self.query(clause, values)

    async def run_script(self, begin: Callable[[], Script[T]]) -> T:
        """Run the statements of a script as one transaction, commit it and return what the script returns.

        Every statement sees what was committed before it. If the command is audited and the script writes, the
        transaction writes its audit row too."""
        pending = unwritten_audit()
        if pending is None:
            return await self.run_transaction(begin)
        return await self._run_audited(begin, pending)

    async def _run_audited(self, begin: Callable[[], Script[T]], pending: PendingAudit) -> T:
        does_write = False

        def audited() -> Script[T]:
            nonlocal does_write
            script, rows, does_write = begin(), None, False
            while True:
                try:
                    clause, values = next(script) if rows is None else script.send(rows)
                except StopIteration as end:
                    if does_write:
                        yield ADD_AUDIT, pending.row()._asdict()
                    result: T = end.value
                    return result
                does_write = does_write or not isinstance(clause, SelectBase)
                rows = yield clause, values

        result = await self.run_transaction(audited)
        pending.is_written = does_write
        return result

    @abstractmethod
    async def run_transaction(self, begin: Callable[[], Script[T]]) -> T:
        """Run the statements of a script as one transaction. Only `run_script` calls this."""

    async def execute(self, clause: ClauseElement, values: Values) -> Rows:
        """Run one statement as its own transaction."""

        def only() -> Script[Rows]:
            return (yield clause, values)

        return await self.run_script(only)

    @abstractmethod
    async def close(self) -> None: ...
