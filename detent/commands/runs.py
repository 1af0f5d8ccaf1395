"""Runs: read them, their history, their hero's timeline, and why they do not continue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from detent.commands.context import CommandPart
from detent.documents.runs import (
    ContextDocument,
    EvaluationDocument,
    ExpressionProblem,
    ReasonDocument,
    ResourceDocument,
    RunDocument,
    StepDocument,
)
from detent.engine.background import ANY_QUEUE
from detent.errors import InvalidInput, NotFound, Problem
from detent.expressions import ExpressionError, Reference, Template, compile_expression, compile_template, masked
from detent.forms.steps.scope import StepsScope
from detent.forms.templates import Read
from detent.graph.check import upstream
from detent.ids import RUN, InvalidId, parse, show
from detent.instant import Instant, as_datetime, iso
from detent.planner.history import PastAttempt, history
from detent.planner.moves.code import graph_of
from detent.planner.moves.version import versions_in
from detent.planner.past_scope import PastScope, past_scope
from detent.planner.prepared import Prepared
from detent.planner.why import Reason, ReasonKind, sentence, why
from detent.run.journal import MAP, Entry, EntryData, Kind, decode_data
from detent.run.state import RunState
from detent.run.status import TERMINAL, Status
from detent.store.links import LinkPlace, LinkRow
from detent.store.list_rows import TimelineCursor, TimelineRow
from detent.store.logs.rows import LogKind
from detent.store.protocol import CommandStore
from detent.store.rows import NodeOffer, RunCriteria, RunRow
from detent.values.fields import Problems, shown
from detent.values.nearest import nearest
from detent.views.context import context_document
from detent.views.logs import progress_documents
from detent.views.runs import facts_of_row, fold_row, run_document

EVERY = RunCriteria()
#: How many steps in flight of one run are shown with how far they are.
MOST_PROGRESS: Final = 100
#: The types of steps whose code can report how far it is, and the words for one that is in flight.
_FUNCTION: Final = "function"
_REPORTING: Final = frozenset({"action", "python", "step", _FUNCTION})
_IN_FLIGHT: Final = frozenset({"running", "scheduled"})
_PAGE: Final = 200
#: A page of a timeline is read in pieces until it has this many bytes.
PAGE_BYTES: Final = 1024 * 1024
_PIECE: Final = 25
#: Reasons of steps that could start at once if a node claimed the run.
_STARTABLE: Final = frozenset({ReasonKind.READY, ReasonKind.NOT_STARTED})


class TimelinePage(NamedTuple):
    """A page of a timeline. `is_last`: there was no more when it was read."""

    found: list[TimelineRow]
    is_last: bool


@dataclass(frozen=True, slots=True)
class RunReason:
    """One reason why a run does not continue."""

    kind: str
    message: str
    step: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    details: dict[str, Any] | None = None


def _may_report(step: StepDocument) -> bool:
    return step.status in _IN_FLIGHT and step.type in _REPORTING


class RunCommands(CommandPart):
    """Reads of runs. Nothing here changes anything."""

    async def row(self, run: str | RunRow) -> RunRow:
        """Return the row of a run by its id, or raise NotFound. A row that was read already is returned as it is."""
        if isinstance(run, RunRow):
            return run
        try:
            row = await self._store.run(self._tenant, parse(RUN, run))
        except InvalidId:
            row = None
        if row is None:
            raise NotFound(f"there is no run {run[:80]!r}")
        return row

    async def get(self, run: str) -> RunDocument:
        """Return the document of a run."""
        return await self.document(await self.row(run))

    async def document(self, row: RunRow) -> RunDocument:
        """Return the document of a run whose row was read."""
        entries = await self._store.journal(self._tenant, row.id)
        prepared, versions = await self.graphs(row, entries)
        callbacks = await self._store.callbacks(self._tenant, row.id)
        url = partial(self._callback_url, row.id)
        document = run_document(row, prepared, entries, callbacks, url, versions, now=self._context.now())
        if document.status in TERMINAL and row.status not in TERMINAL:
            # It ended between the two reads. Its row was written together with its last entry.
            row = await self._store.run(row.tenant, row.id) or row
            document = run_document(row, prepared, entries, callbacks, url, versions, now=self._context.now())
        if row.owner is not None and any(_may_report(step) for step in document.steps.values()):
            await self._add_progress(row.id, document)
        return document

    async def _add_progress(self, run: bytes, document: RunDocument) -> None:
        """Add how far the attempts in flight are."""
        rows = await self._store.log_rows(self._tenant, run, kind=LogKind.PROGRESS, limit=MOST_PROGRESS)
        for progress in progress_documents(rows):
            step = document.steps.get(progress.step)
            if step is None:
                # A step of a durable function has no document before it ends: its function shows how far it is.
                step = next((one for one in document.steps.values() if one.type == _FUNCTION), None)
            elif step.attempt not in (None, progress.attempt):
                continue  # of an attempt whose node died
            if step is not None and _may_report(step):
                step.progress = progress

    async def find(
        self, *, limit: int, where: RunCriteria = EVERY, cursor: bytes | None = None, oldest_first: bool = False
    ) -> list[RunRow]:
        """Return runs in the order they were accepted, newest first unless `oldest_first`."""
        return await self._store.runs(self._tenant, limit=limit, where=where, cursor=cursor, oldest_first=oldest_first)

    async def count(self, *, where: RunCriteria, limit: int) -> int:
        """Count runs, up to `limit`."""
        return await self._store.count_runs(self._tenant, where=where, limit=limit)

    async def entries(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        """Return the journal of a run after the entry `after`."""
        return await self._store.journal(self._tenant, run, after=after, limit=limit)

    async def prepared(self, row: RunRow) -> Prepared:
        """Return the graph of a run: that of its current version."""
        return await self._engine.graphs.of_run(row)

    async def graphs(self, row: RunRow, entries: Sequence[Entry]) -> tuple[Prepared, dict[int, Prepared]]:
        """Return the graph that a run began with, and those of the versions that it was moved to."""
        numbers = versions_in(entries)
        if not numbers:
            return await self.prepared(row), {}
        versions = {number: await self._engine.graphs.one((row.workflow, number)) for number in numbers}
        return versions[numbers[0]], versions

    async def was_one_of_several(self, row: RunRow) -> bool:
        """Return whether a run was allowed beside another run of its hero."""
        return row.active_key is None and (await self.prepared(row)).graph.one_per_hero

    async def folded(self, row: RunRow) -> tuple[Prepared, RunState]:
        """Return the graph of a run and its state, folded from its journal."""
        entries = await self._store.journal(self._tenant, row.id)
        prepared, versions = await self.graphs(row, entries)
        state = fold_row(row, prepared, entries, partial(self._callback_url, row.id), versions)
        return graph_of(prepared, state), state

    async def context(self, run: bytes) -> ContextDocument:
        """Return the outputs that the steps of a run can read, as its workflow shows them."""
        return context_document(*await self.folded(await self.row(show(RUN, run))))

    async def children(self, run: bytes, *, limit: int, offset: int = 0) -> tuple[list[RunRow], bool]:
        """Return the runs that a run has started, oldest first, and whether there are further ones."""
        found: list[RunRow] = []
        cursor: bytes | None = None
        skipped = 0
        while len(found) <= limit:
            size = min(_PAGE, offset - skipped) or min(_PAGE, limit + 1 - len(found))
            rows = await self.find(
                limit=size, where=RunCriteria(parent=run, without=MAP), cursor=cursor, oldest_first=True
            )
            if skipped < offset:
                skipped += len(rows)
            else:
                found += rows
            if len(rows) < size:
                break
            cursor = rows[-1].id
        return found[:limit], len(found) > limit

    async def resources(self, run: bytes, *, limit: int, offset: int = 0) -> tuple[list[ResourceDocument], bool]:
        """Return the resources of other systems that a run has, as it linked them, and whether there are more."""
        rows = await self._store.run_links(self._tenant, run, limit=limit + 1, offset=offset)
        return [_resource(row) for row in rows[:limit]], len(rows) > limit

    async def find_resources(
        self,
        *,
        limit: int,
        system: str | None = None,
        type_: str | None = None,
        id_: str | None = None,
        after: LinkPlace | None = None,
    ) -> list[ResourceDocument]:
        """Return resources that belong to runs, by system, type and id. `type_` needs `system`, and `id_` both."""
        rows = await self._store.find_links(self._tenant, limit=limit, system=system, type_=type_, id_=id_, after=after)
        return [_resource(row) for row in rows]

    async def history(self, run: str) -> list[PastAttempt]:
        """Return the attempts of a run that are over, in the order they ended."""
        row = await self.row(run)
        facts = facts_of_row(row, partial(self._callback_url, row.id))
        entries = await self._store.journal(self._tenant, row.id)
        prepared, versions = await self.graphs(row, entries)
        return history(prepared, facts, row.opening, entries, versions)

    async def evaluate(self, run: str, source: Any, *, is_template: bool, step: str | None) -> EvaluationDocument:
        """Evaluate an expression (as a condition) or a template on the data of a run.

        With a step, it reads what that step could read before it ended; otherwise the whole run. Raise InvalidInput if
        there is no such step. Every problem of the expression itself is part of the document."""
        row = await self.row(run)
        entries = await self._store.journal(self._tenant, row.id)
        prepared, versions = await self.graphs(row, entries)
        facts = facts_of_row(row, partial(self._callback_url, row.id))
        tried = past_scope(prepared, facts, row.opening, entries, step, versions)
        if tried is None:
            near = nearest(step or "", [one.name for one in (await self.prepared(row)).steps])
            hint = f"; did you mean {near!r}?" if near is not None else ""
            problem = Problem("step", f"no step {shown(step or '')}{hint}")
            raise InvalidInput("the expression cannot be evaluated", [problem])
        document = EvaluationDocument(run_id=show(RUN, row.id), step=step, language=None, value=None, error=None)
        try:
            compiled = compile_template(source) if is_template else compile_expression(source)
        except ExpressionError as error:
            document.error = _expression_problem("syntax", error)
            return document
        document.language = compiled.language
        document.error = _unreadable(tried, compiled.references, step)
        if document.error is None:
            try:
                run_it = compiled.render if isinstance(compiled, Template) else compiled.evaluate
                document.value = masked(run_it(tried.scope))
            except ExpressionError as error:
                document.error = _expression_problem("evaluation", error)
        return document

    async def timeline(self, hero: tuple[str, str], *, limit: int, after: TimelineCursor | None = None) -> TimelinePage:
        """Return the entries of all runs of a hero after `after`: at most `limit`, and at most `PAGE_BYTES` bytes
        unless the first entry alone has more."""
        found: list[TimelineRow] = []
        size = 0
        while True:
            asked = min(_PIECE, limit + 1 - len(found))
            piece = await self._store.timeline(self._tenant, hero, limit=asked, after=after)
            for one in piece:
                size += len(one.entry.data)
                if len(found) == limit or (found and size > PAGE_BYTES):
                    return TimelinePage(found, is_last=False)
                found.append(one)
            if len(piece) < asked:
                return TimelinePage(found, is_last=True)
            after = found[-1].place()

    async def why(self, run: str) -> tuple[RunRow, str, list[RunReason]]:
        """Return a run, its status, and why it does not continue: first what blocks it, then what waits for that."""
        row = await self.row(run)
        prepared, state = await self.folded(row)
        now = await self._store.now()
        status = row.status if row.status in TERMINAL else str(state.status)
        entries = await self.entries(row.id) if status == Status.CANCELLED else ()
        return row, status, await self.reasons(row, prepared, state, entries, now)

    async def reasons(
        self, row: RunRow, prepared: Prepared, state: RunState, entries: Sequence[Entry], now: Instant
    ) -> list[RunReason]:
        """Return why a run does not continue, from its folded state. The entries say what cancelled it."""
        if row.status in TERMINAL and not state.is_over:
            return [_ended_by_engine(row)]
        status = row.status if row.status in TERMINAL else str(state.status)
        reasons = why(prepared, state, now, owned=row.owner is not None)
        found = run_reasons(reasons)
        if status == Status.CANCELLED:
            cause = _why_cancelled(entries)
            found = [replace(one, message=f"{one.message}{cause}") for one in found]
        if status in TERMINAL:
            return found
        is_due = row.wake_at is not None and row.wake_at <= now
        is_due = is_due or any(one.kind in _STARTABLE for one in reasons)
        return await _missing_around(self._store, row, is_due=is_due) + found


def run_reasons(reasons: Sequence[Reason]) -> list[RunReason]:
    """Return the reasons that the state of a run has, without those around it."""
    return [RunReason(str(one.kind), one.message, one.step, one.since, one.until, dict(one.details)) for one in reasons]


def reason_documents(reasons: Sequence[RunReason]) -> list[ReasonDocument]:
    """Build the documents of reasons."""
    return [
        ReasonDocument(
            kind=one.kind,
            message=one.message,
            step=one.step,
            since=None if one.since is None else as_datetime(one.since),
            until=None if one.until is None else as_datetime(one.until),
            details=one.details or None,
        )
        for one in reasons
    ]


async def _missing_around(store: CommandStore, row: RunRow, *, is_due: bool) -> list[RunReason]:
    """Find what a run lacks outside of itself. `is_due`: it would continue at once if a node claimed it."""
    offers = await store.offers()
    if any(offer.node == row.owner for offer in offers):
        return []
    if all(offer.queues == () for offer in offers):  # processes that start runs and leave them to other nodes
        return [RunReason("no_node", "No node is at work: nothing continues until `detent serve` or `worker` runs.")]
    unserved = await _unserved(store, row, offers) if is_due or row.owner is not None else []
    if row.owner is None or unserved:
        return unserved
    return [RunReason("node_lost", "The node that owned the run is gone; another node takes it over in a moment.")]


def _expression_problem(kind: str, error: ExpressionError) -> ExpressionProblem:
    return ExpressionProblem(kind, error.message, error.position, list(error.at))


def _unreadable(tried: PastScope, references: Sequence[Reference], step: str | None) -> ExpressionProblem | None:
    """Return the first read that a definition with this expression would be refused for."""
    graph = tried.prepared.graph
    if graph.scope != "steps":
        return None
    problems = Problems()
    kinds = {one.name: one.kind for one in graph.steps}
    scope = StepsScope(kinds, upstream(graph, [] if step is None else [step]), graph.vars, problems)
    for reference in references:
        scope.check(Read("expression", reference), step)
        if problems.found:
            message = problems.found[0].message
            return ExpressionProblem("reference", message, reference.position, list(reference.at))
    return None


async def _unserved(store: CommandStore, row: RunRow, offers: list[NodeOffer]) -> list[RunReason]:
    """Return the queue or the code that the run needs and no node offers."""
    serving = [offer for offer in offers if offer.queues is None or row.queue in offer.queues]
    if not serving:
        seen = await _last_seen(store, "queue", row.queue)
        return [RunReason("queue", f"No node serves its queue '{row.queue}'; {seen}.", details={"queue": row.queue})]
    needed = set(json.loads(row.code)) if row.code else set()
    if any(needed <= set(offer.actions) for offer in serving):
        return []
    missing = sorted(needed - {action for offer in serving for action in offer.actions}) or sorted(needed)
    seen = await _last_seen(store, "action", missing[0])
    wanted = ", ".join(map(_in_words, missing))
    message = f"No node of its queue '{row.queue}' has the code it needs: {wanted}; {seen}."
    return [RunReason("code", message, details={"actions": missing})]


async def _last_seen(store: CommandStore, kind: str, name: str) -> str:
    found = [await store.last_served(kind, name)]
    if kind == "queue":
        found.append(await store.last_served(kind, ANY_QUEUE))
    at = max((one for one in found if one is not None), default=None)
    return "no node ever did" if at is None else f"one was last seen at {iso(at)}"


def _ended_by_engine(row: RunRow) -> RunReason:
    """Explain a run that has ended without an entry in its journal. Its row has the reason."""
    at = "" if row.ended_at is None else f" at {iso(row.ended_at)}"
    why = f" {sentence(row.error)}" if row.error else ""
    message = f"The run is over: it ended {row.status}{at}.{why}"
    return RunReason(str(ReasonKind.ENDED), message, since=row.ended_at, details={"status": row.status})


def _why_cancelled(entries: Sequence[Entry]) -> str:
    """Return one more sentence about what cancelled a run, or an empty text."""
    last = next((entry for entry in reversed(entries) if entry.kind == Kind.CANCELLED), None)
    data = EntryData() if last is None else decode_data(last.data)
    reason = data.by if data.error is None else data.error.message
    if last is None or not reason:
        return ""
    return sentence(f" Step '{last.step}' cancelled it: {reason}" if last.step else f" It was cancelled by {reason}")


def _in_words(code: str) -> str:
    """Describe the code that a run needs."""
    kind, _, name = code.partition(":")
    if kind != "workflow" or not name:
        return f"the action '{code}'"
    name, _, fingerprint = name.partition("@")
    return f"the workflow '{name}'" + (f" with exactly the code {fingerprint}" if fingerprint else "")


def _resource(row: LinkRow) -> ResourceDocument:
    """Build the document of a resource that belongs to a run."""
    return ResourceDocument(
        system=row.system,
        type=row.type,
        id=row.id,
        url=row.url,
        run_id=show(RUN, row.run),
        step=row.step,
        linked_at=as_datetime(row.at),
    )
