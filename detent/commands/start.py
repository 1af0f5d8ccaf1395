"""Starting runs: at once or later, and once for each request id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import msgspec

from detent.commands.context import CommandPart, encoder
from detent.engine.cache import Startable
from detent.engine.start import PreparedStart, StartRefused, active_key, refuse_if_active, start_run
from detent.errors import (
    InvalidInput,
    NotFound,
    NotStartable,
    Problem,
    RequestIdReused,
    RequestIdTaken,
    TooLarge,
    Unavailable,
)
from detent.instant import Instant
from detent.store.rows import RunCriteria, RunRow
from detent.values.http_body import SECRET_HEADERS
from detent.values.limits import INPUT_LIMIT
from detent.views.runs import shown_status

# The texts and numbers of a start that stand in columns of their own: what no database would take is refused here.
#
# Only the caller who gave it is told so. Once it is in a flush, it is in the way of every other run of the node.


#: So many characters have room in every database's columns and indexes.
LONGEST_WORD: Final = 255
LONGEST_LABEL: Final = 1_000
#: A column of 32 bits.
LARGEST_PRIORITY: Final = 2**31 - 1


class Words(Protocol):
    """What is looked at. Whoever calls from Python may have given anything."""

    @property
    def request_id(self) -> Any: ...
    @property
    def hero(self) -> Any: ...
    @property
    def labels(self) -> Any: ...
    @property
    def priority(self) -> Any: ...


def check_words(options: Words) -> None:
    """InvalidInput, with all that is wrong, unless every database can keep these options."""
    if options.request_id is None and options.hero is None and not options.labels and options.priority is None:
        return
    problems = list(_problems(options))
    if problems:
        told = "; ".join(map(str, problems))
        raise InvalidInput(f"the run cannot be started: {told}", problems)


def _problems(options: Words) -> Iterator[Problem]:
    if options.request_id is not None:
        yield from _word("request_id", options.request_id, LONGEST_WORD)
    if options.hero is not None:
        yield from _hero(options.hero)
    if options.labels:
        yield from _label_problems(options.labels)
    if options.priority is not None:
        yield from _priority(options.priority)


def _hero(hero: Any) -> Iterator[Problem]:
    if not isinstance(hero, tuple) or len(hero) != 2:
        yield Problem("hero", "is a type and an id")
        return
    for name, part in zip(("hero.type", "hero.id"), hero, strict=True):
        yield from _word(name, part, LONGEST_WORD)


def _label_problems(labels: Any) -> Iterator[Problem]:
    if not isinstance(labels, Mapping):
        yield Problem("labels", "are names with their texts")
        return
    for name, value in labels.items():
        wrong = list(_word("labels", name, LONGEST_LABEL))
        yield from wrong or _word(f"labels.{name}", value, LONGEST_LABEL)


def _priority(priority: Any) -> Iterator[Problem]:
    if not isinstance(priority, int) or isinstance(priority, bool):
        yield Problem("priority", f"is a whole number, not {type(priority).__name__}")
    elif not -LARGEST_PRIORITY <= priority <= LARGEST_PRIORITY:
        yield Problem("priority", f"lies between -{LARGEST_PRIORITY} and {LARGEST_PRIORITY}")


def _word(field: str, word: Any, most: int) -> Iterator[Problem]:
    if not isinstance(word, str):
        yield Problem(field, f"is a text, not {type(word).__name__}")
    elif len(word) > most:
        yield Problem(field, f"has {len(word)} characters; at most {most} are allowed")
    elif "\x00" in word:
        yield Problem(field, "holds a NUL character, which cannot be kept")
    elif not _is_text(word):
        yield Problem(field, "holds half of a surrogate pair, which is no character")


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


#: How often a start is tried again because its workflow changed, or the run in its way ended, at that very moment.
ATTEMPTS: Final = 10


@dataclass(frozen=True, slots=True)
class RunInput:
    """What a run is started with; `extra` are further parts of its input, such as `spec` and `principal`."""

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StartOptions:
    """How a run is started. The same `request_id` again gives the run that was started first. `allow_multiple`: beside
    an open run of that hero, where the workflow allows one only; `successor_of`: in place of that run, which is about
    to end."""

    request_id: str | None = None
    start_at: Instant | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    hero: tuple[str, str] | None = None
    priority: int | None = None
    trigger: str = "api"
    fired_by: bytes | None = None
    origin: tuple[bytes, str] | None = None  # the run it comes from, and how
    allow_multiple: bool = False
    parent: bytes | None = None
    id: bytes | None = None  # of the run, if somebody was told it already
    successor_of: bytes | None = None


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """A run that was accepted, now (`is_new`) or before. `started_at` lies ahead while it is pending."""

    run: bytes
    workflow: bytes
    status: str
    started_at: Instant
    is_new: bool


_NO_OPTIONS: Final = StartOptions()


class StartCommands(CommandPart):
    """A run that is accepted here is durable and will end."""

    async def start(self, workflow: str, given: RunInput, options: StartOptions = _NO_OPTIONS) -> StartAnswer:
        """Start a run of a workflow's current version. Raise AlreadyActive if the workflow allows one open run per hero
        and there is one."""
        check_words(options)
        given_input, digest = encode_input(given)
        workflows = self._context.workflows
        for _ in range(ATTEMPTS):
            try:
                ready = await workflows.startable(self._tenant, workflow)
            except (NotFound, NotStartable):
                known = await self.known(options.request_id, digest)
                if known is None:
                    raise
                return known
            try:
                check_payload(ready, given.body)
            except InvalidInput:
                # The cached version may be out of date. A request that was accepted before gets the same answer again.
                known = await self.known(options.request_id, digest)
                if known is not None:
                    return known
                current = await workflows.current(self._tenant, workflow)
                if current.version == ready.version and current.id == ready.id:
                    raise
                continue
            request = request_of(self._tenant, ready, given_input, digest, options)
            try:
                started = await start_run(self._engine, request)
            except StartRefused:
                now = await self._current(workflow)
                known = await self.known(options.request_id, digest, None if now is None else now.id)
                if known is not None:
                    return known
                await refuse_if_active(self._store, request)
                continue
            return StartAnswer(started.id, ready.id, started.status, started.started_at, True)
        raise Unavailable(f"the workflow {workflow[:200]!r} is being changed just now; try again")

    async def known(self, request_id: str | None, digest: bytes, workflow: bytes | None = None) -> StartAnswer | None:
        """Return the run that the same request started before. Raise RequestIdTaken or RequestIdReused if another
        request used its id."""
        if request_id is None:
            return None
        row = await self.run_by_request(request_id)
        if row is None:
            return None
        if workflow is not None and row.workflow != workflow:
            raise RequestIdTaken(f"the request id {request_id!r} was used to start another workflow")
        if row.request_hash is not None and row.request_hash != digest:
            raise RequestIdReused(f"the request id {request_id!r} was used with another body")
        return StartAnswer(row.id, row.workflow, shown_status(row), row.started_at, False)

    async def run_by_request(self, request_id: str) -> RunRow | None:
        """Return the run that a request id started."""
        rows = await self._store.runs(self._tenant, limit=1, where=RunCriteria(request_id=request_id))
        return rows[0] if rows else None

    async def _current(self, workflow: str) -> Startable | None:
        """Read the workflow again; `None` if it cannot be started any more."""
        try:
            return await self._context.workflows.current(self._tenant, workflow)
        except (NotFound, NotStartable):
            return None


def request_of(
    tenant: int, ready: Startable, given_input: bytes, digest: bytes, options: StartOptions
) -> PreparedStart:
    """The start of a workflow as its options want it."""
    return PreparedStart(
        tenant=tenant,
        workflow=ready.id,
        version=ready.version,
        name=ready.name,
        prepared=ready.prepared,
        input=given_input,
        trigger=options.trigger,
        queue=ready.queue,
        priority=ready.priority if options.priority is None else options.priority,
        code=ready.code,
        labels=_merged_labels(ready.labels, options.labels),
        request_id=options.request_id,
        request_hash=digest if options.request_id is not None else None,
        hero=options.hero,
        start_at=options.start_at,
        current=True,
        fired_by=options.fired_by,
        origin=options.origin[0] if options.origin else None,
        origin_kind=options.origin[1] if options.origin else None,
        active_key=_key(ready, options),
        parent=options.parent,
        id=options.id,
        asked=options.priority is not None,
        successor_of=options.successor_of,
    )


def encode_input(given: RunInput) -> tuple[bytes, bytes]:
    """The input of a run as it is kept, and a digest of what counts in it when two requests are compared."""
    headers = {name.lower(): value for name, value in given.headers.items() if name.lower() not in SECRET_HEADERS}
    try:
        body = encoder.encode(given.body)
        extra = encoder.encode(given.extra) if given.extra else b""
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidInput(f"the input is not JSON: {error}") from None
    if len(body) + len(extra) > INPUT_LIMIT:
        raise TooLarge(f"the input has {len(body) + len(extra)} bytes; at most {INPUT_LIMIT} are allowed")
    whole = {"body": msgspec.Raw(body), "headers": headers, "query": dict(given.query), **given.extra}
    return encoder.encode(whole), hashlib.sha256(body + b"\x00" + extra).digest()


def check_payload(ready: Startable, body: Any) -> None:
    """InvalidInput unless the body is what the workflow wants."""
    if ready.payload is None:
        return
    problems = ready.payload.problems(body)
    if problems:
        raise InvalidInput(f"the body does not fit the trigger_schema of {ready.name!r}", problems)


def _key(ready: Startable, options: StartOptions) -> str | None:
    if options.hero is None or options.allow_multiple or not ready.prepared.graph.one_per_hero:
        return None
    return active_key(ready.name, options.hero)


def _merged_labels(of_workflow: str | None, given: Mapping[str, str]) -> str | None:
    if not given:
        return of_workflow
    return json.dumps({**(json.loads(of_workflow) if of_workflow else {}), **given})
