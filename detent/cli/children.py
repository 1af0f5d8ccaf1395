"""More engine processes beside this one: each is a `detent worker`, started again when it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Final

from detent.cli.terminal import warn
from detent.settings import FIELDS, PREFIX, Settings

PATIENCE: Final = 5.0  # beyond their own drain
_LONGEST_PAUSE: Final = 30.0


class Children:
    """Keeps `count` workers alive until it is stopped. They get the settings of this process."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._environ = {**os.environ, **as_environment(settings)}
        self._patience = settings.drain_seconds + PATIENCE
        self._count = count
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._keeping: list[asyncio.Task[None]] = []
        self._is_stopping = False

    async def start(self) -> None:
        self._keeping = [asyncio.create_task(self._keep()) for _ in range(self._count)]

    async def stop(self) -> None:
        """Ask each to leave, wait for its drain, end what stays."""
        self._is_stopping = True
        processes = list(self._processes.values())
        for process in processes:
            process.send_signal(signal.SIGTERM)
        await asyncio.gather(*(self._wait(process) for process in processes))
        for keeping in self._keeping:
            keeping.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)

    async def _wait(self, process: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _keep(self) -> None:
        pause = 0.5
        while not self._is_stopping:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "detent", "worker", env=self._environ, start_new_session=True
            )
            self._processes[process.pid] = process
            code = await process.wait()
            del self._processes[process.pid]
            if not self._is_stopping:
                warn(f"worker {process.pid} ended with code {code}; another begins in {pause:g} s")
                await asyncio.sleep(pause)
                pause = min(_LONGEST_PAUSE, pause * 2)


def as_environment(settings: Settings) -> dict[str, str]:
    """The settings as variables; null ones are left out."""
    found: dict[str, str] = {}
    for name, item in FIELDS.items():
        value = getattr(settings, item.name)
        if value is None:
            continue
        if item.name == "retention":
            value = ",".join(f"{status}={seconds}s" for status, seconds in value)
        elif isinstance(value, tuple):
            value = ",".join(value)
        found[f"{PREFIX}{name.upper()}"] = str(value)
    return found
