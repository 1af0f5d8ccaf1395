"""What can be asked of Detent. The API, the command line, the triggers and the tests all call this and nothing else.

No rule lives in a door: a door translates what it got, calls one command, and renders the answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from detent.authoring.compiled import Compiled, Limits, Trigger
from detent.authoring.documents import read_definition
from detent.authoring.steps_form import compile_steps
from detent.engine.engine import Engine
from detent.engine.starting import StartedRun, StartRequest, start_run
from detent.engine.view import run_document
from detent.errors import Conflict, InvalidInput, NameTaken, NotFound, NotStartable, TooLarge, Unavailable
from detent.graph import codec
from detent.ids import RUN, WORKFLOW, InvalidId, parse
from detent.observe.failpoints import reach
from detent.run.status import TERMINAL, Status
from detent.store.rows import MessageKind, NewVersion, Receipt, RunRow, SavedVersion, WorkflowRow

DEFAULT_TENANT: Final = 1
INPUT_LIMIT: Final = 256 * 1024
DEFAULT_QUEUE: Final = "default"
_LONGEST_NAME: Final = 200
#: How long a cancel waits for the owner to journal it before it answers with the run as it is.
CANCEL_PATIENCE: Final = 2.0
_LOOK_AGAIN: Final = 0.02

_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Given:
    """What a run is started with. Headers that carry credentials are never kept."""

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


_SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})


class Commands:
    """Commands on one engine's store."""

    def __init__(self, engine: Engine, *, limits: Limits | None = None, actions: Collection[str] | None = None) -> None:
        self._engine, self._store = engine, engine.store
        self._limits, self._actions = limits or Limits(), actions

    # -- workflows

    def compile(self, data: bytes | str, *, filename: str | None = None) -> Compiled:
        """The workflow of a definition, or InvalidDefinition with everything that is wrong with it."""
        return compile_steps(read_definition(data, filename=filename), limits=self._limits, actions=self._actions)

    async def save_workflow(
        self, data: bytes | str, *, tenant: int = DEFAULT_TENANT, filename: str | None = None, replace: bool = False
    ) -> tuple[WorkflowRow, SavedVersion, Compiled]:
        """Store a definition: a new workflow, or with `replace` a new version of the one of that name."""
        compiled = await asyncio.to_thread(self.compile, data, filename=filename)
        version = _new_version(tenant, self._engine.new_id(), compiled, data)
        saved = await self._store.save_workflow(version, replace=replace)
        if not isinstance(saved, SavedVersion):
            raise NameTaken(f"there is a workflow named {compiled.name!r} already; PUT it to give it a new version")
        return await self.workflow(compiled.name, tenant=tenant), saved, compiled

    async def workflow(self, key: str, *, tenant: int = DEFAULT_TENANT) -> WorkflowRow:
        """By id or by name."""
        row = None
        try:
            row = await self._store.workflow(tenant, parse(WORKFLOW, key))
        except InvalidId:
            # No name is longer or holds a NUL, and a database may refuse to look for one.
            if len(key) <= _LONGEST_NAME and "\x00" not in key:
                row = await self._store.workflow(tenant, key)
        if row is None:
            raise NotFound(f"there is no workflow {key[:200]!r}")
        return row

    async def workflows(
        self, *, limit: int, after: str | None = None, tenant: int = DEFAULT_TENANT
    ) -> list[WorkflowRow]:
        """Workflows by name, those after a name."""
        return await self._store.workflows(tenant, limit=limit, after=after)

    # -- runs

    async def start(
        self, workflow: str, given: Given, *, tenant: int = DEFAULT_TENANT, trigger: str = "api", watch: bool = False
    ) -> tuple[WorkflowRow, StartedRun]:
        """Start a run of a workflow's current version. It is durable when this returns."""
        row = await self.workflow(workflow, tenant=tenant)
        if row.status != "active":
            raise NotStartable(f"Workflow is not Active (current status: {row.status.capitalize()}): {row.name}")
        if not row.enabled:
            raise NotStartable(f"Workflow is disabled: {row.name}")
        prepared = self._engine.graphs.put((row.id, row.version), row.name, row.graph)
        facts = json.loads(row.trigger)
        request = StartRequest(
            tenant=tenant,
            workflow=row.id,
            version=row.version,
            name=row.name,
            prepared=prepared,
            input=encode_input(given),
            trigger=trigger,
            queue=facts.get("queue") or DEFAULT_QUEUE,
            priority=facts.get("priority") or 0,
            code=tuple(facts.get("code", ())),
            labels=row.labels,
            watch=watch,
        )
        return row, await start_run(self._engine, request)

    async def run(self, run: str, *, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """The document of a run."""
        return await self._document(await self._row(run, tenant))

    async def runs(
        self,
        *,
        limit: int,
        workflow: bytes | None = None,
        status: str | None = None,
        before: bytes | None = None,
        tenant: int = DEFAULT_TENANT,
    ) -> list[RunRow]:
        """Runs, newest first, those before a run."""
        return await self._store.runs(tenant, limit=limit, workflow=workflow, status=status, before=before)

    async def ended(self, started: StartedRun, *, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """The document of a run once it has ended, wherever it ends."""
        while True:
            row = await self._store.run(tenant, started.id)
            if row is None:
                raise NotFound("the run was deleted")
            if row.status in TERMINAL:
                return await self._document(row)
            wait = [asyncio.ensure_future(asyncio.sleep(0.25))]
            await asyncio.wait([*wait, *([started.ended] if started.ended else [])], return_when="FIRST_COMPLETED")
            wait[0].cancel()

    async def cancel(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Cancel a run. Answers with the run as it is; `cancel_requested` if its owner has not got to it yet."""
        return await self._control(run, MessageKind.CANCEL, Status.CANCELLED, by, tenant)

    async def pause(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Pause a run: attempts in flight finish, nothing new starts."""
        return await self._control(run, MessageKind.PAUSE, Status.PAUSED, by, tenant)

    async def resume(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Let a paused run go on."""
        return await self._control(run, MessageKind.RESUME, Status.RUNNING, by, tenant)

    async def _control(self, run: str, kind: MessageKind, wanted: Status, by: str, tenant: int) -> dict[str, Any]:
        row = await self._row(run, tenant)
        document = await self._document(row)
        if document["status"] == wanted:
            return document
        if row.status in TERMINAL or not await self._store.send(tenant, row.id, kind, _encoder.encode({"by": by})):
            raise Conflict(f"Cannot {kind} a {_finished(row.status)} workflow")
        self.nudge()
        until = self._engine.clock.monotonic() + CANCEL_PATIENCE
        while True:
            document = await self._document(await self._row(run, tenant))
            done = document["status"] == wanted or document["status"] in TERMINAL
            if done or self._engine.clock.monotonic() >= until:
                return document | {f"{kind}_requested": not done}
            await asyncio.sleep(_LOOK_AGAIN)

    async def _row(self, run: str, tenant: int) -> RunRow:
        try:
            row = await self._store.run(tenant, parse(RUN, run))
        except InvalidId:
            row = None
        if row is None:
            raise NotFound(f"there is no run {run[:80]!r}")
        return row

    async def _document(self, row: RunRow) -> dict[str, Any]:
        graphs = await self._engine.graphs.get([(row.workflow, row.version)])
        entries = await self._store.journal(row.id)
        callbacks = await self._store.callbacks(row.id)
        prepared = graphs[row.workflow, row.version][1]
        tokens, id_ = self._engine.tokens, row.id
        document = run_document(row, prepared, entries, callbacks, lambda step: tokens.url(id_, step))
        if document["status"] in TERMINAL and row.status not in TERMINAL:
            # It ended between the two reads. Its row was written together with its last entry.
            row = await self._store.run(row.tenant, id_) or row
            document = run_document(row, prepared, entries, callbacks, lambda step: tokens.url(id_, step))
        return document

    # -- callbacks

    async def deliver(
        self, token: str, *, body: Any, headers: Mapping[str, str], query: Mapping[str, str], message_id: str | None
    ) -> tuple[Receipt, bool]:
        """Receive a callback. Whatever is accepted here is durable and will be consumed exactly once."""
        place = self._engine.tokens.read(token)
        if place is None:
            return Receipt.NOT_FOUND, False
        kept = {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET_HEADERS}
        data = _encoder.encode({"body": body, "headers": kept, "query": dict(query)})
        if len(data) > INPUT_LIMIT + 32 * 1024:
            raise TooLarge(f"a callback may have {INPUT_LIMIT} bytes")
        run, step = place
        answer = await self._store.deliver(run, step, data=data, message_id=message_id)
        reach("after_delivery")
        self.nudge()
        return answer

    def callback_place(self, token: str) -> tuple[bytes, str] | None:
        """(run, step) of a callback token this instance made."""
        return self._engine.tokens.read(token)

    def nudge(self) -> None:
        """Something is in the inbox: let the engine of this process look now rather than at its next turn."""
        try:
            self._engine.node.nudge()
        except Unavailable:
            return  # polling will find it


def encode_input(given: Given) -> bytes:
    """The input of a run as it is kept."""
    headers = {name.lower(): value for name, value in given.headers.items() if name.lower() not in _SECRET_HEADERS}
    try:
        body = _encoder.encode(given.body)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise InvalidInput(f"the input is not JSON: {error}") from None
    if len(body) > INPUT_LIMIT:
        raise TooLarge(f"the input has {len(body)} bytes; at most {INPUT_LIMIT} are allowed")
    return _encoder.encode({"body": msgspec.Raw(body), "headers": headers, "query": dict(given.query)})


def _finished(status: str) -> str:
    return {"completed": "finished", "timeout": "timed-out", "cancelled": "canceled"}.get(status, status)


def _new_version(tenant: int, id_: bytes, compiled: Compiled, data: bytes | str) -> NewVersion:
    graph = codec.encode(compiled.graph)
    facts = _trigger_facts(compiled.trigger, compiled)
    # All that a definition says, so that a change of its words or of what starts it is a new version too.
    meaning = [json.loads(graph), facts, compiled.description, compiled.enabled, dict(compiled.labels)]
    return NewVersion(
        tenant=tenant,
        id=id_,
        name=compiled.name,
        form=compiled.form,
        description=compiled.description,
        enabled=compiled.enabled,
        trigger=json.dumps(facts),
        labels=json.dumps(dict(compiled.labels)) if compiled.labels else None,
        source=data if isinstance(data, str) else data.decode("utf-8-sig"),
        graph=graph,
        checksum=codec.fingerprint(json.dumps(meaning).encode()),
        language=compiled.graph.language,
    )


def _trigger_facts(trigger: Trigger, compiled: Compiled) -> dict[str, Any]:
    """What starting a run of this version needs to know beside its graph."""
    facts: dict[str, Any] = {"type": str(trigger.type), "code": compiled.code}
    if trigger.cron is not None:
        facts |= {"cron": trigger.cron, "timezone": trigger.timezone}
    if compiled.queue is not None:
        facts["queue"] = compiled.queue
    if compiled.priority is not None:
        facts["priority"] = compiled.priority
    return facts
