"""The audit: what callers have changed, or were not allowed to; and whether a run is as it was at its end."""

from __future__ import annotations

from typing import NamedTuple

from detent.auth.caller import Caller
from detent.auth.scopes import Scope
from detent.commands.context import CommandContext, CommandPart
from detent.commands.runs import RunCommands
from detent.errors import Conflict
from detent.run.journal import Entry
from detent.run.seal import SealCheck, SealedRun, SealState, check_seal
from detent.store.audit import AuditCriteria, AuditRow
from detent.store.rows import RunRow, hero_of


class RunSeal(NamedTuple):
    """A run, how many entries its journal has, and what its seal says."""

    run: bytes
    entries: int
    check: SealCheck


class AuditCommands(CommandPart):
    """Reads the audit of the caller's tenant, or of every tenant if it may manage them, and checks seals of runs."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands) -> None:
        super().__init__(context, caller)
        self._runs = runs

    async def find(
        self, *, limit: int, where: AuditCriteria, cursor: bytes | None = None, every_tenant: bool = False
    ) -> list[AuditRow]:
        """Return rows, the newest first, those after the one with the id `cursor`. Raise Forbidden."""
        self._caller.require(Scope.AUDIT)
        if every_tenant:
            self._caller.require(Scope.TENANTS)
        if every_tenant:
            return await self._context.store.audits(None, limit=limit, where=where, cursor=cursor)
        return await self._store.audits(self._tenant, limit=limit, where=where, cursor=cursor)

    async def verify(self, run: str) -> RunSeal:
        """Say whether a run is as it was when it ended. Raise Conflict if this process has no key for seals."""
        row = await self._runs.row(run)
        entries: list[Entry] = []
        while True:
            more = await self._store.journal(self._tenant, row.id, after=entries[-1].seq if entries else 0)
            if not more:
                break
            entries += more
        if row.seal is None:
            return RunSeal(row.id, len(entries), SealCheck(SealState.NOT_SEALED))
        key = self._engine.seal_key
        if key is None:
            raise Conflict("this process cannot check the seal: it needs the DETENT_SECRET_KEY with which it was made")
        return RunSeal(row.id, len(entries), check_seal(key, row.seal, sealed_run(row), entries))


def sealed_run(row: RunRow) -> SealedRun:
    """Return what the seal of a run covers beside its journal."""
    return SealedRun(
        id=row.id,
        tenant=row.tenant,
        workflow=row.workflow,
        input=row.input,
        opening=row.opening,
        started_at=row.started_at,
        parent=row.parent,
        hero=hero_of(row),
        principal=row.principal,
        via=row.via,
        correlation=row.correlation,
        version=row.version,
        status=row.status,
        ended_at=row.ended_at,
        output=row.output,
        error=row.error,
    )
