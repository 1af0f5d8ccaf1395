"""Maps with one bug each, as patches, and the worlds in which they show."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any, Final

from detent.engine.children import family
from detent.engine.children import maps as pages
from detent.graph.model import Each, ItemFailure, Step, StepKind
from detent.planner import maps
from detent.planner.settle import Settling
from tests.sim.mutants import Mutant, make_graph
from tests.sim.swarm import Swarm

planning = import_module("detent.planner.advance")
settling = import_module("detent.planner.settle")
version_moving = import_module("detent.planner.moves.version")

_page_ended = planning._page_ended
_page_start = pages._page_start
_cannot_move = version_moving._cannot_move


def _count_again(event: Any, prepared: Any, state: Any, now: int) -> Any:
    index = event.step
    since, state.since[index] = state.since[index], now
    try:
        state.maps[index].count = len(maps.items_of(prepared, state, index))
    finally:
        state.since[index] = since
    return _page_ended(event, prepared, state, now)


def _fail_at_the_end(each: Any, found: Any) -> bool:
    return maps.is_intolerable(each, found) and not found.has_more()


def _one_page_more(each: Any) -> int:
    return maps.pages_open(each) + 1


async def _believes(children: Any, run: Any, names: Any) -> Any:
    return set(names)


async def _forgets_to_ask(children: Any, run: Any, names: Any) -> Any:
    return set()


def _let_it_run(self: Settling, child: str) -> None:
    return None


def _from_the_end(found: Any, outputs: Any) -> bytes:
    return maps.result_of_map(found, outputs[::-1])


def _without_the_first(run: Any, index: int, child: str, first: int, items: Any, outer: Any) -> Any:
    return _page_start(run, index, child, first, [*items[1:], *items[:1]], outer)


def _all_succeeded(state: Any) -> tuple[int, int]:
    succeeded, failed = maps.page_counts(state)
    return succeeded + failed, 0


def _gone_uncollected(prepared: Any, state: Any, index: int) -> None:
    """The result of an item leaves memory, and its value was not collected."""
    if state.results.pop(index, None) is not None:
        state.let_go.append(index)
    state.gathered.values[index] = b"null"


def _with_the_first_version(*given: Any) -> Any:
    return replace(_page_start(*given), version=1)


def _as_any_run(old: Any, state: Any, new: Any, wish: Any) -> Any:
    return _cannot_move(replace(old, page=None), state, new, wish)


def _mapping(swarm: Swarm) -> Swarm:
    """Items fail and last, and little else happens."""
    calm = replace(swarm, crashes=0.0, pauses=0.0, outages=0.0, jumps=0.0, deadly=0.0, late=0.0, reply_lost=0.0)
    calm = replace(calm, busy=0.0, never_came=0.0, arrests=0.0, locks=0.0, flows=0.0, moves=0.0, forms=0.0)
    return replace(calm, edits=0.0, delays=0.0, agains=0.0, runs=6, failing=0.2, slow=0.3)


def _failing(swarm: Swarm) -> Swarm:
    """Items fail at once, while other pages are being started."""
    return replace(_mapping(swarm), failing=0.9, hanging=0.0, slow=0.6, callbacks=0.3, runs=10)


def _dying(swarm: Swarm) -> Swarm:
    """Nodes die again and again, and every statement takes a while."""
    return replace(_mapping(swarm), nodes=2, crashes=12.0, slow=0.6)


def _steered(swarm: Swarm) -> Swarm:
    """People pause, cancel, skip and reattempt runs and their pages."""
    return replace(_mapping(swarm), controls=1.0, flows=0.2)


def _cancelled(swarm: Swarm) -> Swarm:
    """People stop runs and their pages, whose items last."""
    return replace(_mapping(swarm), controls=1.0, failing=0.0, hanging=0.3, slow=0.0)


def _moving(swarm: Swarm) -> Swarm:
    """Runs are moved to other versions again and again, and their pages are to be moved too."""
    return replace(_mapping(swarm), moves=1.0, hanging=0.5)


def _dying_in_a_jam(swarm: Swarm) -> Swarm:
    """Nodes die again and again, and each flush takes one row, so that the rows of a run wait for each other."""
    tuning = replace(swarm.tuning, flush_rows=1, slots=1000, claim_batch=500)
    calm = replace(_dying(swarm), slow=0.1, failing=0.0, hanging=0.0, controls=0.0, stops=0.0)
    return replace(calm, tuning=tuning)


#: A map that nearly always has another page to begin, beside steps that are all due when the run is adopted.
PAGES: Final = make_graph(
    Step(
        "a",
        StepKind.HTTP,
        {"url": "http://sim", "item": "{{ item }}"},
        each=Each([f"item {number}" for number in range(12)], parallel=2),
    ),
    *(Step(f"nap {number}", StepKind.SLEEP, {"seconds": number / 2}) for number in range(1, 16)),
)
#: A map whose pages have several items each, and that takes what a stopped page has.
LARGE_PAGES: Final = make_graph(
    Step(
        "a",
        StepKind.HTTP,
        {"url": "http://sim", "item": "{{ item }}"},
        each=Each([f"item {number}" for number in range(12)], parallel=7, on_failure=ItemFailure.CONTINUE, tolerate=12),
    )
)
BENDS: Final = (_mapping, _failing, _dying, _steered, _moving)
MUTANTS: Final = (
    Mutant(
        "the count of a map is read from its list again",
        patches=((planning, "_page_ended", _count_again),),
        bend=_mapping,
    ),
    Mutant(
        "a map starts a page after it failed", patches=((planning, "is_intolerable", _fail_at_the_end),), bend=_mapping
    ),
    Mutant(
        "a page that exists is started twice", patches=((pages, "existing_children", _forgets_to_ask),), bend=_dying
    ),
    Mutant(
        "an adopted map believes that its pages are there",
        patches=((pages, "existing_children", _believes),),
        bend=_dying,
    ),
    Mutant(
        "a page is started before its entry is durable",
        patches=((pages, "written_pages", lambda run, found: found.pages),),
        bend=_dying_in_a_jam,
        graphs=(PAGES,),
    ),
    Mutant("the pages of a map that is over run on", patches=((Settling, "_cancel", _let_it_run),), bend=_steered),
    Mutant("more pages are open than fit", patches=((family, "pages_open", _one_page_more),), bend=_mapping),
    Mutant("the results of a map are not in order", patches=((pages, "result_of_map", _from_the_end),), bend=_mapping),
    Mutant(
        "a page has its items in another order", patches=((pages, "_page_start", _without_the_first),), bend=_mapping
    ),
    Mutant(
        "an item that failed counts as a success", patches=((family, "page_counts", _all_succeeded),), bend=_mapping
    ),
    Mutant(
        "the values of a stopped page are lost",
        patches=((planning, "stopped_output", lambda *_: None),),
        bend=_cancelled,
        graphs=(LARGE_PAGES,),
    ),
    Mutant(
        "an item's result leaves memory before its value is collected",
        patches=((settling, "gather", _gone_uncollected),),
        bend=_mapping,
    ),
    Mutant(
        "a page has the first version of a moved run",
        patches=((pages, "_page_start", _with_the_first_version),),
        bend=_moving,
    ),
    Mutant("a page is moved as any run", patches=((version_moving, "_cannot_move", _as_any_run),), bend=_moving),
)
