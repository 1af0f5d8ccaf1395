"""Group commit: a node writes everything that is pending as one flush, and sends one flush at a time.

Memory runs ahead of the database. A plan is run only after the flush with its rows has returned. While one flush is
under way, new writes collect for the next one. If it is unknown whether a flush was applied, the node raises its own
epoch. After that, the old flush can have no effect any more, and the node sends the same flush again. A start that is
blocked by another open transaction blocks no other write.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from detent.blobs.uses import BlobUses, uses_in
from detent.clock import DatabaseTime
from detent.engine.records.logs import StepLogs
from detent.engine.records.seals import Sealer
from detent.engine.tuning import Tuning
from detent.engine.write import PendingWrite
from detent.errors import CommitUnknown, EngineError, StartBlocked, StoreBusy, StoreError, StoreLocked, Unavailable
from detent.instant import Instant, micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.store.protocol import NodeStore
from detent.store.rows import Flush, Flushed, NewRun

__all__ = ["PATIENCE", "Group", "ContendedStarts", "keys_of"]

# Starts blocked by another open transaction that uses the same hero or request id.
#
# Until that transaction ends, the database cannot decide whether our start is allowed. The other writes must not wait
# for it. So such starts are sent in flushes of their own with a short lock timeout, between the normal flushes. The
# blocked start is found by bisection. If it is blocked again, its caller gets StartBlocked and may retry later. Its
# key is remembered for a while, so that the next start with the same key is deferred at once.


#: How long such a start may wait for another transaction, in seconds. All other writes of the node wait meanwhile.
PATIENCE: Final = 0.1
REMEMBERED: Final = 5.0
MOST_REMEMBERED: Final = 10_000

#: (tenant, name, value) of something that only one run may have.
Key = tuple[int, str, str]


class Group(NamedTuple):
    """Starts that are sent together. `again`: an earlier flush may have created these runs."""

    writes: list[PendingWrite]
    again: bool


class ContendedStarts:
    """The deferred groups of starts, and the keys that an open transaction was found to lock."""

    def __init__(self, time: DatabaseTime) -> None:
        self._time = time
        self._groups: deque[Group] = deque()
        self._known: dict[Key, Instant] = {}  # until when

    def __bool__(self) -> bool:
        return bool(self._groups)

    def next(self) -> Group:
        return self._groups.popleft()

    def without_known(self, batch: list[PendingWrite]) -> list[PendingWrite]:
        """Defer the runs of the batch whose key is known to be locked. Return the other writes."""
        if not self._known:
            return batch
        self._forget_old()
        blocked = {write.run for write in batch if not self._known.keys().isdisjoint(keys_of(write.started()))}
        for run in blocked:
            self._groups.append(Group([write for write in batch if write.run == run], again=False))
        return [write for write in batch if write.run not in blocked] if blocked else batch

    def defer(self, batch: Sequence[PendingWrite], *, again: bool) -> list[PendingWrite]:
        """After a flush met a lock, defer the starts in it that can be blocked. Return the other writes."""
        contended = {write.run for write in batch if keys_of(write.started())}
        if contended:
            self._groups.append(Group([write for write in batch if write.run in contended], again))
        return [write for write in batch if write.run not in contended]

    def take_blocked(self, group: Group) -> list[PendingWrite]:
        """After a group met a lock again, return the writes to give up, with all that wait for the same keys.

        If the group has several runs, split it into halves, which are tried next, and return no writes.
        """
        writes, again = group
        runs = list(dict.fromkeys(write.run for write in writes))
        if len(runs) > 1:
            half = set(runs[: len(runs) // 2])
            self._groups.appendleft(Group([write for write in writes if write.run not in half], again))
            self._groups.appendleft(Group([write for write in writes if write.run in half], again))
            return []
        keys = {key for write in writes for key in keys_of(write.started())}
        self._remember(keys)
        if any(write.successor is not None for write in writes):
            # A successor has no caller that could retry it. Its group is retried until it is written.
            self._groups.append(group)
            return self._take_with(keys)
        return [*writes, *self._take_with(keys)]

    def take_all(self) -> list[Group]:
        """Remove and return all deferred groups. They will not be sent any more."""
        groups = list(self._groups)
        self._groups.clear()
        return groups

    def _take_with(self, keys: set[Key]) -> list[PendingWrite]:
        """Remove and return the deferred single starts that need one of these keys."""
        found = [group for group in self._groups if _is_for(group, keys)]
        if found:
            self._groups = deque(group for group in self._groups if not _is_for(group, keys))
        return [write for group in found for write in group.writes]

    def _remember(self, keys: set[Key]) -> None:
        until = self._time.now() + micros(REMEMBERED)
        for key in keys:
            self._known.pop(key, None)
            self._known[key] = until
        while len(self._known) > MOST_REMEMBERED:
            del self._known[next(iter(self._known))]

    def _forget_old(self) -> None:
        now = self._time.now()
        while self._known:
            oldest = next(iter(self._known))
            if self._known[oldest] > now:
                return
            del self._known[oldest]


def keys_of(start: NewRun | None) -> list[Key]:
    """Return the keys of a start that no other run may have: its request id and its active key."""
    if start is None:
        return []
    named = (("request_id", start.request_id), ("active_key", start.active_key))
    return [(start.tenant, name, value) for name, value in named if value is not None]


def _is_for(group: Group, keys: set[Key]) -> bool:
    if group.again or len(group.writes) != 1 or group.writes[0].successor is not None:
        return False
    return not keys.isdisjoint(keys_of(group.writes[0].start))


class WriteQueue:
    """The writes that wait for a flush.

    If one flush cannot take them all, tenants take turns, and so do the runs of each tenant. So neither a tenant with
    many writes nor a wide run delays the others. The writes of one run stay in order.

    Each write is queued once and taken once: the cost of a flush does not grow with the writes that stay.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._new: deque[PendingWrite] = deque()
        self._tenants: dict[int, dict[bytes, deque[PendingWrite]]] = {}  # the next in turn is first, in both dicts
        self._runs: dict[bytes, deque[PendingWrite]] = {}
        self._placed = 0

    def __len__(self) -> int:
        return len(self._new) + self._placed

    def __iter__(self) -> Iterator[PendingWrite]:
        yield from self._new
        for run in self._runs.values():
            yield from run

    def add(self, write: PendingWrite) -> None:
        self._new.append(write)
        self.bytes += write.size

    def put_back(self, writes: Sequence[PendingWrite]) -> None:
        """Queue writes again that were taken but not sent, so that `give_up` finds them. Nothing is sent any more."""
        for write in writes:
            self.add(write)

    def take_all(self) -> list[PendingWrite]:
        self._place_new()
        self.bytes = 0
        return [self._take_turn() for _ in range(self._placed)]

    def take_starts(self) -> list[PendingWrite]:
        """Remove and return all writes of the runs whose start is queued."""
        if not any(write.start is not None for write in self):
            return []
        writes = self.take_all()
        starts = {write.run for write in writes if write.start is not None}
        for write in writes:
            if write.run not in starts:
                self.add(write)
        return [write for write in writes if write.run in starts]

    def take(self, rows: int, size: int) -> list[PendingWrite]:
        """Remove and return the next writes, up to `rows` rows or `size` bytes, and at least one if there is any."""
        if self._placed or len(self._new) > rows or self.bytes > size:
            self._place_new()
        pop = self._take_turn if self._placed else self._new.popleft
        left, taken = len(self), 0
        batch: list[PendingWrite] = []
        while left and (not batch or (rows > 0 and taken < size)):
            write = pop()
            batch.append(write)
            left -= 1
            rows -= write.rows()
            taken += write.size
        self.bytes -= taken
        return batch

    def _place_new(self) -> None:
        for write in self._new:
            run = self._runs.get(write.run)
            if run is None:
                run = self._runs[write.run] = deque()
                self._tenants.setdefault(write.of_tenant(), {})[write.run] = run
            run.append(write)
        self._placed += len(self._new)
        self._new.clear()

    def _take_turn(self) -> PendingWrite:
        """Remove and return the first write of the run whose turn it is."""
        tenant, runs = next(iter(self._tenants.items()))
        run, writes = next(iter(runs.items()))
        write = writes.popleft()
        del runs[run], self._tenants[tenant]
        if writes:
            runs[run] = writes  # behind the others
        else:
            del self._runs[run]
        if runs:
            self._tenants[tenant] = runs
        self._placed -= 1
        return write


BUSY_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0
#: How much longer a start waits if its flush is under way. After that time the flush certainly hangs.
GRACE: Final = 2 * LONGEST_PAUSE
_STOPPED: Final = "the engine stopped before this was written; try again"
#: Raised for a value that cannot be sent. No other exception of a flush is caused by the data of a run.
_UNSENDABLE: Final = (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError)


class Fenced(EngineError):
    """This node was removed from the cluster. The store ignores everything that it still sends."""

    code = "fenced"


class _Refused(Exception):
    """A flush cannot be written because of its content. `again`: an earlier sending may have written part of it."""

    def __init__(self, error: StoreError, again: bool) -> None:
        super().__init__(error.message)
        self.error, self.again = error, again


class _Locked(Exception):
    """Another transaction blocks a flush, perhaps only one start in it. `again`: as for `_Refused`."""

    def __init__(self, again: bool) -> None:
        super().__init__()
        self.again = again


class _Overdue(Exception):
    """The database could not be written for too long. Nothing of the flush was written."""


class Committer:
    """The writer of one node. It owns the write queue, the contended starts and the node's epoch.

    `durable` is called with the writes of a flush that has returned. `refused` is called with each write that the
    database rejects.
    """

    def __init__(
        self,
        store: NodeStore,
        node: bytes,
        epoch: int,
        *,
        time: DatabaseTime,
        tuning: Tuning,
        durable: Callable[[list[PendingWrite], Flushed], None],
        refused: Callable[[PendingWrite, StoreError], None],
    ) -> None:
        self._store, self._node, self.epoch = store, node, epoch
        self._time, self._tuning = time, tuning
        self._durable, self._refused = durable, refused
        #: Adds seals to the ends of runs. Most nodes have none.
        self.sealer: Sealer | None = None
        #: Rows of step logs that wait for a flush.
        self.logs: StepLogs | None = None
        #: Writes which blobs a flush names, before the flush.
        self.uses: BlobUses | None = None
        self._queue = WriteQueue()
        self._contended = ContendedStarts(time)
        self._wake = asyncio.Event()
        self._sent = False
        self._over: Exception | None = None  # why nothing is written any more
        self._batch: list[PendingWrite] = []  # the batch that is being sent
        self._since: float | None = None  # when its sending began
        self._fault: StoreError | None = None  # the error of its last sending
        self._may_be_written = False  # whether a sending of the batch may have been applied
        self.is_unsure = False  # the end of a flush is unknown: nothing may be claimed meanwhile

    def add(self, write: PendingWrite) -> None:
        """Queue rows for the next flush that has room."""
        if self._over is not None:
            _fail(write, self._over)
            return
        self._queue.add(write)
        self._wake.set()

    def is_full(self) -> bool:
        """Return whether the queue is so long that no new work should begin."""
        return self._queue.bytes >= self._tuning.queue_bytes

    def outage(self) -> str | None:
        """Return why nothing can be written now, or None."""
        waited = self._waited()
        if self._fault is not None and waited >= LONGEST_PAUSE:
            return self._fault.outage
        return CommitUnknown.outage if waited >= self._tuning.write_patience else None

    def is_overdue(self) -> bool:
        """Return whether a flush has been under way for longer than a start may wait."""
        return self._waited() >= self._tuning.write_patience

    def refuse_overdue(self) -> None:
        """Answer the starts that have waited too long.

        Queued starts are refused. A start whose flush may have been applied gets CommitUnknown, and stays in its flush.
        """
        if not self.is_overdue():
            return
        refused = self._queue.take_starts()
        if refused:
            self._refuse(refused)
        if self._waited() >= self._tuning.write_patience + GRACE:
            for write in self._batch:
                if write.start is not None:
                    _fail(write, _unknown())

    def _waited(self) -> float:
        return 0.0 if self._since is None else self._time.monotonic() - self._since

    def stands_by(self, epoch: int) -> bool:
        """Return whether the epoch is still current: this node has not raised it, and is not about to."""
        return not self.is_unsure and self.epoch == epoch

    def is_idle(self) -> bool:
        return not self._queue and not self._contended and not self._sent and not self._has_logs()

    def _has_logs(self) -> bool:
        return self.logs is not None and self.logs.is_waiting

    def wake(self) -> None:
        """Flush the rows of step logs that wait."""
        self._wake.set()

    async def work(self) -> None:
        """Flush queued writes forever. Raise Fenced when this node was removed."""
        tuning, logs = self._tuning, self.logs
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue or self._contended or self.is_unsure or (logs is not None and logs.is_waiting):
                self._sent = True
                if self._queue or (logs is not None and logs.is_waiting):
                    await self._commit(
                        self._contended.without_known(self._queue.take(tuning.flush_rows, tuning.flush_bytes))
                    )
                elif not self._contended:
                    await self._make_sure()
                if self._contended:
                    await self._commit_contended()
                self._sent, self._since = False, None

    def give_up(self, error: Exception) -> None:
        """Stop writing for good, and fail every write that a caller waits for."""
        self._over = error
        for group in self._contended.take_all():
            for write in group.writes:
                _fail(write, _unknown() if group.again else error)
        for write in self._queue.take_all():
            _fail(write, error)

    async def _commit(self, batch: list[PendingWrite], *, again: bool = False, patience: float | None = None) -> None:
        """Write a batch and report it as durable. With `patience`, raise _Locked if another transaction blocks it for
        longer."""
        logs = self.logs if self.logs is not None and self.logs.is_waiting else None
        if not batch and logs is None:
            return
        flush = Flush()
        if logs is not None:
            flush.logs, flush.dropped_logs = logs.take(self._tuning.flush_bytes)
        for write in batch:
            write.add_to(flush)
        reach("before_flush")
        self._batch, self._may_be_written = batch, again
        if self._since is None:
            self._since = self._time.monotonic()
        try:
            if self.sealer is not None and flush.ends:
                await self.sealer.seal(flush, batch, lambda: self._over is None)
            if self.uses is not None and (named := uses_in(flush)):
                await self.uses.note(named, lambda: self._over is None)
            flushed = await self._send(flush, again=again, patience=patience)
        except _Overdue:
            self._put_back_logs(flush)
            starts = {write.run for write in batch if write.start is not None}
            self._refuse([write for write in batch if write.run in starts])
            await self._commit([write for write in batch if write.run not in starts])
            return
        except _Refused as refused:
            if flush.logs and self.logs is not None:
                self.logs.lose(flush.logs, refused.error.message)
                await self._commit(batch, again=refused.again, patience=patience)
            else:
                await self._bisect(batch, refused)
            return
        except _Locked as locked:
            self._put_back_logs(flush)
            if patience is not None:
                raise
            await self._commit(self._contended.defer(batch, again=locked.again), again=locked.again)
            return
        except BaseException:
            for write in batch:
                _fail(write, _unknown() if self._may_be_written else Unavailable(_STOPPED))
            raise
        finally:
            self._batch = []
        self._since = self._fault = None
        reach("after_flush")
        self._time.heard(flushed.now)
        emit("flush.sent", rows=len(flush.entries) + len(flush.starts) + len(flush.ends) + len(flush.parks))
        self._durable(batch, flushed)

    def _put_back_logs(self, flush: Flush) -> None:
        if self.logs is not None and (flush.logs or flush.dropped_logs):
            self.logs.put_back(flush.logs, flush.dropped_logs)

    async def _commit_contended(self) -> None:
        group = self._contended.next()
        try:
            await self._commit(group.writes, again=group.again, patience=PATIENCE)
        except _Locked as locked:
            for write in self._contended.take_blocked(group._replace(again=locked.again)):
                self._fail_start(write, _unknown() if locked.again else None)

    def _fail_start(self, write: PendingWrite, error: Exception | None = None) -> None:
        """Fail a start. (If an earlier sending created the run after all, this node owns it but does not have it in
        memory. The watchdog releases it, like every such run.)"""
        _fail(write, error or StartBlocked())
        self._durable([write], Flushed(self._time.now(), frozenset(), frozenset({write.run})))

    def _refuse(self, writes: Sequence[PendingWrite]) -> None:
        reason = StoreBusy.outage if self._fault is None else self._fault.outage
        for write in writes:
            self._fail_start(write, Unavailable(f"{reason}; nothing was written, try again", LONGEST_PAUSE))

    async def _bisect(self, batch: list[PendingWrite], refused: _Refused) -> None:
        """Find the one run whose rows the database rejects, by halves, so that the other runs are written."""
        runs = list(dict.fromkeys(write.run for write in batch))
        if len(runs) == 1:
            for write in batch:
                self._refused(write, refused.error)
            return
        half = set(runs[: len(runs) // 2])
        rest = [write for write in batch if write.run not in half]
        try:
            await self._commit([write for write in batch if write.run in half], again=refused.again)
        except BaseException:
            for write in rest if refused.again else ():
                _fail(write, _unknown())
            self._queue.put_back(rest)  # for `give_up` to find
            raise
        await self._commit(rest, again=refused.again)

    async def _send(self, flush: Flush, *, again: bool, patience: float | None = None) -> Flushed:
        pause = BUSY_PAUSE
        while True:
            try:
                if self.is_unsure:
                    await self._raise_epoch()
                    reach("before_repeat")
                    again = True
                    emit("flush.repeated", epoch=self.epoch)
                self._may_be_written = True
                flushed = await self._store.flush(self._node, self.epoch, flush, again=again, patience=patience)
            except StoreLocked as error:
                self._failed(error, again)
                # If the node is still unsure, raising the epoch was blocked, and not a start.
                if not self.is_unsure and any(map(keys_of, flush.starts)):
                    raise _Locked(again) from None
                await asyncio.sleep(pause)
            except StoreBusy as error:
                self._failed(error, again)
                if flush.starts and not self._may_be_written and self.is_overdue():
                    raise _Overdue from None
                await asyncio.sleep(pause)
            except CommitUnknown as error:
                self._fault = error
                self.is_unsure = True
                await asyncio.sleep(pause)
            except StoreError as error:
                raise _Refused(error, again) from error
            except _UNSENDABLE as error:
                self.is_unsure = True  # it is unknown how much of it was sent
                raise _Refused(StoreError(f"{type(error).__name__}: {error}"), True) from error
            else:
                self.is_unsure = False
                if flushed is None:
                    self._may_be_written = again
                    emit("flush.refused", epoch=self.epoch)
                    raise Fenced
                return flushed
            pause = min(LONGEST_PAUSE, pause * 2)

    def _failed(self, error: StoreBusy, again: bool) -> None:
        """Record that a sending was certainly not applied. An earlier one may have been."""
        self._fault = error
        self._may_be_written = again or self.is_unsure

    async def _make_sure(self) -> None:
        """Raise the epoch although nothing is to be sent. The flush with the unknown end was given up.

        Without this the node would stay unsure and never claim again.
        """
        try:
            await self._raise_epoch()
        except StoreError:
            await asyncio.sleep(LONGEST_PAUSE)

    async def _raise_epoch(self) -> None:
        epoch = await self._store.raise_epoch(self._node, self.epoch)
        if epoch is None:
            raise Fenced
        self.epoch = epoch
        self.is_unsure = False


def _unknown() -> CommitUnknown:
    return CommitUnknown("the database did not answer in time: it is unknown whether this was written")


def _fail(write: PendingWrite, error: Exception) -> None:
    if write.done is not None and not write.done.done():
        write.done.set_exception(error)
