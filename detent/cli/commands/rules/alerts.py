"""`detent alerts list|ack|resolve`: what actions of rules have raised."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import Column, ago, faint, one_line, out, plain, print_json, show_table
from detent.client import rules

_COLUMNS: Final = (
    Column("alert"),
    Column("severity"),
    Column("status"),
    Column("raised", may_shrink=True),
    Column("rule", may_shrink=True),
    Column("title", may_shrink=True),
)
_COLOURS: Final = {"critical": "red", "high": "red", "medium": "yellow"}
Alerts = Annotated[list[str], typer.Argument(metavar="ALERT...", help="The ids of alerts, alt_...")]


def list_alerts(
    status: Annotated[
        list[str] | None,
        typer.Option("--status", metavar="STATUS", help="Only open, acknowledged or resolved ones; repeatable."),
    ] = None,
    severity: Annotated[
        list[str] | None,
        typer.Option("--severity", metavar="WORD", help="Only low, medium, high or critical ones; repeatable."),
    ] = None,
    alert_type: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Only those of this type.")] = None,
    rule: Annotated[str | None, typer.Option("--rule", metavar="RULE", help="Only those of this rule.")] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only those of this run.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 20,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the latest alerts."""
    given = {"status": status, "severity": severity, "alert_type": alert_type, "rule": rule, "run": run}
    which: Any = {name: value for name, value in given.items() if value}
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(islice(client.each(rules.list_alerts(limit=min(limit, 100), **which)), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no such alerts")


def _row(alert: Document) -> list[str | Text]:
    colour = _COLOURS.get(alert["severity"])
    return [
        alert["id"],
        f"[{colour}]{alert['severity']}[/]" if colour else alert["severity"],
        alert["status"],
        faint(ago(alert["created_date"])),
        Text(alert["rule"]),
        Text(one_line(alert["title"])),
    ]


def acknowledge_alerts(alerts: Alerts, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Record that you have seen alerts."""
    _settle([rules.acknowledge_alert(one) for one in alerts], as_json, url, database)


def resolve_alerts(alerts: Alerts, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Record that the causes of alerts are gone."""
    _settle([rules.resolve_alert(one) for one in alerts], as_json, url, database)


def _settle(calls: list[Any], as_json: bool, url: str | None, database: str | None) -> None:
    with open_client(settings_of(database_url=database), url) as client:
        done = [client.ask(call) for call in calls]
    if as_json:
        print_json(done)
        return
    for one in done:
        out.print(f"{one['status']}  {one['id']}  {plain(one_line(one['title']))}")


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_alerts)
    app.command("ack")(acknowledge_alerts)
    app.command("resolve")(resolve_alerts)
