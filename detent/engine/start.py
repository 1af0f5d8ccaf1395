"""Start a run: one row, one commit. The node that accepts the run owns it if it has room."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from detent.engine.children.family import end_messages
from detent.engine.engine import Engine
from detent.engine.node import Node
from detent.engine.owned_run import OwnedRun
from detent.engine.prepared_start import PreparedStart
from detent.engine.write import ROW_BYTES, PendingWrite
from detent.errors import AlreadyActive, InvalidInput, Problem, Unavailable
from detent.graph.model import DECIDED_AT_ONCE
from detent.ids import RUN, show
from detent.instant import SECOND, Instant, micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.planner.advance import open_later, open_run
from detent.planner.prepared import Prepared, callback_of
from detent.planner.reuse import Reuse, begin_again
from detent.planner.stage import stage_of
from detent.run.journal import Decided, Entry, Placed, encode_opening
from detent.run.plan import NOTHING, Plan
from detent.run.stage import NO_STAGE
from detent.run.state import Checkpoint, RunFacts, RunState
from detent.run.status import Status
from detent.store.audit import unwritten_audit
from detent.store.protocol import CommandStore
from detent.store.rows import NewCallback, NewRun, RunRow, StartCheck, hero_of, released_key
from detent.values.blob import MARK
from detent.vault.secrets import SecretOpener

#: How far in the future a start may be.
LATEST: Final = 10 * 365 * 86_400 * SECOND


class StartRefused(Exception):
    """The store refused the run: its request id is known, its active key is taken, or its workflow has changed."""


@dataclass(frozen=True, slots=True)
class AcceptedRun:
    """A durable run. `started_at` is when it begins, which may be in the future.

    `ended` exists if the caller asked for it. It is done when this node has written the run's end, and stays pending if
    another node takes over the run.
    """

    id: bytes
    started_at: Instant
    ended: asyncio.Future[None] | None
    status: Status = Status.RUNNING


async def start_run(engine: Engine, request: PreparedStart) -> AcceptedRun:
    """Accept a run. When this returns the run is durable and will end, whatever happens to this process.

    Raise StartRefused if the store refuses it, and Unavailable if this node cannot write now."""
    node = engine.node
    if node.committer.is_full():
        raise Unavailable("the write queue of this node is full; try again in a moment")
    if node.committer.is_overdue():
        raise Unavailable(f"{node.committer.outage()}; nothing was written, try again")
    contents = None
    if request.reuse is not None or request.input.find(MARK) >= 0:
        given = [request.input, *(request.reuse.results.values() if request.reuse else ())]
        contents = await engine.contents.read(request.prepared, request.tenant, given)
        node = engine.node  # it may be another one now
    write, started = _prepare(engine, node, request, contents)
    write.done = asyncio.get_running_loop().create_future()
    audit = unwritten_audit()
    if audit is not None:
        write.audit = audit.row()
    node.committer.add(write)
    flushed = await write.done
    if started.id in flushed.refused:
        raise StartRefused
    if audit is not None:
        audit.is_written = True
    reach("after_start")
    emit("run.started", run=started.id, workflow=request.name)
    return started


@dataclass(frozen=True, slots=True)
class PreparedSuccessor:
    """A run that takes over from another run of this node.

    The store cannot refuse it. It has no request id, its version need not be current, and it inherits its active key.
    """

    engine: Engine
    node: Node
    request: PreparedStart
    id: bytes

    def build(self, signals: tuple[Checkpoint, ...]) -> PendingWrite:
        """Build the rows of its start. It begins with these signals on record."""
        reuse = Reuse({}, operations=signals) if signals else None
        return _prepare(self.engine, self.node, replace(self.request, id=self.id, reuse=reuse, check=StartCheck.NONE))[
            0
        ]


@dataclass(slots=True)
class _Opened:
    """How a run begins: the opening in its row, its first entries, and the plan to run."""

    opening: Decided
    plan: Plan
    entries: list[Entry]


def _prepare(
    engine: Engine, node: Node, request: PreparedStart, contents: dict[bytes, bytes] | None = None
) -> tuple[PendingWrite, AcceptedRun]:
    now = engine.time.now()
    later = request.start_at is not None and request.start_at > now
    if request.start_at is not None and request.start_at > now + LATEST:
        problem = Problem("start_at", "lies more than ten years ahead")
        raise InvalidInput(f"the run cannot be started: {problem}", [problem])
    begins = request.start_at if later and request.start_at else now
    facts = _facts(request, request.id or engine.new_id(), begins, engine.tokens.url, engine.secrets)
    state = request.prepared.new_state(facts, keeps_results=False)
    state.blobs = contents
    opened = _open(request, state, facts.started_at, now, later=later)
    plan = opened.plan
    owned = plan.end is not None or (not later and _is_kept(engine, node, request, state, plan, now))
    wake_at = None if owned else now if plan.start else state.next_wake()
    row = _row(request, facts, opened.opening, Status.PENDING if later else Status.RUNNING, wake_at, owned=owned)
    if not owned and not later and not plan.start:
        kind, step = stage_of(request.prepared, state) or NO_STAGE
        row = row._replace(stage=kind, stage_step=step)
    run = _build_owned(request, state, row.opening) if owned else None
    size = ROW_BYTES + len(request.input) + sum(ROW_BYTES + len(entry.data) for entry in opened.entries)
    write = PendingWrite(facts.id, run, plan, size, start=row, entries=opened.entries)
    write.callbacks = _callbacks(request, facts.id)
    if run is not None:
        node.runner.add(run)
        if plan.end is not None:
            # The planner decided everything at once: the run begins and ends in one flush.
            write.end = node.runner.end_row(run, plan)
            write.messages = end_messages(state, plan.end)
    ended = node.runner.awaited.end_of(facts.id) if request.watch else None
    return write, AcceptedRun(facts.id, facts.started_at, ended, Status(row.status))


def _build_owned(request: PreparedStart, state: RunState, opening: bytes | None) -> OwnedRun:
    return OwnedRun(
        state.facts.id,
        1,
        request.prepared,
        state,
        placed=_placed(request),
        version=request.version,
        pending=1,
        known=len(state.history),
        opening=opening,
    )


def unowned(request: PreparedStart, now: Instant) -> tuple[NewRun, list[NewCallback]]:
    """Build the rows of an unowned run, for a caller that writes them itself. A node claims the run when it is due.

    That node also makes the first decisions of the run (sleeps, waits, guards). Until then the run is pending.
    """
    assert request.id is not None
    later = request.start_at is not None and request.start_at > now
    begins = request.start_at if later and request.start_at else now
    facts = _facts(request, request.id, begins, _no_url)
    if not later and begins_plainly(request.prepared):
        row = _row(request, facts, Decided(), Status.RUNNING, now, owned=False)
    else:
        opening = open_later(request.prepared, request.prepared.new_state(facts), at=begins)
        row = _row(request, facts, opening, Status.PENDING, begins, owned=False)
    return row, _callbacks(request, request.id)


def begins_plainly(prepared: Prepared) -> bool:
    """Return whether the only decision at the beginning is that the first steps are ready."""
    entered = {edge.target for edge in prepared.graph.edges}
    first = [step for step in prepared.graph.steps if step.name not in entered]
    return bool(first) and all(
        step.guard is None and not step.delay and step.kind not in DECIDED_AT_ONCE for step in first
    )


def _no_url(run: bytes, step: str) -> str:
    raise AssertionError("nothing is rendered for an unowned run")


def _callbacks(request: PreparedStart, run: bytes) -> list[NewCallback]:
    # A wait whose result is reused from another run gets no callback of its own.
    known = request.reuse.results if request.reuse else {}
    return [
        NewCallback(request.tenant, run, *callback_of(step))
        for step in request.prepared.waits()
        if step.index not in known
    ]


def _facts(
    request: PreparedStart,
    run: bytes,
    begins: Instant,
    url: Callable[[bytes, str], str],
    secrets: SecretOpener | None = None,
) -> RunFacts:
    duration = request.prepared.graph.max_duration
    return RunFacts(
        id=run,
        tenant=request.tenant,
        workflow=request.name,
        input=request.input,
        started_at=begins,
        expires_at=request.expires_at if duration is None else begins + micros(duration),
        callback_url=lambda step: url(run, step),
        hero=request.hero,
        parent=request.parent,
        workflow_id=request.workflow,
        family=request.family,
        unseal=secrets.unsealer(request.tenant) if secrets is not None and request.prepared.is_sensitive else None,
        initiator=request.initiator,
    )


def _open(request: PreparedStart, state: RunState, begins: Instant, now: Instant, *, later: bool) -> _Opened:
    if later:
        return _Opened(open_later(request.prepared, state, at=begins), NOTHING, [])
    if request.reuse is None:
        decided, plan = open_run(request.prepared, state, now=now)
        return _Opened(decided, plan, [])
    decided = open_later(request.prepared, state, at=begins)
    entries, plan = begin_again(request.prepared, state, request.reuse, now)
    return _Opened(decided, plan, entries)


def _is_kept(engine: Engine, node: Node, request: PreparedStart, state: RunState, plan: Plan, now: Instant) -> bool:
    """Return whether this node owns the run from its start.

    It must serve the run's queue, have its code and have room. The run must have work now or soon.
    """
    tuning = engine.tuning
    if not engine.does_claim or node.runner.is_draining or node.runner.runnable() >= tuning.runnable_limit:
        return False
    if tuning.queues is not None and request.queue not in tuning.queues:
        return False
    if not engine.served.has(request.code):
        return False
    wake = state.next_wake()
    return bool(plan.start) or (wake is not None and wake - now < micros(tuning.park_after))


def _placed(request: PreparedStart) -> Placed:
    return Placed(request.queue, request.priority, request.asked)


def _row(
    request: PreparedStart,
    facts: RunFacts,
    opening: Decided,
    status: Status,
    wake_at: Instant | None,
    *,
    owned: bool,
) -> NewRun:
    hero_type, hero_id = request.hero or (None, None)
    return NewRun(
        id=facts.id,
        tenant=facts.tenant,
        workflow=request.workflow,
        version=request.version,
        status=str(status),
        trigger=request.trigger,
        input=facts.input,
        opening=encode_opening(opening, _placed(request), request.family),
        owned=owned,
        wake_at=wake_at,
        expires_at=facts.expires_at,
        queue=request.queue,
        priority=request.priority,
        code=json.dumps(request.code) if request.code else None,
        request_id=request.request_id,
        request_hash=request.request_hash,
        hero_type=hero_type,
        hero_id=hero_id,
        labels=request.labels,
        origin=request.origin,
        parent=request.parent,
        started_at=facts.started_at,
        origin_kind=request.origin_kind,
        fired_by=request.fired_by,
        check=request.check,
        active_key=request.active_key,
        successor_of=request.successor_of,
        principal=request.initiator.principal,
        via=request.initiator.via,
        correlation=request.initiator.correlation,
    )


# One open run of a workflow per hero: its key, and the error when the key is taken.


Hero = tuple[str, str]

#: Not every database can index a longer key. A longer key is replaced by its digest.
LONGEST_KEY: Final = 700


def active_key(workflow: str, hero: Hero) -> str:
    """Return the key that only one open run may have."""
    key = msgspec.json.encode([workflow, *hero])
    return str(key, "utf-8") if len(key) <= LONGEST_KEY else f'["sha256:{hashlib.sha256(key).hexdigest()}"]'


def key_of(row: RunRow) -> str | None:
    """Return the active key of a run, also if its successor has taken it.

    Return None if the run was allowed beside others.
    """
    hero = hero_of(row)
    is_spent = row.active_key == released_key(row.id)
    return active_key(row.workflow_name, hero) if is_spent and hero is not None else row.active_key


async def refuse_if_active(store: CommandStore, request: PreparedStart) -> None:
    """Raise AlreadyActive if another open run has the key of a refused start, and the start is not its successor."""
    if request.active_key is None:
        return
    holder = await store.active_run(request.tenant, request.active_key)
    if holder is not None and holder != request.successor_of:
        run, hero = show(RUN, holder), " ".join(request.hero or ())
        raise AlreadyActive(f"there is an active run of {request.name!r} for {hero}: {run}", run=run)
