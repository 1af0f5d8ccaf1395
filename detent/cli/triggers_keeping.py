"""`detent triggers list|show|create|pause|resume|next|delete`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.authoring.documents import read_definition
from detent.cli.doors import Document, open_door
from detent.cli.options import Database, Json, Url, Yes, read_file, settings_of
from detent.cli.tables import Column, ago, facts, faint, local, show_table
from detent.cli.terminal import confirm, one_line, out, plain, print_json
from detent.client import triggers
from detent.client.calls import JSON, Call, bare, json_body
from detent.client.spelling import place

_COLUMNS: Final = (
    Column("trigger"),
    Column("workflow", gives=True),
    Column("type"),
    Column("state"),
    Column("what", gives=True),
    Column("next", gives=True),
    Column("last", gives=True),
    Column("note", gives=True),
)

Trigger = Annotated[str, typer.Argument(help="The id of a trigger, trg_...")]


def list_triggers(
    workflow: Annotated[str | None, typer.Argument(help="The name or id of a workflow; all if it is left out.")] = None,
    type_: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only cron, webhook, event or manual.")
    ] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enabled/--paused", help="Only those that fire, or those that are paused.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """All triggers, or those of a workflow."""
    with open_door(settings_of(database_url=database), url) as door:
        rows = list(door.each(triggers.list_all(workflow=workflow, type=type_, enabled=enabled)))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no triggers")


def _row(trigger: Document) -> list[str | Text]:
    return [
        trigger["id"],
        plain(trigger["workflow"]),
        trigger["type"],
        _state(trigger),
        Text(one_line(_what(trigger))),
        faint(ago(trigger["next_at"])),
        faint(ago(trigger["last_fired_at"])),
        faint(one_line(trigger["note"])),
    ]


def show_trigger(trigger: Trigger, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """One trigger: what it listens to, when it fires next, where it is called."""
    document = _ask(triggers.get(trigger), url, database)
    if as_json:
        print_json(document)
        return
    out.print(f"[bold]{plain(document['name'] or document['workflow'])}[/]  {document['type']}  {_state(document)}")
    facts(_facts(document))


def create_trigger(
    file: Annotated[Path, typer.Argument(help="A file with a trigger, YAML or JSON: workflow, type, config, ...")],
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Make a trigger from a file, and print its id."""
    body = json_body(read_definition(read_file(file), filename=file.name))
    call = Call("POST", place("triggers"), bare(dict[str, Any]), body=body, headers=JSON, repeatable=False)
    document = _ask(call, url, database)
    print_json(document) if as_json else out.print(document["id"])


def pause_trigger(
    trigger: Trigger,
    note: Annotated[str | None, typer.Option("--note", help="Why, for others to read.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Let a trigger fire no more until it is resumed. What has fired already goes on."""
    _tell(_ask(triggers.pause(trigger, note), url, database), as_json=as_json)


def resume_trigger(trigger: Trigger, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let a trigger fire again, from now on."""
    _tell(_ask(triggers.resume(trigger), url, database), as_json=as_json)


def next_slots(
    trigger: Trigger,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100, help="How many.")] = 10,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """When a cron trigger fires next."""
    found: Any = _ask(triggers.coming(trigger, count), url, database)
    if as_json:
        print_json(found)
        return
    for slot in found:
        out.print(f"{local(slot)}  [bright_black]{ago(slot)}[/]" if ago(slot).startswith("in") else local(slot))


def delete_trigger(
    trigger: Trigger, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete a trigger. The runs it started go on."""
    with open_door(settings_of(database_url=database), url) as door:
        found = door.ask(triggers.get(trigger))
        confirm(f"Delete the {found['type']} trigger of {found['workflow']!r}?", yes=yes)
        document = door.ask(triggers.delete(trigger))
    print_json(document) if as_json else out.print(f"deleted  {document['id']}")


def _ask(call: Call[Any], url: str | None, database: str | None) -> Document:
    with open_door(settings_of(database_url=database), url) as door:
        document: Document = door.ask(call)
        return document


def _tell(trigger: Document, *, as_json: bool) -> None:
    if as_json:
        print_json(trigger)
        return
    coming = f"  [bright_black]next {ago(trigger['next_at'])}[/]" if trigger["next_at"] else ""
    out.print(f"{trigger['id']}  {_state(trigger)}{coming}")


def _state(trigger: Document) -> str:
    return "[green]enabled[/]" if trigger["enabled"] else "[yellow]paused[/]"


def _what(trigger: Document) -> str:
    """What makes it fire, in a few words."""
    config = trigger["config"]
    match trigger["type"]:
        case "cron":
            return f"{config.get('cron_expression', '')} {config.get('timezone', '')}".strip()
        case "event":
            return str(config.get("event", ""))
        case "webhook":
            return "signed" if "signature" in config else "unsigned"
        case _:
            return ""


def _written(value: Any) -> str:
    """A value as people write it: text as it is, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _facts(trigger: Document) -> list[tuple[str, str | None]]:
    config = ((name, plain(_written(value))) for name, value in trigger["config"].items())
    return [
        ("trigger", trigger["id"]),
        ("workflow", plain(trigger["workflow"])),
        ("owned by", trigger["owned_by"]),
        *config,
        ("condition", plain(trigger["condition"] or "")),
        ("url", trigger["url"]),
        ("next", trigger["next_at"] and f"{local(trigger['next_at'])} ({ago(trigger['next_at'])})"),
        ("last fired", trigger["last_fired_at"] and f"{local(trigger['last_fired_at'])}"),
        ("note", plain(trigger["note"] or "")),
    ]


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_triggers)
    app.command("show")(show_trigger)
    app.command("create")(create_trigger)
    app.command("pause")(pause_trigger)
    app.command("resume")(resume_trigger)
    app.command("next")(next_slots)
    app.command("delete")(delete_trigger)
