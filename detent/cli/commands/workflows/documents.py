"""`detent documents list|show|save|render|enable|disable`: document templates, and documents of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, decode_value, read_file, read_value, settings_of, wrong
from detent.cli.output.terminal import (
    Column,
    ago,
    facts,
    faint,
    local_and_ago,
    one_line,
    out,
    plain,
    print_json,
    show_table,
)
from detent.client import templates
from detent.client.calls import Call

_COLUMNS: Final = (
    Column("set"),
    Column("template"),
    Column("version", right=True),
    Column("state"),
    Column("team"),
    Column("title", may_shrink=True),
    Column("saved"),
)
#: The format of a document by the ending of its file.
_FORMATS: Final = {".html": "html", ".htm": "html", ".md": "markdown"}
Template = Annotated[str, typer.Argument(help="The id of a document template.")]
Set = Annotated[str | None, typer.Option("--set", metavar="SET", help="Its set, if several sets have its id.")]
Version = Annotated[int | None, typer.Option("--version", metavar="N", min=1, help="This version.")]


def list_documents(
    team: Annotated[str | None, typer.Option("--team", metavar="TEAM", help="Only those of this team.")] = None,
    set_: Annotated[str | None, typer.Option("--set", metavar="SET", help="Only those of this set.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the document templates, each with its newest version."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(client.each(templates.list_documents(team=team, set=set_)))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no document templates; `detent documents save` adds one")


def _row(document: Document) -> list[str | Text]:
    return [
        plain(document["set"]),
        f"[bold]{plain(document['id'])}[/]",
        str(document["version"]),
        _state(document),
        plain(document["team"]),
        Text(one_line(document["title"])),
        faint(ago(document["inserted_at"])),
    ]


def _state(document: Document) -> str:
    return "[green]enabled[/]" if document["enabled"] else "[yellow]disabled[/]"


def show_document(
    template: Template,
    set_: Set = None,
    version: Version = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show a version of a document template, with its body."""
    document = _ask(templates.get_document(template, set=set_, version=version), url, database)
    if as_json:
        print_json(document)
        return
    out.print(f"[bold]{plain(document['title'])}[/]  {_state(document)}")
    facts(
        [
            ("template", plain(f"{document['set']}/{document['id']}")),
            ("version", f"{document['version']} of {', '.join(map(str, document['versions']))}"),
            ("format", document["format"]),
            ("team", plain(document["team"])),
            ("saved", local_and_ago(document["inserted_at"])),
        ]
    )
    out.print()
    out.print(Text(document["body"]))


def save_document(
    set_: Annotated[str, typer.Argument(metavar="SET", help="The set of the template.")],
    template: Template,
    file: Annotated[Path, typer.Argument(help="The file with the body; .html and .md choose the format.")],
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="What people read.")] = None,
    fields: Annotated[
        Path | None, typer.Option("--fields", metavar="FILE", help="A JSON file that describes the answers.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Save a document template: create it, or add a version if its text differs."""
    try:
        body = read_file(file).decode()
    except UnicodeDecodeError:
        raise wrong("FILE", f"{file} is not UTF-8 text") from None
    described = None if fields is None else decode_value(read_file(fields), "--fields")
    format_ = _FORMATS.get(file.suffix.lower(), "text")
    call = templates.save_document(set_, template, title or template, body, described, format=format_)
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        _, answer = client.answer(call)
    if as_json:
        print_json(answer["data"])
        return
    word = "saved    " if answer["changed"] else "unchanged"
    out.print(f"{word}  {plain(set_)}/{plain(template)} version {answer['data']['version']}")


def render_document(
    template: Template,
    answers: Annotated[
        str | None, typer.Option("--answers", "-a", metavar="JSON", help="The answers: JSON, @file.json or -.")
    ] = None,
    set_: Set = None,
    version: Version = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Render a document and print it."""
    given = {} if answers is None else read_value(answers, "--answers")
    if not isinstance(given, dict):
        raise wrong("--answers", "must be a JSON object")
    made = _ask(templates.render_document(template, given, set=set_, version=version), url, database)
    print_json(made) if as_json else out.out(made["rendered_body"], highlight=False)


def enable_document(
    template: Template,
    set_: Set = None,
    version: Version = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Let a version of a document template be rendered again, or all of them."""
    _print(_ask(templates.enable_document(template, set=set_, version=version), url, database), as_json=as_json)


def disable_document(
    template: Template,
    set_: Set = None,
    version: Version = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Let a version of a document template not be rendered any more, or all of them."""
    _print(_ask(templates.disable_document(template, set=set_, version=version), url, database), as_json=as_json)


def _ask(call: Call[Any], url: str | None, database: str | None) -> Document:
    with open_client(settings_of(database_url=database), url) as client:
        document: Document = client.ask(call)
        return document


def _print(document: Document, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        out.print(f"{plain(document['set'])}/{plain(document['id'])} version {document['version']}  {_state(document)}")


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_documents)
    app.command("show")(show_document)
    app.command("save")(save_document)
    app.command("render")(render_document)
    app.command("enable")(enable_document)
    app.command("disable")(disable_document)
