"""Workflows in the rule form through the routes of workflows, and their JSON Schema."""

from __future__ import annotations

import json

from detent.forms.rules.schema import SCHEMA
from tests.api.server import Detent, statuses
from tests.forms.rules import WHEN_SHIPPED, action, edge, rule, start

WORKFLOWS = "/api/v1/workflows"
RULE = rule(
    action("Large?", "condition", action_config={"expression": "total > 100"}),
    action("Ask", action_config={"text": "{{ first }} {{ number }} {{ before.status ?? 'new' }}"}),
    action("Ship", action_config={"changed": "{{ changed }}"}),
    edges=[start(), edge("large", "ask", "true_branch"), edge("large", "ship", "false_branch")],
    name="Large orders",
    trigger_conditions=WHEN_SHIPPED,
)
EVENT = {
    "operation": "update",
    "before": {"status": "paid", "total": 90},
    "after": {"status": "shipped", "total": 90},
}


async def test_the_schema_of_rules_is_published(detent: Detent) -> None:
    answer = await detent.call("GET", "/api/v1/schemas/rule")
    assert (answer.status, json.loads(answer.text)) == (200, SCHEMA)


async def test_a_rule_is_live_at_its_save_and_runs_with_a_record_or_an_event(detent: Detent) -> None:
    made = await detent.call("POST", WORKFLOWS, json=RULE)
    assert made.status == 201, made.json
    data = made.json["data"]
    assert (data["name"], data["title"], data["form"]) == ("large-orders", "Large orders", "rule")
    assert (data["status"], data["trigger"], data["current_version"]) == ("active", "on_update", 1)
    record = await detent.ended(await detent.start("large-orders", {"total": 150, "first": 1, "number": "A-7"}))
    assert (record["status"], record["output"]) == ("completed", {"text": "1 A-7 new"})
    assert statuses(record) == {"large": "success", "ask": "success", "ship": "skipped"}
    event = await detent.ended(await detent.start("large-orders", EVENT))
    assert (event["status"], event["output"]) == ("completed", {"changed": ["status"]})


async def test_an_expression_can_be_tried_in_a_run_of_a_rule(detent: Detent) -> None:
    await detent.call("POST", WORKFLOWS, json=RULE)
    run = await detent.ended(await detent.start("large-orders", EVENT))
    path = f"/api/v1/runs/{run['id']}/evaluate"
    for expression, value in (("status", "shipped"), ("before.status", "paid"), ("steps.large.output", False)):
        answer = await detent.call("POST", path, json={"expression": expression})
        assert (answer.status, answer.json["data"]["value"]) == (200, value), answer.text
    step = await detent.call("GET", f"/api/v1/runs/{run['id']}/steps/ship")
    assert step.json["data"]["rendered"] == {"action": "core.echo", "with": {"changed": ["status"]}}


async def test_a_rule_under_another_name_is_refused_and_a_version_is_made_under_its_own(detent: Detent) -> None:
    assert (await detent.call("PUT", f"{WORKFLOWS}/other", json=RULE)).json["details"]["validation_errors"] == [
        {
            "field": "key",
            "message": "is 'large-orders', but the path names the workflow 'other'; a workflow cannot be renamed",
        }
    ]
    assert (await detent.call("PUT", f"{WORKFLOWS}/large-orders", json=RULE)).status == 201
    renamed = {**RULE, "key": "large-orders", "name": "Really large orders"}
    saved = await detent.call("PUT", f"{WORKFLOWS}/large-orders", json=renamed)
    assert (saved.status, saved.json["data"]["current_version"]) == (200, 2)
    assert saved.json["data"]["title"] == "Really large orders"


async def test_an_invalid_rule_is_refused_with_the_words_of_the_contract(detent: Detent) -> None:
    mail = {"recipients": [], "subject": "s", "body": "b"}
    written = rule(
        action("a"),
        {"name": "Send Email", "action_config": mail},
        edges=[start(), edge("a", "temp:1"), edge("temp:1", "a")],
    )
    answer = await detent.call("POST", WORKFLOWS, json=written)
    assert (answer.status, answer.json) == (
        400,
        {
            "error": "invalid_argument",
            "code": "WFENG005",
            "message": "workflow validation failed",
            "details": {
                "validation_errors": [
                    {"field": "actions[1].action_config.recipients", "message": "at least one recipient required"},
                    {"field": "edges", "message": "cycle detected between actions: a -> send-email -> a"},
                ]
            },
        },
    )


async def test_ten_thousand_actions_are_refused_in_words(detent: Detent) -> None:
    for count in (1_001, 10_000):
        answer = await detent.call("POST", WORKFLOWS, json=rule(*[{"name": "a"}] * count))
        assert (answer.status, answer.json["details"]["validation_errors"]) == (
            400,
            [{"field": "actions", "message": f"has {count} actions; at most 1000 are allowed"}],
        )
