"""Graphs that are written to break something: each compiles or is refused with words, and never takes long."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.forms.definition import read_definition
from detent.graph import codec, draw
from detent.planner import prepare
from tests.forms.graphs import document, edge, node


def compiles(text: str) -> None:
    graph = compile_document(read_definition(text)).graph
    assert codec.decode(codec.encode(graph)) == graph
    prepare(graph)
    assert draw.text(graph)
    assert draw.mermaid(graph)


def with_condition(text: str) -> dict[str, Any]:
    return document(node("a", edge("b", condition=text)), node("b"))


def dense() -> dict[str, Any]:
    """A thousand nodes, and nearly as many edges as are allowed."""
    names = [f"n{number}" for number in range(1000)]
    return document(*(node(name, *names[number + 1 : number + 20]) for number, name in enumerate(names)))


def conditions() -> dict[str, Any]:
    """Twenty thousand edges, each with a condition of its own."""
    middle = [f"n{number}" for number in range(998)]
    asked = [edge("z", condition=f"trigger.x=={number}") for number in range(19)]
    return document(node("a", *middle), *(node(name, *asked) for name in middle), node("z"))


RIGHT: dict[str, Callable[[], dict[str, Any]]] = {
    "dense": dense,
    "conditions": conditions,
    "a long condition": lambda: with_condition("&&".join(["true"] * 680)),
    "names of other languages": lambda: document(
        node("__proto__", "constructor"),
        node("constructor", "__class__", parameters={"x": "{{ context.data['__proto__'] }}"}),
        node("__class__", "data", parameters={"x": "{{ context.data['constructor'].__class__ }}"}),
        node("data", "context"),
        node("context", parameters={"x": "{{ context.data['data'] }}"}),
    ),
    "a name that an arrow hides": lambda: document(
        node("a", parameters={"x": "{{ trigger.list.map(context => context.data) }}"})
    ),
    "every node a start": lambda: document(
        *(node(f"n{number}") for number in range(1000)), startNodes=[f"n{number}" for number in range(1000)]
    ),
    "deep parameters": lambda: document(node("a", parameters=json.loads('{"x":' * 58 + "1" + "}" * 58))),
    "a pattern": lambda: document(node("a"), triggerSchema={"pattern": "(a+)+$" * 100}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_large_or_odd_graph_compiles(name: str) -> None:
    compiles(json.dumps(RIGHT[name]()))


def cycle() -> dict[str, Any]:
    return document(*(node(f"n{number}", f"n{(number + 1) % 1000}") for number in range(1000)))


def complete() -> dict[str, Any]:
    """Every node leads to every other one."""
    names = [f"n{number}" for number in range(100)]
    return document(*(node(name, *(other for other in names if other != name)) for name in names))


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "deep brackets": (lambda: with_condition("(" * 2000 + "1" + ")" * 2000), "nested more than 64 levels deep"),
    "deep negation": (lambda: with_condition("!" * 4000 + "true"), "nested more than 64 levels deep"),
    "deep choices": (lambda: with_condition("true?" * 500 + "1" + ":1" * 500), "nested more than 64 levels deep"),
    "deep arrows": (lambda: with_condition("trigger.x.map(a=>" * 60 + "1" + ")" * 60), "64 levels deep"),
    "a condition without an end": (lambda: with_condition("1+" * 3000 + "1"), "4096"),
    "a node that is computed": (lambda: with_condition("context.data[trigger.x]"), "write context.data['NODE']"),
    "a node that an arrow computes": (lambda: with_condition("trigger.x.map(y => steps[y])"), "name a node"),
    "deep parameters": (
        lambda: document(node("a", parameters=json.loads('{"x":' * 70 + "1" + "}" * 70))),
        "nested deeper than 64 levels",
    ),
    "large parameters": (
        lambda: document(node("a", parameters={f"k{number}": "v" * 50 for number in range(14_000)})),
        "larger than 256 KB",
    ),
    "a cycle": (cycle, "cycle: n0 -> n1"),
    "every cycle": (complete, "cycle: "),
    "starts": (lambda: document(node("a"), startNodes=["a"] * 90_000), "'a' is given twice"),
    "unknown starts": (lambda: document(node("a"), startNodes=[f"q{n}" for n in range(90_000)]), "no node 'q0'"),
    "numbers as edges": (lambda: document(node("a", *range(90_000))), "an edge must be a mapping"),
    "a schema of itself": (lambda: document(node("a"), triggerSchema={"$ref": "#"}), "leads back to itself"),
    "a right-to-left mark": (lambda: document(node("a\u202eb")), "cannot be the name of a step"),
    "half a character": (lambda: '{"id": "\\ud800", "nodes": []}', "surrogate"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_hostile_graph_is_refused_with_words(name: str) -> None:
    make, message = WRONG[name]
    written = make()
    with pytest.raises(InvalidDefinition) as refused:
        compiles(written if isinstance(written, str) else json.dumps(written))
    assert message in str(refused.value.problems[0])
    assert len(refused.value.problems) <= 1001


HEAD = "id: x\ndisplayName: x\nstartNode: a\n"
LAUGHS = "".join(f"{one}: &{one} [{', '.join([f'*{two}'] * 9)}]\n" for one, two in zip("bcdefg", "abcdef", strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}nodes: &n\n  - *n\n", "the alias *n is inside its own anchor"),
        (f"{HEAD}nodes:\n  - &n {{id: a, actionType: core.echo, parameters: {{x: *n}}}}\n", "inside its own anchor"),
        (f"a: &a [x, x, x]\n{LAUGHS}nodes: *g\n", "more than 200000 values, aliases included"),
        (f"{HEAD}nodes:\n  - &n {{id: a, actionType: core.echo}}\n  - *n\n", "there are two nodes with the id 'a'"),
    ],
)
def test_anchors_of_yaml_cannot_make_a_graph_endless(text: str, message: str) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        compiles(text)
    assert message in str(refused.value.problems[0])


def test_two_nodes_may_share_their_parameters_by_an_anchor() -> None:
    compiles(
        f"{HEAD}nodes:\n"
        "  - {id: a, actionType: core.echo, parameters: &p {x: '{{ trigger.y }}'}, edges: [{targetNode: b}]}\n"
        "  - {id: b, actionType: core.echo, parameters: *p}\n"
    )
