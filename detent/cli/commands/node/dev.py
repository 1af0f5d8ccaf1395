"""`detent dev`: run everything in one process on SQLite, with examples."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from detent.api.server.listener import is_loopback, listening
from detent.auth.caller import local_caller
from detent.cli.options import Database, Imports, Port, settings_of
from detent.cli.output.progress import ENDED, instant
from detent.cli.output.served import show_served
from detent.cli.output.terminal import MARKS, SPINNER, duration, marked, out, warn
from detent.cli.targets import load_or_show
from detent.documents.answers import as_json
from detent.errors import InvalidInput, RequestIdReused
from detent.examples import EXAMPLES, SERVICE_PORT
from detent.examples.service import serving_shop
from detent.ids import RUN, show
from detent.instant import SECOND
from detent.observe import listen
from detent.observe.logs import log_events
from detent.process import LOOPBACK, App, bind, run_app, run_process, wait_for_signal
from detent.run.start import StartRequest
from detent.run.status import TERMINAL
from detent.settings import Settings
from detent.store.url import scheme
from detent.vault.keys import with_own_key
from detent.version import VERSION
from detent.web.page import with_page

_HEAD: Final = """
  [bold]Detent[/] {version}   [bright_black]everything in one process[/]

  [bright_black]page     [/]  [bold]{base}[/]   [bright_black]API docs at[/] {base}/docs
  [bright_black]database [/]  {database}
{examples}  [bright_black]egress   [/]  steps may call this machine (127.0.0.0/8, ::1) as well as public addresses
"""
_EXAMPLES: Final = """\
  [bright_black]examples [/]  {shop}   [bright_black]a shop that the examples call, on this machine only[/]
"""
_STATUS_WIDTH: Final = 8
_FOOT: Final = """
  [bold]Try it[/]
    curl {base}/api/v1/workflows/order-processing/trigger -d '{{"order_id": 7}}'
    curl {base}/api/v1/workflows/order-processing/runs
  [bright_black]and your own:[/] detent run FILE   [bright_black]or[/] detent apply FILE
{leave}"""
_FOOT_WITHOUT: Final = """
  [bold]Try it[/]
    detent run FILE     [bright_black]runs a workflow here and now, without this server[/]
    detent apply FILE   [bright_black]saves it here;[/] detent trigger NAME [bright_black]starts a run[/]
{leave}"""
_LEAVE: Final = """\
  [bright_black]Ctrl-C stops Detent; runs that sleep or wait go on at the next start.[/]
"""


@dataclass(slots=True, eq=False)
class Shown:
    """A run on the screen, with its last document."""

    run: str
    input: dict[str, Any]
    document: dict[str, Any] | None = None

    @property
    def status(self) -> str:
        return str(self.document["status"]) if self.document else "running"


class Screen:
    """The screen of `detent dev`: addresses, and the examples as they run. It draws on a terminal and prints lines
    elsewhere."""

    def __init__(self, console: Console, base_url: str, database: str, shop_url: str | None) -> None:
        """`shop_url` is the address of the shop that the examples call; `None` if no examples run."""
        self._console, self._tick = console, 0
        self._foot = _FOOT_WITHOUT if shop_url is None else _FOOT
        self._words = {
            "version": VERSION,
            "base": escape(base_url),
            "database": escape(database.removeprefix("sqlite:///")),
            "examples": "" if shop_url is None else _EXAMPLES.format(shop=escape(shop_url)),
            "leave": _LEAVE,
        }

    def head(self) -> None:
        self._console.print(_HEAD.format(**self._words))

    def foot(self) -> None:
        self._console.print(self._foot.format(**self._words))

    def line(self, document: dict[str, Any]) -> None:
        """Print a run that has ended."""
        took = _took(document)
        name = escape(document["workflow"])
        self._console.print(f"  {marked(document['status'])}  {name}  [bright_black]{took}  {document['id']}[/]")

    @contextmanager
    def watching(self, shown: Sequence[Shown]) -> Iterator[Callable[[], None]]:
        """Yield a function that draws the runs as they are now."""
        if not self._console.is_terminal:
            printed: set[str] = set()
            yield lambda: self._print_ended(shown, printed)
            return
        with Live(console=self._console, auto_refresh=False, vertical_overflow="crop") as live:
            yield lambda: live.update(self._drawn(shown), refresh=True)

    def _print_ended(self, shown: Sequence[Shown], printed: set[str]) -> None:
        for each in shown:
            if each.document and each.document["finished_at"] and each.run not in printed:
                printed.add(each.run)
                self.line(each.document)

    def _drawn(self, shown: Sequence[Shown]) -> RenderableType:
        self._tick += 1
        table = Table.grid(padding=(0, 2))
        known = [each.document for each in shown if each.document]
        table.add_column(no_wrap=True, min_width=2 + max((len(one["workflow"]) for one in known), default=0))
        table.add_column(no_wrap=True, min_width=max((len(_short(each.input)) for each in shown), default=0))
        table.add_column(no_wrap=True, min_width=_STATUS_WIDTH)
        table.add_column(no_wrap=True, overflow="ellipsis")
        for each in shown:
            if each.document is not None:
                mark, colour = self._mark(each.status)
                name = Text.assemble((f"{mark} ", colour), each.document["workflow"])
                note = Text(_short(each.input), style="bright_black")
                table.add_row(name, note, Text(_took(each.document), style="bright_black"), self._steps(each.document))
        return Padding(table, (0, 0, 0, 2))

    def _steps(self, document: dict[str, Any]) -> Text:
        parts = Text()
        for name, step in document["tasks"].items():
            mark, colour = self._mark(step["status"])
            faint = "bright_black" if step["status"] in ("pending", "skipped") else "default"
            parts.append(f"{mark} ", colour).append(f"{name}  ", faint)
        return parts

    def _mark(self, status: str) -> tuple[str, str]:
        mark, colour = MARKS.get(status, ("?", "default"))
        return (SPINNER[self._tick % len(SPINNER)], colour) if status == "running" else (mark, colour)


def _took(document: dict[str, Any]) -> str:
    if not document["finished_at"]:
        active = [step["status"] for step in document["tasks"].values() if step["status"] not in {*ENDED, "pending"}]
        return active[0] if active else "running"
    return duration((instant(document["finished_at"]) - instant(document["started_at"])) / SECOND)


def _short(value: dict[str, Any]) -> str:
    """Return the first field of the input of a run."""
    return next((f"{key} {json.dumps(one, ensure_ascii=False)}" for key, one in value.items()), "")


DATABASE: Final = Settings().database_url  # the default, so that other commands in this folder find the engine
REFRESH: Final = 0.1
_PORTS: Final = 20
_BACKLOG: Final = 1_000


def dev(
    port: Port = None,
    database: Database = None,
    imports: Imports = None,
    examples: Annotated[
        bool,
        typer.Option(
            "--examples/--no-examples", help="Whether to save the examples, and run each once in this database."
        ),
    ] = True,
) -> None:
    """Try Detent: API, engine, SQLite and an example service in one process, with examples running.

    Everything is stored in detent.db of the current folder, where the other commands find it. The examples call only
    this machine."""
    settings = settings_of(port=port, database_url=database, **{"import": imports})
    if database is None:
        settings = _on_sqlite(settings)
    if settings.host != Settings().host:
        raise InvalidInput("`detent dev` listens on 127.0.0.1 only; use `detent serve` for others")
    load_or_show(settings.imports)
    if settings.imports:
        show_served(settings)
    run_process(_dev(settings, examples=examples, exact=port is not None))


def _on_sqlite(settings: Settings) -> Settings:
    """Replace a database that is not SQLite by the default. The examples must not be saved in a shared database, unless
    `--database` names it."""
    kind = scheme(settings.database_url)
    if kind == "sqlite":
        return settings
    warn(
        f"the settings name a {kind} database; `detent dev` uses {DATABASE} instead. Other commands find it with "
        f"--database {DATABASE}"
    )
    return replace(settings, database_url=DATABASE)


async def _dev(settings: Settings, *, examples: bool, exact: bool) -> None:
    stopping = asyncio.create_task(wait_for_signal())
    async with AsyncExitStack() as stack:
        stack.callback(log_events(settings.log_format, troubles_only=True, step_logs=settings.step_logs))
        sock = bind(settings.host, settings.port) if exact else _first_free(settings.port)
        shop = _first_free(SERVICE_PORT)
        stack.callback(sock.close)
        stack.callback(shop.close)
        await stack.enter_async_context(serving_shop(shop))
        address = sock.getsockname()[:2]
        settings = with_own_key(settings)
        app = await stack.enter_async_context(run_app(settings, address=address, allow=LOOPBACK, migrate=True))
        await stack.enter_async_context(listening(app, sock, loose=is_loopback(address[0]), front=with_page))
        # The shop also serves runs of examples that an earlier start left open.
        await _Show(app, _url(shop) if examples else None, stopping).go()
        out.print("\nstopping: attempts in flight get their time")
        await app.drain()
    out.print("stopped; open runs go on at the next start")


def _first_free(port: int) -> socket.socket:
    for candidate in range(port, port + _PORTS) if port else ():
        try:
            return bind("127.0.0.1", candidate)
        except InvalidInput:
            continue
    return bind("127.0.0.1", 0)


def _url(sock: socket.socket) -> str:
    return "http://{}:{}".format(*sock.getsockname()[:2])


class _Show:
    """Starts the examples and shows them, then prints every run that ends. It owns the queue of ended runs."""

    def __init__(self, app: App, shop_url: str | None, stopping: asyncio.Task[None]) -> None:
        self._app, self._shop_url, self._stopping = app, shop_url, stopping
        self._commands = app.commands.for_caller(local_caller("detent dev"))
        self._screen = Screen(out, app.local_url, app.settings.database_url, shop_url)
        self._ended: asyncio.Queue[bytes] = asyncio.Queue(_BACKLOG)

    async def go(self) -> None:
        self._screen.head()
        stop = listen(self._hear)
        try:
            shown = [] if self._shop_url is None else await self._start_examples(self._shop_url)
            await self._watch(shown)
            if not self._stopping.done():
                self._screen.foot()
            await self._print_others({each.run for each in shown})
        finally:
            stop()

    def _hear(self, name: str, facts: dict[str, object]) -> None:
        run = facts.get("run")
        if name == "run.ended" and isinstance(run, bytes) and not self._ended.full():
            self._ended.put_nowait(run)

    async def _start_examples(self, shop_url: str) -> list[Shown]:
        shown = []
        for example in EXAMPLES:
            text = example.text(shop_url)
            await self._commands.workflows.save(text, filename=example.filename, replace=True)
            for number, value in enumerate(example.inputs):
                run = await self._start_once(example.name, value, f"detent-dev:{example.name}:{number}")
                if run is not None:
                    shown.append(Shown(show(RUN, run), value))
        return shown

    async def _start_once(self, name: str, value: dict[str, Any], request_id: str) -> bytes | None:
        """Start an example, unless this database has run it before. Return the run if it has not ended."""
        try:
            request = StartRequest(name, value, trigger="manual", request_id=request_id)
            started = await self._commands.starts.start(request)
        except RequestIdReused:
            return None  # an earlier release had another input
        return None if started.status in TERMINAL and not started.is_new else started.run

    async def _watch(self, shown: list[Shown]) -> None:
        """Show the examples until all have ended, or the process is to stop."""
        with self._screen.watching(shown) as draw:
            while not self._stopping.done():
                for each in shown:
                    if each.status not in TERMINAL:
                        each.document = as_json(await self._commands.runs.get(each.run))
                draw()
                if all(each.status in TERMINAL for each in shown):
                    return
                await asyncio.wait([self._stopping], timeout=REFRESH)

    async def _print_others(self, known: set[str]) -> None:
        while not self._stopping.done():
            ended = asyncio.create_task(self._ended.get())
            await asyncio.wait([ended, self._stopping], return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                ended.cancel()
                return
            run = show(RUN, ended.result())
            if run not in known:
                self._screen.line(as_json(await self._commands.runs.get(run)))


def add_to(app: typer.Typer) -> None:
    app.command()(dev)
