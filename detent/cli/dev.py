"""`detent dev`: everything in one process on SQLite, with examples that run while you look."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Annotated, Final

import typer

from detent.api.serving import listening
from detent.app import LOOPBACK, App, bind, run_process, running, told_to_stop
from detent.cli.loading import load_or_show
from detent.cli.options import Database, Imports, Port, settings_of
from detent.cli.serving_table import show_served
from detent.cli.showing import Screen, Shown
from detent.cli.terminal import out, warn
from detent.engine.commands import Given, StartOptions
from detent.errors import InvalidInput
from detent.examples import EXAMPLES, SERVICE_PORT
from detent.examples.service import serving_shop
from detent.ids import RUN, show
from detent.observe import listen
from detent.observe.logs import log_events
from detent.run.status import TERMINAL
from detent.settings import Settings
from detent.store.addresses import scheme

DATABASE: Final = Settings().database_url  # so that the other commands, typed beside it, find its engine
REFRESH: Final = 0.1
_PORTS: Final = 20
_BACKLOG: Final = 1_000


def dev(
    port: Port = None,
    database: Database = None,
    imports: Imports = None,
    examples: Annotated[
        bool, typer.Option("--examples/--no-examples", help="Whether to save the examples and run each once.")
    ] = True,
) -> None:
    """Try Detent: API, engine, SQLite and an example service in one process, with examples running.

    Everything stays in detent.db of the current folder, where the other commands find it. Nothing outside this machine
    is called."""
    settings = settings_of(port=port, database_url=database, **{"import": imports})
    if database is None:
        settings = _on_sqlite(settings)
    if settings.host != Settings().host:
        raise InvalidInput("`detent dev` listens on 127.0.0.1 only; use `detent serve` for others")
    load_or_show(settings.imports)
    if settings.imports:
        show_served(settings)
    run_process(_dev(settings, examples=examples, exact=port is not None))


def _on_sqlite(settings: Settings) -> Settings:
    """Examples are not for a database that others share, unless it was named for them."""
    kind = scheme(settings.database_url)
    if kind == "sqlite":
        return settings
    warn(
        f"the settings name a {kind} database; `detent dev` uses {DATABASE} instead. Other commands find it with "
        f"--database {DATABASE}"
    )
    return replace(settings, database_url=DATABASE)


async def _dev(settings: Settings, *, examples: bool, exact: bool) -> None:
    stopping = asyncio.create_task(told_to_stop())
    async with AsyncExitStack() as stack:
        stack.callback(log_events(settings.log_format, troubles_only=True))
        sock = bind(settings.host, settings.port) if exact else _first_free(settings.port)
        shop = _first_free(SERVICE_PORT)
        stack.callback(sock.close)
        stack.callback(shop.close)
        await stack.enter_async_context(serving_shop(shop))
        address = sock.getsockname()[:2]
        app = await stack.enter_async_context(running(settings, address=address, allow=LOOPBACK, migrate=True))
        await stack.enter_async_context(listening(app, sock))
        await _Show(app, _url(shop), stopping).go(examples=examples)
        out.print("\nstopping: attempts in flight get their time")
        await app.drain()
    out.print("stopped; what was running goes on at the next start")


def _first_free(port: int) -> socket.socket:
    for candidate in range(port, port + _PORTS) if port else ():
        try:
            return bind("127.0.0.1", candidate)
        except InvalidInput:
            continue
    return bind("127.0.0.1", 0)


def _url(sock: socket.socket) -> str:
    return "http://{}:{}".format(*sock.getsockname()[:2])


class _Show:
    """Starts the examples, shows them, then tells of every run that ends."""

    def __init__(self, app: App, shop_url: str, stopping: asyncio.Task[None]) -> None:
        self._app, self._shop_url, self._stopping = app, shop_url, stopping
        self._screen = Screen(out, app.local_url, app.settings.database_url, shop_url)
        self._ended: asyncio.Queue[bytes] = asyncio.Queue(_BACKLOG)

    async def go(self, *, examples: bool) -> None:
        self._screen.head()
        stop = listen(self._hear)
        try:
            shown = await self._start_examples() if examples else []
            await self._watch(shown)
            if not self._stopping.done():
                self._screen.foot()
            await self._tell_others({each.run for each in shown})
        finally:
            stop()

    def _hear(self, name: str, facts: dict[str, object]) -> None:
        run = facts.get("run")
        if name == "run.ended" and isinstance(run, bytes) and not self._ended.full():
            self._ended.put_nowait(run)

    async def _start_examples(self) -> list[Shown]:
        shown = []
        for example in EXAMPLES:
            text = example.text(self._shop_url)
            await self._app.commands.save_workflow(text, filename=example.filename, replace=True)
            for value in example.inputs:
                started = await self._app.commands.start(example.name, Given(value), StartOptions(trigger="manual"))
                shown.append(Shown(show(RUN, started.run), value))
        return shown

    async def _watch(self, shown: list[Shown]) -> None:
        """Show the examples until each has ended, or somebody wants to leave."""
        with self._screen.watching(shown) as draw:
            while not self._stopping.done():
                for each in shown:
                    if each.status not in TERMINAL:
                        each.document = await self._app.commands.run(each.run)
                draw()
                if all(each.status in TERMINAL for each in shown):
                    return
                await asyncio.wait([self._stopping], timeout=REFRESH)

    async def _tell_others(self, known: set[str]) -> None:
        while not self._stopping.done():
            ended = asyncio.create_task(self._ended.get())
            await asyncio.wait([ended, self._stopping], return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                ended.cancel()
                return
            run = show(RUN, ended.result())
            if run not in known:
                self._screen.line(await self._app.commands.run(run))


def add_to(app: typer.Typer) -> None:
    app.command()(dev)
