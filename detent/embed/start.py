"""`detent.start` and `detent.sync.start`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detent.embed.gateway import door
from detent.embed.request import UNSET, Span, When, build_start
from detent.embed.runs import RunHandle, SyncRunHandle
from detent.embed.transaction.start import put, put_awaited
from detent.ids import RUN, show


async def start(
    workflow: Any,
    *args: Any,
    hero: Any = None,
    input: Any = UNSET,  # noqa: A002 - the word users know
    request_id: str | None = None,
    start_at: When | None = None,
    delay: Span | None = None,
    labels: Mapping[str, str] | None = None,
    priority: int | None = None,
    allow_multiple: bool = False,
    connection: Any = None,
    using: str | None = None,
    **arguments: Any,
) -> RunHandle:
    """Start a run of a Workflow class, a function made by @workflow, or a name. When this returns the run is durable.

    `args` and `arguments` are those of a function; `input` is the body of anything else. The same `request_id` never
    starts twice. It begins at once, at `start_at`, or after `delay`. AlreadyActive if the hero has an open run of it
    and it allows one only, unless `allow_multiple`.

    With `connection` (SQLAlchemy, a DB-API connection or cursor, Django; `using` names Django's) the run is part of the
    transaction that is open there: it is started when that is committed, and never if it is rolled back."""
    order = build_start(
        workflow,
        args,
        arguments,
        hero=hero,
        input=input,
        request_id=request_id,
        start_at=start_at,
        delay=delay,
        labels=labels,
        priority=priority,
        allow_multiple=allow_multiple,
    )
    if connection is not None or using is not None:
        return RunHandle(show(RUN, await put_awaited(order, connection, using)))
    started = await door().way().begin(order)
    return RunHandle(started.run_id, started)


def start_blocking(
    workflow: Any,
    *args: Any,
    hero: Any = None,
    input: Any = UNSET,  # noqa: A002 - the word users know
    request_id: str | None = None,
    start_at: When | None = None,
    delay: Span | None = None,
    labels: Mapping[str, str] | None = None,
    priority: int | None = None,
    allow_multiple: bool = False,
    connection: Any = None,
    using: str | None = None,
    **arguments: Any,
) -> SyncRunHandle:
    """`detent.start` without an event loop."""
    order = build_start(
        workflow,
        args,
        arguments,
        hero=hero,
        input=input,
        request_id=request_id,
        start_at=start_at,
        delay=delay,
        labels=labels,
        priority=priority,
        allow_multiple=allow_multiple,
    )
    if connection is not None or using is not None:
        return SyncRunHandle(show(RUN, put(order, connection, using)))
    started = door().way().start(order)
    return SyncRunHandle(started.run_id, started)
