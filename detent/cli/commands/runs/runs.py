"""`detent runs list|show|export|why|wait|history|items|timeline`: show runs. `control.py` changes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.markup import escape
from rich.text import Text
from rich.tree import Tree

from detent.cli.client import LONG_PATIENCE, CommandClient, Document, open_client
from detent.cli.commands.runs import control
from detent.cli.options import Database, Json, Run, Url, read_seconds, settings_of, wrong
from detent.cli.output.journal import JournalLine, clock, day, drawn, lines_of
from detent.cli.output.progress import error_of, instant, step_rows
from detent.cli.output.terminal import (
    Column,
    ago,
    duration,
    facts,
    faint,
    local,
    local_and_ago,
    marked,
    one_line,
    out,
    plain,
    print_json,
    show_table,
    warn,
)
from detent.cli.output.watch import print_result, step_lines, watch
from detent.cli.run_filter import filtered
from detent.client import runs
from detent.client.calls import Call, Pages, given, page, url_path
from detent.client.calls import one as document_of
from detent.client.runs import RunFilter
from detent.clock import SystemClock
from detent.documents.runs import ENDED
from detent.errors import InvalidInput
from detent.instant import SECOND
from detent.run.call import name_of
from detent.views.export.run_test import as_test

# `detent runs history|timeline`: the attempts of a run, and the journals of all runs of a hero.


_ENTRIES_PAGE: Final = 200
_FAINT: Final = "bright_black"
_RUN_STARTED: Final = "run_started"
_ENDS: Final = ("completed_at", "failed_at", "skipped_at", "cancelled_at")
_HISTORY_COLUMNS: Final = (
    Column("ended"),
    Column("step", may_shrink=True),
    Column("attempt", right=True),
    Column("state"),
    Column("outcome"),
    Column("late", right=True),
    Column("took", right=True),
    Column("error", may_shrink=True),
)
#: Each run of a timeline has its own colour.
_COLOURS: Final = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta")

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="How many.")]


def show_history(
    run: Annotated[str, typer.Argument(help="The id of a run, run_...")],
    traceback: Annotated[bool, typer.Option("--traceback", "-t", help="With the traceback of each error.")] = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List every attempt of a run that has ended, with its outcome."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(client.each(runs.history(run, limit=_ENTRIES_PAGE)))
    if as_json:
        print_json(rows)
        return
    show_table(_HISTORY_COLUMNS, map(_history_row, rows), nothing="no attempt has ended yet", titled=True)
    if traceback:
        for row in rows:
            _print_traceback(row)


def _history_row(row: Document) -> list[str | Text]:
    end = _ended(row)
    begun = row["started_at"]
    late = "" if begun is None else _span(row["scheduled_for"], begun)
    took = "" if begun is None else _span(begun, end)
    error = Text(one_line(row["error_message"]), style="red")
    again = faint(row["outcome"]) if row["outcome"] == "success" else plain(row["outcome"])
    return [
        faint(clock(end)),
        plain(row["step"]),
        str(row["attempt"]),
        marked(row["state"]),
        again,
        faint(late),
        faint(took),
        error,
    ]


def _ended(row: Document) -> str:
    return next(str(row[name]) for name in _ENDS if row[name])


def _span(begin: str, end: str) -> str:
    return duration(max(0, instant(end) - instant(begin)) / SECOND)


def _print_traceback(row: Document) -> None:
    if row["error_traceback"]:
        out.print(f"\n[bold]{plain(row['step'])}[/] attempt {row['attempt']}")
        out.print(plain(row["error_traceback"].rstrip()), style=_FAINT)


_ITEM_COLUMNS: Final = (
    Column("item", right=True),
    Column("status"),
    Column("attempts", right=True),
    Column("run"),
    Column("error", may_shrink=True),
)


def list_items(
    run: Annotated[str, typer.Argument(help="The id of a run, run_...")],
    step: Annotated[str, typer.Argument(help="A step that runs for each item of a list.")],
    status: Annotated[str | None, typer.Option("--status", "-s", help="Only items with this status, failed.")] = None,
    limit: Limit = 1_000,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the items of a step that runs for each item of a list."""
    with open_client(settings_of(database_url=database), url) as client:
        call = runs.items(run, step, status=status, limit=min(limit, _ENTRIES_PAGE))
        found = list(islice(client.each(call), limit))
    if as_json:
        print_json(found)
        return
    rows = ([str(one["index"]), marked(one["status"]), str(one["attempts"]), *_item_place(one)] for one in found)
    show_table(_ITEM_COLUMNS, rows, nothing="there are no such items", titled=True)


def _item_place(item: Document) -> list[str | Text]:
    error = item["error"]["message"] if item["error"] else ""
    return [faint(item["child_run_id"] or item["run_id"] or ""), Text(one_line(error), style="red")]


def list_timeline(
    hero: Annotated[str, typer.Argument(metavar="TYPE:ID", help="What the runs are about, User:42.")],
    limit: Limit = 1_000,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show everything that happened in all runs of one hero, in the order of time."""
    with open_client(settings_of(database_url=database), url) as client:
        found = list(islice(client.each(runs.timeline(hero, limit=min(limit, _ENTRIES_PAGE))), limit))
    if as_json:
        print_json(found)
        return
    if not found:
        out.print(f"nothing has happened to {plain(hero)}", style=_FAINT)
        return
    ids = list(dict.fromkeys(one["run_id"] for one in found))
    days = f"{day(found[0]['at'])} to {day(found[-1]['at'])}" if day(found[0]["at"]) != day(found[-1]["at"]) else ""
    many = "1 run" if len(ids) == 1 else f"{len(ids)} runs"
    out.print(f"[bold]{plain(hero)}[/]  [{_FAINT}]{many}  {days}[/]".rstrip())
    for text in _lines(found, ids):
        out.print(text)


def _lines(found: list[Document], ids: list[str]) -> Iterator[Text]:
    """Yield a line for each event with the name of its workflow, and the date before the first event of a day."""
    width = max(len(one["step"] or "") for one in found)
    names = {one["run_id"]: one_line(one["workflow"]) for one in found}
    longest = max(map(len, names.values()))
    last = ""
    for one in found:
        if day(one["at"]) != last:
            last = day(one["at"])
            yield Text(f"── {datetime.fromisoformat(one['at']).astimezone():%A} {last} ──", style=_FAINT)
        colour = _COLOURS[ids.index(one["run_id"]) % len(_COLOURS)]
        for line in _journal_lines(one):
            text = drawn(line, width)
            column = text.plain.index("  ") + 2
            yield text[:column] + Text(f"▌{names[one['run_id']]:<{longest}}  ", style=colour) + text[column:]


def _journal_lines(one: Document) -> Iterator[JournalLine]:
    if one["kind"] == _RUN_STARTED:
        yield JournalLine(one["at"], "", "running", f"run begins  {one['run_id']}")
    else:
        yield from lines_of(one)


_RUNS_PAGE: Final = 100
#: The documents of a list do not say why a run is paused. For so many paused runs it is requested one by one.
_MOST_REASONS: Final = 50
_RUN_COLUMNS: Final = (
    Column("run"),
    Column("workflow", may_shrink=True),
    Column("status"),
    Column("started"),
    Column("took", right=True),
    Column("hero", may_shrink=True),
    Column("error or wait", may_shrink=True),
)
#: What a run waits for that says "running".
_STAGES: Final = {
    "person": "waits for a person",
    "waiting": "waits for a callback",
    "child": "waits for a child",
    "sleeping": "sleeps",
    "retrying": "tries again later",
}
_STEPS: Final = Column("steps", right=True)
_MOST_CHILDREN: Final = 20
_DIFF: Final = {"+": "green", "-": "red"}
#: Mark and colour of each kind of reason why a run does not go on.
_REASONS: Final = {
    "ended": ("■", "bright_black"),
    "not_started": ("◷", "yellow"),
    "signal": ("◇", "magenta"),
    "child": ("◇", "magenta"),
    "paused": ("‖", "yellow"),
    "uncertain": ("?", "red"),
    "probe": ("?", "yellow"),
    "ready": ("·", "cyan"),
    "callback": ("◇", "magenta"),
    "retry": ("↻", "yellow"),
    "sleep": ("☾", "blue"),
    "suspect": ("!", "red"),
    "running": ("●", "cyan"),
    "needs": ("└", "bright_black"),
}


@filtered
def list_runs(
    which: RunFilter,
    name: Annotated[
        str | None, typer.Argument(metavar="WORKFLOW", help="The name or id of a workflow; all if it is left out.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="How many.")] = 20,
    everything: Annotated[bool, typer.Option("--all", "-a", help="List all runs, and search to the end.")] = False,
    oldest: Annotated[bool, typer.Option("--oldest", help="The oldest first.")] = False,
    progress: Annotated[bool, typer.Option("--progress", help="With how many steps of each run have ended.")] = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the latest runs of a workflow, or of all workflows."""
    if name is not None:
        which["workflow"] = name
    sort = "started_at" if oldest else None
    rows: list[Document] = []
    cursor = stopped = None
    with open_client(settings_of(database_url=database), url) as client:
        while stopped is None and (everything or len(rows) < limit):
            size = _RUNS_PAGE if everything else min(_RUNS_PAGE, limit - len(rows))
            _, page = client.answer(runs.list_page(cursor=cursor, sort=sort, progress=progress, limit=size, **which))
            rows += page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
            stopped = None if everything else page["searched_until"]
        paused = [row["id"] for row in rows if row["status"] == "paused" and not as_json]
        reasons = {one: _why_paused(client.ask(runs.get(one))) for one in paused[:_MOST_REASONS]}
    if as_json:
        print_json(rows)
    else:
        columns = (*_RUN_COLUMNS[:-1], _STEPS, _RUN_COLUMNS[-1]) if progress else _RUN_COLUMNS
        shown = (_run_row(row, reasons.get(row["id"]), named="workflow" not in which) for row in rows)
        nothing = "there are no such runs" if stopped is None else "no such run was found so far"
        show_table(columns, shown, nothing=nothing)
    if stopped is not None:
        warn(_how_to_go_on(stopped, oldest=oldest))


def _how_to_go_on(stopped: str, *, oldest: bool) -> str:
    """Say how far a search has looked, and which options go on from there. An instant of the API has milliseconds, and
    an option takes the runs of one of them all or not at all: those of the last one are looked at again."""
    last = datetime.fromisoformat(stopped)
    place = "up to" if oldest else "back to"
    option = f"--since {last.isoformat()}" if oldest else f"--until {(last + timedelta(milliseconds=1)).isoformat()}"
    return f"the search went {place} {local(stopped)}: go on with {option}, or search to the end with --all"


def _run_row(run: Document, reason: str | None, *, named: bool) -> list[str | Text]:
    begun, hero = run["started_at"] or run["start_at"], run["hero"]
    name = plain(run["workflow"]) if named else ""
    about = Text(one_line(f"{hero['type']}:{hero['id']}") if hero else "")
    stage = run["stage"] or {"kind": None, "step": None}
    waits = _STAGES.get(stage["kind"], "")
    step = stage["step"] or ""
    waits = f"{name_of(step) if step.startswith('@') else step} {waits}".lstrip() if waits else ""
    style = "yellow" if reason else "red" if run["error"] else "bright_black"
    error = Text(one_line(run["error"] or reason or waits), style=style)
    steps = [faint(_steps(run["progress"]))] if run.get("progress") else []
    return [run["id"], name, marked(run["status"]), faint(ago(begun)), faint(_took(run)), about, *steps, error]


def _steps(progress: Document) -> str:
    """Return `2 of 5 steps`; a durable function does not know how many it will have."""
    many = "" if progress["total"] is None else f" of {progress['total']}"
    return f"{progress['done']}{many} steps"


def _why_paused(run: Document) -> str:
    """Return what paused a run: a step and its error, or the name of a caller."""
    step = run["tasks"].get(run["paused_step"])
    if step is None:
        return f"by {run['paused_by']}" if run["paused_by"] else ""
    return f"{run['paused_step']}: {error_of(step) or run['paused_by']}"


def show_run(
    run: Run,
    as_json: Json = False,
    save: Annotated[
        bool,
        typer.Option("--as-test", help="Print a test for pytest that repeats the run with the results of its steps."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="With --as-test: the file to write; nothing is overwritten.")
    ] = None,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show a run with its steps."""
    if output is not None and not save:
        raise wrong("--output", "can only be used with --as-test")
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(runs.get(run, include=["resources"]))
        if save:
            _save_as_test(client, document, output)
            return
        if as_json:
            print_json(document)
            return
        lines = step_lines(client, document)
        tree = client.ask(Call("GET", url_path("runs", document["id"], "hierarchy"), document_of(dict[str, Any])))
    took = _took(document)
    out.print(f"{marked(document['status'])}  [bold]{plain(document['workflow'])}[/]  [bright_black]{took}[/]")
    facts([*_facts(document), *_relatives(tree["root"], document["id"])])
    out.print()
    for row in step_rows(document, lines, SystemClock().wall(), below=True):
        out.print(row)
    if document["error"] or document["output"] is not None:
        out.print()
        print_result(document)


class ExportForm(StrEnum):
    """The forms in which a run is exported."""

    JSON = "json"
    TEST = "test"
    TEST_YAML = "test-yaml"


def export_run(
    run: Run,
    form: Annotated[
        ExportForm,
        typer.Option("--as", help="The whole run as JSON, a test for pytest, or a test in text for `detent test`."),
    ] = ExportForm.JSON,
    workflow: Annotated[
        str | None,
        typer.Option("--workflow", metavar="FILE", help="With test-yaml: the file to test, in place of a copy of it."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; nothing is overwritten.")
    ] = None,
    url: Url = None,
    database: Database = None,
) -> None:
    """Write a run to a file: everything about it, or a test that repeats it with the results of its steps."""
    if workflow is not None and form is not ExportForm.TEST_YAML:
        raise wrong("--workflow", "can only be used with --as test-yaml")
    query = given(**{"as": str(form)}, workflow=workflow)
    with open_client(settings_of(database_url=database), url) as client:
        text = client.text(Call("GET", url_path("runs", run, "export"), document_of(dict[str, Any]), query=query))
    runner = {ExportForm.TEST: "pytest", ExportForm.TEST_YAML: "detent test"}.get(form)
    _write_new(text if text.endswith("\n") else f"{text}\n", output, runner)


def show_tree(
    run: Run,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="How many runs at most.")] = 200,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show the parents and children of a run as a tree, from the run that was started first."""
    with open_client(settings_of(database_url=database), url) as client:
        place = url_path("runs", run, "hierarchy")
        found = client.ask(Call("GET", place, document_of(dict[str, Any]), query=(("limit", str(limit)),)))
    if as_json:
        print_json(found)
        return
    tree = Tree(_member(found["root"], run), guide_style=_FAINT)
    left = [(tree, found["root"])]
    while left:
        branch, member = left.pop()
        left += [(branch.add(_member(child, run)), child) for child in member["children"]]
        if member.get("more"):
            branch.add(f"[{_FAINT}]and more: detent runs tree {member['id']}, or --limit[/]")
        for one in member.get("maps", ()):
            inner = branch.add(_map(one))
            left += [(inner.add(_member(child, run)), child) for child in one["children"]]
            if one.get("more"):
                inner.add(f"[{_FAINT}]and more: detent runs items {member['id']} {plain(one['step'])}[/]")
    out.print(tree)
    if not found["complete"]:
        warn(f"only {limit} runs are shown; there may be more")


def _member(member: Document, run: str) -> str:
    parent, item = member.get("parent"), member.get("item")
    name = f"item {item}" if item is not None else parent and parent["step"]
    step = f"[{_FAINT}]{plain(name)}[/]  " if name else ""
    shown = f"[bold]{member['id']}[/]" if member["id"] == run else member["id"]
    return f"{step}{shown}  {marked(member['status'])}  {plain(member['workflow'])}  [{_FAINT}]{_took(member)}[/]"


def _map(one: Document) -> str:
    """Return the line of a map whose items are runs: its step, and how many items it has."""
    counts = one["items"]
    failed = f", {counts['failed']:,} failed" if counts["failed"] else ""
    some = "1 item" if counts["count"] == 1 else f"{counts['count']:,} items"
    return f"[{_FAINT}]{plain(one['step'])}[/]  {some}  [{_FAINT}]{counts['succeeded']:,} succeeded{failed}[/]"


def _members(found: Document) -> list[Document]:
    """Return the runs that a run started, those of its maps too."""
    return [*found["children"], *(child for one in found.get("maps", ()) for child in one["children"])]


def _relatives(tree: Document, run: str) -> list[tuple[str, str | None]]:
    """Return the parent and the children of a run, found in the tree of its runs."""
    left: list[tuple[str | None, Document]] = [(None, tree)]
    while left:
        parent, found = left.pop()
        if found["id"] == run:
            children = [_relative(child) for child in _members(found)]
            more = f"and {len(children) - _MOST_CHILDREN} more" if len(children) > _MOST_CHILDREN else ""
            shown = "\n".join(filter(None, (*children[:_MOST_CHILDREN], more)))
            return [("parent", parent), ("children", shown)]
        left += [(_relative(found), child) for child in _members(found)]
    return []  # the tree is larger than the API returns, and the run is not in that part


def _relative(run: Document) -> str:
    return f"{run['id']}  {marked(run['status'])}  {plain(run['workflow'])}"


def _save_as_test(client: CommandClient, run: Document, file: Path | None) -> None:
    pages = Pages(Call("GET", url_path("workflows", run["workflow_id"], "versions"), page(dict[str, Any])))
    versions = list(client.each(pages))
    version = next((one for one in versions if one["version"] == run["version"]), None)
    if version is None:
        raise InvalidInput(f"version {run['version']} of the workflow {run['workflow']!r} does not exist any more")
    entries = [entry for some in client.entries(run["id"]) for entry in some]
    later = [datetime.fromisoformat(one["inserted_at"]) for one in versions if one["version"] > run["version"]]
    edited = any(run["finished_at"] is None or made < datetime.fromisoformat(run["finished_at"]) for made in later)
    _write_new(as_test(run, version["definition"], entries, edited=edited), file, "pytest")


def _write_new(text: str, file: Path | None, runner: str | None) -> None:
    """Write a new file, or print the text without one. `runner` is the program that runs the file as a test."""
    if file is None:
        print(text, end="")
        return
    try:
        with file.open("x") as new:
            new.write(text)
    except OSError as error:
        raise InvalidInput(f"cannot write {file}: {error.strerror or error}") from None
    hint = f"; `{runner} {escape(str(file))}` runs it" if runner else ""
    out.print(f"wrote {escape(str(file))}{hint}")


def _facts(run: Document) -> list[tuple[str, str | None]]:
    begun = run["started_at"] or run["start_at"]
    origin, hero = run["origin"], run["hero"]
    waits = [one["url"] for one in run["callbacks"] if one["status"] == "active"]
    return [
        ("run", run["id"]),
        ("version", str(run["version"])),
        ("starts" if run["start_at"] else "started", local_and_ago(begun) if begun else None),
        ("by", run["trigger_id"] or run["trigger"]),
        ("request id", plain(run["request_id"] or "")),
        ("made from", origin and f"{origin['run_id']} by {origin['kind']}"),
        ("about", hero and plain(f"{hero['type']}:{hero['id']}")),
        ("labels", plain("  ".join(f"{key}={value}" for key, value in run["labels"].items()))),
        ("paused by", plain(run["paused_by"] or "")),
        ("waits at", plain("\n".join(waits))),
        ("resources", plain("\n".join(_resource(one) for one in run.get("resources") or ()))),
    ]


def _resource(resource: Document) -> str:
    """Return a resource of another system in one line."""
    named = f"{resource['system']} {resource['type']} {resource['id']}"
    return f"{named}  {resource['url']}" if resource["url"] else named


def explain_run(run: Run, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Explain why a run does not go on: what blocks it, then the steps that wait for that."""
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(runs.why(run))
        if client.has_no_engine and document["status"] not in ENDED:
            warn("no engine is running on this database; no run goes on until one starts")
    if as_json:
        print_json(document)
        return
    out.print(f"{marked(document['status'])}  [bright_black]{document['run_id']}[/]")
    for reason in document["reasons"]:
        out.print(_reason(reason))
        for line in str((reason["details"] or {}).get("diff") or "").splitlines():
            out.print(Text(f"    {one_line(line)}", style=_DIFF.get(line[:1], "bright_black")))


def _reason(reason: Document) -> Text:
    mark, colour = _REASONS.get(reason["kind"], ("!", "red"))
    waits = reason["kind"] == "needs"
    text = Text.assemble("    " if waits else "  ", (f"{mark} ", colour))
    said = Text(one_line(reason["message"]), style="bright_black" if waits else "default")
    if reason["step"]:
        said.highlight_words([f"'{reason['step']}'"], "bold" if not waits else "default")
    index = said.plain.find("Last error: ")
    if index >= 0:
        said.stylize("red", index)
    return text + said


def wait_for_run(
    run: Run,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="SECONDS", help="Wait at most so long; 10m means ten minutes.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Watch a run until it ends. Exit code 0 if it completed, 1 if not."""
    seconds = None if timeout is None else read_seconds(timeout, "--timeout")
    with open_client(settings_of(database_url=database), url, patience=LONG_PATIENCE) as client:
        watch(client, run, seconds=seconds, as_json=as_json)


def _took(run: dict[str, Any]) -> str:
    if not run["started_at"]:
        return ""
    end = instant(run["finished_at"]) if run["finished_at"] else SystemClock().wall()
    return duration(max(0, end - instant(run["started_at"])) / SECOND)


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_runs)
    app.command("show")(show_run)
    app.command("export")(export_run)
    app.command("tree")(show_tree)
    app.command("why")(explain_run)
    app.command("wait")(wait_for_run)
    app.command("history")(show_history)
    app.command("items")(list_items)
    app.command("timeline")(list_timeline)
    control.add_to(app)
