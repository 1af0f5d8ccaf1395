"""The first key of an installation: it exists before any caller does, so the server makes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from detent.auth.caller import local_caller
from detent.auth.keys import make_key
from detent.auth.scopes import Role
from detent.clock import SystemClock
from detent.errors import InvalidInput, Problem
from detent.ids import new_id
from detent.store.audit import AuditOutcome, AuditRow, AuditStore, PendingAudit, auditing
from detent.store.auth import KeyStore, NewKey
from detent.store.identity.people import PersonStore

NAME: Final = "first"


class FirstKeyStore(KeyStore, PersonStore, AuditStore, Protocol):
    """What the first key needs of a store."""


async def is_needed(store: FirstKeyStore) -> bool:
    """Return whether the database has neither a key nor a person, so that no caller can be known."""
    tenant = local_caller("detent").tenant
    return not await store.keys(tenant, limit=1) and not await store.people(tenant, limit=1)


async def make_first_key(store: FirstKeyStore, file: Path | None = None) -> str | None:
    """Create the first key and return it. Return `None` if another node makes it, or has made it.

    With `file` the key is written there, readable by its owner only. Raise InvalidInput if that is not possible."""
    made = make_key()
    new = NewKey(
        id=made.id,
        tenant=local_caller("detent").tenant,
        name=NAME,
        hash=made.hash,
        role=Role.INSTANCE_ADMIN,
        scopes=None,
        workflows=None,
        created_by="detent serve",
        expires_at=None,
    )
    with _written(file, made.key) as keep:
        pending = PendingAudit(_audit_row(new))
        with auditing(pending):
            if not await store.add_first_key(new):
                return None
        if not pending.is_written:  # a store in memory has no transactions
            await store.finish_audit(pending.row())
        keep.append(made.key)
    return made.key


def _audit_row(new: NewKey) -> AuditRow:
    """Return the row of the audit that the transaction of the key writes."""
    return AuditRow(
        id=new_id(),
        tenant=new.tenant,
        at=SystemClock().wall(),
        actor=new.created_by,
        via="local",
        action="create_first_key",
        kind="key",
        object=new.name,
        outcome=str(AuditOutcome.DONE),
        reason=None,
        address=None,
        correlation=None,
        detail=None,
    )


@contextmanager
def _written(file: Path | None, key: str) -> Iterator[list[str]]:
    """Write a key into a new file. Remove the file at the end, unless the block has put the key into the list."""
    keep: list[str] = []
    if file is None:
        yield keep
        return
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as out:
            out.write(f"{key}\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        why = "it exists, and the database has no key; remove it" if file.exists() else error.strerror or str(error)
        raise InvalidInput("invalid settings", [Problem("admin_key_file", f"cannot write {file}: {why}")]) from None
    try:
        yield keep
    finally:
        if not keep:
            file.unlink(missing_ok=True)
