"""Alerts that actions of rules raise: list them, acknowledge them, resolve them."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from detent.auth.scopes import Scope
from detent.commands.context import CommandPart
from detent.errors import Conflict, NotFound
from detent.ids import ALERT, RUN, InvalidId, parse, show
from detent.steps.alerts import AlertRequest
from detent.store.rule_rows import EVERY_ALERT, AlertCriteria, AlertRow, AlertState, NewAlert
from detent.vault.redaction import Redactor

#: At most this many alerts are counted.
MOST_COUNTED: Final = 1_000
_NOTHING_SECRET: Final = Redactor()


class AlertOverview(NamedTuple):
    """How many alerts are open and acknowledged, and the id of the newest one."""

    open: int
    acknowledged: int
    newest: bytes | None


class AlertCommands(CommandPart):
    """The alerts of a tenant."""

    async def raise_alert(self, run: str, step: str, request: AlertRequest) -> AlertRow:
        """Add the alert of a step of a run. If the step has raised one, in an earlier attempt, return that one.

        The values of secrets in it are redacted."""
        run_id = parse(RUN, run)
        row = await self._store.run(self._tenant, run_id)
        if row is None:
            raise NotFound(f"there is no run {run}")
        clean = self._engine.secrets.redactors.get(self._tenant, _NOTHING_SECRET).value
        new = NewAlert(
            id=self._engine.new_id(),
            tenant=self._tenant,
            workflow=row.workflow,
            run=run_id,
            step=step,
            alert_type=clean(request.alert_type),
            severity=str(request.severity),
            title=clean(request.title),
            message=clean(request.message),
            context=None if request.context is None else _json(clean(request.context)),
        )
        return await self._store.add_alert(new)

    async def find(
        self, *, limit: int, where: AlertCriteria = EVERY_ALERT, cursor: bytes | None = None
    ) -> list[AlertRow]:
        """Return alerts, newest first, those before `cursor`."""
        self._caller.require(Scope.READ)
        return await self._store.alerts(self._tenant, limit=limit, where=where, cursor=cursor)

    async def overview(self) -> AlertOverview:
        """Return what changes whenever an alert is raised, acknowledged or resolved."""
        self._caller.require(Scope.READ)
        newest = await self._store.alerts(self._tenant, limit=1)
        return AlertOverview(
            await self._count(AlertState.OPEN),
            await self._count(AlertState.ACKNOWLEDGED),
            newest[0].id if newest else None,
        )

    async def _count(self, state: AlertState) -> int:
        return await self._store.count_alerts(
            self._tenant, where=AlertCriteria(states=(str(state),)), limit=MOST_COUNTED
        )

    async def get(self, key: str) -> AlertRow:
        """Return an alert by its id. Raise NotFound if there is none."""
        self._caller.require(Scope.READ)
        row = await self._store.alert(self._tenant, _id(key))
        if row is None:
            raise _missing(key)
        return row

    async def acknowledge(self, key: str) -> AlertRow:
        """Record that the caller has seen an alert. An alert that is acknowledged stays as it is. Raise Conflict if it
        is resolved."""
        row = await self._settle(key, AlertState.ACKNOWLEDGED)
        if row.state == AlertState.RESOLVED:
            raise Conflict(f"the alert {show(ALERT, row.id)} is resolved and cannot be acknowledged any more")
        return row

    async def resolve(self, key: str) -> AlertRow:
        """Record that the cause of an alert is gone. An alert that is resolved stays as it is."""
        return await self._settle(key, AlertState.RESOLVED)

    async def _settle(self, key: str, state: AlertState) -> AlertRow:
        self._caller.require(Scope.EXECUTE)
        row = await self._store.settle_alert(self._tenant, _id(key), state, by=self._caller.name)
        if row is None:
            raise _missing(key)
        return row


def _id(key: str) -> bytes:
    try:
        return parse(ALERT, key)
    except InvalidId:
        raise _missing(key) from None


def _missing(key: str) -> NotFound:
    return NotFound(f"there is no alert {key[:200]!r}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
