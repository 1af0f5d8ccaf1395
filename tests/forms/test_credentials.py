"""The credential of a step: in every form, constant, and only where a request is sent."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.forms.conversion.convert import convert
from detent.graph import codec

HTTP = {"url": "https://crm.example.com/me", "credential": "crm"}
STEPS: dict[str, Any] = {"name": "w", "tasks": {"ask": HTTP}}


def graph_document(**node: Any) -> dict[str, Any]:
    return {"id": "w", "displayName": "W", "startNode": "ask", "nodes": [{"id": "ask", **node}]}


GRAPH = graph_document(
    actionType="core.http.request", parameters={"url": "https://crm.example.com/me"}, credential="crm"
)


@pytest.mark.parametrize("document", [STEPS, GRAPH])
def test_a_form_names_the_credential_of_a_request(document: dict[str, Any]) -> None:
    graph = compile_document(document).graph
    assert graph.steps[0].config["credential"] == "crm"
    assert "detent/5" in codec.features(graph)


@pytest.mark.parametrize(("document", "form"), [(STEPS, "graph"), (GRAPH, "steps")])
def test_a_credential_survives_a_conversion(document: dict[str, Any], form: str) -> None:
    again = compile_document(convert(document, form).document)
    assert again.graph.steps[0].config["credential"] == "crm"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"name": "w", "tasks": {"a": {**HTTP, "credential": "{{ trigger.body.name }}"}}}, "cannot be the name"),
        ({"name": "w", "tasks": {"a": {**HTTP, "credential": 7}}}, "must be text"),
        ({"name": "w", "tasks": {"a": {"sleep": "1s", "credential": "crm"}}}, "has no meaning"),
        ({"name": "w", "tasks": {"a": {"action": "core.log", "with": {}, "credential": "crm"}}}, "sends no request"),
        (graph_document(actionType="core.delay", parameters={"seconds": 1}, credential="crm"), "sends no request"),
        (graph_document(nodeType="condition", expression="true", credential="crm"), "has no meaning"),
    ],
)
def test_a_credential_where_no_request_is_sent_is_refused(document: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinition) as caught:
        compile_document(document)
    assert words in str([problem.message for problem in caught.value.problems])
