"""The run of `detent run`, from its start to its end, in front of somebody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from rich.markup import escape

import detent
from detent.app import App
from detent.cli.jumping import Jumper, JumpingClock, asked_name
from detent.cli.order import Order
from detent.cli.progress import LineView, LiveView, View
from detent.cli.terminal import duration, marked, out, plain
from detent.cli.watching import tell_result
from detent.clock import Clock
from detent.engine.commands import Given
from detent.graph.draw import outline
from detent.ids import RUN, show
from detent.instant import SECOND
from detent.observe import listen
from detent.run.status import TERMINAL
from detent.store.addresses import scheme

REFRESH: Final = 0.1
_OURS: Final = f'  File "{Path(detent.__file__).parent}'

Document = dict[str, Any]


class Watching:
    """Starts the run, shows it, gives it its answers, and tells what came of it."""

    def __init__(self, app: App, order: Order, clock: Clock) -> None:
        self._app, self._order, self._clock = app, order, clock
        self._commands, self._changed = app.commands, asyncio.Event()
        self._told: set[str] = set()
        self._view: View = LineView(out, clock.wall)

    async def until_ended(self, stopping: asyncio.Task[None]) -> str:
        """Gives the status it has in the end. It may be open: somebody wants to leave, or its code paused it."""
        target, order = self._order.target, self._order
        if target.source is not None:
            data, filename = target.source
            await self._commands.save_workflow(data, filename=filename, replace=True)
        started = await self._commands.start(target.compiled.name, Given(order.input), order.options)
        run = show(RUN, started.run)
        out.print(f"[bold]{escape(target.compiled.name)}[/] [bright_black]{run}[/]")
        out.print("[bright_black]steps may call this machine (127.0.0.0/8, ::1) as well as public addresses[/]")
        if out.is_terminal:
            self._view = LiveView(out, outline(target.compiled.graph), self._clock.wall)
        stop = listen(lambda name, facts: self._changed.set() if facts.get("run") == started.run else None)
        document: Document = {}
        try:
            async for document in self._documents(run, stopping):
                self._view.show(document)
                await self._deliver_answers(document, started.run)
        finally:
            stop()
            self._view.close()
        self._tell_end(document, started.started_at)
        return str(document["status"])

    async def _documents(self, run: str, stopping: asyncio.Task[None]) -> AsyncIterator[Document]:
        """The run each time something may have changed, until it ends or will not go on by itself, or somebody wants
        to leave."""
        jumper = None
        if isinstance(self._clock, JumpingClock):
            jumper = Jumper(self._clock, self._order.answers, self._view.note)
        while True:
            self._changed.clear()
            document = await self._commands.run(run)
            yield document
            if document["status"] in TERMINAL or document["paused_step"] is not None or stopping.done():
                return
            if jumper is not None:
                jumper.look(document, await self._children(document))
            await self._pause(stopping)

    async def _children(self, document: Document) -> list[Document]:
        """The runs that it waits for, and those that they wait for."""
        found: list[Document] = []
        for step in document["tasks"].values():
            if step["status"] == "waiting" and "run_id" in step:
                child = await self._commands.run(step["run_id"])
                found += [child, *await self._children(child)]
        return found

    async def _pause(self, stopping: asyncio.Task[None]) -> None:
        change = asyncio.create_task(self._changed.wait())
        await asyncio.wait([change, stopping], timeout=REFRESH, return_when=asyncio.FIRST_COMPLETED)
        change.cancel()

    async def _deliver_answers(self, document: Document, run: bytes) -> None:
        for callback in document["callbacks"]:
            step, name = callback["step"], asked_name(callback["step"])
            if callback["status"] != "active" or step in self._told:
                continue
            self._told.add(step)
            if name in self._order.answers:
                await self._commands.deliver(
                    self._app.engine.tokens.token(run, step),
                    body=self._order.answers[name],
                    headers={},
                    query={},
                    message_id=None,
                )
            else:
                self._view.note(f"{name} waits for a POST to {callback['url']}")
        for key, step in document["tasks"].items():
            if step["type"] == "signal" and step["status"] == "waiting" and key not in self._told:
                self._told.add(key)
                await self._signal(document["id"], key)

    async def _signal(self, run: str, key: str) -> None:
        name = asked_name(key)
        if name in self._order.answers:
            await self._commands.signal(run, name, self._order.answers[name])
        else:
            self._view.note(f"{name} waits for a signal: detent runs signal {run} {name} --url {self._app.local_url}")

    def _tell_end(self, document: Document, started_at: int) -> None:
        status = document["status"]
        took = duration((self._clock.wall() - started_at) / SECOND)
        if document["paused_step"] is not None:
            self._tell_pause(document, took)
            return
        if status not in TERMINAL:
            out.print("interrupted: the run goes on where it stopped when an engine opens its database")
            return
        out.print(f"\n{marked(status)} [bright_black]in {took}[/]")
        tell_result(document)

    def _tell_pause(self, document: Document, took: str) -> None:
        """Why its code paused it, and how it can go on."""
        out.print(f"\n{marked('paused')} [bright_black]in {took}[/]: {plain(document['paused_by'] or '')}")
        error = document["tasks"][document["paused_step"]]["error"]
        if error:
            out.print(plain(_trace(error)), style="red")
        url, module = self._order.settings.database_url, self._order.target.module
        if scheme(url) != "memory" and module is not None:
            out.print(
                f"mend it and run it again, or go on with this run: detent worker {module} --database {escape(url)}, "
                f"and beside it detent runs resume {document['id']} --database {escape(url)}"
            )


def _trace(error: Document) -> str:
    """The traceback of an error without the frames that are ours; its message if there is none."""
    text = (error.get("detail") or {}).get("traceback")
    if not text:
        return str(error["message"])
    kept, is_ours = [], False
    for line in text.rstrip().splitlines():
        if line.startswith('  File "') or not line.startswith("  "):
            is_ours = line.startswith(_OURS)
        if not is_ours:
            kept.append(line)
    return "\n".join(kept)
