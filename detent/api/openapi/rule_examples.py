"""The documents of rules that OpenAPI shows as examples."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-02-22T10:05:00Z"
_FIRST: Final = "act_01k5c1v6p2f7x8y9z0a1b2c3d4"
_SECOND: Final = "act_01k5c1v6p2f7x8y9z0a1b2c3d5"
_CONDITIONS: Final = {"field_conditions": [{"field_name": "status", "operator": "changed_to", "value": "shipped"}]}
_EMAIL: Final = {
    "recipients": ["{{customer_email}}"],
    "subject": "Order {{number}} Shipped",
    "body": "Your order has shipped!",
}
_ALERT: Final = {
    "alert_type": "order_shipped",
    "severity": "low",
    "title": "Order shipped",
    "message": "Order {{number}} shipped to {{customer_name}}",
}
SAVE: Final[dict[str, Any]] = {
    "name": "Order Status Notification",
    "description": "Send notifications when order status changes",
    "is_active": True,
    "entity_id": "order",
    "trigger_type_id": "on_update",
    "trigger_conditions": _CONDITIONS,
    "actions": [
        {"id": None, "name": "Send Email", "action_config": _EMAIL, "execution_order": 1},
        {"id": None, "name": "Create Alert", "action_config": _ALERT, "execution_order": 1},
    ],
    "edges": [
        {"source_action_id": None, "target_action_id": "temp:0", "edge_type": "start"},
        {"source_action_id": "temp:0", "target_action_id": "temp:1", "edge_type": "sequence"},
    ],
    "canvas_layout": {
        "viewport": {"x": 0, "y": 0, "zoom": 1},
        "node_positions": {"trigger": {"x": 100, "y": 100}, "temp:0": {"x": 300, "y": 100}},
    },
}
ACTION: Final[dict[str, Any]] = {
    "id": _FIRST,
    "name": "Send Email",
    "action_config": _EMAIL,
    "execution_order": 1,
    "action_type": "send_email",
    "step": "send-email",
    "is_active": True,
}
_OTHER: Final[dict[str, Any]] = {
    **ACTION,
    "id": _SECOND,
    "name": "Create Alert",
    "action_config": _ALERT,
    "action_type": "create_alert",
    "step": "create-alert",
}
EDGE: Final[dict[str, Any]] = {
    "id": "edge_01k5c1v6p2f7x8y9z0a1b2c3d4",
    "source_action_id": None,
    "target_action_id": _FIRST,
    "edge_type": "start",
    "edge_order": 0,
}
NEW_ACTION: Final[dict[str, Any]] = {
    "name": "Create Alert",
    "action_config": _ALERT,
    "edges": [{"source_action_id": _FIRST, "edge_type": "sequence"}],
}
NEW_EDGE: Final[dict[str, Any]] = {
    "source_action_id": _FIRST,
    "target_action_id": _SECOND,
    "edge_type": "sequence",
}
LAYOUT: Final[dict[str, Any]] = {
    "viewport": {"x": 0, "y": 0, "zoom": 1},
    "node_positions": {"trigger": {"x": 100, "y": 100}, _FIRST: {"x": 300, "y": 100}},
}
RULE: Final[dict[str, Any]] = {
    "id": "wf_01k5c1s2m4d7x8y9z0a1b2c3d4",
    "name": "Order Status Notification",
    "description": "Send notifications when order status changes",
    "is_active": True,
    "entity_id": "ent_01k5c1s2m4d7x8y9z0a1b2c3d4",
    "trigger_type_id": "on_update",
    "trigger_conditions": _CONDITIONS,
    "actions": [ACTION, _OTHER],
    "edges": [
        EDGE,
        {
            **EDGE,
            "id": "edge_01k5c1v6p2f7x8y9z0a1b2c3d5",
            "source_action_id": _FIRST,
            "target_action_id": _SECOND,
            "edge_type": "sequence",
        },
    ],
    "canvas_layout": LAYOUT,
    "created_date": _AT,
    "updated_date": _AT,
    "key": "order-status-notification",
    "version": 1,
    "status": "active",
    "entity": "order",
    "trigger_type": "on_update",
    "conditions": "status changed to 'shipped'",
    "updated_by": "api",
}
RULE_SUMMARY: Final[dict[str, Any]] = {
    **{name: RULE[name] for name in ("id", "key", "name", "description", "is_active", "status", "entity")},
    **{name: RULE[name] for name in ("trigger_type_id", "conditions", "version")},
    "action_count": 2,
    "created_date": _AT,
    "updated_date": _AT,
    "updated_by": "api",
}
NEW_ENTITY: Final[dict[str, Any]] = {
    "name": "order",
    "title": "Order",
    "fields": {"type": "object", "properties": {"status": {"type": "string"}, "number": {"type": "integer"}}},
}
ENTITY: Final[dict[str, Any]] = {
    "id": "ent_01k5c1s2m4d7x8y9z0a1b2c3d4",
    **NEW_ENTITY,
    "revision": 3,
    "created_date": _AT,
    "updated_date": _AT,
}
TRIGGER_TYPE: Final[dict[str, Any]] = {
    "id": "on_update",
    "name": "on_update",
    "title": "On update",
    "description": "When a record of the entity was changed.",
    "operations": ["update"],
}
ACTION_TYPE: Final[dict[str, Any]] = {
    "id": "condition",
    "name": "condition",
    "title": "Check a condition",
    "description": "Answers true or false at once. Its true and false branches lead on.",
    "category": "control",
    "config_schema": {"type": "object", "properties": {"expression": {"type": "string"}}},
    "has_branches": True,
}
ALERT: Final[dict[str, Any]] = {
    "id": "alt_01k5c1y0s5j7x8y9z0a1b2c3d4",
    "alert_type": "order_shipped",
    "severity": "low",
    "title": "Order shipped",
    "message": "Order 17 shipped to Alice",
    "context": None,
    "status": "acknowledged",
    "rule_id": RULE["id"],
    "rule": RULE["key"],
    "rule_name": RULE["name"],
    "run_id": "run_01k5c1v6p2f7x8y9z0a1b2c3d4",
    "step": "create-alert",
    "created_date": _AT,
    "acknowledged_date": _AT,
    "acknowledged_by": "api",
    "resolved_date": None,
    "resolved_by": None,
}
NEW_ACTION_TEMPLATE: Final[dict[str, Any]] = {
    "name": "Shipping mail",
    "description": "The mail that customers get when an order leaves.",
    "action_type": "send_email",
    "default_config": _EMAIL,
    "is_active": True,
}
ACTION_TEMPLATE: Final[dict[str, Any]] = {
    "id": "atp_01k5c1y0s5j7x8y9z0a1b2c3d4",
    **NEW_ACTION_TEMPLATE,
    "created_by": "api",
    "created_date": _AT,
    "updated_date": _AT,
}
ENTITY_EVENT: Final[dict[str, Any]] = {
    "entity": "order",
    "operation": "update",
    "id": "17",
    "before": {"status": "packed", "number": 17},
    "after": {"status": "shipped", "number": 17},
    "actor": "ann",
    "event_id": "order-17-shipped",
}
_OF_EVENT: Final = {"entity": "order", "operation": "update", "record_id": "17"}
EVENT_RECEIPT: Final[dict[str, Any]] = {
    "id": "order-17-shipped",
    **_OF_EVENT,
    "status": "processed",
    "runs": [{"rule_id": RULE["id"], "rule": RULE["key"], "run_id": "run_01k5c1v6p2f7x8y9z0a1b2c3d4"}],
    "errors": [],
}
_TRUE: Final = {
    "is_true": True,
    "words": "status changed to 'shipped'",
    "field": "status",
    "operator": "changed_to",
    "value": "shipped",
    "before": "packed",
    "after": "shipped",
}
MATCH: Final[dict[str, Any]] = {
    "rule_id": RULE["id"],
    "rule": RULE["key"],
    "name": RULE["name"],
    "trigger_type": "on_update",
    "matches": True,
    "reason": None,
    "conditions": [_TRUE],
}
RECENT_EVENT: Final[dict[str, Any]] = {
    "id": "order-17-shipped",
    **_OF_EVENT,
    "received_at": _AT,
    "matches": True,
    "reason": None,
    "conditions": [_TRUE],
}
SAMPLE_EVENT: Final[dict[str, Any]] = {
    "id": "order-17-shipped",
    **_OF_EVENT,
    **{name: ENTITY_EVENT[name] for name in ("before", "after", "actor")},
    "received_at": _AT,
}
RULE_FIRING: Final[dict[str, Any]] = {
    "id": "run_01k5c1v6p2f7x8y9z0a1b2c3d4",
    "status": "started",
    "event_id": "order-17-shipped",
    "operation": "update",
    "record_id": "17",
    "at": _AT,
    "run_id": "run_01k5c1v6p2f7x8y9z0a1b2c3d4",
    "message": None,
}
