"""`detent entities list|show|add|change|delete`: the kinds of records that rules watch."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, Yes, read_value, settings_of, wrong
from detent.cli.output.terminal import Column, ago, confirm, facts, faint, one_line, out, plain, print_json, show_table
from detent.client import rules

_COLUMNS: Final = (Column("entity"), Column("title", may_shrink=True), Column("fields", may_shrink=True), Column("id"))
Entity = Annotated[str, typer.Argument(help="The id or the name of an entity.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="What people read instead of its name.")]
Schema = Annotated[
    str | None,
    typer.Option("--fields", metavar="JSON", help="The JSON Schema of a record: JSON, @file.json or -."),
]


def list_entities(as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """List the entities by name."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(client.each(rules.list_entities()))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no entities")


def _row(entity: Document) -> list[str | Text]:
    return [
        f"[bold]{plain(entity['name'])}[/]",
        Text(one_line(entity["title"])),
        Text(one_line(_fields(entity))),
        faint(entity["id"]),
    ]


def _fields(entity: Document) -> str:
    return ", ".join((entity["fields"] or {}).get("properties", {}))


def show_entity(entity: Entity, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show an entity with its fields."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(rules.get_entity(entity))
    _print(found, as_json)


def add_entity(
    name: Annotated[str, typer.Argument(help="The name of the new entity.")],
    title: Title = None,
    fields: Schema = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Add a kind of records that rules can watch."""
    call = rules.create_entity(name, title=title, fields=_schema(fields))
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        found = client.ask(call)
    _print(found, as_json)


def change_entity(
    entity: Entity,
    title: Title = None,
    fields: Schema = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Replace the title and the fields of an entity."""
    call = rules.change_entity(entity, title=title, fields=_schema(fields))
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(call)
    _print(found, as_json)


def delete_entity(
    entity: Entity, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete an entity that has no rules."""
    confirm(f"Delete the entity {entity}?", yes=yes)
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(rules.delete_entity(entity))
    print_json(found) if as_json else out.print(f"deleted  {plain(found['name'])}")


def _schema(given: str | None) -> dict[str, Any] | None:
    if given is None:
        return None
    value = read_value(given, "--fields")
    if not isinstance(value, dict):
        raise wrong("--fields", "must be a JSON Schema, an object")
    return value


def _print(entity: Document, as_json: bool) -> None:
    if as_json:
        print_json(entity)
        return
    out.print(f"[bold]{plain(entity['name'])}[/]  {plain(entity['title'])}")
    facts(
        [
            ("entity", entity["id"]),
            ("changed", ago(entity["updated_date"])),
            ("fields", plain("" if entity["fields"] is None else json.dumps(entity["fields"], ensure_ascii=False))),
        ]
    )


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_entities)
    app.command("show")(show_entity)
    app.command("add")(add_entity)
    app.command("change")(change_entity)
    app.command("delete")(delete_entity)
