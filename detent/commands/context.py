"""What all commands stand on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from detent.engine.cache import WorkflowCache
from detent.engine.callbacks import Deliveries
from detent.engine.engine import Engine
from detent.errors import NotFound, Unavailable
from detent.forms.compiled import Limits
from detent.ids import RUN, InvalidId, parse
from detent.instant import Instant
from detent.settings import DEFAULT_TENANT
from detent.store.rows import RunRow

encoder: Final = msgspec.json.Encoder()


class CommandContext:
    """One engine and its store."""

    def __init__(self, engine: Engine, *, limits: Limits | None = None, actions: Collection[str] | None = None) -> None:
        self._engine, self._store = engine, engine.store
        self._limits, self._actions = limits or Limits(), actions
        self._workflows = WorkflowCache(engine.store, engine.graphs)
        self._deliveries = Deliveries(engine.store)

    def now(self) -> Instant:
        """The time by the database's clock, as this process knows it."""
        return self._engine.time.now()

    async def run_row(self, run: str, *, tenant: int = DEFAULT_TENANT) -> RunRow:
        """A run as it stands in its table, or NotFound."""
        try:
            row = await self._store.run(tenant, parse(RUN, run))
        except InvalidId:
            row = None
        if row is None:
            raise NotFound(f"there is no run {run[:80]!r}")
        return row

    def nudge(self) -> None:
        """Something is in the inbox: let the engine of this process look now rather than at its next turn."""
        try:
            self._engine.node.nudge()
        except Unavailable:
            return  # polling will find it
