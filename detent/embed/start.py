"""`detent.start` and `detent.sync.start`."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from detent.client import runs as run_calls
from detent.client.calls import JSON, Answer, Call, duration, instant, json_body, one, url_path
from detent.client.client import RunHandle, SyncRunHandle
from detent.documents.runs import ExecutionStarted, StartedDocument
from detent.embed.gateway import ASYNC_DRIVER, DRIVER
from detent.embed.request import UNSET, Span, When, build_start
from detent.embed.transaction.start import put, put_awaited
from detent.embed.uncommitted import SyncUncommittedRun, UncommittedRun
from detent.errors import NotFound
from detent.ids import RUN, show
from detent.instant import as_datetime
from detent.python.registry import registry
from detent.run.start import StartRequest


def start_call(order: StartRequest) -> Call[StartedDocument]:
    """Build the request of a start. Its only header is the caller's request id: headers are stored with the run."""
    begins: Any = None
    if order.delay is not None:
        begins = duration(order.delay)
    elif order.start_at is not None:
        begins = instant(as_datetime(order.start_at))
    if order.priority is not None:
        return _execute_call(order, begins)
    call = run_calls.start(
        order.workflow,
        request_id=order.request_id,
        start_at=begins,
        labels=order.labels,
        hero=order.hero,
        allow_multiple=order.allow_multiple or None,
    )
    headers = {name: value for name, value in call.headers.items() if name != "Content-Type"}
    return replace(call, body=json_body(order.body), headers=headers)


def _execute_call(order: StartRequest, begins: str | None) -> Call[StartedDocument]:
    """Build the request of a start with a priority, which only an envelope has."""
    envelope = {
        "requestId": order.request_id,
        "trigger": order.body,
        "priority": order.priority,
        "labels": dict(order.labels),
        "hero": None if order.hero is None else {"type": order.hero[0], "id": order.hero[1]},
        "allowMultiple": order.allow_multiple,
        "startAt": begins,
    }
    body = json_body({name: value for name, value in envelope.items() if value is not None})
    where = url_path("workflows", order.workflow, "execute")
    key = None if order.request_id is not None else secrets.token_hex(16)
    return Call("POST", where, _read_execution, body=body, headers=JSON, key=key)


_execution: Final = one(ExecutionStarted)


def _read_execution(answer: Answer) -> StartedDocument:
    found = _execution(answer)
    return StartedDocument(
        run_id=found.run_id, workflow_id=found.workflow_id, status=found.status, started_at=None, start_at=None
    )


@contextmanager
def _explained(order: StartRequest) -> Iterator[None]:
    """Add to NotFound how the other Detent can load code that this process has."""
    try:
        yield
    except NotFound as error:
        known = registry.find(order.workflow)
        if known is None:
            raise
        module = known.place.partition(":")[0]
        raise NotFound(
            f"{error.message}; that engine must import {module}, as in `detent serve --import {module}`"
        ) from error


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

    `args` and `arguments` are those of a durable function; `input` is the body of any other workflow. The same
    `request_id` never starts two runs. The run begins at once, at `start_at`, or after `delay`. Raise AlreadyActive if
    the hero has an active run of the workflow, and neither the workflow nor `allow_multiple` allows a second one.

    With `connection` (SQLAlchemy, a DB-API connection or cursor, Django; `using` names Django's) the start is part of
    the open transaction there. The run begins when that is committed, and never if it is rolled back.
    """
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
        return UncommittedRun(show(RUN, await put_awaited(order, connection, using)))
    with _explained(order):
        started = await ASYNC_DRIVER.ask(start_call(order))
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
    """Start a run as `detent.start` does, without an event loop."""
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
        return SyncUncommittedRun(show(RUN, put(order, connection, using)))
    with _explained(order):
        started = DRIVER.ask(start_call(order))
    return SyncRunHandle(started.run_id, started)
