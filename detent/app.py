"""The composition root: the only module that knows every implementation.

`running` opens the store and starts an engine on it, `api.serving` puts the API before it, and `told_to_stop` waits for
the signal to leave. What is opened is closed in the opposite order: attempts in flight get their time while the API
still takes callbacks, then the API ends, then the store is closed.
"""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from detent.authoring.compiled import Limits
from detent.clock import Clock, SystemClock
from detent.engine.callbacks import CallbackTokens
from detent.engine.commands import Commands
from detent.engine.engine import Engine
from detent.engine.feeds import Feeds
from detent.engine.poller import Poller, Polling
from detent.engine.presence import Presence
from detent.engine.resident import move_in
from detent.engine.retention import Retention
from detent.engine.tuning import Tuning
from detent.errors import InvalidInput
from detent.graph.model import StepKind
from detent.ids import new_id
from detent.outbox.opening import open_outbox
from detent.outbox.relay import Relay
from detent.python.chain_step import ChainStep
from detent.python.function.bodies import Bodies
from detent.python.function.function_step import FunctionStep
from detent.python.registry import registry as python_registry
from detent.python.transactional import keeper
from detent.settings import Settings
from detent.steps.action_step import ActionStep
from detent.steps.actions import registry
from detent.steps.core_actions import CORE
from detent.steps.egress import EgressPolicy
from detent.steps.http import HttpStep
from detent.steps.http_client import HttpSettings
from detent.steps.modules import load_modules
from detent.store.opening import is_shared, open_store, scheme
from detent.store.protocol import Store
from detent.triggers.commands import TriggerCommands
from detent.triggers.working import TriggerWork

try:
    from uvloop import new_event_loop
except ImportError:  # there is none for Windows
    from asyncio import new_event_loop  # type: ignore[assignment]

T = TypeVar("T")

LOOPBACK: Final = ("127.0.0.0/8", "::1")
Address = tuple[str, int]


@dataclass(slots=True)
class App:
    """Everything of one process."""

    settings: Settings
    store: Store
    engine: Engine
    commands: Commands
    triggers: TriggerCommands
    feeds: Feeds
    base_url: str  # where the outside world reaches it
    local_url: str  # where this machine does
    is_drained: bool = False
    working: asyncio.Task[None] | None = None  # on triggers

    async def drain(self) -> None:
        """Begin nothing new, and give attempts in flight their time. The API may answer meanwhile."""
        if not self.is_drained:
            self.is_drained = True
            stopping = self.engine.stop()  # at the same time: from now on nothing is started, by whomever
            await asyncio.gather(stopping, *([_ended(self.working)] if self.working else []))


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    address: Address | None = None,
    clock: Clock | None = None,
    tuning: Tuning | None = None,
    allow: Iterable[str] = (),
    claims: bool = True,
    migrate: bool = False,
) -> AsyncIterator[App]:
    """A working engine. `address` is where the API listens, here or in the process beside, and steps may
    not call it; `allow` is what they may call beside the settings'.

    Without `claims` it starts and answers, and leaves the runs to other nodes."""
    load_modules(settings.imports)
    clock = clock or SystemClock(settings.clock_skew)
    local_url = url_of(address or (settings.host, settings.port))
    async with AsyncExitStack() as stack:
        store = await open_store(settings.database_url, clock, migrate=migrate)
        stack.push_async_callback(store.close)
        feeds = Feeds(store, clock)
        stack.push_async_callback(feeds.close)
        base_url = settings.base_url or local_url
        engine = await build_engine(
            settings, store, clock, base_url, tuning=tuning, own=address, allow=allow, claims=claims
        )
        commands = build_commands(settings, engine)  # before the engine: its first run may want a child
        await engine.start()
        if claims:
            for one in python_registry.all():
                await commands.save_python(one.compiled, one.source)
        triggers = TriggerCommands(commands, store, now=engine.time.now, new_id=new_id, base_url=base_url)
        app = App(settings, store, engine, commands, triggers, feeds, base_url, local_url)
        if claims:
            work = TriggerWork(store, triggers.processor, now=engine.time.now, clock=clock, new_id=new_id)
            app.working = asyncio.create_task(work.work())
            stack.callback(move_in(app, settings.database_url))
        stack.push_async_callback(app.drain)
        _begin_chores(app, clock, stack)
        yield app


def _begin_chores(app: App, clock: Clock, stack: AsyncExitStack) -> None:
    for chore in _chores(app, clock):
        if isinstance(chore, Relay):
            stack.push_async_callback(chore.close)
        stack.push_async_callback(_ended, asyncio.create_task(Polling(chore).work()))


def _chores(app: App, clock: Clock) -> list[Poller]:
    """What goes on beside the engine, in every process that has the store open."""
    engine = app.engine
    chores: list[Poller] = [Retention(app.store, clock, app.settings.retention)]
    if engine.does_claim:
        chores.append(Presence(app.store, queues=engine.tuning.queues, actions=engine.serves))
        chores += [Relay(open_outbox(url), app.commands) for url in app.settings.outbox_urls]
    return chores


async def build_engine(
    settings: Settings,
    store: Store,
    clock: Clock,
    base_url: str,
    *,
    tuning: Tuning | None = None,
    own: Address | None = None,
    allow: Iterable[str] = (),
    claims: bool = True,
) -> Engine:
    """An engine on a store, not started."""
    key = settings.secret_key or await store.setting("secret_key", secrets.token_urlsafe(32))
    policy = EgressPolicy.from_texts((*settings.egress_allow, *allow), _own_addresses(settings, own))
    http = HttpSettings(ca_file=Path(settings.ca_file) if settings.ca_file else None)
    return Engine(
        store,
        clock=clock,
        tokens=CallbackTokens(key, base_url),
        executors={
            StepKind.HTTP: HttpStep(policy, http, wall=clock.wall),
            StepKind.ACTION: ActionStep(registry),
            StepKind.PYTHON: ChainStep(now=clock.wall, keeper=keeper),
            StepKind.FUNCTION: FunctionStep(clock=clock, bodies=Bodies(keeper=keeper)),
        },
        serves=(*registry.names(), *python_registry.serves()),
        tuning=tuning or tuning_of(settings),
        new_id=new_id,
        claims=claims,
    )


def build_commands(settings: Settings, engine: Engine) -> Commands:
    """The commands of an engine. Where other nodes may have other code, an action this one lacks is no mistake."""
    alone = not is_shared(settings.database_url)
    known = (*CORE.names(), *registry.names()) if alone else None
    return Commands(engine, limits=Limits(steps=settings.max_steps_per_workflow), actions=known)


def tuning_of(settings: Settings) -> Tuning:
    """The numbers of the engine that an operator may decide."""
    lease = settings.lease_seconds
    return Tuning(
        lease=lease,
        beat=lease / 5,
        margin=lease / 5,
        drain=settings.drain_seconds,
        slots=settings.max_parallel_steps,
        poison_after=settings.poison_attempts,
        queues=settings.queues or None,
    )


def _own_addresses(settings: Settings, own: Address | None) -> list[Address]:
    """Where Detent itself and its database answer: steps may not go there, even where loopback is allowed."""
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
    """A socket that listens there, or InvalidInput."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only where a socket names its protocol.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(2048)
    except OSError as error:
        sock.close()
        raise InvalidInput(f"cannot listen on {host} port {port}: {error.strerror or error}") from error
    return sock


def url_of(address: Address) -> str:
    """The URL of an address, as a browser on this machine would write it."""
    host, port = address
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_process(main: Coroutine[Any, Any, T]) -> T:
    """Run a process that lasts, on the fastest loop there is.

    A node makes and drops some twenty small objects per step, none of them in circles. The collector's usual pace would
    look through all of its runs every few hundred steps for nothing, so it is told to look rarely, and never at what
    was loaded before the work began. And a thread that comes back from the disk or from a user's function asks for
    Python's lock: it gets it within half a millisecond, not five, or SQLite would stand idle most of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    sys.setswitchinterval(0.0005)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


async def told_to_stop() -> None:
    """Return at the first SIGTERM or SIGINT. A second one ends the process at once, which harms nothing durable."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()

    def hear(number: signal.Signals) -> None:
        if told.is_set():
            os._exit(128 + number)
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, hear, number)
    await told.wait()


async def _ended(work: asyncio.Task[None]) -> None:
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
