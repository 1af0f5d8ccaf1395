"""Secrets are sent by steps. Every other place of a definition refuses them when it is saved."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.forms.templates import used_secrets
from detent.graph import codec
from tests.forms.rules import action as rule_action
from tests.forms.rules import rule

SECRET = "{{secrets.KEY}}"


def _problems(document: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidDefinition) as refused:
        compile_document(document)
    return [f"{one.field}: {one.message}" for one in refused.value.problems]


def _steps(**tasks: Any) -> dict[str, Any]:
    return {"name": "w", "tasks": {"a": {"url": "https://a.example"}, **tasks}}


@pytest.mark.case("H8")
@pytest.mark.parametrize(
    "document",
    [
        _steps(b={"url": "https://b.example", "if": "secrets.KEY == 'a'"}),
        _steps(b={"condition": "secrets.KEY != null"}),
        _steps(b={"sleep": SECRET}),
        _steps(b={"wait_for_webhook": {"timeout": SECRET}}),
        _steps(b={"workflow": "child", "with": {"key": SECRET}}),
        _steps(b={"url": "https://b.example", "for_each": [SECRET]}),
        _steps(b={"url": "https://b.example", "for_each": [1], "collect": SECRET}),
        _steps(b={"url": "https://b.example", "repeat": {"until": "result.body == secrets.KEY"}}),
        {**_steps(), "output": {"key": SECRET}},
    ],
    ids=["guard", "condition", "sleep", "wait", "child", "list", "collect", "until", "output"],
)
def test_a_secret_is_refused_where_nothing_is_sent(document: dict[str, Any]) -> None:
    assert any("secret" in problem for problem in _problems(document))


def test_every_form_may_send_secrets() -> None:
    steps = _steps(b={"action": "core.echo", "with": {"value": [SECRET]}}, c={"url": "https://a.example/" + SECRET})
    graph = {
        "id": "g",
        "displayName": "G",
        "startNode": "a",
        "nodes": [{"id": "a", "nodeType": "action", "actionType": "core.echo", "parameters": {"value": SECRET}}],
    }
    ruled = rule(rule_action("Send", action_config={"value": SECRET}))
    for document in (steps, graph, ruled):
        compiled = compile_document(document)
        assert compiled.graph.language == 4
        assert "detent/5" in compiled.start_facts()["code"]
        assert codec.decode(codec.encode(compiled.graph)) == compiled.graph
        assert set(used_secrets(compiled.graph)) == {"KEY"}
    plain = compile_document(_steps()).graph
    assert used_secrets(plain) == {}
    assert codec.features(plain) == ()


def test_the_name_of_a_secret_is_checked() -> None:
    [problem] = _problems(_steps(b={"url": "https://b.example", "body": "{{ secrets['not a name'] }}"}))
    assert "cannot be the name of a secret" in problem


def test_a_sensitive_step_is_a_single_one() -> None:
    assert compile_document(_steps(b={"url": "https://b.example", "sensitive": True})).graph.steps[1].sensitive
    [child] = _problems(_steps(b={"workflow": "child", "sensitive": True}))
    assert "has no meaning for a child run" in child
    assert _problems(_steps(b={"url": "https://b.example", "for_each": [1], "sensitive": True}))


_LOGIN = {"url": "https://b.example", "sensitive": True}
_TOKEN = "{{tasks.login.body.token}}"


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ({"workflow": "child", "with": {"key": _TOKEN}}, "the input of a child run is stored"),
        ({"sleep": _TOKEN}, "when a step goes on is stored and shown"),
        (
            {"url": "https://b.example", "body": _TOKEN, "for_each": [1]},
            "what a step with for_each reads is stored with its items",
        ),
        ({"url": "https://b.example", "for_each": _TOKEN}, "what a step with for_each reads is stored with its items"),
        (
            {"url": "https://b.example", "for_each": [1], "collect": _TOKEN},
            "what a step with for_each reads is stored with its items",
        ),
        ({"action": "core.echo", "with": {"value": _TOKEN}}, "core.echo would store it; write 'sensitive' there too"),
    ],
    ids=["child", "sleep", "map", "list", "collect", "core"],
)
def test_a_sensitive_result_is_refused_where_it_would_be_stored_as_it_is(step: dict[str, Any], why: str) -> None:
    [problem] = _problems(_steps(login=_LOGIN, use={"needs": ["login"], **step}))
    assert f"the result of 'login' is sensitive, and {why}" in problem


def test_an_output_may_not_show_a_sensitive_result_but_its_status() -> None:
    for shown in (_TOKEN, "{{tasks.login.output}}", {"deep": ["a {{tasks.login.headers.x}}"]}):
        [problem] = _problems({**_steps(login=_LOGIN), "output": shown})
        assert "is sensitive, and the output of a run is stored and shown" in problem
    known = "{{tasks.login.status}} {{tasks.login.status_code}} {{tasks.login.error}}"
    compile_document({**_steps(login=_LOGIN), "output": known})
    node = {"id": "a", "nodeType": "action", "actionType": "core.echo", "policies": {"sensitive": True}}
    graph = {"id": "g", "displayName": "G", "startNode": "a", "nodes": [node], "output": "{{context.data['a']}}"}
    assert "is sensitive" in _problems(graph)[0]


def test_steps_that_send_a_sensitive_result_or_only_look_at_it_may_read_it() -> None:
    used = {
        "send": {
            "needs": ["login"],
            "url": "https://b.example",
            "body": _TOKEN,
            "if": "tasks.login.body.token != null",
        },
        "seal": {"needs": ["login"], "action": "core.echo", "with": {"value": _TOKEN}, "sensitive": True},
        "call": {"needs": ["login"], "action": "shop.use", "with": {"token": _TOKEN}},
    }
    compile_document(_steps(login=_LOGIN, **used))
