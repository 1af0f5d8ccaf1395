"""`detent triggers`: show and change triggers, and list their firings."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.options import Database, Input, Json, Url, Yes, read_file, read_moment, read_value, settings_of
from detent.cli.output.terminal import (
    Column,
    ago,
    confirm,
    facts,
    faint,
    local,
    local_and_ago,
    one_line,
    out,
    plain,
    print_json,
    show_table,
    warn,
)
from detent.client import triggers
from detent.client.calls import JSON, Call, bare, json_body, url_path
from detent.errors import InvalidInput, Problem
from detent.forms.definition import read_definition

# `detent triggers list|show|create|apply|pause|resume|next|delete`


_TRIGGER_COLUMNS: Final = (
    Column("trigger"),
    Column("workflow", may_shrink=True),
    Column("type"),
    Column("state"),
    Column("what", may_shrink=True),
    Column("next", may_shrink=True),
    Column("last", may_shrink=True),
    Column("note", may_shrink=True),
)

_MOST_IN_FILE: Final = 500
_CHANGES: Final = {"created": "green", "changed": "yellow", "deleted": "red"}

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
    """List all triggers, or those of a workflow."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(client.each(triggers.list_all(workflow=workflow, type=type_, enabled=enabled)))
    if as_json:
        print_json(rows)
        return
    show_table(_TRIGGER_COLUMNS, map(_trigger_row, rows), nothing="there are no triggers")


def _trigger_row(trigger: Document) -> list[str | Text]:
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
    """Show a trigger: its configuration, its next slot and its URL."""
    document = _ask(triggers.get(trigger), url, database)
    if as_json:
        print_json(document)
        return
    out.print(f"[bold]{plain(document['name'] or document['workflow'])}[/]  {document['type']}  {_state(document)}")
    facts(_facts(document))


def create_trigger(
    file: Annotated[Path, typer.Argument(help="A file with a trigger, YAML or JSON: workflow, type, config, ...")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Its name. If there is one, it is changed instead.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Create a trigger from a file, and print its id.

    With --name the command can be repeated: the trigger of that name is created, changed, or left as it is."""
    document = read_definition(read_file(file), filename=file.name)
    if name is not None:
        applied = _ask(_apply_call({**document, "name": name}), url, database)
        print_json(applied) if as_json else out.print(applied["trigger"]["id"])
        return
    body = json_body(document)
    call = Call("POST", url_path("triggers"), bare(dict[str, Any]), body=body, headers=JSON, repeatable=False)
    document = _ask(call, url, database)
    print_json(document) if as_json else out.print(document["id"])


def apply_triggers(
    file: Annotated[Path, typer.Argument(help="A file with `triggers:`, a list; each has workflow, name, type, ...")],
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete other named triggers of the workflows in the file.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Create and change triggers as a file says, by their names. Repeat it as often as you like.

    A trigger that is paused stays paused, unless the file says `enabled`. Triggers that are part of definitions, and
    those without a name, are never deleted."""
    wanted = _read_triggers(file)
    with open_client(settings_of(database_url=database), url) as client:
        applied = []
        for document in wanted:
            answer = client.ask(_apply_call(document))
            applied.append(answer)
            if not as_json:
                _print_change(answer["change"], answer["trigger"])
        kept = {answer["trigger"]["id"] for answer in applied}
        extra = _unwanted(client, applied, kept) if prune else []
        if extra:
            names = ", ".join(repr(one["name"]) for one in extra)
            confirm(
                f"Delete {len(extra)} trigger{'' if len(extra) == 1 else 's'} that the file lacks: {names}?", yes=yes
            )
        for trigger in extra:
            client.ask(triggers.delete(trigger["id"]))
            applied.append({"change": "deleted", "trigger": trigger})
            if not as_json:
                _print_change("deleted", trigger)
    if as_json:
        print_json(applied)


def _read_triggers(file: Path) -> list[Document]:
    """Return the triggers of a file: those of its list, or the one that the file is. Raise InvalidInput."""
    document = read_definition(read_file(file), filename=file.name)
    listed = document.get("triggers") if "triggers" in document else [document]
    problems = []
    if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_IN_FILE:
        raise InvalidInput(f"{file}: `triggers` must be a list of 1 to {_MOST_IN_FILE} triggers")
    if "triggers" in document and len(document) > 1:
        other = ", ".join(repr(key) for key in document if key != "triggers")
        raise InvalidInput(f"{file}: beside `triggers` there is {other}; put it into a trigger of the list")
    seen: set[tuple[object, object]] = set()
    for number, one in enumerate(listed):
        place = f"triggers[{number}]"
        if not isinstance(one, dict):
            problems.append(Problem(place, "must be a mapping with workflow, name and type"))
            continue
        if not isinstance(one.get("name"), str):
            problems.append(Problem(f"{place}.name", "is missing: a trigger of a file is found by its name"))
        key = one.get("workflow"), one.get("name")
        if key in seen:
            problems.append(Problem(f"{place}.name", f"{key[1]!r} is given twice for the workflow {key[0]!r}"))
        seen.add(key)
    if problems:
        raise InvalidInput(f"the triggers of {file} cannot be applied", problems)
    return listed


def _apply_call(document: Document) -> Call[Any]:
    return Call("PUT", url_path("triggers"), bare(dict[str, Any]), body=json_body(document), headers=JSON)


def _unwanted(client: CommandClient, applied: list[Document], kept: set[str]) -> list[Document]:
    """Return the named triggers of the applied workflows that were not applied."""
    workflows = dict.fromkeys(answer["trigger"]["workflow_id"] for answer in applied)
    return [
        row
        for workflow in workflows
        for row in client.each(triggers.list_all(workflow=workflow))
        if row["owned_by"] == "api" and row["name"] is not None and row["id"] not in kept
    ]


def _print_change(change: str, trigger: Document) -> None:
    colour = _CHANGES.get(change, "bright_black")
    out.print(f"[{colour}]{change:<9}[/]  {trigger['id']}  {plain(trigger['workflow'])}  {plain(trigger['name'])}")


def pause_trigger(
    trigger: Trigger,
    note: Annotated[str | None, typer.Option("--note", help="Why, for others to read.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Pause a trigger until it is resumed. Its earlier firings and their runs go on."""
    _print_trigger(_ask(triggers.pause(trigger, note), url, database), as_json=as_json)


def resume_trigger(trigger: Trigger, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Resume a trigger from now on."""
    _print_trigger(_ask(triggers.resume(trigger), url, database), as_json=as_json)


def next_slots(
    trigger: Trigger,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100, help="How many.")] = 10,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the next slots of a cron trigger."""
    found: Any = _ask(triggers.coming(trigger, count), url, database)
    if as_json:
        print_json(found)
        return
    for slot in found:
        out.print(f"{local(slot)}  [bright_black]{ago(slot)}[/]" if ago(slot).startswith("in") else local(slot))


def delete_trigger(
    trigger: Trigger, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete a trigger. The runs that it started go on."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(triggers.get(trigger))
        confirm(f"Delete the {found['type']} trigger of {found['workflow']!r}?", yes=yes)
        document = client.ask(triggers.delete(trigger))
    print_json(document) if as_json else out.print(f"deleted  {document['id']}")


def _ask(call: Call[Any], url: str | None, database: str | None) -> Document:
    with open_client(settings_of(database_url=database), url) as client:
        document: Document = client.ask(call)
        return document


def _print_trigger(trigger: Document, *, as_json: bool) -> None:
    if as_json:
        print_json(trigger)
        return
    coming = f"  [bright_black]next {ago(trigger['next_at'])}[/]" if trigger["next_at"] else ""
    out.print(f"{trigger['id']}  {_state(trigger)}{coming}")


def _state(trigger: Document) -> str:
    return "[green]enabled[/]" if trigger["enabled"] else "[yellow]paused[/]"


def _what(trigger: Document) -> str:
    """Return what fires a trigger, in a few words."""
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
    """Format a value: a text as it is, any other value as JSON."""
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
        ("next", trigger["next_at"] and local_and_ago(trigger["next_at"])),
        ("last fired", trigger["last_fired_at"] and f"{local(trigger['last_fired_at'])}"),
        ("note", plain(trigger["note"] or "")),
    ]


# `detent triggers fire|backfill|firings|replay`


_FIRING_COLUMNS: Final = (
    Column("firing"),
    Column("result"),
    Column("run"),
    Column("received", may_shrink=True),
    Column("why", may_shrink=True),
    Column("for the slot", may_shrink=True),
)
_COLOURS: Final = {"started": "green", "refused": "red", "errored": "red", "missed": "yellow", "skipped": "yellow"}
_MOST_SHOWN: Final = 5
_NOT_DONE: Final = ("refused", "errored")


def fire_trigger(
    trigger: Trigger, input_: Input = None, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Fire a trigger now, also if it is paused. Its condition and overlap policy apply."""
    call = triggers.fire(trigger, None if input_ is None else read_value(input_, "--input"))
    with open_client(settings_of(database_url=database), url) as client:
        _fired(client, call, as_json=as_json)


def replay_firing(
    trigger: Trigger,
    firing: Annotated[str, typer.Argument(help="The id of a firing, fir_...")],
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Fire again with the request of an earlier firing."""
    with open_client(settings_of(database_url=database), url) as client:
        _fired(client, triggers.replay(trigger, firing), as_json=as_json)


def list_firings(
    trigger: Trigger,
    status: Annotated[
        str | None, typer.Option("--status", "-s", metavar="STATUS", help="Only started, refused, skipped, ...")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 20,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the latest firings of a trigger and their results."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(islice(client.each(triggers.firings(trigger, state=status, limit=min(limit, 100))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_FIRING_COLUMNS, map(_firing_row, rows), nothing="it has not fired yet")


def backfill_trigger(
    trigger: Trigger,
    since: Annotated[str, typer.Option("--from", metavar="TIME", help="From then: 2026-02-22T10:00, or 1d ago.")],
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="Up to then: 2026-02-22T10:00, or 1h ago.")] = "0s",
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Fire slots of the past that have no firing. They are listed first."""
    begin, end = read_moment(since, "--from", ago=True), read_moment(until, "--to", ago=True)
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(triggers.backfill(trigger, begin, end, dry_run=True))
        slots = found["slots"]
        if not slots:
            print_json(found) if as_json else out.print("every slot in that range has fired")
            return
        if not as_json:
            _show_slots(slots)
        confirm(f"{'1 slot has' if len(slots) == 1 else f'{len(slots):,} slots have'} not fired. Fire now?", yes=yes)
        done = client.ask(triggers.backfill(trigger, begin, end, dry_run=False))
        if as_json:
            print_json(done)
        else:
            count = len(done["firings"])
            out.print(f"[green]{count:,}[/] firing{'' if count == 1 else 's'} made")
        if client.has_no_engine:
            warn("no engine is running on this database; the runs begin when one does")


def _show_slots(slots: list[str]) -> None:
    for slot in slots[:_MOST_SHOWN]:
        out.print(f"[bright_black]{local(slot)}[/]")
    if len(slots) > _MOST_SHOWN:
        out.print(f"[bright_black]… and {len(slots) - _MOST_SHOWN:,} more, the last {local(slots[-1])}[/]")


def _fired(client: CommandClient, call: Call[Any], *, as_json: bool) -> None:
    firing = client.ask(call)
    print_json(firing) if as_json else show_table(_FIRING_COLUMNS, [_firing_row(firing)], nothing="")
    if client.has_no_engine:
        warn("no engine is running on this database; the run begins when one does")
    if firing["status"] in _NOT_DONE:
        raise typer.Exit(1)


def _firing_row(firing: Document) -> list[str | Text]:
    return [
        firing["id"],
        Text(firing["status"], style=_COLOURS.get(firing["status"], "default")),
        firing["run_id"] or "",
        faint(ago(firing["received_at"])),
        Text(one_line(firing["message"])),
        faint(local(firing["scheduled_at"])),
    ]


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_triggers)
    app.command("show")(show_trigger)
    app.command("create")(create_trigger)
    app.command("apply")(apply_triggers)
    app.command("pause")(pause_trigger)
    app.command("resume")(resume_trigger)
    app.command("next")(next_slots)
    app.command("delete")(delete_trigger)
    app.command("fire")(fire_trigger)
    app.command("backfill")(backfill_trigger)
    app.command("firings")(list_firings)
    app.command("replay")(replay_firing)
