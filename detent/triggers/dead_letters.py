"""Dead letters: list them, requeue and purge them, one by one or by a filter.

A requeue of a step retries its run, that of a run resumes it, and that of a firing fires again with the same request.
That of an entity event starts its rule, if the rule matches. Each letter is requeued once, however many callers ask:
the store hands it to one of them. If its process dies, the letter can be requeued again after a minute. What the first
one has done is not done twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from detent.auth.caller import Caller
from detent.errors import Conflict, DetentError, NotFound, StoreError
from detent.ids import FIRING, LETTER, RUN, TRIGGER, InvalidId, parse, show
from detent.instant import SECOND, iso
from detent.store.audit import note_audit, shown_filter
from detent.store.letters import EVERY_LETTER, LetterCriteria, LetterKind, LetterRow, LetterState
from detent.triggers import record
from detent.triggers.context import TriggerContext, TriggerPart
from detent.triggers.editor import TriggerEditor
from detent.triggers.entities.commands import EntityEventCommands
from detent.triggers.firing import FiringIntake

#: At most this many dead letters are counted, and changed by one call.
MOST: Final = 10_000
_PAGE: Final = 200
#: After so long a requeue without a result counts as one whose process has died.
_STALE: Final = 60 * SECOND


class LetterAction(StrEnum):
    """What can be done with many dead letters."""

    REQUEUE = "requeue"
    PURGE = "purge"


@dataclass(slots=True)
class BulkLetters:
    """The result of an action on many dead letters. `more`: there are further ones that match."""

    action: LetterAction
    matched: int
    done: list[bytes] = field(default_factory=list)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    more: bool = False


class LetterCommands(TriggerPart):
    """The dead letters of a tenant."""

    def __init__(
        self,
        context: TriggerContext,
        caller: Caller,
        editor: TriggerEditor,
        intake: FiringIntake,
        events: EntityEventCommands,
    ) -> None:
        super().__init__(context, caller)
        self._editor, self._intake = editor, intake
        self._events = events
        self._commands = context.commands.for_caller(caller)

    async def get(self, letter: str) -> LetterRow:
        """Return a dead letter, or raise NotFound."""
        try:
            row = await self._store.letter(self._tenant, parse(LETTER, letter))
        except InvalidId:
            row = None
        if row is None:
            raise NotFound(f"there is no dead letter {letter[:80]!r}")
        return row

    async def find(
        self, *, limit: int, where: LetterCriteria = EVERY_LETTER, cursor: bytes | None = None
    ) -> list[LetterRow]:
        """Return dead letters, newest first."""
        return await self._store.letters(self._tenant, limit=limit, where=where, cursor=cursor)

    async def requeue(self, letter: str) -> LetterRow:
        """Let Detent try again what it gave up. Raise Conflict if that was done before or cannot be done."""
        row = await self.get(letter)
        await self._requeue(row)
        return await self.get(letter)

    async def purge(self, letter: str) -> LetterRow:
        """Delete a dead letter. Return it as it was."""
        row = await self.get(letter)
        if not await self._store.drop_letters(self._tenant, [row.id]):
            raise NotFound(f"there is no dead letter {letter[:80]!r}")
        return row

    async def apply(self, action: LetterAction, where: LetterCriteria, *, limit: int, dry_run: bool) -> BulkLetters:
        """Count the dead letters that match. Unless it is a dry run, requeue or purge the oldest `limit` of them."""
        if action is LetterAction.REQUEUE:
            where = replace(where, state=str(LetterState.OPEN))
        result = BulkLetters(action, await self._store.count_letters(self._tenant, where=where, limit=MOST))
        result.more = result.matched > limit
        note_audit(action=str(action), filter=shown_filter(where.given()), dry_run=dry_run)
        if dry_run:
            return result
        newest, cursor = self._context.new_id(), None
        while len(result.done) < limit:
            size = min(_PAGE, limit - len(result.done))
            found = await self._store.letters(self._tenant, limit=size, where=where, cursor=cursor, oldest_first=True)
            # What this call itself leaves behind, as a firing that is refused again, is not changed.
            rows = [row for row in found if row.id < newest]
            await self._change(result, rows)
            result.more = len(rows) == size
            if not result.more:
                break
            cursor = rows[-1].id
        note_audit(count=len(result.done))
        return result

    async def _change(self, result: BulkLetters, rows: Sequence[LetterRow]) -> None:
        if result.action is LetterAction.PURGE:
            await self._store.drop_letters(self._tenant, [row.id for row in rows])
            result.done += [row.id for row in rows]
            return
        for row in rows:
            try:
                await self._requeue(row)
            except StoreError:
                raise
            except DetentError as error:
                result.refused.append((row.id, error.message))
            else:
                result.done.append(row.id)

    async def _requeue(self, row: LetterRow) -> None:
        taken = await self._store.take_letter(self._tenant, row.id, by=self._caller.name, stale=_STALE)
        if taken is None:
            raise Conflict(_why_not(await self._store.letter(self._tenant, row.id)))
        try:
            result = await self._try_again(taken)
        except StoreError:
            raise  # it is unknown what was done; the letter can be requeued again after a minute
        except DetentError:
            await self._store.settle_letter(self._tenant, row.id, result=None)
            raise
        await self._store.settle_letter(self._tenant, row.id, result=result)

    async def _try_again(self, row: LetterRow) -> str:
        """Retry, resume or replay. Return the run or the firing that comes of it."""
        if row.kind == LetterKind.EVENT and row.trigger is None:
            return await self._events.try_again(row)
        if row.kind in (LetterKind.FIRING, LetterKind.EVENT):
            return await self._replay(row)
        run = show(RUN, row.run or b"")
        try:
            if row.kind == LetterKind.RUN:
                await self._commands.control.resume(run)
                return run
            # The request id makes it one run, also if a process dies before it has stored the result.
            answer = await self._commands.reruns.retry(run, request_id=f"letter:{row.id.hex()}")
        except NotFound:
            raise Conflict(f"its run {run} was deleted; purge the dead letter") from None
        return show(RUN, answer.run)

    async def _replay(self, row: LetterRow) -> str:
        trigger = show(TRIGGER, row.trigger or b"")
        try:
            found = await self._editor.get(trigger)
        except NotFound:
            raise Conflict(f"its trigger {trigger} was deleted; purge the dead letter") from None
        kind = "event" if row.kind == LetterKind.EVENT else found.kind
        new = self._intake.new(found, kind, record.read_request(row.payload or b"{}"))
        [stored] = await self._intake.store([new._replace(replay_of=row.source, dedup=f"letter:{row.id.hex()}")])
        firing = await self._intake.settle(stored)
        return show(FIRING, firing.id) if firing.run is None else show(RUN, firing.run)


def _why_not(row: LetterRow | None) -> str:
    if row is None:
        return "the dead letter was purged meanwhile"
    when = "" if row.settled_at is None else f" at {iso(row.settled_at)}"
    made = "" if row.result is None else f", as {row.result}"
    return f"the dead letter was requeued by {row.settled_by}{when}{made}"
