"""Bulk commands: the same action on many runs, chosen by a filter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart, encoder
from detent.commands.rerun import RerunCommands, RetryPreview, RetryVersion
from detent.errors import Conflict, DetentError, StoreError
from detent.ids import RUN, show
from detent.run.status import OPEN, Status
from detent.store.audit import note_audit, shown_filter
from detent.store.rows import MessageKind, RunCriteria, RunRow

MOST: Final = 10_000
_PAGE: Final = 200
#: A dry run of a retry looks at so many runs at most.
MOST_PREVIEWS: Final = 100


class BulkAction(StrEnum):
    """What can be done to many runs at once."""

    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    RERUN = "rerun"


#: The statuses of the runs to change, if the filter names none.
_MEANT: Final[dict[BulkAction, tuple[str, ...]]] = {
    BulkAction.CANCEL: tuple(sorted(OPEN)),
    BulkAction.PAUSE: (Status.RUNNING,),
    BulkAction.RESUME: (Status.PAUSED,),
    BulkAction.RETRY: (Status.FAILED, Status.TIMEOUT),
    BulkAction.RERUN: (Status.FAILED, Status.TIMEOUT),
}


@dataclass(slots=True)
class BulkResult:
    """The result of a bulk command. `matched` is counted up to 10,000. `done` and `refused` are the runs that were
    tried. `more`: other runs match too."""

    wish: BulkAction
    matched: int
    done: list[bytes] = field(default_factory=list)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    more: bool = False
    previews: list[RetryPreview] = field(default_factory=list)  # of a dry run of a retry, the oldest ones


class BulkCommands(CommandPart):
    """Control of many runs."""

    def __init__(self, context: CommandContext, caller: Caller, reruns: RerunCommands) -> None:
        super().__init__(context, caller)
        self._reruns = reruns

    async def apply(
        self,
        wish: BulkAction,
        where: RunCriteria,
        *,
        limit: int,
        dry_run: bool,
        version: RetryVersion = RetryVersion.SAME,
    ) -> BulkResult:
        """Count the runs that match. Unless it is a dry run, apply the action to the oldest `limit` of them. A run that
        this call itself has started is never changed. `version` is the one that a retry starts. A dry run of a retry
        says of the oldest runs what would be kept and what would run again."""
        if not where.statuses:
            where = replace(where, statuses=_MEANT[wish])
        matched = await self._store.count_runs(self._tenant, where=where, limit=MOST)
        result = BulkResult(wish, matched, more=matched > limit)
        note_audit(action=str(wish), filter=shown_filter(where.given()), dry_run=dry_run)
        if dry_run:
            if wish is BulkAction.RETRY:
                await self._preview(result, where, min(limit, MOST_PREVIEWS), version)
            return result
        newest, cursor, seen = self._engine.new_id(), None, 0
        while len(result.done) < limit and seen < MOST:
            rows = await self._store.runs(self._tenant, limit=_PAGE, where=where, cursor=cursor, oldest_first=True)
            mine = [row for row in rows if row.id < newest]
            tried = mine[: limit - len(result.done)]
            await self._try(result, tried, version)
            result.more = len(mine) == _PAGE or len(tried) < len(mine)
            if not result.more:
                break
            seen, cursor = seen + len(tried), tried[-1].id
        note_audit(count=len(result.done))
        self._context.nudge()
        return result

    async def _preview(self, result: BulkResult, where: RunCriteria, limit: int, version: RetryVersion) -> None:
        for row in await self._store.runs(self._tenant, limit=limit, where=where, oldest_first=True):
            try:
                await self._refuse_if_made(result.wish, row)
                result.previews.append(await self._reruns.preview_retry(row, version=version))
            except StoreError:
                raise
            except DetentError as error:
                result.refused.append((row.id, error.message))

    async def _try(self, result: BulkResult, rows: list[RunRow], version: RetryVersion) -> None:
        """Apply the action to some runs. Control messages go to all of them at once."""
        if result.wish not in (BulkAction.RETRY, BulkAction.RERUN):
            data = encoder.encode({"by": self._caller.name})
            sent = await self._send_many([row.id for row in rows], MessageKind(str(result.wish)), data)
            result.done += [row.id for row in rows if row.id in sent]
            ended = f"Cannot {result.wish} a finished workflow"
            result.refused += [(row.id, ended) for row in rows if row.id not in sent]
            return
        for row in rows:
            try:
                await self._run_again(result.wish, row, version)
            except StoreError:
                raise
            except DetentError as error:
                result.refused.append((row.id, error.message))
            else:
                result.done.append(row.id)

    async def _refuse_if_made(self, wish: BulkAction, row: RunRow) -> None:
        made = await self._store.runs(row.tenant, limit=_PAGE, where=RunCriteria(origin=row.id))
        before = [one for one in made if one.origin_kind == wish]
        if before:
            raise Conflict(f"it was run again already, as {show(RUN, before[0].id)}")

    async def _run_again(self, wish: BulkAction, row: RunRow, version: RetryVersion) -> None:
        await self._refuse_if_made(wish, row)
        # Two callers that ask for the same at the same time get the same run.
        request_id = f"{wish}:{row.id.hex()}"
        if wish is BulkAction.RERUN:
            await self._reruns.rerun(row, request_id=request_id)
        else:
            await self._reruns.retry(row, request_id=request_id, version=version)
