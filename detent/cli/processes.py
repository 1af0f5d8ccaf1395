"""More engine processes beside this one: each is a `detent worker`, started again when it dies."""

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

PATIENCE: Final = 5.0  # beyond their own drain
_LONGEST_PAUSE: Final = 30.0


class WorkerProcesses:
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


# `detent serve --reload` and `detent worker --reload`: one that begins anew whenever its code changes.
#
# It is a process of its own, so nothing of the old code stays. It is asked to leave as any is: attempts in flight get
# their time, and its runs go on in the next one. One that cannot begin says why, and the next change is waited for.


_DEBOUNCE: Final = 200  # milliseconds that changes which come together have


class Reloader:
    """Keeps one process of the newest code: `arguments` are the command and its options that are no settings."""

    def __init__(self, settings: Settings, *arguments: str) -> None:
        if not settings.imports:
            raise InvalidInput("--reload needs to know what to watch: name the modules with your workflows")
        self._environ = {**os.environ, **as_environment(settings)}
        self._patience = settings.drain_seconds + PATIENCE
        self._folders = watched_folders(settings.imports, Path.cwd())
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None

    async def work(self) -> None:
        """Until it is told to stop."""
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
    """The folders of these modules' packages, found without loading them: their code may be what is wrong."""
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
    """As a person in this folder would write it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
