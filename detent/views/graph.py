"""Build the graph of a version or of a run, in one shape for every form."""

from __future__ import annotations

import json
from collections import Counter
from heapq import heappop, heappush
from typing import Any, Final

from detent.documents.outline import GraphDocument, GraphEdge, GraphStep
from detent.graph.draw import label_of
from detent.graph.model import FAILURES, ON_ANY, ON_RAN, ON_SUCCESS, Edge, Ending, Graph
from detent.planner.functions import function_of
from detent.planner.judge import CONDITION_ERROR
from detent.planner.prepared import PreparedEdge, PreparedStep
from detent.run.call import name_of, op_of
from detent.run.state import Phase
from detent.views.outline import MOST_OPERATIONS
from detent.views.runs import operation_kind
from detent.views.walk import Walk

_WHEN: Final[dict[frozenset[Ending], str]] = {
    ON_SUCCESS: "success",
    FAILURES: "failure",
    ON_RAN: "always",
    ON_ANY: "any",
}
_LONGEST_LIST: Final = 200
#: An operation has at most this many edges from those that ended before it began.
_MOST_BEFORE: Final = 8


def graph_document(workflow: str, version: int | str, form: str, graph: Graph) -> GraphDocument:
    """Build the graph of a version."""
    needs = Counter(edge.target for edge in graph.edges)
    steps = [
        GraphStep(
            name=step.name,
            title=step.title,
            kind=str(step.kind),
            label=label_of(step),
            guard=step.guard,
            join=str(step.join),
            needs=needs[step.name],
            for_each=None if step.each is None else _list(step.each.items),
        )
        for step in graph.steps
    ]
    return GraphDocument(
        workflow=workflow, version=version, form=form, steps=steps, edges=[_edge(edge) for edge in graph.edges]
    )


def run_graph_document(workflow: str, version: int, form: str, walk: Walk) -> GraphDocument:
    """Build the graph of a run: that of its version, and whether each edge was taken. The graph of a durable function
    has its operations so far."""
    document = graph_document(workflow, version, form, walk.prepared.graph)
    for step in walk.prepared.steps:
        for edge in step.outgoing:
            _decide(document.edges[edge.index], walk, step, edge)
    function = function_of(walk.prepared)
    if function is not None:
        _add_operations(document, walk, walk.prepared.steps[function].name)
    return document


def _list(items: Any) -> str:
    text = items if isinstance(items, str) else json.dumps(items, ensure_ascii=False)
    return text if len(text) <= _LONGEST_LIST else text[: _LONGEST_LIST - 1] + "…"


def _edge(edge: Edge) -> GraphEdge:
    return GraphEdge(
        source=edge.source,
        target=edge.target,
        when=_WHEN.get(edge.on) or ",".join(sorted(edge.on)),
        condition=edge.condition,
        otherwise=edge.otherwise,
    )


def _decide(document: GraphEdge, walk: Walk, step: PreparedStep, edge: PreparedEdge) -> None:
    """Say whether an edge was taken, and what its condition was."""
    state, ending = walk.state, walk.state.ending[step.index]
    if state.phase[step.index] is not Phase.ENDED:
        document.state = "open"
        return
    is_satisfied = ending in edge.on and step.index not in walk.closed
    is_taken = is_satisfied and edge.index not in state.not_taken
    document.state = "taken" if is_taken else "dead"
    document.value = walk.answers.get(edge.index)
    document.note = walk.notes.get(edge.index)
    error = state.errors.get(edge.target) or state.edge_errors.get(edge.target)
    is_unknown = is_satisfied and not is_taken and edge.condition is not None and document.value is None
    if is_unknown and not step.first_match and error is not None and error.code == CONDITION_ERROR:
        document.note = error.message


# Operations of a durable function: an operation follows those that ended before it began.


def _add_operations(document: GraphDocument, walk: Walk, function: str) -> None:
    state = walk.state
    keys = [*state.history, *(key for key in state.operations if key not in state.history)][-MOST_OPERATIONS:]
    spans = {key: _span(walk, key) for key in keys}
    open_ones: list[tuple[int, int, str]] = []  # by their end: those that began, and have not ended before the next
    done: list[tuple[int, str]] = []
    latest = 0  # the latest begin of those that are done: what ended before it is followed by that one already
    for key in sorted(keys, key=lambda key: spans[key][0]):
        begin, end = spans[key]
        while open_ones and open_ones[0][0] <= begin:
            before = heappop(open_ones)
            latest = max(latest, before[1])
            done.append((before[0], before[2]))
        near = [other for ended, other in done[-_MOST_BEFORE:] if ended >= latest] or [function]
        document.steps.append(_operation_step(key, len(near)))
        document.edges += [
            GraphEdge(source=other, target=key, when="then", condition=None, otherwise=False, state="taken")
            for other in near
        ]
        if end is not None:
            heappush(open_ones, (end, begin, key))


def _operation_step(key: str, needs: int) -> GraphStep:
    kind = operation_kind(op_of(key))
    label = name_of(key) or kind
    return GraphStep(name=key, title=None, kind=kind, label=label, guard=None, join="all", needs=needs, for_each=None)


def _span(walk: Walk, key: str) -> tuple[int, int | None]:
    """Return when an operation began and ended."""
    tries, ended = walk.tries.get(key), walk.state.history.get(key)
    end = None if ended is None else ended.at
    begin = walk.begun.get(key)
    if tries:
        begin = tries[0].started_at if begin is None else min(begin, tries[0].started_at)
    return (end or 0) if begin is None else begin, end
