"""Drift: what happens to a run whose class has changed since the run began.

The check compares the steps in their order and the waits between them. Bodies may change at any time: a step that has
not run yet runs the current code. The policies are in `python/settings.py`. With `pin` the code never differs here: its
fingerprint is part of the name that a node must serve to claim the run (`registered` in `compiled.py`).
"""

from __future__ import annotations

import base64
from dataclasses import replace
from difflib import unified_diff
from typing import Final

from detent.graph import codec
from detent.graph.model import Graph
from detent.python.classes.state import newest
from detent.python.settings import DriftPolicy
from detent.run.call import RunView
from detent.run.outcomes import Move, Pause, StepError

_MOST_KNOWN: Final = 64
LEFT: Final = "left"  # in the config of the first step of a moved graph: the newest result of the removed steps


class DriftCheck:
    """Compares the graphs of runs with the graph of one class, and caches the answers."""

    def __init__(self, name: str, drift: DriftPolicy, graph: Graph) -> None:
        self._name, self._drift, self._graph = name, drift, graph
        self._answers: dict[int, tuple[Graph, Move | Pause | None]] = {}

    def answer(self, view: RunView) -> Move | Pause | None:
        """Return what to do with that run, or None if it may continue."""
        graph = view.graph
        known = self._answers.get(id(graph))  # the cache also stores the graph, so no other object can get its id
        if known is None:
            if len(self._answers) >= _MOST_KNOWN:
                self._answers.clear()
            known = self._answers[id(graph)] = graph, self._compare(graph)
        answer = known[1]
        return self._with_state(view, answer) if isinstance(answer, Move) else answer

    def _compare(self, graph: Graph) -> Move | Pause | None:
        was, now = _lines(graph), _lines(self._graph)
        if was == now:
            return None
        if self._drift is not DriftPolicy.STRICT:
            return Move(codec.encode(self._graph))
        diff = "\n".join(unified_diff(was, now, "when the run began", "now", lineterm="", n=len(was) + len(now)))
        message = f"the steps of {self._name!r} have changed since the run began"
        return Pause("changed code", StepError("drift", message, {"diff": diff}))

    def _with_state(self, view: RunView, move: Move) -> Move:
        """Return the move. Add the newest state to it if the step that stored this state is gone."""
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
    """Return the result, with its state, of a step that the graph of a moved run no longer has."""
    text = graph.steps[0].config.get(LEFT) if graph.steps else None
    return None if text is None else base64.b64decode(text)


def _lines(graph: Graph) -> list[str]:
    return [f"{step.name}" + (f" after {step.delay:g} s" if step.delay else "") for step in graph.steps]
