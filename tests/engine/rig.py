"""Engines on a memory store under virtual time: real asyncio, no sleeping, and a line to the store that can break.

@virtual
async def test_something() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"nap": {"sleep": "5s"}})
        assert await world.ended(run) == "completed"
"""

from __future__ import annotations

import asyncio
import functools
import json
import selectors
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

import msgspec

from detent.clock import Clock
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import AcceptedRun, start_run
from detent.engine.tuning import Tuning
from detent.errors import CommitUnknown, StoreBusy, StoreError, StoreLocked
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.graph.model import Graph, Step, StepKind
from detent.ids import new_id
from detent.instant import SECOND
from detent.observe import listen
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.run.status import TERMINAL
from detent.steps.protocol import Needs, StepExecutor
from detent.store.heartbeat import Heartbeat, TaskHeartbeat
from detent.store.memory.store import MemoryStore
from detent.store.protocol import Store
from detent.store.rows import Flush, MessageKind, NewVersion, Receipt, RunRow
from detent.vault.secrets import SecretOpener

NOON = 1_790_000_000 * SECOND
TENANT = 1
QUICK = Tuning(lease=1.0, beat=0.2, margin=0.3, poll=0.02, idle_poll=0.05, mail_poll=0.02, watch=0.5, drain=2.0)

LOCK_PATIENCE = 2.0

#: Which engine a piece of work belongs to.
OWNER: ContextVar[object] = ContextVar("OWNER", default=None)


class _Jump(selectors.DefaultSelector):
    """Where a loop would wait, time passes instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout is None:
            raise RuntimeError("nothing is left to happen")
        self.now += 0.0 if found else timeout or 0.0
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """Real asyncio, whose time passes only when there is nothing to do. It knows whose each task is."""

    def __init__(self) -> None:
        self.jump = _Jump()
        self.owners: dict[asyncio.Task[Any], object] = {}
        super().__init__(self.jump)

    def time(self) -> float:
        return self.jump.now

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = super().create_task(coro, name=name, context=context)
        self.owners[task] = OWNER.get()
        task.add_done_callback(lambda done: self.owners.pop(done, None))
        return task


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test under virtual time."""

    @functools.wraps(test)
    def run(**arguments: object) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(test(**arguments))

    return run


class VirtualClock:
    """The time of the virtual loop; the wall may be wrong."""

    def __init__(self, skew: float = 0.0) -> None:
        self.skew = skew

    def wall(self) -> int:
        return NOON + round((self.monotonic() + self.skew) * SECOND)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


Fault = Literal["busy", "locked", "error", "lost", "applied"]


class Line:
    """An engine's line to the store. `faults` of a verb happen once each, in order; a cut line never answers.

    busy: nothing was applied, try again. error: refused. lost: not applied, but who knows. applied: the same, applied.
    """

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self.faults: dict[str, deque[Fault]] = {}
        self.always: dict[str, Fault] = {}  # as long as it is there
        self.hangs: set[str] = set()  # verbs that are not answered
        self.refuses: Callable[[str, tuple[Any, ...]], bool] = lambda verb, arguments: False
        self.holds_up: Callable[[Flush], bool] = lambda flush: False  # somebody else's transaction
        self.waits: list[float | None] = []  # with how much patience flushes waited for it
        self.delay = 0.0
        self.is_cut = False
        self.sent: list[str] = []

    def break_next(self, verb: str, *faults: Fault) -> None:
        self.faults.setdefault(verb, deque()).extend(faults)

    def heartbeat(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        return TaskHeartbeat(cast(Any, self), node, clock=self._clock, ttl=ttl, interval=interval)

    def for_tenant(self, tenant: int) -> Store:
        return cast(Store, self)

    def __getattr__(self, verb: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        return functools.partial(self._send, verb)

    async def _send(self, verb: str, *arguments: Any, **named: Any) -> Any:
        self.sent.append(verb)
        await asyncio.sleep(self.delay)
        if self.is_cut or verb in self.hangs:
            await asyncio.get_running_loop().create_future()
        if verb == "flush" and self.holds_up(arguments[2]):
            self.waits.append(named.get("patience"))
            await asyncio.sleep(named.get("patience") or LOCK_PATIENCE)
            raise StoreLocked
        if self.refuses(verb, arguments):
            raise StoreError(f"{verb} was refused")
        waiting = self.faults.get(verb)
        fault = waiting.popleft() if waiting else self.always.get(verb)
        if fault == "busy":
            raise StoreBusy
        if fault == "locked":
            raise StoreLocked
        if fault == "error":
            raise StoreError(f"{verb} was refused")
        if fault == "lost":
            raise CommitUnknown
        answer = await getattr(self._store, verb)(*arguments, **named)
        if fault == "applied":
            raise CommitUnknown
        return answer


Script = Callable[[StepCall], Outcome | Coroutine[Any, Any, Outcome]]


def done(output: Any = None) -> Done:
    return Done(json.dumps({"output": output}).encode())


def failed(code: str = "exception", **given: Any) -> Fail:
    return Fail(StepError(code, f"it failed with {code}"), **given)


@dataclass
class Hands:
    """The executor of every step that runs: what a step does is scripted by its name; others succeed at once."""

    kind: ClassVar[StepKind] = StepKind.ACTION
    scripts: dict[str, Script] = field(default_factory=dict)
    needed: dict[str, Needs] = field(default_factory=dict)
    calls: list[StepCall] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    now: int = 0
    most: int = 0

    def needs(self, step: Step) -> Needs:
        return self.needed.get(step.name, Needs.NOTHING)

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        self.calls.append(call)
        script = self.scripts.get(call.step)
        return script(call) if script else done(call.attempt)

    async def close(self) -> None:
        return None

    def hold(self, step: str) -> asyncio.Event:
        """Let attempts of that step last until the event is set."""
        gate = self.gates[step] = asyncio.Event()

        async def wait() -> Outcome:
            self.now += 1
            self.most = max(self.most, self.now)
            try:
                await gate.wait()
                return done()
            finally:
                self.now -= 1

        self.scripts[step] = lambda call: wait()
        return gate

    def attempts(self, step: str) -> list[int]:
        return [call.attempt for call in self.calls if call.step == step]


@dataclass
class Rig:
    """A store, the engines on it, and what they do outside."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    hands: Hands = field(default_factory=Hands)
    engines: list[Engine] = field(default_factory=list)
    lines: dict[Engine, Line] = field(default_factory=dict)
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    saved: dict[bytes, NewVersion] = field(default_factory=dict)
    secrets: SecretOpener | None = None

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.clock)
        self.executors: dict[StepKind, StepExecutor] = {StepKind.ACTION: self.hands, StepKind.HTTP: self.hands}

    async def engine(self, *, claims: bool = True, clock: Clock | None = None, **tuning: Any) -> Engine:
        """One more engine, started."""
        line = Line(self.store, clock or self.clock)
        engine = Engine(
            cast(Store, line),
            clock=clock or self.clock,
            tokens=CallbackTokens("key", "https://detent.example"),
            executors=self.executors,
            tuning=replace(QUICK, **tuning),
            new_id=new_id,
            claims=claims,
            secrets=self.secrets,
        )
        self.engines.append(engine)
        self.lines[engine] = line
        before = OWNER.set(engine)
        await engine.start()
        OWNER.reset(before)
        return engine

    async def start(
        self,
        what: Mapping[str, Any] | Graph,
        body: Any = None,
        *,
        engine: Engine | None = None,
        **document: Any,
    ) -> bytes:
        """Start a run of these steps; gives its id."""
        started = await self.request(what, body, engine=engine, **document)
        return started.id

    async def request(
        self, what: Mapping[str, Any] | Graph, body: Any = None, *, engine: Engine | None = None, **document: Any
    ) -> AcceptedRun:
        graph = what if isinstance(what, Graph) else _compiled(what, document)
        engine = engine or self.engines[0]
        version = await self._saved(codec.encode(graph))
        prepared = engine.graphs.put((version.id, 1), version.name, version.graph)
        given = msgspec.json.encode({"body": body})
        return await start_run(engine, PreparedStart(TENANT, version.id, 1, version.name, prepared, given, watch=True))

    async def _saved(self, graph: bytes) -> NewVersion:
        """The workflow of that graph, saved the first time."""
        version = self.saved.get(graph)
        if version is None:
            id_ = new_id()
            version = NewVersion(TENANT, id_, f"w{id_.hex()}", "steps", None, True, "{}", None, "", graph, "c", 1)
            await self.store.save_workflow(version, replace=False)
            self.saved[graph] = version
        return version

    async def until(self, holds: Callable[[], bool], within: float = 60.0) -> float:
        """Let time pass until that holds; gives the seconds it took."""
        begun = self.clock.monotonic()
        while not holds():
            passed = self.clock.monotonic() - begun
            assert passed < within, f"it does not hold after {passed:.1f} s"
            await asyncio.sleep(min(max(0.005, passed / 200), 0.1))  # the longer it takes, the more rarely it looks
        return self.clock.monotonic() - begun

    async def ended(self, run: bytes, within: float = 60.0) -> str:
        """The status a run ends with."""
        await self.until(lambda: self.store.table[run].status in TERMINAL, within)
        return self.store.table[run].status

    async def row(self, run: bytes) -> RunRow:
        row = await self.store.run(TENANT, run)
        assert row is not None
        return row

    def kinds(self, run: bytes) -> list[tuple[str, str | None]]:
        """Kind and step of each entry in a run's journal."""
        return [(str(entry.kind), entry.step) for _, entry in sorted(self.store.entries.get(run, {}).items())]

    def held_by(self, engine: Engine, run: bytes) -> bool:
        return run in engine.node.runner.owned

    async def send(self, run: bytes, kind: MessageKind, by: str = "ann") -> bool:
        return await self.store.send(TENANT, run, kind, json.dumps({"by": by}).encode())

    async def call_back(self, run: bytes, step: str, body: Any = None) -> Receipt:
        data = msgspec.json.encode({"status_code": 200, "headers": {}, "body": body})
        receipt, _ = await self.store.deliver(run, step, data=data, message_id=None)
        return receipt

    def told(self, name: str) -> list[dict[str, Any]]:
        return [facts for event, facts in self.heard if event == name]

    def crash(self, engine: Engine) -> None:
        """The process of an engine is gone: nothing of it runs any more and nothing it sends arrives."""
        self.lines[engine].is_cut = True
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        for task, owner in list(loop.owners.items()):
            if owner is engine:
                task.cancel()
        self.engines.remove(engine)


def _compiled(steps: Mapping[str, Any], document: Mapping[str, Any]) -> Graph:
    kinds = ("url", "sleep", "wait_for_webhook", "action")
    whole = {
        name: dict(step) if any(kind in step for kind in kinds) else {"action": "core.echo", **step}
        for name, step in steps.items()
    }
    return compile_steps({"name": "w", "tasks": whole, **document}).graph


@asynccontextmanager
async def rig() -> AsyncIterator[Rig]:
    """A world without engines; those a test adds are stopped in the end."""
    world = Rig()
    quiet = listen(lambda name, facts: world.heard.append((name, facts)))
    try:
        yield world
    finally:
        quiet()
        for gate in world.hands.gates.values():
            gate.set()
        for engine in world.engines:
            world.lines[engine].is_cut = False
            await engine.stop()
