"""`detent tenants create|list|show|set|suspend|resume|export|delete`: the tenants of an installation."""

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
from detent.errors import InvalidInput

_COLUMNS: Final = (Column("tenant"), Column("status"), Column("created"))
_LIMITS: Final = ("actions", "egress", "retention_days")
_NONE: Final = "none"
_ROOT: Final = "default"
_AS_INSTALLED: Final = "as the installation says"
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
    """Show a tenant and what it may do."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        _show(client.ask(tenants.get(name)), "tenant", as_json)


def set_tenant(
    name: Name,
    allow: Annotated[
        list[str] | None, typer.Option(help="Allow billing.charge, slack.*, workflow:NAME, connection:NAME or *.")
    ] = None,
    forbid: Annotated[list[str] | None, typer.Option(help="Remove what was allowed.")] = None,
    egress: Annotated[
        list[str] | None, typer.Option(help="Let steps reach this host or network, and no others; 'none' for none.")
    ] = None,
    no_egress: Annotated[list[str] | None, typer.Option(help="Remove a host or network from that list.")] = None,
    retention_days: Annotated[
        int | None, typer.Option(help="Store ended runs for so many days, whatever the installation says.")
    ] = None,
    default: Annotated[
        list[str] | None, typer.Option(help="Restore the default: of actions, egress or retention_days.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Change what a tenant may do. Nodes count with it within two seconds."""
    reset = [word.replace("-", "_") for word in default or ()]
    unknown = [word for word in reset if word not in _LIMITS]
    if unknown:
        raise InvalidInput(f"--default {unknown[0]!r} is not one of {', '.join(_LIMITS)}")
    changes: dict[str, Any] = dict.fromkeys(reset)
    if egress == [_NONE]:
        changes["egress"] = []
    if retention_days is not None:
        changes["retention_days"] = retention_days
    added = [one for one in egress or () if one != _NONE]
    entries = {"add_actions": allow, "remove_actions": forbid, "add_egress": added, "remove_egress": no_egress}
    changes |= {field: words for field, words in entries.items() if words}
    if not changes:
        raise InvalidInput("nothing to set; write --allow, --forbid, --egress, --no-egress, --retention-days")
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        _show(client.ask(tenants.change(name, **changes)), "changed", as_json)


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


def _show(found: Document, word: str, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    out.print(f"{word}  {found['name']}  {found['status']}", markup=False)
    usual = "everything" if found["name"] == _ROOT else "core actions, http and its own connectors"
    actions, hosts, days = found["actions"], found["egress"], found["retention_days"]
    more = "core actions, http, its own connectors, " + ", ".join(actions or ())
    out.print(f"actions    {usual if actions is None else more.rstrip(', ')}", markup=False)
    out.print(f"egress     {_AS_INSTALLED if hosts is None else ', '.join(hosts) or 'nothing'}", markup=False)
    out.print(f"retention  {_AS_INSTALLED if days is None else f'{days} days'}", markup=False)


def _row(tenant: Document) -> list[str | Text]:
    created = faint(ago(tenant["created_at"])) if tenant["created_at"] else faint("with the database")
    return [tenant["name"], tenant["status"], created]


def add_to(app: typer.Typer) -> None:
    app.command("create")(create_tenant)
    app.command("list")(list_tenants)
    app.command("show")(show_tenant)
    app.command("set")(set_tenant)
    app.command("suspend")(suspend_tenant)
    app.command("resume")(resume_tenant)
    app.command("export")(export_tenant)
    app.command("delete")(delete_tenant)
