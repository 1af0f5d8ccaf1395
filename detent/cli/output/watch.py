"""Show a run on the terminal until it has ended, on whatever node it runs."""

from __future__ import annotations

import json
import time
from typing import Any, Final

import typer

from detent.cli.client import CommandClient, Document
from detent.cli.output.progress import ENDED as STEP_ENDED
from detent.cli.output.progress import LineView, LiveView, View, instant, last_error, user_traceback
from detent.cli.output.terminal import duration, err, marked, out, plain, print_json
from detent.client import runs, workflows
from detent.clock import SystemClock
from detent.documents.runs import ENDED
from detent.errors import DetentError
from detent.forms.compile import compile_document
from detent.forms.definition import read_definition
from detent.graph.draw import outline
from detent.instant import SECOND

_LONGEST_OUTPUT: Final = 2_000
#: Seconds between two looks at how far the steps in flight are.
_LOOK: Final = 2.0


def watch(client: CommandClient, run: str, *, seconds: float | None, as_json: bool) -> None:
    """Show a run until it has ended or the time is over. Exit with code 0 if it completed, 1 if it ended otherwise.
    Raise DetentError if it has not ended."""
    client.need_engine("to wait for a run")
    document = client.ask(runs.get(run))
    try:
        document = _follow(client, document, seconds, quiet=as_json)
    except KeyboardInterrupt:
        err.print(f"the run goes on; `detent runs wait {run}` shows it again")
        raise typer.Exit(130) from None
    if as_json:
        print_json(document)
    elif document["status"] in ENDED:
        print_end(document)
    if document["status"] not in ENDED:
        raise DetentError(
            f"the run is still {document['status']}; it goes on, and `detent runs wait {run}` waits again"
        )
    raise typer.Exit(0 if document["status"] == "completed" else 1)


def _follow(client: CommandClient, document: Document, seconds: float | None, *, quiet: bool) -> Document:
    run, until = document["id"], None if seconds is None else time.monotonic() + seconds
    view = _Nothing() if quiet else _view(client, document)
    try:
        view.show(document)
        if document["start_at"]:
            view.note(f"it starts at {document['start_at']}")
        for _ in client.entries(run, wait=True, until=until, longest=_LOOK):
            document = client.ask(runs.get(run))
            view.show(document)
            if document["status"] in ENDED:
                break
    finally:
        view.close()
    return document


def print_end(document: Document) -> None:
    """Print the status, the duration and the result of a run that has ended."""
    begun, ended = document["started_at"], document["finished_at"]
    took = duration(max(0, instant(ended) - instant(begun)) / SECOND) if begun and ended else "0 ms"
    out.print(f"\n{marked(document['status'])} [bright_black]in {took}[/]")
    print_result(document)
    print_tracebacks(document)


def print_tracebacks(document: Document) -> None:
    """Print the traceback of each step that ended by an exception: failed, skipped or with the run cancelled."""
    for name, step in document["tasks"].items():
        found = user_traceback(last_error(step))
        if found and step["status"] in STEP_ENDED:
            out.print(f"\n[bold]{plain(name)}[/]")
            out.print(plain(found), style="bright_black")


def print_result(document: Document) -> None:
    """Print the error and the output of a run, if there are any."""
    if document["error"]:
        out.print(plain(str(document["error"])), style="red")
    if document["output"] is not None:
        text = json.dumps(document["output"], indent=2, ensure_ascii=False)
        more = "…" if len(text) > _LONGEST_OUTPUT else ""
        out.print(f"[bright_black]output[/] {plain(text[:_LONGEST_OUTPUT])}{more}")


def step_lines(client: CommandClient, document: Document) -> list[tuple[str, str]]:
    """Return the steps of a run, each with its branches in the tree of the workflow. If the workflow has other steps
    now, return them without branches."""
    names = list(document["tasks"])
    try:
        definition = client.ask(workflows.get(document["workflow_id"]))["definition"]
        lines = outline(compile_document(read_definition(json.dumps(definition)), actions=None).graph)
    except DetentError:
        return [(name, "") for name in names]
    return lines if {name for name, _ in lines} == set(names) else [(name, "") for name in names]


def _view(client: CommandClient, document: Document) -> View:
    wall = SystemClock().wall
    return LiveView(out, step_lines(client, document), wall, ticks=True) if out.is_terminal else LineView(out, wall)


class _Nothing:
    """A view that shows nothing, for `--json`."""

    def note(self, text: str) -> None:
        return None

    def show(self, document: dict[str, Any]) -> None:
        return None

    def close(self) -> None:
        return None
