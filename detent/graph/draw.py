"""Draw a graph: as Mermaid for documents, as lines of text for a terminal."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from detent.graph.check import in_order
from detent.graph.model import (
    FAILURES,
    GRAPH_SCOPE,
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    Edge,
    Graph,
    Join,
    Route,
    Step,
    StepKind,
)

_SHAPES: Final = {
    StepKind.SLEEP: ("([", "])"),
    StepKind.WAIT: ("{{", "}}"),
    StepKind.CONDITION: ("{", "}"),
    StepKind.SUBWORKFLOW: ("[[", "]]"),
}
_WIDEST: Final = 60
_OTHERS: Final = {Join.ALL: "after {} too", Join.ANY: "or after {}"}


def mermaid(graph: Graph, title: str | None = None) -> str:
    """Return a Mermaid flowchart with the steps in the order of the definition. A step is named by its title."""
    ids = {step.name: f"s{number}" for number, step in enumerate(graph.steps)}
    lines = [*(["---", f"title: {json.dumps(title, ensure_ascii=False)}", "---"] if title else []), "flowchart TD"]
    for step in graph.steps:
        opening, closing = _SHAPES.get(step.kind, ("[", "]"))
        lines.append(f'    {ids[step.name]}{opening}"{_escaped(step.title or step.name)}"{closing}')
    conditions = {step.name: step.guard for step in graph.steps}
    for edge in graph.edges:
        words = [_on(edge, graph), *(text for text in (edge.condition, conditions.get(edge.target)) if text)]
        label = _escaped(_shortened(" ".join(filter(None, words))))
        arrow = f'-->|"{label}"|' if label else "-->"
        lines.append(f"    {ids[edge.source]} {arrow} {ids[edge.target]}")
    return "\n".join(lines) + "\n"


def text(graph: Graph, title: str | None = None) -> str:
    """Return a tree for a terminal, below its title. A step is below the last step it waits for, and names the others.

    The only step that follows another is directly below it without indentation, so a long chain stays narrow.
    """
    follows = _tree(graph)
    steps = {step.name: step for step in graph.steps}
    needs = defaultdict(list)
    for edge in graph.edges:
        needs[edge.target].append(edge)
    drawn = _drawn(follows)
    width = min(_WIDEST, max((len(drawing) for _, _, drawing in drawn), default=0))
    lines = (
        f"{drawing:<{width}}  {describe(steps[name])}{_also(graph, needs[name], parent, steps[name].join)}".rstrip()
        for name, parent, drawing in drawn
    )
    return "".join(line + "\n" for line in (*([title] if title else []), *lines))


def outline(graph: Graph) -> list[tuple[str, str]]:
    """Return (name, lines that lead to it) of each step from top to bottom, as `text` draws them."""
    return [(name, drawing.removesuffix(f"● {name}")) for name, _, drawing in _drawn(_tree(graph))]


def describe(step: Step) -> str:
    """Describe what a step does in a few words."""
    is_first_match = step.route is Route.FIRST_MATCH
    words = [f"{step.title}:" if step.title else "", step.kind.value]
    words.append(_DETAILS.get(step.kind, _nothing)(step.config) + (", first match" if is_first_match else ""))
    if step.guard is not None:
        words.append(f"if {step.guard}")
    return _shortened(" ".join(filter(None, words)), most=120)


def _tree(graph: Graph) -> dict[str | None, list[str]]:
    """Return the followers of each step. A step follows the one it waits for that is last in order.

    The first steps follow None.
    """
    rank = {name: number for number, name in enumerate(in_order(graph))}
    parent: dict[str, str] = {}
    for edge in graph.edges:
        if rank[edge.source] >= rank.get(parent.get(edge.target, ""), -1):
            parent[edge.target] = edge.source
    follows: dict[str | None, list[str]] = defaultdict(list)
    for step in graph.steps:
        follows[parent.get(step.name)].append(step.name)
    return follows


def _drawn(follows: Mapping[str | None, list[str]]) -> list[tuple[str, str | None, str]]:
    """Return name, parent and line of each step, from top to bottom."""
    lines = []
    pending: list[tuple[str, str | None, str, str]] = [(name, None, "", "") for name in reversed(follows.get(None, []))]
    while pending:
        name, parent, lead, margin = pending.pop()
        lines.append((name, parent, f"{lead}● {name}"))
        below = follows.get(name, [])
        if len(below) == 1:
            pending.append((below[0], name, margin, margin))
            continue
        for follower in reversed(below):
            branch, rail = ("└─", "  ") if follower == below[-1] else ("├─", "│ ")
            pending.append((follower, name, margin + branch, margin + rail))
    return lines


def _also(graph: Graph, edges: list[Edge], parent: str | None, join: Join) -> str:
    """Describe how a step is reached, if the drawing does not show it."""
    others = [edge.source for edge in edges if edge.source != parent]
    endings = {_on(edge, graph) for edge in edges}
    endings = {words or "on success" for words in endings} if len(endings) > 1 else endings - {""}
    conditions = [f"when {edge.condition}" for edge in edges if edge.condition]
    words = [*sorted(endings), *conditions, *([_OTHERS[join].format(", ".join(others))] if others else [])]
    return f"  ({_shortened('; '.join(words), most=120)})" if words else ""


def _on(edge: Edge, graph: Graph) -> str:
    """Describe the endings that satisfy an edge. In the steps form, a step with `if` follows all of them."""
    any_ending = "also if skipped" if graph.scope == GRAPH_SCOPE else ""
    known = {ON_SUCCESS: "", ON_ANY: any_ending, ON_RAN: "always", FAILURES: "on failure"}
    words = known[edge.on] if edge.on in known else "on " + ", ".join(sorted(edge.on))
    return f"{words} that is not handled otherwise" if edge.otherwise else words


def _nothing(_: Mapping[str, Any]) -> str:
    return ""


def _child(config: Mapping[str, Any]) -> str:
    words = [str(config.get("workflow", ""))]
    if config.get("version") is not None:
        words.append(f"version {config['version']}")
    if config.get("detached"):
        words.append("without waiting for it")
    return " ".join(words)


_DETAILS: Final[dict[StepKind, Callable[[Mapping[str, Any]], str]]] = {
    StepKind.HTTP: lambda config: f"{config.get('method', '')} {config.get('url', '')}",
    StepKind.ACTION: lambda config: str(config.get("action", "")),
    StepKind.SLEEP: lambda config: _seconds(config.get("seconds")),
    StepKind.WAIT: lambda config: f"at most {_seconds(config['timeout'])}" if config.get("timeout") else "",
    StepKind.CONDITION: lambda config: str(config.get("expression", "")),
    StepKind.SUBWORKFLOW: _child,
}


def _seconds(value: object) -> str:
    """Format 90000 as `1d 1h`. Return a template unchanged."""
    if not isinstance(value, int | float):
        return str(value)
    parts = []
    rest = value
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count:g}{unit}")
    if rest or not parts:
        parts.append(f"{rest:g}s")
    return " ".join(parts)


def _shortened(words: str, most: int = 60) -> str:
    line = " ".join(words.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _escaped(label: str) -> str:
    """Escape a label: Mermaid reads `#` and `;` as an entity, and quotes as the end of the label."""
    named = {"\n": " ", '"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "`": "#96;"}
    return "".join(named.get(letter, letter) for letter in label)


_AFTER_SCHEME: Final = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]*)")


def label_of(step: Step) -> str:
    """Return in a few words what a step does, for a small box: `POST payments.example`, `sleep 3d`."""
    config = step.config
    match step.kind:
        case StepKind.HTTP:
            host = _AFTER_SCHEME.match(str(config.get("url", "")))
            words = f"{config.get('method') or 'POST'} {host[1] if host else config.get('url', '')}"
        case StepKind.SLEEP:
            words = f"sleep {_seconds(config.get('seconds'))}"
        case StepKind.WAIT:
            words = f"wait {_seconds(config['timeout'])}" if config.get("timeout") else "wait"
        case StepKind.PYTHON | StepKind.FUNCTION:
            words = str(config.get("workflow", ""))
        case _:
            words = _DETAILS[step.kind](config)
    return _shortened(words)
