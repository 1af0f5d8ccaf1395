"""`detent run FILE`: an engine in this process, for one run."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.markup import escape

from detent.api.serving import listening
from detent.app import LOOPBACK, App, bind, running, told_to_stop
from detent.authoring.compiled import Compiled
from detent.cli.definitions import compile_file
from detent.cli.jumping import FAST_TUNING, Jumper, JumpingClock, JumpingLoop
from detent.cli.options import Database, Imports, Input, decode_value, read_input, settings_of
from detent.cli.progress import LineView, LiveView, View
from detent.cli.terminal import duration, marked, out, plain, warn
from detent.clock import Clock, SystemClock
from detent.engine.commands import Given, StartOptions
from detent.errors import InvalidInput, Problem, StoreInUse
from detent.graph.draw import outline
from detent.graph.model import StepKind
from detent.ids import RUN, show
from detent.instant import SECOND
from detent.observe import listen
from detent.run.status import TERMINAL, Status
from detent.settings import Settings

REFRESH: Final = 0.1
_LONGEST_OUTPUT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be run, and how."""

    data: bytes
    filename: str
    compiled: Compiled
    input: Any
    answers: dict[str, Any]
    fast: bool
    settings: Settings

    @property
    def waits(self) -> list[str]:
        return [step.name for step in self.compiled.graph.steps if step.kind is StepKind.WAIT]


def run(
    file: Annotated[Path, typer.Argument(help="A workflow file, YAML or JSON.")],
    input_: Input = None,
    answer: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="STEP=JSON", help="The callback a wait step will get; repeatable."),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Nothing is stored, and the clock jumps over sleeps and pauses.")
    ] = False,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Run a workflow file here and now, and watch it.

    The run is durable in a private SQLite file, which is removed when it completes and kept and named when it does
    not. Exit code 0 if it completed, 1 if not, 2 if the file is not valid."""
    settings = settings_of(database_url=database, **{"import": imports})
    if fast and database:
        raise InvalidInput("--fast keeps everything in memory: leave out --database")
    data, compiled = compile_file(file, settings, strict=True)
    for warning in compiled.warnings:
        warn(warning)
    order = Order(data, file.name, compiled, read_input(input_), _answers(answer or (), compiled), fast, settings)
    folder = None if fast or database else Path(tempfile.mkdtemp(prefix="detent-run-"))
    if folder is not None:
        order = replace(order, settings=replace(settings, database_url=f"sqlite:///{folder / 'run.db'}", base_url=None))
    elif fast:
        order = replace(order, settings=replace(settings, database_url="memory://", base_url=None))
    status = None
    try:
        with asyncio.Runner(loop_factory=JumpingLoop if fast else None) as runner:
            status = runner.run(_carry_out(order))
    finally:
        if folder is not None:
            _keep_or_remove(folder, keep=status not in (Status.COMPLETED, None))
    raise typer.Exit(0 if status == Status.COMPLETED else 1)


def _answers(given: Any, compiled: Compiled) -> dict[str, Any]:
    waits = {step.name for step in compiled.graph.steps if step.kind is StepKind.WAIT}
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in waits:
            known = f"; wait steps are {', '.join(sorted(waits))}" if waits else "; this workflow waits for nothing"
            raise InvalidInput("an option cannot be read", [Problem("--answer", f"no wait step {name!r}{known}")])
        found[name] = decode_value(value.encode(), f"--answer {name}")
    return found


def _keep_or_remove(folder: Path, *, keep: bool) -> None:
    if keep:
        out.print(f"[bright_black]kept: {escape(str(folder / 'run.db'))}[/]")
    else:
        shutil.rmtree(folder, ignore_errors=True)


async def _carry_out(order: Order) -> str:
    loop = asyncio.get_running_loop()
    clock: Clock = JumpingClock(loop) if isinstance(loop, JumpingLoop) else SystemClock(order.settings.clock_skew)
    stopping = asyncio.create_task(told_to_stop())
    async with AsyncExitStack() as stack:
        stack.callback(stopping.cancel)
        sock = bind("127.0.0.1", 0) if order.waits else None
        try:
            app = await stack.enter_async_context(
                running(
                    order.settings,
                    address=sock.getsockname()[:2] if sock else None,
                    clock=clock,
                    tuning=FAST_TUNING if order.fast else None,
                    allow=LOOPBACK,
                )
            )
        except StoreInUse as error:
            raise InvalidInput(f"{error.message}. Use `detent apply` and `detent trigger`") from None
        if sock is not None:
            stack.callback(sock.close)
            await stack.enter_async_context(listening(app, sock))
        return await _Watching(app, order, clock).until_ended(stopping)


class _Watching:
    """One run, from its start to its end, in front of somebody."""

    def __init__(self, app: App, order: Order, clock: Clock) -> None:
        self._app, self._order, self._clock = app, order, clock
        self._commands, self._changed = app.commands, asyncio.Event()
        self._told: set[str] = set()
        self._view: View = LineView(out, clock.wall)

    async def until_ended(self, stopping: asyncio.Task[None]) -> str:
        order = self._order
        await self._commands.save_workflow(order.data, filename=order.filename, replace=True)
        options = StartOptions(trigger="manual")
        started = await self._commands.start(order.compiled.name, Given(order.input), options)
        run = show(RUN, started.run)
        out.print(f"[bold]{escape(order.compiled.name)}[/] [bright_black]{run}[/]")
        out.print("[bright_black]steps may call this machine (127.0.0.0/8, ::1) as well as public addresses[/]")
        if out.is_terminal:
            self._view = LiveView(out, outline(order.compiled.graph), self._clock.wall)
        stop = listen(lambda name, facts: self._changed.set() if facts.get("run") == started.run else None)
        document: dict[str, Any] = {}
        try:
            async for document in self._documents(run, stopping):
                self._view.show(document)
                await self._deliver_answers(document, started.run)
        finally:
            stop()
            self._view.close()
        self._tell_end(document, started.started_at)
        return str(document["status"])

    async def _documents(self, run: str, stopping: asyncio.Task[None]) -> AsyncIterator[dict[str, Any]]:
        """The run each time something may have changed, until it ends or somebody wants to leave."""
        jumper = None
        if isinstance(self._clock, JumpingClock):
            jumper = Jumper(self._clock, self._order.answers, self._view.note)
        while True:
            self._changed.clear()
            document = await self._commands.run(run)
            yield document
            if document["status"] in TERMINAL or stopping.done():
                return
            if jumper is not None:
                jumper.look(document)
            await self._pause(stopping)

    async def _pause(self, stopping: asyncio.Task[None]) -> None:
        change = asyncio.create_task(self._changed.wait())
        await asyncio.wait([change, stopping], timeout=REFRESH, return_when=asyncio.FIRST_COMPLETED)
        change.cancel()

    async def _deliver_answers(self, document: dict[str, Any], run: bytes) -> None:
        for callback in document["callbacks"]:
            step = callback["step"]
            if callback["status"] != "active" or step in self._told:
                continue
            self._told.add(step)
            if step in self._order.answers:
                await self._commands.deliver(
                    self._app.engine.tokens.token(run, step),
                    body=self._order.answers[step],
                    headers={},
                    query={},
                    message_id=None,
                )
            else:
                self._view.note(f"{step} waits for a POST to {callback['url']}")

    def _tell_end(self, document: dict[str, Any], started_at: int) -> None:
        status = document["status"]
        took = duration((self._clock.wall() - started_at) / SECOND)
        if status not in TERMINAL:
            out.print("interrupted: the run goes on where it stopped when an engine opens its database")
            return
        out.print(f"\n{marked(status)} [bright_black]in {took}[/]")
        if document["error"]:
            out.print(plain(str(document["error"])), style="red")
        if document["output"] is not None:
            with suppress(TypeError, ValueError):
                text = json.dumps(document["output"], indent=2, ensure_ascii=False)
                more = "…" if len(text) > _LONGEST_OUTPUT else ""
                out.print(f"[bright_black]output[/] {plain(text[:_LONGEST_OUTPUT])}{more}")


def add_to(app: typer.Typer) -> None:
    app.command()(run)
