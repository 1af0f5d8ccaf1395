"""`detent rules match|recent|firings`: what events do to rules; a part of `detent rules`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.commands.triggers.events import (
    Actor,
    After,
    Before,
    Entity,
    OperationName,
    Record,
    RecordId,
    record_id,
    record_of,
)
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import Column, ago, faint, one_line, plain, print_json, show_table
from detent.client import entity_events
from detent.client.calls import Call

_MATCHES: Final = (Column("rule", may_shrink=True), Column("matches"), Column("reason", may_shrink=True))
_RECENT: Final = (
    Column("event", may_shrink=True),
    Column("operation"),
    Column("record", may_shrink=True),
    Column("received"),
    Column("matches"),
    Column("reason", may_shrink=True),
)
_FIRINGS: Final = (
    Column("result"),
    Column("event", may_shrink=True),
    Column("record", may_shrink=True),
    Column("at"),
    Column("run", may_shrink=True),
    Column("message", may_shrink=True),
)

Rule = Annotated[str, typer.Argument(metavar="RULE", help="The key or the id of a rule.")]


def match(
    name: Entity,
    operation: OperationName,
    record: Record = None,
    id_: RecordId = None,
    before: Before = None,
    after: After = None,
    actor: Actor = None,
    rule: Annotated[str | None, typer.Option("--rule", help="Only this rule, active or not.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show which rules a change would start, and which condition of the others is false. Nothing is started."""
    call = entity_events.match_rules(
        name,
        operation,
        record_id(record, id_),
        before=record_of(before, "--before"),
        after=record_of(after, "--after"),
        actor=actor,
        rule=rule,
    )
    _show(call, as_json, url, database, _MATCHES, _match_row, f"the entity {name} has no active rules")


def recent(rule: Rule, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show which of the last 50 events of its entity a rule matches, active or not."""
    call = entity_events.recent_matches(rule)
    _show(call, as_json, url, database, _RECENT, _recent_row, "its entity had no events")


def firings(
    rule: Rule,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")] = 20,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the runs that events started of a rule, and the events that could not start it, newest first."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(islice(client.each(entity_events.rule_firings(rule, limit=min(limit, 200))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_FIRINGS, map(_firing_row, rows), nothing="no event has fired this rule")


def _show(
    call: Call[Any],
    as_json: bool,
    url: str | None,
    database: str | None,
    columns: tuple[Column, ...],
    row: Callable[[Document], list[str | Text]],
    nothing: str,
) -> None:
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(call)
    if as_json:
        print_json(found)
        return
    show_table(columns, map(row, found), nothing=nothing)


def _mark(matches: bool) -> str:
    return "[green]yes[/]" if matches else "no"


def _match_row(one: Document) -> list[str | Text]:
    return [plain(one["rule"]), _mark(one["matches"]), faint(one_line(one["reason"]))]


def _recent_row(one: Document) -> list[str | Text]:
    event = [plain(one["id"]), one["operation"], plain(one["record_id"] or ""), faint(ago(one["received_at"]))]
    return [*event, _mark(one["matches"]), faint(one_line(one["reason"]))]


def _firing_row(one: Document) -> list[str | Text]:
    what = [one["status"], plain(one["event_id"] or ""), plain(one["record_id"] or ""), faint(ago(one["at"]))]
    return [*what, one["run_id"] or "", faint(one_line(one["message"]))]


def add_to(app: typer.Typer) -> None:
    """Add the commands to `detent rules`."""
    app.command("match")(match)
    app.command("recent")(recent)
    app.command("firings")(firings)
