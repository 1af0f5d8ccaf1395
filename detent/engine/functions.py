"""The engine's side of durable functions: a function sees only the durable part of its run, in journal order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final, Protocol

from msgspec.structs import replace

from detent.clock import DatabaseTime
from detent.engine.children.family import Children, family_of
from detent.engine.owned_run import OwnedRun
from detent.engine.records.links import LinkClaims
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
from detent.run.links import Link
from detent.run.outcomes import EMPTY_RESULT, Continued, StepError
from detent.run.plan import Plan
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, Operation
from detent.steps.child_step import inherited
from detent.steps.secret_calls import redacted_error
from detent.store.rows import NewCallback
from detent.vault.redaction import Redactor
from detent.vault.secrets import SecretOpener

# Members that are read for every entry. A member of an enum class takes fifteen times as long to load as a global.
_CHECKPOINT: Final = Kind.CHECKPOINT
_BEGAN: Final = Kind.BEGAN
#: Seconds between two looks at the database's clock while a time is awaited, because that clock may step.
LONGEST: Final = 1.0
SHORTEST: Final = 0.0005


class FunctionRunner(Protocol):
    """The part of the runner that durable functions use."""

    is_draining: bool
    links: LinkClaims

    def handle(self, run: OwnedRun, event: events.Event, *, message: int | None = None) -> None: ...

    def write(
        self, run: OwnedRun, plan: Plan, *, expiry: str | None = None, callbacks: Sequence[NewCallback] = ()
    ) -> None: ...


class Functions:
    """The durable functions of one node."""

    def __init__(
        self,
        runner: FunctionRunner,
        time: DatabaseTime,
        tuning: Tuning,
        children: Children,
        unlock: Callable[[OwnedRun], None],
        may_act: Callable[[], bool],
        secrets: SecretOpener,
    ) -> None:
        self.runner, self.children, self.now = runner, children, time.now
        self.unlock, self.may_act = unlock, may_act
        self.patience = micros(tuning.park_after)
        self.redactors = secrets.redactors

    def port(self, run: OwnedRun) -> EnginePort:
        """Create the port of a new attempt."""
        port = EnginePort(self, run)
        run.port = port
        return port

    def open_wait(self, run: OwnedRun, event: events.OperationBegan, ask: str | None = None) -> None:
        """Open a wait of a function, and create its callback row in the same flush. If the wait is open already, only
        set its time."""
        is_open = event.key in run.state.operations
        plan = advance(run.prepared, run.state, event=event, now=self.now())
        if plan.entry is not None:
            plan.activate.append((event.key, event.until, ask))
            row = NewCallback(run.state.facts.tenant, run.id, event.key, True, ask)
            self.runner.write(run, plan, callbacks=[] if is_open else [row])

    def expire(self, run: OwnedRun, key: str) -> None:
        """Ask the store to expire the callback of a function's wait, because its time is over."""
        self.runner.write(run, Plan(None, [], [], []), expiry=key)


class EnginePort:
    """The port of one attempt: it connects a durable function with the runner. It owns the history it has shown."""

    def __init__(self, functions: Functions, run: OwnedRun) -> None:
        self._functions, self._run = functions, run
        self._history = list(islice(run.state.history.values(), run.known))
        self._listener: FunctionListener | None = None
        self._begun: dict[str, asyncio.Future[None]] = {}
        self._asking = asyncio.Lock()
        self._absent: set[str] = set()  # children of which the store said that they do not exist

    # -- called by the runner

    def carried(self, entry: Entry) -> None:
        """Pass on an entry of an operation that has become durable."""
        key = entry.step
        assert key is not None
        if entry.kind == _CHECKPOINT:
            checkpoint = self._run.state.history[key]
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
        """Let the function check whether it must stop."""
        if self._listener is not None:
            self._listener.look()

    def close(self) -> None:
        """Remove the listener. It is not notified any more."""
        self._listener = None

    # -- called by the function

    def history(self) -> Sequence[Checkpoint]:
        return self._history

    def operations(self) -> Mapping[str, Operation]:
        return self._run.state.operations

    def listen(self, listener: FunctionListener) -> None:
        self._listener = listener

    def must_stop(self) -> bool:
        run, functions = self._run, self._functions
        # If the lease is in doubt, the engine is about to replace this node. It must have no more effects.
        return functions.runner.is_draining or run.gone or run.state.paused_by is not None or not functions.may_act()

    def patience(self) -> int:
        # A suspect function must not be in flight while it only waits: a crash would count as a strike against it.
        index = function_of(self._run.prepared)
        return 0 if index is None or is_suspect(self._run.state, index) else self._functions.patience

    def now(self) -> int:
        return self._functions.now()

    def call_at(self, when: int, callback: Callable[[], None]) -> Callable[[], None]:
        return _Alarm(self._functions.now, when, callback).stop

    def begin(self, operation: Operation, *, callback: bool = False, ask: str | None = None) -> None:
        error = self._clean(operation.error)
        event = events.OperationBegan(
            operation.key, operation.attempt, operation.until, operation.child, error, asks=ask is not None
        )
        if callback:
            self._functions.open_wait(self._run, event, ask)
        else:
            self._functions.runner.handle(self._run, event)

    def end(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        key, ending, result, error, _, attempt = checkpoint
        redactor = self._redactor()
        if redactor is not None:
            result, error = redactor.json(result), self._clean(error)
        self._functions.runner.handle(self._run, events.OperationEnded(key, attempt, ending, result, error, ms))

    def _redactor(self) -> Redactor | None:
        return self._functions.redactors.get(self._run.state.facts.tenant)

    def _clean(self, error: StepError | None) -> StepError | None:
        redactor = self._redactor()
        return error if error is None or redactor is None else redacted_error(error, redactor)

    def claim(self, key: str, links: Sequence[Link], answered: Callable[[StepError | None], None]) -> None:
        self._functions.runner.links.claim(self._run, key, links, answered)

    def expire(self, key: str) -> None:
        self._functions.expire(self._run, key)

    def lock(self) -> None:
        self._run.locks += 1

    def unlock(self) -> None:
        self._functions.unlock(self._run)

    async def start_child(self, key: str, child: StartRequest) -> str:
        start, known = self._functions.children.start, self.operations().get(key)
        if start is None:
            raise Unavailable("this engine cannot start runs")
        if key in self._run.state.history:
            return ""  # the operation has ended, though its checkpoint may not be durable yet
        name, unsure = None if known is None else known.child, self._run.unsure
        if name is None:
            # Write its id first, and start the run when the id is durable. So a replay on any node starts it once.
            name = show(RUN, self._functions.children.new_id())
            unsure.add(name)
            written = self._begun[key] = asyncio.get_running_loop().create_future()
            self.begin(Operation(key, None, name, 0, None, self.now()))
            await written
        elif name not in unsure or await self._exists(name):
            return name
        self._absent.discard(name)
        facts = self._run.state.facts
        request = replace(child, family=family_of(facts, key), extra=inherited(facts))
        await start(facts, parse(RUN, name), request, True)
        unsure.discard(name)
        return name

    async def _exists(self, name: str) -> bool:
        """Return whether a child exists whose start may have been interrupted. One question is for all of them."""
        unsure, existing = self._run.unsure, self._functions.children.existing
        async with self._asking:
            if name in unsure and name not in self._absent:
                asked = {parse(RUN, one): one for one in unsure}
                there = {asked[run] for run in await existing(tuple(asked))}
                unsure -= there
                self._absent = set(asked.values()) - there
        return name not in unsure

    async def prepare_successor(self, request: StartRequest) -> str:
        prepare = self._functions.children.prepare_successor
        if prepare is None:
            raise Unavailable("this engine cannot start runs")
        successor = await prepare(self._run.state.facts, request)
        self._run.successor = successor
        return show(RUN, successor.id)


class _Alarm:
    """A timer that calls back at a time of the database's clock."""

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
            self._handle.cancel()  # so that the handle no longer references this object
            self._callback()


def continuation(event: events.Event) -> Continued | None:
    """Return the outcome of a durable function that continues as a new run, or None for any other event."""
    if isinstance(event, events.AttemptEnded) and isinstance(event.outcome, Continued):
        return event.outcome
    return None


def timed_out(key: str) -> events.OperationEnded:
    """Build the event that a wait of a durable function timed out."""
    error = StepError("timeout", "no callback came in time")
    return events.OperationEnded(key, 1, Ending.TIMEOUT, EMPTY_RESULT, error)


def carried(run: OwnedRun, entry: Entry) -> None:
    """Show an entry to the durable function of its run, because the entry is durable now."""
    if entry.kind == _CHECKPOINT:
        run.known += 1
    elif entry.kind != _BEGAN:
        return
    if run.port is not None:
        run.port.carried(entry)
