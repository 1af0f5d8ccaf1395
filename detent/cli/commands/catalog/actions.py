"""`detent actions`: list and show what steps can call."""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import Column, facts, faint, one_line, out, plain, print_json, show_table
from detent.client import connectors

_COLUMNS: Final = (
    Column("action"),
    Column("version"),
    Column("category", may_shrink=True),
    Column("state"),
    Column("what", may_shrink=True),
)
Action = Annotated[str, typer.Argument(help="The id of an action, such as slack.post-message.")]


def list_actions(
    search: Annotated[
        str | None, typer.Argument(help="Only those whose id, title, description or tags have this text.")
    ] = None,
    connector: Annotated[str | None, typer.Option("--connector", help="Only those of this connector.")] = None,
    category: Annotated[str | None, typer.Option("--category", help="Only those of this category.")] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="Only those with this tag.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the actions that steps can call."""
    call = connectors.actions(connector=connector, category=category, tag=tag, search=search)
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(client.each(call))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no such actions")


def _row(action: Document) -> list[str | Text]:
    return [
        action["id"],
        action["version"],
        plain(action["category"]),
        _state(action),
        faint(one_line(action["display_name"])),
    ]


def _state(action: Document) -> str:
    if not action["enabled"]:
        return "[yellow]disabled[/]"
    return "[yellow]deprecated[/]" if action["deprecation_notice"] else "[green]enabled[/]"


def show_action(
    action: Action,
    version: Annotated[str | None, typer.Option("--version", help="A version; the newest by default.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show an action: its parameters, its output, and what a repeated attempt does."""
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(connectors.get_action(action, version=version))
    if as_json:
        print_json(document)
        return
    out.print(f"[bold]{plain(document['display_name'])}[/]  {document['version']}  {_state(document)}")
    schema = document["parameter_schema"]
    required = set(schema.get("required", ()))
    facts(
        [
            ("action", document["id"]),
            ("what", plain(document["description"])),
            ("category", plain(document["category"])),
            ("repeated", document["effect"]["kind"]),
            ("deprecated", plain(document["deprecation_notice"] or "")),
        ]
    )
    out.print()
    for name, one in schema.get("properties", {}).items():
        kind = one.get("type", "") if isinstance(one, dict) else ""
        said = one.get("description", "") if isinstance(one, dict) else ""
        needed = "" if name in required else " (optional)"
        words = kind if isinstance(kind, str) else " or ".join(kind)
        out.print(f"{plain(name)}  [bright_black]{plain(words)}{needed}  {plain(one_line(said))}[/]")
    if document["output_schema"]:
        out.print(f"\noutput  [bright_black]{plain(json.dumps(document['output_schema'], ensure_ascii=False))}[/]")


def enable_action(action: Action, url: Url = None, database: Database = None) -> None:
    """Allow workflows to be published with an action."""
    _change(action, url, database, enabled=True)


def disable_action(action: Action, url: Url = None, database: Database = None) -> None:
    """Forbid to publish workflows with an action. Published ones go on."""
    _change(action, url, database, enabled=False)


def _change(action: str, url: str | None, database: str | None, *, enabled: bool) -> None:
    call = connectors.enable_action(action) if enabled else connectors.disable_action(action)
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(call)
    out.print(f"{document['id']}  {_state(document)}")


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_actions)
    app.command("show")(show_action)
    app.command("enable")(enable_action)
    app.command("disable")(disable_action)
