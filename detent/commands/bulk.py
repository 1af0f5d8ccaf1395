"""The same wish for many runs, chosen by a filter: first counted, then done."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from detent.commands.context import encoder
from detent.commands.control import ControlCommands
from detent.commands.rerun import AgainCommands
from detent.errors import Conflict, DetentError, StoreError
from detent.ids import RUN, show
from detent.run.status import OPEN, Status
from detent.settings import DEFAULT_TENANT
from detent.store.rows import MessageKind, RunCriteria, RunRow

MOST: Final = 10_000
_PAGE: Final = 200


class BulkAction(StrEnum):
    """What can be wished for many runs at once."""

    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    RERUN = "rerun"


#: Which runs are meant when the filter names no status.
_MEANT: Final[dict[BulkAction, tuple[str, ...]]] = {
    BulkAction.CANCEL: tuple(sorted(OPEN)),
    BulkAction.PAUSE: (Status.RUNNING,),
    BulkAction.RESUME: (Status.PAUSED,),
    BulkAction.RETRY: (Status.FAILED, Status.TIMEOUT),
    BulkAction.RERUN: (Status.FAILED, Status.TIMEOUT),
}


@dataclass(slots=True)
class BulkResult:
    """`matched` is counted up to 10,000. `done` and `refused` are what came of those that were taken up; `more` says
    that there are others."""

    wish: BulkAction
    matched: int
    done: list[bytes] = field(default_factory=list)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    more: bool = False


class BulkCommands(ControlCommands, AgainCommands):
    """Control of many runs."""

    async def bulk(
        self, wish: BulkAction, where: RunCriteria, *, by: str, limit: int, dry_run: bool, tenant: int = DEFAULT_TENANT
    ) -> BulkResult:
        """Count the runs that match, and unless it is a dry run do it for the oldest `limit` of them. Runs that this
        itself makes are never among them."""
        if not where.statuses:
            where = replace(where, statuses=_MEANT[wish])
        matched = await self._store.count_runs(tenant, where=where, limit=MOST)
        result = BulkResult(wish, matched, more=matched > limit)
        if dry_run:
            return result
        newest, cursor, seen = self._engine.new_id(), None, 0
        while len(result.done) < limit and seen < MOST:
            rows = await self._store.runs(tenant, limit=_PAGE, where=where, cursor=cursor, oldest_first=True)
            mine = [row for row in rows if row.id < newest]
            for place, row in enumerate(mine):
                if len(result.done) == limit:
                    result.more = place < len(mine)
                    break
                await self._grant(result, row, by)
            else:
                result.more = len(mine) == _PAGE
                if not result.more:
                    break
            seen, cursor = seen + len(rows), rows[-1].id
        self.nudge()
        return result

    async def _grant(self, result: BulkResult, row: RunRow, by: str) -> None:
        try:
            await self._do(result.wish, row, by)
        except StoreError:
            raise
        except DetentError as error:
            result.refused.append((row.id, error.message))
        else:
            result.done.append(row.id)

    async def _do(self, wish: BulkAction, row: RunRow, by: str) -> None:
        match wish:
            case BulkAction.RETRY | BulkAction.RERUN:
                await self._once_more(wish, row)
            case _:
                kind = MessageKind(str(wish))
                if not await self._store.send(row.tenant, row.id, kind, encoder.encode({"by": by})):
                    raise Conflict(f"Cannot {wish} a finished workflow")

    async def _once_more(self, wish: BulkAction, row: RunRow) -> None:
        made = await self._store.runs(row.tenant, limit=_PAGE, where=RunCriteria(origin=row.id))
        before = [one for one in made if one.origin_kind == wish]
        if before:
            raise Conflict(f"it was run again already, as {show(RUN, before[0].id)}")
        again = self.retry if wish is BulkAction.RETRY else self.rerun
        # Whoever wishes the same at the same time gets the same run.
        await again(show(RUN, row.id), request_id=f"{wish}:{row.id.hex()}", tenant=row.tenant)
