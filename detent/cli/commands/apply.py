"""`detent apply FILE...`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.options import Database, Files, Imports, Url, settings_of
from detent.cli.output.terminal import marked, out, say_error, warn
from detent.cli.targets import compile_file
from detent.client import workflows
from detent.client.calls import Call, bare, url_path
from detent.errors import DetentError, InvalidInput
from detent.forms.compile import is_live_at_save
from detent.forms.compiled import Compiled
from detent.graph.check import called_workflows
from detent.settings import Settings

Read = list[tuple[Path, bytes, Compiled]]


def apply(
    files: Files,
    draft: Annotated[bool, typer.Option("--draft", help="Save drafts; the current versions stay as they are.")] = False,
    publish: Annotated[bool, typer.Option("--publish", help="Publish what is saved as a draft.")] = False,
    url: Url = None,
    database: Database = None,
    imports: Imports = None,
) -> None:
    """Save workflow files: create new workflows, and new versions of those that differ.

    Sends them to the Detent at --url, or to the one that has the database. Opens the database itself if none is
    running. Nothing is saved if a file is not valid (exit code 2). A workflow is saved after those that it starts.
    What is applied is live. That is so for a graph too, which is published, unless --draft is given."""
    settings = settings_of(database_url=database, **{"import": imports})
    read = _read_all(files, settings)
    with open_client(settings, url, makes_database=True) as client:
        for file, data, compiled in _children_first(read):
            try:
                _apply(client, file, data, compiled, draft=draft, publish=publish)
            except DetentError:
                out.print(f"{marked('failed', word=False)} {escape(str(file))}")
                raise


def _apply(client: CommandClient, file: Path, data: bytes, compiled: Compiled, *, draft: bool, publish: bool) -> None:
    document, change = _saved(client, compiled.name, data, file, draft=draft)
    if draft:
        _print_draft(client, document, publish=publish)
        return
    version = document["current_version"]
    if not is_live_at_save(compiled.form):
        made: Document = client.ask(workflows.publish(document["id"]))
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


def _read_all(files: list[Path], settings: Settings) -> Read:
    read: Read = []
    for file in files:
        try:
            read.append((file, *compile_file(file, settings, strict=False)))
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


def _saved(client: CommandClient, name: str, data: bytes, file: Path, *, draft: bool) -> tuple[Document, str]:
    """Save a workflow. Return its document, and `created`, `changed` or `unchanged`."""
    kind = "application/json" if file.suffix.lower() == ".json" else "application/yaml"
    query = [("draft", "true")] if draft else []
    where, headers = url_path("workflows", name), {"Content-Type": kind}
    call = Call("PUT", where, bare(dict), query=query, body=data, headers=headers)
    status, answer = client.answer(call)
    return answer["data"], "created" if status == 201 else "changed" if answer["changed"] else "unchanged"


def add_to(app: typer.Typer) -> None:
    app.command()(apply)
