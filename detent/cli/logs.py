"""`detent logs RUN`: the journal of a run."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.text import Text

from detent.cli.doors import LONG_PATIENCE, PATIENCE, Document, Door, open_door
from detent.cli.journal_lines import Line, drawn, lines_of
from detent.cli.options import Database, Url, settings_of
from detent.cli.terminal import err, out
from detent.client import runs
from detent.client.documents import ENDED


def logs(
    run: Annotated[str, typer.Argument(help="The id of a run, run_...")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
    since: Annotated[int, typer.Option("--since", metavar="SEQ", min=0, help="Only what came after this entry.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Each entry as the API has it, one on a line.")] = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """What happened in a run, line by line: when, which step, what, how long it took, and what went wrong.

    With -f it follows the run until it ends, also when the server is started anew meanwhile."""
    with open_door(settings_of(database_url=database), url, patience=LONG_PATIENCE if follow else PATIENCE) as door:
        document = door.ask(runs.get(run))
        if follow and document["status"] not in ENDED:
            door.need_engine("to follow a run")
        try:
            _tell(door, document, since, follow=follow, as_json=as_json)
        except KeyboardInterrupt:
            err.print("the run goes on without you")
            raise typer.Exit(130) from None


def _tell(door: Door, document: Document, since: int, *, follow: bool, as_json: bool) -> None:
    width = max(map(len, document["tasks"]), default=0)
    begun = document["started_at"] or document["start_at"]
    if not as_json and not since and begun:
        words = "is to begin" if document["start_at"] else f"run of {document['workflow']} begins"
        _print(drawn(Line(begun, "", "running", words), width))
    for entries in door.entries(document["id"], since, wait=follow):
        for entry in entries:
            if as_json:
                print(json.dumps(entry, ensure_ascii=False), flush=True)
                continue
            for line in lines_of(entry):
                _print(drawn(line, width))


def _print(text: Text) -> None:
    out.print(text)
    out.file.flush()


def add_to(app: typer.Typer) -> None:
    app.command()(logs)
