"""`detent migrate`"""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.markup import escape

from detent.cli.options import Database, settings_of
from detent.cli.output.terminal import out
from detent.store.factory import migrate_store, newest_revision, stored_revision


def migrate(
    database: Database = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="REVISION", help="Up or down to this one; by default the newest.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Delete data that an older revision cannot store.")] = False,
) -> None:
    """Bring the tables of a database to this version of Detent, or to a revision."""
    settings = settings_of(database_url=database)
    url = settings.database_url
    before = asyncio.run(stored_revision(url))
    after = asyncio.run(migrate_store(url, to, force=force, row_security=settings.row_security))
    if not after:
        out.print("a store in memory has no tables")
        return
    change = f"is at revision {after} already" if before == after else f"went from {before or 'nothing'} to {after}"
    out.print(f"the database {escape(change)}")
    newest = newest_revision()
    if to is None and after < newest:
        out.print(f"migration {newest} waits until nodes of older code have ended: then run `detent migrate` again")


def add_to(app: typer.Typer) -> None:
    app.command()(migrate)
