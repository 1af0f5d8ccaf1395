"""What the graph form adds, with one bug each, as patches."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any, Final

from detent.graph.model import Ending
from detent.planner.prepared import Prepared, PreparedStep
from detent.planner.settle import Settling
from detent.run.state import RunState

planning = import_module("detent.planner.advance")
ending = import_module("detent.planner.run_end")
settling = import_module("detent.planner.settle")

Patches = tuple[tuple[Any, Any, Any], ...]

_decide_edges = Settling._decide_edges
_may_start = planning.may_start
_unhandled = ending.unhandled
_step_ended = settling.step_ended


def _otherwise_first(self: Settling, step: PreparedStep, how: Ending) -> bool:
    outgoing = tuple(sorted(step.outgoing, key=lambda edge: not edge.otherwise))
    return _decide_edges(self, replace(step, outgoing=outgoing), how)


def _otherwise_as_well(self: Settling, step: PreparedStep, how: Ending) -> bool:
    outgoing = tuple(replace(edge, otherwise=False) for edge in step.outgoing)
    return _decide_edges(self, replace(step, outgoing=outgoing), how)


def _every_match(self: Settling, step: PreparedStep, how: Ending) -> bool:
    return _decide_edges(self, replace(step, first_match=False), how)


def _handled_by_all(prepared: Prepared, state: RunState) -> list[int]:
    steps = tuple(
        replace(step, outgoing=tuple(replace(edge, handles=True) for edge in step.outgoing)) for step in prepared.steps
    )
    found: list[int] = _unhandled(replace(prepared, steps=steps), state)
    return found


def _handled_by_dead_edges(prepared: Prepared, state: RunState) -> list[int]:
    not_taken, state.not_taken = state.not_taken, set()
    try:
        found: list[int] = _unhandled(prepared, state)
        return found
    finally:
        state.not_taken = not_taken


def _start_all(state: RunState) -> list[int]:
    most, state.parallel = state.parallel, None
    try:
        found: list[int] = _may_start(state)
        return found
    finally:
        state.parallel = most


def _start_one_more(state: RunState) -> list[int]:
    """Steps that were begun before are counted, but not the one that begins."""
    most = state.parallel
    state.parallel = None if most is None else most + 1
    try:
        found: list[int] = _may_start(state)
        return found
    finally:
        state.parallel = most


def _gone_at_the_first_reader(prepared: Prepared, state: RunState, step: PreparedStep) -> None:
    """A result leaves memory although other steps read it."""
    _step_ended(prepared, state, step)
    if not state.keeps_results:
        for index in step.reads:
            if state.results.pop(index, None) is not None:
                state.let_go.append(index)


OF_GRAPHS: Final[dict[str, Patches]] = {
    "an otherwise edge is considered first": ((Settling, "_decide_edges", _otherwise_first),),
    "an otherwise edge is taken beside others": ((Settling, "_decide_edges", _otherwise_as_well),),
    "first match takes every match": ((Settling, "_decide_edges", _every_match),),
    "an edge that handles nothing handles": ((ending, "unhandled", _handled_by_all),),
    "an edge that is not taken handles": ((ending, "unhandled", _handled_by_dead_edges),),
    "parallel is ignored": ((planning, "may_start", _start_all),),
    "parallel counts one too few": ((planning, "may_start", _start_one_more),),
}
OF_RESULTS: Final[dict[str, Patches]] = {
    "a result leaves memory at its first reader": ((settling, "step_ended", _gone_at_the_first_reader),),
}
