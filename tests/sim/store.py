"""The simulated database: the memory store behind a network, where statements travel and may meet with an accident.

A statement is applied in one moment, but not when it was sent, not always while its sender still lives, and its reply
may be lost. What is applied belongs to no process: a dead node's statement still arrives.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any, Final, TypeVar, cast

from detent.clock import Clock
from detent.errors import CommitUnknown, DetentError, StoreBusy, StoreLocked
from detent.instant import SECOND
from detent.store.heartbeat import Heartbeat, TaskHeartbeat
from detent.store.memory.store import MemoryStore
from detent.store.protocol import Store
from detent.store.rows import Flush
from tests.sim.loop import OUTSIDE, Process, SimLoop
from tests.sim.swarm import Swarm

T = TypeVar("T")

BEGINNING: Final = 1_790_000_000 * SECOND
#: How long a caller waits for an answer before it cuts the connection, and a statement for a lock.
PATIENCE: Final = 5.0
LOCK_PATIENCE: Final = 2.0


class DatabaseClock:
    """The database's time. It may step, which no rule of safety may depend on."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop
        self._offset = self._largest = 0
        self.has_jumped = self.has_gone_back = False

    def wall(self) -> int:
        return BEGINNING + int(self._loop.time() * SECOND) + self._offset

    def jump(self, seconds: float) -> None:
        self.has_jumped = True
        self.has_gone_back |= seconds < 0
        self._offset += int(seconds * SECOND)
        self._largest = max(self._largest, self._offset)

    def highest(self) -> int:
        """The latest time anybody may believe it is: as if it had never stepped back."""
        return BEGINNING + int(self._loop.time() * SECOND) + self._largest

    def monotonic(self) -> float:
        return self._loop.time()


class NodeClock:
    """A machine's own clock: its wall time is wrong by `skew` seconds, its monotonic time starts anywhere."""

    def __init__(self, loop: SimLoop, skew: float, start: float) -> None:
        self._loop, self._skew, self._start = loop, int(skew * SECOND), start

    def wall(self) -> int:
        return BEGINNING + int(self._loop.time() * SECOND) + self._skew

    def monotonic(self) -> float:
        return self._loop.time() + self._start


class ModelStore(MemoryStore):
    """The memory store, whose rows an outsider's open transaction may hold."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.locked: dict[bytes, float] = {}
        self.sent_at = 0  # when the statement that is being applied was sent

    def _claimable(self, run: Any, until: int, queues: Collection[str] | None, serves: Collection[str]) -> bool:
        return run.new.id not in self.locked and super()._claimable(run, until, queues, serves)


class Database:
    """Applies statements, each at its moment, and lets `watcher` look at every one."""

    def __init__(self, loop: SimLoop, rng: random.Random, swarm: Swarm, model: ModelStore) -> None:
        self.loop, self._rng, self._swarm, self.model = loop, rng, swarm, model
        self.gone_until = 0.0
        self.cut_off: dict[Process, float] = {}  # whose beats do not arrive, until when
        self.is_healed = False
        self.watcher: Callable[[str, tuple[Any, ...], dict[str, Any]], Any] = self.perform
        self.count: Callable[[str], None] = lambda name: None

    def perform(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply a statement now."""
        return finished(getattr(self.model, verb)(*args, **kwargs))

    async def execute(self, process: Process | None, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Send a statement and wait for its reply."""
        reply: asyncio.Future[Any] = self.loop.create_future()
        if verb == "beat" and process is not None and self.cut_off.get(process, 0.0) > self.loop.time():
            self._later(0.01, _fail, reply, StoreBusy())
        elif process is None or not process.is_dead:
            self._send(reply, verb, args, kwargs)
        return await reply

    def _send(self, reply: asyncio.Future[Any], verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        there, back = self._delay(), self._delay()
        sent = self.model.clock.wall()
        fault = "none" if self.is_healed else self._draw_fault()
        if self.loop.time() < self.gone_until:
            fault = "gone"
        match fault:
            case "gone":
                self._later(there, _fail, reply, StoreBusy())
            case "busy":
                self._later(there, _fail, reply, StoreLocked())
            case "never came":
                self._later(min(there + back, PATIENCE), _fail, reply, CommitUnknown())
            case "late":
                self.count(f"late {verb}")
                self._later(there, _fail, reply, CommitUnknown())
                self._later(there + self._rng.uniform(0.1, 20.0), self._arrive, None, sent, verb, args, kwargs, 0.0)
            case "reply lost":
                self.count(f"reply lost: {verb}")
                self._later(there, self._arrive, None, sent, verb, args, kwargs, 0.0)
                self._later(there + back, _fail, reply, CommitUnknown())
            case _:
                self._later(there, self._arrive, reply, sent, verb, args, kwargs, back)
                if there + back > PATIENCE:
                    self._later(PATIENCE, _fail, reply, CommitUnknown())

    def _draw_fault(self) -> str:
        swarm, dice = self._swarm, self._rng.random()
        for rate, name in (
            (swarm.busy, "busy"),
            (swarm.never_came, "never came"),
            (swarm.reply_lost, "reply lost"),
            (swarm.late, "late"),
        ):
            if dice < rate:
                return name
            dice -= rate
        return "none"

    def _delay(self) -> float:
        if not self.is_healed and self._rng.random() < self._swarm.slow:
            return self._rng.choice((0.1, 0.5, 1.0, 3.0, 6.0)) * self._rng.random()
        return 0.001 + 0.004 * self._rng.random()

    def _later(self, delay: float, callback: Callable[..., None], *args: Any) -> None:
        self.loop.call_later(delay, callback, *args, context=OUTSIDE)

    def _arrive(
        self,
        reply: asyncio.Future[Any] | None,
        sent: int,
        verb: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        back: float,
    ) -> None:
        if self.loop.time() < self.gone_until:
            if reply is not None:
                self._later(back, _fail, reply, CommitUnknown())
            return
        held_until = self._held_until(verb, args)
        if held_until > self.loop.time():
            self.count("statement met a lock")
            if held_until - self.loop.time() < LOCK_PATIENCE:
                wait = held_until - self.loop.time() + 0.001
                self._later(wait, self._arrive, reply, sent, verb, args, kwargs, back)
            elif reply is not None:
                self._later(LOCK_PATIENCE, _fail, reply, StoreLocked())
            return
        self.model.sent_at = sent
        try:
            result = self.watcher(verb, args, kwargs)
        except DetentError as error:
            if reply is not None:
                self._later(back, _fail, reply, error)
            return
        if reply is not None:
            self._later(back, _answer, reply, result)
        elif verb == "flush" and result is None:
            self.count("late flush fenced")

    def _held_until(self, verb: str, args: tuple[Any, ...]) -> float:
        locked = self.model.locked
        if not locked or verb not in ("flush", "release"):
            return 0.0
        if verb == "release":
            touched = [run for run, _ in args[2]]
        else:
            flush: Flush = args[2]
            touched = [park.run for park in flush.parks] + [end.run for end in flush.ends]
            touched += [start.successor_of for start in flush.starts if start.successor_of is not None]
        return max((locked.get(run, 0.0) for run in touched), default=0.0)


def finished(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as stop:
        return cast(T, stop.value)
    raise RuntimeError("a verb of the memory store waited")


def _answer(reply: asyncio.Future[Any], result: Any) -> None:
    if not reply.done():
        reply.set_result(result)


def _fail(reply: asyncio.Future[Any], error: Exception) -> None:
    if not reply.done():
        reply.set_exception(error)


class Connection:
    """A store as one process sees it: every verb is sent over the network."""

    def __init__(self, database: Database, process: Process | None, clock: Clock) -> None:
        self._database, self._process, self._clock = database, process, clock
        self._registered: dict[bytes, float] = {}

    def heartbeat(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        sent = self._registered.get(node)
        return TaskHeartbeat(self, node, clock=self._clock, ttl=ttl, interval=interval, confirmed=sent)

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        sent = self._clock.monotonic()
        given = {"ttl": ttl, "queues": queues, "actions": actions}
        answer = await self._database.execute(self._process, "register", (node,), given)
        self._registered[node] = sent
        return cast(tuple[int, int], answer)

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        return cast(int | None, await self._database.execute(self._process, "beat", (node,), {"ttl": ttl}))

    def for_tenant(self, tenant: int) -> Store:
        return cast(Store, self)

    def __getattr__(self, verb: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        def send(*args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
            return self._database.execute(self._process, verb, args, kwargs)

        return send


def connect(database: Database, process: Process | None, clock: Clock) -> Store:
    """A store for one process."""
    return cast(Store, Connection(database, process, clock))
