"""The audit: its rows, the verbs of a store on it (a part of `store/protocol.py`), and the row of the current command.

A row is written in the transaction of the change that it describes. The API opens a `PendingAudit` around an audited
command. Every transaction that the command commits inserts its row, unless it exists. So the row exists exactly if
something was committed, also after a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

import msgspec

LONGEST_OBJECT: Final = 200
LONGEST_REASON: Final = 500
_LARGEST_DETAIL: Final = 8_000


class AuditOutcome(StrEnum):
    """How an audited command ended."""

    DONE = "done"
    REFUSED = "refused"  # the caller may not do it
    FAILED = "failed"


class AuditRow(NamedTuple):
    """One row of the audit.

    `actor` is the caller, `via` how it was identified. `action` is the operation, `kind` and `object` what it was done
    to. `detail` is a small JSON object: never a body, never a secret."""

    id: bytes
    tenant: int
    at: int
    actor: str
    via: str
    action: str
    kind: str
    object: str | None
    outcome: str
    reason: str | None
    address: str | None
    correlation: str | None
    detail: str | None


class AuditCriteria(NamedTuple):
    """A filter of the audit. A field that is `None` does not narrow it. Times are bounded as [after, before)."""

    actor: str | None = None
    action: str | None = None
    kind: str | None = None
    object: str | None = None
    outcome: str | None = None
    after: int | None = None
    before: int | None = None


EVERY_AUDIT: Final = AuditCriteria()


class AuditStore(Protocol):
    """The verbs of the audit."""

    async def add_audits(self, rows: Sequence[AuditRow]) -> None:
        """Insert rows. One whose id exists is left out."""

    async def finish_audit(self, row: AuditRow) -> None:
        """Write the object, outcome, reason and detail of a row. Insert the row if it does not exist."""

    async def audits(
        self, tenant: int | None, *, limit: int, where: AuditCriteria = EVERY_AUDIT, cursor: bytes | None = None
    ) -> list[AuditRow]:
        """List rows of a tenant, the newest first, after the one with the id `cursor`. `None`: of every tenant."""

    async def prune_audits(self, before: int, *, limit: int) -> int:
        """Delete rows that are older than that moment, the oldest first. Return how many."""


class PendingAudit:
    """The row of a command that has not ended. It belongs to one task: tasks that the command starts write no row."""

    def __init__(self, row: AuditRow) -> None:
        self._row = row
        self._detail: dict[str, Any] = {}
        self._has_changed = False
        self._task = asyncio.current_task()
        #: Whether a transaction has written the row.
        self.is_written = False

    def is_own(self) -> bool:
        """Return whether the current task is the one of the command, and the row must still be written."""
        return not self.is_written and asyncio.current_task() is self._task

    def note(self, object_: str | None = None, **detail: Any) -> None:
        """Add to the row: the object of the command, or small facts about it. What is noted after a transaction has
        written the row is written at the end of the command."""
        if object_ is not None:
            self._row = self._row._replace(object=clip(object_, LONGEST_OBJECT))
        self._detail.update(detail)
        self._has_changed = self._has_changed or self.is_written

    def is_dry(self) -> bool:
        """Return whether the command only tells what it would do."""
        return bool(self._detail.get("dry_run"))

    def name_actor(self, tenant: int, actor: str) -> None:
        """Say who the caller turned out to be."""
        self._row = self._row._replace(tenant=tenant, actor=clip(actor, LONGEST_OBJECT))
        self._has_changed = self._has_changed or self.is_written

    def has_changed(self) -> bool:
        """Return whether something was noted after the row was written."""
        return self._has_changed

    def row(self, outcome: AuditOutcome = AuditOutcome.DONE, reason: str | None = None) -> AuditRow:
        """Return the row as it is known now."""
        text = str(msgspec.json.encode(self._detail, enc_hook=str), "utf-8") if self._detail else None
        if text is not None and len(text) > _LARGEST_DETAIL:
            text = str(msgspec.json.encode({"left_out": sorted(map(str, self._detail))[:100]}), "utf-8")
        said = None if reason is None else clip(reason, LONGEST_REASON)
        return self._row._replace(outcome=str(outcome), reason=said, detail=text)


_pending: ContextVar[PendingAudit | None] = ContextVar("detent_audit", default=None)


@contextmanager
def auditing(pending: PendingAudit) -> Iterator[None]:
    """Let the transactions of the block write this row."""
    token = _pending.set(pending)
    try:
        yield
    finally:
        _pending.reset(token)


def unwritten_audit() -> PendingAudit | None:
    """Return the audit of the current command, if its row must be written by the next transaction."""
    pending = _pending.get()
    return pending if pending is not None and pending.is_own() else None


def note_audit(object_: str | None = None, **detail: Any) -> None:
    """Add to the row of the current command, if it is audited: its object, and small facts that are not secret."""
    pending = _pending.get()
    if pending is not None:
        pending.note(object_, **detail)


def name_actor(tenant: int, actor: str) -> None:
    """Say who the caller of the current command turned out to be, if it is audited."""
    pending = _pending.get()
    if pending is not None:
        pending.name_actor(tenant, actor)


def shown_filter(given: Mapping[str, object]) -> dict[str, object]:
    """Return a filter as the audit shows it: ids in hexadecimal digits."""
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in given.items()}


def clip(text: str, most: int) -> str:
    """Return at most so many characters of a text, without those that a database cannot store."""
    return text[:most].replace("\0", "\ufffd").encode(errors="replace").decode()
