"""`detent dead-letters list|show|requeue|purge`: what Detent gave up."""

from __future__ import annotations

import json
from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.options import Database, Json, Url, Yes, settings_of, wrong
from detent.cli.output.terminal import (
    Column,
    ago,
    confirm,
    err,
    facts,
    faint,
    local_and_ago,
    one_line,
    out,
    plain,
    print_json,
    show_table,
)
from detent.client import dead_letters

_COLUMNS: Final = (
    Column("letter"),
    Column("about"),
    Column("workflow", may_shrink=True),
    Column("state"),
    Column("written", may_shrink=True),
    Column("reason", may_shrink=True),
    Column("what", may_shrink=True),
)
_MOST_REFUSED: Final = 5

Kind = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help="Only those about a step, run, firing or event.")
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="CODE", help="Only those with this reason.")]
Workflow = Annotated[str | None, typer.Option("--workflow", metavar="WORKFLOW", help="Only those of this workflow.")]
OfRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only those of this run.")]
Letters = Annotated[list[str] | None, typer.Argument(metavar="LETTER...", help="The ids of dead letters, dlt_...")]
Everything = Annotated[bool, typer.Option("--all", help="All of them.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count those that match.")]


def list_letters(
    kind: Kind = None,
    reason: Reason = None,
    state: Annotated[str | None, typer.Option("--state", metavar="STATE", help="Only open or requeued.")] = None,
    workflow: Workflow = None,
    run: OfRun = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 20,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the latest dead letters."""
    which = _given(kind=kind, reason=reason, state=state, workflow=workflow, run=run)
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(islice(client.each(dead_letters.list_all(limit=min(limit, 100), **which)), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no dead letters")


def show_letter(
    letter: Annotated[str, typer.Argument(help="The id of a dead letter, dlt_...")],
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show a dead letter with its payload."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(dead_letters.get(letter))
    if as_json:
        print_json(found)
        return
    out.print(f"[bold]{found['reason']}[/]  {plain(found['message'])}")
    facts(
        [
            ("letter", found["id"]),
            ("state", _state(found)),
            ("about", _about(found)),
            ("workflow", plain(found["workflow"])),
            ("trigger", found["trigger_id"]),
            ("written", local_and_ago(found["written_at"])),
            ("attempts", str(found["attempts"])),
            ("last error", plain(found["last_error"] or "")),
            ("payload", plain(json.dumps(found["payload"], ensure_ascii=False))),
        ]
    )


def requeue_letters(
    letters: Letters = None,
    kind: Kind = None,
    reason: Reason = None,
    workflow: Workflow = None,
    run: OfRun = None,
    everything: Everything = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Try again what was given up: these dead letters, or those that match."""
    which = _given(kind=kind, reason=reason, workflow=workflow, run=run)
    with open_client(settings_of(database_url=database), url) as client:
        _change(client, "requeue", letters, which, everything=everything, dry_run=dry_run, yes=yes, as_json=as_json)


def purge_letters(
    letters: Letters = None,
    kind: Kind = None,
    reason: Reason = None,
    state: Annotated[str | None, typer.Option("--state", metavar="STATE", help="Only open or requeued.")] = None,
    workflow: Workflow = None,
    run: OfRun = None,
    everything: Everything = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Delete dead letters: these, or those that match. Their runs and firings stay."""
    which = _given(kind=kind, reason=reason, state=state, workflow=workflow, run=run)
    with open_client(settings_of(database_url=database), url) as client:
        _change(client, "purge", letters, which, everything=everything, dry_run=dry_run, yes=yes, as_json=as_json)


def _given(**which: str | None) -> Any:
    return {name: value for name, value in which.items() if value is not None}


def _change(
    client: CommandClient,
    action: str,
    letters: list[str] | None,
    which: Any,
    *,
    everything: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Requeue or purge dead letters by their ids, or by a filter after counting them."""
    if letters:
        if which or everything or dry_run:
            raise wrong("LETTER", "cannot be combined with a filter, --all or --dry-run")
        call = dead_letters.requeue if action == "requeue" else dead_letters.purge
        done = [client.ask(call(letter)) for letter in letters]
        print_json(done) if as_json else show_table(_COLUMNS, map(_row, done), nothing="")
        return
    if not which and not everything:
        raise wrong("LETTER", "is missing; name dead letters, a filter such as --kind step, or --all")
    counted = client.ask(dead_letters.bulk(action, everything=everything, **which))
    if dry_run or not counted["matched"]:
        print_json(counted) if as_json else out.print(f"{counted['matched']:,} match")
        return
    count = counted["matched"]
    confirm(f"{action.capitalize()} {count:,} dead letter{'' if count == 1 else 's'}?", yes=yes)
    result = client.ask(dead_letters.bulk(action, dry_run=False, everything=everything, **which))
    if as_json:
        print_json(result)
    else:
        out.print(f"[green]{result['done']:,}[/] {action}d, {len(result['refused']):,} refused")
        for one in result["refused"][:_MOST_REFUSED]:
            err.print(f"{one['id']}: {plain(one['message'])}")
    if result["refused"]:
        raise typer.Exit(1)


def _row(letter: Document) -> list[str | Text]:
    return [
        letter["id"],
        Text(_about(letter)),
        Text(letter["workflow"]),
        _state(letter),
        faint(ago(letter["written_at"])),
        Text(letter["reason"]),
        Text(one_line(letter["message"])),
    ]


def _about(letter: Document) -> str:
    """Return what a dead letter is about, in a few words."""
    if letter["kind"] == "step":
        return f"step {letter['step']} of {letter['run_id']}"
    return f"{letter['kind']} {letter['run_id'] or letter['firing_id'] or ''}".strip()


def _state(letter: Document) -> str:
    return "[yellow]open[/]" if letter["state"] == "open" else f"[green]requeued[/] {letter['result'] or ''}".strip()


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_letters)
    app.command("show")(show_letter)
    app.command("requeue")(requeue_letters)
    app.command("purge")(purge_letters)
