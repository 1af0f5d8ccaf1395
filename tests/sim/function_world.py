"""A world of durable functions: nodes, a database and misfortune as in the others, and rules of their own.

What one attempt of a function sees, every other sees too, in the same order; nothing reaches it before it is durable; a
step keeps its key and what it is called with; each operation ends once; nothing that was accepted is lost; and when all
is healed every run ends, with what its record gives when it is played again.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from detent.errors import AlreadyActive, DetentError, StoreError, Unavailable
from detent.graph import codec
from detent.graph.model import Ending, StepKind
from detent.ids import RUN, parse, show
from detent.instant import SECOND
from detent.planner.fold import fold
from detent.planner.prepared import prepare
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.step import StepContext
from detent.python.functions.workflow import FunctionWorkflow
from detent.run.call import Op, op_of
from detent.run.journal import Kind, decode_data
from detent.run.outcomes import Continued, Done
from detent.run.start import StartRequest
from detent.run.state import RunFacts, RunState
from detent.run.status import TERMINAL, UNCOMPLETED, Status
from detent.store.rows import CONTINUED, MessageKind, NewVersion
from tests.python.function.ports import Port, Stage
from tests.sim.campaign import run_campaign
from tests.sim.counters import Counters
from tests.sim.function_programs import FUNCTIONS, NAMES, WORLDS, make_part
from tests.sim.heir_rules import HeirRules
from tests.sim.mutants import NO_MUTANT, Mutant
from tests.sim.nemesis import Nemesis
from tests.sim.node import SimNode
from tests.sim.store import NodeClock, connect, finished
from tests.sim.story import Violation
from tests.sim.world import World

PREPARED = {name: prepare(function.compiled.graph) for name, function in FUNCTIONS.items()}
PATIENCE = 60.0
#: A look for orphans, the lease of a dead node and its takeover take less.
ORPHAN_PATIENCE = 30.0
#: More entries than any function of a world needs.
ENDLESS = 400
HEROES = (("Hero", "1"), ("Hero", "2"))
#: A function that does nothing but sleep, for less time than it takes to leave memory.
NAPS = ("seq", [("sleep", 9.0), ("sleep", 8.0), ("sleep", 9.0)])


class FunctionNode(SimNode):
    """A node that also runs durable functions."""

    def boot(self) -> None:
        super().boot()
        executors: Any = self.engine._executors
        executors[StepKind.FUNCTION] = FunctionExecutor(clock=self._world.clock)


@dataclass(slots=True)
class Played:
    """What is known of one run from outside."""

    longest: list[Any] = field(default_factory=list)
    effects: dict[str, Any] = field(default_factory=dict)
    signals: int = 0  # that were certainly accepted


class FunctionWorld(World):
    """`run` lives it through and gives what went wrong, or null."""

    def __init__(self, seed: int, counters: Counters, *, mutant: Mutant = NO_MUTANT, tracing: bool = False) -> None:
        super().__init__(seed, counters, mutant=mutant, tracing=tracing)
        self.played: dict[bytes, Played] = {}
        self.started: list[bytes] = []
        self.client = connect(self.database, None, NodeClock(self.loop, 0.0, 0.0))
        self._heirs = HeirRules(self.database.model, counters.add)

    def run(self) -> str | None:
        WORLDS.append(self)
        try:
            return super().run()
        finally:
            WORLDS.remove(self)

    async def _live(self) -> None:
        for function in FUNCTIONS.values():
            finished(self.database.model.save_workflow(_version(self.new_id(), function), replace=False))
        self.nodes = [FunctionNode(self, number) for number in range(self.swarm.nodes)]
        nemesis = Nemesis(self)
        nemesis.begin()
        for number in range(self.swarm.runs):
            self.loop.spawn(None, self._start(number))
        if self.swarm.edits:
            self.loop.spawn(None, self._edit())
        await asyncio.sleep(self.swarm.chaos)
        self.is_healed = True
        nemesis.heal()
        await self._settle()
        self._check_all()

    def _watched(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = self.database.perform(verb, args, kwargs)
        if verb == "flush":
            try:
                self._heirs.flushed(args[2])
            except Violation as error:
                self.fail(str(error))
        if self._tracing and verb not in ("beat", "overdue", "mail", "claim"):
            self.note(f"{verb} {args} -> {result}")
        return result

    # -- clients

    async def _start(self, number: int) -> None:
        rng = self.rng
        await asyncio.sleep(rng.uniform(0.05, self.swarm.chaos * 0.6))
        body: dict[str, Any] = {"part": NAPS if self.swarm.naps else make_part(rng)}
        hero = None
        if self.swarm.heroes and rng.random() < self.swarm.heroes:
            hero, body["rounds"] = rng.choice(HEROES), rng.randrange(4)
        name = "simulated" if hero is None else "looping"
        run = await self.begun(StartRequest(name, body, request_id=f"start {number}", hero=hero))
        self.started.append(run)
        await self._bother(run)

    async def begun(self, request: StartRequest) -> bytes:
        """Start a run, at whichever node lives, until it is there."""
        started = self.loop.create_future()
        while not started.done():
            alive = [node for node in self.nodes if node.is_alive]
            if alive:
                node = self.rng.choice(alive)
                self.loop.spawn(node.process, self._start_at(node, request, started))
            await asyncio.sleep(3.0)
        run: bytes = started.result()
        return run

    async def _start_at(self, node: SimNode, request: StartRequest, started: asyncio.Future[bytes]) -> None:
        try:
            start = await node.commands.starts.start(request)
        except (Unavailable, StoreError):
            return
        except AlreadyActive as error:
            assert request.hero is not None
            self._heirs.refused(request.hero, parse(RUN, error.run))
            return
        if not started.done():
            started.set_result(start.run)

    async def _edit(self) -> None:
        """Somebody saves the same again and again, as new versions."""
        for number in itertools.count(2):
            await asyncio.sleep(self.rng.expovariate(self.swarm.edits / 60))
            if self.is_healed:
                return
            for function in FUNCTIONS.values():
                version = _version(self.new_id(), function)._replace(checksum=f"edition {number}")
                await self.database.model.save_workflow(version, replace=True)

    async def _bother(self, run: bytes) -> None:
        """Signals and answers at any time, and people who pause and cancel."""
        rng = self.rng
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(rng.uniform(0, 10.0))
            await self._signal(run, rng.choice(NAMES))
        if rng.random() < self.swarm.callbacks:
            await self._answer(run)
        if rng.random() < self.swarm.controls:
            kinds = rng.choice(((MessageKind.PAUSE, MessageKind.RESUME), (MessageKind.PAUSE,), (MessageKind.CANCEL,)))
            for kind in kinds:
                await asyncio.sleep(rng.choice((0.0, 0.2, 6.0)))
                with _trouble():
                    await self.client.send(1, run, kind, b'{"by":"somebody"}')

    async def _signal(self, run: bytes, name: str) -> None:
        data = json.dumps({"name": name, "data": self.rng.randrange(100)}).encode()
        with _trouble():
            if await self.client.send(1, run, MessageKind.SIGNAL, data):
                self.played.setdefault(run, Played()).signals += 1
                self.counters.add("signal was accepted")

    async def _answer(self, run: bytes) -> None:
        for _ in range(5):
            await asyncio.sleep(self.rng.uniform(0, 8.0))
            if (run, "@wait:question") in self.database.model.waits:
                with _trouble():
                    await self.client.deliver(run, "@wait:question", data=b'{"body":"yes"}', message_id="m")
                return

    # -- what functions tell

    def begin_attempt(self, run: str) -> list[Any]:
        self.counters.add("function was called")
        self._known(run)
        return []

    def _known(self, run: str) -> Played:
        return self.played.setdefault(parse(RUN, run), Played())

    def saw(self, run: str, seen: list[Any], what: Any) -> None:
        longest, place = self._known(run).longest, len(seen)
        seen.append(what)
        if place == len(longest):
            longest.append(what)
        elif longest[place] != what:
            self.fail(f"a function saw {what} where it had seen {longest[place]} before")

    def check_durable(self, run: str, key: str) -> None:
        entries = self.database.model.entries.get(parse(RUN, run), {})
        if not any(entry.kind == Kind.CHECKPOINT and entry.step == key for entry in entries.values()):
            self.fail(f"a function was told of {key!r} before that was durable")

    def effect_of(self, context: StepContext, what: Any) -> None:
        known = self._known(context.run_id).effects
        effect = (context.idempotency_key, what)
        if known.setdefault(context.step, effect) != effect:
            self.fail(f"the step {context.step!r} is called as {effect} and was called as {known[context.step]}")
        self.counters.add("step of a function ran")

    # -- the end

    def state_of(self, run: bytes) -> RunState:
        row = self.database.model.table[run].new
        entries = self.database.model.entries.get(run, {})
        name = self.database.model.saved[row.workflow].new.name
        facts = RunFacts(run, 1, name, row.input, row.started_at, None, str)
        return fold(PREPARED[name], facts, row.opening, [entries[seq] for seq in sorted(entries)])

    async def _settle(self) -> None:
        """Help those that wait for us, until all have ended."""
        seen: dict[bytes, tuple[object, float]] = {}
        lost: dict[bytes, float] = {}
        while self.broken is None:
            await asyncio.sleep(2.0)
            table = self.database.model.table
            left = [run for run, row in table.items() if row.is_open()]
            if not left and len(self.started) == self.swarm.runs:
                return
            for run in left:
                if len(self.database.model.entries.get(run, ())) > ENDLESS:
                    raise Violation(f"{show(RUN, run)} goes on and on, and does not come to its end")
            for run in left:
                self._help(run)
                self._complain_if_stuck(run, seen)
                self._complain_if_orphaned(run, lost)

    def _help(self, run: bytes) -> None:
        model = self.database.model
        if any(mail.run == run for mail in model.inbox.values()):
            return
        state = self.state_of(run)
        if state.paused_by is not None:
            finished(model.send(1, run, MessageKind.RESUME, b'{"by":"healing"}'))
            return
        for key in state.operations:
            if op_of(key) is Op.ASK:
                name = key.partition(":")[2].partition("#")[0]
                data = json.dumps({"name": name, "data": -1 if name == "item" else 0}).encode()
                finished(model.send(1, run, MessageKind.SIGNAL, data))
            elif op_of(key) is Op.WAIT:
                self.database.perform("deliver", (run, key), {"data": b'{"body":"help"}', "message_id": None})

    def _complain_if_stuck(self, run: bytes, seen: dict[bytes, tuple[object, float]]) -> None:
        now, state = self.loop.time(), self.state_of(run)
        untils = [one.until for one in state.operations.values() if one.until is not None]
        wait = max(0.0, (max(untils, default=0) - self.clock.wall()) / SECOND)
        known = seen.get(run)
        if known is None or known[0] != state.seq:
            seen[run] = (state.seq, now + PATIENCE + wait)
        elif now > known[1]:
            row = self.database.model.table[run]
            raise Violation(f"{show(RUN, run)} is stuck: {list(state.operations)}, owner {row.owner!r}, {row.status}")

    def _complain_if_orphaned(self, run: bytes, lost: dict[bytes, float]) -> None:
        """A run whose parent did not complete is cancelled soon, whatever happened to the messages."""
        table = self.database.model.table
        parent = table.get(table[run].new.parent or b"")
        if parent is None or parent.status not in UNCOMPLETED:
            return
        self.counters.add("child outlived its parent")
        if self.loop.time() > lost.setdefault(run, self.loop.time()) + ORPHAN_PATIENCE:
            raise Violation(f"{show(RUN, run)} goes on although its parent is {parent.status}")

    def _check_all(self) -> None:
        model = self.database.model
        for run, row in model.table.items():
            state, known = self.state_of(run), self.played.setdefault(run, Played())
            keys = [entry.step for entry in model.entries.get(run, {}).values() if entry.kind == Kind.CHECKPOINT]
            if len(keys) != len(set(keys)):
                raise Violation(f"an operation ended twice: {keys}")
            self._check_sleeps(run)
            if row.status == Status.FAILED and "it is not tried again" in (row.error or ""):
                self.counters.add("function was blamed for its nodes")
                if self.swarm.naps:
                    raise Violation(f"a function that only slept was blamed: {row.error}")
            elif row.status not in TERMINAL or row.status == Status.FAILED:
                raise Violation(f"a run is {row.status}: {row.error}")
            if row.status == Status.COMPLETED:
                self.counters.add("function completed")
                self._check_signals(run, state, known)
                self._play_again(run, row.output)

    def _check_sleeps(self, run: bytes) -> None:
        """When a sleep ends is on record once, before it does; it ends then, and not again that much later."""
        begun: dict[str, int] = {}
        for entry in self.database.model.entries.get(run, {}).values():
            key = entry.step or ""
            if not key.startswith(Op.SLEEP):
                continue
            if entry.kind == Kind.BEGAN:
                if key in begun:
                    raise Violation(f"{key} of {show(RUN, run)} began twice")
                begun[key] = decode_data(entry.data).until or 0
            elif entry.kind == Kind.CHECKPOINT and entry.outcome == Ending.SUCCESS:
                if key not in begun or self.clock.highest() < begun[key]:
                    raise Violation(f"{key} of {show(RUN, run)} ended, and its end was not on record")
                self.counters.add("function slept")

    def _check_signals(self, run: bytes, state: RunState, known: Played) -> None:
        """Each that was accepted is on record, unless the run ended first; then nobody asked for it any more."""
        heard = [one for key, one in state.history.items() if op_of(key) is Op.SIGNAL and one.ending is Ending.SUCCESS]
        waited = [one for key, one in state.history.items() if op_of(key) is Op.ASK]
        if len(heard) < known.signals:
            self.counters.add("signal came after the end")
        if waited and heard:
            self.counters.add("signal beat its time limit, or not")

    def follower_of(self, run: bytes) -> bytes | None:
        """The run that this one goes on as."""
        rows = self.database.model.table.items()
        return next((id_ for id_, row in rows if (row.new.origin, row.new.origin_kind) == (run, CONTINUED)), None)

    def _play_again(self, run: bytes, output: bytes | None) -> None:
        """The record alone gives the same result, and everything that was seen."""
        outside = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            outcome = asyncio.run(_again(self, run))
        finally:
            asyncio._set_running_loop(outside)
        given = json.loads(outcome.result)["output"] if isinstance(outcome, Done) else None
        if isinstance(outcome, Continued):
            given = {"continued_as": show(RUN, self.follower_of(run) or b"")}
        if not isinstance(outcome, Done) or given != json.loads(output or b"null"):
            raise Violation(f"the record of {show(RUN, run)} gives {outcome}, and its run gave {output!r}")


async def _again(world: FunctionWorld, run: bytes) -> Any:
    state = world.state_of(run)
    stage = Stage(FUNCTIONS[state.facts.workflow], **json.loads(state.facts.input)["body"])
    stage.record.id, stage.record.started_at = run, state.facts.started_at
    stage.record.order = list(state.history.values())
    return await stage.attempt(Port(stage.record, crash_after=0))


class _trouble:  # noqa: N801 - read as a word
    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return isinstance(error, DetentError)


def _version(id_: bytes, function: FunctionWorkflow) -> NewVersion:
    facts = {"type": "api", "code": []}
    graph = codec.encode(function.compiled.graph)
    return NewVersion(
        1, id_, function.name, "python", None, True, json.dumps(facts), None, function.source, graph,
        codec.fingerprint(graph), 1,
    )  # fmt: skip


def function_campaign(
    seeds: Iterable[int],
    *,
    mutant: Mutant = NO_MUTANT,
    counters: Counters | None = None,
    world: type[FunctionWorld] = FunctionWorld,
) -> tuple[str | None, int | None]:
    """Live through the worlds of these seeds; return the first rule that was broken, and in which world."""
    found = run_campaign(seeds, mutant=mutant, world=world, counters=counters)
    return found.broken, found.seed
