"""`detent triggers fire|backfill|firings|replay`"""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.doors import Document, Door, open_door
from detent.cli.options import Database, Input, Json, Url, Yes, read_moment, read_value, settings_of
from detent.cli.tables import Column, ago, faint, local, show_table
from detent.cli.terminal import confirm, one_line, out, print_json, warn
from detent.cli.triggers_keeping import Trigger
from detent.client import triggers
from detent.client.calls import Call

_COLUMNS: Final = (
    Column("firing"),
    Column("result"),
    Column("run"),
    Column("received", gives=True),
    Column("why", gives=True),
    Column("for the slot", gives=True),
)
_COLOURS: Final = {"started": "green", "refused": "red", "errored": "red", "missed": "yellow", "skipped": "yellow"}
_MOST_SHOWN: Final = 5
_NOT_DONE: Final = ("refused", "errored")


def fire_trigger(
    trigger: Trigger, input_: Input = None, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Fire a trigger now, paused or not. Its condition and overlap policy count."""
    call = triggers.fire(trigger, None if input_ is None else read_value(input_, "--input"))
    with open_door(settings_of(database_url=database), url) as door:
        _fired(door, call, as_json=as_json)


def replay_firing(
    trigger: Trigger,
    firing: Annotated[str, typer.Argument(help="The id of a firing, fir_...")],
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Do again what a firing did, with what was received then."""
    with open_door(settings_of(database_url=database), url) as door:
        _fired(door, triggers.replay(trigger, firing), as_json=as_json)


def list_firings(
    trigger: Trigger,
    status: Annotated[
        str | None, typer.Option("--status", "-s", metavar="STATUS", help="Only started, refused, skipped, ...")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 20,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """The latest times a trigger fired, and what came of each."""
    with open_door(settings_of(database_url=database), url) as door:
        rows = list(islice(door.each(triggers.firings(trigger, state=status, limit=min(limit, 100))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="it has not fired yet")


def backfill_trigger(
    trigger: Trigger,
    since: Annotated[str, typer.Option("--from", metavar="TIME", help="From then: 2026-02-22T10:00, or 1d ago.")],
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="Up to then: 2026-02-22T10:00, or 1h ago.")] = "0s",
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Fire the slots of the past that have no firing yet. They are counted first."""
    begin, end = read_moment(since, "--from", ago=True), read_moment(until, "--to", ago=True)
    with open_door(settings_of(database_url=database), url) as door:
        found = door.ask(triggers.backfill(trigger, begin, end, dry_run=True))
        slots = found["slots"]
        if not slots:
            print_json(found) if as_json else out.print("every slot in that range has fired")
            return
        if not as_json:
            _show_slots(slots)
        confirm(f"{'1 slot has' if len(slots) == 1 else f'{len(slots):,} slots have'} not fired. Fire now?", yes=yes)
        done = door.ask(triggers.backfill(trigger, begin, end, dry_run=False))
        if as_json:
            print_json(done)
        else:
            count = len(done["firings"])
            out.print(f"[green]{count:,}[/] firing{'' if count == 1 else 's'} made")
        if door.has_no_engine:
            warn("no engine is running on this database; the runs begin when one does")


def _show_slots(slots: list[str]) -> None:
    for slot in slots[:_MOST_SHOWN]:
        out.print(f"[bright_black]{local(slot)}[/]")
    if len(slots) > _MOST_SHOWN:
        out.print(f"[bright_black]… and {len(slots) - _MOST_SHOWN:,} more, the last {local(slots[-1])}[/]")


def _fired(door: Door, call: Call[Any], *, as_json: bool) -> None:
    firing = door.ask(call)
    print_json(firing) if as_json else show_table(_COLUMNS, [_row(firing)], nothing="")
    if door.has_no_engine:
        warn("no engine is running on this database; the run begins when one does")
    if firing["status"] in _NOT_DONE:
        raise typer.Exit(1)


def _row(firing: Document) -> list[str | Text]:
    return [
        firing["id"],
        Text(firing["status"], style=_COLOURS.get(firing["status"], "default")),
        firing["run_id"] or "",
        faint(ago(firing["received_at"])),
        Text(one_line(firing["message"])),
        faint(local(firing["scheduled_at"])),
    ]


def add_to(app: typer.Typer) -> None:
    app.command("fire")(fire_trigger)
    app.command("backfill")(backfill_trigger)
    app.command("firings")(list_firings)
    app.command("replay")(replay_firing)
