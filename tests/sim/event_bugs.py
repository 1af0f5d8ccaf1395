"""Deliberate bugs of entity events."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final

from detent.store.events import AddedEvent, NewEvent
from detent.triggers.entities import processor as event_processor
from detent.triggers.entities.intake import EventIntake
from detent.triggers.entities.matcher import RuleMatcher
from detent.triggers.entities.processor import EventProcessor
from detent.triggers.entities.worker import LeftEvents
from tests.sim.mutants import Mutant
from tests.sim.swarm import Swarm

_send_batch = EventIntake._send_batch
_process = EventProcessor._process
_poll = LeftEvents.poll


async def _match_first(self: Any, batch: list[Any]) -> None:
    for arrival in batch:
        self._process(arrival, [AddedEvent(True, 1) for _ in arrival.events])
    await asyncio.sleep(0)
    await _send_batch(self, batch)


async def _end_first(self: Any, event: NewEvent, revision: int | None) -> Any:
    await self._store.end_events([event.id], [])
    return await _process(self, event, revision)


async def _leave_alone(self: Any) -> float:
    return 1.0


_tries = 0


def _of_the_try(event: str, rule: Any) -> str:
    global _tries  # noqa: PLW0603 - each try is another
    _tries += 1
    return f"event:{event}:{rule.workflow}:{_tries}"


async def _as_known(self: Any, tenant: int, entity: str, revision: int) -> Any:
    return self.known(tenant, entity) or await self.read(tenant, entity)


async def _forget_errors(self: Any, event: NewEvent, revision: int | None) -> Any:
    done = await _process(self, event, revision)
    if not done.is_over:
        self.ends.add(event)
    return done


def busy(swarm: Swarm) -> Swarm:
    """Several nodes that die, lost replies, and little else."""
    calm = replace(swarm, jumps=0.0, outages=0.0, schedules=0.0, deadly=0.0, moves=0.0, arrests=0.0, agains=0.0)
    calm = replace(calm, nodes=3, runs=2, workflows=2, failing=0.0, controls=0.0, flows=0.0, delays=0.0, pauses=0.0)
    return replace(calm, crashes=12.0, reply_lost=0.05, slow=0.2, busy=0.05)


BENDS: Final = (busy,)
MUTANTS: Final = (
    Mutant("event matched before it is durable", patches=((EventIntake, "_send_batch", _match_first),), bend=busy),
    Mutant("event ended before its runs are durable", patches=((EventProcessor, "_process", _end_first),), bend=busy),
    Mutant("event of a dead process is left alone", patches=((LeftEvents, "poll", _leave_alone),), bend=busy),
    Mutant(
        "the request id of an event's run names the try",
        patches=((event_processor, "request_id", _of_the_try),),
        bend=busy,
    ),
    Mutant("rules are not read again after a save", patches=((RuleMatcher, "rules", _as_known),), bend=busy),
    Mutant(
        "an event ends although a rule could not be started",
        patches=((EventProcessor, "_process", _forget_errors),),
        bend=busy,
    ),
)
