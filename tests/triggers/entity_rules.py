"""Rules as they are stored, without their form: a graph of one step, and the conditions that the matcher reads."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import NewVersion, SavedVersion
from detent.store.rule_rows import NewEntity


def condition(field: str, operator: str, value: Any = None) -> dict[str, Any]:
    """A condition of a rule."""
    return {"field_name": field, "operator": operator, **({} if value is None else {"value": value})}


def rule(name: str, *conditions: dict[str, Any], entity: str = "order", on: str = "update", **given: Any) -> NewVersion:
    """A rule whose only step echoes."""
    written = {"field_conditions": list(conditions)} if conditions else {}
    facts = {"entity": entity, "trigger_type": f"on_{on}", "conditions": written, **given.pop("facts", {})}
    graph = given.pop("graph", None) or compile_steps({"name": name, "tasks": {"a": {"action": "core.echo"}}}).graph
    source = json.dumps({"name": name, **facts})
    values: dict[str, Any] = {
        "tenant": 1, "id": new_id(), "form": "rule", "description": None, "enabled": True, "labels": None,
        "trigger": json.dumps({"type": "api", "rule": facts}), "source": source, "graph": codec.encode(graph),
        "checksum": hashlib.sha256(source.encode()).hexdigest(), "language": 1, "entity": entity, "title": name.title(),
    }  # fmt: skip
    return NewVersion(name=name, **{**values, **given})


async def save(store: Store, version: NewVersion) -> bytes:
    """Save a rule; gives its id."""
    saved = await store.save_workflow(version, replace=True)
    assert isinstance(saved, SavedVersion)
    return saved.id


async def add_entity(store: Store, name: str = "order", tenant: int = 1) -> None:
    assert await store.add_entity(NewEntity(tenant, new_id(), name, name.title(), None))
