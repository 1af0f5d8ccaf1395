"""What a durable function that runs here sees of its run: only what is durable, in the journal's order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final, Protocol

from detent.clock import DatabaseTime
from detent.engine.children import Children
from detent.engine.owned_run import OwnedRun
from detent.engine.tuning import Tuning
from detent.errors import Unavailable
from detent.graph.model import Ending
from detent.ids import RUN, parse, show
from detent.instant import SECOND, micros
from detent.planner.advance import advance
from detent.planner.functions import function_of
from detent.planner.suspects import is_suspect
from detent.run import events
from detent.run.call import FunctionListener
from detent.run.journal import Entry, Kind
from detent.run.outcomes import EMPTY_RESULT, StepError
from detent.run.plan import Plan
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, Operation
from detent.store.rows import NewCallback

#: Look this often in any case while a time is awaited, because the database's clock may step.
LONGEST: Final = 1.0
SHORTEST: Final = 0.0005


class FunctionRunner(Protocol):
    """What durable functions need of the runner."""

    is_draining: bool

    def handle(self, held: OwnedRun, event: events.Event, *, message: int | None = None) -> None: ...

    def write(
        self, held: OwnedRun, plan: Plan, *, expiry: str | None = None, callbacks: Sequence[NewCallback] = ()
    ) -> None: ...


class Functions:
    """The durable functions of one node."""

    def __init__(
        self,
        runner: FunctionRunner,
        time: DatabaseTime,
        tuning: Tuning,
        family: Children,
        unlock: Callable[[OwnedRun], None],
        may_act: Callable[[], bool],
    ) -> None:
        self.runner, self.family, self.now = runner, family, time.now
        self.unlock, self.may_act = unlock, may_act
        self.patience = micros(tuning.park_after)

    def port(self, held: OwnedRun) -> EnginePort:
        """The port of a new attempt."""
        port = EnginePort(self, held)
        held.port = port
        return port

    def open_place(self, held: OwnedRun, event: events.OperationBegan) -> None:
        """A function opens a wait: the place of its answer is made in the same flush. If it is open already, it only
        gets its time."""
        is_open = event.key in held.state.operations
        plan = advance(held.prepared, held.state, event=event, now=self.now())
        if plan.entry is not None:
            plan.activate.append((event.key, event.until))
            place = NewCallback(held.state.facts.tenant, held.id, event.key, early=True)
            self.runner.write(held, plan, callbacks=[] if is_open else [place])

    def expire(self, held: OwnedRun, key: str) -> None:
        """The time of a function's wait is over."""
        self.runner.write(held, Plan(None, [], [], []), expiry=key)


class EnginePort:
    """The port of one attempt."""

    def __init__(self, functions: Functions, held: OwnedRun) -> None:
        self._functions, self._held = functions, held
        self._history = list(islice(held.state.history.values(), held.known))
        self._listener: FunctionListener | None = None
        self._begun: dict[str, asyncio.Future[None]] = {}

    # -- what the runner tells

    def carried(self, entry: Entry) -> None:
        """An entry of an operation is durable."""
        key = entry.step
        assert key is not None
        if entry.kind == Kind.CHECKPOINT:
            checkpoint = self._held.state.history[key]
            self._history.append(checkpoint)
            if self._listener is not None:
                self._listener.ended(checkpoint)
            return
        waiting = self._begun.pop(key, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        if self._listener is not None:
            self._listener.begun(key)

    def look(self) -> None:
        """Perhaps it must stop."""
        if self._listener is not None:
            self._listener.look()

    def close(self) -> None:
        """Nobody is told anything any more."""
        self._listener = None

    # -- what the function asks

    def history(self) -> Sequence[Checkpoint]:
        return self._history

    def operations(self) -> Mapping[str, Operation]:
        return self._held.state.operations

    def listen(self, listener: FunctionListener) -> None:
        self._listener = listener

    def must_stop(self) -> bool:
        held, functions = self._held, self._functions
        # If the lease is in doubt, this node is about to begin anew: it must have no more effects.
        return functions.runner.is_draining or held.gone or held.state.paused_by is not None or not functions.may_act()

    def patience(self) -> int:
        # A suspect function must not be in flight while it only waits: a crash would be a strike against it.
        index = function_of(self._held.prepared)
        return 0 if index is None or is_suspect(self._held.state, index) else self._functions.patience

    def now(self) -> int:
        return self._functions.now()

    def call_at(self, when: int, callback: Callable[[], None]) -> Callable[[], None]:
        return _Alarm(self._functions.now, when, callback).stop

    def begin(self, operation: Operation, *, callback: bool = False) -> None:
        event = events.OperationBegan(
            operation.key, operation.attempt, operation.until, operation.child, operation.error
        )
        if callback:
            self._functions.open_place(self._held, event)
        else:
            self._functions.runner.handle(self._held, event)

    def end(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        key, ending, result, error, _, attempt = checkpoint
        self._functions.runner.handle(self._held, events.OperationEnded(key, attempt, ending, result, error, ms))

    def expire(self, key: str) -> None:
        self._functions.expire(self._held, key)

    def lock(self) -> None:
        self._held.locks += 1

    def unlock(self) -> None:
        self._functions.unlock(self._held)

    async def start_child(self, key: str, child: StartRequest) -> str:
        start, known = self._functions.family.start, self.operations().get(key)
        if start is None:
            raise Unavailable("this engine cannot start runs")
        if key in self._held.state.history:
            return ""  # its end is on its way to the journal
        facts = self._held.state.facts
        name = known.child if known is not None else None
        if name is None:
            # Its id first, and the run itself when that is durable: so it is started once, whoever does it.
            name = show(RUN, self._functions.family.new_id())
            written = self._begun[key] = asyncio.get_running_loop().create_future()
            self.begin(Operation(key, None, name, 0, None, self.now()))
            await written
            await start(facts, parse(RUN, name), child, False)
        else:
            await start(facts, parse(RUN, name), child, True)
        return name


class _Alarm:
    """Calls back at a time of the database's clock."""

    def __init__(self, now: Callable[[], int], when: int, callback: Callable[[], None]) -> None:
        self._now, self._when, self._callback = now, when, callback
        self._loop = asyncio.get_running_loop()
        self._set()

    def stop(self) -> None:
        self._handle.cancel()

    def _set(self) -> None:
        ahead = (self._when - self._now()) / SECOND
        self._handle = self._loop.call_later(min(LONGEST, max(SHORTEST, ahead)), self._ring)

    def _ring(self) -> None:
        if self._now() < self._when:
            self._set()
        else:
            self._handle.cancel()  # so that it lets go of this
            self._callback()


def timed_out(key: str) -> events.OperationEnded:
    """The wait of a durable function has got no answer."""
    error = StepError("timeout", "no callback came in time")
    return events.OperationEnded(key, 1, Ending.TIMEOUT, EMPTY_RESULT, error)


def carried(held: OwnedRun, entry: Entry) -> None:
    """An entry is durable: a durable function may know of it now."""
    if entry.kind == Kind.CHECKPOINT:
        held.known += 1
    elif entry.kind != Kind.BEGAN:
        return
    if held.port is not None:
        held.port.carried(entry)
