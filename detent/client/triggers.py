"""The operations on triggers and their firings: each function describes one call."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import UNSET, UnsetType

from detent.client.calls import JSON, PAGE, Call, Pages, given, instant, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.triggers import AppliedTrigger, BackfillDocument, FiringDocument, TriggerDocument

_trigger: Final = one(TriggerDocument)
_firing: Final = one(FiringDocument)


def create(
    workflow: str,
    type: str,  # noqa: A002
    config: Mapping[str, Json] | None = None,
    *,
    name: str | None = None,
    condition: str | None = None,
    enabled: bool = True,
) -> Call[TriggerDocument]:
    """Create a trigger of a workflow. `type` is `cron`, `webhook`, `event` or `manual`; `config` has its fields."""
    body = {"workflow": workflow, "type": type, "config": dict(config or {}), "enabled": enabled}
    body |= {key: value for key, value in (("name", name), ("condition", condition)) if value is not None}
    return Call("POST", url_path("triggers"), _trigger, body=json_body(body), headers=JSON, repeatable=False)


def apply(
    workflow: str,
    name: str,
    type: str,  # noqa: A002
    config: Mapping[str, Json] | None = None,
    *,
    condition: str | None = None,
    enabled: bool | None = None,
) -> Call[AppliedTrigger]:
    """Create the trigger of this name, or change it to this. The same call twice does nothing more. Without `enabled`
    a trigger that is paused stays paused."""
    body: dict[str, Json] = {"workflow": workflow, "name": name, "type": type, "config": dict(config or {})}
    body |= {key: value for key, value in (("condition", condition), ("enabled", enabled)) if value is not None}
    return Call("PUT", url_path("triggers"), one(AppliedTrigger), body=json_body(body), headers=JSON, repeatable=True)


def get(trigger: str) -> Call[TriggerDocument]:
    """Return a trigger by its id."""
    return Call("GET", url_path("triggers", trigger), _trigger)


def list_all(
    *,
    workflow: str | None = None,
    type: str | None = None,  # noqa: A002
    enabled: bool | None = None,
    limit: int = PAGE,
) -> Pages[TriggerDocument]:
    """Yield all triggers, or those of a workflow, of a type, enabled or paused."""
    query = given(workflow=workflow, type=type, enabled=enabled, limit=limit)
    return Pages(Call("GET", url_path("triggers"), page(TriggerDocument), query=query))


def update(
    trigger: str,
    *,
    config: Mapping[str, Json] | UnsetType = UNSET,
    name: str | UnsetType | None = UNSET,
    condition: str | UnsetType | None = UNSET,
    note: str | UnsetType | None = UNSET,
    enabled: bool | UnsetType = UNSET,
    if_updated_at: datetime | UnsetType = UNSET,
) -> Call[TriggerDocument]:
    """Change the fields that are given. `if_updated_at` is the `updated_at` of the trigger that was edited. Raise
    PreconditionFailed if the trigger has changed since then."""
    wanted = {
        "config": config,
        "name": name,
        "condition": condition,
        "note": note,
        "enabled": enabled,
        "updated_at": instant(if_updated_at) if isinstance(if_updated_at, datetime) else UNSET,
    }
    body = {key: value for key, value in wanted.items() if value is not UNSET}
    # With `if_updated_at` a retry is not safe: it fails after our own first change just as after another client's.
    repeatable = if_updated_at is UNSET
    where = url_path("triggers", trigger)
    return Call("PUT", where, _trigger, body=json_body(body), headers=JSON, repeatable=repeatable)


def delete(trigger: str) -> Call[TriggerDocument]:
    """Delete a trigger. The runs that it started go on."""
    return Call("DELETE", url_path("triggers", trigger), _trigger)


def fire(trigger: str, body: Json = None) -> Call[FiringDocument]:
    """Fire a trigger now, also if it is paused."""
    sent = json_body({} if body is None else {"body": body})
    return Call("POST", url_path("triggers", trigger, "fire"), _firing, body=sent, headers=JSON, repeatable=False)


def pause(trigger: str, note: str | None = None) -> Call[TriggerDocument]:
    """Pause a trigger until it is resumed. `note` is the reason, for other people."""
    body = json_body({} if note is None else {"note": note})
    return Call("POST", url_path("triggers", trigger, "pause"), _trigger, body=body, headers=JSON)


def resume(trigger: str) -> Call[TriggerDocument]:
    """Resume a trigger."""
    return Call("POST", url_path("triggers", trigger, "resume"), _trigger)


def coming(trigger: str, count: int = 10) -> Call[list[datetime]]:
    """Return the next `count` times at which a trigger fires."""
    return Call("GET", url_path("triggers", trigger, "next"), one(list[datetime]), query=given(count=count))


def preview(cron_expression: str, *, timezone: str | None = None, count: int = 10) -> Call[list[datetime]]:
    """Return the next `count` times of a cron expression."""
    query = given(cron_expression=cron_expression, timezone=timezone, count=count)
    return Call("GET", url_path("schedules", "preview"), one(list[datetime]), query=query)


def backfill(
    trigger: str, since: datetime | str, until: datetime | str, *, dry_run: bool = True
) -> Call[BackfillDocument]:
    """Fire the slots of a range in the past. Unless `dry_run` is false, only list them."""
    body = {"from": instant(since), "to": instant(until), "dry_run": dry_run}
    where = url_path("triggers", trigger, "backfill")
    return Call("POST", where, one(BackfillDocument), body=json_body(body), headers=JSON, repeatable=dry_run)


def firings(trigger: str, *, state: str | None = None, limit: int = PAGE) -> Pages[FiringDocument]:
    """Yield the firings of a trigger with their results, newest first, including refused ones."""
    query = given(state=state, limit=limit)
    return Pages(Call("GET", url_path("triggers", trigger, "firings"), page(FiringDocument), query=query))


def firing(trigger: str, firing: str) -> Call[FiringDocument]:
    """Return a firing with the request that it received."""
    return Call("GET", url_path("triggers", trigger, "firings", firing), _firing)


def replay(trigger: str, firing: str) -> Call[FiringDocument]:
    """Fire again with the request of an earlier firing."""
    return Call("POST", url_path("triggers", trigger, "firings", firing, "replay"), _firing, repeatable=False)
