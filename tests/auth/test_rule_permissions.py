"""Who may save rules: those with `workflows:manage`, and where only own rules may be changed, their creators."""

from __future__ import annotations

from typing import Any

import pytest

from detent.auth.scopes import Role
from tests.auth.strict import StrictApi, strict_api

RULES = "/api/v1/rules"
WORKFLOWS = "/api/v1/workflows"


def rule(name: str = "tell", title: str = "a") -> dict[str, Any]:
    config = {"alert_type": "order", "severity": "low", "title": "x", "message": "y"}
    action = {"name": title, "action_type": "create_alert", "action_config": config}
    return {
        "name": name,
        "trigger_type": "on_update",
        "entity": "order",
        "actions": [{**action, "id": "temp:0"}],
        "edges": [{"target_action_id": "temp:0", "edge_type": "start"}],
    }


async def prepared(api: StrictApi) -> dict[str, str]:
    keys: dict[str, str] = {role: await api.key(role, role) for role in Role}
    answer = await api.ask("POST", "/api/v1/entities", keys["editor"], {"name": "order"})
    assert answer.status == 201, answer.json
    return keys


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
async def test_a_viewer_and_an_operator_read_rules_and_save_none(role: Role) -> None:
    async with strict_api() as api:
        keys = await prepared(api)
        made = await api.ask("POST", RULES, keys["editor"], rule())
        assert made.status == 201, made.json
        key = keys[role]
        assert (await api.ask("GET", f"{RULES}/tell", key)).status == 200
        refused = [
            await api.ask("POST", RULES, key, rule("mine")),
            await api.ask("PUT", f"{RULES}/tell", key, rule()),
            await api.ask("POST", f"{RULES}?validate_only=true", key, rule()),
            await api.ask("DELETE", f"{RULES}/tell", key),
            await api.ask("POST", f"{RULES}/tell/deactivate", key),
            await api.ask("POST", f"{RULES}/tell/actions", key, {}),
            await api.ask("POST", "/v1/workflow/rules/full", key, rule("mine")),
            await api.ask("PUT", f"{WORKFLOWS}/tell", key, rule()),
        ]
        assert [answer.status for answer in refused] == [403] * len(refused)
        assert "workflows:manage" in refused[0].message
        assert "editor" in refused[0].message


async def test_an_editor_changes_all_rules_unless_only_own_ones_may_be_changed() -> None:
    async with strict_api() as api:
        keys = await prepared(api)
        other = await api.key("other", Role.EDITOR)
        assert (await api.ask("POST", RULES, keys["editor"], rule())).status == 201
        assert (await api.ask("PUT", f"{RULES}/tell", other, rule(title="b"))).status == 200


async def test_where_only_own_rules_may_be_changed_there_is_no_way_around_it() -> None:
    async with strict_api(own_rules_only=True) as api:
        keys = await prepared(api)
        mine, other = keys["editor"], await api.key("other", Role.EDITOR)
        made = await api.ask("POST", RULES, mine, rule())
        assert made.status == 201, made.json
        row = await api.commands.workflows.get("tell")
        assert row.created_by == "key editor"
        refused = [
            await api.ask("PUT", f"{RULES}/tell", other, rule(title="b")),
            await api.ask("DELETE", f"{RULES}/tell", other),
            await api.ask("POST", f"{RULES}/tell/deactivate", other),
            await api.ask("PATCH", f"{RULES}/tell/layout", other, {}),
            await api.ask("PUT", f"{WORKFLOWS}/tell", other, {**rule(title="b"), "form": "rule"}),
            await api.ask("DELETE", f"{WORKFLOWS}/tell", other),
            await api.ask("POST", f"{WORKFLOWS}/tell/disable", other),
        ]
        assert [answer.status for answer in refused] == [403] * len(refused), [answer.json for answer in refused]
        assert "key editor" in refused[0].message
        assert (await api.ask("PUT", f"{RULES}/tell", mine, rule(title="b"))).status == 200
        assert (await api.ask("PUT", f"{RULES}/tell", keys["admin"], rule(title="c"))).status == 200
        assert (await api.commands.workflows.get("tell")).created_by == "key editor"
        assert (await api.ask("POST", RULES, other, rule("theirs"))).status == 201
        steps = {"name": "steps", "tasks": {"a": {"action": "core.echo"}}}
        assert (await api.ask("PUT", f"{WORKFLOWS}/steps", mine, steps)).status == 201
        assert (await api.ask("DELETE", f"{WORKFLOWS}/steps", other)).status == 200, "this is about rules"
        assert (await api.ask("DELETE", f"{RULES}/tell", mine)).status == 200
