"""`detent run FILE`: an engine in this process, for one run."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from detent.api.serving import listening
from detent.app import LOOPBACK, bind, running, told_to_stop
from detent.cli.jumping import JumpingClock, JumpingLoop, fast_tuning
from detent.cli.options import Database, Hero, Imports, Input, read_hero, read_input, settings_of
from detent.cli.order import Order, find_target, read_answers
from detent.cli.run_watching import Watching
from detent.cli.terminal import out, warn
from detent.clock import Clock, SystemClock
from detent.engine.commands import StartOptions
from detent.errors import InvalidInput, StoreInUse
from detent.run.status import Status
from detent.settings import Settings


def run(
    file: Annotated[Path, typer.Argument(help="A workflow file, YAML or JSON; or module:Name of one in Python.")],
    input_: Input = None,
    hero: Hero = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer", metavar="STEP=JSON", help="What a wait step, or a function, will be told; repeatable."
        ),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Nothing is stored, and the clock jumps over sleeps and pauses.")
    ] = False,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Run a workflow here and now, and watch it: a file, or a class or durable function in Python.

    The run is durable in a private SQLite file, which is removed when it completes and kept and named when it does
    not. Exit code 0 if it completed, 1 if not, 2 if the workflow is not valid."""
    settings = settings_of(database_url=database, **{"import": imports})
    if fast and database:
        raise InvalidInput("--fast keeps everything in memory: leave out --database")
    target = find_target(file, settings)
    for warning in target.compiled.warnings:
        warn(warning)
    options = StartOptions(trigger="manual", hero=None if hero is None else read_hero(hero))
    order = Order(target, read_input(input_), options, read_answers(answer or (), target), fast, settings)
    if fast:
        status = _carry_out(replace(order, settings=_private(settings, "memory://")))
    else:
        status = _carry_out(order) if database else _carry_out_privately(order)
    raise typer.Exit(0 if status == Status.COMPLETED else 1)


def _carry_out_privately(order: Order) -> str:
    """Run it in a SQLite file of its own, which is kept if it did not complete."""
    folder, status = Path(tempfile.mkdtemp(prefix="detent-run-")), None
    try:
        status = _carry_out(replace(order, settings=_private(order.settings, f"sqlite:///{folder / 'run.db'}")))
    finally:
        if status in (Status.COMPLETED, None):
            shutil.rmtree(folder, ignore_errors=True)
    if status != Status.COMPLETED:
        out.print(f"[bright_black]kept: {escape(str(folder / 'run.db'))}[/]")
    return status


def _private(settings: Settings, url: str) -> Settings:
    """For a database that this process alone has, and not for long: it serves every queue, for nobody else would, and
    fetches nothing from an outbox, for that is meant for those who stay."""
    return replace(settings, database_url=url, base_url=None, queues=(), outbox_urls=())


def _carry_out(order: Order) -> str:
    """Gives the status that the run has in the end."""
    with asyncio.Runner(loop_factory=JumpingLoop if order.fast else None) as runner:
        return runner.run(_run(order))


async def _run(order: Order) -> str:
    loop = asyncio.get_running_loop()
    clock: Clock = JumpingClock(loop) if isinstance(loop, JumpingLoop) else SystemClock(order.settings.clock_skew)
    stopping = asyncio.create_task(told_to_stop())
    async with AsyncExitStack() as stack:
        stack.callback(stopping.cancel)
        sock = bind("127.0.0.1", 0) if order.target.waits else None
        try:
            app = await stack.enter_async_context(
                running(
                    order.settings,
                    address=sock.getsockname()[:2] if sock else None,
                    clock=clock,
                    tuning=fast_tuning(suspends=order.target.is_function) if order.fast else None,
                    allow=LOOPBACK,
                )
            )
        except StoreInUse as error:
            raise InvalidInput(f"{error.message}. Use `detent apply` and `detent trigger`") from None
        if sock is not None:
            stack.callback(sock.close)
            await stack.enter_async_context(listening(app, sock))
        return await Watching(app, order, clock).until_ended(stopping)


def add_to(app: typer.Typer) -> None:
    app.command()(run)
