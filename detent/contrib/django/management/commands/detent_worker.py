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
    """Run the workflows of this project until a signal stops the worker."""

    help = "Runs the workflows of this project until it is stopped (SIGTERM, Ctrl-C)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--queues", help="run only these queues, separated by commas")
        parser.add_argument("--listen", metavar="PORT", type=int, help="also serve the HTTP API on this port")
        parser.add_argument("--migrate", action="store_true", help="upgrade the tables first")

    def handle(self, *args: Any, **options: Any) -> None:
        run_process(self._work(options))

    async def _work(self, options: dict[str, Any]) -> None:
        settings = settings_of()
        stop_logs = log_events(settings.log_format)
        stopping = asyncio.create_task(wait_for_signal())
        # Only one process can open a SQLite file. The other processes of this project call it at its own address.
        port = options["listen"] if options["listen"] is not None else 0
        listens = options["listen"] is not None or scheme(settings.database_url) == "sqlite"
        queues = options["queues"]
        async with node(listen=listens, port=port, queues=queues, migrate=options["migrate"]) as app:
            self.stdout.write("the worker is ready")
            self.stdout.flush()
            await stopping
            await app.drain()
        stop_logs()
