"""What there is to ask about: the ids of workflows, runs and triggers that exist, so that a request gets beyond 404.

A few workflows are saved and started by hand; the rest is learned from what the server answers.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import requests

_SIZE: Final = 40
_SECONDS: Final = 5.0
_ID: Final = re.compile(r"\b(wf|run|trg|fir|dlt|ent|act|edge|alt|atp)_[0-9a-z]{26}\b")
_TOKEN: Final = re.compile(r"/wh/([\w.~-]{16,200})")
_CURSOR: Final = re.compile(r'"next_cursor":\s*"([^"]{1,2000})"')
_OWNED: Final = re.compile(r'"((?:run|fir)_[0-9a-z]{26})",\s*"(?:workflow|trigger)_id":\s*"((?:wf|trg)_[0-9a-z]{26})"')
_POOL_OF: Final = {
    "wf": "workflow",
    "run": "run",
    "trg": "trigger",
    "fir": "firing",
    "dlt": "letter",
    "ent": "entity",
    "act": "catalog",
    "edge": "edge",
    "alt": "alert",
    "atp": "template",
}
#: The name of a parameter or a field, and the pool that has values for it.
FED: Final[Mapping[str, str]] = {
    "workflow": "workflow",
    "workflow_id": "workflow",
    "workflowId": "workflow",
    "run": "run",
    "run_id": "run",
    "origin": "run",
    "trigger": "trigger",
    "trigger_id": "trigger",
    "firing": "firing",
    "letter": "letter",
    "rule": "workflow",
    "entity": "entity",
    "edge": "edge",
    "alert": "alert",
    "template": "template",
    "template_set": "set",
    "set": "set",
    "connector": "connector",
    "form": "form",
    "hero_type": "hero_type",
    "hero_id": "hero_id",
    "version": "version",
    "step": "step",
    "token": "token",
    "cursor": "cursor",
    "If-Match": "etag",
    "Idempotency-Key": "request",
    "request_id": "request",
    "requestId": "request",
    "label": "pair",
    "hero": "pair",
    "status": "status",
    "state": "status",
    "include": "include",
    "event": "event",
    "action": "action",
    "type": "type",
    "start_at": "instant",
    "startAt": "instant",
    "started_after": "instant",
    "started_before": "instant",
    "from": "past",
    "to": "past",
    "wait": "wait",
    "cron_expression": "cron",
    "timezone": "timezone",
    "after": "number",
    "limit": "number",
    "offset": "number",
    "count": "number",
    "Last-Event-ID": "number",
}
#: Names that mean something else in the path of a route than in a query or a body.
FED_PATH: Final[Mapping[str, str]] = {"action": "catalog", "number": "version", "name": "signal"}
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "catalog": ("core.echo", "slack.post-message", "github.create-issue"),
    "connector": ("slack", "github", "core"),
    "entity": ("order", "customer"),
    "edge": ("edge_01k5c1v6p2f7x8y9z0a1b2c3d4",),
    "alert": ("alt_01k5c1v6p2f7x8y9z0a1b2c3d4",),
    "form": ("steps", "graph", "rule"),
    "hero_type": ("order",),
    "hero_id": ("1",),
    "version": ("1",),
    "signal": ("go",),
    "step": ("one", "two", "hold", "nap", "fail"),
    "template": ("trial-expiry", "webhook-relay", "brief", "say"),
    "set": ("briefs", "other"),
    "request": ("order-1", "order-2", "order-3"),
    "pair": ("team:shop", "order:1", "team:", ":", "a:b:c"),
    "status": ("running", "completed", "failed", "paused", "pending", "Succeeded", "started", "due", "errored"),
    "include": ("actions", "resources", "events", "children", "actions,events"),
    "event": ("order.paid", "order.*"),
    "action": ("cancel", "pause", "resume", "retry", "rerun"),
    "type": ("api", "cron", "webhook", "event", "manual", "order.paid"),
    "instant": ("2020-01-01T00:00:00Z", "2030-01-01T00:00:00+02:00", "1s", "10m", "9999-12-31T23:59:59Z", "1970-01-01"),
    "past": ("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "2025-12-31T00:00:00-05:00", "9999-12-31T23:59:59Z"),
    "wait": ("0s", "100ms", "1s", "61s", "-1s"),
    "cron": ("* * * * *", "0 3 * * 1-5", "@daily", "0 0 30 2 *", "*/7 0-23/2 1,15 * *"),
    "timezone": ("UTC", "Europe/Berlin", "Mars/Olympus"),
    "number": ("0", "1", "2", "50", "200", "201", "2147483647", "-1", "007"),
}
_NOWHERE: Final = "http://127.0.0.1:1/"
#: Every kind of step, and every state a run can be in.
WORKFLOWS: Final[tuple[dict[str, Any], ...]] = (
    {"name": "echo", "labels": {"team": "shop"}, "tasks": {"one": {"action": "core.echo", "with": {"a": 1}}}},
    {
        "name": "hold",
        "tasks": {"hold": {"wait_for_webhook": {"timeout": "1h"}}, "two": {"needs": ["hold"], "sleep": 0}},
    },
    {"name": "nap", "tasks": {"nap": {"sleep": "1h"}, "two": {"needs": ["nap"], "action": "core.echo"}}},
    {"name": "fail", "tasks": {"one": {"action": "core.echo"}, "fail": {"needs": ["one"], "action": "core.fail"}}},
    {"name": "call", "tasks": {"one": {"url": _NOWHERE, "retries": 1}, "two": {"url": _NOWHERE, "if": "false"}}},
    {
        "name": "strict",
        "trigger_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
        "tasks": {"one": {"action": "core.echo", "with": {"n": "{{trigger.body.n}}"}}},
    },
    {
        "name": "daily",
        "trigger": {"type": "cron", "cron_expression": "0 3 * * *", "overlap": "skip"},
        "tasks": {"one": {"action": "core.echo"}},
    },
    {"name": "hooked", "trigger": {"type": "webhook"}, "tasks": {"one": {"action": "core.echo"}}},
    {"name": "paid", "trigger": {"type": "event", "event": "order.paid"}, "tasks": {"one": {"action": "core.echo"}}},
)
#: A document template and a workflow template, by their places.
TEMPLATES: Final[Mapping[str, dict[str, Any]]] = {
    "templates/brief?set=briefs": {"title": "Brief", "body": "{{ answers }} {{ extras.n }}"},
    "templates/workflows": {
        "id": "say",
        "title": "Say",
        "config_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "definition": {"tasks": {"say": {"action": "core.echo", "with": {"text": "${config.text}"}}}},
    },
}


class Pools:
    """Values by the name of their pool; of what is learned the latest are kept."""

    def __init__(self) -> None:
        self._learned: dict[str, deque[str]] = {}
        self._owners: dict[str, str] = {}

    def pick(self, pool: str, number: int) -> str | None:
        """A value out of that pool; `None` if there is none yet."""
        values = (*self._learned.get(pool, ()), *_WORDS.get(pool, ()))
        return values[number % len(values)] if values else None

    def owner(self, thing: str | None) -> str | None:
        """The workflow of a run, or the trigger of a firing."""
        return self._owners.get(thing or "")

    def learn(self, answer: requests.Response) -> None:
        """Whatever an answer names. Errors only repeat what was asked."""
        if not answer.ok:
            return
        text, etag = answer.text, answer.headers.get("ETag")
        for match in _ID.finditer(text):
            self._add(_POOL_OF[match.group(1)], match.group())
        for match in _TOKEN.finditer(text):
            self._add("token", match.group(1))
        for match in _CURSOR.finditer(text):
            self._add("cursor", match.group(1))
        self._owners.update((match[1], match[2]) for match in _OWNED.finditer(text))
        if etag:
            self._add("etag", etag)

    def _add(self, pool: str, value: str) -> None:
        known = self._learned.setdefault(pool, deque(maxlen=_SIZE))
        if value not in known:
            known.append(value)

    def furnish(self, session: requests.Session, url: str) -> None:
        """Put the workflows there again, whatever was done to them, and start each."""
        base = f"{url}/api/v1/workflows"
        for definition in WORKFLOWS:
            name = definition["name"]
            self._add("workflow", name)
            self._call(session, "PUT", f"{base}/{name}", data=json.dumps(definition))
            self._call(session, "POST", f"{base}/{name}/enable")
            self._call(session, "POST", f"{base}/{name}/trigger", data=b'{"n": 1}')
        later = {"start_at": "1h", "label": "team:shop", "hero": "order:1"}
        self._call(session, "POST", f"{base}/echo/trigger", params=later)
        schedule = {"workflow": "echo", "type": "cron", "config": {"cron_expression": "0 3 * * *"}}
        self._call(session, "POST", f"{url}/api/v1/triggers", json=schedule)
        for place, given in TEMPLATES.items():
            self._call(
                session, "PUT" if place.startswith("templates/brief") else "POST", f"{url}/api/v1/{place}", json=given
            )
        for trigger in list(self._learned.get("trigger", ()))[-len(WORKFLOWS) :]:
            self._call(session, "POST", f"{url}/api/v1/triggers/{trigger}/fire")
        for place in ("runs", "runs?status=running&include=actions", "triggers", "workflows"):
            self._call(session, "GET", f"{url}/api/v1/{place}")
        for run in list(self._learned["run"])[-len(WORKFLOWS) :]:
            self._call(session, "GET", f"{url}/api/v1/runs/{run}")

    def _call(self, session: requests.Session, method: str, place: str, **options: Any) -> None:
        answer = session.request(method, place, timeout=_SECONDS, **options)
        self.learn(answer)
