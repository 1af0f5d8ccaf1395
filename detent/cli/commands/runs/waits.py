"""`detent waits list|answer`: the inbox, and answers to it."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, read_input, settings_of, wrong
from detent.cli.output.terminal import Column, faint, local_and_ago, one_line, out, print_json, show_table, warn
from detent.client import runs

_COLUMNS: Final = (
    Column("run"),
    Column("step", may_shrink=True),
    Column("workflow", may_shrink=True),
    Column("asks", may_shrink=True),
    Column("until", may_shrink=True),
    Column("decided", may_shrink=True),
)
_STATES: Final = {
    "accepted": "accepted; the run goes on",
    "buffered": "stored until the step is reached",
    "counted": "counted; others have to approve too",
}


def list_waits(
    mine: Annotated[bool, typer.Option("--mine", help="Only those that you may decide.")] = False,
    workflow: Annotated[
        str | None, typer.Option("--workflow", metavar="WORKFLOW", help="Only of this workflow.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 50,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the waits that are active in all runs, the nearest deadline first."""
    call = runs.waits(workflow=workflow, mine=mine, limit=min(limit, 100))
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(islice(client.each(call), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="no run waits for an answer")


def _row(wait: Document) -> list[str | Text]:
    ask = wait.get("ask") or {}
    quorum = ask.get("quorum", 1)
    return [
        wait["run"]["id"],
        Text(wait["step"].removeprefix("@wait:")),
        Text(wait["run"]["workflow"]),
        Text(one_line(wait["question"] or wait["title"] or "")),
        faint("" if wait["until"] is None else local_and_ago(wait["until"])),
        faint(f"{len(ask['decisions'])} of {quorum}" if quorum > 1 else ""),
    ]


def answer_wait(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The id of the run, run_...")],
    step: Annotated[str, typer.Argument(metavar="STEP", help="The name of its wait.")],
    approve: Annotated[bool, typer.Option("--approve", help="Approve.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Reject.")] = False,
    comment: Annotated[str | None, typer.Option("--comment", metavar="TEXT", help="Why.")] = None,
    body: Annotated[
        str | None,
        typer.Option("--body", "-d", metavar="JSON", help="The answer: JSON, @file.json or - (standard input)."),
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Answer a wait of a run. `--approve` and `--reject` decide an approval, and `--body` is what its form asks."""
    sent: Any = None if body is None else read_input(body, "--body")
    if approve and reject:
        raise wrong("--reject", "an approval is approved or rejected, not both")
    if approve or reject:
        sent = {"approved": approve, **({} if body is None else {"answer": sent})}
        sent |= {} if comment is None else {"comment": comment}
    elif comment is not None:
        raise wrong("--comment", "a comment belongs to --approve or --reject")
    with open_client(settings_of(database_url=database), url) as client:
        receipt = client.ask(runs.answer(run, step, sent))
        if as_json:
            print_json(receipt)
        else:
            out.print(f"{step}: {_STATES.get(receipt['status'], receipt['status'])}")
        if client.has_no_engine:
            warn("no engine is running on this database; the run goes on when one starts")


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_waits)
    app.command("answer")(answer_wait)
