"""The auditor: it opens the row of each audited request, and gathers what was refused.

A change writes its row in its own transaction (`store/audit.py`). What changed nothing has no transaction: refused and
failed requests are gathered for a second, one row per caller, operation and reason. So a flood of them costs at most
100 rows a second, however many requests it has.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, Final

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from detent.auth.caller import Caller
from detent.auth.policy import OBJECTS
from detent.errors import DetentError, Forbidden, StoreError, Unauthenticated
from detent.ids import new_id
from detent.instant import Instant
from detent.observe import emit
from detent.run.initiator import CORRELATION_HEADER, given_correlation
from detent.store.audit import (
    LONGEST_OBJECT,
    LONGEST_REASON,
    AuditOutcome,
    AuditRow,
    AuditStore,
    PendingAudit,
    auditing,
    clip,
)

Networks = Sequence[IPv4Network | IPv6Network]

#: Seconds for which refusals are gathered.
GATHERED: Final = 1.0
#: Rows that one node writes for what was gathered.
MOST_ROWS: Final = 100
#: Where the scope of a request has the error that its answer tells.
ERROR_KEY: Final = "detent_error"
_CORRELATION: Final = CORRELATION_HEADER.encode()
_FORWARDED: Final = b"x-forwarded-for"
_CREDENTIALS: Final = frozenset({b"authorization", b"cookie"})
_READS: Final = frozenset({"GET", "HEAD"})
_UNKNOWN: Final = "unknown"


class Auditor:
    """Writes the audit of one app's requests. `proxies` are the peers whose `X-Forwarded-For` counts.

    With `gathers`, a poller writes what was refused; without it, failures are written at once."""

    name = "audit"

    def __init__(
        self, store: AuditStore, now: Callable[[], Instant], *, proxies: Networks = (), gathers: bool = False
    ) -> None:
        self._store = store
        self._now = now
        self._proxies = proxies
        self._gathers = gathers
        self._gathered: dict[tuple[str, str, str], tuple[AuditRow, int]] = {}
        self._beyond: AuditRow | None = None
        self._beyond_count = 0

    def address(self, scope: Scope) -> str | None:
        """Return the address of the client of a request, as its trusted proxies name it."""
        return address_of(scope, self._proxies)

    async def run(
        self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, operation: str, caller: Caller
    ) -> None:
        """Answer a request of an audited operation. Its row is complete before the answer is sent."""
        pending = PendingAudit(self._row(scope, operation, caller))

        async def finish(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._finish(pending, message["status"], scope["state"].get(ERROR_KEY))
            await send(message)

        with auditing(pending):
            await app(scope, receive, finish)

    async def _finish(self, pending: PendingAudit, status: int, error: Exception | None) -> None:
        try:
            if status < 400:
                if pending.has_changed() or not (pending.is_written or pending.is_dry()):
                    await self._store.finish_audit(pending.row())
                return
            outcome = AuditOutcome.REFUSED if status in (401, 403) else AuditOutcome.FAILED
            row = pending.row(outcome, _reason(error, status))
            if pending.is_written:
                await self._store.finish_audit(row)
            elif self._gathers:
                self._gather(row)
            else:
                await self._store.add_audits([row])
        except StoreError as problem:
            emit("engine.error", where="audit", error=problem.message)

    def refuse(self, scope: Scope, operation: str, caller: Caller, error: Exception) -> None:
        """Record that a request was refused before its command began. A visit without credentials is no attempt."""
        if isinstance(error, Unauthenticated) and scope.get("method") in _READS and not _has_credentials(scope):
            return
        row = self._row(scope, operation, caller)
        self._gather(row._replace(outcome=str(AuditOutcome.REFUSED), reason=clip(_reason(error, 403), LONGEST_REASON)))

    def _gather(self, row: AuditRow) -> None:
        asker = row.address or "" if row.actor == _UNKNOWN else f"{row.tenant} {row.actor}"
        key = (asker, row.action, row.reason or "")
        first, count = self._gathered.get(key, (row, 0))
        if not count and len(self._gathered) >= MOST_ROWS - 1:
            self._beyond = self._beyond or row
            self._beyond_count += 1
            return
        if first.object != row.object:
            first = first._replace(object=None)
        self._gathered[key] = (first, count + 1)

    async def poll(self) -> float:
        """Write what was gathered. Return the seconds until the next time."""
        await self.flush()
        return GATHERED

    async def flush(self) -> None:
        """Write what was gathered. If the database does not answer, it is written the next time."""
        gathered, beyond, beyond_count = self._gathered, self._beyond, self._beyond_count
        rows = [_counted(row, count) for row, count in gathered.values()]
        if beyond is not None:
            rows.append(_counted(_overflow(beyond), beyond_count))
        if not rows:
            return
        self._gathered, self._beyond, self._beyond_count = {}, None, 0  # requests are refused while these are written
        try:
            await self._store.add_audits(rows)
        except StoreError:
            for key, (row, count) in self._gathered.items():
                first, before = gathered.get(key, (row, 0))
                gathered[key] = first, before + count
            self._gathered, self._beyond = gathered, beyond or self._beyond
            self._beyond_count += beyond_count
            raise

    def _row(self, scope: Scope, operation: str, caller: Caller) -> AuditRow:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        kind, object_ = object_of(operation, scope.get("path_params") or {})
        correlation = headers.get(_CORRELATION, b"").decode("latin-1")
        return AuditRow(
            id=new_id(),
            tenant=caller.tenant,
            at=self._now(),
            actor=clip(actor_of(caller), LONGEST_OBJECT),
            via="none" if caller.via == "public" else caller.via,
            action=operation,
            kind=kind,
            object=object_,
            outcome=str(AuditOutcome.DONE),
            reason=None,
            address=address_of(scope, self._proxies),
            correlation=given_correlation({}, {CORRELATION_HEADER: correlation}),
            detail=None,
        )


def actor_of(caller: Caller) -> str:
    """Return the name of a caller, with that of the user of the operating system for a process of this machine."""
    if caller.via == "local":
        return f"{caller.name} ({_os_user()})"
    return _UNKNOWN if caller.via == "public" else caller.name


@cache
def _os_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may have no name for its user
        return f"uid {os.getuid()}"


def object_of(operation: str, parameters: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the kind and the name of what an operation changes: the last object in its path."""
    found = [(kind, value) for name, value in parameters.items() if (kind := OBJECTS.get(name)) is not None]
    if found:
        return found[-1][0], clip(str(found[-1][1]), LONGEST_OBJECT)
    return operation.partition("_")[2].replace("_", " ") or operation, None


def address_of(scope: Scope, proxies: Networks) -> str | None:
    """Return the address of the peer, or the one for which a trusted proxy forwards."""
    client = scope.get("client")
    if not client:
        return None
    address: str = client[0]
    if proxies and _is_in(address, proxies):
        forwarded = [value for name, value in scope["headers"] if name == _FORWARDED]
        hops = b",".join(forwarded).decode("latin-1").split(",")
        for hop in reversed([hop.strip() for hop in hops]):
            if not _is_address(hop):
                break
            address = hop
            if not _is_in(hop, proxies):
                break
    return address


def _has_credentials(scope: Scope) -> bool:
    return any(name in _CREDENTIALS for name, _ in scope["headers"])


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_in(text: str, networks: Networks) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)


def _reason(error: Exception | None, status: int) -> str:
    if isinstance(error, Unauthenticated | Forbidden):
        return error.message
    return error.code if isinstance(error, DetentError) else f"status {status}"


def _overflow(row: AuditRow) -> AuditRow:
    """Return the one row for all that are beyond the limit, with the time of the first of them."""
    reason = f"more than {MOST_ROWS} kinds of refused requests in a second"
    return row._replace(
        actor=_UNKNOWN,
        via="none",
        action="many",
        kind="request",
        object=None,
        reason=reason,
        address=None,
        correlation=None,
    )


def _counted(row: AuditRow, count: int) -> AuditRow:
    return row if count == 1 else row._replace(detail=str(msgspec.json.encode({"count": count}), "utf-8"))
