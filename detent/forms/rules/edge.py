"""The edges of a rule: where its actions lead. An edge names actions by id, by step, or as `temp:N`, their place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from detent.forms.rules.action import TEMPORARY, WrittenAction
from detent.forms.rules.conditions import literal
from detent.graph.model import ON_RAN, ON_SUCCESS, Edge
from detent.values.fields import Fields, Problems, described, shown
from detent.values.limits import ID_LIMIT

EDGE_FIELDS: Final = ("id", "source_action_id", "target_action_id", "edge_type", "edge_order")
LARGEST_EDGE_ORDER: Final = 1_000_000


class EdgeType(StrEnum):
    """When an edge is taken: at the start, if its source succeeded (as true, as false), or also if it failed."""

    START = "start"
    SEQUENCE = "sequence"
    TRUE_BRANCH = "true_branch"
    FALSE_BRANCH = "false_branch"
    ALWAYS = "always"


_BRANCHES: Final = {EdgeType.TRUE_BRANCH: "true", EdgeType.FALSE_BRANCH: "false"}


@dataclass(frozen=True, slots=True)
class RuleEdge:
    """An edge between actions that exist. A start edge has no source."""

    path: str
    type: EdgeType
    source: WrittenAction | None
    target: WrittenAction
    order: int

    @property
    def is_decided_later(self) -> bool:
        """Return whether only the schema of its source says that the source answers true or false."""
        return self.type in _BRANCHES and self.source is not None and self.source.type is None

    def built(self) -> Edge:
        """Build the edge of the graph. A start edge has none."""
        assert self.source is not None
        source, target = self.source.step, self.target.step
        match self.type:
            case EdgeType.TRUE_BRANCH | EdgeType.FALSE_BRANCH:
                condition = f"steps[{literal(source)}].output == {_BRANCHES[self.type]}"
                return Edge(source, target, ON_SUCCESS, condition, order=self.order)
            case EdgeType.ALWAYS:
                return Edge(source, target, ON_RAN, order=self.order, handles=False)
            case _:
                return Edge(source, target, ON_SUCCESS, order=self.order)


def read_edges(fields: Fields, actions: list[WrittenAction]) -> list[RuleEdge]:
    """Read the edges between actions that exist. Everything that is wrong with one becomes a problem."""
    items = fields.get("edges")
    if items is None:
        items = []
    elif not isinstance(items, list):
        fields.wrong("edges", "a list of edges")
        return []
    written = fields.get("actions")
    known = _Actions(actions, len(written) if isinstance(written, list) else 0, fields.problems)
    found: list[RuleEdge] = []
    seen: dict[tuple[int | None, int, EdgeType], str] = {}
    started: dict[int, str] = {}
    for number, raw in enumerate(items):
        path = f"edges[{number}]"
        if not isinstance(raw, dict):
            fields.problems.add(path, f"an edge must be a mapping with a target_action_id, not {described(raw)}")
            continue
        edge = _read_edge(Fields(raw, path, fields.problems), known)
        if edge is None:
            continue
        key = (None if edge.source is None else edge.source.number, edge.target.number, edge.type)
        if edge.source is None and edge.target.number in started:
            message = (
                f"{edge.target.step!r} has a start edge already, {started[edge.target.number]}; remove one of them"
            )
            fields.problems.add(f"{path}.target_action_id", message)
            continue
        if edge.source is None:
            started[edge.target.number] = path
        elif seen.setdefault(key, path) != path:
            message = (
                f"a second {edge.type.value} edge from {edge.source.step!r} to {edge.target.step!r}, like {seen[key]}"
            )
            fields.problems.add(path, f"{message}; remove one of them")
            continue
        found.append(edge)
    return found


class _Actions:
    """The actions that edges can name."""

    def __init__(self, actions: list[WrittenAction], count: int, problems: Problems) -> None:
        self._by_number = {one.number: one for one in actions}
        self._by_step = {one.step: one for one in actions}
        self._by_id = {one.id: one for one in actions if one.id is not None}
        self._count = count
        self._problems = problems

    def find(self, fields: Fields, name: str) -> WrittenAction | None:
        """Return the action that a field names. Otherwise add a problem, unless that action has one itself."""
        text = fields.text(name, most=ID_LIMIT)
        if text is None:
            return None
        temporary = TEMPORARY.fullmatch(text)
        if temporary is not None:
            return self._numbered(temporary[1], fields, name)
        found = self._by_id.get(text) or self._by_step.get(text)
        if found is None:
            hint = self._problems.did_you_mean(text, (*self._by_step, *self._by_id))
            self._problems.add(fields.at(name), f"no action {shown(text)}{hint}")
        return found

    def _numbered(self, text: str, fields: Fields, name: str) -> WrittenAction | None:
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
        if number is not None and number < self._count:
            return self._by_number.get(number)
        last = f"temp:0 to temp:{self._count - 1}" if self._count else "none, because there are no actions"
        self._problems.add(fields.at(name), f"{shown(f'temp:{text}')} is not the place of an action; there is {last}")
        return None


def _read_edge(fields: Fields, actions: _Actions) -> RuleEdge | None:
    problems = fields.problems
    fields.refuse_unknown(EDGE_FIELDS)
    fields.text("id", most=ID_LIMIT)
    order = fields.integer("edge_order", least=0, most=LARGEST_EDGE_ORDER) or 0
    known = len(problems.found)
    if fields.get("edge_type") is None:
        problems.add(fields.at("edge_type"), f"is missing; write one of {', '.join(EdgeType)}")
    kind = fields.choice("edge_type", EdgeType, EdgeType.SEQUENCE)
    is_known = len(problems.found) == known
    if fields.get("target_action_id") in (None, ""):
        problems.add(fields.at("target_action_id"), "is missing")
        target = None
    else:
        target = actions.find(fields, "target_action_id")
    has_source = fields.get("source_action_id") not in (None, "")
    source = actions.find(fields, "source_action_id") if has_source else None
    if is_known and kind is EdgeType.START and has_source:
        problems.add(fields.at("source_action_id"), "must be null, because a start edge has no source")
        return None
    if is_known and kind is not EdgeType.START and not has_source:
        message = f"is missing: a {kind} edge leads from an action; only a start edge has no source"
        problems.add(fields.at("source_action_id"), message)
    if not is_known or target is None or (kind is not EdgeType.START and source is None):
        return None
    if source is target:
        problems.add(fields.at("target_action_id"), "an action cannot lead to itself")
        return None
    if source is not None and kind in _BRANCHES and not source.may_branch:
        words = f"a {kind} needs a source whose output is true or false, and {source.step!r} is not one"
        problems.add(fields.at("edge_type"), f"{words}; lead from an action of type condition")
    return RuleEdge(fields.path, kind, source, target, order)
