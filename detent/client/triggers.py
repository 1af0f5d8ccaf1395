"""What can be asked about triggers and their firings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import UNSET, UnsetType

from detent.client.calls import JSON, PAGE, Call, Pages, given, instant, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.triggers import BackfillDocument, FiringDocument, TriggerDocument

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
    """A trigger of a workflow: `cron`, `webhook`, `event` or `manual`, with the fields of that type in `config`."""
    body = {"workflow": workflow, "type": type, "config": dict(config or {}), "enabled": enabled}
    body |= {key: value for key, value in (("name", name), ("condition", condition)) if value is not None}
    return Call("POST", url_path("triggers"), _trigger, body=json_body(body), headers=JSON, repeatable=False)


def get(trigger: str) -> Call[TriggerDocument]:
    """A trigger by its id."""
    return Call("GET", url_path("triggers", trigger), _trigger)


def list_all(
    *,
    workflow: str | None = None,
    type: str | None = None,  # noqa: A002
    enabled: bool | None = None,
    limit: int = PAGE,
) -> Pages[TriggerDocument]:
    """All triggers, or those of a workflow, of a type, enabled or not."""
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
    """Change what is given, keep the rest. With the `updated_at` of the trigger it was made from as `if_updated_at`,
    PreconditionFailed if somebody else changed it since."""
    wanted = {
        "config": config,
        "name": name,
        "condition": condition,
        "note": note,
        "enabled": enabled,
        "updated_at": instant(if_updated_at) if isinstance(if_updated_at, datetime) else UNSET,
    }
    body = {key: value for key, value in wanted.items() if value is not UNSET}
    # A change that must come first cannot be told from somebody else's when it is sent again.
    repeatable = if_updated_at is UNSET
    where = url_path("triggers", trigger)
    return Call("PUT", where, _trigger, body=json_body(body), headers=JSON, repeatable=repeatable)


def delete(trigger: str) -> Call[TriggerDocument]:
    """Remove a trigger. The runs it started go on."""
    return Call("DELETE", url_path("triggers", trigger), _trigger)


def fire(trigger: str, body: Json = None) -> Call[FiringDocument]:
    """Fire it now, whatever its schedule."""
    sent = json_body({} if body is None else {"body": body})
    return Call("POST", url_path("triggers", trigger, "fire"), _firing, body=sent, headers=JSON, repeatable=False)


def pause(trigger: str, note: str | None = None) -> Call[TriggerDocument]:
    """Let it fire no more until it is resumed. `note` tells others why."""
    body = json_body({} if note is None else {"note": note})
    return Call("POST", url_path("triggers", trigger, "pause"), _trigger, body=body, headers=JSON)


def resume(trigger: str) -> Call[TriggerDocument]:
    """Let it fire again."""
    return Call("POST", url_path("triggers", trigger, "resume"), _trigger)


def coming(trigger: str, count: int = 10) -> Call[list[datetime]]:
    """When it will fire next, `count` times."""
    return Call("GET", url_path("triggers", trigger, "next"), one(list[datetime]), query=given(count=count))


def preview(cron_expression: str, *, timezone: str | None = None, count: int = 10) -> Call[list[datetime]]:
    """When a schedule would fire."""
    query = given(cron_expression=cron_expression, timezone=timezone, count=count)
    return Call("GET", url_path("schedules", "preview"), one(list[datetime]), query=query)


def backfill(
    trigger: str, since: datetime | str, until: datetime | str, *, dry_run: bool = True
) -> Call[BackfillDocument]:
    """Fire the slots of a range that has passed. Unless `dry_run` is false it only lists them."""
    body = {"from": instant(since), "to": instant(until), "dry_run": dry_run}
    where = url_path("triggers", trigger, "backfill")
    return Call("POST", where, one(BackfillDocument), body=json_body(body), headers=JSON, repeatable=dry_run)


def firings(trigger: str, *, state: str | None = None, limit: int = PAGE) -> Pages[FiringDocument]:
    """Every time it fired, newest first: what came of it, refused ones too."""
    query = given(state=state, limit=limit)
    return Pages(Call("GET", url_path("triggers", trigger, "firings"), page(FiringDocument), query=query))


def firing(trigger: str, firing: str) -> Call[FiringDocument]:
    """One firing, with the request that was received."""
    return Call("GET", url_path("triggers", trigger, "firings", firing), _firing)


def replay(trigger: str, firing: str) -> Call[FiringDocument]:
    """Replay a firing with the request it received."""
    return Call("POST", url_path("triggers", trigger, "firings", firing, "replay"), _firing, repeatable=False)
