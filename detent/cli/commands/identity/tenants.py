"""`detent tenants create|list|show|suspend|resume|export|delete`: the tenants of an installation."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, Yes, settings_of
from detent.cli.output.terminal import Column, ago, confirm, faint, out, print_json, show_table
from detent.client.identity import tenants

_COLUMNS: Final = (Column("tenant"), Column("status"), Column("created"))
Name = Annotated[str, typer.Argument(help="The name of a tenant.")]


def create_tenant(name: Name, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Create a tenant. Then make its first key: detent keys create NAME --role admin --tenant TENANT."""
    _change(tenants.create(name), "created", as_json, url, database)


def list_tenants(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 100,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the tenants."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(islice(client.each(tenants.list_all(limit=min(limit, 100))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no tenants")


def show_tenant(name: Name, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show a tenant."""
    _change(tenants.get(name), "tenant", as_json, url, database)


def suspend_tenant(name: Name, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Refuse every request of a tenant, and let none of its triggers fire."""
    _change(tenants.suspend(name), "suspended", as_json, url, database)


def resume_tenant(name: Name, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let a suspended tenant go on."""
    _change(tenants.resume(name), "resumed", as_json, url, database)


def export_tenant(name: Name, url: Url = None, database: Database = None) -> None:
    """Print everything that a tenant has as JSON lines, without hashes and sealed values."""
    with open_client(settings_of(database_url=database), url) as client:
        sys.stdout.write(client.ask(tenants.export(name)))


def delete_tenant(
    name: Name, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete a suspended tenant with everything it has. Nothing brings it back."""
    confirm(f"Delete the tenant {name} with all of its workflows, runs, secrets and keys?", yes=yes)
    with open_client(settings_of(database_url=database), url) as client:
        done = client.ask(tenants.delete(name, confirm=name))
    if as_json:
        print_json(done)
        return
    out.print(f"deleted  {done['name']}  {done['deleted']} rows")


def _change(call: Any, word: str, as_json: bool, url: str | None, database: str | None) -> None:
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        found = client.ask(call)
    if as_json:
        print_json(found)
        return
    out.print(f"{word}  {found['name']}  {found['status']}")


def _row(tenant: Document) -> list[str | Text]:
    created = faint(ago(tenant["created_at"])) if tenant["created_at"] else faint("with the database")
    return [tenant["name"], tenant["status"], created]


def add_to(app: typer.Typer) -> None:
    app.command("create")(create_tenant)
    app.command("list")(list_tenants)
    app.command("show")(show_tenant)
    app.command("suspend")(suspend_tenant)
    app.command("resume")(resume_tenant)
    app.command("export")(export_tenant)
    app.command("delete")(delete_tenant)
