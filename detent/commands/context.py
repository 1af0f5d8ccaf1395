"""What the commands of one engine share, and the base of each part."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from detent.auth.caller import Caller
from detent.engine.cache import WorkflowCache
from detent.engine.callbacks import Deliveries
from detent.engine.engine import Engine
from detent.errors import Unavailable
from detent.forms.compiled import Limits
from detent.instant import Instant

encoder: Final = msgspec.json.Encoder()


class CommandContext:
    """One engine, its store, its cache of startable workflows and its batches of callbacks."""

    def __init__(
        self, engine: Engine, limits: Limits, actions: Collection[str] | None, *, allow_draft_execution: bool = False
    ) -> None:
        self.engine = engine
        self.store = engine.store
        self.limits = limits
        self.actions = actions
        self.allow_draft_execution = allow_draft_execution
        self.workflows = WorkflowCache(engine.store, engine.graphs)
        self.deliveries = Deliveries(engine.store)

    def now(self) -> Instant:
        """Return the time of the database's clock, as far as this process knows it."""
        return self.engine.time.now()

    def nudge(self) -> None:
        """Let the engine of this process read the inbox now, not at its next poll."""
        try:
            self.engine.node.nudge()
        except Unavailable:
            return  # a poll will find the message


class CommandPart:
    """One group of commands, bound to a caller."""

    def __init__(self, context: CommandContext, caller: Caller) -> None:
        self._context = context
        self._engine = context.engine
        self._store = context.store
        self._caller = caller
        self._tenant = caller.tenant
