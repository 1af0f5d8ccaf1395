"""What to do with a run whose class is not what it was when the run began.

Compared are the steps in their order and the waits between them. Bodies may change at any time: a step that has not run
yet runs by the code of now. `pin` never comes here with other code: a node that has other code does not take the run.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from difflib import unified_diff
from typing import Final

from detent.graph import codec
from detent.graph.model import Graph
from detent.python.run_state import newest
from detent.python.settings import Drift
from detent.run.outcomes import Move, Pause, StepError
from detent.run.view import RunView

_MOST_KNOWN: Final = 64
LEFT: Final = "left"  # what the first step of a moved graph carries of steps that are gone


class DriftCheck:
    """Compares graphs of runs with that of one class; each is compared once."""

    def __init__(self, name: str, drift: Drift, graph: Graph) -> None:
        self._name, self._drift, self._graph = name, drift, graph
        self._answers: dict[int, tuple[Graph, Move | Pause | None]] = {}

    def answer(self, view: RunView) -> Move | Pause | None:
        """What is to be done with that run; null if it may go on."""
        answer = self._known(view.graph)
        return self._with_state(view, answer) if isinstance(answer, Move) else answer

    def _known(self, graph: Graph) -> Move | Pause | None:
        known = self._answers.get(id(graph))
        if known is not None:  # it is kept beside the answer, so its id is nobody else's
            return known[1]
        if len(self._answers) >= _MOST_KNOWN:
            self._answers.clear()
        answer = self._compare(graph)
        self._answers[id(graph)] = graph, answer
        return answer

    def _compare(self, graph: Graph) -> Move | Pause | None:
        was, now = _lines(graph), _lines(self._graph)
        if was == now:
            return None
        if self._drift is not Drift.STRICT:
            return Move(codec.encode(self._graph))
        diff = "\n".join(unified_diff(was, now, "when the run began", "now", lineterm="", n=len(was) + len(now)))
        message = f"the steps of {self._name!r} have changed since the run began"
        return Pause("changed code", StepError("drift", message, {"diff": diff}))

    def _with_state(self, view: RunView, move: Move) -> Move:
        """The same move; the state goes along where the step that left it is gone."""
        left = {step.name: view.result_of(step.name) for step in view.graph.steps}
        kept = newest([*left.values(), left_state(view.graph)])
        names = {step.name for step in self._graph.steps}
        if kept is None or any(raw == kept and name in names for name, raw in left.items()):
            return move
        first, *others = self._graph.steps
        text = base64.b64encode(kept).decode()  # no template can be in it
        carrying = replace(first, config={**first.config, LEFT: text})
        return Move(codec.encode(replace(self._graph, steps=(carrying, *others))))


def left_state(graph: Graph) -> bytes | None:
    """The result, with its state, of a step that the graph of a moved run does not have any more."""
    text = graph.steps[0].config.get(LEFT) if graph.steps else None
    return None if text is None else base64.b64decode(text)


def _lines(graph: Graph) -> list[str]:
    return [f"{step.name}" + (f" after {step.delay:g} s" if step.delay else "") for step in graph.steps]
