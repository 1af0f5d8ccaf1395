"""A world: some nodes, a database, an outside world, and misfortune; made from one integer."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Iterator
from typing import Any

from detent import observe
from detent.commands import StartAnswer
from detent.engine.owned_run import OwnedRun
from detent.errors import StoreBusy, StoreError
from detent.graph.model import FailurePolicy, Graph
from detent.ids import RUN
from detent.ids import show as show_id
from detent.run.call import StepCall
from detent.run.journal import Entry
from detent.run.start import StartRequest
from tests.sim.checks import Checks
from tests.sim.clients import Clients
from tests.sim.counters import Counters
from tests.sim.effects import Effect, Ledger, SimExecutor
from tests.sim.flow import Flow
from tests.sim.graph_programs import in_graph_form, make_form_version, with_graph
from tests.sim.healing import settle
from tests.sim.loop import PROCESS, SimLoop, close
from tests.sim.mutants import NO_MUTANT, Mutant
from tests.sim.nemesis import Nemesis
from tests.sim.node import SimNode
from tests.sim.programs import Program, make_program, make_version
from tests.sim.schedules import Schedules
from tests.sim.store import Database, DatabaseClock, finished
from tests.sim.story import Story, Violation, comparable
from tests.sim.suspect_rules import SuspectRules, Waiting
from tests.sim.swarm import beside, draw

TRACE_LENGTH = 4000


class World:
    """`run` lives it through and gives what went wrong, or null."""

    #: Virtual seconds without any news of a run that has something to do, until it is called stuck.
    patience = 35.0
    #: With which its nodes seal runs.
    seal_key: bytes | None = None

    def __init__(self, seed: int, counters: Counters, *, mutant: Mutant = NO_MUTANT, tracing: bool = False) -> None:
        self.rng = random.Random(seed)
        self.swarm = mutant.bend(draw(self.rng))
        self._graphs = mutant.graphs
        self._forms = beside(self.rng)
        self.loop = SimLoop(self.rng, shuffled=self.swarm.shuffled)  # type: ignore[abstract]  # of a loop, what is used
        self.counters, self._tracing = counters, tracing
        self.trace: deque[str] = deque(maxlen=TRACE_LENGTH)
        self.clock = DatabaseClock(self.loop)
        self.database = Database(self.loop, self.rng, self.swarm, mutant.store(self.clock))
        self.database.count = counters.add
        self.database.watcher = self._watched
        self.ledger = Ledger()
        self._last_id = 0
        self.programs: dict[bytes, Program] = {}
        suspects = SuspectRules(self.clock, self.swarm.tuning, counters.add, only_stops=self.swarm.only_stops)
        suspects.waiting_on = self._suspects_on
        self.checks = Checks(self.database, self.clock, self.ledger, self.programs, counters.add, suspects)
        self.schedules = Schedules(self.database.model, self.clock, counters.add)
        self.checks.on_start = self.schedules.check_start
        self.nodes: list[SimNode] = []
        self.executors: list[SimExecutor] = []
        self.is_healed = False
        self.broken: str | None = None
        self.clients = Clients(self)
        self.flow = Flow(self)
        self.checks.on_story = self._meet
        self._deadly: dict[tuple[bytes, str], None] = {}

    def new_id(self) -> bytes:
        self._last_id += 1
        return self._last_id.to_bytes(16, "big")

    # -- life

    def run(self) -> str | None:
        """Live through it; gives the broken rule."""
        stop = observe.listen(self._heard)
        try:
            self.loop.run(self._live())
        except Violation as error:
            self.fail(str(error))
        finally:
            stop()
            self.loop.bury()
            for executor in self.executors:
                for work in executor.works:
                    close(work)
        for trouble in self.loop.errors:
            if "exception" in trouble:
                self.broken = f"an exception that nobody caught: {trouble}"
        return self.broken

    async def _live(self) -> None:
        for number, program in enumerate(self._make_programs()):
            if self._graphs:
                program = with_graph(program, self._graphs[number % len(self._graphs)])
            self.programs[program.id] = program
            finished(self.database.model.save_workflow(program.version(), replace=False))
            for step in program.graph.steps:
                if self.rng.random() < self.swarm.deadly:
                    self._deadly[program.id, step.name] = None
        # A clock that jumps by hours would let hundreds of slots come at once.
        if self.rng.random() < self.swarm.schedules and not self.swarm.jumps:
            self.schedules.make(self.rng, self.new_id, self.programs.values())
        self.nodes = [self.make_node(number) for number in range(self.swarm.nodes)]
        nemesis = Nemesis(self)
        nemesis.begin()
        self.clients.begin()
        self.loop.spawn(None, self._compare_memory())
        if self.swarm.busy + self.swarm.crashes + self.swarm.late + self.swarm.slow + self.swarm.reply_lost == 0:
            self.counters.add("world was quiet")
        await asyncio.sleep(self.swarm.chaos)
        self.note("everything is healed")
        self.is_healed = True
        nemesis.heal()
        self.schedules.stop()
        await settle(self)

    def _make_programs(self) -> Iterator[Program]:
        for number in range(self.swarm.workflows):
            tenant = 1 + number % self.swarm.tenants
            yield self.shape(self.flow.chain(make_program(self.rng, self.new_id(), f"workflow {number}", tenant)))

    def shape(self, program: Program) -> Program:
        """Perhaps the same workflow in the graph form."""
        is_chain = program.graph.on_failure is FailurePolicy.PAUSE
        is_wanted = not is_chain and self._forms.random() < self.swarm.forms
        return in_graph_form(self._forms, program) if is_wanted else program

    def make_version(self, rng: random.Random, graph: Graph) -> Graph:
        """Another version of a workflow, for runs that are moved to it."""
        version = make_version(rng, graph)
        return make_form_version(rng, version) if self.swarm.forms else version

    def make_node(self, number: int) -> SimNode:
        return SimNode(self, number)

    def awaits_child(self, story: Story) -> bool:
        """Whether a step of the run waits for a run that has not ended."""
        return False

    def drop_late_mail(self) -> None:
        """Drop the mail of ended runs that retention would drop. Without child runs there is none."""

    async def start_engine(self, node: SimNode) -> None:
        """What a supervisor does: start, and try again if that fails."""
        while True:
            try:
                await node.engine.start()
            except StoreError:
                await asyncio.sleep(1.0)
            else:
                if self.schedules.are_there:  # else all that a node does for triggers is to find none
                    self.loop.spawn(node.process, node.work.work())
                return

    async def start(self, node: SimNode, tenant: int, request: StartRequest) -> bytes:
        """Start a run on a node."""
        return self._accepted(await node.commands_of(tenant).starts.start(request))

    async def again(self, node: SimNode, run: bytes, step: str | None, request_id: str) -> bytes:
        """Retry an ended run, or fork it at a step."""
        text, tenant = show_id(RUN, run), self.database.model.table[run].new.tenant
        reruns = node.commands_of(tenant).reruns
        if step is None:
            return self._accepted(await reruns.retry(text, request_id=request_id))
        return self._accepted(await reruns.fork(text, step, output="edited", request_id=request_id))

    def _accepted(self, start: StartAnswer) -> bytes:
        if start.run not in self.database.model.table:
            self.fail("a start was acknowledged that is not durable")
        return start.run

    # -- what happens

    def _meet(self, story: Story) -> None:
        self.clients.meet(story)
        self.flow.meet(story)

    def _suspects_on(self, node: bytes) -> Waiting:
        for sim in self.nodes:
            if sim.node_id() == node and sim.engine._node is not None:
                lane = sim.engine._node.runner._suspects
                return [
                    (run.state.facts.tenant, run.id)
                    for line in lane._waiting.values()
                    for run, _ in line
                    if not run.gone
                ]
        return ()

    def is_deadly(self, call: StepCall) -> bool:
        row = self.database.model.table.get(call.run_id)
        return row is not None and (row.new.workflow, call.step) in self._deadly

    @property
    def has_killers(self) -> bool:
        return bool(self._deadly)

    def kill(self, node: SimNode) -> None:
        """A step took its node down; somebody starts it again."""
        self.counters.add("deadly step")
        self.note(f"{node.process} was killed by a step")
        node.crash()
        self.loop.spawn(None, self._boot_later(node))

    async def _boot_later(self, node: SimNode) -> None:
        process = node.process
        await asyncio.sleep(self.rng.uniform(0.2, 5.0))
        if node.process is process:
            node.boot()

    def effect(self, call: StepCall, node: bytes, generation: int | None) -> Effect:
        self.note(f"effect {call.step} attempt {call.attempt} of run {short(call.run_id)}")
        try:
            return self.checks.effect(call, node, generation)
        except Violation as error:
            self.fail(str(error))
            return Effect(call.idempotency_key, call.attempt, node)

    def _watched(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            result = self.checks.watch(verb, args, kwargs)
        except Violation as error:
            self.note(f"{verb} {show(args)} {kwargs}")
            self.fail(str(error))
            raise StoreBusy from None
        if self._tracing and verb not in ("beat", "overdue") and result != []:
            self.note(f"{verb} {show(args)} -> {show(result)}")
        return result

    def _heard(self, name: str, facts: dict[str, Any]) -> None:
        match name:
            case "run.refused" | "run.quarantined":
                self.fail(f"{name}: run {short(facts['run'])}: {facts['error']}")
            case "engine.error" if facts["where"] in ("node", "triggers") or "Traceback" in facts["error"]:
                self.fail(f"a loop of the engine broke: {facts['error']}")
            case "engine.lost":
                self.counters.add("node lost its lease and began again")
            case "node.taken_over":
                self.counters.add("node taken over")
        if name == "entry.written" and self.swarm.forms:
            self._compare_written(facts["run"], facts["entry"])
        if name not in ("flush.sent", "entry.written"):
            self.note(f"{name} {show(facts)}")

    async def _compare_memory(self) -> None:
        """Whenever nothing of a run is on its way, memory and the journal say the same."""
        while True:
            await asyncio.sleep(self.rng.uniform(0.5, 3.0))
            for node in self.nodes:
                if node.is_alive and node.engine._node is not None:
                    self._compare(node)

    def _compare(self, sim: SimNode) -> None:
        node = sim.engine._node
        assert node is not None
        if node.runner._attempts._waiting:
            self.counters.add("step waited for a slot")
        for run in list(node.runner.owned.values()):
            row = self.database.model.table.get(run.id)
            if row is None or run.pending or run.gone or (row.owner, row.generation) != (node.id, run.generation):
                continue
            self.counters.add("memory compared with the journal")
            self._compare_run(run)

    def _compare_written(self, id_: bytes, entry: Entry) -> None:
        """An entry is durable: if nothing else of its run is on its way, memory and the journal say the same."""
        sim = next((node for node in self.nodes if node.process is PROCESS.get()), None)
        node = None if sim is None else sim.engine._node
        run = None if node is None else node.runner.owned.get(id_)
        if run is None or run.pending != 1 or run.state.seq != entry.seq or run.gone:
            return
        story = self.checks.stories[id_]
        if story.final is None and len(story.entries) == entry.seq:
            self.counters.add("memory compared after an event")
            self._compare_run(run)

    def _compare_run(self, run: OwnedRun) -> None:
        story = self.checks.stories[run.id]
        state, complete = run.state, story.state()
        memory, journal = comparable(state), comparable(complete)
        gone = {index: complete.results.get(index) for index in state.let_go}
        memory["results"] = dict(sorted({**gone, **state.results}.items()))
        if state.gathered is not None:
            again = {index: result or complete.reused[index] for index, result in state.reused.items()}
            memory["reused"] = dict(sorted(again.items()))
        if needed := [index for index in state.let_go if state.readers and state.readers[index]]:
            self.fail(f"run {short(run.id)} has let results go that steps still read: {needed}")
        if run.prepared.graph != story.prepared.graph:
            self.fail(f"run {short(run.id)} has another graph in memory than its row and its journal say")
        if memory != journal:
            differing = {key: (memory[key], journal[key]) for key in memory if memory[key] != journal[key]}
            self.fail(f"memory and journal of run {short(run.id)} differ: {differing}")

    # -- telling

    def note(self, text: str) -> None:
        if self._tracing:
            process = PROCESS.get()
            self.trace.append(f"{self.loop.time():9.3f} {process or '-'!s:9} {text}")

    def fail(self, text: str) -> None:
        """A rule was broken: the world ends here."""
        if self.broken is None:
            self.broken = f"{text} (at {self.loop.time():.3f} s)"
            self.note(f"BROKEN: {text}")
        self.loop.stop()


def short(id_: bytes) -> str:
    return f"#{int.from_bytes(id_, 'big')}"


def show(value: Any) -> str:
    """A value in few words, for the trace."""
    if isinstance(value, bytes):
        return short(value) if len(value) == 16 else value.decode(errors="replace")[:80]
    if isinstance(value, frozenset):
        return show(sorted(value))
    if isinstance(value, tuple | list):
        name = type(value).__name__ if hasattr(value, "_fields") else ""
        return f"{name}({', '.join(show(part) for part in value)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(key)}: {show(part)}" for key, part in value.items()) + "}"
    if hasattr(value, "__dataclass_fields__"):
        parts = {name: getattr(value, name) for name in value.__dataclass_fields__}
        return show({name: part for name, part in parts.items() if part})
    return str(value)
