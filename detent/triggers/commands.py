"""Commands on triggers: everything that can be asked of them. The API, the command line and tests call nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from detent.auth.caller import Caller
from detent.commands import EngineCommands
from detent.errors import Forbidden
from detent.ids import RUN, TRIGGER, WORKFLOW, InvalidId, NewId, parse
from detent.instant import Instant
from detent.store.tenants import Owned, TenantStatus
from detent.triggers.answers import AnswerCommands
from detent.triggers.context import TriggerContext, TriggerStores
from detent.triggers.dead_letters import LetterCommands
from detent.triggers.editor import MOST_PREVIEWED, TriggerEditor
from detent.triggers.entities.commands import EntityEventCommands
from detent.triggers.entities.worker import EntityEvents
from detent.triggers.firing import Backfilled, FiringCommands
from detent.triggers.processor import Processor
from detent.triggers.receiver import FORGED, ReceiverCommands, Sent

_PREFIXES: Final = {Owned.RUN: RUN, Owned.TRIGGER: TRIGGER, Owned.WORKFLOW: WORKFLOW}

__all__ = ["FORGED", "MOST_PREVIEWED", "Backfilled", "EngineTriggers", "Sent", "TriggerCommands"]


class TriggerCommands:
    """Everything a caller can ask of triggers, as that caller."""

    def __init__(self, context: TriggerContext, caller: Caller) -> None:
        self.caller = caller
        self.base_url = context.base_url
        self.editor = TriggerEditor(context, caller)
        self.firings = FiringCommands(context, caller, self.editor)
        self.receiver = ReceiverCommands(context, caller, self.editor, self.firings.intake)
        self.events = EntityEventCommands(context, caller)
        self.answers = AnswerCommands(context, caller)
        self.letters = LetterCommands(context, caller, self.editor, self.firings.intake, self.events)


class EngineTriggers:
    """The commands on the triggers of one engine's store. `for_caller` binds them."""

    def __init__(
        self,
        commands: EngineCommands,
        store: TriggerStores,
        *,
        now: Callable[[], Instant],
        new_id: NewId,
        base_url: str,
    ) -> None:
        self._context = TriggerContext(commands, store, now=now, new_id=new_id, base_url=base_url)

    @property
    def processor(self) -> Processor:
        """Return the processor of firings; the node's worker uses it too."""
        return self._context.processor

    @property
    def entities(self) -> EntityEvents:
        """Return what receives and processes entity events."""
        return self._context.entities

    async def owner_of(self, kind: Owned, text: str) -> int | None:
        """Return the tenant of the object that a public address names by its id. A name finds nothing.

        Raise Forbidden if its tenant is suspended."""
        try:
            tenant = await self._context.store.tenant_of(kind, parse(_PREFIXES[kind], text))
        except InvalidId:
            return None
        row = None if tenant is None else await self._context.store.tenant(tenant)
        if row is not None and row.status == TenantStatus.SUSPENDED:
            raise Forbidden("what this address names is suspended")
        return tenant

    def for_caller(self, caller: Caller) -> TriggerCommands:
        """Return the commands of one caller."""
        return TriggerCommands(self._context, caller)
