"""`detent runs rerun|fork|resolve`"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from msgspec import UNSET

from detent.cli.doors import Door, open_door
from detent.cli.options import Database, Input, Json, Url, read_value, settings_of, wrong
from detent.cli.runs_looking import Run
from detent.cli.terminal import marked, out, print_json, warn
from detent.client import runs
from detent.client.calls import Call

Step = Annotated[str, typer.Option("--step", metavar="STEP", help="The step to begin again at.")]
Output = Annotated[
    str | None, typer.Option("--output", metavar="JSON", help="What the step gave: JSON, @file.json or -.")
]


def rerun_run(
    run: Run, input_: Input = None, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Run the workflow again from the beginning, in its current version, with the same input or another."""
    call = runs.rerun(run, UNSET if input_ is None else read_value(input_, "--input"))
    with open_door(settings_of(database_url=database), url) as door:
        _made(door, call, as_json=as_json)


def fork_run(
    run: Run, step: Step, output: Output = None, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Begin again at a step, as a new run: what does not depend on it is kept. With --output the step is not run."""
    call = runs.fork(run, step, output=UNSET if output is None else read_value(output, "--output"))
    with open_door(settings_of(database_url=database), url) as door:
        _made(door, call, as_json=as_json)


def resolve_step(
    run: Run,
    step: Annotated[str, typer.Argument(help="The step of which nobody knows whether it happened.")],
    happened: Annotated[
        bool | None, typer.Option("--happened/--did-not-happen", help="Whether it did its work.")
    ] = None,
    output: Output = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Say whether a step happened whose node died during it. The run goes on when that is known of all its steps."""
    if happened is None:
        raise wrong("--happened", "say --happened or --did-not-happen")
    if output is not None and not happened:
        raise wrong("--output", "is only for a step that happened")
    said = UNSET if output is None else read_value(output, "--output")
    with open_door(settings_of(database_url=database), url) as door:
        document = door.ask(runs.resolve(run, step, happened=happened, output=said))
        if as_json:
            print_json(document)
        else:
            waiting = " (its node has not got to it yet)" if document.get("resolve_requested") else ""
            out.print(f"{marked(document['status'])}{waiting}")


def _made(door: Door, call: Call[Any], *, as_json: bool) -> None:
    document = door.ask(call)
    if as_json:
        print_json(document)
    else:
        out.print(document.get("id") or document["run_id"])
    if door.has_no_engine:
        warn("no engine is running on this database; the run begins when one does")


def add_to(app: typer.Typer) -> None:
    app.command("rerun")(rerun_run)
    app.command("fork")(fork_run)
    app.command("resolve")(resolve_step)
