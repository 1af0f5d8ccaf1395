"""`detent trigger NAME`"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from detent.cli.doors import LocalDoor, open_door
from detent.cli.options import Database, Imports, Input, Url, read_input, settings_of
from detent.cli.terminal import out, warn
from detent.settings import Settings
from detent.store.opening import scheme


def trigger(
    workflow: Annotated[str, typer.Argument(help="The name or id of a saved workflow.")],
    input_: Input = None,
    url: Url = None,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Start a run of a saved workflow and print its id."""
    settings = settings_of(database_url=database, **{"import": imports})
    asyncio.run(_trigger(settings, url, workflow, read_input(input_)))


async def _trigger(settings: Settings, url: str | None, workflow: str, body: Any) -> None:
    async with open_door(settings, url) as door:
        started = await door.start(workflow, body)
        out.print(started["run_id"])
        if isinstance(door, LocalDoor) and scheme(settings.database_url) == "sqlite":
            warn("no engine is running on this database; the run begins when one does")


def add_to(app: typer.Typer) -> None:
    app.command()(trigger)
