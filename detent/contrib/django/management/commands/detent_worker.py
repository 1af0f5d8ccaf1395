"""`manage.py detent_worker`"""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from detent.embed.config import settings_of
from detent.embed.node import node
from detent.observe.logs import log_events
from detent.process import run_process, wait_for_signal
from detent.store.url import scheme


class Command(BaseCommand):
    """Run the workflows of this project, until told to stop."""

    help = "Runs the workflows of this project, until it is told to stop (SIGTERM, Ctrl-C)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--queues", help="only runs of these queues, with commas between them")
        parser.add_argument("--listen", metavar="PORT", type=int, help="answer over HTTP on this port too")
        parser.add_argument("--migrate", action="store_true", help="bring the tables up to date first")

    def handle(self, *args: Any, **options: Any) -> None:
        run_process(self._work(options))

    async def _work(self, options: dict[str, Any]) -> None:
        settings = settings_of()
        stop_logs = log_events(settings.log_format)
        stopping = asyncio.create_task(wait_for_signal())
        # One process has a SQLite file: the others of this project reach it by the address it gives itself.
        port = options["listen"] if options["listen"] is not None else 0
        listens = options["listen"] is not None or scheme(settings.database_url) == "sqlite"
        queues = options["queues"]
        async with node(listen=listens, port=port, queues=queues, migrate=options["migrate"]) as app:
            self.stdout.write("the worker is ready")
            self.stdout.flush()
            await stopping
            await app.drain()
        stop_logs()
