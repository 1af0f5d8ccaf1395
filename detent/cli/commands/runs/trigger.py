"""`detent trigger NAME`"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import typer

from detent.cli.client import LONG_PATIENCE, PATIENCE, open_client
from detent.cli.options import (
    Database,
    Hero,
    Imports,
    Input,
    Json,
    Labels,
    Url,
    read_input,
    read_labels,
    read_moment,
    read_seconds,
    read_version,
    settings_of,
)
from detent.cli.output.terminal import out, print_json, warn
from detent.cli.output.watch import watch
from detent.client import runs
from detent.errors import InvalidInput
from detent.values.durations import parse_duration

_FOR_EVER: Final = "forever"
#: `--wait` without a value waits until the run has ended.
BARE: Final = {"--wait": _FOR_EVER}

RequestId = Annotated[
    str | None, typer.Option("--request-id", metavar="ID", help="A repeated id returns the run that it started first.")
]
At = Annotated[str | None, typer.Option("--at", metavar="TIME", help="Begin then: 2026-02-22T10:00, or 10m from now.")]
AllowMultiple = Annotated[bool, typer.Option("--allow-multiple", help="Start it beside an active run of that hero.")]
Version = Annotated[
    str | None, typer.Option("--version", metavar="N|draft", help="Run this version, whichever is current.")
]
Wait = Annotated[
    str | None,
    typer.Option(
        "--wait", metavar="[SECONDS]", help="Watch the run until it ends, or for so long. Exit code 0 if it completed."
    ),
]


def trigger(
    workflow: Annotated[str, typer.Argument(help="The name or id of a saved workflow.")],
    input_: Input = None,
    request_id: RequestId = None,
    at: At = None,
    wait: Wait = None,
    label: Labels = None,
    hero: Hero = None,
    allow_multiple: AllowMultiple = False,
    version: Version = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Start a run of a saved workflow and print its id."""
    settings = settings_of(database_url=database, **{"import": imports})
    seconds = math.inf if wait == _FOR_EVER else None if wait is None else read_seconds(wait, "--wait")
    call = runs.start(
        workflow,
        read_input(input_),
        request_id=request_id,
        start_at=None if at is None else _start(at),
        labels=read_labels(label),
        hero=hero,
        allow_multiple=allow_multiple or None,
        version=None if version is None else read_version(version, "--version"),
    )
    with open_client(settings, url, patience=PATIENCE if seconds is None else LONG_PATIENCE) as client:
        if seconds is not None:
            client.need_engine("to wait for a run")
        started = client.ask(call)
        if seconds is not None:
            _print_started(started, quiet=as_json)
            watch(client, started["run_id"], seconds=seconds, as_json=as_json)
        elif as_json:
            print_json(started)
        else:
            out.print(started["run_id"])
        if client.has_no_engine:
            warn("no engine is running on this database; the run begins when one does")


def _start(text: str) -> datetime | timedelta:
    """Read `--at`. A time from now is sent as a duration, so that it counts from when the server accepts the run."""
    try:
        return timedelta(seconds=parse_duration(text))
    except InvalidInput:
        return read_moment(text, "--at", ago=False)


def _print_started(started: dict[str, Any], *, quiet: bool) -> None:
    if not quiet:
        out.print(started["run_id"], style="bright_black")


def add_to(app: typer.Typer) -> None:
    app.command()(trigger)
