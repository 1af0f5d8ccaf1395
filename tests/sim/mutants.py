"""Deliberate bugs. Each must be found within seconds: this is the test of the simulator itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from detent.graph.model import ON_ANY, Edge, FailurePolicy, Graph, Step, StepKind
from tests.sim import ask_bugs, engine_bugs, flow_bugs, graph_bugs, store_bugs
from tests.sim.programs import SAME
from tests.sim.store import ModelStore
from tests.sim.swarm import Swarm


def _as_it_is(swarm: Swarm) -> Swarm:
    return swarm


def make_graph(*steps: Step, edges: tuple[Edge, ...] = (), on_failure: FailurePolicy = FailurePolicy.SETTLE) -> Graph:
    return Graph(steps=steps, edges=edges, on_failure=on_failure, language=2, one_per_hero=True)


def make_chain(*steps: Step) -> Graph:
    return make_graph(*steps, edges=tuple(Edge(one.name, other.name, ON_ANY) for one, other in pairwise(steps)))


def _request(name: str, **more: Any) -> Step:
    return Step(name, StepKind.HTTP, {"url": "http://sim", "same": SAME}, **more)


def _reader(name: str, of: str) -> Step:
    return Step(name, StepKind.HTTP, {"url": "http://sim", "body": f"{{{{ tasks.{of}.status }}}}", "same": SAME})


def _nap(name: str, seconds: float) -> Step:
    return Step(name, StepKind.SLEEP, {"seconds": seconds})


def _wait(name: str) -> Step:
    return Step(name, StepKind.WAIT, {"timeout": 15.0, "early": "buffer"})


ONE_STEP: Final = make_graph(_request("a"))
TWO_STEPS: Final = make_chain(_request("a"), _request("b"))
WIDE: Final = make_graph(*map(_request, "abcd"), on_failure=FailurePolicy.FAIL_FAST)
#: Nearly at all times a step is about to begin.
ALWAYS_DUE: Final = make_chain(*(_request(name, delay=1.0) for name in "abcdefgh"))
#: Two steps whose time comes in the same moment.
DUE_TOGETHER: Final = make_graph(_request("a", delay=12.0), _nap("b", 12.0))
NAPS: Final = make_chain(*(_nap(name, 0.5) for name in "abcdefgh"))
WAITS: Final = make_graph(*map(_wait, "abcdef"))
#: Steps that are in flight, sleep and wait at the same time.
AT_ONCE: Final = make_graph(*map(_request, "abc"), _nap("d", 40.0), _wait("e"))
#: A step that may take its node down, and others that become ready while it waits for its turn.
AFTER_NAPS: Final = make_graph(
    _request("a"),
    *(_nap(f"nap {seconds}", seconds) for seconds in range(6, 40, 4)),
    *(_request(f"after {seconds}") for seconds in range(6, 40, 4)),
    edges=tuple(Edge(f"nap {seconds}", f"after {seconds}", ON_ANY) for seconds in range(6, 40, 4)),
)
#: Two steps that read the same result, one after the other.
READERS: Final = make_chain(_request("a"), _reader("b", "a"), _reader("c", "a"))
#: One step that goes on whatever becomes of the one before, and one that may fail the run.
AFTER_ALL: Final = make_graph(*map(_request, "abc"), edges=(Edge("a", "b", ON_ANY),))


@dataclass(frozen=True)
class Mutant:
    """A store with a bug, or patches of engine parts: (class or table, name, bug). `bend` makes worlds in which the bug
    shows sooner. `graphs`: what the workflows of these worlds are, in turn; random ones if there are none."""

    name: str
    store: type[ModelStore] = ModelStore
    patches: tuple[tuple[Any, Any, Any], ...] = ()
    bend: Callable[[Swarm], Swarm] = _as_it_is
    graphs: tuple[Graph, ...] = ()

    def seeds(self, count: int) -> range:
        """So many worlds, from the one in which this bug was found."""
        first = FOUND.get(self.name, 1)
        return range(first, first + count)

    def healed(self) -> Mutant:
        """The same worlds without the bug."""
        return replace(self, patches=(), store=ModelStore)

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
    """Callbacks come all the time, and so do people who stop the run; and every statement takes a while."""
    return replace(_calm(swarm), callbacks=1.0, controls=1.0, runs=6, slow=0.5)


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


def _crowded(swarm: Swarm) -> Swarm:
    """People stop runs all the time, and hardly any attempt may be in flight."""
    calm = replace(_calm(swarm), controls=1.0, failing=0.2, runs=8, nodes=1)
    return replace(calm, tuning=replace(swarm.tuning, slots=2))


def _asking(swarm: Swarm) -> Swarm:
    """The same is asked for again and again, sooner and later, while workflows change."""
    return replace(swarm, runs=8, requests=0.9, delays=0.4, edits=60.0, nodes=2)


def _archiving(swarm: Swarm) -> Swarm:
    """Every start is for later, nodes hold the runs until then, and the workflow is archived and reactivated."""
    tuning = replace(swarm.tuning, park_after=10.0, slots=1000, claim_batch=500)
    return replace(_calm(swarm), runs=20, workflows=1, delays=1.0, edits=90.0, chaos=25.0, stops=0.0, tuning=tuning)


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


def _leaving_empty(swarm: Swarm) -> Swarm:
    """Nodes stop again and again that have nothing in their hands, while they claim what is due."""
    tuning = replace(swarm.tuning, park_after=0.1, poll=0.01, idle_poll=0.01, slots=1000, claim_batch=500)
    return replace(_stopping(swarm), stops=40.0, runs=16, tuning=tuning)


def _dying(swarm: Swarm) -> Swarm:
    """Nodes die again and again, some of steps of theirs, and come back; attempts last."""
    tuning = replace(swarm.tuning, slots=1000, claim_batch=500, drain=1.0)
    calm = replace(_calm(swarm), crashes=12.0, stops=4.0, hanging=0.5, deadly=0.15, runs=8, nodes=2)
    return replace(calm, chaos=60.0, tuning=tuning)


def _dying_and_stopping(swarm: Swarm) -> Swarm:
    """Suspect attempts last, and their nodes are stopped gracefully as often as they die."""
    return replace(_dying(swarm), crashes=8.0, stops=12.0, hanging=1.0, deadly=0.0, runs=4, workflows=1, nodes=1)


def _dying_alone(swarm: Swarm) -> Swarm:
    """There is one node, it dies again and again, and every attempt lasts."""
    return replace(_dying(swarm), nodes=1, runs=16, deadly=0.0, hanging=1.0)


def dying_of_two_tenants(swarm: Swarm) -> Swarm:
    return replace(_dying_alone(swarm), workflows=2, tenants=2)


def _calm(swarm: Swarm) -> Swarm:
    calm = replace(swarm, busy=0.0, late=0.0, slow=0.0, reply_lost=0.0, never_came=0.0, outages=0.0, locks=0.0)
    calm = replace(calm, crashes=0.0, pauses=0.0, arrests=0.0, jumps=0.0, deadly=0.0, controls=0.0, failing=0.0)
    return replace(calm, schedules=0.0, requests=0.0, delays=0.0, agains=0.0, edits=0.0, heroes=0.0)


def _cramped(swarm: Swarm) -> Swarm:
    """Hardly anything may wait to be written, every statement takes a while, and the same starts come all at once."""
    tuning = replace(swarm.tuning, slots=1000, queue_bytes=1, flush_rows=1)
    return replace(_calm(swarm), runs=25, requests=1.0, slow=0.3, stops=0.0, nodes=1, chaos=3.0, tuning=tuning)


def _repeating(swarm: Swarm) -> Swarm:
    """What failed is done again."""
    return replace(_calm(swarm), runs=6, agains=1.0, failing=0.4)


def _steered(swarm: Swarm) -> Swarm:
    """Steps and people ask for everything they can, and little else happens."""
    calm = replace(swarm, schedules=0.0, edits=0.0, heroes=0.0, jumps=0.0, deadly=0.0, outages=0.0)
    return replace(calm, runs=8, flows=0.4, moves=0.0, forms=0.0)


def _steered_at_length(swarm: Swarm) -> Swarm:
    """People skip steps and begin them again while their attempts last, and nothing else happens."""
    tuning = replace(swarm.tuning, slots=1000)
    return replace(_calm(swarm), runs=8, hanging=0.5, flows=0.5, moves=0.0, forms=0.0, tuning=tuning)


def _steered_in_a_crowd(swarm: Swarm) -> Swarm:
    return replace(_steered(swarm), hanging=0.4, tuning=replace(swarm.tuning, slots=1))


def _without_flow(bend: Callable[[Swarm], Swarm]) -> Callable[[Swarm], Swarm]:
    return lambda swarm: replace(bend(swarm), flows=0.0, moves=0.0, forms=0.0)


def _moving(swarm: Swarm) -> Swarm:
    """Runs are moved to other versions again and again."""
    return replace(_steered(swarm), flows=0.0, moves=1.0)


def _formed(swarm: Swarm) -> Swarm:
    """Every workflow is in the graph form, and attempts fail often and last."""
    calm = replace(_calm(swarm), runs=10, workflows=2, failing=0.4, hanging=0.3, flows=0.0, moves=0.0, forms=1.0)
    return replace(calm, callbacks=1.0, tuning=replace(swarm.tuning, slots=1000))


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
    *(
        Mutant(name, patches=patches, bend=_archiving, graphs=(ONE_STEP,))
        for name, patches in engine_bugs.OF_ARCHIVES.items()
    ),
    *(Mutant(name, store=store, bend=_heroic) for name, store in store_bugs.OF_HEROES.items()),
    *(Mutant(name, store=store, bend=_scheduled) for name, store in store_bugs.OF_SCHEDULES.items()),
    *(Mutant(name, patches=patches, bend=_scheduled_in_trouble) for name, patches in engine_bugs.OF_FIRINGS.items()),
    *(
        Mutant(name, patches=patches, bend=_cramped, graphs=(ONE_STEP,))
        for name, patches in engine_bugs.OF_ROOM.items()
    ),
    *(
        Mutant(name, patches=patches, bend=_repeating, graphs=(AFTER_ALL,))
        for name, patches in engine_bugs.OF_AGAIN.items()
    ),
    *(Mutant(name, patches=patches, bend=_lossy) for name, patches in engine_bugs.OF_COMMITS.items()),
    *(Mutant(name, patches=patches, bend=_deadly) for name, patches in engine_bugs.OF_OWNERSHIP.items()),
    *(Mutant(name, patches=patches, bend=_deadly) for name, patches in engine_bugs.OF_BODIES.items()),
    *(Mutant(name, patches=patches, bend=_halting) for name, patches in engine_bugs.OF_LEASES.items()),
    *(
        Mutant(name, patches=patches, bend=_heartless, graphs=(ALWAYS_DUE,))
        for name, patches in engine_bugs.OF_DOUBTS.items()
    ),
    *(Mutant(name, patches=patches, bend=_sluggish) for name, patches in engine_bugs.OF_HASTE.items()),
    *(Mutant(name, patches=patches, bend=_jumping) for name, patches in engine_bugs.OF_CLOCKS.items()),
    *(Mutant(name, patches=patches, bend=_racing) for name, patches in engine_bugs.OF_TIME.items()),
    *(Mutant(name, patches=patches, bend=_answered) for name, patches in engine_bugs.OF_WAITS.items()),
    *(
        Mutant(name, patches=patches, bend=_answered, graphs=(WAITS,))
        for name, patches in engine_bugs.OF_CLOSING.items()
    ),
    *(
        Mutant(name, patches=patches, bend=_answered, graphs=(ask_bugs.RACES,))
        for name, patches in ask_bugs.OF_RACES.items()
    ),
    *(
        Mutant(name, patches=patches, bend=_answered, graphs=(ask_bugs.ASKS,))
        for name, patches in ask_bugs.OF_REMINDERS.items()
    ),
    *(Mutant(name, patches=patches, bend=_pausing) for name, patches in engine_bugs.OF_PAUSES.items()),
    *(
        Mutant(name, patches=patches, bend=_pausing, graphs=(DUE_TOGETHER,))
        for name, patches in engine_bugs.OF_TIMES.items()
    ),
    *(Mutant(name, patches=patches, bend=_crowded, graphs=(WIDE,)) for name, patches in engine_bugs.OF_CONTROL.items()),
    *(Mutant(name, patches=patches, bend=_stopping) for name, patches in engine_bugs.OF_STOPS.items()),
    *(
        Mutant(name, patches=patches, bend=_leaving_empty, graphs=(NAPS,))
        for name, patches in engine_bugs.OF_LATE_CLAIMS.items()
    ),
    *(Mutant(name, patches=patches, bend=_dying) for name, patches in engine_bugs.OF_SUSPECTS.items()),
    *(
        Mutant(name, patches=patches, bend=_dying_alone, graphs=(ONE_STEP,))
        for name, patches in engine_bugs.OF_LANES.items()
    ),
    *(
        Mutant(name, patches=patches, bend=_dying_alone, graphs=(AFTER_NAPS,))
        for name, patches in engine_bugs.OF_READY_STEPS.items()
    ),
    *(
        Mutant(name, patches=patches, bend=_dying_alone, graphs=(AT_ONCE,))
        for name, patches in engine_bugs.OF_WAITING_STEPS.items()
    ),
    *(
        Mutant(name, patches=patches, bend=_dying_and_stopping, graphs=(ONE_STEP,))
        for name, patches in engine_bugs.OF_RELEASES.items()
    ),
    *(
        Mutant(name, patches=patches, bend=dying_of_two_tenants, graphs=(ONE_STEP,))
        for name, patches in engine_bugs.OF_TURNS.items()
    ),
)
MUTANTS: Final = (
    *(replace(mutant, bend=_without_flow(mutant.bend)) for mutant in _OTHERS),
    *(Mutant(name, patches=patches, bend=_steered) for name, patches in flow_bugs.OF_FLOW.items()),
    *(
        Mutant(name, patches=patches, bend=_steered_at_length, graphs=(TWO_STEPS,))
        for name, patches in flow_bugs.OF_SKIPS.items()
    ),
    *(Mutant(name, patches=patches, bend=_steered_in_a_crowd) for name, patches in flow_bugs.OF_WAITING.items()),
    *(Mutant(name, patches=patches, bend=_moving) for name, patches in flow_bugs.OF_MOVES.items()),
    *(Mutant(name, patches=patches, bend=_formed) for name, patches in graph_bugs.OF_GRAPHS.items()),
    *(
        Mutant(name, patches=patches, bend=_formed, graphs=(READERS,))
        for name, patches in graph_bugs.OF_RESULTS.items()
    ),
)
