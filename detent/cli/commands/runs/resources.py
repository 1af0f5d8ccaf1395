"""`detent resources`: which run has a resource of another system."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import Column, ago, faint, one_line, print_json, show_table
from detent.client import runs

_COLUMNS: Final = (
    Column("system"),
    Column("type"),
    Column("id", may_shrink=True),
    Column("run"),
    Column("step", may_shrink=True),
    Column("linked", may_shrink=True),
    Column("url", may_shrink=True),
)


def list_resources(
    system: Annotated[str | None, typer.Argument(help="Only resources of this system, such as monday.")] = None,
    type_: Annotated[str | None, typer.Argument(metavar="TYPE", help="Only resources of this type.")] = None,
    id_: Annotated[str | None, typer.Argument(metavar="ID", help="The one with this id.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 50,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the resources of other systems that steps have linked, and the run that each belongs to."""
    call = runs.resources(system=system, type=type_, id=id_, limit=min(limit, 100))
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(islice(client.each(call), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no such resources")


def _row(resource: Document) -> list[str | Text]:
    return [
        Text(resource["system"]),
        Text(resource["type"]),
        Text(resource["id"]),
        resource["run_id"],
        Text(resource["step"]),
        faint(ago(resource["linked_at"])),
        faint(one_line(resource["url"])),
    ]


def add_to(app: typer.Typer) -> None:
    app.command()(list_resources)
