"""`detent plan DIR`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.folder import Folder, FolderId, Values, need_id, read_folder, showing
from detent.cli.options import Database, Imports, Json, Url, settings_of
from detent.cli.output.terminal import err, out, plain, print_json, say_error, warn
from detent.client import workflows
from detent.errors import DetentError, InvalidInput, Problem
from detent.values.folders import LABEL, label_of

Dir = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of workflow files.")]
_BATCH: Final = 50
_BATCH_BYTES: Final = 2_000_000
_COLOURS: Final = {"create": "green", "change": "yellow", "archive": "red"}
#: The exit code that means: there is something to do.
SOMETHING: Final = 2


def plan(
    folder: Dir,
    prune: Annotated[bool, typer.Option("--prune", help="Also say what `apply --prune` would archive.")] = False,
    values: Values = None,
    folder_id: FolderId = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Say what `detent apply DIR` would create, change and archive. Nothing is changed.

    Exit code 0 if there is nothing to do, 2 if there is something, 1 if a file is not valid."""
    settings = settings_of(database_url=database, **{"import": imports})
    try:
        read = read_folder(folder, id_=folder_id, values=values)
        if prune:
            need_id(read, "--prune")
        with open_client(settings, url, makes_database=True) as client:
            changes = planned(client, read, prune=prune)
    except InvalidInput as error:
        say_error(error)
        raise typer.Exit(1) from None
    if as_json:
        print_json(changes)
    else:
        for change in changes:
            print_change(change)
        out.print(summary(changes))
    if any(change["change"] == "invalid" for change in changes):
        raise typer.Exit(1)
    if any(change["change"] != "unchanged" for change in changes):
        raise typer.Exit(SOMETHING)


def planned(client: CommandClient, folder: Folder, *, prune: bool) -> list[Document]:
    """Return what applying a folder would change: a document for each file, and for each workflow to archive."""
    found: list[Document] = []
    with showing(len(folder.files), "comparing") as advance:
        for batch in _batches(folder):
            found += client.ask(workflows.plan(batch, folder=folder.id))
            advance(len(batch))
    if prune:
        found += _to_archive(client, folder)
    return found


def _batches(folder: Folder) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for file in folder.files:
        if batch and (len(batch) == _BATCH or size + len(file.text) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((folder.shown(file), file.text))
        size += len(file.text)
    if batch:
        yield batch


def _to_archive(client: CommandClient, folder: Folder) -> Iterator[Document]:
    """Yield the workflows that the folder manages and has no file of any more."""
    kept = {file.name for file in folder.files}
    assert folder.id is not None
    for one in client.each(workflows.list_all(label=f"{LABEL}:{label_of(folder.id)}")):
        if one["name"] not in kept and one["status"] == "active":
            version = one["current_version"]
            yield {"name": one["name"], "form": one["form"], "change": "archive", "current_version": version}


def print_change(change: Document) -> None:
    """Print what would be done with a workflow, and what differs."""
    word, name = change["change"], plain(change["name"] or change["file"])
    if word == "unchanged":
        return
    if word == "invalid":
        err.print(f"[red]✗[/] {plain(change['file'])}")
        problems = [Problem(one["field"], one["message"]) for one in change["problems"]]
        say_error(InvalidInput(f"{change['name'] or 'it'} cannot be saved", problems))
        return
    place = f" [bright_black]{plain(change['file'])}[/]" if "file" in change else ""
    out.print(f"[{_COLOURS[word]}]{word:<8}[/] {name}{place}")
    for line in change.get("changes", ()):
        out.print(f"           {plain(line)}")
    for warning in change.get("warnings", ()):
        warn(warning)


def summary(changes: list[Document]) -> str:
    """Return how many workflows would be created, changed and archived."""
    counts = Counter(change["change"] for change in changes)
    words = [f"{counts[word]} to {word}" for word in _COLOURS if counts[word]]
    invalid = [f"{counts['invalid']} invalid"] if counts["invalid"] else []
    unchanged = f"{counts['unchanged']} unchanged"
    if not words and not invalid:
        return f"nothing to do: {unchanged}"
    return ", ".join([*words, *invalid, unchanged])


def refuse_invalid(changes: list[Document]) -> None:
    """Raise an error if a definition cannot be saved. Its problems are printed."""
    bad: list[Any] = [change for change in changes if change["change"] == "invalid"]
    for change in bad:
        print_change(change)
    if bad:
        raise DetentError(f"{len(bad)} of {len(changes)} workflows cannot be saved; nothing was changed")


def add_to(app: typer.Typer) -> None:
    app.command()(plan)
