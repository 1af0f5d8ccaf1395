"""`detent serve`: serve the API and run an engine, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from detent.api.server.listener import is_loopback, listening
from detent.auth.first_key import is_needed, make_first_key
from detent.cli.options import Database, Host, Imports, Port, settings_of
from detent.cli.output.terminal import err, plain, warn
from detent.cli.processes import Reloader, WorkerProcesses
from detent.errors import InvalidInput, Problem
from detent.observe.logs import log_events
from detent.process import App, bind, run_app, run_process, wait_for_signal
from detent.settings import Settings
from detent.store.url import is_shared, scheme
from detent.web.page import with_page

Queues = Annotated[str | None, typer.Option("--queues", metavar="A,B", help="Only runs of these queues.")]
Migrate = Annotated[bool, typer.Option("--migrate", help="Bring the tables up to date first.")]

Reload = Annotated[
    bool, typer.Option("--reload", help="For development: restart whenever a Python file of the modules changes.")
]


def serve(
    host: Host = None,
    port: Port = None,
    database: Database = None,
    imports: Imports = None,
    engine: Annotated[
        bool, typer.Option("--engine/--no-engine", help="Whether this process runs workflows beside the API.")
    ] = True,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=256, help="Engine processes in all; more than 1 not on SQLite.")
    ] = 1,
    queues: Queues = None,
    migrate: Migrate = False,
    reload: Reload = False,
) -> None:
    """Serve the API and run workflows. SIGTERM or Ctrl-C drains it: attempts in flight get time to finish."""
    settings = settings_of(host=host, port=port, database_url=database, queues=queues, **{"import": imports})
    kind = scheme(settings.database_url)
    if workers > 1 and not is_shared(settings.database_url):
        problem = Problem("--workers", f"{workers} engines need PostgreSQL or MariaDB; {kind} has room for one")
        raise InvalidInput("invalid option", [problem])
    if not engine and not is_shared(settings.database_url):
        warn(f"with --no-engine no process runs the workflows: only one process can open a {kind} database")
    if reload:
        flags = [
            "--engine" if engine else "--no-engine",
            "--workers",
            str(workers),
            *(["--migrate"] if migrate else []),
        ]
        asyncio.run(Reloader(settings, "serve", *flags).work())
        return
    run_process(_serve(settings, engine=engine, workers=workers, migrate=migrate))


async def _serve(settings: Settings, *, engine: bool, workers: int, migrate: bool) -> None:
    stop_logs = log_events(settings.log_format, step_logs=settings.step_logs)
    stopping = asyncio.create_task(wait_for_signal())
    async with AsyncExitStack() as stack:
        stack.callback(stop_logs)
        sock = bind(settings.host, settings.port)
        stack.callback(sock.close)
        address = sock.getsockname()[:2]
        settings = replace(settings, port=address[1])
        app = await stack.enter_async_context(run_app(settings, address=address, claims=engine, migrate=migrate))
        await _offer_first_key(app)  # before a caller can ask
        await stack.enter_async_context(listening(app, sock, front=with_page))
        children = WorkerProcesses(settings, workers - 1)
        stack.push_async_callback(children.stop)
        await children.start()
        err.print(f"Detent answers at [bold]{escape(app.local_url)}[/]")
        if (danger := danger_of(settings, address[0])) is not None:
            warn(danger)
        await stopping
        err.print("stopping: attempts in flight get their time")
        await asyncio.gather(app.drain(), children.stop())


def danger_of(settings: Settings, host: str) -> str | None:
    """Return what a person should know before others reach the API at this host, or `None`."""
    if is_loopback(host):
        return None
    if settings.allow_loose_auth:
        return "every request may do everything, also from the network: DETENT_ALLOW_LOOSE_AUTH is true"
    if not (settings.base_url or "").startswith("https:"):
        return (
            "keys cross the network in clear text; put a proxy with TLS in front and set DETENT_BASE_URL to its address"
        )
    return None


async def _offer_first_key(app: App) -> None:
    """Create the first key if no caller can be known yet. It is printed only on a terminal: a log would store it."""
    file = app.settings.admin_key_file
    if app.settings.allow_loose_auth or not await is_needed(app.store):
        return
    if file is not None:
        if await make_first_key(app.store, Path(file)) is not None:
            err.print(f"the first key, of the role instance-admin, is in {plain(file)}")
    elif not err.is_terminal:
        err.print("there is no key yet; on this machine, run: detent keys create NAME --role instance-admin")
    elif (key := await make_first_key(app.store)) is not None:
        err.print("This is the first key, of the role instance-admin. It is not shown again:")
        err.print(f"  [bold]{key}[/]", soft_wrap=True, highlight=False)
        err.print(f"Store it: `detent login {escape(app.local_url)}`, or set DETENT_KEY")


def add_to(app: typer.Typer) -> None:
    app.command()(serve)
