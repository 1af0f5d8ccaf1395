"""`detent runs skip|reattempt|finish`: past a step, or to the end."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from detent.authoring.durations import parse_duration
from detent.cli.doors import open_door
from detent.cli.options import Database, Json, Url, settings_of, wrong
from detent.cli.runs_looking import Run
from detent.cli.terminal import marked, out, print_json, warn
from detent.client import runs
from detent.client.calls import Call
from detent.errors import InvalidInput

Step = Annotated[
    str | None, typer.Option("--step", metavar="STEP", help="Which step; without it, the one the run is at.")
]
Wait = Annotated[str | None, typer.Option("--wait", metavar="TIME", help="How long to wait first: 30s, 10m, 2h.")]
_WAITING: Final = " (its node has not got to it yet)"


def skip_step(run: Run, step: Step = None, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Leave out a step: what it is doing is stopped, and the run goes on behind it, also if it was paused."""
    _steer(runs.skip(run, step), "skip", as_json=as_json, url=url, database=database)


def reattempt_step(
    run: Run,
    step: Step = None,
    wait: Wait = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Try a step again, in the same run: what it is doing is stopped. A run that was paused goes on."""
    call = runs.reattempt(run, step, wait=None if wait is None else _seconds(wait))
    _steer(call, "reattempt", as_json=as_json, url=url, database=database)


def finish_run(run: Run, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Say that a run is done: it is completed, and what has not run yet is skipped."""
    _steer(runs.finish(run), "finish", as_json=as_json, url=url, database=database)


def _seconds(text: str) -> float:
    try:
        return parse_duration(float(text) if text.replace(".", "", 1).isdecimal() else text)
    except InvalidInput as error:
        raise wrong("--wait", error.message) from error


def _steer(call: Call[Any], wish: str, *, as_json: bool, url: str | None, database: str | None) -> None:
    with open_door(settings_of(database_url=database), url) as door:
        document = door.ask(call)
        if as_json:
            print_json(document)
        else:
            out.print(f"{marked(document['status'])}{_WAITING if document.get(f'{wish}_requested') else ''}")
        if door.has_no_engine:
            warn("no engine is running on this database; it is done when one does")


def add_to(app: typer.Typer) -> None:
    app.command("skip")(skip_step)
    app.command("reattempt")(reattempt_step)
    app.command("finish")(finish_run)
