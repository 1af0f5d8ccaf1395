"""The verbs that are the same on every SQL database; a dialect gives them two ways to reach it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ClauseElement

from detent.run.journal import Entry
from detent.store.rows import CallbackRow, CallbackState, Mail, NewVersion, Receipt, RunRow, SavedVersion, WorkflowRow
from detent.store.sql import statements
from detent.store.sql.statements import Values

Rows = Sequence[Sequence[Any]]
Step = tuple[ClauseElement, Values]


class ColdVerbs(ABC):
    """Reading for people and doors, and saving workflows."""

    @abstractmethod
    async def now(self) -> int:
        """The database's time."""

    @abstractmethod
    async def _read(self, clause: ClauseElement, values: Values) -> Rows:
        """The rows of one statement that changes nothing."""

    @abstractmethod
    async def _write(self, *steps: Step) -> Rows:
        """Run these statements as one transaction and give the rows of the first; if the first one is expected to
        return a row and does not, nothing is written."""

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        clause = statements.WORKFLOW_BY_NAME if isinstance(key, str) else statements.WORKFLOW_BY_ID
        rows = await self._read(clause, {"tenant": tenant, "key": key})
        return _workflow(rows[0]) if rows else None

    async def workflows(self, tenant: int, *, limit: int, after: str | None = None) -> list[WorkflowRow]:
        values = {"tenant": tenant, "after": after or "", "limit": limit}
        return [_workflow(row) for row in await self._read(statements.WORKFLOWS, values)]

    async def run(self, tenant: int, run: bytes) -> RunRow | None:
        rows = await self._read(statements.RUN, {"tenant": tenant, "run": run})
        return _run(rows[0]) if rows else None

    async def runs(
        self,
        tenant: int,
        *,
        limit: int,
        workflow: bytes | None = None,
        status: str | None = None,
        before: bytes | None = None,
    ) -> list[RunRow]:
        clause = statements.runs(workflow=workflow is not None, status=status is not None, before=before is not None)
        given = {"tenant": tenant, "limit": limit, "workflow": workflow, "status": status, "before": before}
        return [_run(row) for row in await self._read(clause, given)]

    async def journal(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        values = {"run": run, "after": after, "limit": limit}
        return [entry(row) for row in await self._read(statements.JOURNAL, values)]

    async def callbacks(self, run: bytes) -> list[CallbackRow]:
        return [CallbackRow(*row) for row in await self._read(statements.CALLBACKS, {"run": run})]

    async def owned(self, node: bytes) -> list[tuple[bytes, int]]:
        return [(row[0], row[1]) for row in await self._read(statements.OWNED, {"node": node})]

    async def setting(self, name: str, default: str) -> str:
        rows = await self._read(statements.SETTING, {"name": name})
        if not rows:
            await self._write((statements.STORE_SETTING, {"name": name, "value": default}))
            rows = await self._read(statements.SETTING, {"name": name})
        return str(rows[0][0])

    async def save_workflow(self, version: NewVersion, *, replace: bool) -> SavedVersion | None:
        while True:
            known = await self._read(statements.CURRENT_VERSION, {"tenant": version.tenant, "name": version.name})
            if known and not replace:
                return None
            saved = await (self._change(version, known[0]) if known else self._create(version))
            if saved:
                return saved  # else somebody saved the same name in between: look again

    async def _create(self, version: NewVersion) -> SavedVersion | None:
        values = {**version._asdict(), "next": 1, "now": await self.now()}
        made = await self._write((statements.NEW_WORKFLOW, values), (statements.NEW_VERSION, values))
        return SavedVersion(version.id, 1, created=True, changed=True) if made else None

    async def _change(self, version: NewVersion, known: Sequence[Any]) -> SavedVersion | None:
        id_, seen, checksum = known
        changed = checksum != version.checksum
        number = seen + 1 if changed else seen
        values = {**version._asdict(), "id": id_, "seen": seen, "next": number, "now": await self.now()}
        steps: list[Step] = [(statements.CHANGED_WORKFLOW, values)]
        if changed:
            steps.append((statements.NEW_VERSION, values))
        made = await self._write(*steps)
        return SavedVersion(id_, number, created=False, changed=changed) if made else None

    async def _refusal(self, run: bytes, step: str, message_id: str | None, now: int) -> tuple[Receipt, bool] | None:
        """Why a callback was not received just now; null if it could be by now."""
        rows = await self._read(statements.CALLBACK, {"run": run, "step": step})
        if not rows:
            return Receipt.NOT_FOUND, False
        state, early, until, first, answer = rows[0]
        if answer is not None and message_id is not None and message_id == first:
            return Receipt(answer), True
        if state == CallbackState.RECEIVED:
            return Receipt.USED, False
        if state == CallbackState.PENDING and not early:
            return Receipt.NOT_ACTIVE, False
        if state == CallbackState.EXPIRED or (until is not None and until <= now):
            return Receipt.EXPIRED, False
        return None


def entry(row: Sequence[Any]) -> Entry:
    """A row of the journal with its text as the bytes that were written."""
    tenant, run, seq, at, kind, step, attempt, outcome, data = row
    return Entry(tenant, run, seq, at, kind, step, attempt, outcome, data.encode())


def mail(row: Sequence[Any]) -> Mail:
    id_, run, generation, kind, step, data, at = row
    return Mail(id_, run, generation, kind, step, data.encode(), at)


def encoded(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


def _run(row: Sequence[Any]) -> RunRow:
    made = RunRow(*row)
    changed = {"input": row[7].encode(), "opening": encoded(row[8]), "output": encoded(row[24])}
    return made._replace(**changed)


def _workflow(row: Sequence[Any]) -> WorkflowRow:
    return WorkflowRow(*row)._replace(enabled=bool(row[6]))
