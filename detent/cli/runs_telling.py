"""`detent runs history|timeline`: a run attempt by attempt, and everything that happened to one hero."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Annotated, Final

import typer
from rich.text import Text

from detent.cli.doors import Document, open_door
from detent.cli.journal_lines import Line, clock, day, drawn, lines_of
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.progress import instant
from detent.cli.tables import Column, faint, show_table
from detent.cli.terminal import duration, marked, one_line, out, plain, print_json
from detent.client import runs
from detent.instant import SECOND

_PAGE: Final = 200
_FAINT: Final = "bright_black"
_RUN_STARTED: Final = "run_started"
_ENDS: Final = ("completed_at", "failed_at", "skipped_at", "canceled_at")
_COLUMNS: Final = (
    Column("ended"),
    Column("step", gives=True),
    Column("attempt", right=True),
    Column("state"),
    Column("outcome"),
    Column("late", right=True),
    Column("took", right=True),
    Column("error", gives=True),
)
#: The runs of a timeline are told apart by colour.
_COLOURS: Final = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta")

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="How many.")]


def show_history(
    run: Annotated[str, typer.Argument(help="The id of a run, run_...")],
    backtrace: Annotated[bool, typer.Option("--backtrace", "-b", help="With the backtrace of each error.")] = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Every attempt of a run that is over, and what came of it."""
    with open_door(settings_of(database_url=database), url) as door:
        rows = list(door.each(runs.history(run, limit=_PAGE)))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="no attempt is over yet", titled=True)
    if backtrace:
        for row in rows:
            _tell_backtrace(row)


def _row(row: Document) -> list[str | Text]:
    end = _ended(row)
    begun = row["started_at"]
    late = "" if begun is None else _span(row["scheduled_for"], begun)
    took = "" if begun is None else _span(begun, end)
    state = marked("cancelled").replace("cancelled", "canceled") if row["state"] == "canceled" else marked(row["state"])
    error = Text(one_line(row["error_message"]), style="red")
    again = faint(row["outcome"]) if row["outcome"] == "success" else plain(row["outcome"])
    return [faint(clock(end)), plain(row["step"]), str(row["attempt"]), state, again, faint(late), faint(took), error]


def _ended(row: Document) -> str:
    return next(str(row[name]) for name in _ENDS if row[name])


def _span(begin: str, end: str) -> str:
    return duration(max(0, instant(end) - instant(begin)) / SECOND)


def _tell_backtrace(row: Document) -> None:
    if row["error_backtrace"]:
        out.print(f"\n[bold]{plain(row['step'])}[/] attempt {row['attempt']}")
        out.print(plain(row["error_backtrace"]), style=_FAINT)


def tell_timeline(
    hero: Annotated[str, typer.Argument(metavar="TYPE:ID", help="What the runs are about, User:42.")],
    limit: Limit = 1_000,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Everything that happened in all runs of one hero, in the order of time."""
    with open_door(settings_of(database_url=database), url) as door:
        found = list(islice(door.each(runs.timeline(hero, limit=min(limit, _PAGE))), limit))
    if as_json:
        print_json(found)
        return
    if not found:
        out.print(f"nothing has happened to {plain(hero)}", style=_FAINT)
        return
    ids = list(dict.fromkeys(one["run_id"] for one in found))
    days = f"{day(found[0]['at'])} to {day(found[-1]['at'])}" if day(found[0]["at"]) != day(found[-1]["at"]) else ""
    many = "1 run" if len(ids) == 1 else f"{len(ids)} runs"
    out.print(f"[bold]{plain(hero)}[/]  [{_FAINT}]{many}  {days}[/]".rstrip())
    for text in _lines(found, ids):
        out.print(text)


def _lines(found: list[Document], ids: list[str]) -> Iterator[Text]:
    """A line for each thing that happened, the date where another one begins, and the run each belongs to."""
    width = max(len(one["step"] or "") for one in found)
    names = {one["run_id"]: one_line(one["workflow"]) for one in found}
    longest = max(map(len, names.values()))
    last = ""
    for one in found:
        if day(one["at"]) != last:
            last = day(one["at"])
            yield Text(f"── {datetime.fromisoformat(one['at']).astimezone():%A} {last} ──", style=_FAINT)
        colour = _COLOURS[ids.index(one["run_id"]) % len(_COLOURS)]
        for line in _told(one):
            text = drawn(line, width)
            place = text.plain.index("  ") + 2
            yield text[:place] + Text(f"▌{names[one['run_id']]:<{longest}}  ", style=colour) + text[place:]


def _told(one: Document) -> Iterator[Line]:
    if one["kind"] == _RUN_STARTED:
        yield Line(one["at"], "", "running", f"run begins  {one['run_id']}")
    else:
        yield from lines_of(one)


def add_to(app: typer.Typer) -> None:
    app.command("history")(show_history)
    app.command("timeline")(tell_timeline)
