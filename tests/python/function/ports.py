"""A durable function without an engine: its record in memory, a clock that is moved, and crashes at will."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from detent.clock import SystemClock
from detent.graph.model import Ending
from detent.instant import SECOND
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.workflow import FunctionWorkflow
from detent.python.registry import PythonRegistry
from detent.run.call import FunctionListener, RunView, StepCall, signal_key
from detent.run.links import Link
from detent.run.outcomes import EMPTY_RESULT, Outcome, StepError, Suspend
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, Operation, RunFacts

NOON = 1_790_000_000 * SECOND


@dataclass
class Record:
    """What is durable of one run. `order` is the journal's."""

    id: bytes = bytes(range(16))
    input: Any = None
    now: int = NOON
    started_at: int = NOON
    order: list[Checkpoint] = field(default_factory=list)
    operations: dict[str, Operation] = field(default_factory=dict)
    children: dict[str, StartRequest] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    signals: dict[str, int] = field(default_factory=dict)
    writes: int = 0
    successor: StartRequest | None = None

    def add(self, checkpoint: Checkpoint) -> bool:
        if any(one.key == checkpoint.key for one in self.order):
            return False
        self.operations.pop(checkpoint.key, None)
        self.order.append(checkpoint._replace(at=self.now))
        return True

    def send(self, name: str, data: Any) -> None:
        """A signal comes in while the function does not run."""
        number = self.signals[name] = self.signals.get(name, 0) + 1
        while any(one.key == signal_key(name, number) for one in self.order):
            number = self.signals[name] = self.signals[name] + 1
        self.add(_success(signal_key(name, number), {"output": data}))

    def answer(self, name: str, body: Any) -> None:
        """A callback comes in while the function does not run."""
        assert f"@wait:{name}" in self.places
        self.add(_success(f"@wait:{name}", {"body": body}))

    def route(self) -> list[str]:
        return [checkpoint.key for checkpoint in self.order]


def _success(key: str, value: Any) -> Checkpoint:
    return Checkpoint(key, Ending.SUCCESS, json.dumps(value).encode(), None, 0)


class Port:
    """A port whose writes become durable a few turns of the loop later, one after the other."""

    def __init__(self, record: Record, *, delay: Callable[[], int] = lambda: 1, crash_after: int | None = None) -> None:
        self.record, self._delay, self._crash_after = record, delay, crash_after
        self._queue: deque[Callable[[], None]] = deque()
        self._listener: FunctionListener | None = None
        self._alarms: list[tuple[int, Callable[[], None]]] = []
        self.stops = False
        self.locks = 0
        self.crashed = asyncio.Event()
        self.longest = 10 * SECOND

    def history(self) -> list[Checkpoint]:
        return list(self.record.order)

    def operations(self) -> dict[str, Operation]:
        return self.record.operations

    def listen(self, listener: FunctionListener) -> None:
        self._listener = listener

    def must_stop(self) -> bool:
        return self.stops

    def patience(self) -> int:
        return self.longest

    def now(self) -> int:
        return self.record.now

    def call_at(self, when: int, callback: Callable[[], None]) -> Callable[[], None]:
        alarm = (when, callback)
        self._alarms.append(alarm)

        def call_off() -> None:
            if alarm in self._alarms:
                self._alarms.remove(alarm)

        return call_off

    def claim(self, key: str, links: Sequence[Link], answered: Callable[[StepError | None], None]) -> None:
        self._write(lambda: answered(None))

    def begin(self, operation: Operation, *, callback: bool = False, ask: str | None = None) -> None:
        def write() -> None:
            if operation.key not in self.record.route():
                self.record.operations[operation.key] = operation
            if callback:
                self.record.places.add(operation.key)
            if self._listener:
                self._listener.begun(operation.key)

        self._write(write)

    def end(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        self._write(lambda: self._ended(checkpoint))

    def expire(self, key: str) -> None:
        error = StepError("timeout", "no callback came in time")
        self._write(lambda: self._ended(Checkpoint(key, Ending.TIMEOUT, EMPTY_RESULT, error, 0)))

    def lock(self) -> None:
        self.locks += 1

    def unlock(self) -> None:
        self.locks -= 1

    async def start_child(self, key: str, child: StartRequest) -> str:
        await asyncio.sleep(0)
        self.record.children.setdefault(key, child)
        return f"child-{key}"

    def stop(self) -> None:
        """The node is told to stop."""
        self.stops = True
        if self._listener:
            self._listener.look()

    def queued(self) -> int:
        """Writes on their way."""
        return len(self._queue)

    async def prepare_successor(self, child: StartRequest) -> str:
        await asyncio.sleep(0)
        self.record.successor = child
        return "run_successor"

    def come_in(self, checkpoint: Checkpoint) -> None:
        """Something comes in from outside while the function runs."""
        self._write(lambda: self._ended(checkpoint))

    def _ended(self, checkpoint: Checkpoint) -> None:
        if self.record.add(checkpoint) and self._listener:
            self._listener.ended(self.record.order[-1])

    def _write(self, write: Callable[[], None]) -> None:
        self._queue.append(write)
        if len(self._queue) == 1:
            self._later(self._delay())

    def _later(self, turns: int) -> None:
        asyncio.get_running_loop().call_soon(self._flush if turns <= 1 else lambda: self._later(turns - 1))

    def _flush(self) -> None:
        if self.crashed.is_set() or not self._queue:
            return
        if self._crash_after is not None and self.record.writes >= self._crash_after:
            self.crashed.set()
            self._listener = None
            return
        self.record.writes += 1
        self._queue.popleft()()
        if self._queue:
            self._later(self._delay())

    def let_time_pass(self) -> bool:
        """To the next alarm. False if there is none."""
        if not self._alarms:
            return False
        when, callback = min(self._alarms, key=lambda alarm: alarm[0])
        self._alarms.remove((when, callback))
        self.record.now = max(self.record.now, when)
        callback()
        return True


class Stage:
    """Runs one function on a record, attempt by attempt."""

    def __init__(self, function: FunctionWorkflow, **body: Any) -> None:
        self.record = Record(input=body)
        self._registry = PythonRegistry()
        self.start_with(function)
        self.put_on(function)
        self._executor = FunctionExecutor(clock=SystemClock(), registry=self._registry)

    def start_with(self, function: FunctionWorkflow) -> None:
        """The code that the run was started by."""
        self._graph = function.compiled.graph

    def put_on(self, function: FunctionWorkflow) -> None:
        """The code that is there from now on."""
        self.function = function
        self._registry._known.clear()  # noqa: SLF001 - a node with other code
        self._registry.add(function.registered())

    def call(self, port: Port) -> StepCall:
        record, step = self.record, self._graph.steps[0]
        facts = RunFacts(
            id=record.id,
            tenant=1,
            workflow=self.function.name,
            input=json.dumps({"body": record.input}).encode(),
            started_at=record.started_at,
            expires_at=None,
            callback_url=lambda key: f"http://detent.test/{key}",
        )
        view = RunView(facts, self._graph, 1, lambda _: None, lambda _: None, port)
        return StepCall(record.id, 1, step.name, step.kind, 1, dict(step.config), None, view)

    async def attempt(self, port: Port | None = None) -> Outcome | None:
        """One attempt; null if it was cut short by a crash. Time passes whenever nothing else happens."""
        port = port or Port(self.record)
        work = self._executor.begin(self.call(port))
        if not asyncio.iscoroutine(work):
            return work
        task = asyncio.ensure_future(work)
        try:
            return await self._watch(task, port)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _watch(self, task: asyncio.Future[Outcome], port: Port) -> Outcome | None:
        while not task.done() and not port.crashed.is_set():
            for _ in range(50):
                await asyncio.sleep(0)
                if task.done() or port.crashed.is_set():
                    break
            else:
                if not port.let_time_pass():
                    await asyncio.sleep(0.001)
        return task.result() if task.done() else None

    async def until_over(self, *, most: int = 1000, meanwhile: Callable[[], None] | None = None) -> Outcome:
        """Attempt after attempt, until it ends or only something from outside can help."""
        for _ in range(most):
            outcome = await self.attempt()
            if not isinstance(outcome, Suspend):
                assert outcome is not None
                return outcome
            if outcome.until is None:
                if meanwhile is None:
                    return outcome
                meanwhile()
            else:
                self.record.now = max(self.record.now, outcome.until)
        raise AssertionError("it never ends")
