"""Tenants: create, change, suspend, resume, export and delete them. Only a caller with `tenants:manage` may do this.

A suspended tenant may not ask anything, and its triggers do not fire. Runs that were accepted before go on to their
end, and callbacks of them are received. Only a suspended tenant can be deleted.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

import msgspec

from detent.auth.caller import Caller
from detent.auth.scopes import Scope
from detent.commands.context import CommandContext, CommandPart, encoder
from detent.errors import Conflict, InvalidInput, NotFound, Problem
from detent.run.status import OPEN
from detent.steps.egress_addresses import parse_rule
from detent.store.audit import note_audit
from detent.store.rows import MessageKind, RunCriteria
from detent.store.tenants import TenantRow, TenantStatus
from detent.tenants.limits import (
    INSTALLATION,
    MOST_ACTIONS,
    MOST_DAYS,
    MOST_EGRESS,
    TenantLimits,
    pattern_problem,
    read_limits,
)
from detent.values.fields import Problems, described, shown

LONGEST_NAME: Final = 63
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_BATCH: Final = 500
#: The table whose rows are large.
_CHUNKS: Final = "blob_chunk"
#: Columns that no export has: hashes of keys, passwords and sealed values.
_SECRET_COLUMNS: Final = frozenset({"hash", "password", "sealed"})
#: How long a deletion waits for the runs that it has cancelled, in seconds.
_PATIENCE: Final = 20.0
_PAUSE: Final = 0.2
_ROOT: Final = "default"
_LONGEST_RULE: Final = 300


class TenantCommands(CommandPart):
    """The tenants of the installation."""

    def __init__(self, context: CommandContext, caller: Caller) -> None:
        super().__init__(context, caller)
        self._store = context.store  # these commands are about every tenant

    async def create(self, name: str) -> TenantRow:
        """Create an active tenant. Raise Conflict if the name is taken."""
        self._caller.require(Scope.TENANTS)
        if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
            rule = f"must be at most {LONGEST_NAME} small letters, digits and '-', and begin with a letter"
            raise InvalidInput("the tenant cannot be created", [Problem("name", f"{name[:80]!r} {rule}")])
        note_audit(name)
        made = await self._store.add_tenant(name, None)
        if made is None:
            raise Conflict(f"there is a tenant {name!r} already")
        return made

    async def get(self, name: str) -> TenantRow:
        """Return a tenant by its name. Raise NotFound."""
        self._caller.require(Scope.TENANTS)
        row = await self._store.tenant(name) if len(name) <= LONGEST_NAME else None
        if row is None:
            raise NotFound(f"there is no tenant {name[:80]!r}")
        return row

    async def list_all(self, *, limit: int, after: str | None = None) -> list[TenantRow]:
        """Return tenants by name, those after `after`."""
        self._caller.require(Scope.TENANTS)
        return await self._store.tenants(limit=limit, after=after)

    async def change(self, name: str, changes: Mapping[str, Any]) -> TenantRow:
        """Change limits of a tenant: `actions`, `egress`, `retention_days`. `None` is the default of each. `add_` and
        `remove_` before the name of a list change single entries, so changes of two callers at once both count. Every
        node counts with them within two seconds. Raise InvalidInput with every problem."""
        row = await self.get(name)
        problems = Problems()
        given = {
            field: None if value is None else _READERS[field](field, value, problems, row.id)
            for field, value in changes.items()
        }
        if problems.found:
            raise InvalidInput("the tenant cannot be changed", problems.found)

        def edit(settings: str | None) -> str | None:
            found = Problems()
            limits = _edited(read_limits(settings), given, found)
            if found.found:
                raise InvalidInput("the tenant cannot be changed", found.found)
            return None if limits == TenantLimits() else limits.encode()

        note_audit(row.name)
        changed = _found(await self._store.change_tenant(row.id, edit=edit), row.name)
        self._context.tenants.put(changed.id, changed.name, changed.settings)
        return changed

    async def suspend(self, name: str) -> TenantRow:
        """Suspend a tenant. Every node refuses its callers within two seconds."""
        row = await self._changeable(name)
        return await self._change(row, TenantStatus.SUSPENDED)

    async def resume(self, name: str) -> TenantRow:
        """Let a suspended tenant go on. Its schedules take up as their `missed` says."""
        return await self._change(await self.get(name), TenantStatus.ACTIVE)

    async def export(self, name: str) -> AsyncIterator[bytes]:
        """Return everything that a tenant has as JSON lines: the name of a table, and a row. Ids are hexadecimal."""
        row = await self.get(name)
        return self._lines(row)

    async def delete(self, name: str, *, confirm: str) -> int:
        """Delete a suspended tenant with all it has. Return how many rows were deleted.

        Open runs are cancelled first. Raise Conflict if they have not ended after a while; ask again then."""
        row = await self._changeable(name)
        if confirm != row.name:
            raise InvalidInput("the tenant cannot be deleted", [Problem("confirm", f"must be its name, {row.name!r}")])
        if row.status != TenantStatus.SUSPENDED:
            raise Conflict(f"the tenant {row.name!r} is active; suspend it first")
        await self._end_runs(row)
        await self._context.blobs.delete_tenant(row.id)
        deleted = 0
        while count := await self._store.wipe_tenant(row.id, limit=_BATCH):
            deleted += count
        if not await self._store.drop_tenant(row.id):
            raise Conflict(f"the tenant {row.name!r} was resumed while it was deleted")
        return deleted

    async def _changeable(self, name: str) -> TenantRow:
        row = await self.get(name)
        if row.name == _ROOT:
            raise Conflict("the tenant 'default' cannot be suspended or deleted: every installation has it")
        if row.id == self._tenant:
            raise Conflict(f"{self._caller.name!r} is of the tenant {row.name!r} itself; ask as another tenant")
        return row

    async def _change(self, row: TenantRow, status: TenantStatus) -> TenantRow:
        return _found(await self._store.change_tenant(row.id, status=status), row.name)

    async def _lines(self, row: TenantRow) -> AsyncIterator[bytes]:
        yield _line("tenant", row._asdict())
        for table in self._store.owned_tables():
            after = None
            while True:
                size = 1 if table == _CHUNKS else _BATCH
                rows, after = await self._store.owned_rows(row.id, table, limit=size, after=after)
                if rows:
                    yield b"".join(_line(table, one) for one in rows)
                if after is None:
                    break

    async def _end_runs(self, row: TenantRow) -> None:
        """Cancel the open runs of a tenant and wait until they have ended."""
        opened = RunCriteria(statuses=tuple(sorted(OPEN)))
        data = encoder.encode({"by": self._caller.name})
        until = asyncio.get_running_loop().time() + _PATIENCE
        asked: set[bytes] = set()
        while rows := await self._store.runs(row.id, limit=_BATCH, where=opened, oldest_first=True):
            new = [one.id for one in rows if one.id not in asked]
            for run in new:
                await self._store.send(row.id, run, MessageKind.CANCEL, data)
            asked.update(new)
            if new:
                self._context.nudge()
            elif asyncio.get_running_loop().time() > until:
                raise Conflict(
                    f"{len(rows)} runs of the tenant {row.name!r} are cancelled and have not ended yet; "
                    "ask again when they have, and see that a node is at work"
                )
            await asyncio.sleep(_PAUSE)


def _found(changed: TenantRow | None, name: str) -> TenantRow:
    if changed is None:
        raise NotFound(f"there is no tenant {name!r} any more")
    return changed


def _read_actions(field: str, value: Any, problems: Problems, tenant: int) -> tuple[str, ...]:
    listed = _read_list(field, value, MOST_ACTIONS, problems)
    for number, one in enumerate(listed):
        problem = pattern_problem(one)
        if problem is not None:
            problems.add(f"{field}[{number}]", problem)
    return tuple(dict.fromkeys(listed))


def _read_egress(field: str, value: Any, problems: Problems, tenant: int) -> tuple[str, ...]:
    listed = _read_list(field, value, MOST_EGRESS, problems)
    for number, one in enumerate(listed):
        try:
            rule = parse_rule(one[:_LONGEST_RULE])
        except InvalidInput as error:
            problems.add(f"{field}[{number}]", error.message)
            continue
        if tenant != INSTALLATION and rule.is_metadata:
            message = f"{shown(one)} is a cloud metadata service, which only the tenant 'default' may reach; remove it"
            problems.add(f"{field}[{number}]", message)
    return tuple(dict.fromkeys(listed))


def _read_days(field: str, value: Any, problems: Problems, tenant: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_DAYS:
        problems.add(field, f"must be a whole number of days from 1 to {MOST_DAYS:,}, not {described(value)}")
        return None
    return value


def _read_list(field: str, value: Any, most: int, problems: Problems) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        problems.add(field, f"must be a list of texts, not {described(value)}")
        return []
    if len(value) > most:
        problems.add(field, f"has {len(value)} entries; at most {most} are allowed")
        return []
    return value


def _edited(limits: TenantLimits, given: Mapping[str, Any], problems: Problems) -> TenantLimits:
    """Return limits with changes: first what is replaced, then what is added to lists, then what is removed."""
    replaced = {field: value for field, value in given.items() if field in TenantLimits.__struct_fields__}
    limits = msgspec.structs.replace(limits, **replaced)
    for field, most in (("actions", MOST_ACTIONS), ("egress", MOST_EGRESS)):
        added, removed = given.get(f"add_{field}") or (), given.get(f"remove_{field}") or ()
        if not added and not removed:
            continue
        whole = dict.fromkeys((*(getattr(limits, field) or ()), *added))
        for number, one in enumerate(removed):
            if one not in whole:
                known = ", ".join(list(whole)[:20]) or "nothing"
                problems.add(f"remove_{field}[{number}]", f"{shown(one)} is not in the list; it has {known}")
            whole.pop(one, None)
        if len(whole) > most:
            problems.add(f"add_{field}", f"the list would have {len(whole)} entries; at most {most} are allowed")
        limits = msgspec.structs.replace(limits, **{field: tuple(whole)})
    return limits


_READERS: Final[Mapping[str, Callable[[str, Any, Problems, int], Any]]] = {
    "actions": _read_actions,
    "egress": _read_egress,
    "retention_days": _read_days,
    "add_actions": _read_actions,
    "remove_actions": _read_actions,
    "add_egress": _read_egress,
    "remove_egress": _read_egress,
}
#: The names of the limits that can be changed.
LIMITS: Final = tuple(_READERS)


def _line(table: str, row: Any) -> bytes:
    shown = {name: _shown(value) for name, value in row.items() if name not in _SECRET_COLUMNS}
    return msgspec.json.encode({"table": table, "row": shown}) + b"\n"


def _shown(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value
