"""What the commands on triggers stand on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from detent.commands import Commands
from detent.errors import Conflict, NotFound
from detent.ids import FIRING, TRIGGER, InvalidId, NewId, parse
from detent.instant import Instant
from detent.settings import DEFAULT_TENANT
from detent.store.protocol import TriggerStore
from detent.store.trigger_rows import FiringRow, TriggerRow
from detent.triggers.processor import Processor

#: How often a change is tried again because somebody else changed the trigger at that very moment.
ATTEMPTS: Final = 5


class TriggerContext:
    """The commands of an engine, its store, and the database's time as far as it is known here."""

    def __init__(
        self, commands: Commands, store: TriggerStore, *, now: Callable[[], Instant], new_id: NewId, base_url: str
    ) -> None:
        self._commands, self._store = commands, store
        self._now, self._new_id = now, new_id
        self.base_url = base_url
        self.processor = Processor(commands, store)

    async def trigger(self, trigger: str, *, tenant: int = DEFAULT_TENANT) -> TriggerRow:
        """A trigger by its id, or NotFound."""
        try:
            row = await self._store.trigger(tenant, parse(TRIGGER, trigger))
        except InvalidId:
            row = None
        if row is None:
            raise NotFound(f"there is no trigger {trigger[:80]!r}")
        return row

    async def firing(self, trigger: str, firing: str, *, tenant: int = DEFAULT_TENANT) -> FiringRow:
        """A firing of a trigger, or NotFound."""
        of = await self.trigger(trigger, tenant=tenant)
        try:
            row = await self._store.firing(tenant, parse(FIRING, firing))
        except InvalidId:
            row = None
        if row is None or row.trigger != of.id:
            raise NotFound(f"that trigger has no firing {firing[:80]!r}")
        return row


def refuse_owned(row: TriggerRow, wish: str) -> None:
    """A trigger that stands in a definition changes with it."""
    if row.owned:
        raise Conflict(
            f"the trigger stands in the definition of {row.workflow_name!r} and cannot be {wish} here; edit the "
            "definition, or pause the trigger"
        )
