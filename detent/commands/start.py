"""Starts: a request is checked, resolved to a version of its workflow, and accepted once for each request id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from detent.auth.caller import Caller
from detent.auth.scopes import Scope
from detent.blobs.library import read_json_blob
from detent.commands.context import CommandContext, CommandPart, encoder
from detent.commands.drafts import DRAFT, DraftCommands
from detent.commands.workflows import WorkflowCommands
from detent.engine.cache import Startable
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import StartRefused, active_key, refuse_if_active, start_run
from detent.errors import (
    InvalidInput,
    NotFound,
    NotStartable,
    RequestIdReused,
    RequestIdTaken,
    TooLarge,
    Unavailable,
)
from detent.ids import WORKFLOW, show
from detent.instant import Instant
from detent.run.initiator import (
    NO_INITIATOR,
    SYSTEM,
    Initiator,
    encode_principal,
    given_correlation,
    given_principal,
)
from detent.run.start import StartRequest
from detent.store.rows import RunCriteria, RunRow
from detent.tenants.limits import INSTALLATION
from detent.values.blob import read_blob
from detent.values.http_body import SECRET_HEADERS
from detent.values.limits import INPUT_LIMIT
from detent.views.runs import shown_status

#: How often a start is tried because its workflow changed, or the run that blocked it ended, at that moment.
ATTEMPTS: Final = 10


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """A run that was accepted, now (`is_new`) or before. `started_at` is in the future while it is pending."""

    run: bytes
    workflow: bytes
    status: str
    started_at: Instant
    is_new: bool


class StartCommands(CommandPart):
    """Commands that start runs. A run that is accepted here is durable and will end."""

    def __init__(self, context: CommandContext, caller: Caller) -> None:
        super().__init__(context, caller)
        self._principal = None if caller.principal is None else encode_principal(caller.principal)

    async def start(self, request: StartRequest) -> StartAnswer:
        """Start a run of a workflow's current version, or of the version that the request names. Raise AlreadyActive if
        the workflow allows one open run per hero and there is one."""
        request.check()
        if self._caller.workflows is not None:
            await self.require_start(request.workflow)
        initiator = request.initiator or self.initiator_of(request)
        content = encode_input(request, initiator)
        start_at = request.start_at if request.delay is None else request.begins(self._context.now())
        workflows = self._context.workflows
        find = self._finder()
        for _ in range(ATTEMPTS):
            try:
                ready = (
                    await find(self._tenant, request.workflow)
                    if request.version is None
                    else await self._pinned(request.workflow, request.version)
                )
            except (NotFound, NotStartable):
                known = await self.known(request.request_id, content.digest)
                if known is not None:
                    return known
                if request.version is None and await self._may_run_draft(request.workflow):
                    return await self.start(replace(request, version=DRAFT))
                raise
            try:
                check_payload(ready, await self._readable(ready, request.body))
            except InvalidInput:
                # The cached version may be out of date. A request that was accepted before gets the same answer again.
                known = await self.known(request.request_id, content.digest)
                if known is not None:
                    return known
                if request.version is not None:
                    raise
                current = await workflows.current(self._tenant, request.workflow)
                if current.version == ready.version and current.id == ready.id:
                    raise
                continue
            prepared = prepare_start(self._tenant, ready, request, content, start_at, initiator)
            try:
                started = await start_run(self._engine, prepared)
            except StartRefused:
                now = await self._current(request)
                known = await self.known(request.request_id, content.digest, None if now is None else now.id)
                if known is not None:
                    return known
                await refuse_if_active(self._store, prepared)
                continue
            return StartAnswer(started.id, ready.id, started.status, started.started_at, True)
        raise Unavailable(f"the workflow {request.workflow[:200]!r} is being changed; try again")

    async def require_startable(self, workflow: str) -> None:
        """Raise NotFound, NotStartable or Forbidden unless the caller can start the workflow now, so that a large body
        is not received for nothing."""
        if self._caller.workflows is not None:
            await self.require_start(workflow)
        try:
            await self._finder()(self._tenant, workflow)
        except (NotFound, NotStartable):
            if not await self._may_run_draft(workflow):
                raise

    def _finder(self) -> Callable[[int, str], Awaitable[Startable]]:
        """Return what finds the current version of a workflow."""
        is_confined = self._tenant != INSTALLATION or self._context.tenants.confines_default
        return self._context.installed.startable if is_confined else self._context.workflows.startable

    async def _readable(self, ready: Startable, body: Any) -> Any:
        """Return what the `trigger_schema` of a workflow checks: of a blob, the JSON in it."""
        blob = None if ready.payload is None else read_blob(body)
        return body if blob is None else await read_json_blob(self._context.blobs, self._tenant, blob)

    async def require_start(self, workflow: str) -> None:
        """Raise Forbidden unless the caller may start a workflow, by name or id. One that does not exist is refused in
        the same words."""
        if self._caller.workflows is None or workflow in self._caller.workflows:
            return
        known: tuple[str, ...] = ()
        with suppress(NotFound):
            row = await self._context.workflows.row(self._tenant, workflow)
            known = (row.name, show(WORKFLOW, row.id))
        self._caller.require_start(workflow, *known)

    def initiator_of(self, request: StartRequest) -> Initiator:
        """Return who initiates the run that a request asks for. Raise Forbidden if it asks for a principal that is not
        the caller's own, and the caller may not impersonate."""
        correlation = given_correlation(request.extra, request.headers)
        asked = request.extra.get("principal")
        own = self._caller.principal
        if asked is None or asked == SYSTEM or given_principal(asked).user_id == (own or SYSTEM).user_id:
            return Initiator(self._principal, None, correlation) if own or correlation else NO_INITIATOR
        self._caller.require(Scope.IMPERSONATE)
        return Initiator(encode_principal(given_principal(asked)), self._caller.name, correlation)

    def repeated(self, row: RunRow) -> Initiator:
        """Return the initiator of a run that repeats another: the same principal, and the caller if it is not that."""
        return Initiator(
            row.principal, None if row.principal == self._principal else self._caller.name, row.correlation
        )

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

    async def _current(self, request: StartRequest) -> Startable | None:
        """Read the workflow again; `None` if it cannot be started any more."""
        try:
            if request.version is None:
                return await self._context.workflows.current(self._tenant, request.workflow)
            return await self._pinned(request.workflow, request.version, again=True)
        except (NotFound, NotStartable):
            return None

    async def _may_run_draft(self, workflow: str) -> bool:
        """Return whether the workflow has only a draft, and drafts may be run."""
        if not self._context.allow_draft_execution:
            return False
        try:
            row = await self._context.workflows.row(self._tenant, workflow)
        except NotFound:
            return False
        return row.status == "draft" and row.draft is not None

    def _drafts(self) -> DraftCommands:
        return DraftCommands(self._context, self._caller, WorkflowCommands(self._context, self._caller))

    async def _pinned(self, workflow: str, version: int | Literal["draft"], *, again: bool = False) -> Startable:
        """Return the version that a start names, from the cache unless it is read `again`."""
        if version == DRAFT:
            return await self._drafts().startable(workflow)
        if version <= 0:
            raise NotFound(f"the workflow {workflow[:200]!r} has no version {version}")
        return await self._context.workflows.pinned(self._tenant, workflow, version, again=again)


class EncodedInput(NamedTuple):
    """The input of a run as it is stored, and a digest of what counts when two requests are compared."""

    data: bytes
    digest: bytes


def encode_input(request: StartRequest, initiator: Initiator = NO_INITIATOR) -> EncodedInput:
    """Encode the input of a run, with the checked principal. Raise InvalidInput if it is not JSON, and TooLarge.

    The digest has what the caller sent, so that another key of the same system can repeat a request."""
    headers = {name.lower(): value for name, value in request.headers.items() if name.lower() not in SECRET_HEADERS}
    try:
        body = encoder.encode(request.body)
        extra = encoder.encode(request.extra) if request.extra else b""
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidInput(f"the input is not JSON: {error}") from None
    if len(body) + len(extra) > INPUT_LIMIT:
        raise TooLarge(f"the input has {len(body) + len(extra)} bytes; at most {INPUT_LIMIT} are allowed")
    whole = {"body": msgspec.Raw(body), "headers": headers, "query": dict(request.query), **request.extra}
    if initiator.principal is not None:
        whole["principal"] = msgspec.Raw(initiator.principal.encode())
    elif request.initiator is None and "principal" in whole:
        whole["principal"] = SYSTEM
    return EncodedInput(encoder.encode(whole), hashlib.sha256(body + b"\x00" + extra).digest())


def check_payload(ready: Startable, body: Any) -> None:
    """Raise InvalidInput unless the body fits the workflow's `trigger_schema`."""
    if ready.payload is None:
        return
    problems = ready.payload.problems(body)
    if problems:
        raise InvalidInput(f"the body does not fit the trigger_schema of {ready.name!r}", problems)


def prepare_start(
    tenant: int,
    ready: Startable,
    request: StartRequest,
    content: EncodedInput,
    start_at: Instant | None,
    initiator: Initiator,
) -> PreparedStart:
    """Resolve a request to the start of one version of its workflow."""
    return PreparedStart(
        tenant=tenant,
        workflow=ready.id,
        version=ready.version,
        name=ready.name,
        prepared=ready.prepared,
        input=content.data,
        trigger=request.trigger,
        queue=ready.queue,
        priority=ready.priority if request.priority is None else request.priority,
        code=ready.code,
        labels=_merged_labels(ready.labels, request.labels),
        request_id=request.request_id,
        request_hash=content.digest if request.request_id is not None else None,
        hero=request.hero,
        start_at=start_at,
        check=ready.check,
        fired_by=request.fired_by,
        origin=request.origin,
        origin_kind=request.origin_kind,
        active_key=_active_key(ready, request),
        parent=request.parent,
        id=request.id,
        asked=request.priority is not None,
        successor_of=request.successor_of,
        family=request.family,
        initiator=initiator,
    )


def _active_key(ready: Startable, request: StartRequest) -> str | None:
    if request.hero is None or request.allow_multiple or not ready.prepared.graph.one_per_hero:
        return None
    return active_key(ready.name, request.hero)


def _merged_labels(of_workflow: str | None, given: Mapping[str, str]) -> str | None:
    if not given:
        return of_workflow
    return json.dumps({**(json.loads(of_workflow) if of_workflow else {}), **given})
