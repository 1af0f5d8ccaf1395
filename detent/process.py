"""Run an app in this process: engine, executors and API, until a signal ends it.

`run_app` starts an engine with every kind of executor on the store that the settings name, `api.server.listener` serves
the API, and `wait_for_signal` waits for SIGTERM or SIGINT. Parts close in the opposite order: the engine waits for
attempts in flight while the API still takes callbacks, then the API ends, then the store closes.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from detent.app import Address, App, Executors, build_app, start_background
from detent.auth.caller import local_caller
from detent.catalog.connections import EnvironmentConnections
from detent.catalog.shipped import load_shipped, shipped_fingerprint
from detent.clock import Clock, SystemClock
from detent.engine.background import Presence
from detent.engine.tuning import Tuning
from detent.errors import InvalidInput, Problem
from detent.graph.model import StepKind
from detent.ids import new_id
from detent.local_apps import register_local
from detent.outbox.factory import open_outbox
from detent.outbox.relay import Relay
from detent.python.classes.executor import ClassExecutor
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.step_runner import StepRunner
from detent.python.registry import registry as python_registry
from detent.python.transactions import keeper
from detent.settings import Settings
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import CORE, isolated_modules, registry
from detent.steps.alerts import AlertPort, with_alerts
from detent.steps.connectors.shipped import CONNECTORS as CONNECTORS_IN_PYTHON
from detent.steps.credentials.action_connections import ActionCredentials
from detent.steps.credentials.keeper import CredentialKeeper
from detent.steps.credentials.requests import CredentialRequests
from detent.steps.credentials.tokens import TokenEndpoint
from detent.steps.data_action import CatalogActions, StoredDefinition
from detent.steps.egress import EgressPolicy
from detent.steps.http.client import ActionServices
from detent.steps.http.source import HttpSource, OperatorJson
from detent.steps.http.step import HttpExecutor, HttpSettings
from detent.steps.isolation.processes import Processes
from detent.steps.links import Reservations
from detent.steps.payloads.blobs import BlobPort
from detent.steps.templates.action import TemplatePort, core_actions
from detent.steps.user_code import ThreadPool
from detent.store.protocol import Store
from detent.store.url import is_shared, scheme
from detent.tenants.registry import TenantRegistry
from detent.triggers.worker import TriggerWork
from detent.vault.keys import load_vault
from detent.vault.providers import build_providers
from detent.vault.secrets import SecretOpener

try:
    from uvloop import new_event_loop
except ImportError:  # uvloop does not exist for Windows
    from asyncio import new_event_loop  # type: ignore[assignment]

__all__ = ["LOOPBACK", "Address", "App", "bind", "run_process", "run_app", "wait_for_signal"]

T = TypeVar("T")

#: The group of entry points with which packages offer actions.
CONNECTORS: Final = "detent.connectors"
LOOPBACK: Final = ("127.0.0.0/8", "::1")


@asynccontextmanager
async def run_app(
    settings: Settings,
    *,
    address: Address | None = None,
    clock: Clock | None = None,
    tuning: Tuning | None = None,
    allow: Iterable[str] = (),
    claims: bool = True,
    migrate: bool = False,
    connections: EnvironmentConnections | None = None,
) -> AsyncIterator[App]:
    """Yield an app that runs workflows.

    `address` is where the API listens, in this process or another one; steps may not call it. `allow` adds hosts and
    networks to those that the settings allow steps to call. Without `claims` the app accepts starts, and other nodes
    run them. `connections` are the named connections of the operator; by default the environment has them.
    """
    clock = clock or SystemClock(settings.clock_skew)
    if claims:
        load_connectors()
    connections = connections or EnvironmentConnections()
    policy = EgressPolicy.from_texts((*settings.egress_allow, *allow), _own_addresses(settings, address))
    http = HttpSettings(ca_file=Path(settings.ca_file) if settings.ca_file else None)
    providers = build_providers(settings.secret_providers, OperatorJson(http))
    secrets = SecretOpener(load_vault(settings), providers=providers)
    secrets.provided_to = local_caller("detent").tenant
    ports = _Ports(connections, secrets)
    executors = _executors(clock, policy, http, ports) if claims else None
    async with AsyncExitStack() as stack:
        exchange = HttpExecutor(policy, http, wall=clock.wall, tenants=ports.tenants)
        stack.push_async_callback(exchange.close)
        app = await stack.enter_async_context(
            build_app(
                settings,
                address=address,
                clock=clock,
                tuning=tuning,
                executors=executors,
                templates=ports.templates,
                alerts=ports.alerts,
                connections=connections,
                source=HttpSource(policy, http, ports.tenants),
                code_exchange=TokenEndpoint(exchange),
                migrate=migrate,
                secrets=ports.secrets,
                tenants=ports.tenants,
            )
        )
        ports.definitions.open(app.store)
        if ports.credentials is not None:
            ports.credentials.open(app.store, app.engine.secrets)
        ports.reservations.store = app.store
        ports.blobs.blobs = app.engine.blobs
        if claims:
            await _begin_work(app, clock, stack)
        yield app


async def _begin_work(app: App, clock: Clock, stack: AsyncExitStack) -> None:
    """Store what this node brings to the catalog and its Python workflows, then start the work beside the engine.

    This is: triggers, the record of the queues and actions that this node serves, and the relays of outboxes.
    """
    store, now = app.store, app.engine.time.now
    commands = app.commands.for_caller(local_caller("detent"))
    code = (*CORE.facts(), *registry.facts())
    await commands.catalog.register(load_shipped, shipped_fingerprint(), code, CONNECTORS_IN_PYTHON)
    for one in python_registry.all():
        await commands.workflows.save_python(one.compiled, one.source)
    work = TriggerWork(store, app.triggers.processor, now=now, clock=clock, new_id=new_id)
    app.working = asyncio.create_task(work.work())
    start_background(app.triggers.entities.left, stack)
    stack.callback(register_local(app, app.settings.database_url))
    stack.push_async_callback(app.drain)  # closes first: attempts in flight still need the registered local app
    start_background(Presence(store, queues=app.engine.tuning.queues, actions=app.engine.serves), stack)
    for url in app.settings.outbox_urls:
        caller = local_caller("outbox")
        relay = Relay(open_outbox(url), app.commands.for_caller(caller), app.triggers.for_caller(caller).events)
        stack.push_async_callback(relay.close)
        start_background(relay, stack)


class _Definitions:
    """Reads actions that are data from the store, which is opened after the executors were built."""

    def __init__(self) -> None:
        self._store: asyncio.Future[Store] = asyncio.get_running_loop().create_future()

    def open(self, store: Store) -> None:
        self._store.set_result(store)

    async def load(self, tenant: int, action: str, version: str) -> StoredDefinition | None:
        """Return the definition of a version of an action; `None` if the catalog does not have it."""
        row = await (await asyncio.shield(self._store)).action(tenant, action, version)
        if row is None or row.definition is None:
            return None
        return StoredDefinition(row.definition.encode(), is_own=row.tenant == tenant)


class _Ports:
    """What executors read of the store. They are built before it is opened."""

    def __init__(self, connections: EnvironmentConnections, secrets: SecretOpener) -> None:
        self.connections = connections
        self.secrets = secrets
        self.tenants = TenantRegistry()
        self.definitions = _Definitions()
        self.reservations = Reservations(secrets=secrets)
        self.templates = TemplatePort()
        self.alerts = AlertPort()
        self.blobs = BlobPort()
        self.credentials: CredentialKeeper | None = None


def _executors(clock: Clock, policy: EgressPolicy, http: HttpSettings, ports: _Ports) -> Executors:
    """Return the executor of each kind of step. They share one pool of threads for user code."""
    pool, tenants = ThreadPool(), ports.tenants
    requests = HttpExecutor(policy, http, wall=clock.wall, tenants=tenants, blobs=ports.blobs)
    ports.credentials = CredentialKeeper(TokenEndpoint(requests), node=new_id(), wall=clock.wall)
    requests.authorizer = stored = CredentialRequests(requests, ports.credentials)
    data = CatalogActions(requests, ports.definitions.load, ports.connections, stored, tenants)
    actions = ActionExecutor(
        registry,
        pool=pool,
        data=data,
        core=with_alerts(core_actions(ports.templates), ports.alerts),
        reservations=ports.reservations,
        services=ActionServices(
            policy, http, connections=ports.connections, secrets=ports.secrets, tenants=tenants, blobs=ports.blobs
        ),
        processes=Processes(isolated_modules, policy, tenants),
        tenants=tenants,
        credentials=ActionCredentials(ports.credentials),
    )
    return {
        StepKind.HTTP: requests,
        StepKind.ACTION: actions,
        StepKind.PYTHON: ClassExecutor(
            pool=pool, now=clock.wall, transactions=keeper, tenants=tenants, secrets=ports.secrets
        ),
        StepKind.FUNCTION: FunctionExecutor(
            clock=clock, steps=StepRunner(pool, keeper, ports.reservations, ports.secrets), tenants=tenants
        ),
    }


def load_connectors() -> None:
    """Import what installed packages offer as entry points of the group `detent.connectors`: modules that register
    actions. Raise InvalidInput if one cannot be imported."""
    for point in entry_points(group=CONNECTORS):
        try:
            point.load()
        except Exception as error:
            problem = Problem(CONNECTORS, f"{point.name} = {point.value}: {type(error).__name__}: {error}")
            raise InvalidInput(f"cannot load the connector {point.name}", [problem]) from error


def _own_addresses(settings: Settings, own: Address | None) -> list[Address]:
    """Return the addresses of Detent itself and of its database. Steps may not call them, even on loopback."""
    found = [own] if own else []
    if is_shared(settings.database_url):
        parts, usual = urlsplit(settings.database_url), {"postgresql": 5432, "mysql": 3306}
        host, port = parts.hostname or "localhost", parts.port or usual[scheme(settings.database_url)]
        found.append((host, port))
        with suppress(OSError):
            found += [(str(where[0]), port) for *_, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    return found


# -- listening


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on that address. Raise InvalidInput if it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only if the socket names its protocol.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(2048)
    except OSError as error:
        sock.close()
        raise InvalidInput(f"cannot listen on {host} port {port}: {_bind_reason(error)}") from error
    return sock


def _bind_reason(error: OSError) -> str:
    """Return why a socket cannot listen, and what to change."""
    match error.errno:
        case errno.EADDRINUSE:
            return "another program listens there. Stop it, or choose another port with --port or DETENT_PORT"
        case errno.EACCES:
            return "this user may not use that port. Choose one above 1023 with --port or DETENT_PORT"
        case errno.EADDRNOTAVAIL | socket.EAI_NONAME | socket.EAI_AGAIN:
            return "this machine has no such address. Choose another with --host or DETENT_HOST"
    return str(error.strerror or error)


def run_process(main: Coroutine[Any, Any, T]) -> T:
    """Run a long-lived process on the fastest available loop.

    A node creates and drops some twenty small objects per step, none of them in reference cycles. With its default
    thresholds the garbage collector would scan all runs every few hundred steps for nothing. So its thresholds are
    high, and the objects loaded before the work begins are frozen. A thread that returns from the disk or from a
    user's function needs the GIL: it gets it within half a millisecond, not five. Otherwise SQLite would be idle most
    of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    sys.setswitchinterval(0.0005)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


async def wait_for_signal() -> None:
    """Return at the first SIGTERM or SIGINT. A second one ends the process at once, which harms nothing durable."""
    loop = asyncio.get_running_loop()
    received = asyncio.Event()

    def receive(number: signal.Signals) -> None:
        if received.is_set():
            os._exit(128 + number)
        received.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, receive, number)
    await received.wait()
