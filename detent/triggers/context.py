"""What the commands on triggers share, and the base of each part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from detent.auth.caller import Caller
from detent.commands import EngineCommands
from detent.commands.vault.signatures import SignatureTexts
from detent.ids import NewId
from detent.instant import Instant
from detent.store.events import EventStore
from detent.store.letters import LetterStore
from detent.store.protocol import TriggerStore
from detent.store.rule_protocol import EntityStore
from detent.store.tenants import TenantStore
from detent.triggers.entities.worker import EntityEvents
from detent.triggers.processor import Processor


class TriggerStores(TriggerStore, LetterStore, EventStore, EntityStore, TenantStore, SignatureTexts, Protocol):
    """The verbs of triggers, dead letters, entities and their events, of tenants and of sealed values."""

    def for_tenant(self, tenant: int) -> TriggerStores:
        """Return the store for the commands of one tenant, as `Store.for_tenant` does."""


class TriggerContext:
    """What every part shares: an engine's commands, its store, a clock, new ids, and what processes firings and
    events."""

    def __init__(
        self,
        commands: EngineCommands,
        store: TriggerStores,
        *,
        now: Callable[[], Instant],
        new_id: NewId,
        base_url: str,
    ) -> None:
        self.commands = commands
        self.store = store
        self.now = now
        self.new_id = new_id
        self.base_url = base_url
        self.processor = Processor(commands, store)
        self.entities = EntityEvents(commands, store, now=now, new_id=new_id)


class TriggerPart:
    """One group of commands on triggers, bound to a caller."""

    def __init__(self, context: TriggerContext, caller: Caller) -> None:
        self._context = context
        self._store = context.store.for_tenant(caller.tenant)
        self._now = context.now
        self._caller = caller
        self._tenant = caller.tenant
