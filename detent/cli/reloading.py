"""`detent serve --reload` and `detent worker --reload`: one that begins anew whenever its code changes.

It is a process of its own, so nothing of the old code stays. It is asked to leave as any is: attempts in flight get
their time, and its runs go on in the next one. One that cannot begin says why, and the next change is waited for.
"""

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

from detent.app import told_to_stop
from detent.cli.children import PATIENCE, as_environment
from detent.cli.terminal import err
from detent.errors import InvalidInput
from detent.settings import Settings

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
        stopping = asyncio.create_task(told_to_stop())
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
