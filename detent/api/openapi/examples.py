"""The documents that OpenAPI shows as examples."""

from __future__ import annotations

from typing import Any, Final

_RUN: Final = "run_01k5c1v6p2f7x8y9z0a1b2c3d4"
_OTHER: Final = "run_01k5c1w8q3g7x8y9z0a1b2c3d4"
_WORKFLOW: Final = "wf_01k5c1s2m4d7x8y9z0a1b2c3d4"
_TRIGGER: Final = "trg_01k5c1v6p2f7x8y9z0a1b2c3d4"
_FIRING: Final = "fir_01k5c1x9r4h7x8y9z0a1b2c3d4"
_AT: Final = "2026-02-22T10:05:00Z"

WORKFLOW: Final[dict[str, Any]] = {
    "id": _WORKFLOW,
    "name": "order-processing",
    "form": "steps",
    "description": None,
    "status": "active",
    "enabled": True,
    "current_version": 1,
    "trigger": "api",
    "task_count": 1,
    "labels": {"team": "shop"},
    "inserted_at": "2026-02-22T10:00:00Z",
    "updated_at": "2026-02-22T10:00:00Z",
}
DEFINITION: Final[dict[str, Any]] = {
    "name": "order-processing",
    "labels": {"team": "shop"},
    "tasks": {"charge": {"url": "https://shop.example/api/charge"}},
}
WHOLE_WORKFLOW: Final[dict[str, Any]] = {**WORKFLOW, "definition": DEFINITION}
VERSION: Final[dict[str, Any]] = {
    "version": 1,
    "current": True,
    "checksum": "9f2c…",
    "inserted_at": "2026-02-22T10:00:00Z",
    "definition": DEFINITION,
}
DRAFT: Final[dict[str, Any]] = {
    "workflow_id": _WORKFLOW,
    "workflow": "order-processing",
    "form": "steps",
    "revision": 3,
    "problems": [{"field": "tasks.charge.needs[0]", "message": "no step 'chrage'; did you mean 'charge'?"}],
    "saved_by": "api",
    "updated_at": "2026-02-22T10:00:00Z",
    "definition": DEFINITION,
}
PUBLISHED: Final[dict[str, Any]] = {
    "workflow_id": _WORKFLOW,
    "workflow": "order-processing",
    "version": 2,
    "status": "active",
    "current_version": 2,
    "changed": True,
    "warnings": [],
    "rehearsal": None,
}
PLANNED: Final[dict[str, Any]] = {
    "file": "orders.yaml",
    "name": "order-processing",
    "form": "steps",
    "change": "change",
    "current_version": 2,
    "changes": ["step charge: retry.attempts: 3 -> 5"],
}
DIFF: Final[dict[str, Any]] = {
    "workflow_id": _WORKFLOW,
    "workflow": "order-processing",
    "from": 1,
    "to": "draft",
    "same": False,
    "steps": {
        "added": [],
        "removed": [],
        "changed": [{"name": "charge", "fields": [{"field": "timeout", "old": 30, "new": 60}]}],
    },
    "edges": {"added": [], "removed": [], "changed": []},
    "settings": [],
}
STARTED: Final[dict[str, Any]] = {
    "run_id": _RUN,
    "workflow_id": _WORKFLOW,
    "status": "running",
    "started_at": _AT,
    "start_at": None,
}
EXECUTION: Final[dict[str, Any]] = {
    "execution_id": _RUN,
    "run_id": _RUN,
    "workflow_id": _WORKFLOW,
    "status": "running",
    "status_url": f"/api/v1/executions/{_RUN}",
}
SUMMARY: Final[dict[str, Any]] = {
    "id": _RUN,
    "workflow_id": _WORKFLOW,
    "workflow": "order-processing",
    "version": 1,
    "status": "completed",
    "trigger": "api",
    "started_at": _AT,
    "start_at": None,
    "finished_at": "2026-02-22T10:05:03Z",
    "expires_at": "2026-03-24T10:05:00Z",
    "error": None,
    "origin": None,
    "request_id": "order-123",
    "trigger_id": None,
    "labels": {"team": "shop"},
    "hero": {"type": "order", "id": "123"},
    "stage": None,
    "duration_ms": 3000.0,
    "node": None,
}
RUN: Final[dict[str, Any]] = {
    **SUMMARY,
    "input": {"body": {"order_id": 123}, "headers": {}, "query": {}},
    "output": {"amount": 42.5},
    "principal": {"user_id": "U123", "display_name": "Doug", "email": "doug@example.com"},
    "via": "key shop",
    "correlation_id": "order-123",
    "queued_ms": 2.0,
    "paused_by": None,
    "paused_step": None,
    "callbacks": [],
    "tasks": {
        "charge": {
            "status": "success",
            "type": "http",
            "started_at": _AT,
            "finished_at": "2026-02-22T10:05:03Z",
            "duration_ms": 450.0,
            "attempts": [],
            "status_code": 200,
            "headers": {},
            "body": {"amount": 42.5},
            "is_truncated": False,
            "error": None,
        }
    },
}
AGAIN: Final[dict[str, Any]] = {
    **RUN,
    "id": _OTHER,
    "status": "running",
    "finished_at": None,
    "output": None,
    "request_id": None,
    "origin": {"run_id": _RUN, "kind": "retry"},
}
PAST_ATTEMPT: Final[dict[str, Any]] = {
    "step": "charge",
    "attempt": 1,
    "state": "failed",
    "outcome": "reattempted",
    "scheduled_for": _AT,
    "started_at": _AT,
    "completed_at": None,
    "failed_at": "2026-02-22T10:05:01Z",
    "skipped_at": None,
    "cancelled_at": None,
    "error_message": "HTTP 503",
    "error_traceback": None,
}
ITEM: Final[dict[str, Any]] = {
    "index": 17,
    "status": "failed",
    "attempts": 3,
    "error": {"code": "http_status", "message": "HTTP 503", "detail": None},
    "result": {"status_code": 503, "headers": {}, "body": None},
    "run_id": _OTHER,
}
TIMELINE_ENTRY: Final[dict[str, Any]] = {
    "run_id": _RUN,
    "workflow": "order-processing",
    "seq": 1,
    "at": "2026-02-22T10:05:01Z",
    "kind": "ended",
    "step": "charge",
    "attempt": 1,
    "status": "success",
    "result": {"status_code": 200, "headers": {}, "body": {"paid": True}},
    "error": None,
    "duration_ms": 84.2,
    "retry_at": None,
    "by": None,
    "finished": False,
    "carried": [],
    "skipped": [],
    "failed": {},
    "answers": {},
    "notes": [],
    "sleep_until": {},
    "wait_until": {},
    "run_status": None,
}
HIERARCHY: Final[dict[str, Any]] = {"run_id": _RUN, "complete": True, "root": {**SUMMARY, "children": []}}
WHY: Final[dict[str, Any]] = {
    "run_id": _RUN,
    "status": "running",
    "summary": "Step 'answer' waits for its callback until 2026-02-25T10:05:00Z.",
    "reasons": [
        {
            "kind": "callback",
            "message": "Step 'answer' waits for its callback until 2026-02-25T10:05:00Z.",
            "step": "answer",
            "since": _AT,
            "until": "2026-02-25T10:05:00Z",
            "details": None,
        }
    ],
}
EVALUATION: Final[dict[str, Any]] = {
    "run_id": _RUN,
    "step": "receipt",
    "language": 2,
    "value": [{"sku": "a-1", "qty": 2}],
    "error": None,
}
BULK: Final[dict[str, Any]] = {
    "action": "retry",
    "matched": 12,
    "dry_run": False,
    "done": 11,
    "refused": [{"run_id": _OTHER, "message": f"it was run again already, as {_RUN}"}],
    "more": False,
    "previews": [],
}
REHEARSAL: Final[dict[str, Any]] = {
    "workflow": "order-processing",
    "version": 4,
    "days": 7,
    "in_flight": 3,
    "finished": 40,
    "same": 41,
    "other": 2,
    "failing": 0,
    "groups": [
        {
            "runs": 2,
            "in_flight": False,
            "same": False,
            "detours": [{"step": "ship", "was": "success", "now": "skipped", "edge": "charge -> ship"}],
            "failures": [],
            "new_steps": [],
            "differences": [{"step": "charge", "field": "body.amount", "old": "42.5", "new": "40"}],
            "examples": [_RUN],
        }
    ],
    "matched": 3,
    "movable": 3,
    "moves": [
        {
            "runs": 3,
            "was": 3,
            "at": ["approval"],
            "movable": True,
            "begins": [],
            "reasons": [],
            "examples": [_OTHER],
        }
    ],
}
RETRY_PREVIEW: Final[dict[str, Any]] = {
    "run_id": _RUN,
    "version": 4,
    "kept": ["reserve"],
    "again": ["charge", "ship"],
}
MOVE: Final[dict[str, Any]] = {
    "run_id": _RUN,
    "was": 3,
    "version": 4,
    "dry_run": False,
    "movable": True,
    "begins": ["notify"],
    "reasons": [],
    "requested": False,
}
MOVES: Final[dict[str, Any]] = {
    "version": 4,
    "dry_run": True,
    "matched": 12,
    "movable": 11,
    "sent": 0,
    "groups": [
        {
            "runs": 11,
            "was": 3,
            "at": ["approval"],
            "movable": True,
            "begins": ["notify"],
            "reasons": [],
            "examples": [_RUN],
        },
        {
            "runs": 1,
            "was": 3,
            "at": ["charge"],
            "movable": False,
            "begins": [],
            "reasons": [{"step": "charge", "message": "'charge' is running, and version 4 has no step of that name"}],
            "examples": [_OTHER],
        },
    ],
    "more": False,
}
TRIGGER: Final[dict[str, Any]] = {
    "id": _TRIGGER,
    "workflow_id": _WORKFLOW,
    "workflow": "order-processing",
    "type": "cron",
    "name": "every weekday",
    "enabled": True,
    "owned_by": "api",
    "config": {
        "cron_expression": "0 9 * * 1-5",
        "timezone": "Europe/Zurich",
        "jitter": 0,
        "missed": "last",
        "missed_window": 86400,
        "overlap": "skip",
    },
    "condition": None,
    "note": None,
    "url": None,
    "next_at": "2026-02-23T08:00:00Z",
    "last_fired_at": None,
    "inserted_at": "2026-02-22T10:00:00Z",
    "updated_at": "2026-02-22T10:00:00Z",
}
FIRING: Final[dict[str, Any]] = {
    "id": _FIRING,
    "trigger_id": _TRIGGER,
    "type": "webhook",
    "status": "started",
    "scheduled_at": None,
    "received_at": "2026-02-22T10:05:00Z",
    "run_id": _RUN,
    "message": None,
    "replay_of": None,
}
WHOLE_FIRING: Final[dict[str, Any]] = {
    **FIRING,
    "request": {"method": "POST", "query": {}, "headers": {"content-type": "application/json"}, "body": {"id": 7}},
}
BACKFILL: Final[dict[str, Any]] = {
    "matched": 1,
    "dry_run": False,
    "slots": ["2026-02-20T08:00:00Z"],
    "firings": [{"slot": "2026-02-20T08:00:00Z", "firing_id": _FIRING, "status": "due"}],
}
EVENT: Final[dict[str, Any]] = {
    "id": "evt_01k5c1x9r4h7x8y9z0a1b2c3d4",
    "type": "order.paid",
    "matched": 1,
    "firings": [{"trigger_id": _TRIGGER, "firing_id": _FIRING, "status": "started", "run_id": _RUN}],
}
APPLIED: Final[dict[str, Any]] = {"change": "created", "trigger": TRIGGER}
WEBHOOK_STARTED: Final[dict[str, Any]] = {
    "status": "started",
    "firing_id": _FIRING,
    "run_id": _RUN,
    "execution_id": _RUN,
    "callbacks": [],
}
WEBHOOK_IGNORED: Final[dict[str, Any]] = {
    "status": "ignored",
    "firing_id": _FIRING,
    "message": "the condition is false",
}
_COUNTS: Final[dict[str, Any]] = {
    "completed": 41,
    "running": 1,
    "waiting": 2,
    "attention": 0,
    "failed": 3,
    "cancelled": 0,
    "scheduled": 1,
}
HISTOGRAM: Final[dict[str, Any]] = {
    "from": "2026-02-22T00:00:00Z",
    "to": "2026-02-23T00:00:00Z",
    "bucket_ms": 86_400_000.0,
    "buckets": [{"at": "2026-02-22T00:00:00Z", **_COUNTS}],
    "totals": _COUNTS,
    "searched_until": None,
}
COUNTS: Final[dict[str, Any]] = {
    "views": {"all": 10_000, "running": 1, "waiting": 2, "person": 0, "failing": 3, "stuck": 0, "paused": 0},
    "capped_at": 10_000,
}
FACETS: Final[dict[str, Any]] = {
    "workflows": [{"value": "order-processing", "id": _WORKFLOW, "count": 47}],
    "triggers": [{"value": "api", "count": 47}],
    "statuses": [{"value": "completed", "count": 41}],
    "versions": [],
    "labels": [{"key": "team", "value": "shop", "count": 40}],
    "runs": 47,
    "sampled": False,
    "searched_until": None,
}
SEARCH: Final[dict[str, Any]] = {
    "workflows": [{"id": _WORKFLOW, "name": "order-processing", "title": None}],
    "runs": [SUMMARY],
    "heroes": [{"type": "order", "id": "123", "runs": 2}],
    "triggers": [{"id": _TRIGGER, "name": "nightly", "workflow": "order-processing", "type": "cron"}],
}
HERO: Final[dict[str, Any]] = {"type": "order", "id": "123", "runs": 2, "last_run": SUMMARY}
STATS: Final[dict[str, Any]] = {
    "workflow_id": _WORKFLOW,
    "workflow": "order-processing",
    "recent": [{"id": _RUN, "status": "completed", "duration_ms": 3000.0, "accepted_at": _AT}],
    "runs": 47,
    "success_rate": 0.93,
    "p50_ms": 3000.0,
    "p95_ms": 9000.0,
    "in_flight": {"1": 3},
    "last_at": _AT,
    "next_at": None,
}


def one(document: dict[str, Any]) -> dict[str, Any]:
    return {"data": document}


def many(document: dict[str, Any]) -> dict[str, Any]:
    return {"data": [document], "next_cursor": None}


def searched(document: dict[str, Any]) -> dict[str, Any]:
    return {"data": [document], "next_cursor": None, "searched_until": None}
