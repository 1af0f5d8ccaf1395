"""`detent runs move`: move runs in flight to another version of their workflow."""

from __future__ import annotations

from typing import Annotated

import typer

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.options import Database, Json, Url, Yes, settings_of, wrong
from detent.cli.output.terminal import confirm, out, plain, print_json, warn
from detent.cli.run_filter import filtered
from detent.client import runs
from detent.client.runs import RunFilter

_MOST = 10_000
Runs = Annotated[list[str] | None, typer.Argument(metavar="RUN...", help="The ids of runs, run_...")]
To = Annotated[
    int | None, typer.Option("--to", metavar="VERSION", help="The version to move to; without it, the current one.")
]
Names = Annotated[
    list[str] | None,
    typer.Option("--rename", metavar="OLD=NEW", help="A step with another name there; repeatable."),
]
AllMatching = Annotated[
    bool, typer.Option("--all-matching", help="Every open run that matches the filter. They are checked first.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what can be moved, and why the rest cannot.")]


@filtered
def move_runs(
    which: RunFilter,
    run: Runs = None,
    to: To = None,
    rename: Names = None,
    all_matching: AllMatching = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Move runs in flight to another version. What has ended stays as it is; active steps keep attempts and times."""
    if bool(run) == bool(which or all_matching):
        raise wrong("RUN", "give ids of runs, or --workflow with --all-matching")
    if not run and not (all_matching and "workflow" in which):
        raise wrong("--all-matching", "is required with a filter, and --workflow says which workflow")
    names = _names(rename)
    with open_client(settings_of(database_url=database), url) as client:
        if run:
            _each(client, run, to, names, dry_run=dry_run, as_json=as_json)
        else:
            _all(client, which, to, names, dry_run=dry_run, yes=yes, as_json=as_json)
        if client.has_no_engine and not dry_run:
            warn("no engine is running on this database; it is applied when one starts")


def _names(rename: list[str] | None) -> dict[str, str]:
    names = {}
    for text in rename or ():
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise wrong("--rename", f"{text!r} is not OLD=NEW")
        names[old] = new
    return names


def _each(
    client: CommandClient, ids: list[str], to: int | None, names: dict[str, str], *, dry_run: bool, as_json: bool
) -> None:
    done = []
    for id_ in ids:
        document = client.ask(runs.move(id_, to, names=names, dry_run=dry_run))
        done.append(document)
        if not as_json:
            out.print(_line(document))
    if as_json:
        print_json(done[0] if len(done) == 1 else done)


def _line(document: Document) -> str:
    versions = f"version {document['was']} to {document['version']}"
    begins = f", begins {plain(', '.join(document['begins']))}" if document["begins"] else ""
    if not document["movable"]:
        reasons = "; ".join(reason["message"] for reason in document["reasons"])
        return f"[red]cannot move[/] {document['run_id']}, {versions}: {plain(reasons)}"
    if document["dry_run"]:
        return f"[green]can move[/] {document['run_id']}, {versions}{begins}"
    waiting = " (requested, not applied yet)" if document["requested"] else ""
    return f"[green]moved[/] {document['run_id']}, {versions}{begins}{waiting}"


def _all(
    client: CommandClient,
    which: RunFilter,
    to: int | None,
    names: dict[str, str],
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    counted = client.ask(runs.move_all(which, to, names=names, dry_run=True, limit=_MOST))
    if as_json and (dry_run or not counted["movable"]):
        print_json(counted)
        return
    if not as_json:
        print_groups(counted["groups"])
    movable = counted["movable"]
    if dry_run or not movable:
        out.print(f"{movable:,} of {counted['matched']:,} runs can be moved to version {counted['version']}")
        return
    confirm(f"Move {movable:,} of {counted['matched']:,} runs to version {counted['version']}?", yes=yes)
    result = client.ask(runs.move_all(which, counted["version"], names=names, dry_run=False, limit=_MOST))
    if as_json:
        print_json(result)
        return
    out.print(f"[green]sent[/]: {result['sent']:,} of {result['matched']:,}")
    if result["more"]:
        out.print("there are more runs; run the command again for the rest")


def print_groups(groups: list[Document]) -> None:
    """Print one line per group of runs, and one per reason."""
    for group in groups:
        word = "[green]can move[/]" if group["movable"] else "[red]cannot move[/]"
        at = f" at {plain(', '.join(group['at']))}" if group["at"] else ""
        begins = f", begins {plain(', '.join(group['begins']))}" if group["begins"] else ""
        out.print(f"{group['runs']:>6,} {word}  version {group['was']}{at}{begins}")
        for reason in group["reasons"]:
            out.print(f"         [bright_black]{plain(reason['message'])}[/]")
        if not group["movable"]:
            out.print(f"         [bright_black]for example {group['examples'][0]}[/]")
