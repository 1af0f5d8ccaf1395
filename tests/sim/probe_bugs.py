"""Deliberate bugs of probes."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from detent.run.journal import ProbeAnswer
from detent.run.outcomes import Done
from tests.sim.mutants import Mutant

probing = import_module("detent.planner.doubts.probe")
applying = import_module("detent.planner.apply")
calling = import_module("detent.planner.calls")

_read = probing._read
_resumed = applying._resumed


def _as_success(action: str, outcome: Any) -> Any:
    """A probe that saw nothing counts as one that saw the effect."""
    verdict = _read(action, outcome)
    if verdict.answer is ProbeAnswer.DID_NOT_HAPPEN and isinstance(outcome, Done):
        return verdict._replace(answer=ProbeAnswer.HAPPENED, result=outcome.result)
    return verdict


def _as_no(action: str, outcome: Any) -> Any:
    """A probe that cannot tell counts as one that saw nothing."""
    verdict = _read(action, outcome)
    return verdict._replace(answer=ProbeAnswer.DID_NOT_HAPPEN) if verdict.fail is not None else verdict


def _again(prepared: Any, state: Any, index: int, now: Any, *, may_ask: bool) -> None:
    """The step is tried again at once."""
    state.begun.pop(index)
    state.until.pop(index, None)
    applying._make_ready(state, index)


def _tried(prepared: Any, state: Any, now: Any) -> None:
    """A resume means that an uncertain step is tried again."""
    _resumed(prepared, state, now)
    state.probes.clear()


MUTANTS: Final = (
    Mutant("a probe that saw nothing counts as a success", patches=((probing, "_read", _as_success),)),
    Mutant("a probe that cannot tell counts as a no", patches=((probing, "_read", _as_no),)),
    Mutant("a step is tried again without asking its probe", patches=((applying, "_ask_probe", _again),)),
    Mutant("a resume tries again what may have happened", patches=((applying, "_resumed", _tried),)),
)
