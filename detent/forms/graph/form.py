"""The graph form: nodes, each with its outgoing edges.

    {"id": "onboard", "displayName": "Onboard", "startNode": "get", "nodes": [
      {"id": "get", "actionType": "crm.get", "onFailure": "sorry",
       "edges": [{"targetNode": "welcome", "condition": "context.data['get'].status === 'new'"}]},
      {"id": "welcome", "actionType": "mail.send"},
      {"id": "sorry", "actionType": "mail.send"}]}

A node with several incoming edges runs when all of them are decided and at least one is taken (`join: any`). A failure
that takes no edge ends the run (`onUnhandled: fail`): attempts in flight end, and nothing new begins.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from detent.forms.aliases import read_scope, scope_check
from detent.forms.compiled import USUAL_CONTEXT, Compiled, Limits
from detent.forms.definition import checked_document
from detent.forms.entity_trigger import read_start
from detent.forms.graph.node import WrittenEdge, WrittenNode, read_node
from detent.forms.kinds import user_actions
from detent.forms.names import read_priority, read_queue
from detent.forms.templates import needed_language, template_reads
from detent.forms.text_tests import read_text_tests
from detent.forms.triggers import TRIGGER_FIELDS
from detent.forms.workflow_fields import (
    MOST_PARALLEL,
    POLICIES,
    OnUnhandled,
    placed,
    read_description,
    read_labels,
    read_limit,
    read_trigger_schema,
    read_vars,
)
from detent.forms.written_work import check_answers, too_long
from detent.graph.check import cycles, describe_cycle, reachable, same_name, upstream
from detent.graph.model import (
    GRAPH_SCOPE,
    ContextSnapshot,
    Edge,
    Graph,
    Overflow,
    SnapshotMode,
)
from detent.values.fields import Fields, Problems, described, inside, shown

FORM: Final = "graph"
_LIMITS: Final = Limits()
FIELDS: Final = (
    *("id", "displayName", "description", "form", "startNode", "startNodes", "nodes", "triggerSchema", "enabled"),
    *("vars", "output", "labels", "queue", "priority", "maxDuration", "maxParallel", "onUnhandled", "contextSnapshot"),
    *("onePerHero", "scope"),
    *TRIGGER_FIELDS,
    "tests",
)
_ID: Final = re.compile(r"[a-z0-9-]+")
_LONGEST_ID: Final = 200
MAX_DURATION: Final = 3600.0
SNAPSHOT_FIELDS: Final = ("mode", "keys", "maxBytes", "overflow")
LARGEST_CONTEXT: Final = 1024 * 1024 * 1024


def compile_graph(
    document: Mapping[str, Any], *, limits: Limits = _LIMITS, actions: Collection[str] | None = None
) -> Compiled:
    """Compile a document of the graph form. Raise InvalidDefinition with all its problems.

    `actions` are the names that may be called; `None` does not check them."""
    problems = Problems()
    fields = Fields(checked_document(document), "", problems)
    fields.refuse_unknown(FIELDS)
    if fields.get("form") not in (None, FORM):
        fields.wrong("form", f"{FORM!r}")
    nodes = _read_nodes(fields, limits, actions)
    is_whole = bool(nodes) and _has_few_edges(nodes, problems, limits)
    place = read_queue(fields), read_priority(fields)
    scope = read_scope(fields, GRAPH_SCOPE)
    trigger, rule = read_start(fields)
    # Only runs that read `context.data` have the usual limit of what they read.
    usual = limits.context if scope == GRAPH_SCOPE else USUAL_CONTEXT
    graph = Graph(
        steps=placed([node.step() for node in nodes], *place),
        edges=tuple(_edges(nodes, problems)) if is_whole else (),
        on_failure=POLICIES[fields.choice("onUnhandled", OnUnhandled, OnUnhandled.FAIL)],
        scope=scope,
        output=fields.get("output"),
        max_duration=read_limit(fields, "maxDuration", MAX_DURATION),
        one_per_hero=fields.boolean("onePerHero", rule is not None and rule.is_ordered),
        parallel=fields.integer("maxParallel", least=1, most=MOST_PARALLEL),
        vars=read_vars(fields),
        context=_context(fields, [node.name for node in nodes], usual),
    )
    if is_whole:
        _check_shape(graph, nodes, fields)
        _check_reads(graph, nodes, fields)
    graph = replace(graph, language=needed_language(graph))
    schema, remarks = read_trigger_schema(fields, "triggerSchema", trigger)
    check_answers(trigger, ((node.path, node) for node in nodes), problems, "a node with actionType core.respond")
    lasting = too_long(graph.max_duration, ((node.path, node) for node in nodes), "maxDuration")
    compiled = Compiled(
        name=_read_id(fields),
        form=FORM,
        graph=graph,
        trigger=trigger,
        title=fields.text("displayName", most=_LONGEST_ID),
        description=read_description(fields),
        enabled=fields.boolean("enabled", True),
        code=user_actions(graph.steps),
        labels=read_labels(fields),
        queue=place[0],
        priority=place[1],
        trigger_schema=schema,
        step_descriptions={node.name: node.description for node in nodes if node.description is not None},
        warnings=(*(warning for node in nodes for warning in node.warnings), *lasting, *remarks),
        rule=rule,
        tests=read_text_tests(fields.get("tests"), "tests", problems, graph),
        retried=frozenset(node.name for node in nodes if node.is_retried),
        limited=frozenset(node.name for node in nodes if node.is_limited),
    )
    problems.raise_if_any()
    return compiled


def id_problem(name: str) -> str | None:
    """Return why a name cannot be the id of a workflow of this form, or `None`."""
    if _ID.fullmatch(name):
        return None
    return f"{shown(name)} cannot be the id of a workflow: small letters, digits and - only"


def _read_id(fields: Fields) -> str:
    if fields.get("id") is None:
        fields.problems.add("id", "is missing")
    name = fields.text("id", most=_LONGEST_ID) or ""
    if name and (problem := id_problem(name)):
        fields.problems.add("id", f"{problem}; put other text in displayName")
    if fields.get("displayName") is None:
        fields.problems.add("displayName", "is missing: it is the name that people read")
    return name


def _context(fields: Fields, names: Collection[str], usual: ContextSnapshot) -> ContextSnapshot | None:
    """Read how large the results may be that later nodes read, and what users see of them.

    What is not written is as the operator has it (`usual`), and part of the version: a later change of the settings
    must not alter a run."""
    written = fields.mapping("contextSnapshot")
    if written is None:
        return None if usual == USUAL_CONTEXT else usual
    inner = Fields(written, fields.at("contextSnapshot"), fields.problems)
    inner.refuse_unknown(SNAPSHOT_FIELDS)
    mode = inner.choice("mode", SnapshotMode, usual.mode)
    keys = inner.get("keys")
    if keys is None:
        keys = []
        if mode is SnapshotMode.KEYS:
            fields.problems.add(inner.at("keys"), "is missing: name the nodes whose outputs are shown")
    elif not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        inner.wrong("keys", "a list of ids of nodes")
        keys = []
    for key in keys:
        if key not in names:
            fields.problems.add(inner.at("keys"), f"no node {shown(key)}{fields.problems.did_you_mean(key, names)}")
    most = inner.integer("maxBytes", least=1, most=LARGEST_CONTEXT)
    overflow = inner.choice("overflow", Overflow, usual.overflow)
    return ContextSnapshot(mode, tuple(keys), usual.max_bytes if most is None else most, overflow)


def _read_nodes(fields: Fields, limits: Limits, actions: Collection[str] | None) -> list[WrittenNode]:
    """Read every node, in written order; of two with the same id the first."""
    nodes = fields.get("nodes")
    if not isinstance(nodes, list | None):
        fields.wrong("nodes", "a list of nodes")
        return []
    if not nodes:
        fields.problems.add("nodes", "there are no nodes")
        return []
    if len(nodes) > limits.steps:
        fields.problems.add("nodes", f"has {len(nodes)} nodes; at most {limits.steps} are allowed")
        return []
    found: dict[str, WrittenNode] = {}
    for number, raw in enumerate(nodes):
        name = raw.get("id") if isinstance(raw, dict) else None
        if not isinstance(name, str):
            wanted = "a mapping with an id" if name is None else f"named by a text, not {described(name)}"
            fields.problems.add(f"nodes[{number}]", f"a node must be {wanted}")
            continue
        node = read_node(name, raw, inside("nodes", name), fields.problems, actions)
        first = found.setdefault(name.casefold(), node)
        if first is not node:
            fields.problems.add(node.path, same_name(name, first.name, f"nodes with the id {name!r}"))
    return list(found.values())


def _has_few_edges(nodes: list[WrittenNode], problems: Problems, limits: Limits) -> bool:
    count = sum(len(node.edges) for node in nodes)
    if count > limits.edges:
        problems.add("nodes", f"there are {count} edges in all; at most {limits.edges} are allowed")
    return count <= limits.edges


def _edges(nodes: list[WrittenNode], problems: Problems) -> Iterator[Edge]:
    """Yield the edges of all nodes, `onFailure` included. One that leads nowhere becomes a problem."""
    names = {node.name: None for node in nodes}
    for node in nodes:
        seen: dict[tuple[object, ...], str] = {}
        for number, edge in enumerate(node.edges):
            first = seen.setdefault((edge.target, edge.on, edge.condition, edge.otherwise), edge.path)
            if message := _edge_problem(node, edge, first, names, problems):
                problems.add(edge.path, message)
            else:
                yield Edge(
                    node.name,
                    edge.target,
                    edge.on,
                    edge.condition,
                    order=number,
                    false_on_error=edge.false_on_error,
                    otherwise=edge.otherwise,
                    handles=edge.handles,
                )


def _edge_problem(
    node: WrittenNode, edge: WrittenEdge, first: str, names: Collection[str], problems: Problems
) -> str | None:
    if edge.target == node.name:
        return "a node cannot lead to itself"
    if edge.target not in names:
        return f"no node {shown(edge.target)}{problems.did_you_mean(edge.target, names)}"
    if first != edge.path:
        return f"a second edge to {edge.target!r} like {first}; remove one of them"
    return None


def _check_shape(graph: Graph, nodes: list[WrittenNode], fields: Fields) -> None:
    """Report cycles, and nodes that cannot be reached from the start."""
    problems = fields.problems
    paths = {node.name: node.path for node in nodes}
    looped = cycles(graph)
    for cycle in looped:
        problems.add(inside(paths[cycle[0]], "edges"), describe_cycle(cycle))
    starts = _starts(fields, paths)
    if not starts:
        return
    reached = reachable(graph, starts)
    in_cycle = {name for cycle in looped for name in cycle}
    entered = {edge.target for edge in graph.edges}
    many = f"the start nodes {', '.join(map(repr, starts))}" if len(starts) > 1 else f"startNode {starts[0]!r}"
    for node in nodes:
        if node.name not in reached:
            hint = "" if node.name in entered else "; add an edge to it, or remove it"
            problems.add(node.path, f"unreachable: no path of edges leads from {many} to it{hint}")
    for name in starts:
        sources = [edge.source for edge in graph.edges if edge.target == name]
        if sources and name not in in_cycle and reached.issuperset(sources):
            problems.add("startNodes", f"{name!r} follows another start node, so it is not a start; remove it here")


def _starts(fields: Fields, names: Collection[str]) -> list[str]:
    """Return the start nodes that exist."""
    several = fields.get("startNodes")
    if several is None:
        start = fields.text("startNode", most=_LONGEST_ID)
        if fields.get("startNode") is None:
            fields.problems.add("startNode", "is missing: name the node that runs first")
        written = [] if start is None else [("startNode", start)]
    elif fields.get("startNode") is not None:
        fields.problems.add("startNodes", "write either startNode or startNodes")
        return []
    elif not isinstance(several, list) or not all(isinstance(one, str) for one in several) or not several:
        fields.wrong("startNodes", "a list of ids of nodes")
        return []
    else:
        written = [(f"startNodes[{number}]", one) for number, one in enumerate(several)]
    found: list[str] = []
    for path, name in written:
        if name not in names:
            fields.problems.add(path, f"no node {shown(name)}{fields.problems.did_you_mean(name, names)}")
        elif name in found:
            fields.problems.add(path, f"{name!r} is given twice")
        else:
            found.append(name)
    return found


def _check_reads(graph: Graph, nodes: list[WrittenNode], fields: Fields) -> None:
    """Report reads of templates and conditions that cannot be answered."""
    problems = fields.problems
    before = upstream(graph, [node.name for node in nodes])
    kinds = {node.name: node.kind for node in nodes}
    sensitive = [node.name for node in nodes if node.sensitive]
    scope = scope_check(graph.scope, kinds, before, graph.vars, problems, sensitive)
    for node in nodes:
        scope.check_step(node.name, node)
        for edge in node.edges:
            for read in edge.reads:
                scope.check_edge(read, node.name)
    for read in template_reads(graph.output, "output", problems):
        scope.check_output(read)
