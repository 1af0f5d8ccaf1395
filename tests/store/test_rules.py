"""Layouts, alerts and action templates in a store."""

import asyncio
import json
from typing import Any

from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import SavedVersion, Unsaved, WorkflowRow
from detent.store.rule_rows import (
    MOST_POSITIONS,
    ActionTemplateRow,
    AlertCriteria,
    AlertRow,
    AlertState,
    NewAlert,
    merge_layout,
)
from tests.store.make import version

HERE = {"x": 1, "y": 2}


async def saved(store: Store, name: str = "notify", **given: Any) -> WorkflowRow:
    made = await store.save_workflow(version(name, **given), replace=True)
    assert isinstance(made, SavedVersion)
    row = await store.workflow(1, name)
    assert row is not None
    return row


def layout(*keys: str, **more: Any) -> str:
    return json.dumps({"node_positions": dict.fromkeys(keys, HERE), **more})


def alert(**given: Any) -> NewAlert:
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "workflow": new_id(), "run": new_id(), "step": "warn", "alert_type": "shipped",
        "severity": "low", "title": "Shipped", "message": "für \U0001f600\n", "context": None,
    }  # fmt: skip
    return NewAlert(**{**values, **given})


def template(name: str = "Mail", **given: Any) -> ActionTemplateRow:
    values: dict[str, Any] = {
        "tenant": 1, "id": new_id(), "description": "", "action_type": "send_email", "default_config": "{}",
        "is_active": True, "author": "ann",
    }  # fmt: skip
    return ActionTemplateRow(name=name, **{**values, **given})


async def test_a_layout_is_saved_with_its_version_and_changed_without_it(store: Store) -> None:
    row = await saved(store)
    assert await store.layout(1, row.id) is None
    await store.save_workflow(version("notify"), replace=True, layout=layout("a", viewport=HERE))
    again = await store.workflow(1, row.id)
    assert again is not None
    made = await store.save_layout(1, row.id, layout("b"))
    assert made is not None
    assert json.loads(made) == {"viewport": HERE, "node_positions": {"a": HERE, "b": HERE}}
    assert await store.layout(1, row.id) == made
    assert await store.workflow(1, row.id) == again, "neither the version nor the time of the workflow changed"
    assert await store.layout(2, row.id) is None
    assert await store.save_layout(2, row.id, layout("c")) is None
    assert await store.save_layout(1, new_id(), layout("c")) is None


async def test_a_refused_save_leaves_the_layout_as_it_was(store: Store) -> None:
    row = await saved(store)
    await store.save_layout(1, row.id, layout("a"))
    before = await store.layout(1, row.id)
    refused = await store.save_workflow(
        version("notify", checksum="c2"), replace=True, expected=(row.version, row.updated_at - 1), layout=layout("b")
    )
    assert refused is Unsaved.CHANGED
    assert await store.save_workflow(version("notify"), replace=False, layout=layout("b")) is Unsaved.TAKEN
    assert await store.layout(1, row.id) == before


async def test_a_layout_is_deleted_with_its_workflow(store: Store) -> None:
    row = await saved(store)
    await store.save_layout(1, row.id, layout("a"))
    await store.delete_workflow(1, row.id)
    assert await store.layout(1, row.id) is None
    assert await store.save_layout(1, row.id, layout("a")) is None


async def test_layouts_that_are_changed_at_once_keep_every_place(store: Store) -> None:
    row = await saved(store)
    await asyncio.gather(*(store.save_layout(1, row.id, layout(f"act{number}")) for number in range(12)))
    found = await store.layout(1, row.id)
    assert found is not None
    assert sorted(json.loads(found)["node_positions"]) == sorted(f"act{number}" for number in range(12))


def test_a_merged_layout_has_the_newest_places_and_forgets_the_oldest() -> None:
    first = merge_layout(None, layout(*(f"a{number}" for number in range(MOST_POSITIONS))))
    second = json.loads(merge_layout(first, layout("a0", "new")))["node_positions"]
    assert len(second) == MOST_POSITIONS
    assert {"a0", "new", "a2"} <= set(second)
    assert "a1" not in second
    removed = json.loads(merge_layout(first, json.dumps({"node_positions": {"a0": None}})))
    assert "a0" not in removed["node_positions"]
    assert json.loads(merge_layout(None, json.dumps({"node_positions": None}))) == {"node_positions": {}}


async def test_a_step_of_a_run_raises_one_alert(store: Store) -> None:
    row = await saved(store, title="Notify")
    new = alert(workflow=row.id, context='{"n":1}')
    first = await store.add_alert(new)
    assert first[: len(new)] == new
    assert (first.state, first.workflow_name, first.workflow_title) == ("open", "notify", "Notify")
    again = await store.add_alert(new._replace(id=new_id(), title="Another"))
    assert again == first
    other = await store.add_alert(new._replace(id=new_id(), step="other"))
    assert other.id != first.id
    assert await store.alert(1, new.id) == first
    assert await store.alert(2, new.id) is None
    made = await asyncio.gather(*(store.add_alert(alert(run=new.run, step="race")) for _ in range(8)))
    assert len({one.id for one in made}) == 1


async def test_alerts_are_listed_newest_first_and_narrowed(store: Store) -> None:
    workflow, run = new_id(), new_id()
    one = await store.add_alert(alert(workflow=workflow))
    two = await store.add_alert(alert(severity="high", run=run))
    three = await store.add_alert(alert(severity="critical", alert_type="late"))
    await store.add_alert(alert(tenant=2))
    await store.settle_alert(1, one.id, AlertState.RESOLVED, by="ann")

    async def ids(**given: Any) -> list[bytes]:
        where = AlertCriteria(**given)
        found = [row.id for row in await store.alerts(1, limit=9, where=where)]
        assert await store.count_alerts(1, where=where, limit=9) == len(found)
        return found

    assert await ids() == [three.id, two.id, one.id]
    assert await ids(severities=("high", "critical")) == [three.id, two.id]
    assert await ids(states=("open", "acknowledged")) == [three.id, two.id]
    assert await ids(states=("resolved",), severities=("low",)) == [one.id]
    assert await ids(alert_type="late") == [three.id]
    assert await ids(workflow=workflow) == [one.id]
    assert await ids(run=run) == [two.id]
    assert await ids(since=three.at + 1) == []
    assert await ids(before=three.at + 1) == [three.id, two.id, one.id]
    assert [row.id for row in await store.alerts(1, limit=1, cursor=three.id)] == [two.id]
    assert await store.count_alerts(1, where=AlertCriteria(), limit=2) == 2


async def test_an_alert_is_acknowledged_once_and_then_resolved(store: Store) -> None:
    new = alert()
    await store.add_alert(new)

    async def settle(state: AlertState, by: str) -> AlertRow:
        found = await store.settle_alert(1, new.id, state, by=by)
        assert found is not None
        assert found == await store.alert(1, new.id)
        return found

    first = await settle(AlertState.ACKNOWLEDGED, "ann")
    assert (first.state, first.acknowledged_by, first.resolved_at) == ("acknowledged", "ann", None)
    assert await settle(AlertState.ACKNOWLEDGED, "bob") == first
    last = await settle(AlertState.RESOLVED, "bob")
    assert (last.state, last.acknowledged_by, last.resolved_by) == ("resolved", "ann", "bob")
    assert await settle(AlertState.RESOLVED, "ann") == last
    assert await settle(AlertState.ACKNOWLEDGED, "ann") == last
    assert await store.settle_alert(2, new.id, AlertState.RESOLVED, by="ann") is None


async def test_only_resolved_alerts_are_pruned(store: Store) -> None:
    made = [await store.add_alert(alert()) for _ in range(3)]
    done = await store.settle_alert(1, made[0].id, AlertState.RESOLVED, by="ann")
    assert done is not None
    assert done.resolved_at is not None
    await store.settle_alert(1, made[1].id, AlertState.ACKNOWLEDGED, by="ann")
    assert await store.prune_alerts(before=done.resolved_at, limit=9) == 0
    assert await store.prune_alerts(before=done.resolved_at + 1, limit=9) == 1
    assert [row.id for row in await store.alerts(1, limit=9)] == [made[2].id, made[1].id]


async def test_an_action_template_is_added_changed_listed_and_deleted(store: Store) -> None:
    made = await store.save_action_template(template(default_config='{"a":1}'), replace=False)
    assert isinstance(made, ActionTemplateRow)
    assert await store.action_template(1, made.id) == made
    assert await store.action_template(2, made.id) is None
    assert await store.save_action_template(template(), replace=False) is Unsaved.TAKEN
    other = await store.save_action_template(
        template("Alert", action_type="create_alert", is_active=False), replace=False
    )
    assert isinstance(other, ActionTemplateRow)
    assert await store.save_action_template(made._replace(name="Alert"), replace=True) is Unsaved.TAKEN
    changed = await store.save_action_template(made._replace(name="Post", author="bob", is_active=False), replace=True)
    assert isinstance(changed, ActionTemplateRow)
    assert (changed.name, changed.author, changed.is_active) == ("Post", "ann", False)
    assert changed.created_at == made.created_at
    assert changed.updated_at > made.updated_at
    assert await store.action_template(1, made.id) == changed
    assert await store.save_action_template(template(), replace=True) is Unsaved.MISSING
    await store.save_action_template(template("Zed"), replace=False)
    assert [row.name for row in await store.action_templates(1, limit=9)] == ["Alert", "Post", "Zed"]
    assert [row.name for row in await store.action_templates(1, limit=1, after="Alert")] == ["Post"]
    assert [row.name for row in await store.action_templates(1, limit=9, is_active=True)] == ["Zed"]
    found = await store.action_templates(1, limit=9, action_type="create_alert", is_active=False)
    assert [row.name for row in found] == ["Alert"]
    assert not await store.drop_action_template(2, made.id)
    assert await store.drop_action_template(1, made.id)
    assert not await store.drop_action_template(1, made.id)


async def test_workflows_are_listed_by_form_and_entity(store: Store) -> None:
    await saved(store, "a")
    await saved(store, "b", form="graph")
    assert [row.name for row in await store.workflows(1, limit=9, form="graph")] == ["b"]
    assert await store.workflows(1, limit=9, entity="order") == []
