"""One node of the graph form: an action, a child workflow or a condition, with its policies and its outgoing edges."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from detent.forms.kinds import (
    TRIED_KINDS,
    ChildFields,
    MapFields,
    RepeatFields,
    action_name_problem,
    read_action,
    read_child,
    read_expression,
    read_map,
    read_on_crash,
    read_repeat,
)
from detent.forms.names import check_step_name, read_priority, read_queue
from detent.forms.templates import Read, condition
from detent.forms.workflow_fields import NONE, read_description
from detent.forms.written_work import WrittenWork
from detent.graph.model import (
    FAILURES,
    NO_RETRY,
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    Ending,
    Join,
    OnCrash,
    Retry,
    Route,
    Step,
    StepKind,
)
from detent.values.durations import MILLISECONDS, SECONDS
from detent.values.fields import Fields, Problems, described, shown

MAP_FIELDS: Final = MapFields("forEach", "maxParallel", "collect", "onItemFailure", "tolerate", "maxItems")
REPEAT_FIELDS: Final = RepeatFields("until", "every", "factor", "maxWait", "giveUpAfter")
_CHILD_FIELDS: Final = ChildFields("workflowId", "parameters", "workflowVersion", "waitForCompletion", "allowRecursion")
_TYPES: Final = {
    "action": ("actionType", "parameters", "policies", "credential"),
    "subworkflow": (
        *("workflowId", "workflowVersion", "waitForCompletion", "allowRecursion"),
        *("parameters", "policies"),
    ),
    "condition": ("expression",),
}
_SHARED: Final = (
    *("id", "displayName", "description", "nodeType", "edges", "onFailure", "routePolicy", "join", "if"),
    *("queue", "priority", "delay"),
    "repeat",
    *MAP_FIELDS.all(),
)
NODE_FIELDS: Final = (*_SHARED, *dict.fromkeys(name for names in _TYPES.values() for name in names))
EDGE_FIELDS: Final = ("targetNode", "when", "condition", "onError", "otherwise", "handles")
POLICY_FIELDS: Final = ("timeoutMs", "retry", "rerenderOnRetry", "onCrash", "sensitive")
RETRY_FIELDS: Final = ("maxAttempts", "baseDelayMs", "backoffFactor", "jitter", "maxDelayMs")
MOST_ATTEMPTS: Final = 101
LARGEST_FACTOR: Final = 100.0
_LONGEST_NAME: Final = 200
SHORTEST_LIMIT: Final = 0.001
LONGEST_WAIT: Final = 10 * 365 * 86_400 * 1000.0
TIMEOUT: Final = 300.0
RETRY: Final = Retry(attempts=3)
_EXAMPLE: Final = "context.data['NODE'].total > 100"


class NodeType(StrEnum):
    ACTION = "action"
    SUBWORKFLOW = "subworkflow"
    CONDITION = "condition"


class RoutePolicy(StrEnum):
    PARALLEL = "parallel"
    FIRST_MATCH = "firstMatch"


class When(StrEnum):
    """The endings of a node that satisfy an edge. `always`: it ran. `any`: also if it was skipped."""

    SUCCESS = "success"
    FAILURE = "failure"
    ALWAYS = "always"
    ANY = "any"


class OnError(StrEnum):
    """What a condition means that cannot be evaluated: its target fails, or the edge is not taken."""

    FAIL = "fail"
    FALSE = "false"


ON: Final[dict[When, frozenset[Ending]]] = {
    When.SUCCESS: ON_SUCCESS,
    When.FAILURE: FAILURES,
    When.ALWAYS: ON_RAN,
    When.ANY: ON_ANY,
}


@dataclass(slots=True)
class WrittenEdge:
    """An outgoing edge as far as it could be read. `path` is the field of its target."""

    target: str
    path: str
    on: frozenset[Ending] = ON_SUCCESS
    condition: str | None = None
    reads: list[Read] = field(default_factory=list)
    false_on_error: bool = False
    otherwise: bool = False
    handles: bool = True


@dataclass(slots=True)
class WrittenNode(WrittenWork):
    """A node as far as it could be read."""

    name: str
    path: str
    guard: str | None = None
    edges: list[WrittenEdge] = field(default_factory=list)
    join: Join = Join.ANY
    route: Route = Route.PARALLEL
    title: str | None = None
    delay: float | None = None
    description: str | None = None

    def step(self) -> Step:
        """Build the step of the graph."""
        return self.build_step(
            self.name, guard=self.guard, join=self.join, delay=self.delay, route=self.route, title=self.title
        )


def read_node(
    name: str, raw: dict[str, Any], path: str, problems: Problems, actions: Collection[str] | None
) -> WrittenNode:
    """Read one node. Everything that is wrong with it becomes a problem."""
    node = WrittenNode(name, path)
    check_step_name(name, path, problems)
    fields = Fields(raw, path, problems)
    fields.refuse_unknown(NODE_FIELDS)
    node.title = fields.text("displayName", most=_LONGEST_NAME)
    node.description = read_description(fields)
    node.guard, node.planned_reads = condition(fields, "if", _EXAMPLE)
    node.join = fields.choice("join", Join, Join.ANY)
    first_match = fields.choice("routePolicy", RoutePolicy, RoutePolicy.PARALLEL) is RoutePolicy.FIRST_MATCH
    node.route = Route.FIRST_MATCH if first_match else Route.PARALLEL
    node.queue, node.priority = read_queue(fields), read_priority(fields)
    node.delay = fields.duration("delay", unit=SECONDS)
    _read_type(fields, node, actions)
    node.map = read_map(fields, MAP_FIELDS, node.kind)
    node.repeat, node.repeat_reads = read_repeat(fields, "repeat", REPEAT_FIELDS, node.kind)
    node.edges = [*_edges(fields), *_on_failure(fields)]
    return node


def _read_type(fields: Fields, node: WrittenNode, actions: Collection[str] | None) -> None:
    type_ = fields.choice("nodeType", NodeType, _type_without_a_word(fields))
    for name in fields.written(NODE_FIELDS):
        if name not in _SHARED and name not in _TYPES[type_]:
            fields.problems.add(fields.at(name), f"{name!r} has no meaning for a node of type {type_.value!r}")
    match type_:
        case NodeType.CONDITION:
            _read_condition(fields, node)
        case NodeType.SUBWORKFLOW:
            node.set_work(read_child(fields, _CHILD_FIELDS, "node"))
            _read_policies(fields, node, NO_RETRY, None)
            if node.on_crash is not OnCrash.RETRY:
                node.on_crash = OnCrash.RETRY
                place = f"{fields.at('policies')}.onCrash"
                fields.problems.add(place, "has no meaning for a child workflow: its start is never repeated")
        case _:
            _read_action(fields, node, actions)


def _type_without_a_word(fields: Fields) -> NodeType:
    """Return the type of a node that does not name it: a child if it names a workflow, otherwise an action."""
    is_child = fields.get("workflowId") is not None and fields.get("actionType") is None
    return NodeType.SUBWORKFLOW if is_child else NodeType.ACTION


def _read_condition(fields: Fields, node: WrittenNode) -> None:
    if fields.get("expression") is None:
        fields.problems.add(fields.at("expression"), "is missing: a condition needs an expression")
    node.set_work(read_expression(fields, "expression", _EXAMPLE))


def _read_action(fields: Fields, node: WrittenNode, actions: Collection[str] | None) -> None:
    node.kind = StepKind.ACTION
    action = fields.text("actionType", most=128)
    if action is None:
        if fields.get("actionType") is None:
            fields.problems.add(fields.at("actionType"), "is missing: name the action of this node")
        return
    if problem := action_name_problem(action, actions, fields.problems):
        fields.problems.add(fields.at("actionType"), problem)
    given = Fields(fields.mapping("parameters") or {}, fields.at("parameters"), fields.problems)
    node.set_work(read_action(action, given))
    if node.kind in TRIED_KINDS:
        node.read_credential(fields)
        _read_policies(fields, node, RETRY, TIMEOUT)
    elif fields.get("policies") is not None:
        hint = "; give the wait a timeout in its parameters" if node.kind is StepKind.WAIT else ""
        fields.problems.add(fields.at("policies"), f"{action!r} has no attempts, so it has no policies{hint}")
    if node.kind not in TRIED_KINDS and fields.get("credential") is not None:
        fields.problems.add(fields.at("credential"), f"has no meaning for {action!r}, which sends no request")


def _read_policies(fields: Fields, node: WrittenNode, retry: Retry, timeout: float | None) -> None:
    policies = Fields(fields.mapping("policies") or {}, fields.at("policies"), fields.problems)
    policies.refuse_unknown(POLICY_FIELDS)
    node.is_limited = policies.get("timeoutMs") is not None
    if policies.get("timeoutMs") != NONE:
        limit = policies.number("timeoutMs", least=SHORTEST_LIMIT, most=LONGEST_WAIT)
        node.timeout = timeout if limit is None else limit * MILLISECONDS
    node.rerender = policies.boolean("rerenderOnRetry", False)
    node.read_sensitive(policies, is_map=fields.get(MAP_FIELDS.for_each) is not None)
    node.on_crash = read_on_crash(policies, "onCrash", node.kind, repeat=fields.get("repeat") is not None)
    written = policies.mapping("retry")
    node.is_retried = written is not None
    node.retry = retry if written is None else _retry(Fields(written, policies.at("retry"), fields.problems))


def _retry(fields: Fields) -> Retry:
    """Read a retry policy. `maxAttempts` counts all attempts; 0 is one attempt too."""
    fields.refuse_unknown(RETRY_FIELDS)
    attempts = fields.integer("maxAttempts", least=0, most=MOST_ATTEMPTS)
    delay = fields.number("baseDelayMs", least=0, most=LONGEST_WAIT)
    factor = fields.number("backoffFactor", least=1.0, most=LARGEST_FACTOR)
    longest = fields.number("maxDelayMs", least=0, most=LONGEST_WAIT)
    first = RETRY.delay if delay is None else delay * MILLISECONDS
    retry = Retry(
        attempts=RETRY.attempts if attempts is None else max(1, attempts),
        delay=first,
        factor=RETRY.factor if factor is None else factor,
        jitter=fields.boolean("jitter", RETRY.jitter),
        max_delay=max(RETRY.max_delay, first) if longest is None else longest * MILLISECONDS,
    )
    if longest is not None and retry.max_delay < first:
        fields.problems.add(fields.at("maxDelayMs"), f"is shorter than the first delay of {first * 1000:g} ms")
    return retry


def _edges(fields: Fields) -> list[WrittenEdge]:
    value = fields.get("edges")
    if value is None:
        return []
    if not isinstance(value, list):
        fields.wrong("edges", "a list of edges")
        return []
    found = []
    for number, raw in enumerate(value):
        path = f"{fields.at('edges')}[{number}]"
        if isinstance(raw, dict):
            edge = _edge(Fields(raw, path, fields.problems))
            found += [] if edge is None else [edge]
        else:
            fields.problems.add(path, f"an edge must be a mapping with a targetNode, not {described(raw)}")
    return found


def _edge(fields: Fields) -> WrittenEdge | None:
    fields.refuse_unknown(EDGE_FIELDS)
    target = fields.text("targetNode", most=_LONGEST_NAME)
    if fields.get("targetNode") is None:
        fields.problems.add(fields.at("targetNode"), "is missing")
    on = _endings(fields)
    text, reads = condition(fields, "condition", _EXAMPLE)
    if target is None:
        return None
    return WrittenEdge(
        target,
        fields.at("targetNode"),
        on=on,
        condition=text,
        reads=reads,
        false_on_error=_is_false_on_error(fields),
        otherwise=fields.boolean("otherwise", False),
        handles=fields.boolean("handles", fields.get("when") != When.ALWAYS.value),
    )


def _endings(fields: Fields) -> frozenset[Ending]:
    """Read the endings that satisfy an edge: a word, or a list of endings."""
    when = fields.get("when")
    if not isinstance(when, list):
        return ON[fields.choice("when", When, When.SUCCESS)]
    words = [ending.value for ending in Ending]
    for number, word in enumerate(when):
        if not isinstance(word, str) or word not in words:
            given = shown(word) if isinstance(word, str) else described(word)
            hint = fields.problems.did_you_mean(str(word), words)
            fields.problems.add(f"{fields.at('when')}[{number}]", f"{given} is not one of {', '.join(words)}{hint}")
    if not when:
        fields.problems.add(fields.at("when"), f"is empty, so the edge is never taken; name some of {', '.join(words)}")
    return frozenset(Ending(word) for word in when if isinstance(word, str) and word in words) or ON_SUCCESS


def _is_false_on_error(fields: Fields) -> bool:
    if fields.get("onError") is False:  # YAML and JSON write it without quotes
        return True
    return fields.choice("onError", OnError, OnError.FAIL) is OnError.FALSE


def _on_failure(fields: Fields) -> list[WrittenEdge]:
    """Return the edge of `onFailure`: taken by a failure that no other edge handles."""
    target = fields.text("onFailure", most=_LONGEST_NAME)
    return [] if target is None else [WrittenEdge(target, fields.at("onFailure"), on=FAILURES, otherwise=True)]
