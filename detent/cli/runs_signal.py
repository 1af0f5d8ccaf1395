"""`detent runs signal`"""

from __future__ import annotations

from typing import Annotated

import typer

from detent.cli.doors import open_door
from detent.cli.options import Database, Json, Url, read_value, settings_of, wrong
from detent.cli.terminal import out, plain, print_json, warn
from detent.client import runs


def signal_run(
    run: Annotated[str, typer.Argument(help="The id of the run, run_...")],
    name: Annotated[str, typer.Argument(help="The name that its function asks for.")],
    value: Annotated[
        str | None, typer.Argument(metavar="JSON", help="What the function gets, as --data; may be left out.")
    ] = None,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="What the function gets.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Send a signal to a run of a durable function. It is heard whether the function asks for it before or after."""
    if data is not None and value is not None:
        raise wrong("--data", "is given twice: leave out one of the two")
    text = value if data is None else data
    given = None if text is None else read_value(text, "--data")
    with open_door(settings_of(database_url=database), url) as door:
        document = door.ask(runs.signal(run, name, given))
        if as_json:
            print_json(document)
        else:
            out.print(f"sent {plain(name)}")
        if door.has_no_engine:
            warn("no engine is running on this database; the signal is heard when one does")


def add_to(app: typer.Typer) -> None:
    app.command("signal")(signal_run)
