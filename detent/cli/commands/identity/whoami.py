"""`detent whoami`: as what a server knows this caller, and what it may do."""

from __future__ import annotations

import typer

from detent.cli.client import open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import one_line, out, plain, print_json
from detent.client.overviews import me


def whoami(as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show as what the server knows the caller: its name, its tenant, and what it may do until when."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(me())
    if as_json:
        print_json(found)
        return
    caller = found["caller"]
    out.print(f"[bold]{plain(one_line(caller['name']))}[/] of the tenant {plain(caller['tenant'])}")
    out.print(f"  may      {plain(found['role'] or ', '.join(found['scopes']) or 'nothing')}", soft_wrap=True)
    if found["workflows"] is not None:
        out.print(f"  starts   only {plain(', '.join(found['workflows']))}", soft_wrap=True)
    if found["expires_at"] is not None:
        out.print(f"  until    {plain(found['expires_at'])}")


def add_to(app: typer.Typer) -> None:
    app.command()(whoami)
