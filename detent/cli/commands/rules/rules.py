"""`detent rules list|show|save|activate|deactivate|delete`: rules as an editor writes them."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.commands.rules import matches
from detent.cli.options import Database, Json, Url, Yes, read_value, settings_of, wrong
from detent.cli.output.terminal import (
    Column,
    ago,
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
from detent.client import rules

_COLUMNS: Final = (
    Column("rule", may_shrink=True),
    Column("state"),
    Column("entity", may_shrink=True),
    Column("when", may_shrink=True),
    Column("actions"),
    Column("version"),
    Column("changed", may_shrink=True),
)
_ACTION_COLUMNS: Final = (
    Column("action", may_shrink=True),
    Column("type", may_shrink=True),
    Column("after", may_shrink=True),
    Column("id"),
)
Rule = Annotated[str, typer.Argument(help="The id or the key of a rule.")]
Tag = Annotated[
    str | None, typer.Option("--if-match", metavar="ETAG", help="Only if the rule is still as this tag says.")
]


def list_rules(
    entity: Annotated[str | None, typer.Option("--entity", metavar="ENTITY", help="Only those of this entity.")] = None,
    trigger_type: Annotated[
        str | None, typer.Option("--trigger-type", metavar="TYPE", help="Only those of this trigger type.")
    ] = None,
    active: Annotated[bool | None, typer.Option("--active/--inactive", help="Only these.")] = None,
    search: Annotated[str | None, typer.Option("--search", metavar="TEXT", help="Only those with this text.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 100,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the rules by key."""
    pages = rules.list_all(
        entity=entity, trigger_type=trigger_type, is_active=active, search=search, limit=min(limit, 100)
    )
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(islice(client.each(pages), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no rules")


def _row(rule: Document) -> list[str | Text]:
    return [
        f"[bold]{plain(rule['key'])}[/]",
        _state(rule),
        plain(rule["entity"] or ""),
        Text(one_line(_when(rule))),
        str(rule["action_count"]),
        str(rule["version"]),
        faint(ago(rule["updated_date"])),
    ]


def _state(rule: Document) -> str:
    if rule["status"] == "archived":
        return "archived"
    return "[green]active[/]" if rule["is_active"] else "inactive"


def _when(rule: Document) -> str:
    return f"{rule['trigger_type_id']}{', ' if rule['conditions'] else ''}{rule['conditions']}"


def show_rule(
    rule: Rule,
    version: Annotated[int | None, typer.Option("--version", metavar="NUMBER", help="That version of it.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show a rule: when it runs, and what it does."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(rules.get(rule, version=version))
    if as_json:
        print_json(found)
        return
    _show(found)


def _show(rule: Document) -> None:
    out.print(f"[bold]{plain(rule['name'])}[/]  {_state(rule)}")
    facts(
        [
            ("rule", f"{plain(rule['key'])}  {rule['id']}"),
            ("description", plain(one_line(rule["description"] or ""))),
            ("entity", plain(rule["entity"] or "")),
            ("when", plain(_when(rule))),
            ("version", str(rule["version"])),
            ("changed", f"{ago(rule['updated_date'])} by {plain(rule['updated_by'] or 'an older version')}"),
        ]
    )
    out.print()
    steps = {one["id"]: one["step"] for one in rule["actions"]}
    before: dict[str, list[str]] = {}
    for edge in rule["edges"]:
        source = edge["source_action_id"]
        kind = "" if edge["edge_type"] == "sequence" else f" ({edge['edge_type']})"
        before.setdefault(edge["target_action_id"], []).append("start" if source is None else f"{steps[source]}{kind}")
    rows = [_action_row(one, before.get(one["id"], [])) for one in rule["actions"]]
    show_table(_ACTION_COLUMNS, rows, nothing="it has no actions")


def _action_row(action: Document, before: list[str]) -> list[str | Text]:
    return [
        f"[bold]{plain(action['name'])}[/]",
        plain(action["action_type"]),
        Text(", ".join(before)),
        faint(action["id"]),
    ]


def save_rule(
    document: Annotated[str, typer.Argument(metavar="JSON", help="The rule: JSON, @file.json or -.")],
    rule: Annotated[str | None, typer.Option("--rule", metavar="RULE", help="The rule to replace.")] = None,
    if_match: Tag = None,
    validate_only: Annotated[bool, typer.Option("--validate-only", help="Only check it.")] = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Save a rule with all of its actions and edges: a new one, or with --rule one that exists."""
    value: Any = read_value(document, "JSON")
    if not isinstance(value, dict):
        raise wrong("JSON", "must be an object: a rule with name, actions and edges")
    if rule is None and if_match is not None:
        raise wrong("--if-match", "is for a rule that exists; name it with --rule")
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        if validate_only:
            checked = client.ask(rules.validate(value, id=rule))
            print_json(checked) if as_json else out.print(f"valid  {plain(checked['key'])}")
            return
        call = rules.create(value) if rule is None else rules.save(rule, value, if_match=if_match)
        saved = client.ask(call)
    for remark in saved.get("warnings") or []:
        warn(remark)
    if as_json:
        print_json(saved)
        return
    out.print(f"saved  {plain(saved['key'])}  version {saved['version']}")


def activate_rule(rule: Rule, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let events, schedules and callers start a rule."""
    _switch(rules.activate(rule), as_json, url, database)


def deactivate_rule(rule: Rule, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let nothing start a rule until it is activated again."""
    _switch(rules.deactivate(rule), as_json, url, database)


def _switch(call: Any, as_json: bool, url: str | None, database: str | None) -> None:
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(call)
    print_json(found) if as_json else out.print(f"{plain(found['key'])}  {_state(found)}")


def delete_rule(
    rule: Rule,
    if_match: Tag = None,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Delete a rule. Runs in flight go on."""
    confirm(f"Delete the rule {rule}?", yes=yes)
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(rules.delete(rule, if_match=if_match))
    print_json(found) if as_json else out.print(f"deleted  {plain(found['key'])}")


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_rules)
    app.command("show")(show_rule)
    app.command("save")(save_rule)
    app.command("activate")(activate_rule)
    app.command("deactivate")(deactivate_rule)
    app.command("delete")(delete_rule)
    matches.add_to(app)
