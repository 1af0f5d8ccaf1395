"""Child processes of `serve` and `worker`: more workers beside this process, and `--reload`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from rich.markup import escape
from watchfiles import PythonFilter, awatch

from detent.cli.output.terminal import err, warn
from detent.errors import InvalidInput
from detent.process import wait_for_signal
from detent.settings import FIELDS, PREFIX, Settings

PATIENCE: Final = 5.0  # seconds in addition to the drain of a worker
_LONGEST_PAUSE: Final = 30.0


class WorkerProcesses:
    """Starts `count` `detent worker` processes, and restarts each one that ends, until it is stopped.

    It owns the processes. They get the settings of this process."""

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
        """Send SIGTERM to each worker and wait for its drain. Kill a worker that does not end."""
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
    """Return the settings as environment variables. Settings that are `None` are left out."""
    found: dict[str, str] = {}
    for name, item in FIELDS.items():
        value = getattr(settings, item.name)
        if value is None:
            continue
        if item.name == "retention":
            value = ",".join(f"{status}={seconds}s" for status, seconds in value)
        elif isinstance(value, tuple):
            value = ",".join("=".join(part) if isinstance(part, tuple) else str(part) for part in value)
        found[f"{PREFIX}{name.upper()}"] = str(value)
    return found


# `detent serve --reload` and `detent worker --reload` restart a child process whenever its code changes.
#
# The code runs in a new process, so no old module stays loaded. The old process is drained: attempts in flight get
# their time, and the runs go on in the next process. A process that cannot start prints why; the next change starts
# another.


_DEBOUNCE: Final = 200  # milliseconds; changes within this time cause one restart


class Reloader:
    """Runs one process with the newest code, and owns it. `arguments` are the command and its options that are not
    settings."""

    def __init__(self, settings: Settings, *arguments: str) -> None:
        if not settings.imports:
            raise InvalidInput("--reload needs to know what to watch: name the modules with your workflows")
        self._environ = {**os.environ, **as_environment(settings)}
        self._patience = settings.drain_seconds + PATIENCE
        self._folders = watched_folders(settings.imports, Path.cwd())
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None

    async def work(self) -> None:
        """Run the process, and restart it after each change, until SIGTERM or Ctrl-C."""
        stopping = asyncio.create_task(wait_for_signal())
        stop = asyncio.Event()
        stopping.add_done_callback(lambda _: stop.set())
        err.print(f"[bright_black]watching[/] {escape(', '.join(map(_short, self._folders)))}")
        await self._begin()
        async for changes in awatch(*self._folders, watch_filter=PythonFilter(), stop_event=stop, debounce=_DEBOUNCE):
            names = sorted({_short(Path(path)) for _, path in changes})
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            err.print(f"[yellow]restarting:[/] {escape(names[0])}{more} changed")
            await self._end()
            await self._begin()
        await self._end()

    async def _begin(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "detent",
            *self._arguments,
            env=self._environ,
            start_new_session=True,
        )

    async def _end(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(self._patience):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


def watched_folders(modules: Iterable[str], here: Path) -> list[Path]:
    """Return the folders of the packages of these modules. The modules are not imported: their code may be broken."""
    found: dict[Path, None] = {}
    for name in modules:
        top = name.partition(".")[0]
        if (here / top).is_dir():
            found[here / top] = None
        elif not (here / f"{top}.py").is_file() and (spec := find_spec(top)) is not None and spec.origin:
            found[Path(spec.origin).parent] = None
        else:
            found[here] = None
    return list(found)


def _short(path: Path) -> str:
    """Return a path relative to the current folder, if it is inside it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
