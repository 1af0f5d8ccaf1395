"""`detent events send TYPE` and `detent events entity ENTITY OPERATION ID`"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from detent.cli.client import open_client
from detent.cli.options import Database, Json, Url, read_input, read_value, settings_of, wrong
from detent.cli.output.terminal import Column, out, plain, print_json, show_table, warn
from detent.client import entity_events, runs

_COLUMNS: Final = (Column("trigger"), Column("result"), Column("run"))


def events() -> None:
    """Send an event."""


def send(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="What happened, such as order.created.")],
    data: Annotated[
        str | None, typer.Option("--data", "-d", metavar="JSON", help="More about it: JSON, @file.json or -.")
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", metavar="ID", help="A repeated id fires nothing again.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Send an event. Every event trigger that listens to its type fires."""
    call = runs.send_event(type_, read_input(data, "--data"), id=id_)
    with open_client(settings_of(database_url=database), url) as client:
        sent = client.ask(call)
        if as_json:
            print_json(sent)
            return
        fired = sent["firings"]
        count = "no trigger listens" if not fired else f"{len(fired)} trigger{'s' if len(fired) > 1 else ''} fired"
        out.print(f"[bold]{plain(sent['type'])}[/]  [bright_black]{plain(sent['id'])}[/]  {count}")
        rows = [[one["trigger_id"], one["status"], one["run_id"] or ""] for one in fired]
        if rows:
            show_table(_COLUMNS, rows, nothing="")
        if client.has_no_engine and fired:
            warn("no engine is running on this database; the runs begin when one does")


_RULES: Final = (Column("rule", may_shrink=True), Column("result"), Column("run", may_shrink=True))

Entity = Annotated[str, typer.Argument(metavar="ENTITY", help="The name of an entity, such as order.")]
OperationName = Annotated[str, typer.Argument(metavar="OPERATION", help="create, update or delete.")]
Record = Annotated[str | None, typer.Argument(metavar="ID", help="The id of the record.", show_default=False)]
RecordId = Annotated[str | None, typer.Option("--id", metavar="ID", help="The id of the record, as the third word.")]
Before = Annotated[
    str | None, typer.Option("--before", metavar="JSON", help="The record before the change: JSON, @file.json or -.")
]
After = Annotated[
    str | None, typer.Option("--after", metavar="JSON", help="The record after the change: JSON, @file.json or -.")
]
Actor = Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Who changed it.")]


def record_id(word: str | None, option: str | None) -> str | None:
    """Return the id of a record, which is the third word or an option. Raise InvalidInput if both are given and
    differ."""
    if word is not None and option is not None and word != option:
        raise wrong("--id", f"is {option!r}, but the id is {word!r} before it; write one of them")
    return word if option is None else option


def record_of(text: str | None, option: str) -> dict[str, object] | None:
    """Read a record that an option has."""
    return None if text is None else read_value(text, option)


def entity(
    name: Entity,
    operation: OperationName,
    record: Record = None,
    id_: RecordId = None,
    before: Before = None,
    after: After = None,
    actor: Actor = None,
    event_id: Annotated[
        str | None, typer.Option("--event-id", metavar="ID", help="A repeated id starts nothing again.")
    ] = None,
    wait: Annotated[float, typer.Option("--wait", help="Seconds to wait for what it starts.")] = 5.0,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Say that a record was created, updated or deleted. Every active rule that matches is started."""
    call = entity_events.send_change(
        name,
        operation,
        record_id(record, id_),
        before=record_of(before, "--before"),
        after=record_of(after, "--after"),
        actor=actor,
        event_id=event_id,
        wait=wait,
    )
    with open_client(settings_of(database_url=database), url) as client:
        sent = client.ask(call)
        if as_json:
            print_json(sent)
            return
        started, errors = sent.get("runs"), sent.get("errors") or []
        count = "no rule matches" if not started else f"{len(started)} rule{'s' if len(started) > 1 else ''} started"
        said = count if started is not None else sent["status"]
        out.print(f"[bold]{plain(sent['entity'])}[/] {sent['operation']}  [bright_black]{plain(sent['id'])}[/]  {said}")
        rows = [[one["rule"], sent["status"], one["run_id"]] for one in started or ()]
        rows += [[one["rule"], "errored", one["message"]] for one in errors]
        if rows:
            show_table(_RULES, [[plain(cell) for cell in row] for row in rows], nothing="")
        if client.has_no_engine and started:
            warn("no engine is running on this database; the runs begin when one does")


def add_to(app: typer.Typer) -> None:
    app.callback()(events)
    app.command("send")(send)
    app.command("entity")(entity)
