"""`detent events send TYPE`"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from detent.cli.client import open_client
from detent.cli.options import Database, Json, Url, read_input, settings_of
from detent.cli.output.terminal import Column, out, plain, print_json, show_table, warn
from detent.client import runs

_COLUMNS: Final = (Column("trigger"), Column("result"), Column("run"))


def events() -> None:
    """Send an event."""


def send(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="What happened, such as order.created.")],
    data: Annotated[
        str | None, typer.Option("--data", "-d", metavar="JSON", help="More about it: JSON, @file.json or -.")
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", metavar="ID", help="A repeated id fires nothing again.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Send an event. Every event trigger that listens to its type fires."""
    call = runs.send_event(type_, read_input(data, "--data"), id=id_)
    with open_client(settings_of(database_url=database), url) as client:
        sent = client.ask(call)
        if as_json:
            print_json(sent)
            return
        fired = sent["firings"]
        count = "no trigger listens" if not fired else f"{len(fired)} trigger{'s' if len(fired) > 1 else ''} fired"
        out.print(f"[bold]{plain(sent['type'])}[/]  [bright_black]{plain(sent['id'])}[/]  {count}")
        rows = [[one["trigger_id"], one["status"], one["run_id"] or ""] for one in fired]
        if rows:
            show_table(_COLUMNS, rows, nothing="")
        if client.has_no_engine and fired:
            warn("no engine is running on this database; the runs begin when one does")


def add_to(app: typer.Typer) -> None:
    app.callback()(events)
    app.command("send")(send)
