"""Starting a run: one row, one commit, and the node that accepted it keeps it while it has room."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from detent.engine.engine import Engine
from detent.engine.held import HeldRun
from detent.engine.node import Node
from detent.engine.unit import ROW_BYTES, Unit
from detent.errors import Unavailable
from detent.instant import micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.planner.advance import open_run
from detent.planner.prepared import Prepared
from detent.run.journal import encode_opening
from detent.run.plan import Plan
from detent.run.state import RunFacts, RunState
from detent.run.status import Status
from detent.store.rows import NewCallback, NewRun


@dataclass(frozen=True, slots=True)
class StartRequest:
    """A run to be started. `input` is JSON with `body`, `headers`, `query`; `code` the user actions it needs."""

    tenant: int
    workflow: bytes
    version: int
    name: str
    prepared: Prepared
    input: bytes
    trigger: str = "api"
    queue: str = "default"
    priority: int = 0
    code: tuple[str, ...] = ()
    labels: str | None = None
    watch: bool = False


@dataclass(frozen=True, slots=True)
class StartedRun:
    """`ended`, if it was asked for, is done when this node has written the run's end; it stays open for a run that
    another node takes over."""

    id: bytes
    started_at: int
    ended: asyncio.Future[None] | None


async def start_run(engine: Engine, request: StartRequest) -> StartedRun:
    """Accept a run. When this returns the run is durable and will end, whatever happens to this process."""
    node = engine.node
    if node.committer.is_full():
        raise Unavailable("more is waiting to be written than this node takes on; try again in a moment")
    unit, started = _prepare(engine, node, request)
    unit.done = asyncio.get_running_loop().create_future()
    node.committer.add(unit)
    await unit.done
    reach("after_start")
    emit("run.started", run=started.id, workflow=request.name)
    return started


def _prepare(engine: Engine, node: Node, request: StartRequest) -> tuple[Unit, StartedRun]:
    run, now, tokens = engine.new_id(), engine.time.now(), engine.tokens
    duration = request.prepared.graph.max_duration
    facts = RunFacts(
        id=run,
        tenant=request.tenant,
        workflow=request.name,
        input=request.input,
        started_at=now,
        expires_at=None if duration is None else now + micros(duration),
        callback_url=lambda step: tokens.url(run, step),
    )
    state = request.prepared.new_state(facts)
    decided, plan = open_run(request.prepared, state, now=now)
    owned = plan.end is not None or _is_kept(engine, node, state, plan, now)
    wake_at = now if plan.start else state.next_wake()
    row = _row(request, facts, encode_opening(decided), owned=owned, wake_at=None if owned else wake_at)
    held = HeldRun(run, 1, request.prepared, state, pending=1) if owned else None
    unit = Unit(run, held, plan, ROW_BYTES + len(request.input), start=row)
    unit.callbacks = [
        NewCallback(request.tenant, run, step.name, step.accepts_early) for step in request.prepared.waits()
    ]
    if held is not None:
        node.runner.hold(held)
        if plan.end is not None:
            unit.end = node.runner.end_row(
                held, plan
            )  # everything was decided at once: it begins and ends in one flush
    return unit, StartedRun(run, now, node.runner.when_ended(run) if request.watch else None)


def _is_kept(engine: Engine, node: Node, state: RunState, plan: Plan, now: int) -> bool:
    """Whether this node works on the run itself: it has room, and there is something to do soon."""
    tuning = engine.tuning
    if not engine.does_claim or node.runner.runnable() >= tuning.runnable_limit:
        return False
    wake = state.next_wake()
    return bool(plan.start) or (wake is not None and wake - now < micros(tuning.park_after))


def _row(request: StartRequest, facts: RunFacts, opening: bytes | None, *, owned: bool, wake_at: int | None) -> NewRun:
    return NewRun(
        id=facts.id,
        tenant=facts.tenant,
        workflow=request.workflow,
        version=request.version,
        status=str(Status.RUNNING),
        trigger=request.trigger,
        input=facts.input,
        opening=opening,
        owned=owned,
        wake_at=wake_at,
        expires_at=facts.expires_at,
        queue=request.queue,
        priority=request.priority,
        code=json.dumps(request.code) if request.code else None,
        request_id=None,
        request_hash=None,
        hero_type=None,
        hero_id=None,
        labels=request.labels,
        origin=None,
        parent=None,
        started_at=facts.started_at,
    )
