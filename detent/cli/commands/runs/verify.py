"""`detent verify RUN...`: whether runs are as they were when they were sealed at their end."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import out, plain, print_json
from detent.client import runs as calls

_COLOURS: Final = {"valid": "green", "not_sealed": "yellow", "changed": "red"}


def verify(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="The ids of runs.", show_default=False)],
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Check the seals of runs. Exit with 1 unless all are valid."""
    with open_client(settings_of(database_url=database), url) as client:
        found = [client.ask(calls.verify(run)) for run in runs]
    if as_json:
        print_json(found)
    else:
        for one in found:
            out.print(_line(one))
    if any(one["status"] != "valid" for one in found):
        raise typer.Exit(1)


def _line(one: Document) -> str:
    word = plain(one["status"].replace("_", " "))
    line = f"[bold]{plain(one['run_id'])}[/]  [{_COLOURS.get(one['status'], 'white')}]{word}[/]"
    if one["reason"]:
        line += f"  {plain(one['reason'])}"
    if one["first"] is not None:
        last = one["last"]
        line += f", at entry {one['first']}" + ("" if last in (None, one["first"]) else f" to {last}")
    return line


def add_to(app: typer.Typer) -> None:
    app.command()(verify)
