"""`detent templates list|show|new|create|delete`: workflow templates, and workflows that are made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import yaml
from rich.syntax import Syntax
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, Yes, read_file, read_value, settings_of, wrong
from detent.cli.output.terminal import (
    Column,
    confirm,
    facts,
    faint,
    one_line,
    out,
    plain,
    print_json,
    show_table,
    warn,
)
from detent.client import templates
from detent.client.calls import JSON, Call, bare, json_body, url_path

_COLUMNS: Final = (
    Column("template"),
    Column("category"),
    Column("title", may_shrink=True),
    Column("description", may_shrink=True),
)
_CONFIG_COLUMNS: Final = (
    Column("config"),
    Column("type"),
    Column("default", may_shrink=True),
    Column("meaning", may_shrink=True),
)
Template = Annotated[str, typer.Argument(help="The id of a workflow template.")]


def list_templates(
    category: Annotated[
        str | None, typer.Option("--category", metavar="TEXT", help="Only those of this category.")
    ] = None,
    official: Annotated[
        bool | None, typer.Option("--official/--own", help="Only those of Detent, or only your own.")
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="Those with this text in title, tags, ...")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the workflow templates by id: those of Detent, and your own."""
    pages = templates.list_all(category=category, official=official, search=search)
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(client.each(pages))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there is no such template")


def _row(template: Document) -> list[str | Text]:
    return [
        f"[bold]{plain(template['id'])}[/]",
        plain(template["category"]),
        Text(one_line(template["title"])),
        faint(one_line(template["description"])),
    ]


def show_template(template: Template, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show a workflow template: what its config needs, and its definition."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        document = client.ask(templates.get(template))
    if as_json:
        print_json(document)
        return
    out.print(f"[bold]{plain(document['title'])}[/]  {plain(document['category'])}")
    facts(
        [
            ("template", document["id"]),
            ("description", plain(one_line(document["description"]))),
            ("tags", plain(", ".join(document["tags"]))),
            ("author", plain(document["author"])),
        ]
    )
    schema = document["config_schema"]
    rows = [_config_row(name, one, schema) for name, one in schema.get("properties", {}).items()]
    out.print()
    show_table(_CONFIG_COLUMNS, rows, nothing="it needs no config")
    text = yaml.safe_dump(document["definition"], sort_keys=False, allow_unicode=True, width=100)
    out.print()
    out.print(Syntax(text, "yaml", theme="ansi_dark", background_color="default") if out.is_terminal else Text(text))


def _config_row(name: str, described: Any, schema: Document) -> list[str | Text]:
    one = described if isinstance(described, dict) else {}
    default = json.dumps(one["default"], ensure_ascii=False) if "default" in one else ""
    required = name in schema.get("required", ())
    return [
        f"[bold]{plain(name)}[/]",
        plain(str(one.get("type", ""))),
        Text("required" if required else default),
        faint(one_line(one.get("title") or one.get("description") or "")),
    ]


def new_workflow(
    template: Template,
    name: Annotated[str | None, typer.Argument(help="The name of the new workflow.")] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="What people read instead of its name.")
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A value of the config, as JSON or text; repeatable."),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--config", metavar="JSON", help="The whole config: JSON, @file.json or -.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Make the draft of a new workflow of a template. `detent workflows publish` publishes it."""
    values = _config(file, config or ())
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        made = client.ask(templates.instantiate(template, values, name=name, title=title))
    if as_json:
        print_json(made)
        return
    out.print(f"created  {plain(made['workflow'])}  draft {made['revision']}")
    for problem in made["problems"]:
        warn(f"{problem['field']}: {problem['message']}")
    if not made["problems"]:
        out.print(f"`detent workflows publish {plain(made['workflow'])}` publishes it")


def _config(file: str | None, given: Any) -> dict[str, Any]:
    values = {} if file is None else read_value(file, "--config")
    if not isinstance(values, dict):
        raise wrong("--config", "must be a JSON object")
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise wrong("--set", f"{text!r} is not a value; write for example channel=C0HR")
        values[name] = _value(value)
    return values


def _value(text: str) -> Any:
    """Read a value: JSON if it is, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def create_template(
    file: Annotated[Path, typer.Argument(help="A YAML or JSON file: id, title, config_schema, definition, ...")],
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Create a workflow template of your own."""
    try:
        body = yaml.safe_load(read_file(file))
    except yaml.YAMLError as error:
        raise wrong("FILE", f"{file} cannot be read: {error}") from None
    where = url_path("templates", "workflows")
    call = Call("POST", where, bare(dict[str, Any]), body=json_body(body), headers=JSON, repeatable=False)
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        document = client.ask(call)
    if as_json:
        print_json(document)
    else:
        out.print(f"created  {plain(document['id'])}")


def delete_template(
    template: Template, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete a workflow template of your own. Workflows that were made of it stay."""
    with open_client(settings_of(database_url=database), url) as client:
        confirm(f"Delete the workflow template {template!r}?", yes=yes)
        document = client.ask(templates.delete(template))
    if as_json:
        print_json(document)
    else:
        out.print(f"deleted  {plain(document['id'])}")


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_templates)
    app.command("show")(show_template)
    app.command("new")(new_workflow)
    app.command("create")(create_template)
    app.command("delete")(delete_template)
