"""Firing triggers by hand: now, again, or for slots of the past; and what became of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from detent.commands.context import encoder
from detent.errors import Conflict, InvalidInput, Problem, StoreError, TooLarge, Unavailable
from detent.forms.schedule import MOST_SLOTS, slots_between
from detent.ids import FIRING, show
from detent.instant import SECOND, Instant
from detent.observe.failpoints import reach
from detent.settings import DEFAULT_TENANT
from detent.store.trigger_rows import OPEN_FIRINGS, FiringRow, FiringState, NewFiring, OverlapRule, TriggerRow, Verdict
from detent.triggers import record
from detent.triggers.context import TriggerContext
from detent.triggers.editor import schedule_of
from detent.triggers.processor import MOST_QUEUED
from detent.triggers.record import Event, FiringPayload
from detent.values.limits import INPUT_LIMIT

#: How long an answer waits for a firing that another one is at.
PATIENCE: Final = 2.0
_LOOK_AGAIN: Final = 0.02
#: Whoever looks for open firings leaves those alone whose sender is still being served.
_HEAD_START: Final = 5 * SECOND
#: The clock of one who says "up to now" may be ahead of the database's.
_CLOCKS_DIFFER: Final = 60 * SECOND
_AT_ONCE: Final = 16
_PAGE: Final = 500
_MOST_PAGES: Final = 40


class Backfilled(NamedTuple):
    """The slots of a range that have no firing yet, and the firings made for them (none in a dry run)."""

    slots: list[Instant]
    firings: list[FiringRow]


class FiringCommands(TriggerContext):
    """Every firing is durable before anything is done because of it."""

    async def firings(
        self,
        trigger: str,
        *,
        limit: int,
        before: bytes | None = None,
        state: str | None = None,
        tenant: int = DEFAULT_TENANT,
    ) -> list[FiringRow]:
        """The firings of a trigger, newest first."""
        row = await self.trigger(trigger, tenant=tenant)
        return await self._store.firings(tenant, trigger=row.id, limit=limit, before=before, state=state)

    async def fire(self, trigger: str, body: Any = None, *, tenant: int = DEFAULT_TENANT) -> FiringRow:
        """Fire a trigger now, paused or not. Its condition and overlap policy count."""
        row = await self.trigger(trigger, tenant=tenant)
        body = {} if body is None else body
        if len(encoder.encode(body)) > INPUT_LIMIT:
            raise TooLarge(f"a body may have {INPUT_LIMIT} bytes")
        new = self._new(row, "manual", FiringPayload(body=body))
        match row.kind:
            case "cron":
                request = FiringPayload(body=body, scheduled_at=self._now() // SECOND * SECOND)
            case "event":
                request = FiringPayload(body=body, event=Event(show(FIRING, new.id), row.key or ""))
            case _:
                request = FiringPayload(body=body)
        [firing] = await self._keep([new._replace(request=record.encode_request(request))])
        return await self._settle(firing)

    async def replay(self, trigger: str, firing: str, *, tenant: int = DEFAULT_TENANT) -> FiringRow:
        """Replay a firing with the request it received."""
        row, old = await self.trigger(trigger, tenant=tenant), await self.firing(trigger, firing, tenant=tenant)
        request = record.request_of(old)
        if old.state in OPEN_FIRINGS:
            raise Conflict(f"the firing has not ended: it is {old.state}")
        if request.forged:
            raise Conflict("the firing was refused because of its signature; nobody knows who sent it")
        if old.state == FiringState.MISSED:
            raise Conflict("there is nothing to replay: start slots that were missed with a backfill")
        [new] = await self._keep([self._new(row, old.kind, request)._replace(replay_of=old.id)])
        return await self._settle(new)

    async def backfill(
        self, trigger: str, begin: Instant, end: Instant, *, dry_run: bool, tenant: int = DEFAULT_TENANT
    ) -> Backfilled:
        """Fire the slots from `begin` to `end` that have no firing. They are processed like any, oldest first."""
        row = await self.trigger(trigger, tenant=tenant)
        slots = self._slots(row, begin, end)
        if json.loads(row.config).get("overlap") == OverlapRule.QUEUE and len(slots) > MOST_QUEUED:
            message = f"has {len(slots)} slots, and {MOST_QUEUED} can wait in line; take a shorter range"
            raise InvalidInput("the range cannot be filled", [Problem("from", message)])
        if dry_run:
            known = await self._fired_slots(row, begin)
            return Backfilled([slot for slot in slots if slot not in known], [])
        now = self._now()
        new = [
            self._new(row, "cron", FiringPayload(body={}, scheduled_at=slot))._replace(slot=slot, due_at=now + place)
            for place, slot in enumerate(slots)
        ]
        mine = {firing.id for firing in new}
        made = [firing for firing in await self._keep(new) if firing.id in mine] if new else []
        return Backfilled([firing.slot for firing in made if firing.slot is not None], made)

    def _slots(self, row: TriggerRow, begin: Instant, end: Instant) -> list[Instant]:
        problems, now = [], self._now()
        if begin > end:
            problems.append(Problem("from", "lies after `to`"))
        if end > now + _CLOCKS_DIFFER:
            problems.append(Problem("to", "lies in the future; those slots come by themselves"))
        if problems:
            raise InvalidInput("the range cannot be filled", problems)
        found = slots_between(*schedule_of(row), begin - 1, min(end, now), MOST_SLOTS)
        if found.more:
            message = f"there are more than {MOST_SLOTS} slots in that range; take a shorter one"
            raise InvalidInput("the range cannot be filled", [Problem("from", message)])
        return found.slots

    async def _fired_slots(self, row: TriggerRow, begin: Instant) -> set[Instant]:
        """The slots since then that have a firing. A firing is never older than its slot."""
        found: set[Instant] = set()
        before = None
        for _ in range(_MOST_PAGES):
            page = await self._store.firings(row.tenant, trigger=row.id, limit=_PAGE, before=before)
            found.update(firing.slot for firing in page if firing.slot is not None)
            if len(page) < _PAGE or page[-1].at < begin:
                break
            before = page[-1].id
        return found

    def _new(self, trigger: TriggerRow, kind: str, request: FiringPayload) -> NewFiring:
        """A firing whose sender waits for the answer."""
        return NewFiring(
            id=self._new_id(),
            tenant=trigger.tenant,
            trigger=trigger.id,
            workflow=trigger.workflow,
            kind=kind,
            state=FiringState.DUE,
            due_at=self._now() + _HEAD_START,
            request=record.encode_request(request),
        )

    async def _keep(self, firings: Sequence[NewFiring]) -> list[FiringRow]:
        rows = await self._store.add_firings(firings)
        reach("after_firing")
        return rows

    async def _settle(self, firing: FiringRow) -> FiringRow:
        """The firing once it has ended; as it is, if that takes too long. It is durable: it ends without us too."""
        until = asyncio.get_running_loop().time() + PATIENCE
        try:
            while firing.state in OPEN_FIRINGS:
                verdict = await self.processor.process(firing)
                firing = await self._store.firing(firing.tenant, firing.id) or firing
                if verdict is Verdict.QUEUED or asyncio.get_running_loop().time() >= until:
                    break
                if verdict is Verdict.WAIT:
                    await asyncio.sleep(_LOOK_AGAIN)
        except (Unavailable, StoreError):
            return firing
        return firing

    async def _settle_all(self, firings: Sequence[FiringRow]) -> list[FiringRow]:
        room = asyncio.Semaphore(_AT_ONCE)

        async def settle(firing: FiringRow) -> FiringRow:
            async with room:
                return await self._settle(firing)

        return list(await asyncio.gather(*(settle(firing) for firing in firings)))
