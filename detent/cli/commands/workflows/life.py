"""`detent workflows publish|archive|reactivate|versions|activate|diff|draft`"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

import typer
import yaml
from rich.syntax import Syntax
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.commands.files.rehearse import Days, print_rehearsal, show_progress
from detent.cli.options import Database, Json, Url, Yes, read_version, settings_of, wrong
from detent.cli.output.terminal import (
    Column,
    confirm,
    facts,
    faint,
    local,
    local_and_ago,
    one_line,
    out,
    plain,
    print_json,
    show_table,
    warn,
)
from detent.client import workflows
from detent.client.calls import Call, Pages
from detent.client.errors import RehearsalFailed
from detent.documents.answers import as_json as plain_json
from detent.graph.model import Ending

_VERSIONS: Final = (
    Column("version", right=True),
    Column(""),
    Column("saved"),
    Column("steps", right=True),
    Column("checksum"),
)
_LONGEST_VALUE: Final = 300
_ADDED: Final = ("+", "green")
_REMOVED: Final = ("-", "red")
_CHANGED: Final = ("~", "yellow")

Workflow = Annotated[str, typer.Argument(help="The name or id of a workflow.")]
VersionNumber = Annotated[int, typer.Argument(help="The number of a version.", min=1)]


def publish_workflow(
    workflow: Workflow,
    activate: Annotated[
        bool, typer.Option("--activate/--no-activate", help="Make the version current at once, or only store it.")
    ] = True,
    validate_parameters: Annotated[
        bool, typer.Option("--validate-parameters", help="Also refuse templates that no input can render.")
    ] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Run the draft over recorded runs first, and say what it would do.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Rehearse, and publish only if no run would fail and all can be moved.")
    ] = False,
    days: Days = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Make a version of the draft of a workflow. It is checked completely first."""
    if days is not None and not (rehearse or strict):
        raise wrong("--days", "is for a rehearsal; add --rehearse or --strict")
    mode: Literal["report", "strict"] | None = "strict" if strict else "report" if rehearse else None
    try:
        with (
            open_client(settings_of(database_url=database), url) as client,
            show_progress(mode is not None) as progress,
        ):
            call = workflows.publish(
                workflow,
                auto_activate=activate,
                validate_parameters=validate_parameters or None,
                rehearse=mode,
                days=days,
                progress=progress,
            )
            document: Document = client.ask(call)
    except RehearsalFailed as refused:
        if refused.rehearsal is not None and not as_json:
            print_rehearsal(plain_json(refused.rehearsal))
        raise
    if as_json:
        print_json(document)
        return
    if document["rehearsal"] is not None:
        print_rehearsal(document["rehearsal"])
    word = "[green]published[/]" if document["changed"] else "[bright_black]unchanged[/]"
    is_current = document["version"] == document["current_version"]
    state = "current" if is_current else f"not current; `detent workflows activate {plain(document['workflow'])} N`"
    out.print(f"{word}  {plain(document['workflow'])} version {document['version']} [bright_black]{state}[/]")
    for warning in document["warnings"]:
        warn(warning)


def archive_workflow(
    workflow: Workflow, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Let nothing start runs of a workflow. Runs that have not begun are cancelled when their time comes."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(workflows.get(workflow))
        confirm(f"Archive the workflow {found['name']!r}, so that nothing starts it any more?", yes=yes)
        document: Document = client.ask(workflows.archive(found["id"]))
    _print_status(document, as_json=as_json)


def reactivate_workflow(workflow: Workflow, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let runs of an archived workflow be started again. Its schedules continue with their next slot."""
    _print_status(_ask(workflows.reactivate(workflow), url, database), as_json=as_json)


def activate_version(
    workflow: Workflow, version: VersionNumber, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Make a version of a workflow its current one. Runs in flight stay on their version."""
    document = _ask(workflows.activate(workflow, version), url, database)
    if as_json:
        print_json(document)
    else:
        out.print(f"{plain(document['name'])} version {document['current_version']} [green]current[/]")


def list_versions(
    workflow: Workflow,
    drafts: Annotated[bool, typer.Option("--drafts", help="The drafts that were run, instead of versions.")] = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the versions of a workflow, newest first."""
    pages: Pages[Any] = workflows.versions(workflow, drafts=drafts or None)
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(client.each(pages))
    if as_json:
        print_json(rows)
        return
    nothing = "no draft was run" if drafts else "there are no versions; `detent workflows publish` makes one"
    show_table(_VERSIONS, map(_version, rows), nothing=nothing)


def _version(version: Document) -> list[str | Text]:
    current = "[green]current[/]" if version["current"] else ""
    definition = version["definition"]
    steps = next((definition[key] for key in ("tasks", "steps", "nodes", "actions") if definition.get(key)), ())
    saved = f"{local(version['inserted_at'])}"
    return [str(version["version"]), current, faint(saved), str(len(steps)), faint(version["checksum"][:12])]


def diff_versions(
    workflow: Workflow,
    old: Annotated[
        str | None, typer.Argument(metavar="[FROM]", help="A number or draft; else the current one.")
    ] = None,
    new: Annotated[
        str | None, typer.Argument(metavar="[TO]", help="A number or draft; else the draft, or the newest.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Compare two versions of a workflow: steps, edges and settings that differ."""
    sides = [None if text is None else read_version(text, name) for text, name in ((old, "FROM"), (new, "TO"))]
    found = _ask(workflows.diff(workflow, *sides), url, database)
    if as_json:
        print_json(found)
        return
    out.print(f"[bold]{plain(found['workflow'])}[/]  {_side(found['from'])} [bright_black]->[/] {_side(found['to'])}")
    if found["same"]:
        out.print("nothing differs", style="bright_black")
        return
    _print_parts("steps", found["steps"], lambda step: step["name"])
    _print_parts("edges", found["edges"], lambda edge: f"{edge['source']} -> {edge['target']}")
    if found["settings"]:
        out.print("settings", style="bright_black")
        for field in found["settings"]:
            _print_field(field, 2)


def _side(version: int | str) -> str:
    return str(version) if version == "draft" else f"version {version}"


def _print_parts(title: str, parts: Document, name: Any) -> None:
    if not any(parts.values()):
        return
    out.print(title, style="bright_black")
    for (mark, colour), rows in ((_ADDED, parts["added"]), (_REMOVED, parts["removed"])):
        for row in rows:
            out.print(f"  [{colour}]{mark} {plain(name(row))}[/]  {_about(row)}")
    for row in parts["changed"]:
        mark, colour = _CHANGED
        out.print(f"  [{colour}]{mark} {plain(name(row))}[/]")
        for field in row["fields"]:
            _print_field(field, 4)


def _about(part: Document) -> str:
    """Return what a step does, or when an edge is taken, on the line of its name."""
    config = part.get("config", {})
    said = next((config[key] for key in ("url", "action", "workflow", "expression") if key in config), None)
    on = part.get("on", ())
    kind = part.get("kind") or ("any ending" if len(on) == len(Ending) else " ".join(on))
    text = one_line(" ".join(filter(None, (kind, str(said) if said is not None else "", part.get("condition")))))
    return f"[bright_black]{plain(text)}[/]"


def _print_field(field: Document, indent: int) -> None:
    out.print(" " * indent + plain(field["field"]))
    for (mark, colour), key in ((_REMOVED, "old"), (_ADDED, "new")):
        if key in field:
            out.print(f"{' ' * (indent + 2)}[{colour}]{mark} {plain(_value(field[key]))}[/]")


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(text)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def show_draft(
    workflow: Workflow,
    discard: Annotated[bool, typer.Option("--discard", help="Delete the draft; the versions stay.")] = False,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show the draft of a workflow and what keeps it from being published, or discard it."""
    with open_client(settings_of(database_url=database), url) as client:
        draft: Document = client.ask(workflows.get_draft(workflow))
        if discard:
            confirm(f"Discard revision {draft['revision']} of the draft of {draft['workflow']!r}?", yes=yes)
            tag = f'"d{draft["revision"]}"'
            draft = client.ask(workflows.discard_draft(draft["workflow_id"], if_match=tag))
    if as_json:
        print_json(draft)
        return
    if discard:
        out.print(f"discarded  the draft of {plain(draft['workflow'])}")
        return
    problems = draft["problems"]
    state = f"[red]{len(problems)} problem{'s' * (len(problems) != 1)}[/]" if problems else "[green]can be published[/]"
    out.print(f"[bold]{plain(draft['workflow'])}[/]  [yellow]draft[/]  {state}")
    changed = f"{local_and_ago(draft['updated_at'])} by {plain(draft['saved_by'])}"
    facts([("revision", str(draft["revision"])), ("form", draft["form"]), ("changed", changed)])
    for problem in problems:
        out.print(f"  [red]✗[/] [bold]{plain(problem['field'])}[/]: {plain(problem['message'])}")
    text = yaml.safe_dump(draft["definition"], sort_keys=False, allow_unicode=True, width=100)
    out.print()
    out.print(Syntax(text, "yaml", theme="ansi_dark", background_color="default") if out.is_terminal else Text(text))


def _ask(call: Call[Any], url: str | None, database: str | None) -> Document:
    with open_client(settings_of(database_url=database), url) as client:
        document: Document = client.ask(call)
        return document


def _print_status(document: Document, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        colour = "green" if document["status"] == "active" else "yellow"
        out.print(f"{plain(document['name'])}  [{colour}]{plain(document['status'])}[/]")


def add_to(app: typer.Typer) -> None:
    app.command("versions")(list_versions)
    app.command("diff")(diff_versions)
    app.command("draft")(show_draft)
    app.command("publish")(publish_workflow)
    app.command("activate")(activate_version)
    app.command("archive")(archive_workflow)
    app.command("reactivate")(reactivate_workflow)
