"""Build and check the request of a start, before any connection is used."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from detent.errors import InvalidInput, NotFound, Problem
from detent.ids import new_id
from detent.instant import Instant
from detent.python.heroes import hero as hero_of
from detent.python.registry import CodeKind, Registered, registry
from detent.run.start import StartRequest
from detent.steps.errors import OutputTooLarge, Unserialisable
from detent.steps.output import encode_output
from detent.values.durations import parse_duration

# A replay runs a durable function again, so a request to Detent in its own code would be sent each time.


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def must_be_outside(what: str) -> None:
    """Raise NotInFunction if the caller is the code of a durable function itself. Its steps may do this."""
    # The loop knows it, so a process without durable functions need not import them.
    refuse = getattr(running_loop(), "refuse", None)
    if refuse is not None:
        refuse(what)


#: An input that was not given.
UNSET: Final[Any] = msgspec.UNSET
When = datetime | str
Span = float | timedelta | str


def build_start(
    workflow: Any,
    args: tuple[Any, ...],
    arguments: Mapping[str, Any],
    *,
    hero: Any = None,
    input: Any = UNSET,  # noqa: A002 - the word users know
    request_id: str | None = None,
    start_at: When | None = None,
    delay: Span | None = None,
    labels: Mapping[str, str] | None = None,
    priority: int | None = None,
    allow_multiple: bool = False,
) -> StartRequest:
    """Build the request from the arguments of `start`. Raise InvalidInput if one is invalid.

    Raise NotInFunction in the code of a durable function itself, which starts runs with `run.child` or in a step.
    """
    must_be_outside("detent.start")
    name, known = named(workflow)
    if start_at is not None and delay is not None:
        raise InvalidInput("a run begins at `start_at` or after `delay`; give one of them")
    request = StartRequest(
        workflow=name,
        body=_body(name, known, (args, arguments), input),
        hero=hero_pair(hero),
        request_id=request_id,
        start_at=None if start_at is None else instant_of(start_at),
        delay=None if delay is None else _seconds(delay),
        labels=labels or {},
        priority=priority,
        allow_multiple=allow_multiple,
        id=new_id(),
    )
    request.check()
    for label in request.labels:
        if not label or ":" in label:
            raise _wrong(f"labels.{label}", "the name of a label has no colon and is not empty")
    return request


def named(workflow: Any) -> tuple[str, Registered | None]:
    """Return the name of a workflow, and its registered code or None. Raise NotFound if it is not a workflow."""
    if isinstance(workflow, str):
        return workflow, registry.find(workflow)
    for one in registry.all():
        if one.target is workflow:
            return one.name, one
    raise NotFound(f"{workflow!r} is not a workflow: give a Workflow class, a function made by @workflow, or a name")


def hero_pair(hero: Any) -> tuple[str, str] | None:
    """Return the type and id of a hero, or None without a hero."""
    if hero is None:
        return None
    ref = hero_of(hero)
    return ref.type, ref.id


def instant_of(when: When) -> Instant:
    """Return the instant of a time. Raise InvalidInput if it has no time zone: it could mean any of 24 instants."""
    try:
        found = datetime.fromisoformat(when) if isinstance(when, str) else when
    except ValueError:
        found = None
    if not isinstance(found, datetime):
        raise _wrong("start_at", f"{when!r:.80} is not a time; give a datetime, or write 2030-01-31T12:00:00Z")
    if found.tzinfo is None:
        raise InvalidInput(f"{when!r} has no time zone; write for example datetime(..., tzinfo=UTC)")
    return round((found - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def _seconds(span: Span) -> float:
    return parse_duration(span.total_seconds() if isinstance(span, timedelta) else span)


def _wrong(field_: str, message: str) -> InvalidInput:
    problem = Problem(field_, message)
    return InvalidInput(f"the run cannot be started: {problem}", [problem])


def _body(name: str, known: Registered | None, call: tuple[tuple[Any, ...], Mapping[str, Any]], given: Any) -> Any:
    args, arguments = call
    if given is not UNSET:
        if args or arguments:
            raise InvalidInput("give the arguments of the function or `input`, not both")
        return _fitting(known, plain(given))
    if known is not None and known.kind is CodeKind.FUNCTION:
        return _fitting(known, known.target.body_of(*args, **arguments))
    if args or arguments:
        unknown = f" and no option {next(iter(arguments))!r}" if arguments else ""
        raise InvalidInput(f"the workflow {name!r} takes no arguments{unknown}; give its body as `input`")
    return {}


def _fitting(known: Registered | None, body: Any) -> Any:
    """Return the body. Raise InvalidInput, with the arguments named, if a durable function cannot take it."""
    if known is not None and known.kind is CodeKind.FUNCTION:
        known.target.arguments.check(body)
    return body


def plain(value: Any) -> Any:
    """Return a value as the JSON that will be stored. Raise InvalidInput if it has none or is too large."""
    try:
        return msgspec.json.decode(encode_output(value))["output"]
    except (Unserialisable, OutputTooLarge) as error:
        raise InvalidInput(str(error).replace("the output", "the input")) from None
