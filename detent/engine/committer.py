"""Group commit: one lane per node, everything pending as one flush, strictly one after the other.

Memory runs ahead of the database; whatever a plan says is done only when the flush that carries it has returned. While
one flush is on its way, the next one gathers. If nobody can say whether a flush was applied, the node raises its own
epoch, after which the old one can take no effect any more, and sends the same flush again. A start that somebody else's
open transaction is in the way of holds up nothing else.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

from detent.clock import DatabaseTime
from detent.engine.rivals import PATIENCE, Rivals, keys_of
from detent.engine.tuning import Tuning
from detent.engine.unit import Unit
from detent.errors import CommitUnknown, EngineError, HeldUp, StoreBusy, StoreError, StoreLocked, Unavailable
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.store.protocol import NodeStore
from detent.store.rows import Flush, Flushed

BUSY_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0
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
        durable: Callable[[list[Unit], Flushed], None],
        refused: Callable[[Unit, StoreError], None],
    ) -> None:
        self._store, self._node, self.epoch = store, node, epoch
        self._time, self._tuning = time, tuning
        self._durable, self._refused = durable, refused
        self._queue: deque[Unit] = deque()
        self._rivals = Rivals(time)
        self._bytes = 0
        self._wake = asyncio.Event()
        self._sent = False
        self._over: Exception | None = None  # why nothing is written any more
        self.is_unsure = False  # a flush is of unknown fate: nothing may be claimed meanwhile

    def add(self, unit: Unit) -> None:
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
                self._sent = False

    def give_up(self, error: Exception) -> None:
        """Nothing will be written any more, now or later: tell those who wait."""
        self._over = error
        for unit in (*self._queue, *self._rivals.take_all()):
            _tell(unit, error)
        self._queue.clear()

    def _take(self) -> list[Unit]:
        queue, rows, size = self._queue, 0, 0
        if len(queue) > self._tuning.flush_rows:
            self._take_turns()
        batch: list[Unit] = []
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

    async def _commit(self, batch: list[Unit], *, again: bool = False, patience: float | None = None) -> None:
        """With `patience`, raises _Locked if somebody else's transaction is in the way for longer."""
        if not batch:
            return
        flush = Flush()
        for unit in batch:
            unit.add_to(flush)
        reach("before_flush")
        try:
            flushed = await self._send(flush, again=again, patience=patience)
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
                _tell(unit, Unavailable("the engine stopped before this was written; try again"))
            raise
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
                self._put_off(unit)

    def _put_off(self, unit: Unit) -> None:
        """A start is not made now. (If an earlier sending made it after all, it is a run that this node owns and does
        not hold: it is given back, as every such run.)"""
        _tell(unit, HeldUp())
        self._durable([unit], Flushed(self._time.now(), frozenset(), frozenset({unit.run})))

    async def _bisect(self, batch: list[Unit], refused: _Refused) -> None:
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
                flushed = await self._store.flush(self._node, self.epoch, flush, again=again, patience=patience)
            except StoreLocked:
                # While it is unsure what was applied, it was the epoch that could not be raised: no start is to blame.
                if not self.is_unsure and any(map(keys_of, flush.starts)):
                    raise _Locked(again) from None
                await asyncio.sleep(pause)
            except StoreBusy:
                await asyncio.sleep(pause)
            except CommitUnknown:
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
                    emit("flush.refused", epoch=self.epoch)
                    raise Fenced
                return flushed
            pause = min(LONGEST_PAUSE, pause * 2)

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


def _tell(unit: Unit, error: Exception) -> None:
    if unit.done is not None and not unit.done.done():
        unit.done.set_exception(error)
