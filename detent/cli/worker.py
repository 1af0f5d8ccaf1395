"""`detent worker`: an engine without the API."""

from __future__ import annotations

import asyncio

import typer

from detent.app import run_process, running, told_to_stop
from detent.cli.options import Database, Imports, settings_of
from detent.cli.serve import Migrate, Queues
from detent.cli.terminal import err
from detent.observe.logs import log_events
from detent.settings import Settings


def worker(database: Database = None, imports: Imports = None, queues: Queues = None, migrate: Migrate = False) -> None:
    """Run workflows, without the API. On PostgreSQL any number of workers share the work."""
    settings = settings_of(database_url=database, queues=queues, **{"import": imports})
    run_process(_work(settings, migrate=migrate))


async def _work(settings: Settings, *, migrate: bool) -> None:
    stop_logs = log_events(settings.log_format)
    stopping = asyncio.create_task(told_to_stop())
    async with running(settings, address=(settings.host, settings.port), migrate=migrate) as app:
        err.print("the worker is ready")
        await stopping
        err.print("stopping: attempts in flight get their time")
        await app.drain()
    stop_logs()


def add_to(app: typer.Typer) -> None:
    app.command()(worker)
