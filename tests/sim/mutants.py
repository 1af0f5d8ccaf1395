"""Deliberate bugs. Each must be found within seconds: this is the test of the simulator itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tests.sim import engine_bugs, flow_bugs, store_bugs
from tests.sim.store import ModelStore
from tests.sim.swarm import Swarm


def _as_it_is(swarm: Swarm) -> Swarm:
    return swarm


@dataclass(frozen=True)
class Mutant:
    """A store with a bug, or patches of engine parts: (class or table, name, bug). `bend` makes worlds in which the bug
    shows sooner."""

    name: str
    store: type[ModelStore] = ModelStore
    patches: tuple[tuple[Any, Any, Any], ...] = ()
    bend: Callable[[Swarm], Swarm] = _as_it_is

    def seeds(self, count: int) -> range:
        """So many worlds, from the one in which this bug was found."""
        first = FOUND.get(self.name, 1)
        return range(first, first + count)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The engine has the bug for so long."""
        kept = [(target, name, _get(target, name)) for target, name, _ in self.patches]
        for target, name, bug in self.patches:
            _set(target, name, bug)
        try:
            yield
        finally:
            for target, name, old in kept:
                _set(target, name, old)


def _get(target: Any, name: Any) -> Any:
    return target[name] if isinstance(target, dict) else target.__dict__[name]


def _set(target: Any, name: Any, value: Any) -> None:
    if isinstance(target, dict):
        target[name] = value
    else:
        setattr(target, name, value)


def _lossy(swarm: Swarm) -> Swarm:
    return replace(swarm, late=0.1, reply_lost=0.1, slow=0.1)


def _racing(swarm: Swarm) -> Swarm:
    return replace(swarm, callbacks=1.0, jumps=0.0)


def _answered(swarm: Swarm) -> Swarm:
    """Callbacks come all the time, and so do people who stop the run."""
    return replace(swarm, callbacks=1.0, controls=1.0, runs=6, jumps=0.0)


def _deadly(swarm: Swarm) -> Swarm:
    return replace(swarm, nodes=3, crashes=4.0, pauses=6.0, late=0.1, slow=0.3, jumps=0.0)


def _leaving(swarm: Swarm) -> Swarm:
    tuning = replace(swarm.tuning, park_after=0.1, poll=0.05, idle_poll=0.05, mail_poll=0.2)
    return replace(swarm, nodes=3, reply_lost=0.3, slow=0.3, jumps=0.0, callbacks=1.0, controls=1.0, tuning=tuning)


def _jumping(swarm: Swarm) -> Swarm:
    return replace(swarm, nodes=2, runs=6, jumps=10.0, outages=0.0)


def _halting(swarm: Swarm) -> Swarm:
    """Nodes stand still again and again while steps wait for their next attempt."""
    return replace(swarm, nodes=2, runs=6, pauses=25.0, failing=0.5, crashes=0.0, outages=0.0, jumps=0.0, slow=0.0)


def _heartless(swarm: Swarm) -> Swarm:
    """Hearts are cut off for nearly as long as a lease lasts."""
    return replace(_halting(swarm), nodes=1, pauses=0.0, arrests=4.0, busy=0.0, late=0.0, stops=0.0, reply_lost=0.0)


def _sluggish(swarm: Swarm) -> Swarm:
    tuning = replace(swarm.tuning, watch=1.0)
    return replace(swarm, nodes=2, slow=0.5, crashes=0.0, pauses=0.0, late=0.0, busy=0.0, jumps=0.0, tuning=tuning)


def _pausing(swarm: Swarm) -> Swarm:
    """Nothing goes wrong, but people pause and resume all the time."""
    calm = replace(swarm, busy=0.0, late=0.0, slow=0.0, reply_lost=0.0, never_came=0.0, outages=0.0, locks=0.0)
    calm = replace(calm, schedules=0.0, requests=0.0, delays=0.0, agains=0.0, edits=0.0, heroes=0.0)
    return replace(calm, runs=12, controls=1.0, crashes=0.0, pauses=0.0, arrests=0.0, jumps=0.0, deadly=0.0)


def _overslept(swarm: Swarm) -> Swarm:
    """The node stands still while many attempts fail, so that the times of several steps come together."""
    return replace(_pausing(swarm), runs=20, workflows=1, nodes=1, pauses=12.0, failing=0.5, callbacks=0.0)


def _crowded(swarm: Swarm) -> Swarm:
    return replace(swarm, controls=1.0, runs=6, tuning=replace(swarm.tuning, slots=1))


def _asking(swarm: Swarm) -> Swarm:
    """The same is asked for again and again, sooner and later, while workflows change."""
    return replace(swarm, runs=8, requests=0.9, delays=0.4, edits=60.0, nodes=2)


def _heroic(swarm: Swarm) -> Swarm:
    """Everybody starts the same for the same few heroes, and again what has ended."""
    return replace(swarm, runs=8, workflows=1, heroes=1.0, agains=0.8, requests=0.0, delays=0.0, edits=0.0, nodes=2)


def _scheduled(swarm: Swarm) -> Swarm:
    """Every workflow has a schedule, and its runs take longer than from one slot to the next."""
    return replace(swarm, schedules=1.0, runs=2, nodes=3, edits=0.0, jumps=0.0, agains=0.0, chaos=45.0)


def _scheduled_in_trouble(swarm: Swarm) -> Swarm:
    return replace(_scheduled(swarm), crashes=4.0, pauses=12.0, reply_lost=0.3, late=0.1)


def _stopping(swarm: Swarm) -> Swarm:
    """Nothing happens but graceful stops, and attempts last longer than the drain."""
    calm = replace(_calm(swarm), stops=12.0, hanging=0.8, nodes=2)
    return replace(calm, tuning=replace(swarm.tuning, drain=1.0))


def _dying(swarm: Swarm) -> Swarm:
    """Nodes die again and again, some of steps of theirs, and come back; attempts last."""
    tuning = replace(swarm.tuning, slots=1000, claim_batch=500, drain=1.0)
    calm = replace(_calm(swarm), crashes=12.0, stops=4.0, hanging=0.5, deadly=0.15, runs=8, nodes=2)
    return replace(calm, chaos=60.0, tuning=tuning)


def _dying_and_stopping(swarm: Swarm) -> Swarm:
    """Suspect attempts last, and their nodes are stopped gracefully as often as they die."""
    return replace(_dying(swarm), crashes=8.0, stops=12.0, hanging=1.0, deadly=0.0, runs=4, workflows=1, nodes=1)


def dying_of_two_tenants(swarm: Swarm) -> Swarm:
    return replace(_dying(swarm), workflows=2, tenants=2, nodes=1, runs=16, deadly=0.0, hanging=1.0)


def _calm(swarm: Swarm) -> Swarm:
    calm = replace(swarm, busy=0.0, late=0.0, slow=0.0, reply_lost=0.0, never_came=0.0, outages=0.0, locks=0.0)
    calm = replace(calm, crashes=0.0, pauses=0.0, arrests=0.0, jumps=0.0, deadly=0.0, controls=0.0, failing=0.0)
    return replace(calm, schedules=0.0, requests=0.0, delays=0.0, agains=0.0, edits=0.0, heroes=0.0)


def _cramped(swarm: Swarm) -> Swarm:
    """Hardly anything may wait to be written, and every start is asked for again."""
    tuning = replace(swarm.tuning, slots=1000, queue_bytes=300, flush_rows=1)
    calm = replace(swarm, busy=0.0, late=0.0, reply_lost=0.0, outages=0.0, crashes=0.0, pauses=0.0, jumps=0.0)
    calm = replace(calm, runs=25, requests=0.5, delays=0.0, agains=0.0, heroes=0.0)
    return replace(calm, edits=120.0, nodes=1, chaos=8.0, tuning=tuning)


def _repeating(swarm: Swarm) -> Swarm:
    return replace(swarm, runs=6, agains=1.0, failing=0.3, edits=0.0, deadly=0.0)


def _steered(swarm: Swarm) -> Swarm:
    """Steps and people ask for everything they can, and little else happens."""
    calm = replace(swarm, schedules=0.0, edits=0.0, heroes=0.0, jumps=0.0, deadly=0.0, outages=0.0)
    return replace(calm, runs=8, flows=0.4, moves=0.0)


def _steered_in_a_crowd(swarm: Swarm) -> Swarm:
    return replace(_steered(swarm), hanging=0.4, tuning=replace(swarm.tuning, slots=1))


def _without_flow(bend: Callable[[Swarm], Swarm]) -> Callable[[Swarm], Swarm]:
    return lambda swarm: replace(bend(swarm), flows=0.0, moves=0.0)


def _moving(swarm: Swarm) -> Swarm:
    """Runs are moved to other versions again and again."""
    return replace(_steered(swarm), flows=0.0, moves=1.0)


#: The world in which each bug was found, written by `python -m tests.sim --mutants --record`. When the engine
#: changes, or the way worlds are drawn, bugs show elsewhere and are looked for longer, until this is recorded again.
RECORD: Final = Path(__file__).with_name("found.json")
FOUND: Final[dict[str, int]] = json.loads(RECORD.read_text())
NO_MUTANT: Final = Mutant("none")
_OTHERS: Final = (
    *(Mutant(name, store=store, bend=_racing) for name, store in store_bugs.OF_CALLBACKS.items()),
    *(Mutant(name, store=store, bend=_deadly) for name, store in store_bugs.OF_OWNERSHIP.items()),
    *(Mutant(name, store=store, bend=_leaving) for name, store in store_bugs.OF_LEAVING.items()),
    *(Mutant(name, store=store, bend=_asking) for name, store in store_bugs.OF_STARTS.items()),
    *(Mutant(name, patches=patches, bend=_asking) for name, patches in engine_bugs.OF_STARTS.items()),
    *(Mutant(name, store=store, bend=_heroic) for name, store in store_bugs.OF_HEROES.items()),
    *(Mutant(name, store=store, bend=_scheduled) for name, store in store_bugs.OF_SCHEDULES.items()),
    *(Mutant(name, patches=patches, bend=_scheduled_in_trouble) for name, patches in engine_bugs.OF_FIRINGS.items()),
    *(Mutant(name, patches=patches, bend=_cramped) for name, patches in engine_bugs.OF_ROOM.items()),
    *(Mutant(name, patches=patches, bend=_repeating) for name, patches in engine_bugs.OF_AGAIN.items()),
    *(Mutant(name, patches=patches, bend=_lossy) for name, patches in engine_bugs.OF_COMMITS.items()),
    *(Mutant(name, patches=patches, bend=_deadly) for name, patches in engine_bugs.OF_OWNERSHIP.items()),
    *(Mutant(name, patches=patches, bend=_deadly) for name, patches in engine_bugs.OF_BODIES.items()),
    *(Mutant(name, patches=patches, bend=_halting) for name, patches in engine_bugs.OF_LEASES.items()),
    *(Mutant(name, patches=patches, bend=_heartless) for name, patches in engine_bugs.OF_DOUBTS.items()),
    *(Mutant(name, patches=patches, bend=_sluggish) for name, patches in engine_bugs.OF_HASTE.items()),
    *(Mutant(name, patches=patches, bend=_jumping) for name, patches in engine_bugs.OF_CLOCKS.items()),
    *(Mutant(name, patches=patches, bend=_racing) for name, patches in engine_bugs.OF_TIME.items()),
    *(Mutant(name, patches=patches, bend=_answered) for name, patches in engine_bugs.OF_WAITS.items()),
    *(Mutant(name, patches=patches, bend=_pausing) for name, patches in engine_bugs.OF_PAUSES.items()),
    *(Mutant(name, patches=patches, bend=_overslept) for name, patches in engine_bugs.OF_TIMES.items()),
    *(Mutant(name, patches=patches, bend=_crowded) for name, patches in engine_bugs.OF_CONTROL.items()),
    *(Mutant(name, patches=patches, bend=_stopping) for name, patches in engine_bugs.OF_STOPS.items()),
    *(Mutant(name, patches=patches, bend=_dying) for name, patches in engine_bugs.OF_SUSPECTS.items()),
    *(Mutant(name, patches=patches, bend=_dying_and_stopping) for name, patches in engine_bugs.OF_RELEASES.items()),
    *(Mutant(name, patches=patches, bend=dying_of_two_tenants) for name, patches in engine_bugs.OF_TURNS.items()),
)
MUTANTS: Final = (
    *(replace(mutant, bend=_without_flow(mutant.bend)) for mutant in _OTHERS),
    *(Mutant(name, patches=patches, bend=_steered) for name, patches in flow_bugs.OF_FLOW.items()),
    *(Mutant(name, patches=patches, bend=_steered_in_a_crowd) for name, patches in flow_bugs.OF_WAITING.items()),
    *(Mutant(name, patches=patches, bend=_moving) for name, patches in flow_bugs.OF_MOVES.items()),
)
