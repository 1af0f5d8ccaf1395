"""Group commit: one lane per node, everything pending as one flush, strictly one after the other.

Memory runs ahead of the database; whatever a plan says is done only when the flush that carries it has returned. While
one flush is on its way, the next one gathers. If nobody can say whether a flush was applied, the node raises its own
epoch, after which the old one can take no effect any more, and sends the same flush again. A start that somebody else's
open transaction is in the way of holds up nothing else.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from detent.clock import DatabaseTime
from detent.engine.tuning import Tuning
from detent.engine.write import PendingWrite
from detent.errors import CommitUnknown, EngineError, StartBlocked, StoreBusy, StoreError, StoreLocked, Unavailable
from detent.instant import Instant, micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.store.protocol import NodeStore
from detent.store.rows import Flush, Flushed, NewRun

__all__ = ["PATIENCE", "Group", "ContendedStarts", "keys_of"]

# Starts that somebody else's open transaction is in the way of: another start of the same hero or request id.
#
# Until that transaction has ended nobody can say whether ours may be made. The lane must not wait for it: such starts
# go by themselves, with little patience, and between them everything else is written. Which of them it is about is
# found by halves. One that is held up again is answered that it may be tried later; its key is remembered for a
# while, so that the next of its kind goes this way at once.


#: How long such a start may wait for another transaction, in seconds; everything else waits with it.
PATIENCE: Final = 0.1
REMEMBERED: Final = 5.0
MOST_REMEMBERED: Final = 10_000

#: Tenant, and what only one run may have.
Key = tuple[int, str, str]


class Group(NamedTuple):
    """Starts that are sent together. `again`: an earlier sending may have made them."""

    units: list[PendingWrite]
    again: bool


class ContendedStarts:
    """Groups of starts that wait for their turn, and the keys that were found taken by an open transaction."""

    def __init__(self, time: DatabaseTime) -> None:
        self._time = time
        self._groups: deque[Group] = deque()
        self._known: dict[Key, Instant] = {}  # until when

    def __bool__(self) -> bool:
        return bool(self._groups)

    def next(self) -> Group:
        return self._groups.popleft()

    def without_known(self, batch: list[PendingWrite]) -> list[PendingWrite]:
        """The batch without those that are known to be held up; they are set aside."""
        if not self._known:
            return batch
        self._forget_old()
        held_up = {unit.run for unit in batch if not self._known.keys().isdisjoint(keys_of(unit.start))}
        for run in held_up:
            self._groups.append(Group([unit for unit in batch if unit.run == run], again=False))
        return [unit for unit in batch if unit.run not in held_up] if held_up else batch

    def set_aside(self, batch: Sequence[PendingWrite], *, again: bool) -> list[PendingWrite]:
        """A flush met a lock: its starts that another may be in the way of are set aside. Gives the others."""
        rivals = {unit.run for unit in batch if keys_of(unit.start)}
        if rivals:
            self._groups.append(Group([unit for unit in batch if unit.run in rivals], again))
        return [unit for unit in batch if unit.run not in rivals]

    def held_up(self, group: Group) -> list[PendingWrite]:
        """A group met a lock again. Gives the units that have to be given up, with all that wait for the same; none if
        the group has several runs: then its halves are tried."""
        units, again = group
        runs = list(dict.fromkeys(unit.run for unit in units))
        if len(runs) > 1:
            half = set(runs[: len(runs) // 2])
            self._groups.appendleft(Group([unit for unit in units if unit.run not in half], again))
            self._groups.appendleft(Group([unit for unit in units if unit.run in half], again))
            return []
        keys = {key for unit in units for key in keys_of(unit.start)}
        self._remember(keys)
        return [*units, *self._take_with(keys)]

    def take_all(self) -> list[Group]:
        """All that wait, who will not be sent any more."""
        groups = list(self._groups)
        self._groups.clear()
        return groups

    def _take_with(self, keys: set[Key]) -> list[PendingWrite]:
        """Those that wait by themselves for the same."""
        found = [group for group in self._groups if _is_for(group, keys)]
        if found:
            self._groups = deque(group for group in self._groups if not _is_for(group, keys))
        return [unit for group in found for unit in group.units]

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
    """What no other run may have beside this start."""
    if start is None:
        return []
    named = (("request_id", start.request_id), ("active_key", start.active_key))
    return [(start.tenant, name, value) for name, value in named if value is not None]


def _is_for(group: Group, keys: set[Key]) -> bool:
    return not group.again and len(group.units) == 1 and not keys.isdisjoint(keys_of(group.units[0].start))


BUSY_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0
#: So much later than others a start is answered whose flush is on its way: by then the flush certainly hangs.
GRACE: Final = 2 * LONGEST_PAUSE
_STOPPED: Final = "the engine stopped before this was written; try again"
#: What is raised for a value that cannot be sent. Whatever else may come of a sending is no fault of a run.
_UNSENDABLE: Final = (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError)


class Fenced(EngineError):
    """This node was removed: nothing it sends counts any more."""

    code = "fenced"


class _Refused(Exception):
    """The database refuses a flush as such. `again`: part of it may have been written by an earlier sending."""

    def __init__(self, error: StoreError, again: bool) -> None:
        super().__init__(error.message)
        self.error, self.again = error, again


class _Locked(Exception):
    """Somebody else's transaction is in the way of a flush, perhaps of one start in it. `again` as above."""

    def __init__(self, again: bool) -> None:
        super().__init__()
        self.again = again


class _Overdue(Exception):
    """The database cannot be written for too long. Nothing of the flush was."""


class Committer:
    """`durable` is called with the units of a flush that has returned; `refused` with one that could not be written."""

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
        self._queue: deque[PendingWrite] = deque()
        self._rivals = ContendedStarts(time)
        self._bytes = 0
        self._wake = asyncio.Event()
        self._sent = False
        self._over: Exception | None = None  # why nothing is written any more
        self._batch: list[PendingWrite] = []  # that is being sent
        self._since: float | None = None  # when that began
        self._fault: StoreError | None = None  # of its last sending
        self._may_be_written = False  # whether a sending of it may have been applied
        self.is_unsure = False  # a flush is of unknown fate: nothing may be claimed meanwhile

    def add(self, unit: PendingWrite) -> None:
        """Queue rows to be written with the next flush that has room."""
        if self._over is not None:
            _tell(unit, self._over)
            return
        self._queue.append(unit)
        self._bytes += unit.size
        self._wake.set()

    def is_full(self) -> bool:
        """Whether so much waits to be written that nothing new should be begun."""
        return self._bytes >= self._tuning.queue_bytes

    def outage(self) -> str | None:
        """Say why nothing can be written now, or return None."""
        waited = self._waited()
        if self._fault is not None and waited >= LONGEST_PAUSE:
            return self._fault.outage
        return CommitUnknown.outage if waited >= self._tuning.write_patience else None

    def is_overdue(self) -> bool:
        """Whether a flush has been on its way for longer than a start may wait."""
        return self._waited() >= self._tuning.write_patience

    def refuse_overdue(self) -> None:
        """Answer the starts that have waited too long. One whose flush may have been applied is of unknown fate, and
        stays where it is; the others are not made."""
        if not self.is_overdue():
            return
        starts = {unit.run for unit in self._queue if unit.start is not None}
        if starts:
            refused = [unit for unit in self._queue if unit.run in starts]
            self._queue = deque(unit for unit in self._queue if unit.run not in starts)
            self._bytes -= sum(unit.size for unit in refused)
            self._refuse(refused)
        if self._waited() >= self._tuning.write_patience + GRACE:
            for unit in self._batch:
                if unit.start is not None:
                    _tell(unit, _unknown())

    def _waited(self) -> float:
        return 0.0 if self._since is None else self._time.monotonic() - self._since

    def stands_by(self, epoch: int) -> bool:
        """Whether this node has not itself made that epoch void, or is about to."""
        return not self.is_unsure and self.epoch == epoch

    def is_idle(self) -> bool:
        return not self._queue and not self._rivals and not self._sent

    async def work(self) -> None:
        """Flush whatever is queued, for ever. Raises Fenced when this node is gone."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue or self._rivals or self.is_unsure:
                self._sent = True
                if self._queue:
                    await self._commit(self._rivals.without_known(self._take()))
                elif not self._rivals:
                    await self._make_sure()
                if self._rivals:
                    await self._commit_rivals()
                self._sent, self._since = False, None

    def give_up(self, error: Exception) -> None:
        """Nothing will be written any more, now or later: tell those who wait."""
        self._over = error
        for group in self._rivals.take_all():
            for unit in group.units:
                _tell(unit, _unknown() if group.again else error)
        for unit in self._queue:
            _tell(unit, error)
        self._queue.clear()

    def _take(self) -> list[PendingWrite]:
        queue, rows, size = self._queue, 0, 0
        if len(queue) > self._tuning.flush_rows:
            self._take_turns()
        batch: list[PendingWrite] = []
        while queue and (not batch or (rows < self._tuning.flush_rows and size < self._tuning.flush_bytes)):
            unit = queue.popleft()
            batch.append(unit)
            rows += unit.rows()
            size += unit.size
        self._bytes -= size
        return batch

    def _take_turns(self) -> None:
        """Let every run write one unit before any writes its second, so that a wide run does not hold up the others."""
        turns: dict[bytes, int] = {}
        order = []
        for unit in self._queue:
            turn = turns.get(unit.run, 0)
            turns[unit.run] = turn + 1
            order.append(turn)
        units = list(self._queue)
        self._queue.clear()
        self._queue.extend(units[place] for place in sorted(range(len(units)), key=order.__getitem__))

    async def _commit(self, batch: list[PendingWrite], *, again: bool = False, patience: float | None = None) -> None:
        """With `patience`, raises _Locked if somebody else's transaction is in the way for longer."""
        if not batch:
            return
        flush = Flush()
        for unit in batch:
            unit.add_to(flush)
        reach("before_flush")
        self._batch, self._may_be_written = batch, True
        if self._since is None:
            self._since = self._time.monotonic()
        try:
            flushed = await self._send(flush, again=again, patience=patience)
        except _Overdue:
            starts = {unit.run for unit in batch if unit.start is not None}
            self._refuse([unit for unit in batch if unit.run in starts])
            await self._commit([unit for unit in batch if unit.run not in starts])
            return
        except _Refused as refused:
            await self._bisect(batch, refused)
            return
        except _Locked as locked:
            if patience is not None:
                raise
            await self._commit(self._rivals.set_aside(batch, again=locked.again), again=locked.again)
            return
        except BaseException:
            for unit in batch:
                _tell(unit, _unknown() if self._may_be_written else Unavailable(_STOPPED))
            raise
        finally:
            self._batch = []
        self._since = self._fault = None
        reach("after_flush")
        self._time.heard(flushed.now)
        emit("flush.sent", rows=len(flush.entries) + len(flush.starts) + len(flush.ends) + len(flush.parks))
        self._durable(batch, flushed)

    async def _commit_rivals(self) -> None:
        group = self._rivals.next()
        try:
            await self._commit(group.units, again=group.again, patience=PATIENCE)
        except _Locked as locked:
            for unit in self._rivals.held_up(group._replace(again=locked.again)):
                self._put_off(unit, _unknown() if locked.again else None)

    def _put_off(self, unit: PendingWrite, error: Exception | None = None) -> None:
        """A start is not made now. (If an earlier sending made it after all, it is a run that this node owns and does
        not hold: it is given back, as every such run.)"""
        _tell(unit, error or StartBlocked())
        self._durable([unit], Flushed(self._time.now(), frozenset(), frozenset({unit.run})))

    def _refuse(self, units: Sequence[PendingWrite]) -> None:
        reason = StoreBusy.outage if self._fault is None else self._fault.outage
        for unit in units:
            self._put_off(unit, Unavailable(f"{reason}; nothing was written, try again", LONGEST_PAUSE))

    async def _bisect(self, batch: list[PendingWrite], refused: _Refused) -> None:
        """The database refuses the flush as such: find the one run it is about, so that the others go on."""
        runs = list(dict.fromkeys(unit.run for unit in batch))
        if len(runs) == 1:
            for unit in batch:
                self._refused(unit, refused.error)
            return
        half = set(runs[: len(runs) // 2])
        rest = [unit for unit in batch if unit.run not in half]
        try:
            await self._commit([unit for unit in batch if unit.run in half], again=refused.again)
        except BaseException:
            for unit in rest if refused.again else ():
                _tell(unit, _unknown())
            self._queue.extendleft(reversed(rest))  # for `give_up` to find
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
                # While it is unsure what was applied, it was the epoch that could not be raised: no start is to blame.
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
                self.is_unsure = True  # nobody knows how far it came
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
        """A sending was certainly not applied; an earlier one may have been."""
        self._fault = error
        self._may_be_written = again or self.is_unsure

    async def _make_sure(self) -> None:
        """What was of unknown fate was given up, and nothing else is to be sent: the doubt ends all the same, or this
        node would never claim again."""
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


def _tell(unit: PendingWrite, error: Exception) -> None:
    if unit.done is not None and not unit.done.done():
        unit.done.set_exception(error)
