"""The verbs that are the same on every SQL database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from detent.instant import SECOND, micros
from detent.run.journal import Entry
from detent.store.letters import NewLetter
from detent.store.list_rows import Orphan, TimelineCursor, TimelineRow
from detent.store.overview_rows import CallbackFacts
from detent.store.protocol import EVERY_RUN, CommandStore, MaintenanceStore, NodeStore, TriggerStore
from detent.store.rows import (
    NO_ID,
    CallbackRow,
    Mail,
    NodeOffer,
    Receipt,
    RunCriteria,
    RunRow,
)
from detent.store.sql import run_statements, statements, workflow_statements
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.compiler import Values
from detent.store.sql.letter_verbs import ADD_LETTER, letter_values
from detent.store.sql.schema import code_offered
from detent.store.sql.statements import timeline
from detent.store.trigger_rows import (
    FARTHEST,
    SHORTEST_PAUSE,
    FiringRow,
    FiringState,
    NewFiring,
    NewTrigger,
    OverlapRule,
    TriggerRow,
    Turn,
    Verdict,
    is_left_alone,
    pause_in_line,
)

# Triggers and firings, the same on every SQL database.


#: How much of the inbox a poll reads, whatever its size: so many of the newest messages, and so many runs. The window
#: of runs moves on with every claim, so that every run gets its turn.
WINDOW: Final = 500
#: At most this many open runs are returned with the turn of a firing.
MOST_OPEN_RUNS: Final = 1000
#: At most this many ids are in one statement that looks for runs.
MOST_IDS: Final = 1000


class TriggerVerbs(TriggerStore):
    """The verbs of triggers and firings. A trigger's row is always locked before its firings."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def add_trigger(self, new: NewTrigger) -> bool:
        now = await self._access.now()

        def add() -> Script[bool]:
            values = {**new._asdict(), "now": now}
            there = yield workflow_statements.SHARE, values
            if there:
                yield statements.ADD_TRIGGER, values
            return bool(there)

        return await self._access.run_script(add)

    async def trigger(self, tenant: int, trigger: bytes) -> TriggerRow | None:
        rows = await self._access.query(statements.TRIGGER, {"tenant": tenant, "trigger": trigger})
        return trigger_row(rows[0]) if rows else None

    async def triggers(
        self,
        tenant: int,
        *,
        limit: int,
        after: bytes | None = None,
        workflow: bytes | None = None,
        kind: str | None = None,
        enabled: bool | None = None,
    ) -> list[TriggerRow]:
        narrowing = {"after": after, "workflow": workflow, "kind": kind, "enabled": enabled}
        given = frozenset(name for name, value in narrowing.items() if value is not None)
        rows = await self._access.search(statements.triggers(given), {**narrowing, "tenant": tenant, "limit": limit})
        return [trigger_row(row) for row in rows]

    async def listeners(self, tenant: int, keys: Sequence[str]) -> list[TriggerRow]:
        if not keys:
            return []
        rows = await self._access.query(statements.LISTENERS, {"tenant": tenant, "keys": list(keys)})
        return [trigger_row(row) for row in sorted(rows, key=lambda row: bytes(row[0]))]

    async def change_trigger(self, changed: NewTrigger, *, seen: int) -> bool:
        values = {**changed._asdict(), "seen": seen, "now": max(await self._access.now(), seen + 1)}
        return bool(await self._access.execute(statements.CHANGE_TRIGGER, values))

    async def drop_trigger(self, tenant: int, trigger: bytes) -> bool:
        values = {"tenant": tenant, "id": trigger, "now": await self._access.now()}
        return bool(await self._access.execute(statements.DROP_TRIGGER, values))

    async def due_triggers(self, *, limit: int) -> list[TriggerRow]:
        rows = await self._access.query(statements.DUE_TRIGGERS, {"now": await self._access.now(), "limit": limit})
        return [trigger_row(row) for row in rows]

    async def take_slots(
        self, tenant: int, trigger: bytes, *, seen: int, next_at: int | None, firings: Sequence[NewFiring]
    ) -> bool:
        now, in_order = await self._access.now(), _in_order(firings)

        def take() -> Script[bool]:
            moved = {"tenant": tenant, "id": trigger, "seen": seen, "next": next_at}
            if not (yield statements.MOVE_ON, moved):
                return False
            for new in in_order:
                yield statements.ADD_FIRING, _values(new, now)
            return True

        return await self._access.run_script(take)

    async def add_firings(self, firings: Sequence[NewFiring], *, letters: Sequence[NewLetter] = ()) -> list[FiringRow]:
        now, in_order = await self._access.now(), _in_order(firings)
        dead = {letter.id: letter for letter in letters}

        def add() -> Script[dict[bytes, FiringRow]]:
            found = {}
            for new in in_order:
                row = yield from _added(new, now)
                found[new.id] = row
                if row.id in dead:
                    yield ADD_LETTER, letter_values(dead[row.id], now)
            return found

        rows = await self._access.run_script(add)
        return [rows[new.id] for new in firings]

    async def firing(self, tenant: int, firing: bytes) -> FiringRow | None:
        rows = await self._access.query(statements.FIRING, {"tenant": tenant, "firing": firing})
        return firing_row(rows[0]) if rows else None

    async def firings(
        self, tenant: int, *, trigger: bytes, limit: int, before: bytes | None = None, state: str | None = None
    ) -> list[FiringRow]:
        clause = statements.firings(before=before is not None, state=state is not None)
        values = {"tenant": tenant, "trigger": trigger, "limit": limit, "before": before, "state": state}
        return [firing_row(row) for row in await self._access.search(clause, values)]

    async def due_firings(self, *, limit: int) -> list[FiringRow]:
        now = await self._access.now()
        rows = await self._access.query(
            statements.DUE_FIRINGS, {"now": now, "farthest": now + FARTHEST, "limit": limit}
        )
        return [firing_row(row) for row in rows]

    async def begin_firing(
        self, tenant: int, firing: bytes, *, overlap: OverlapRule, lease: float, most_queued: int
    ) -> Turn:
        now, place = await self._access.now(), {"tenant": tenant, "firing": firing}
        return await self._access.run_script(lambda: _begin(place, overlap, now, now + micros(lease), most_queued))

    async def end_firing(
        self,
        tenant: int,
        firing: bytes,
        *,
        state: FiringState,
        run: bytes | None,
        message: str | None,
        letter: NewLetter | None = None,
    ) -> None:
        outcome = {"new_state": str(state), "new_run": run, "new_message": message, "new_until": None}
        values = {"tenant": tenant, "firing": firing, **outcome}
        if letter is None:
            await self._access.execute(statements.END_FIRING, values)
            return
        now = await self._access.now()

        def end() -> Script[None]:
            if (yield statements.END_FIRING, values):
                yield ADD_LETTER, letter_values(letter, now)

        await self._access.run_script(end)

    async def prune_firings(self, *, before: int, limit: int) -> int:
        def prune() -> Script[int]:
            old = yield statements.OLD_FIRINGS, {"before": before, "limit": limit}
            if not old:
                return 0
            latest: dict[bytes, int] = {}
            for _, trigger, at in old:
                latest[trigger] = max(at, latest.get(trigger, at))
            for trigger, at in sorted(latest.items()):
                yield statements.REMEMBER, {"trigger": trigger, "latest": at}
            gone = yield statements.DELETE_FIRINGS, {"ids": [row[0] for row in old]}
            return len(gone)

        return await self._access.run_script(prune)


def _in_order(firings: Sequence[NewFiring]) -> list[NewFiring]:
    """Return the firings in one fixed order, so that two processes that add the same firings cannot deadlock."""
    return sorted(firings, key=lambda new: (new.trigger, new.slot or 0, new.dedup or "", new.id))


def _values(new: NewFiring, now: int) -> dict[str, Any]:
    request = None if new.request is None else new.request.decode()
    return {**new._asdict(), "state": str(new.state), "request": request, "now": now}


def _added(new: NewFiring, now: int) -> Script[FiringRow]:
    values = _values(new, now)
    while True:
        yield statements.ADD_FIRING, values
        found = yield statements.SAME_FIRING, values
        if found:
            return firing_row(found[0])
        # Else the conflicting firing has been deleted since: try again.


def _begin(place: Values, overlap: OverlapRule, now: int, until: int, most_queued: int) -> Script[Turn]:
    is_alone = overlap is OverlapRule.ALLOW
    if not is_alone:
        found = yield statements.OF_FIRING, place
        if not found:
            return Turn(Verdict.OVER)
        yield statements.LOCK_TRIGGER, {"tenant": place["tenant"], "trigger": found[0][0]}
    # Only under these locks can no other firing of this trigger change the rows between our read and our write.
    found = yield statements.LOCK_FIRING, place
    if not found:
        return Turn(Verdict.OVER)
    trigger, state, due_at, busy_until = found[0]
    is_mine_to_finish = state == FiringState.STARTING
    if is_mine_to_finish and is_left_alone(busy_until, now):
        return Turn(Verdict.WAIT)
    runs: tuple[bytes, ...] = ()
    if not is_alone:
        asked = {**place, "trigger": trigger, "due_at": due_at, "now": now, "state": state}
        turn = yield from _turn(asked, overlap, most_queued, is_mine_to_finish)
        if turn.verdict is not Verdict.GO:
            return turn
        runs = turn.open_runs
        if overlap is OverlapRule.QUEUE:
            following = yield statements.OTHERS_QUEUED, {**asked, "limit": 1}
            if following:  # it is the first in line now
                soon = now + round(SHORTEST_PAUSE * SECOND)
                yield statements.SET_FIRING, _set({**place, "firing": following[0][1]}, FiringState.QUEUED, soon)
                yield statements.SET_FIRING, _set(place, FiringState.STARTING, until)
                return Turn(Verdict.GO, runs, SHORTEST_PAUSE)
    yield statements.SET_FIRING, _set(place, FiringState.STARTING, until)
    return Turn(Verdict.GO, runs)


def _turn(asked: dict[str, Any], overlap: OverlapRule, most_queued: int, is_mine_to_finish: bool) -> Script[Turn]:
    starting = yield statements.OTHERS_STARTING, {**asked, "limit": 1}
    # Read after OTHERS_STARTING: a firing that ended since that read has left its run, which is visible here.
    rows = yield statements.OPEN_RUNS, {**asked, "limit": MOST_OPEN_RUNS}
    runs = tuple(row[0] for row in rows)
    if is_mine_to_finish:
        return Turn(Verdict.GO, runs)
    if starting:
        return Turn(Verdict.WAIT, runs)
    has_older = overlap is OverlapRule.QUEUE and (yield from _has_older(asked))
    if overlap is OverlapRule.CANCEL_PREVIOUS or not (runs or has_older):
        return Turn(Verdict.GO, runs)
    if overlap is OverlapRule.QUEUE:
        queued = yield statements.OTHERS_QUEUED, {**asked, "limit": most_queued}
        if asked["state"] == FiringState.QUEUED or len(queued) < most_queued:
            pause = pause_in_line(runs, asked["now"], is_first=not has_older)
            yield statements.SET_FIRING, _set(asked, FiringState.QUEUED, asked["now"] + round(pause * SECOND))
            return Turn(Verdict.QUEUED, runs, 0.0 if has_older else pause)
    message = "the run before has not ended" if overlap is OverlapRule.SKIP else "too many are queued already"
    yield statements.SET_FIRING, _set(asked, FiringState.SKIPPED, None, message)
    return Turn(Verdict.SKIPPED, runs)


def _has_older(asked: dict[str, Any]) -> Script[bool]:
    """Return whether an older firing is due and has not begun."""
    for clause in (statements.OTHERS_DUE, statements.OTHERS_QUEUED):
        oldest = yield clause, {**asked, "limit": 1}
        if oldest and oldest[0][0] <= asked["now"] and tuple(oldest[0]) < (asked["due_at"], asked["firing"]):
            return True
    return False


def _set(place: Values, state: FiringState, until: int | None, message: str | None = None) -> dict[str, Any]:
    firing = {"tenant": place["tenant"], "firing": place["firing"]}
    return {**firing, "new_state": str(state), "new_until": until, "new_message": message}


def trigger_row(row: Sequence[Any]) -> TriggerRow:
    """Build the row of a trigger from its columns."""
    made = TriggerRow(*row)
    return made._replace(
        workflow_enabled=bool(made.workflow_enabled), enabled=bool(made.enabled), owned=bool(made.owned)
    )


def firing_row(row: Sequence[Any]) -> FiringRow:
    """Return a row of the table of firings."""
    made = FiringRow(*row)
    return made if made.request is None else made._replace(request=row[9].encode())


# Commands, the same on every SQL database.


class SharedVerbs(CommandStore):
    """The verbs of a command store that are the same on every database: reading runs."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def run(self, tenant: int, run: bytes) -> RunRow | None:
        rows = await self._access.query(run_statements.RUN, {"tenant": tenant, "run": run})
        return _run(rows[0]) if rows else None

    async def runs(
        self,
        tenant: int,
        *,
        limit: int,
        where: RunCriteria = EVERY_RUN,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> list[RunRow]:
        lanes = run_statements.lanes_of(where)
        clause = run_statements.runs(where, lanes, cursor=cursor is not None, oldest_first=oldest_first)
        values = run_statements.values_of(where, lanes, tenant, limit=limit, cursor=cursor)
        return [_run(row) for row in await self._access.search(clause, values)]

    async def count_runs(self, tenant: int, *, where: RunCriteria, limit: int) -> int:
        lanes = run_statements.lanes_of(where)
        values = run_statements.values_of(where, lanes, tenant, limit=limit)
        [row] = await self._access.search(run_statements.count_runs(where, lanes), values)
        return min(int(row[0]), limit)

    async def ended(self, tenant: int, runs: Sequence[bytes]) -> set[bytes]:
        if not runs:
            return set()
        rows = await self._access.query(statements.OPEN_RUNS_AMONG, {"tenant": tenant, "runs": list(runs)})
        return set(runs) - {row[0] for row in rows}

    async def existing(self, runs: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        for first in range(0, len(runs), MOST_IDS):
            asked = list(runs[first : first + MOST_IDS])
            found.update(row[0] for row in await self._access.query(statements.RUNS_AMONG, {"runs": asked}))
        return found

    async def journal(self, tenant: int, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        values = {"tenant": tenant, "run": run, "after": after, "limit": limit}
        return [entry(row) for row in await self._access.query(statements.JOURNAL, values)]

    async def journals_of(self, tenant: int, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        found: dict[bytes, list[Entry]] = {}
        if runs:
            for row in await self._access.query(statements.JOURNALS, {"tenant": tenant, "runs": list(runs)}):
                one = entry(row)
                found.setdefault(one.run, []).append(one)
        return found

    async def step_ends(self, tenant: int, runs: Sequence[bytes], steps: Sequence[str]) -> list[Entry]:
        if not runs or not steps:
            return []
        values = {"tenant": tenant, "runs": list(runs), "steps": list(steps)}
        return [entry(row) for row in await self._access.query(statements.STEP_ENDS, values)]

    async def callbacks(self, tenant: int, run: bytes) -> list[CallbackRow]:
        rows = await self._access.query(statements.CALLBACKS, {"tenant": tenant, "run": run})
        return [CallbackRow(*row) for row in rows]

    async def active_run(self, tenant: int, key: str) -> bytes | None:
        rows = await self._access.query(statements.ACTIVE_RUN, {"tenant": tenant, "key": key})
        return rows[0][0] if rows else None

    async def timeline(
        self, tenant: int, hero: tuple[str, str], *, limit: int, after: TimelineCursor | None = None
    ) -> list[TimelineRow]:
        values: dict[str, Any] = {"tenant": tenant, "hero_type": hero[0], "hero_id": hero[1], "limit": limit}
        if after is not None:
            values |= dict(zip(("at", "run", "seq"), after, strict=True))
        rows = await self._access.search(timeline(after=after is not None), values)
        return [TimelineRow(row[0], entry(row[1:])) for row in rows]

    async def kept(self, tenant: int, run: bytes) -> dict[str, bytes]:
        rows = await self._access.query(statements.KEPT, {"tenant": tenant, "run": run})
        return {step: result.encode() for step, result in rows}

    async def offers(self) -> list[NodeOffer]:
        return [_offer(*row) for row in await self._access.query(statements.OFFERS, {})]

    async def record_served(self, names: Sequence[tuple[str, str]]) -> None:
        now, in_order = (
            await self._access.now(),
            sorted(set(names)),
        )  # one order, so that two nodes that record the same names cannot deadlock

        def note() -> Script[None]:
            for kind, name in in_order:
                yield statements.SAW, {"kind": kind, "name": name, "now": now}

        await self._access.run_script(note)

    async def last_served(self, kind: str, name: str) -> int | None:
        rows = await self._access.query(statements.LAST_SEEN, {"kind": kind, "name": name})
        return int(rows[0][0]) if rows else None

    async def _refusal(self, run: bytes, step: str, message_id: str | None, now: int) -> tuple[Receipt, bool] | None:
        """Return why a callback was not received, or `None` if it can be received by now."""
        found = await self.callback(run, step)
        if found is None:
            return Receipt.NOT_FOUND, False
        if found.answer is not None and message_id is not None and message_id == found.message_id:
            return Receipt(found.answer), True
        refusal = found.refusal(now)
        if refusal is not None:
            return refusal, False
        return None if found.ask is None else (Receipt.ASKS, False)

    async def callback(self, run: bytes, step: str) -> CallbackFacts | None:
        rows = await self._access.query(statements.CALLBACK, {"run": run, "step": step})
        return CallbackFacts(*rows[0]) if rows else None


class SharedNodeVerbs(NodeStore):
    """The verbs of a node that are the same on every database."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def owned(self, node: bytes) -> list[tuple[bytes, int]]:
        return [(row[0], row[1]) for row in await self._access.query(statements.OWNED, {"node": node})]

    async def archived(self, workflows: Sequence[bytes]) -> set[bytes]:
        if not workflows:
            return set()
        rows = await self._access.query(workflow_statements.ARCHIVED, {"ids": list(workflows)})
        return {row[0] for row in rows}

    async def closed_waits(self, runs: Sequence[bytes]) -> set[tuple[bytes, str]]:
        if not runs:
            return set()
        return {(row[0], row[1]) for row in await self._access.query(statements.CLOSED_WAITS, {"ids": list(runs)})}


#: The end and the id of an ended run.
RunPlace = tuple[int, bytes]


class PruneScope(NamedTuple):
    """Which ended runs a prune looks at: those with a status and not of the tenants in `spared`, oldest end first. Or
    those of a tenant whose id is lower than `below`, oldest id first."""

    status: str = ""
    spared: tuple[int, ...] = ()
    tenant: int | None = None
    below: bytes = NO_ID

    @property
    def key(self) -> str | int:
        return self.status if self.tenant is None else self.tenant


class PruneWindow(NamedTuple):
    """The result of a look at some ended runs. `last`: the last of them, or `None` if there are no more behind it.
    `drafts`: the drafts that were run, as (workflow, version) of the deleted runs."""

    deleted: int
    last: RunPlace | None
    drafts: Sequence[tuple[bytes, int]]


class SharedMaintenance(MaintenanceStore, ABC):
    """The part of maintenance that is the same on every database."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access
        self._walked: dict[str | int, RunPlace] = {}  # by status or tenant: the next prune looks behind it

    async def now(self) -> int:
        return await self._access.now()

    async def check(self) -> None:
        await self._access.now()

    async def setting(self, name: str, default: str) -> str:
        rows = await self._access.query(statements.SETTING, {"name": name})
        if not rows:
            await self._access.execute(statements.STORE_SETTING, {"name": name, "value": default})
            rows = await self._access.query(statements.SETTING, {"name": name})
        return str(rows[0][0])

    async def change_setting(self, name: str, value: str) -> None:
        await self._access.execute(statements.CHANGE_SETTING, {"name": name, "new_value": value})

    async def prune(self, *, before: int, statuses: Collection[str], limit: int, spared: Collection[int] = ()) -> int:
        count = 0
        for status in map(str, statuses):
            count += await self._prune(PruneScope(status, tuple(spared)), before, limit - count)
        return count

    async def prune_tenant(self, tenant: int, *, before: int, limit: int) -> int:
        # An id begins with the millisecond in which its run was started, and no run ends before it starts.
        below = max(0, before // 1_000).to_bytes(6, "big") + bytes(10)
        return await self._prune(PruneScope(tenant=tenant, below=below), before, limit)

    async def _prune(self, scope: PruneScope, before: int, limit: int) -> int:
        count = 0
        window: PruneWindow | None = None
        while count < limit and (window is None or not window.deleted):
            behind = self._walked.get(scope.key, (0, NO_ID))
            window = await self._prune_window(scope, before, behind, limit - count)
            count += window.deleted
            await self._drop_stored_drafts(window.drafts)
            if window.last is None:
                self._walked.pop(scope.key, None)
                break
            self._walked[scope.key] = window.last
        return count

    @abstractmethod
    async def _prune_window(self, scope: PruneScope, before: int, behind: RunPlace, size: int) -> PruneWindow:
        """Look at up to `size` runs of the scope that ended before `before`, and delete those without open parent.

        The runs are those behind that place, in the order of the scope."""

    async def close(self) -> None:
        await self._access.close()

    async def _drop_stored_drafts(self, versions: Iterable[tuple[bytes, int]]) -> None:
        """Delete these drafts that were run if none of their runs is left. They are among the versions of workflows."""
        for workflow, version in sorted(set(versions)):
            values = {"workflow": workflow, "version": version, "revision": -version}
            await self._access.execute(workflow_statements.DROP_STORED_DRAFT, values)


def entry(row: Sequence[Any]) -> Entry:
    """Return a row of the journal as an entry, with its text as the bytes that were written."""
    tenant, run, seq, at, kind, step, attempt, outcome, data = row
    return Entry(tenant, run, seq, at, kind, step, attempt, outcome, data.encode())


def mail(row: Sequence[Any]) -> Mail:
    id_, run, generation, kind, step, data, at = row
    return Mail(id_, run, generation, kind, step, data.encode(), at)


def orphan(row: Sequence[Any]) -> Orphan:
    tenant, run, opening, parent, status = row
    return Orphan(tenant, run, encoded(opening), parent, status)


def encoded(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


def offered(queues: Sequence[str] | None, actions: Sequence[str]) -> str:
    """Return what a node offers and which code it has, as stored in its row."""
    served = {"queues": None if queues is None else list(queues), "actions": list(actions)}
    return msgspec.json.encode(served | code_offered()).decode()


def _offer(node: bytes, offers: str | None, until: int) -> NodeOffer:
    decoded = msgspec.json.decode(offers) if offers else {}
    queues = decoded.get("queues")
    known = None if queues is None else tuple(queues)
    return NodeOffer(node, known, tuple(decoded.get("actions", ())), until, decoded.get("version"))


def _run(row: Sequence[Any]) -> RunRow:
    made = RunRow(*row)
    changed = {"input": row[7].encode(), "opening": encoded(row[8]), "output": encoded(row[24])}
    return made._replace(**changed)
