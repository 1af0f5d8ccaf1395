"""The request that editors of rules send, and a client for it."""

from __future__ import annotations

import copy
from typing import Any

from tests.api.server import Answer, Detent

FULL = "/v1/workflow/rules"
RULES = "/api/v1/rules"
ENTITIES = "/api/v1/entities"

#: As an editor sends it: an action that exists, a new one, and places that name both.
SAVE: dict[str, Any] = {
    "name": "Order Status Notification",
    "description": "Send notifications when order status changes",
    "is_active": True,
    "entity_id": "uuid",
    "trigger_type_id": "on_update",
    "trigger_conditions": {
        "field_conditions": [{"field_name": "status", "operator": "changed_to", "value": "shipped"}]
    },
    "actions": [
        {
            "id": None,
            "name": "Send Email",
            "action_config": {
                "recipients": ["{{customer_email}}"],
                "subject": "Order {{number}} Shipped",
                "body": "Your order has shipped!",
            },
            "execution_order": 1,
        },
        {
            "id": None,
            "name": "Create Alert",
            "action_config": {
                "alert_type": "order_shipped",
                "severity": "low",
                "title": "Order shipped",
                "message": "Order {{number}} shipped to {{customer_name}}",
            },
            "execution_order": 1,
        },
    ],
    "edges": [
        {"source_action_id": None, "target_action_id": "temp:0", "edge_type": "start"},
        {"source_action_id": "temp:0", "target_action_id": "temp:1", "edge_type": "sequence"},
    ],
    "canvas_layout": {
        "viewport": {"x": 0, "y": 0, "zoom": 1},
        "node_positions": {
            "trigger": {"x": 100, "y": 100},
            "temp:0": {"x": 300, "y": 100},
            "temp:1": {"x": 300, "y": 250},
        },
    },
}


def request_of(**changes: Any) -> dict[str, Any]:
    """The request for a new rule of the entity `order`, with other fields."""
    return {**copy.deepcopy(SAVE), "entity_id": "order", **changes}


async def add_entity(detent: Detent, name: str = "order", **given: Any) -> dict[str, Any]:
    answer = await detent.call("POST", ENTITIES, json={"name": name, **given})
    assert answer.status == 201, answer.json
    return dict(answer.json["data"])


async def create(detent: Detent, **changes: Any) -> Answer:
    """Create a rule, and its entity before it."""
    await add_entity(detent)
    answer = await detent.call("POST", f"{FULL}/full", json=request_of(**changes))
    assert answer.status == 201, answer.json
    return answer


def problems(answer: Answer) -> list[tuple[str, str]]:
    assert answer.status == 400, answer.json
    found = answer.json["details"]["validation_errors"]
    return [(one["field"], one["message"]) for one in found]
