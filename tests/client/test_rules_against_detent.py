"""Rules, entities, alerts and action templates through a client of either face, before a real Detent."""

from __future__ import annotations

from typing import Any

import pytest

from detent.client import Conflict, InvalidRequest, NotFound, PreconditionFailed

pytestmark = pytest.mark.slow

ALERT = {"alert_type": "late", "severity": "high", "title": "Order {{number}}", "message": "It is late"}
RULE: dict[str, Any] = {
    "name": "Late orders",
    "entity_id": "order",
    "trigger_type_id": "manual",
    "actions": [{"name": "Warn", "action_config": ALERT}],
    "edges": [{"target_action_id": "temp:0", "edge_type": "start"}],
}


def test_rules_are_used_through_the_client(detent_url: str, connect: Any) -> None:
    client = connect(detent_url)
    with pytest.raises(InvalidRequest) as refused:
        client.rules.create(RULE)
    assert [one.field for one in refused.value.problems] == ["entity_id"]
    entity = client.entities.create("order", fields={"type": "object"})
    assert client.entities.change("order", title="Orders").title == "Orders"
    assert client.rules.validate(RULE).valid
    made = client.rules.create(RULE)
    assert (made.key, made.entity_id, made.actions[0].action_type) == ("late-orders", entity.id, "create_alert")
    with pytest.raises(Conflict):
        client.rules.create(RULE)
    again = client.rules.save(made.id, {**RULE, "name": "Renamed"}, if_match=made.etag)
    assert (again.version, again.etag != made.etag) == (2, True)
    with pytest.raises(PreconditionFailed) as stale:
        client.rules.save(made.id, RULE, if_match=made.etag)
    current = stale.value.current
    assert current is not None
    assert current.difference is not None
    assert (current.etag, current.difference.settings[0].field) == (again.etag, "name")
    warn = again.actions[0].id
    added = client.rules.add_action(
        made.id,
        {
            "name": "Wait",
            "action_config": {"seconds": 1},
            "edges": [{"source_action_id": warn, "edge_type": "sequence"}],
        },
    )
    assert client.rules.change_action(made.id, added.id, {"name": "Pause"}).name == "Pause"
    edge = client.rules.add_edge(
        made.id, {"source_action_id": warn, "target_action_id": added.id, "edge_type": "always"}
    )
    assert client.rules.change_edge(made.id, edge.id, {"edge_order": 2}).edge_order == 2
    assert client.rules.remove_edge(made.id, edge.id).id == edge.id
    assert client.rules.remove_action(made.id, added.id, reconnect=True).id == added.id
    layout = client.rules.save_layout(made.id, {"node_positions": {warn: {"x": 1, "y": 2}}})
    assert layout.canvas_layout["node_positions"] == {warn: {"x": 1, "y": 2}}
    assert len(list(client.rules.versions(made.id, limit=2))) >= 3
    assert list(client.rules.history(made.id))[-1].difference.actions.added[0].name == "Warn"
    assert client.rules.restore(made.id, 1).name == "Late orders"
    assert client.rules.get(made.id, version=2).name == "Renamed"
    assert client.rules.save_draft({**RULE, "edges": []}, id=made.id).problems[0].field == "actions[0]"
    assert client.rules.deactivate(made.id).is_active is False
    assert [one.key for one in client.rules.list(is_active=False, entity="order")] == ["late-orders"]
    assert client.rules.activate(made.id).is_active is True

    client.start("late-orders", {"number": 7}, wait=30.0).result(timeout=300)
    [alert] = client.alerts.list(status=["open"], severity=["high", "low"], rule=made.id)
    assert (alert.title, client.alerts.get(alert.id)) == ("Order 7", alert)
    assert client.alerts.acknowledge(alert.id).status == "acknowledged"
    assert client.alerts.resolve(alert.id).status == "resolved"
    assert [one.id for one in client.rules.runs(made.id)] == [alert.run_id]
    with pytest.raises(Conflict):
        client.entities.delete("order")
    assert client.rules.delete(made.id).key == "late-orders"
    assert client.entities.delete("order").id == entity.id
    with pytest.raises(NotFound):
        client.entities.get("order")


def test_types_and_action_templates_are_used_through_the_client(detent_url: str, connect: Any) -> None:
    client = connect(detent_url)
    assert "on_update" in [one.id for one in client.rules.trigger_types()]
    assert "create_alert" in [one.name for one in client.rules.action_types()]
    made = client.action_templates.create("Alarm", "create_alert", ALERT)
    changed = client.action_templates.replace(made.id, "Alarm", "create_alert", ALERT, is_active=False)
    assert (changed.is_active, client.action_templates.get(made.id)) == (False, changed)
    assert list(client.action_templates.list(action_type="create_alert")) == [changed]
    assert client.action_templates.delete(made.id) == changed
