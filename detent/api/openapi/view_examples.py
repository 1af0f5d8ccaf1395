"""The examples of documents that pages are built from: outlines, graphs, steps, waits and the system."""

from __future__ import annotations

from typing import Any, Final

from detent.api.openapi.examples import FIRING, SUMMARY
from detent.values.limits import DEFINITION_LIMIT, INPUT_LIMIT

_AT: Final = "2026-02-22T10:05:00Z"

OUTLINE: Final[dict[str, Any]] = {
    "run": {**SUMMARY, "status": "running", "finished_at": None},
    "why": "Step 'receipt' is being tried since 2026-02-22T10:05:02Z.",
    "reasons": [],
    "seq": 2,
    "begun_at": _AT,
    "now": "2026-02-22T10:05:03Z",
    "steps": [
        {
            "name": "charge",
            "kind": "http",
            "status": "success",
            "started_at": _AT,
            "finished_at": "2026-02-22T10:05:02.031Z",
            "duration_ms": 2031.0,
        },
        {
            "name": "receipt",
            "kind": "http",
            "status": "running",
            "started_at": "2026-02-22T10:05:02.031Z",
            "attempt": 1,
        },
    ],
    "left_out": 0,
}
GRAPH: Final[dict[str, Any]] = {
    "workflow": "order-processing",
    "version": 1,
    "form": "steps",
    "steps": [
        {
            "name": "charge",
            "title": None,
            "kind": "http",
            "label": "POST shop.example",
            "if": None,
            "join": "all",
            "needs": 0,
            "for_each": None,
        }
    ],
    "edges": [],
}
RUN_GRAPH: Final[dict[str, Any]] = {
    **GRAPH,
    "edges": [
        {
            "source": "charge",
            "target": "receipt",
            "when": "success",
            "condition": None,
            "otherwise": False,
            "state": "taken",
        }
    ],
}
STEP_DETAIL: Final[dict[str, Any]] = {
    "run_id": SUMMARY["id"],
    "step": "charge",
    "kind": "http",
    "status": "success",
    "seq": 2,
    "template": {"url": "https://shop.example/api/charge", "body": {"order_id": "{{trigger.body.order_id}}"}},
    "rendered": {"url": "https://shop.example/api/charge", "body": {"order_id": 123}},
    "expressions": [{"at": "body.order_id", "source": "trigger.body.order_id", "value": 123}],
    "output": {"amount": 42.5},
    "status_code": 200,
    "headers": {"content-type": "application/json"},
    "attempts": [],
    "curl": "curl -g -X POST https://shop.example/api/charge",
}
WAIT: Final[dict[str, Any]] = {
    "run": {**SUMMARY, "status": "running", "finished_at": None},
    "step": "approve",
    "title": "Approve the discount",
    "question": None,
    "created_at": _AT,
    "until": "2026-02-25T10:05:00Z",
    "url": "https://detent.example/wh/AZk3…",
    "input": {"order_id": 123},
}
RESOURCE: Final[dict[str, Any]] = {
    "system": "monday",
    "type": "item",
    "id": "17",
    "url": "https://example.monday.com/items/17",
    "run_id": SUMMARY["id"],
    "step": "create-item",
    "linked_at": _AT,
}
BLOB: Final[dict[str, Any]] = {
    "id": "blob_01k5c1y0s5j7x8y9z0a1b2c3d4",
    "size": 1_331_208,
    "type": "application/json",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "place": "database",
    "created_at": "2026-02-22T10:05:00Z",
    "url": "/api/v1/blobs/blob_01k5c1y0s5j7x8y9z0a1b2c3d4",
}
LETTER: Final[dict[str, Any]] = {
    "id": "dlt_01k5c1y0s5j7x8y9z0a1b2c3d4",
    "kind": "step",
    "state": "open",
    "workflow_id": SUMMARY["workflow_id"],
    "workflow": "order-processing",
    "run_id": SUMMARY["id"],
    "step": "charge",
    "firing_id": None,
    "trigger_id": None,
    "reason": "poison",
    "message": "the node of 'charge' died 5 times while this step was in flight alone; it is not tried again",
    "attempts": 5,
    "last_error": None,
    "written_at": _AT,
    "settled_at": None,
    "settled_by": None,
    "result": None,
}
BULK_LETTERS: Final[dict[str, Any]] = {
    "action": "requeue",
    "matched": 3,
    "dry_run": False,
    "done": 2,
    "refused": [{"id": LETTER["id"], "message": "Cannot retry a running workflow"}],
    "more": False,
}
RECEIVED_PAGE: Final[dict[str, Any]] = {
    "data": [{**FIRING, "workflow_id": SUMMARY["workflow_id"], "workflow": "order-processing"}],
    "next_cursor": None,
    "searched_until": None,
}
NODE: Final[dict[str, Any]] = {
    "id": "node_01k5c1v6p2f7x8y9z0a1b2c3d4",
    "address": None,
    "version": "0.1.0",
    "started_at": _AT,
    "lease_until": "2026-02-22T10:05:10Z",
    "alive": True,
    "queues": None,
    "actions": ["billing.charge"],
    "owned": 12,
    "slots": 1000,
    "busy": 3,
}
QUEUE: Final[dict[str, Any]] = {
    "queue": "default",
    "ready": 2,
    "oldest_at": _AT,
    "owned": 12,
    "sleeping": 340,
    "served": True,
    "capped_at": 10000,
}
STORAGE: Final[dict[str, Any]] = {
    "database_bytes": 73400320,
    "workflows": [
        {
            "workflow_id": SUMMARY["workflow_id"],
            "workflow": "order-processing",
            "runs": 1200,
            "journal_rows": 5400,
            "bytes": 2345678,
        }
    ],
    "measured_at": _AT,
}
GRID: Final[dict[str, Any]] = {
    "runs": [{"id": SUMMARY["id"], "status": "completed", "accepted_at": _AT, "version": 1}],
    "steps": ["charge"],
    "cells": [[{"s": "s", "ms": 120.5}]],
}
ME: Final[dict[str, Any]] = {
    "caller": {"name": "key deploy", "tenant": "default", "display_name": "deploy", "email": None},
    "role": "operator",
    "scopes": ["templates:read", "workflows:execute", "workflows:read"],
    "workflows": None,
    "via": "key",
    "principal": {"user_id": "key:k7m2p9xq", "display_name": "deploy", "email": None},
    "expires_at": None,
    "authenticated": True,
    "server_time": _AT,
    "version": "0.1.0",
    "base_path": "/",
    "limits": {"input_bytes": INPUT_LIMIT, "definition_bytes": DEFINITION_LIMIT, "list_limit": 200, "topics": 64},
    "features": ["catalog", "dead_letters", "graph", "inbox", "resources", "stream", "templates", "time_travel"],
}
