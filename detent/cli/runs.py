"""`detent runs list|show|cancel|pause|resume`"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from detent.cli.doors import Door, open_door
from detent.cli.options import Database, Url, settings_of
from detent.cli.progress import LineView, instant
from detent.cli.terminal import duration, marked, out, plain
from detent.clock import SystemClock
from detent.instant import SECOND

Workflow = Annotated[str | None, typer.Argument(help="The name or id of a workflow; all if it is left out.")]
Run = Annotated[str, typer.Argument(help="The id of a run, run_...")]
Json = Annotated[bool, typer.Option("--json", help="The whole document as JSON.")]


def list_runs(
    workflow: Workflow = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200)] = 20,
    url: Url = None,
    database: Database = None,
) -> None:
    """The latest runs of a workflow, or of all."""
    rows = _ask(url, database, lambda door: door.runs(workflow, limit))
    table = Table.grid(padding=(0, 2))
    for row in rows:
        name = () if workflow else (plain(row["workflow"]),)
        table.add_row(row["id"], *name, marked(row["status"]), _took(row), plain(row["error"] or ""))
    out.print(table)


def show_run(run: Run, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """One run with its steps."""
    document = _ask(url, database, lambda door: door.run(run))
    if as_json:
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return
    out.print(f"{marked(document['status'])}  {escape(document['workflow'])}  {_took(document)}")
    LineView(out, SystemClock().wall).show(document)


def cancel_run(run: Run, url: Url = None, database: Database = None) -> None:
    """Cancel a run."""
    _tell("cancel", _ask(url, database, lambda door: door.cancel(run)))


def pause_run(run: Run, url: Url = None, database: Database = None) -> None:
    """Pause a run: attempts in flight finish, nothing new starts."""
    _tell("pause", _ask(url, database, lambda door: door.pause(run)))


def resume_run(run: Run, url: Url = None, database: Database = None) -> None:
    """Let a paused run go on."""
    _tell("resume", _ask(url, database, lambda door: door.resume(run)))


def _tell(wish: str, document: dict[str, Any]) -> None:
    waiting = " (its node has not got to it yet)" if document.get(f"{wish}_requested") else ""
    out.print(f"{marked(document['status'])}{waiting}")


def _ask(url: str | None, database: str | None, question: Callable[[Door], Awaitable[Any]]) -> Any:
    async def ask() -> Any:
        async with open_door(settings_of(database_url=database), url) as door:
            return await question(door)

    return asyncio.run(ask())


def _took(row: dict[str, Any]) -> str:
    end = instant(row["finished_at"]) if row["finished_at"] else SystemClock().wall()
    return duration(max(0, end - instant(row["started_at"])) / SECOND)


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_runs)
    app.command("show")(show_run)
    app.command("cancel")(cancel_run)
    app.command("pause")(pause_run)
    app.command("resume")(resume_run)
