"""`detent audit list|export`: who changed what, and what was refused."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import msgspec
import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, read_moment, settings_of
from detent.cli.output.terminal import Column, ago, faint, one_line, plain, print_json, show_table
from detent.client import overviews
from detent.client.calls import Pages
from detent.documents.people import AuditDocument

_COLUMNS: Final = (
    *(Column("when"), Column("actor", may_shrink=True), Column("action"), Column("object", may_shrink=True)),
    *(Column("outcome"), Column("reason", may_shrink=True), Column("address")),
)
_OUTCOMES: Final = {"done": "green", "refused": "yellow", "failed": "red"}
_USUAL: Final = 50
#: Rows of one answer of the API, at most.
_PAGE: Final = 200
Actor = Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Only what this caller did.")]
Action = Annotated[str | None, typer.Option("--action", metavar="OPERATION", help="Only this operation: cancel_run.")]
Kind = Annotated[str | None, typer.Option("--kind", metavar="KIND", help="Only objects of this kind: run, workflow.")]
Object = Annotated[str | None, typer.Option("--object", metavar="ID", help="Only this object, as it was named.")]
Outcome = Annotated[str | None, typer.Option("--outcome", metavar="WORD", help="done, refused or failed.")]
Since = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Only from then on, such as 1d.")]
Until = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only before then.")]
AllTenants = Annotated[bool, typer.Option("--all-tenants", help="Of every tenant; needs the scope tenants:manage.")]


def list_rows(
    actor: Actor = None,
    action: Action = None,
    kind: Kind = None,
    object_: Object = None,
    outcome: Outcome = None,
    since: Since = None,
    until: Until = None,
    all_tenants: AllTenants = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many rows.")] = _USUAL,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the last changes and refusals."""
    call = _asked(actor, action, kind, object_, outcome, since, until, all_tenants=all_tenants, limit=min(limit, _PAGE))
    with open_client(settings_of(database_url=database), url) as client:
        rows = [row for row, _ in zip(client.each(call), range(limit), strict=False)]
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="nothing was changed or refused")


def export_rows(
    actor: Actor = None,
    action: Action = None,
    kind: Kind = None,
    object_: Object = None,
    outcome: Outcome = None,
    since: Since = None,
    until: Until = None,
    all_tenants: AllTenants = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Print all rows as JSON lines."""
    call = _asked(actor, action, kind, object_, outcome, since, until, all_tenants=all_tenants, limit=_PAGE)
    with open_client(settings_of(database_url=database), url) as client:
        for row in client.each(call):
            sys.stdout.write(msgspec.json.encode(row).decode() + "\n")


def _asked(
    actor: str | None,
    action: str | None,
    kind: str | None,
    object_: str | None,
    outcome: str | None,
    since: str | None,
    until: str | None,
    *,
    all_tenants: bool,
    limit: int,
) -> Pages[AuditDocument]:
    return overviews.audit(
        actor=actor,
        action=action,
        kind=kind,
        object=object_,
        outcome=outcome,
        since=None if since is None else read_moment(since, "--from", ago=True).isoformat(),
        until=None if until is None else read_moment(until, "--to", ago=True).isoformat(),
        all_tenants=all_tenants,
        limit=limit,
    )


def _row(row: Document) -> list[str | Text]:
    colour = _OUTCOMES.get(row["outcome"], "white")
    return [
        ago(row["at"]),
        f"[bold]{plain(row['actor'])}[/]",
        plain(row["action"]),
        Text(one_line(row["object"] or "")),
        f"[{colour}]{plain(row['outcome'])}[/]",
        faint(one_line(row["reason"] or "")),
        faint(row["address"] or ""),
    ]


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_rows)
    app.command("export")(export_rows)
