"""What holds for every definition in the steps form, good or bad."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition
from detent.forms.definition import read_definition
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.graph.check import check
from tests.forms.workflows import CHECKOUT_FLOW, ORDER_PROCESSING, TRIAL_EXPIRY
from tests.graph.strategies import JSON

WORDS = st.sampled_from(
    [
        *("name", "tasks", "steps", "trigger", "cron_expression", "timezone", "url", "method", "headers", "body"),
        *("needs", "if", "sleep", "wait_for_webhook", "action", "with", "retries", "retry", "timeout", "on_crash"),
        *("queue", "priority", "labels", "output", "enabled", "max_duration", "form", "description", "a", "b", "cron"),
        *("https://shop.example/", "core.delay", "core.wait", "core.http.request", "seconds", "duration", "early"),
        *("{{tasks.a.body}}", "{{wait.b.url}}", "{{", "tasks.a.status == 'x'", "30s", "@daily", "UTC", "attempts"),
    ]
)
GARBAGE = st.recursive(
    JSON | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=6),
    max_leaves=40,
)


@st.composite
def kinds(draw: st.DrawFn, upstream: list[str], waits: list[str]) -> dict[str, Any]:
    """The own fields of one step, reading only what it may."""
    reads = ["trigger.body.x", "$input", "run.id", "trigger.headers['x-y']", *(f"wait.{name}.url" for name in waits)]
    reads += [f"{root}.{name}.body.z" for name in upstream for root in ("tasks", "steps")]
    template = st.sampled_from(reads).map(lambda read: "{{ " + read + " }}")
    return draw(
        st.one_of(
            st.fixed_dictionaries(
                {"url": st.just("https://shop.example/") | template},
                optional={
                    "method": st.sampled_from(["GET", "post", "PUT", None]),
                    "headers": st.dictionaries(st.sampled_from(["x-a", "x-b"]), template | st.just("v")),
                    "body": st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0")), template),
                    "retries": st.integers(0, 100) | st.just({"delay": "1s", "jitter": False}),
                    "timeout": st.integers(1, 10**6) | st.just("5m"),
                },
            ),
            st.fixed_dictionaries({"sleep": st.integers(0, 10**6) | st.just("1h30m") | template}),
            st.fixed_dictionaries(
                {"action": st.sampled_from(["mail", "core.echo"])},
                optional={"with": st.dictionaries(st.just("x"), template)},
            ),
        )
    )


@st.composite
def definitions(draw: st.DrawFn) -> dict[str, Any]:
    """Right definitions: random acyclic needs, templates and conditions over what is upstream, any written order."""
    count = draw(st.integers(1, 8))
    names = [f"step-{number}" for number in range(count)]
    waits = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    upstream: dict[str, set[str]] = {}
    tasks: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        needs = draw(st.lists(st.sampled_from(names[:number]), unique=True, max_size=3)) if number else []
        upstream[name] = set(needs).union(*(upstream[need] for need in needs))
        own = {"wait_for_webhook": {"timeout": "1h"}} if name in waits else draw(kinds(sorted(upstream[name]), waits))
        step: dict[str, Any] = {**own, **({"needs": needs} if needs else {})}
        conditional: bool = draw(st.booleans())
        if upstream[name] and conditional:
            step["if"] = f"tasks.{draw(st.sampled_from(sorted(upstream[name])))}.status != 'failed'"
        tasks[name] = step
    return {"name": "random", "tasks": {name: tasks[name] for name in draw(st.permutations(names))}}


def shuffled(value: Any, random: Random, keep: str = "tasks") -> Any:
    """The same document with the keys of every mapping in another order, but for the written order of the steps."""
    if isinstance(value, list):
        return [shuffled(child, random) for child in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    inner = {key: shuffled(value[key], random) for key in keys}
    if isinstance(value.get(keep), dict):
        inner[keep] = {name: inner[keep][name] for name in value[keep]}
    return inner


@given(definitions())
def test_a_right_definition_compiles_to_a_right_graph(document: dict[str, Any]) -> None:
    workflow = compile_steps(document)
    assert check(workflow.graph) == []
    assert [step.name for step in workflow.graph.steps] == list(document["tasks"])
    assert {(edge.source, edge.target) for edge in workflow.graph.edges} == {
        (need, name) for name, step in document["tasks"].items() for need in step.get("needs", [])
    }
    assert codec.decode(codec.encode(workflow.graph)) == workflow.graph


@given(definitions(), st.randoms(use_true_random=False))
def test_only_the_written_order_of_steps_matters(document: dict[str, Any], random: Random) -> None:
    before = json.dumps(document)
    one, other = compile_steps(document), compile_steps(shuffled(document, random))
    assert json.dumps(document) == before
    assert one == other
    assert codec.fingerprint(codec.encode(one.graph)) == codec.fingerprint(codec.encode(other.graph))
    assert codec.encode(compile_steps(read_definition(before)).graph) == codec.encode(one.graph)


@given(definitions(), st.data())
def test_a_need_turned_around_is_refused_as_a_cycle(document: dict[str, Any], data: st.DataObject) -> None:
    pairs = [(name, need) for name, step in document["tasks"].items() for need in step.get("needs", [])]
    if not pairs:
        return
    name, need = data.draw(st.sampled_from(pairs))
    turned = document["tasks"][need]
    turned["needs"] = [*turned.get("needs", []), name]
    try:
        compile_steps(document)
    except InvalidDefinition as error:
        messages = [problem.message for problem in error.problems if problem.message.startswith("cycle: ")]
    else:
        messages = []
    assert len(messages) == 1


@given(GARBAGE)
def test_any_document_compiles_or_is_refused_with_problems(document: Any) -> None:
    refused_or_compiled(document)


@given(st.sampled_from([ORDER_PROCESSING, TRIAL_EXPIRY, CHECKOUT_FLOW]), st.data())
def test_a_right_document_with_one_wrong_value_compiles_or_is_refused_with_problems(
    text: str, data: st.DataObject
) -> None:
    document = json.loads(text)
    place: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(GARBAGE)
    refused_or_compiled(document)


def refused_or_compiled(document: Any) -> None:
    """Nothing else may happen, and it must happen again in the same way."""
    outcomes = []
    for _ in range(2):
        try:
            workflow = compile_steps(document, actions=["mail"])
        except InvalidDefinition as error:
            outcomes.append([problem.message for problem in error.problems])
        else:
            assert check(workflow.graph) == []
            outcomes.append([codec.fingerprint(codec.encode(workflow.graph))])
    assert outcomes[0] == outcomes[1]
    assert outcomes[0]
    assert all(outcomes[0])
