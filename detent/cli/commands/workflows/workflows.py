"""`detent workflows list|show|unlock|enable|disable|delete`"""

from __future__ import annotations

from typing import Annotated, Any, Final, cast

import typer
import yaml
from rich.syntax import Syntax
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.commands.workflows import life
from detent.cli.options import Database, Json, Url, Yes, read_version, settings_of
from detent.cli.output.terminal import (
    Column,
    ago,
    confirm,
    facts,
    faint,
    local_and_ago,
    one_line,
    out,
    plain,
    print_json,
    show_table,
)
from detent.client import workflows
from detent.client.calls import Call, Pages

_COLUMNS: Final = (
    Column("name", may_shrink=True),
    Column("version", right=True),
    Column("state"),
    Column("trigger"),
    Column("steps", right=True),
    Column("changed"),
    Column("description", may_shrink=True),
)
Workflow = Annotated[str, typer.Argument(help="The name or id of a workflow.")]


def list_workflows(
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="KEY:VALUE", help="Those with this label; repeatable.")
    ] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enabled/--disabled", help="Only those that may be started, or may not.")
    ] = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="STATUS", help="Those that are draft, active or archived.")
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="Those with this text in their name or title.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List all workflows by name."""
    call = workflows.list_all(enabled=enabled, status=status, search=search).first
    query = [*call.query, *(("label", one.replace("=", ":", 1)) for one in label or ())]
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(client.each(Pages(Call("GET", call.path, call.read, query=query))))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no workflows; `detent apply FILE` saves one")


def _row(workflow: Document) -> list[str | Text]:
    return [
        f"[bold]{plain(workflow['name'])}[/]",
        f"{workflow['current_version']}{'*' if workflow.get('draft') else ''}",
        _state(workflow),
        workflow["trigger"],
        str(workflow["task_count"]),
        faint(ago(workflow["updated_at"])),
        faint(one_line(workflow["description"])),
    ]


def show_workflow(
    workflow: Workflow,
    version: Annotated[
        str | None, typer.Option("--version", metavar="N|draft", help="This version, not the current one.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--form", metavar="FORM", help="Show it in this form: steps, graph or rule.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show a workflow with its definition."""
    wanted = None if version is None else read_version(version, "--version")
    document = _ask(workflows.get(workflow, version=wanted, form=cast(workflows.Form | None, form)), url, database)
    if as_json:
        print_json(document)
        return
    out.print(f"[bold]{plain(document['name'])}[/]  {_state(document)}")
    facts(
        [
            ("workflow", document["id"]),
            ("title", plain(document.get("title") or "")),
            ("version", _version(document)),
            ("draft", _draft(document)),
            ("trigger", document["trigger"]),
            ("changed", local_and_ago(document["updated_at"])),
            ("managed by", plain(f"the files of folder {folder!r}" if (folder := document.get("managed_by")) else "")),
            ("labels", plain("  ".join(f"{key}={value}" for key, value in document["labels"].items()))),
        ]
    )
    text = yaml.safe_dump(document["definition"], sort_keys=False, allow_unicode=True, width=100)
    out.print()
    out.print(Syntax(text, "yaml", theme="ansi_dark", background_color="default") if out.is_terminal else Text(text))


def _version(workflow: Document) -> str:
    current, shown = workflow["current_version"], workflow.get("version")
    return str(current or "none yet") if shown is None else f"{shown} (current: {current or 'none yet'})"


def _draft(workflow: Document) -> str:
    draft = workflow.get("draft")
    if draft is None:
        return ""
    count = len(draft.get("problems", ()))
    problems = f", {count} problem{'s' * (count != 1)}" if count else ""
    return f"revision {draft['revision']}{problems}"


def enable_workflow(workflow: Workflow, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Allow a workflow to be started again."""
    _print_workflow(_ask(workflows.enable(workflow), url, database), as_json=as_json)


def disable_workflow(workflow: Workflow, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Allow no start of a workflow. Its runs in flight go on."""
    _print_workflow(_ask(workflows.disable(workflow), url, database), as_json=as_json)


def unlock_workflow(workflow: Workflow, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let a workflow be edited elsewhere than in the folder of files that manages it.

    It gets a version without the label of the folder. `detent apply` of the folder locks it again."""
    document = _ask(workflows.unlock(workflow), url, database)
    if as_json:
        print_json(document)
    else:
        out.print(f"unlocked  {plain(document['name'])} version {document['current_version']}")


def delete_workflow(
    workflow: Workflow, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete a workflow with its triggers. Its runs in flight go on, and its name is free again."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(workflows.get(workflow))
        confirm(f"Delete the workflow {found['name']!r} with its triggers?", yes=yes)
        document = client.ask(workflows.delete(found["id"]))
    if as_json:
        print_json(document)
    else:
        out.print(f"deleted  {plain(document['name'])}")


def _ask(call: Call[Any], url: str | None, database: str | None) -> Document:
    with open_client(settings_of(database_url=database), url) as client:
        document: Document = client.ask(call)
        return document


def _print_workflow(document: Document, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        out.print(f"{plain(document['name'])}  {_state(document)}")


def _state(workflow: Document) -> str:
    if workflow["status"] != "active":
        return f"[yellow]{plain(workflow['status'])}[/]"
    return "[green]enabled[/]" if workflow["enabled"] else "[yellow]disabled[/]"


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_workflows)
    app.command("show")(show_workflow)
    app.command("unlock")(unlock_workflow)
    app.command("enable")(enable_workflow)
    app.command("disable")(disable_workflow)
    app.command("delete")(delete_workflow)
    life.add_to(app)
