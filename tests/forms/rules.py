"""Documents of the rule form: the one of an editor, and a builder for small ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "documents"
#: The request of the editor, with names in place of ids.
ORDER_STATUS: Final = (FOLDER / "order-status-notification.json").read_text()
#: The actions that it calls.
STAND_INS: Final = ("email.send", "core.alert")
WHEN_SHIPPED: Final = {"field_conditions": [{"field_name": "status", "operator": "changed_to", "value": "shipped"}]}


def action(name: Any = "It", action_type: Any = "core.echo", /, **fields: Any) -> dict[str, Any]:
    """An action that echoes its config."""
    config: dict[str, Any] = {} if "action_config" in fields else {"action_config": {}}
    return {"name": name, "action_type": action_type, **config, **fields}


def start(target: str = "temp:0", **fields: Any) -> dict[str, Any]:
    return {"source_action_id": None, "target_action_id": target, "edge_type": "start", **fields}


def edge(source: str, target: str, edge_type: str = "sequence", **fields: Any) -> dict[str, Any]:
    return {"source_action_id": source, "target_action_id": target, "edge_type": edge_type, **fields}


def rule(*actions: Any, edges: Any = None, **fields: Any) -> dict[str, Any]:
    """A rule on the update of an order. Without edges it begins with its first action."""
    return {
        "name": "Orders",
        "entity": "order",
        "trigger_type": "on_update",
        "actions": list(actions),
        "edges": [start()] if edges is None else edges,
        **fields,
    }


def when(*conditions: Any, **fields: Any) -> dict[str, Any]:
    """Conditions of a rule, each as (field, operator, value)."""
    return {"field_conditions": [_condition(one) for one in conditions], **fields}


def _condition(given: Any) -> Any:
    if isinstance(given, tuple):
        return dict(zip(("field_name", "operator", "value"), given, strict=False))
    if isinstance(given, dict):
        return {
            key: [_condition(one) for one in part] if isinstance(part, list) and key in ("all", "any") else part
            for key, part in given.items()
        }
    return given
