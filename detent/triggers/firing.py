"""Firings: list them, and fire triggers by hand: now, again, or for slots of the past."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from detent.auth.caller import Caller
from detent.commands.context import encoder
from detent.errors import Conflict, InvalidInput, NotFound, Problem, StoreError, TooLarge, Unavailable
from detent.forms.schedule import MOST_SLOTS, slots_between
from detent.ids import FIRING, InvalidId, parse, show
from detent.instant import SECOND, Instant
from detent.observe.failpoints import reach
from detent.store.trigger_rows import OPEN_FIRINGS, FiringRow, FiringState, NewFiring, OverlapRule, TriggerRow, Verdict
from detent.triggers import record
from detent.triggers.context import TriggerContext, TriggerPart
from detent.triggers.editor import TriggerEditor, schedule_of
from detent.triggers.processor import MOST_QUEUED
from detent.triggers.record import Event, FiringPayload
from detent.values.blob import MARK, named_blobs
from detent.values.limits import INPUT_LIMIT

#: How many seconds a caller waits for a firing that another process is processing.
PATIENCE: Final = 2.0
_LOOK_AGAIN: Final = 0.02
#: A worker takes a firing only after this time, so that the process that serves its sender comes first.
_HEAD_START: Final = 5 * SECOND
#: The clock of a client that asks for slots "up to now" may be ahead of the database's.
_CLOCKS_DIFFER: Final = 60 * SECOND
_AT_ONCE: Final = 16
_PAGE: Final = 500
_MOST_PAGES: Final = 40


class Backfilled(NamedTuple):
    """The slots of a range that have no firing yet, and the firings made for them (none in a dry run)."""

    slots: list[Instant]
    firings: list[FiringRow]


class FiringIntake:
    """Stores firings, and processes them while their sender waits. A firing is durable before anything else happens."""

    def __init__(self, context: TriggerContext) -> None:
        self._context = context
        self._store = context.store

    def new(self, trigger: TriggerRow, kind: str, request: FiringPayload) -> NewFiring:
        """Build a firing whose sender waits for the answer."""
        return NewFiring(
            id=self._context.new_id(),
            tenant=trigger.tenant,
            trigger=trigger.id,
            workflow=trigger.workflow,
            kind=kind,
            state=FiringState.DUE,
            due_at=self._context.now() + _HEAD_START,
            request=record.encode_request(request),
        )

    async def store(self, firings: Sequence[NewFiring]) -> list[FiringRow]:
        """Store firings. If the slot or request id of one is known, its first row is returned."""
        for new in firings:
            if new.request is not None and MARK in new.request:
                await self._store_uses(new, named_blobs(new.request))
        rows = await self._store.add_firings(firings)
        reach("after_firing")
        return rows

    async def _store_uses(self, new: NewFiring, named: Sequence[bytes]) -> None:
        """Note which blobs a firing names, before it is stored."""
        await self._context.commands.blobs.store.use_blobs(new.tenant, [(new.id, one) for one in named])

    async def settle(self, firing: FiringRow) -> FiringRow:
        """Process a firing and return it when it has ended. If that takes too long, return its present state.

        It is durable, and a worker will end it."""
        until = asyncio.get_running_loop().time() + PATIENCE
        try:
            while firing.state in OPEN_FIRINGS:
                verdict = (await self._context.processor.process(firing)).verdict
                firing = await self._store.firing(firing.tenant, firing.id) or firing
                if verdict is Verdict.QUEUED or asyncio.get_running_loop().time() >= until:
                    break
                if verdict is Verdict.WAIT:
                    await asyncio.sleep(_LOOK_AGAIN)
        except (Unavailable, StoreError):
            return firing
        return firing

    async def settle_all(self, firings: Sequence[FiringRow]) -> list[FiringRow]:
        """Settle firings concurrently."""
        room = asyncio.Semaphore(_AT_ONCE)

        async def settle(firing: FiringRow) -> FiringRow:
            async with room:
                return await self.settle(firing)

        return list(await asyncio.gather(*(settle(firing) for firing in firings)))


class FiringCommands(TriggerPart):
    """The firings of triggers."""

    def __init__(self, context: TriggerContext, caller: Caller, editor: TriggerEditor) -> None:
        super().__init__(context, caller)
        self.intake = FiringIntake(context)
        self._editor = editor

    async def get(self, trigger: str, firing: str) -> FiringRow:
        """Return a firing of a trigger, or raise NotFound."""
        return await self._get(await self._editor.get(trigger), firing)

    async def find(
        self, trigger: str, *, limit: int, before: bytes | None = None, state: str | None = None
    ) -> list[FiringRow]:
        """Return the firings of a trigger, newest first."""
        row = await self._editor.get(trigger)
        return await self._store.firings(self._tenant, trigger=row.id, limit=limit, before=before, state=state)

    async def fire(self, trigger: str, body: Any = None) -> FiringRow:
        """Fire a trigger now, paused or not. Its condition and overlap policy apply."""
        row = await self._editor.get(trigger)
        body = {} if body is None else body
        if len(encoder.encode(body)) > INPUT_LIMIT:
            raise TooLarge(f"a body may have {INPUT_LIMIT} bytes")
        new = self.intake.new(row, "manual", FiringPayload(body=body))
        match row.kind:
            case "cron":
                request = FiringPayload(body=body, scheduled_at=self._now() // SECOND * SECOND)
            case "event":
                request = FiringPayload(body=body, event=Event(show(FIRING, new.id), row.key or ""))
            case _:
                request = FiringPayload(body=body)
        [firing] = await self.intake.store([new._replace(request=record.encode_request(request))])
        return await self.intake.settle(firing)

    async def replay(self, trigger: str, firing: str) -> FiringRow:
        """Fire a trigger again with the request of an old firing."""
        row = await self._editor.get(trigger)
        old = await self._get(row, firing)
        request = record.request_of(old)
        if old.state in OPEN_FIRINGS:
            raise Conflict(f"the firing has not ended: it is {old.state}")
        if request.forged:
            raise Conflict("the firing was refused because of its signature; its sender is unknown")
        if old.state == FiringState.MISSED:
            raise Conflict("there is nothing to replay: start slots that were missed with a backfill")
        [new] = await self.intake.store([self.intake.new(row, old.kind, request)._replace(replay_of=old.id)])
        return await self.intake.settle(new)

    async def backfill(self, trigger: str, begin: Instant, end: Instant, *, dry_run: bool) -> Backfilled:
        """Fire the slots from `begin` to `end` that have no firing. They are processed like others, oldest first."""
        row = await self._editor.get(trigger)
        slots = self._slots(row, begin, end)
        if json.loads(row.config).get("overlap") == OverlapRule.QUEUE and len(slots) > MOST_QUEUED:
            message = f"has {len(slots)} slots, and at most {MOST_QUEUED} can be queued; use a shorter range"
            raise InvalidInput("the range cannot be filled", [Problem("from", message)])
        if dry_run:
            known = await self._fired_slots(row, begin)
            return Backfilled([slot for slot in slots if slot not in known], [])
        now = self._now()
        new = [
            self.intake.new(row, "cron", FiringPayload(body={}, scheduled_at=slot))._replace(
                slot=slot, due_at=now + index
            )
            for index, slot in enumerate(slots)
        ]
        mine = {firing.id for firing in new}
        made = [firing for firing in await self.intake.store(new) if firing.id in mine] if new else []
        return Backfilled([firing.slot for firing in made if firing.slot is not None], made)

    async def _get(self, trigger: TriggerRow, firing: str) -> FiringRow:
        try:
            row = await self._store.firing(self._tenant, parse(FIRING, firing))
        except InvalidId:
            row = None
        if row is None or row.trigger != trigger.id:
            raise NotFound(f"that trigger has no firing {firing[:80]!r}")
        return row

    def _slots(self, row: TriggerRow, begin: Instant, end: Instant) -> list[Instant]:
        problems, now = [], self._now()
        if begin > end:
            problems.append(Problem("from", "is after `to`"))
        if end > now + _CLOCKS_DIFFER:
            problems.append(Problem("to", "is in the future; those slots will fire by themselves"))
        if problems:
            raise InvalidInput("the range cannot be filled", problems)
        found = slots_between(*schedule_of(row), begin - 1, min(end, now), MOST_SLOTS)
        if found.more:
            message = f"there are more than {MOST_SLOTS} slots in that range; use a shorter one"
            raise InvalidInput("the range cannot be filled", [Problem("from", message)])
        return found.slots

    async def _fired_slots(self, row: TriggerRow, begin: Instant) -> set[Instant]:
        """Return the slots since `begin` that have a firing. A firing is never older than its slot."""
        found: set[Instant] = set()
        before = None
        for _ in range(_MOST_PAGES):
            page = await self._store.firings(row.tenant, trigger=row.id, limit=_PAGE, before=before)
            found.update(firing.slot for firing in page if firing.slot is not None)
            if len(page) < _PAGE or page[-1].at < begin:
                break
            before = page[-1].id
        return found
