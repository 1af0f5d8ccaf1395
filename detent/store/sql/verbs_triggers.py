"""Triggers and firings, the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from detent.instant import SECOND, micros
from detent.store.sql import statements_triggers as statements
from detent.store.sql import statements_workflows
from detent.store.sql.reach import Reach, Talk
from detent.store.trigger_rows import (
    FARTHEST,
    QUEUE_PAUSE,
    FiringRow,
    FiringState,
    NewFiring,
    NewTrigger,
    Overlap,
    TriggerRow,
    Turn,
    Verdict,
    is_left_alone,
)

#: No more open runs than this are named to whoever begins a firing.
MOST_OPEN_RUNS: Final = 1000


class TriggerVerbs(Reach):
    """The inbox of triggers. A trigger's row is always locked before its firings."""

    async def add_trigger(self, new: NewTrigger) -> bool:
        now = await self.now()

        def add() -> Talk[bool]:
            values = {**new._asdict(), "now": now}
            there = yield statements_workflows.SHARE, values
            if there:
                yield statements.ADD_TRIGGER, values
            return bool(there)

        return await self._talk(add)

    async def trigger(self, tenant: int, trigger: bytes) -> TriggerRow | None:
        rows = await self._read(statements.TRIGGER, {"tenant": tenant, "trigger": trigger})
        return _trigger(rows[0]) if rows else None

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
        rows = await self._read(statements.triggers(given), {**narrowing, "tenant": tenant, "limit": limit})
        return [_trigger(row) for row in rows]

    async def listeners(self, tenant: int, keys: Sequence[str]) -> list[TriggerRow]:
        if not keys:
            return []
        rows = await self._read(statements.LISTENERS, {"tenant": tenant, "keys": list(keys)})
        return [_trigger(row) for row in sorted(rows, key=lambda row: bytes(row[0]))]

    async def change_trigger(self, changed: NewTrigger, *, seen: int) -> bool:
        values = {**changed._asdict(), "seen": seen, "now": max(await self.now(), seen + 1)}
        return bool(await self._write(statements.CHANGE_TRIGGER, values))

    async def drop_trigger(self, tenant: int, trigger: bytes) -> bool:
        values = {"tenant": tenant, "id": trigger, "now": await self.now()}
        return bool(await self._write(statements.DROP_TRIGGER, values))

    async def due_triggers(self, *, limit: int) -> list[TriggerRow]:
        rows = await self._read(statements.DUE_TRIGGERS, {"now": await self.now(), "limit": limit})
        return [_trigger(row) for row in rows]

    async def take_slots(self, trigger: bytes, *, seen: int, next_at: int | None, firings: Sequence[NewFiring]) -> bool:
        now, in_order = await self.now(), _in_order(firings)

        def take() -> Talk[bool]:
            if not (yield statements.MOVE_ON, {"id": trigger, "seen": seen, "next": next_at}):
                return False
            for new in in_order:
                yield statements.ADD_FIRING, _values(new, now)
            return True

        return await self._talk(take)

    async def add_firings(self, firings: Sequence[NewFiring]) -> list[FiringRow]:
        now, in_order = await self.now(), _in_order(firings)

        def add() -> Talk[dict[bytes, FiringRow]]:
            found = {}
            for new in in_order:
                found[new.id] = yield from _added(new, now)
            return found

        rows = await self._talk(add)
        return [rows[new.id] for new in firings]

    async def firing(self, tenant: int, firing: bytes) -> FiringRow | None:
        rows = await self._read(statements.FIRING, {"tenant": tenant, "firing": firing})
        return _firing(rows[0]) if rows else None

    async def firings(
        self, tenant: int, *, trigger: bytes, limit: int, before: bytes | None = None, state: str | None = None
    ) -> list[FiringRow]:
        clause = statements.firings(before=before is not None, state=state is not None)
        values = {"tenant": tenant, "trigger": trigger, "limit": limit, "before": before, "state": state}
        return [_firing(row) for row in await self._read(clause, values)]

    async def due_firings(self, *, limit: int) -> list[FiringRow]:
        now = await self.now()
        rows = await self._read(statements.DUE_FIRINGS, {"now": now, "farthest": now + FARTHEST, "limit": limit})
        return [_firing(row) for row in rows]

    async def begin_firing(self, firing: bytes, *, overlap: Overlap, lease: float, most_queued: int) -> Turn:
        now = await self.now()
        return await self._talk(lambda: _begin(firing, overlap, now, now + micros(lease), most_queued))

    async def end_firing(self, firing: bytes, *, state: FiringState, run: bytes | None, message: str | None) -> None:
        values = {"firing": firing, "new_state": str(state), "new_run": run, "new_message": message, "new_until": None}
        await self._write(statements.END_FIRING, values)

    async def prune_firings(self, *, before: int, limit: int) -> int:
        def prune() -> Talk[int]:
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

        return await self._talk(prune)


def _in_order(firings: Sequence[NewFiring]) -> list[NewFiring]:
    """One order for everybody, so that two who add the same firings never wait for each other in a circle."""
    return sorted(firings, key=lambda new: (new.trigger, new.slot or 0, new.dedup or "", new.id))


def _values(new: NewFiring, now: int) -> dict[str, Any]:
    request = None if new.request is None else new.request.decode()
    return {**new._asdict(), "state": str(new.state), "request": request, "now": now}


def _added(new: NewFiring, now: int) -> Talk[FiringRow]:
    values = _values(new, now)
    while True:
        yield statements.ADD_FIRING, values
        found = yield statements.SAME_FIRING, values
        if found:
            return _firing(found[0])
        # Else what was in its place has been deleted since.


def _begin(firing: bytes, overlap: Overlap, now: int, until: int, most_queued: int) -> Talk[Turn]:
    is_alone = overlap is Overlap.ALLOW
    if not is_alone:
        found = yield statements.OF_FIRING, {"firing": firing}
        if not found:
            return Turn(Verdict.OVER)
        yield statements.LOCK_TRIGGER, {"trigger": found[0][0]}
    # Only now, when nobody else of this trigger is at it, is what the rows say still so when it is acted upon.
    found = yield statements.LOCK_FIRING, {"firing": firing}
    if not found:
        return Turn(Verdict.OVER)
    trigger, state, due_at, busy_until = found[0]
    is_mine_to_finish = state == FiringState.STARTING
    if is_mine_to_finish and is_left_alone(busy_until, now):
        return Turn(Verdict.WAIT)
    runs: tuple[bytes, ...] = ()
    if not is_alone:
        asked = {"trigger": trigger, "firing": firing, "due_at": due_at, "now": now, "state": state}
        verdict, runs = yield from _verdict(asked, overlap, most_queued, is_mine_to_finish)
        if verdict is not Verdict.GO:
            return Turn(verdict, runs)
    yield statements.SET_FIRING, _set(firing, FiringState.STARTING, until)
    return Turn(Verdict.GO, runs)


def _verdict(
    asked: dict[str, Any], overlap: Overlap, most_queued: int, is_mine_to_finish: bool
) -> Talk[tuple[Verdict, tuple[bytes, ...]]]:
    starting = yield statements.OTHERS_STARTING, {**asked, "limit": 1}
    # After the look at who is starting: a firing that has ended since then has left its run, and that is seen here.
    rows = yield statements.OPEN_RUNS, {**asked, "limit": MOST_OPEN_RUNS}
    runs = tuple(row[0] for row in rows)
    if is_mine_to_finish:
        return Verdict.GO, runs
    if starting:
        return Verdict.WAIT, runs
    has_older = overlap is Overlap.QUEUE and (yield from _has_older(asked))
    if overlap is Overlap.CANCEL_PREVIOUS or not (runs or has_older):
        return Verdict.GO, runs
    if overlap is Overlap.QUEUE:
        queued = yield statements.OTHERS_QUEUED, {**asked, "limit": most_queued}
        if asked["state"] == FiringState.QUEUED or len(queued) < most_queued:
            pause = asked["now"] + QUEUE_PAUSE * SECOND
            yield statements.SET_FIRING, _set(asked["firing"], FiringState.QUEUED, pause)
            return Verdict.QUEUED, runs
    message = "the run before has not ended" if overlap is Overlap.SKIP else "too many are queued already"
    yield statements.SET_FIRING, _set(asked["firing"], FiringState.SKIPPED, None, message)
    return Verdict.SKIPPED, runs


def _has_older(asked: dict[str, Any]) -> Talk[bool]:
    """Whether a firing that is due and not begun comes before."""
    for clause in (statements.OTHERS_DUE, statements.OTHERS_QUEUED):
        oldest = yield clause, {**asked, "limit": 1}
        if oldest and oldest[0][0] <= asked["now"] and tuple(oldest[0]) < (asked["due_at"], asked["firing"]):
            return True
    return False


def _set(firing: bytes, state: FiringState, until: int | None, message: str | None = None) -> dict[str, Any]:
    return {"firing": firing, "new_state": str(state), "new_until": until, "new_message": message}


def _trigger(row: Sequence[Any]) -> TriggerRow:
    made = TriggerRow(*row)
    return made._replace(
        workflow_enabled=bool(made.workflow_enabled), enabled=bool(made.enabled), owned=bool(made.owned)
    )


def _firing(row: Sequence[Any]) -> FiringRow:
    made = FiringRow(*row)
    return made if made.request is None else made._replace(request=row[9].encode())
