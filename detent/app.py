"""Build an app: the store that the settings name, an engine on it, and the commands that API and CLI call.

This module loads no executor. A process that only starts runs and answers requests needs none; a process that runs
workflows passes them in, as `detent.process` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from secrets import token_urlsafe

from detent.auth.caller import Caller
from detent.blobs.library import build_library
from detent.blobs.sweep import BlobSweep
from detent.catalog.connections import EnvironmentConnections
from detent.catalog.source import ConnectorSource
from detent.clock import Clock, SystemClock
from detent.commands import EngineCommands
from detent.commands.vault.signatures import SignatureSecrets
from detent.engine.background import Poller, Polling, Retention, SecretWatch, TenantWatch
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.tuning import Tuning
from detent.errors import InvalidInput
from detent.forms.compiled import limits_of
from detent.graph.model import StepKind
from detent.ids import ALERT, new_id, show
from detent.observe import redact_logs
from detent.python.registry import registry as python_registry
from detent.settings import Settings, url_of
from detent.steps.action_context import ActionContext
from detent.steps.actions import CORE, Action, load_modules, registry
from detent.steps.alerts import AlertPort, AlertRequest, RaiseAlert
from detent.steps.connectors.shipped import offer_shipped
from detent.steps.logs.attempt_log import LEVELS, OFF
from detent.steps.protocol import StepExecutor
from detent.steps.templates.action import DocumentRequest, Render, RenderedDocument, TemplatePort
from detent.steps.templates.renderer import Renderer
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.url import is_shared
from detent.tenants.registry import TenantRegistry
from detent.triggers.commands import EngineTriggers
from detent.vault.credential import CodeExchange
from detent.vault.keys import load_vault
from detent.vault.secrets import SecretOpener
from detent.views.feeds import Feeds

Address = tuple[str, int]
Executors = Mapping[StepKind, StepExecutor]


@dataclass(slots=True)
class App:
    """The parts of one process: settings, store, engine, commands, triggers and feeds."""

    settings: Settings
    store: Store
    engine: Engine
    commands: EngineCommands
    triggers: EngineTriggers
    feeds: Feeds
    clock: Clock
    base_url: str  # where the outside world reaches it
    local_url: str  # where this machine reaches it
    is_drained: bool = False
    working: asyncio.Task[None] | None = None  # processes the triggers

    async def drain(self) -> None:
        """Stop starting work, and wait for the attempts in flight. The API may answer meanwhile."""
        if not self.is_drained:
            self.is_drained = True
            stopping = self.engine.stop()  # at the same time, so that neither engine nor triggers start anything more
            await asyncio.gather(stopping, *([_ended(self.working)] if self.working else []))


@asynccontextmanager
async def build_app(
    settings: Settings,
    *,
    address: Address | None = None,
    clock: Clock | None = None,
    tuning: Tuning | None = None,
    executors: Executors | None = None,
    templates: TemplatePort | None = None,
    alerts: AlertPort | None = None,
    connections: EnvironmentConnections | None = None,
    source: ConnectorSource | None = None,
    code_exchange: CodeExchange | None = None,
    migrate: bool = False,
    secrets: SecretOpener | None = None,
    tenants: TenantRegistry | None = None,
) -> AsyncIterator[App]:
    """Yield an app whose engine is started. Without `executors` it accepts starts, and other nodes run them.
    `templates` is the port through which its executors render documents, and `alerts` the one through which they raise
    alerts. `connections` are those that its commands look for when a workflow is published. `source` reads what is
    imported from an address. `secrets` are those that its executors open, and `tenants` what they know of tenants."""
    load_modules(settings.imports)
    offer_shipped()
    clock = clock or SystemClock(settings.clock_skew)
    local_url = url_of(address or (settings.host, settings.port))
    base_url = settings.base_url or local_url
    async with AsyncExitStack() as stack:
        store = await open_store(settings.database_url, clock, migrate=migrate, row_security=settings.row_security)
        stack.push_async_callback(store.close)
        feeds = Feeds(store, clock)
        stack.push_async_callback(feeds.close)
        secrets = secrets or SecretOpener(load_vault(settings))
        secrets.rows = store
        stack.push_async_callback(secrets.close)
        stack.callback(redact_logs(secrets.clean))
        tenants = tenants or TenantRegistry()
        engine = await _build_engine(settings, store, clock, base_url, tuning, executors, secrets)
        renderer = Renderer()
        stack.push_async_callback(renderer.close)
        # Before the engine starts: its first run may start a child, or render a document.
        outside = _Outside(connections or EnvironmentConnections(), source, code_exchange, base_url)
        commands = _build_commands(settings, engine, renderer, outside, tenants)
        if templates is not None:
            templates.render = _render_with(commands)
        if alerts is not None:
            alerts.raise_alert = _raise_with(commands)
        await _begin_watches(store, tenants, secrets, commands, stack)
        await engine.start()
        triggers = EngineTriggers(commands, store, now=engine.time.now, new_id=new_id, base_url=base_url)
        stack.push_async_callback(triggers.entities.close)
        app = App(settings, store, engine, commands, triggers, feeds, clock, base_url, local_url)
        stack.push_async_callback(app.drain)
        _begin_cleanup(app, tenants, stack)
        yield app


def _begin_cleanup(app: App, tenants: TenantRegistry, stack: AsyncExitStack) -> None:
    """Delete what is older than its retention, and blobs that are not named any more, again and again."""
    settings = app.settings
    spans = (
        settings.dead_letter_retention,
        settings.alert_retention,
        settings.audit_retention,
        settings.step_log_retention,
    )
    start_background(Retention(app.store, app.clock, settings.retention, *spans, tenants=tenants), stack)
    start_background(BlobSweep(app.engine.blobs, grace=settings.blob_grace), stack)


async def _begin_watches(
    store: Store, tenants: TenantRegistry, secrets: SecretOpener, commands: EngineCommands, stack: AsyncExitStack
) -> None:
    """Learn the limits of tenants and their secrets, and go on watching what other processes change of them."""
    known = TenantWatch(store, tenants)
    await known.poll()
    start_background(known, stack)
    if secrets.vault.is_ready:
        watch = SecretWatch(store, secrets)
        await watch.read_all()
        start_background(watch, stack)
        start_background(commands.awaiting_runs(), stack)
        start_background(SignatureSecrets(store, secrets), stack)


@dataclass(frozen=True, slots=True)
class _Outside:
    """What commands use of the world outside: connections, sources of imports, providers, and their own address."""

    connections: EnvironmentConnections
    source: ConnectorSource | None
    code_exchange: CodeExchange | None
    base_url: str


def start_background(chore: Poller, stack: AsyncExitStack) -> None:
    """Run a background poller until the stack is closed."""
    stack.push_async_callback(_ended, asyncio.create_task(Polling(chore).work()))


async def _build_engine(
    settings: Settings,
    store: Store,
    clock: Clock,
    base_url: str,
    tuning: Tuning | None,
    executors: Executors | None,
    secrets: SecretOpener,
) -> Engine:
    key = settings.secret_key or await store.setting("secret_key", token_urlsafe(32))
    return Engine(
        store,
        clock=clock,
        tokens=CallbackTokens(key, base_url),
        executors=executors or {},
        serves=(*registry.names(), *python_registry.serves()),
        tuning=tuning or tuning_of(settings),
        new_id=new_id,
        hints=store.hints,
        claims=executors is not None,
        secrets=secrets,
        seal_key=_seal_key(settings),
        seals=settings.seal_runs,
        blobs=build_library(settings, store),
    )


def _seal_key(settings: Settings) -> bytes | None:
    """Return the key of seals. Raise InvalidInput if runs are to be sealed with a key that is in the database."""
    if settings.secret_key is not None:
        return settings.secret_key.encode()
    if settings.seal_runs:
        message = "DETENT_SEAL_RUNS needs DETENT_SECRET_KEY: a key that is in the database could seal a changed run"
        raise InvalidInput(message)
    return None


def _render_with(commands: EngineCommands) -> Render:
    async def render(tenant: int, request: DocumentRequest) -> RenderedDocument:
        return await commands.for_caller(Caller(tenant, "detent")).document_templates.render(request)

    return render


def _raise_with(commands: EngineCommands) -> RaiseAlert:
    async def raise_alert(context: ActionContext, request: AlertRequest) -> str:
        part = commands.for_caller(Caller(context.tenant, "detent")).alerts
        return show(ALERT, (await part.raise_alert(context.run_id, context.step, request)).id)

    return raise_alert


def _build_commands(
    settings: Settings, engine: Engine, renderer: Renderer, outside: _Outside, tenants: TenantRegistry
) -> EngineCommands:
    """Build the commands. On a shared database an action that this node lacks is valid: another node may have it."""
    alone = not is_shared(settings.database_url)
    known = (*CORE.names(), *registry.names()) if alone else None
    return EngineCommands(
        engine,
        limits=limits_of(settings),
        actions=known,
        find_action=_find_action,
        allow_draft_execution=settings.allow_draft_execution,
        own_rules_only=settings.own_rules_only,
        renderer=renderer,
        connections=outside.connections,
        source=outside.source,
        code_exchange=outside.code_exchange,
        base_url=outside.base_url,
        tenants=tenants,
    )


def _find_action(name: str) -> Action | None:
    return CORE.find(name) or registry.find(name)


def tuning_of(settings: Settings) -> Tuning:
    """Return the engine's tuning as the operator's settings define it."""
    lease = settings.lease_seconds
    return Tuning(
        lease=lease,
        beat=lease / 5,
        margin=lease / 5,
        drain=settings.drain_seconds,
        slots=settings.max_parallel_steps,
        poison_after=settings.poison_attempts,
        poison_delay=settings.poison_delay,
        queues=settings.queues or None,
        log_level=LEVELS.get(settings.step_logs, OFF),
    )


async def _ended(work: asyncio.Task[None]) -> None:
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
