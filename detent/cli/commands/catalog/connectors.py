"""`detent connectors`: list, show, add, upgrade, test, enable, disable and remove connectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, Yes, read_file, settings_of
from detent.cli.output.terminal import Column, confirm, facts, faint, one_line, out, plain, print_json, show_table
from detent.client import connectors
from detent.client.calls import Call
from detent.errors import InvalidInput

_COLUMNS: Final = (
    Column("connector"),
    Column("version"),
    Column("state"),
    Column("auth"),
    Column("from"),
    Column("what", may_shrink=True),
)
_MOST_SHOWN: Final = 20
Connector = Annotated[str, typer.Argument(help="The id of a connector, such as slack.")]


def list_connectors(as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """List the connectors."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(client.each(connectors.list_all()))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no connectors; an engine stores those that Detent ships")


def _row(connector: Document) -> list[str | Text]:
    return [
        connector["id"],
        connector["version"],
        _state(connector),
        connector["auth_type"] or "none",
        connector["source"],
        faint(one_line(connector["description"])),
    ]


def _state(connector: Document) -> str:
    if not connector["enabled"]:
        return "[yellow]disabled[/]"
    return "[yellow]not set up[/]" if connector["missing"] else "[green]enabled[/]"


def show_connector(connector: Connector, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show a connector, what it needs, and its actions."""
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(connectors.get(connector))
        rows = list(client.each(connectors.actions(connector=connector)))
    if as_json:
        print_json({**document, "actions": rows})
        return
    out.print(f"[bold]{plain(document['display_name'])}[/]  {document['version']}  {_state(document)}")
    facts(
        [
            ("connector", document["id"]),
            ("what", plain(document["description"])),
            ("address", plain(document["base_url"] or "")),
            ("auth", document["auth_type"] or "none"),
            ("to set", ", ".join(document["missing"])),
            ("docs", plain(document["documentation_url"] or "")),
        ]
    )
    out.print()
    for row in rows:
        off = "" if row["enabled"] else "  [yellow]disabled[/]"
        out.print(f"{row['id']}  [bright_black]{plain(one_line(row['display_name']))}[/]{off}")


def add_connector(
    what: Annotated[
        str, typer.Argument(metavar="MANIFEST", help="A manifest, YAML or JSON; or openapi or mcp, before SOURCE.")
    ],
    source: Annotated[
        str | None,
        typer.Argument(metavar="[SOURCE]", help="With openapi: a file or an address. With mcp: the address."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The id of an imported connector.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what an import would do, and which steps it breaks.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Add a connector, or a new version of one: from its manifest, an OpenAPI document or an MCP server."""
    settings = settings_of(database_url=database)
    if what in ("openapi", "mcp"):
        from detent.cli.imports import import_call

        call = import_call(what, source, name, settings, dry_run=dry_run)
        with open_client(settings, url) as client:
            document = client.ask(call)
        print_json(document) if as_json else _show_import(document)
        return
    if source is not None or name is not None or dry_run:
        raise InvalidInput("a manifest has its own name; write `detent connectors add FILE`")
    read_file(Path(what))
    with open_client(settings, url) as client:
        _, answer = client.answer(connectors.add(Path(what)))
    if as_json:
        print_json(answer)
        return
    document = answer["data"]
    done = "added" if answer["changed"] else "unchanged"
    out.print(f"{done}  {document['id']}  {document['version']}")
    _say_missing(document)


def _show_import(document: Document) -> None:
    """Print what an import did, and which steps of which workflows it breaks."""
    done = "would add" if document["dry_run"] else "added"
    if not document["changed"]:
        done = "unchanged"
    count = f"{document['actions']:,} of {document['operations']:,} operations are actions"
    out.print(f"{done}  version {document['version']}  [bright_black]{count}[/]")
    for one in document["skipped"][:_MOST_SHOWN]:
        out.print(f"[yellow]left out[/]  {plain(one['operation'])}  [bright_black]{plain(one['reason'])}[/]")
    for name in document["removed"][:_MOST_SHOWN]:
        out.print(f"[yellow]removed[/]  {plain(name)}")
    for one in document["broken_steps"]:
        out.print(f"[red]breaks[/]  {plain(one['workflow'])}.{plain(one['step'])}  {plain('; '.join(one['problems']))}")
    if document["connector"]:
        _say_missing(document["connector"])


def _say_missing(document: Document) -> None:
    if document["missing"]:
        out.print(f"[yellow]set {', '.join(document['missing'])} in the environment of the nodes[/]")


def upgrade_connector(
    connector: Connector,
    to: Annotated[
        str | None, typer.Option("--to", metavar="VERSION", help="The version of the actions; the newest by default.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the steps, and which of them break.")] = False,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Give the workflows that use older versions of the actions of a connector a version with newer ones."""
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(connectors.upgrade(connector, to=to, dry_run=True))
        ready = sum(not one["blocked"] for one in document["workflows"])
        if dry_run or not ready:
            print_json(document) if as_json else _show_upgrade(document)
            return
        if not yes:
            _show_upgrade(document)
            confirm(f"Make new versions of {ready:,} workflows?", yes=yes)
        document = client.ask(connectors.upgrade(connector, to=to))
    print_json(document) if as_json else _show_upgrade(document)


def _show_upgrade(document: Document) -> None:
    """Print the steps of each workflow with their old and new versions, and what keeps a workflow as it is."""
    if not document["workflows"]:
        out.print(f"no active workflow uses an older version of an action of {plain(document['connector'])}")
    for workflow in document["workflows"]:
        made = workflow["new_version"]
        done = "[yellow]left alone[/]" if workflow["blocked"] else "would upgrade" if made is None else "upgraded"
        number = f"version {workflow['version']}" + ("" if made is None else f" -> {made}")
        out.print(f"{done}  {plain(workflow['workflow'])}  [bright_black]{number}[/]")
        for step in workflow["steps"]:
            out.print(f"  {plain(step['step'])}  {step['action']}  {step['old_version']} -> {step['new_version']}")
            for problem in step["problems"]:
                out.print(f"    [red]breaks[/]  {plain(problem)}")
        for problem in workflow["problems"]:
            out.print(f"    [red]breaks[/]  {plain(problem)}")


def enable_connector(connector: Connector, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Allow workflows to be published with actions of a connector."""
    _print(_ask(connectors.enable(connector), url, database), as_json=as_json)


def disable_connector(connector: Connector, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Forbid to publish workflows with actions of a connector. Published ones go on."""
    _print(_ask(connectors.disable(connector), url, database), as_json=as_json)


def remove_connector(
    connector: Connector, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Remove a connector. Workflows that were published with its actions go on."""
    with open_client(settings_of(database_url=database), url) as client:
        client.ask(connectors.get(connector))
        confirm(f"Remove the connector {connector!r}?", yes=yes)
        document = client.ask(connectors.remove(connector))
    print_json(document) if as_json else out.print(f"removed  {document['id']}")


def check_connector(connector: Connector, url: Url = None, database: Database = None) -> None:
    """Check the credential of a connector in this environment with one request. Exit code 1 if it is refused."""
    from detent.cli.probe import probe_connector

    settings = settings_of(database_url=database)
    with open_client(settings, url) as client:
        document = client.ask(connectors.get(connector))
    outcome = probe_connector(document, settings)
    colour = "green" if outcome.is_accepted else "red"
    out.print(f"[{colour}]{'accepted' if outcome.is_accepted else 'refused'}[/]  {connector}  {plain(outcome.message)}")
    if not outcome.is_accepted:
        raise typer.Exit(1)


def _ask(call: Call[Any], url: str | None, database: str | None) -> Document:
    with open_client(settings_of(database_url=database), url) as client:
        document: Document = client.ask(call)
        return document


def _print(document: Document, *, as_json: bool) -> None:
    print_json(document) if as_json else out.print(f"{document['id']}  {_state(document)}")


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_connectors)
    app.command("show")(show_connector)
    app.command("add")(add_connector)
    app.command("upgrade")(upgrade_connector)
    app.command("test")(check_connector)
    app.command("enable")(enable_connector)
    app.command("disable")(disable_connector)
    app.command("remove")(remove_connector)
