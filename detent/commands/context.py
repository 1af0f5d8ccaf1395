"""What the commands of one engine share, and the base of each part."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from detent.auth.caller import Caller
from detent.auth.passwords import Passwords
from detent.auth.scopes import Scope
from detent.catalog.connections import EnvironmentConnections
from detent.catalog.parameters import FindAction
from detent.catalog.source import ConnectorSource
from detent.commands.catalog.copies import CodeWorkflows
from detent.engine.cache import WorkflowCache
from detent.engine.callbacks import Deliveries
from detent.engine.engine import Engine
from detent.errors import Unavailable
from detent.forms.compiled import Limits
from detent.instant import Instant
from detent.steps.templates.renderer import Renderer
from detent.store.rows import MessageKind
from detent.tenants.registry import UNCONFINED, TenantRegistry
from detent.vault.credential import CodeExchange
from detent.views.storage import StorageMeasure

encoder: Final = msgspec.json.Encoder()
#: How many dry runs are played at once, each in a thread.
_DRY_RUNS: Final = 2


class CommandContext:
    """One engine, its store, its cache of startable workflows, its batches of callbacks and its measure of storage.

    `actions` are the names of code that definitions may call; `None` does not check them. `connections` says which
    connectors this process is set up for. `renderer` renders documents, and `source` reads what is imported from an
    address. `code_exchange` connects credentials, whose provider sends browsers back to `base_url`. Each is `None` in a
    process that cannot. `tenants` has the limits of tenants."""

    def __init__(
        self,
        engine: Engine,
        limits: Limits,
        actions: Collection[str] | None,
        *,
        find_action: FindAction | None = None,
        allow_draft_execution: bool = False,
        own_rules_only: bool = False,
        connections: EnvironmentConnections | None = None,
        renderer: Renderer | None = None,
        source: ConnectorSource | None = None,
        code_exchange: CodeExchange | None = None,
        base_url: str = "",
        tenants: TenantRegistry = UNCONFINED,
    ) -> None:
        self.engine = engine
        self.tenants = tenants
        self.connections = connections or EnvironmentConnections({})
        self.store = engine.store
        self.blobs = engine.blobs
        self.limits = limits
        self.actions = actions
        self.find_action = find_action
        self.allow_draft_execution = allow_draft_execution
        self.own_rules_only = own_rules_only
        self.renderer = renderer
        self.source = source
        self.code_exchange = code_exchange
        self.base_url = base_url
        self.workflows = WorkflowCache(engine.store, engine.graphs)
        self.installed = CodeWorkflows(engine.store, self.workflows, tenants, engine.new_id)
        self.deliveries = Deliveries(engine.store)
        self.storage = StorageMeasure(engine.store, self.now)
        self.passwords = Passwords()
        self.dry_runs = asyncio.Semaphore(_DRY_RUNS)

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
        self._store = context.store.for_tenant(caller.tenant)
        self._caller = caller
        self._tenant = caller.tenant

    def _callback_url(self, run: bytes, step: str) -> str:
        """Return the address of a callback. Its token is a permission: a caller that may not execute sees `***`."""
        url = self._engine.tokens.url(run, step)
        return url if self._caller.may(Scope.EXECUTE) else f"{url.rpartition('/')[0]}/***"

    async def _send_many(self, runs: Sequence[bytes], kind: MessageKind, data: bytes) -> set[bytes]:
        """Send a message to many runs. Return those that received it; the others have ended."""
        sent = await self._store.send_many(self._tenant, runs, kind, data)
        for run in runs:
            # A run that is missing has ended, or another transaction had locked it.
            if run not in sent and await self._store.send(self._tenant, run, kind, data):
                sent.add(run)
        return sent
