"""A world whose workflows are rules, and whose records change.

A run that an event started begins only after the event was durable; a durable event starts every rule of its entity
once, whatever dies; a rule that is saved is applied to every event that is stored after it; nothing is left over.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, replace
from typing import Any, Final

from detent.engine.background import Polling
from detent.errors import StoreError, Unavailable
from detent.store.events import NewEvent
from detent.store.rows import Flush, NewVersion
from detent.store.rule_rows import NewEntity
from detent.triggers.entities.event import RecordChange, RecordOperation
from detent.triggers.entities.worker import EntityEvents
from tests.sim.healing import settle
from tests.sim.node import SimNode
from tests.sim.programs import Program
from tests.sim.store import finished
from tests.sim.story import Violation
from tests.sim.world import World

ENTITY: Final = "order"
EVENTS: Final = 12
#: Virtual seconds after which every event must have ended.
PATIENCE: Final = 120.0


@dataclass(frozen=True, slots=True)
class RuleProgram(Program):
    """A workflow that is a rule without conditions."""

    def version(self, edition: int = 0) -> NewVersion:
        facts = {"entity": ENTITY, "trigger_type": "on_update", "conditions": {}}
        plain = Program.version(self, edition)
        return plain._replace(form="rule", entity=ENTITY, trigger=json.dumps({"type": "api", "rule": facts}))


class EventNode(SimNode):
    """A node that receives events and takes those that others left."""

    def boot(self) -> None:
        super().boot()
        world = self._world
        self.entities = EntityEvents(
            self._all_commands, self.engine.store, now=self.engine.time.now, new_id=world.new_id
        )
        world.loop.spawn(self.process, Polling(self.entities.left).work())


class EventWorld(World):
    """`run` lives it through and gives what went wrong, or null."""

    def __init__(self, seed: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(seed, *args, **kwargs)
        # A rule that is switched off or archived for a while starts nothing meanwhile. So none is.
        self.swarm = self.clients._swarm = replace(self.swarm, edits=0.0)
        self._chance = random.Random(seed + 1)
        self._stored: dict[str, tuple[int, set[bytes]]] = {}  # tenant and rules of the moment at which it was stored
        self._answered: set[str] = set()
        self._late: list[Program] = []
        for tenant in range(1, self.swarm.tenants + 1):
            finished(self.database.model.add_entity(NewEntity(tenant, self.new_id(), ENTITY, "Order", None)))

    def make_node(self, number: int) -> SimNode:
        return EventNode(self, number)

    def shape(self, program: Program) -> Program:
        made = super().shape(program)
        return RuleProgram(made.id, made.name, made.graph, made.raw, made.prepared, made.tenant)

    async def _live(self) -> None:
        for number in range(EVENTS):
            self.loop.spawn(None, self._send_some_time(number))
        self.loop.spawn(None, self._save_another())
        await super()._live()
        until = self.loop.time() + PATIENCE
        while any(row.until is not None for row in self.database.model.events.values()):
            if self.loop.time() > until:
                raise Violation("an event has not ended")
            await asyncio.sleep(1.0)
            await settle(self)  # meanwhile a statement that was sent long ago may store another event
        self._check_ends()

    async def _save_another(self) -> None:
        """A rule is saved while events flow."""
        await asyncio.sleep(self._chance.uniform(0.0, self.swarm.chaos * 0.8))
        [first, *_] = self.programs.values()
        late = RuleProgram(self.new_id(), "late", first.graph, first.raw, first.prepared, first.tenant)
        self.programs[late.id] = late
        finished(self.database.model.save_workflow(late.version(), replace=False))

    async def _send_some_time(self, number: int) -> None:
        rng = self._chance
        await asyncio.sleep(rng.uniform(0.05, self.swarm.chaos * 0.7))
        tenant = 1 + rng.randrange(self.swarm.tenants)
        change = RecordChange(ENTITY, RecordOperation.UPDATE, None, {"n": 0}, {"n": number}, None, f"e{number}")
        for _ in range(rng.choice((1, 1, 2))):
            alive = [node for node in self.nodes if node.is_alive]
            if alive:
                node = rng.choice(alive)
                self.loop.spawn(node.process, self._send(node, tenant, change))
            await asyncio.sleep(rng.choice((0.0, 0.0, 0.3, 6.0)))

    async def _send(self, node: SimNode, tenant: int, change: RecordChange) -> None:
        assert isinstance(node, EventNode)
        event = change.event(tenant, self.new_id, self.clock.wall())
        try:
            await node.entities.intake.store([event])
        except (StoreError, Unavailable):
            return
        assert event.dedup is not None
        if event.dedup not in self._stored:
            self.fail(f"the event {event.dedup} was acknowledged and is not durable")
        self._answered.add(event.dedup)
        self.counters.add("event was acknowledged")

    # -- rules

    def _watched(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = super()._watched(verb, args, kwargs)
        if verb == "add_events":
            self._remember(args[0])
        if verb == "take_events" and result:
            self.counters.add("event was taken by another")
        if verb == "flush" and result is not None:
            self._check_starts(args[2])
        return result

    def _remember(self, events: list[NewEvent]) -> None:
        saved = self.database.model.saved
        for event in events:
            rules = {id_ for id_, one in saved.items() if (one.new.tenant, one.new.entity) == (event.tenant, ENTITY)}
            self._stored.setdefault(event.dedup or "", (event.tenant, rules))

    def _check_starts(self, flush: Flush) -> None:
        for start in flush.starts:
            if start.trigger == "event" and _event_of(start.input) not in self._stored:
                self.fail(f"a run of the event {_event_of(start.input)} began before the event was durable")

    def _check_ends(self) -> None:
        started: dict[str, list[bytes]] = {}
        for row in self.database.model.table.values():
            # A run that is retried or forked has the same input, and a request id of its own.
            if (row.new.request_id or "").startswith("event:"):
                started.setdefault(_event_of(row.new.input), []).append(row.new.workflow)
        for event, (_, rules) in self._stored.items():
            runs = started.get(event, [])
            if len(runs) != len(set(runs)):
                self.fail(f"the event {event} started a rule twice")
            elif missing := rules - set(runs):
                self.fail(f"the event {event} did not start {len(missing)} of its {len(rules)} rules")
            self.counters.add("event started its rules")
        if errored := [row.message for row in self.database.model.fired.values() if row.kind == "event"]:
            self.fail(f"firings errored: {errored}")


def _event_of(data: bytes) -> str:
    return str(json.loads(data)["body"]["id"])
