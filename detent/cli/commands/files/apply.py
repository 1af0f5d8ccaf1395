"""`detent apply FILE...` and `detent apply DIR`"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.commands.files.plan import planned, refuse_invalid
from detent.cli.folder import (
    Folder,
    FolderId,
    Values,
    need_id,
    read_folder,
    read_values,
    read_workflow_file,
    showing,
)
from detent.cli.options import Database, Imports, Url, settings_of, wrong
from detent.cli.output.terminal import marked, out, say_error, warn
from detent.cli.targets import compile_file, compile_text
from detent.client import workflows
from detent.client.calls import Call, bare, given, url_path
from detent.errors import DetentError, InvalidInput
from detent.forms.compile import is_live_at_save
from detent.forms.compiled import Compiled
from detent.graph.check import called_workflows
from detent.settings import Settings

Read = list[tuple[Path, bytes, Compiled]]


def apply(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...|DIR", help="Workflow files, YAML or JSON; or a folder.")
    ],
    draft: Annotated[bool, typer.Option("--draft", help="Save drafts; the current versions stay as they are.")] = False,
    publish: Annotated[bool, typer.Option("--publish", help="Publish what is saved as a draft.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Archive what the folder manages and has no file of any more.")
    ] = False,
    values: Values = None,
    folder_id: FolderId = None,
    url: Url = None,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Save workflow files: create new workflows, and new versions of those that differ.

    Sends them to the Detent at --url, or to the one that has the database. Opens the database itself if none is
    running. Nothing is saved if a file is not valid (exit code 2). A workflow is saved after those that it starts.
    What is applied is live. That is so for a graph too, which is published, unless --draft is given.

    Of a folder only what differs is saved, as `detent plan` says it. If the folder has an id, it manages its workflows:
    they are edited there only, and --prune archives those without a file."""
    settings = settings_of(database_url=database, **{"import": imports})
    if any(path.is_dir() for path in files):
        if len(files) > 1 or draft or publish:
            raise InvalidInput("a folder is applied alone, and without --draft and --publish")
        _apply_folder(read_folder(files[0], id_=folder_id, values=values), settings, url, prune=prune)
        return
    if prune or folder_id is not None:
        raise wrong("--prune" if prune else "--folder", "is for a folder; write `detent apply DIR`")
    read = _read_all(files, settings, values)
    with open_client(settings, url, makes_database=True) as client:
        for file, data, compiled in _children_first(read):
            try:
                _apply(client, file, data, compiled, draft=draft, publish=publish)
            except DetentError:
                out.print(f"{marked('failed', word=False)} {escape(str(file))}")
                raise


def _apply_folder(folder: Folder, settings: Settings, url: str | None, *, prune: bool) -> None:
    """Save what differs in a folder, children first. Then archive what it manages and has no file of any more."""
    if prune:
        need_id(folder, "--prune")
    with open_client(settings, url, makes_database=True) as client:
        changes = planned(client, folder, prune=prune)
        refuse_invalid(changes)
        todo = {change["name"]: change for change in changes if change["change"] in ("create", "change")}
        read = [
            (one.path, one.text.encode(), compile_text(one.text, one.path.name, settings))
            for one in folder.files
            if one.name in todo
        ]
        with showing(len(todo), "applying") as advance:
            for file, data, compiled in _children_first(read):
                try:
                    if todo[compiled.name].get("archived"):
                        client.ask(workflows.reactivate(compiled.name, folder=folder.id))
                    _apply(client, file, data, compiled, draft=False, publish=False, folder=folder.id)
                except DetentError:
                    out.print(f"{marked('failed', word=False)} {escape(str(file))}")
                    raise
                advance(1)
        for change in changes:
            if change["change"] == "archive":
                client.ask(workflows.archive(change["name"], folder=folder.id))
                out.print(f"[red]archived [/]  {escape(change['name'])}")
    count = Counter(change["change"] for change in changes)
    words = [("create", "created"), ("change", "changed"), ("archive", "archived"), ("unchanged", "unchanged")]
    out.print(
        ", ".join(f"{count[word]} {past}" for word, past in words if count[word]) or "there are no workflow files"
    )


def _apply(
    client: CommandClient,
    file: Path,
    data: bytes,
    compiled: Compiled,
    *,
    draft: bool,
    publish: bool,
    folder: str | None = None,
) -> None:
    document, change = _saved(client, compiled.name, data, file, draft=draft, folder=folder)
    if draft:
        _print_draft(client, document, publish=publish)
        return
    version = document["current_version"]
    if not is_live_at_save(compiled.form):
        made: Document = client.ask(workflows.publish(document["id"], folder=folder))
        word = "created" if made["version"] == 1 else "changed"
        version, change = made["version"], word if made["changed"] else "unchanged"
    colour = {"created": "green", "changed": "yellow"}.get(change, "bright_black")
    out.print(f"[{colour}]{change:<9}[/]  {escape(compiled.name)} [bright_black]version {version}[/]")
    for warning in dict.fromkeys((*compiled.warnings, *document.get("warnings", ()))):
        warn(warning)


def _children_first(read: Read) -> Read:
    """Return the files so that a workflow comes after those that it starts: a publish needs them."""
    named: dict[str, Read] = {}
    for one in read:
        named.setdefault(one[2].name, []).append(one)
    order: dict[str, None] = {}
    pending = [(name, False) for name in reversed(named)]
    seen: set[str] = set()
    while pending:
        name, is_done = pending.pop()
        if is_done:
            order[name] = None
        elif name not in seen:
            seen.add(name)
            pending.append((name, True))
            called = [child for _, _, compiled in named[name] for _, child, _ in called_workflows(compiled.graph)]
            pending.extend((child, False) for child in reversed(called) if child in named)
    return [one for name in order for one in named[name]]


def _read_all(files: list[Path], settings: Settings, values: Path | None) -> Read:
    known = None if values is None else read_values(values)
    read: Read = []
    for file in files:
        try:
            if known is None:
                read.append((file, *compile_file(file, settings, strict=False)))
            else:
                text = read_workflow_file(file, known, has_values=True).text
                read.append((file, text.encode(), compile_text(text, file.name, settings)))
        except InvalidInput as error:
            out.print(f"{marked('failed', word=False)} {escape(str(file))}")
            say_error(error)
    if len(read) != len(files):
        raise typer.Exit(2)
    return read


def _print_draft(client: CommandClient, document: Document, *, publish: bool) -> None:
    name = escape(document["name"])
    if publish:
        made: Document = client.ask(workflows.publish(document["id"]))
        word = "[green]published[/]" if made["changed"] else "[bright_black]unchanged[/]"
        out.print(f"{word}  {name} [bright_black]version {made['version']}[/]")
        return
    hint = f"revision {document['draft']['revision']}; `detent workflows publish {name}` makes it a version"
    out.print(f"[yellow]draft    [/]  {name} [bright_black]{hint}[/]")


def _saved(
    client: CommandClient, name: str, data: bytes, file: Path, *, draft: bool, folder: str | None
) -> tuple[Document, str]:
    """Save a workflow. Return its document, and `created`, `changed` or `unchanged`."""
    kind = "application/json" if file.suffix.lower() == ".json" else "application/yaml"
    query = given(draft=True if draft else None, folder=folder)
    where, headers = url_path("workflows", name), {"Content-Type": kind}
    call = Call("PUT", where, bare(dict), query=query, body=data, headers=headers)
    status, answer = client.answer(call)
    return answer["data"], "created" if status == 201 else "changed" if answer["changed"] else "unchanged"


def add_to(app: typer.Typer) -> None:
    app.command()(apply)
