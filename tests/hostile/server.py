"""`detent serve` as a process of its own on one port, killed and started again as often as asked."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Final

import aiohttp

from tests.servers.programs import LOOSE

ROOT: Final = Path(__file__).parents[2]
#: Whoever knows the key can make the address of a callback before anybody was told it.
SECRET: Final = "the key of a hostile world"
_PATIENCE: Final = 300.0


class Server:
    """One life after another on the same database and the same address."""

    def __init__(self, database: str, log: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.is_up = asyncio.Event()
        self.kills = 0
        self._database, self._log = database, log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Returns when it can take work."""
        command = [sys.executable, "-m", "detent", "serve", "--port", str(self.port), "--database", self._database]
        environment = {**LOOSE, **os.environ, "DETENT_SECRET_KEY": SECRET, "DETENT_LEASE_SECONDS": "2"}
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, "--migrate", cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        async with asyncio.timeout(_PATIENCE), aiohttp.ClientSession() as session:
            while not await self._is_ready(session):
                if self._process.returncode is not None:
                    raise RuntimeError(f"the server did not start: {self._log.read_text()[-2000:]}")
                await asyncio.sleep(0.05)
        self.is_up.set()

    async def _is_ready(self, session: aiohttp.ClientSession) -> bool:
        try:
            async with session.get(f"{self.url}/health/ready") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    async def kill_and_restart(self) -> None:
        """SIGKILL, and the next life."""
        self.is_up.clear()
        self.kills += 1
        await self._end(signal.SIGKILL)
        await self.start()

    async def stop(self) -> None:
        self.is_up.clear()
        await self._end(signal.SIGKILL)

    async def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(how)
            await self._process.wait()
