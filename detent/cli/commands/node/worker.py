"""`detent worker`: run an engine without the API."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from detent.cli.commands.node.serve import Migrate, Queues, Reload
from detent.cli.options import Database, Imports, settings_of
from detent.cli.output.served import show_served
from detent.cli.output.terminal import err, warn
from detent.cli.processes import Reloader
from detent.cli.targets import load_or_show
from detent.observe.logs import log_events
from detent.process import App, run_app, run_process, wait_for_signal
from detent.python.registry import registry as workflows
from detent.settings import Settings

Modules = Annotated[
    list[str] | None,
    typer.Argument(metavar="MODULE...", help="Modules with workflows and actions, as with --import."),
]


def worker(
    modules: Modules = None,
    database: Database = None,
    imports: Imports = None,
    queues: Queues = None,
    migrate: Migrate = False,
    reload: Reload = False,
) -> None:
    """Run workflows, without the API. On PostgreSQL and MariaDB any number of workers share the work."""
    named = [*(modules or ()), *(imports or ())]
    settings = settings_of(database_url=database, queues=queues, **{"import": named or None})
    if reload:
        asyncio.run(Reloader(settings, "worker", *(["--migrate"] if migrate else [])).work())
        return
    load_or_show(settings.imports)
    if not settings.imports and not workflows.all():
        warn("no modules are named: this worker runs workflow files only, and no workflows in Python")
    run_process(_work(settings, migrate=migrate))


async def _work(settings: Settings, *, migrate: bool) -> None:
    stop_logs = log_events(settings.log_format, step_logs=settings.step_logs)
    stopping = asyncio.create_task(wait_for_signal())
    async with run_app(settings, address=(settings.host, settings.port), migrate=migrate) as app:
        _print_ready(app)
        await stopping
        err.print("stopping: attempts in flight get their time")
        await app.drain()
    stop_logs()


def _print_ready(app: App) -> None:
    show_served(app.settings)
    err.print("the worker is ready")


def add_to(app: typer.Typer) -> None:
    app.command()(worker)
