"""Compiling a definition does each piece of work once, however large it is."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import pytest

from detent import expressions
from detent.forms.compile import compile_document
from tests.forms.graphs import document, edge, node

template = import_module("detent.expressions.template")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each text is parsed, in a process whose caches are full of other texts."""
    found: Counter[str] = Counter()
    for module, cache in ((expressions, "_compiled"), (template, "_compiled_text")):
        parse: Any = vars(module)["parse"]

        def count(source: str, *given: Any, parse: Any = parse) -> Any:
            found[source] += 1
            return parse(source, *given)

        monkeypatch.setattr(module, "parse", count)
        monkeypatch.setattr(module, cache, vars(module)[cache].__wrapped__)
    return found


def test_each_text_of_a_graph_is_parsed_once(parsed: Counter[str]) -> None:
    written = document(
        node("a", edge("b", condition="trigger.x > 1"), edge("c", condition="trigger.x > 2")),
        node("b", parameters={"one": "{{ context.data['a'].one }}", "two": ["{{ trigger.two }}"]}),
        node("c", parameters={"one": "{{ context.data['a'].three }}"}),
        output="{{ context.data['b'] }}",
    )
    compile_document(written)
    texts = {"trigger.x > 1", "trigger.x > 2", "{{ context.data['a'].one }}", "{{ trigger.two }}"}
    assert parsed == dict.fromkeys({*texts, "{{ context.data['a'].three }}", "{{ context.data['b'] }}"}, 1)


def test_each_text_of_the_steps_form_is_parsed_once(parsed: Counter[str]) -> None:
    tasks = {
        "a": {"action": "core.echo", "with": {"x": "{{ trigger.body.x }}"}},
        "b": {
            "needs": ["a"],
            "if": "tasks.a.output.x > 1",
            "action": "core.echo",
            "with": {"x": "{{ tasks.a.output }}"},
        },
    }
    compile_document({"name": "w", "tasks": tasks})
    assert parsed == dict.fromkeys(("{{ trigger.body.x }}", "tasks.a.output.x > 1", "{{ tasks.a.output }}"), 1)
