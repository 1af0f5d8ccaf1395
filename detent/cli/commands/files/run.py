"""`detent run FILE`: run one workflow with an engine in this process."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.markup import escape

from detent.api.server.listener import listening
from detent.auth.caller import local_caller
from detent.cli.dry_run import dry_run, print_dry_run, read_pinned, read_recorded
from detent.cli.fast_clock import Jumper, JumpingClock, JumpingLoop, asked_name, fast_tuning
from detent.cli.options import (
    Database,
    Hero,
    Imports,
    Input,
    decode_value,
    read_hero,
    read_input,
    server_of,
    settings_of,
    wrong,
)
from detent.cli.output.progress import LineView, LiveView, View, user_traceback
from detent.cli.output.terminal import duration, marked, out, plain, warn
from detent.cli.output.watch import print_result, print_tracebacks
from detent.cli.targets import compile_file, python_workflow
from detent.clock import Clock, SystemClock
from detent.documents.answers import as_json
from detent.errors import InvalidInput, NotFound, Problem, StoreInUse
from detent.forms.compiled import Compiled
from detent.graph.draw import outline
from detent.graph.model import StepKind
from detent.ids import RUN, show
from detent.instant import SECOND
from detent.observe import listen
from detent.process import LOOPBACK, App, bind, run_app, wait_for_signal
from detent.run.start import StartRequest
from detent.run.status import TERMINAL, Status
from detent.settings import Settings
from detent.store.url import scheme

#: Kinds of steps that may wait for callbacks. Only the code of a durable function knows the names of its waits.
_WAITING: Final = (StepKind.WAIT, StepKind.FUNCTION)


@dataclass(frozen=True, slots=True)
class RunTarget:
    """A workflow to run. `source` is the text and name of its file. A workflow in Python has no `source`: `module` is
    its module, and an engine that has imported it saves the workflow itself. `children` are the texts and names of the
    files of workflows that its steps may start."""

    compiled: Compiled
    source: tuple[bytes, str] | None = None
    module: str | None = None
    children: tuple[tuple[bytes, str], ...] = ()

    @property
    def waits(self) -> bool:
        return any(step.kind in _WAITING for step in self.compiled.graph.steps)

    @property
    def is_function(self) -> bool:
        return any(step.kind is StepKind.FUNCTION for step in self.compiled.graph.steps)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `detent run`. `answers` are the answers to the waits of the run, by name."""

    target: RunTarget
    request: StartRequest
    answers: dict[str, Any]
    fast: bool
    settings: Settings


def find_target(file: Path, settings: Settings) -> RunTarget:
    """Return the workflow of a file, or the workflow in Python with that name."""
    written = python_workflow(str(file))
    if written is not None:
        return RunTarget(written.compiled, module=written.place.partition(":")[0])
    data, compiled = compile_file(file, settings, strict=True, effects=False)
    return RunTarget(compiled, source=(data, file.name))


def read_answers(given: Iterable[str], target: RunTarget) -> dict[str, Any]:
    """Read answers written `step=JSON`. Return them by step."""
    waits = {step.name for step in target.compiled.graph.steps if step.kind is StepKind.WAIT}
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or (name not in waits and not target.is_function):
            known = f"; wait steps are {', '.join(sorted(waits))}" if waits else "; this workflow waits for nothing"
            raise InvalidInput("an option cannot be read", [Problem("--answer", f"no wait step {name!r}{known}")])
        found[name] = decode_value(value.encode(), f"--answer {name}")
    return found


REFRESH: Final = 0.1

Document = dict[str, Any]


class Watching:
    """Starts the run, shows it, delivers its answers and prints its result. It owns the view."""

    def __init__(self, app: App, order: RunOptions, clock: Clock) -> None:
        self._app, self._order, self._clock = app, order, clock
        self._commands = app.commands.for_caller(local_caller("detent run"))
        self._changed = asyncio.Event()
        self._handled: set[str] = set()
        self._view: View = LineView(out, clock.wall)

    async def until_ended(self, stopping: asyncio.Task[None]) -> str:
        """Run the workflow and return its last status. The run may be open: after Ctrl-C, or if its code paused it."""
        target, order = self._order.target, self._order
        for data, filename in (*target.children, *([target.source] if target.source else [])):
            await self._commands.workflows.save(data, filename=filename, replace=True)
        started = await self._commands.starts.start(order.request)
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
        self._print_end(document, started.started_at)
        return str(document["status"])

    async def _documents(self, run: str, stopping: asyncio.Task[None]) -> AsyncIterator[Document]:
        """Yield the document of the run whenever it may have changed. End when the run ends, when a step pauses it, or
        when the process is to stop."""
        jumper = None
        if isinstance(self._clock, JumpingClock):
            jumper = Jumper(self._clock, self._order.answers, self._view.note)
        while True:
            self._changed.clear()
            document = as_json(await self._commands.runs.get(run))
            yield document
            if document["status"] in TERMINAL or document["paused_step"] is not None or stopping.done():
                return
            if jumper is not None:
                with suppress(NotFound):  # a child is on record before its own run is written
                    jumper.look(document, await self._children(document))
            await self._pause(stopping)

    async def _children(self, document: Document) -> list[Document]:
        """Return the child runs that the run waits for, and those that they wait for. Raise NotFound if one is not
        written yet."""
        found: list[Document] = []
        for step in document["tasks"].values():
            if step["status"] in ("waiting", "running") and "child_run_id" in step:
                child = as_json(await self._commands.runs.get(step["child_run_id"]))
                found += [child, *await self._children(child)]
        return found

    async def _pause(self, stopping: asyncio.Task[None]) -> None:
        change = asyncio.create_task(self._changed.wait())
        await asyncio.wait([change, stopping], timeout=REFRESH, return_when=asyncio.FIRST_COMPLETED)
        change.cancel()

    async def _deliver_answers(self, document: Document, run: bytes) -> None:
        for callback in document["callbacks"]:
            step, name = callback["step"], asked_name(callback["step"])
            if callback["status"] != "active" or step in self._handled:
                continue
            self._handled.add(step)
            if name in self._order.answers:
                await self._commands.callbacks.answer(
                    document["id"],
                    step,
                    body=self._order.answers[name],
                    headers={},
                    query={},
                    message_id=None,
                )
            else:
                self._view.note(f"{name} waits for a POST to {callback['url']}")
        for key, step in document["tasks"].items():
            if step["type"] == "signal" and step["status"] == "waiting" and key not in self._handled:
                self._handled.add(key)
                await self._signal(document["id"], key)

    async def _signal(self, run: str, key: str) -> None:
        name = asked_name(key)
        if name in self._order.answers:
            await self._commands.signals.send(run, name, self._order.answers[name])
        else:
            self._view.note(f"{name} waits for a signal: detent runs signal {run} {name} --url {self._app.local_url}")

    def _print_end(self, document: Document, started_at: int) -> None:
        status = document["status"]
        took = duration((self._clock.wall() - started_at) / SECOND)
        if document["paused_step"] is not None:
            self._print_pause(document, took)
            return
        if status not in TERMINAL:
            out.print("interrupted: the run goes on where it stopped when an engine opens its database")
            return
        out.print(f"\n{marked(status)} [bright_black]in {took}[/]")
        print_result(document)
        print_tracebacks(document)

    def _print_pause(self, document: Document, took: str) -> None:
        """Print why its code paused the run, and how to go on with it."""
        out.print(f"\n{marked('paused')} [bright_black]in {took}[/]: {plain(document['paused_by'] or '')}")
        error = document["tasks"][document["paused_step"]]["error"]
        if error:
            out.print(plain(user_traceback(error) or str(error["message"])), style="red")
        url, module = self._order.settings.database_url, self._order.target.module
        if scheme(url) != "memory" and module is not None:
            out.print(
                f"fix it and run it again, or go on with this run: detent worker {module} --database {escape(url)}, "
                f"and beside it detent runs resume {document['id']} --database {escape(url)}"
            )


Answers = Annotated[
    list[str] | None,
    typer.Option(
        "--answer",
        metavar="STEP=JSON",
        help="The answer to a wait of a step or function; with --dry to any step; repeatable.",
    ),
]
ChildFiles = Annotated[
    list[Path] | None,
    typer.Option("--with", metavar="FILE", help="The file of a workflow that its steps start; repeatable."),
]
Dry = Annotated[bool, typer.Option("--dry", help="Send and store nothing: print what the run of a file would do.")]
Past = Annotated[
    str | None, typer.Option("--from", metavar="RUN", help="With --dry: take answers to effects from this past run.")
]
DryJson = Annotated[bool, typer.Option("--json", help="With --dry: print the document as JSON.")]
PastUrl = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="With --from: the address of a Detent that has the run.")
]


def run(
    file: Annotated[Path, typer.Argument(help="A workflow file, YAML or JSON; or module:Name of one in Python.")],
    input_: Input = None,
    hero: Hero = None,
    answer: Answers = None,
    children: ChildFiles = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Store nothing, and let the clock jump over sleeps and pauses.")
    ] = False,
    dry: Annotated[
        bool, typer.Option("--dry", help="Send and store nothing: print what the run of a file would do.")
    ] = False,
    past: Annotated[
        str | None,
        typer.Option("--from", metavar="RUN", help="With --dry: take answers to effects from this past run."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --dry: print the document as JSON.")] = False,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="With --from: the address of a Detent that has the run.")
    ] = None,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Run a workflow here and now, and watch it: a file, or a class or durable function in Python.

    The run is durable in a private SQLite file. The file is removed if the run completes; otherwise it stays, and its
    name is printed. Exit code 0 if the run completed, 1 if not, 2 if the workflow is not valid."""
    settings = settings_of(database_url=database, **{"import": imports})
    if fast and (database or dry):
        other = "--dry" if dry else "--database"
        raise InvalidInput(f"--fast stores nothing and cannot be combined with {other}")
    for option, is_given in (("--from", past), ("--json", as_json), ("--url", url)):
        if is_given and not dry:
            raise wrong(option, "can only be used with --dry")
    target = find_target(file, settings)
    about = None if hero is None else read_hero(hero)
    request = StartRequest(target.compiled.name, read_input(input_), hero=about, trigger="manual")
    if dry:
        if target.source is None:
            raise InvalidInput(f"{file} is Python code, which has no dry run: test it with `detent.testing`")
        recorded = None if past is None else read_recorded(settings, past, server_of(url, database))
        print_dry_run(
            dry_run(target.compiled, request, read_pinned(answer or ()), recorded, children or (), settings),
            as_document=as_json,
        )
    others = [(compile_file(child, settings, strict=True, effects=False)[0], child.name) for child in children or ()]
    target = replace(target, children=tuple(others))
    for warning in target.compiled.warnings:
        warn(warning)
    order = RunOptions(target, request, read_answers(answer or (), target), fast, settings)
    if fast:
        status = _execute(replace(order, settings=_private(settings, "memory://")))
    else:
        status = _execute(order) if database else _execute_privately(order)
    raise typer.Exit(0 if status == Status.COMPLETED else 1)


def _execute_privately(order: RunOptions) -> str:
    """Run the workflow in a private SQLite file. Remove the file if the run completed. Return its last status."""
    folder, status = Path(tempfile.mkdtemp(prefix="detent-run-")), None
    try:
        status = _execute(replace(order, settings=_private(order.settings, f"sqlite:///{folder / 'run.db'}")))
    finally:
        if status in (Status.COMPLETED, None):
            shutil.rmtree(folder, ignore_errors=True)
    if status != Status.COMPLETED:
        out.print(f"[bright_black]kept: {escape(str(folder / 'run.db'))}[/]")
    return status


def _private(settings: Settings, url: str) -> Settings:
    """Return the settings for a private, short-lived database. This process is its only node, so it serves every queue.
    It fetches no starts from an outbox: those are for nodes that stay."""
    return replace(settings, database_url=url, base_url=None, queues=(), outbox_urls=())


def _execute(order: RunOptions) -> str:
    """Run the workflow on a new event loop. Return its last status."""
    with asyncio.Runner(loop_factory=JumpingLoop if order.fast else None) as runner:
        return runner.run(_run(order))


async def _run(order: RunOptions) -> str:
    loop = asyncio.get_running_loop()
    clock: Clock = JumpingClock(loop) if isinstance(loop, JumpingLoop) else SystemClock(order.settings.clock_skew)
    stopping = asyncio.create_task(wait_for_signal())
    async with AsyncExitStack() as stack:
        stack.callback(stopping.cancel)
        sock = bind("127.0.0.1", 0) if order.target.waits else None
        try:
            app = await stack.enter_async_context(
                run_app(
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
