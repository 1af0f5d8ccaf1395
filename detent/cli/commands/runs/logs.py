"""`detent logs RUN`: print the journal of a run."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from detent.cli.client import LONG_PATIENCE, PATIENCE, CommandClient, Document, open_client
from detent.cli.options import Database, Url, settings_of
from detent.cli.output.journal import JournalLine, day, drawn, lines_of
from detent.cli.output.terminal import err, out
from detent.client import runs
from detent.clock import SystemClock
from detent.documents.runs import ENDED
from detent.instant import iso


def logs(
    run: Annotated[str, typer.Argument(help="The id of a run, run_...")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
    since: Annotated[int, typer.Option("--since", metavar="SEQ", min=0, help="Only what came after this entry.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Each entry as the API has it, one on a line.")] = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show what happened in a run, line by line: time, step, event, duration and error.

    With -f it follows the run until it ends, also over a restart of the server."""
    with open_client(settings_of(database_url=database), url, patience=LONG_PATIENCE if follow else PATIENCE) as client:
        document = client.ask(runs.get(run))
        if follow and document["status"] not in ENDED:
            client.need_engine("to follow a run")
        try:
            _print_entries(client, document, since, follow=follow, as_json=as_json)
        except KeyboardInterrupt:
            err.print("the run goes on")
            raise typer.Exit(130) from None


def _print_entries(client: CommandClient, document: Document, since: int, *, follow: bool, as_json: bool) -> None:
    paper = _Paper(max(map(len, document["tasks"]), default=0))
    begun = document["started_at"] or document["start_at"]
    if not as_json and not since and begun:
        words = "run is to begin" if document["start_at"] else f"run of {document['workflow']} begins"
        paper.write(JournalLine(begun, "", "running", words))
    for entries in client.entries(document["id"], since, wait=follow):
        for entry in entries:
            if as_json:
                print(json.dumps(entry, ensure_ascii=False), flush=True)
                continue
            for line in lines_of(entry):
                paper.write(line)


class _Paper:
    """Prints journal lines, and the date before the first line of another day. It owns the last printed date."""

    def __init__(self, width: int) -> None:
        self._width, self._day = width, day(iso(SystemClock().wall()))

    def write(self, line: JournalLine) -> None:
        if day(line.at) != self._day:
            self._day = day(line.at)
            out.print(self._day, style="bright_black")
        out.print(drawn(line, self._width))
        out.file.flush()


def add_to(app: typer.Typer) -> None:
    app.command()(logs)
