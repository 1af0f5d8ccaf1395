"""`detent runs cancel|pause|resume|retry|skip|reattempt|finish|signal|rerun|fork|resolve|move`: control runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypedDict

import typer
from msgspec import UNSET

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.commands.runs.moves import move_runs
from detent.cli.options import Database, Input, Json, Run, Url, Yes, read_value, settings_of, wrong
from detent.cli.output.terminal import confirm, err, marked, out, plain, print_json, say_error, warn
from detent.cli.run_filter import filtered
from detent.client import runs
from detent.client.calls import Call
from detent.client.runs import Action, RetryVersion, RunFilter
from detent.errors import DetentError, InvalidInput
from detent.values.durations import parse_duration

# `detent runs skip|reattempt|finish`


Step = Annotated[
    str | None, typer.Option("--step", metavar="STEP", help="Which step; without it, the one the run is at.")
]
Wait = Annotated[str | None, typer.Option("--wait", metavar="TIME", help="How long to wait first: 30s, 10m, 2h.")]
_WAITING: Final = " (requested, not applied yet)"


def skip_step(run: Run, step: Step = None, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Skip a step and go on with the next, also if the run was paused. An attempt in flight is stopped."""
    _steer(runs.skip(run, step), "skip", as_json=as_json, url=url, database=database)


def reattempt_step(
    run: Run,
    step: Step = None,
    wait: Wait = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Run a step again, in the same run. An attempt in flight is stopped. A paused run goes on."""
    call = runs.reattempt(run, step, wait=None if wait is None else _seconds(wait))
    _steer(call, "reattempt", as_json=as_json, url=url, database=database)


def finish_run(run: Run, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Complete a run now. Steps that have not ended are skipped."""
    _steer(runs.finish(run), "finish", as_json=as_json, url=url, database=database)


def _seconds(text: str) -> float:
    try:
        return parse_duration(float(text) if text.replace(".", "", 1).isdecimal() else text)
    except InvalidInput as error:
        raise wrong("--wait", error.message) from error


def _steer(call: Call[Any], wish: str, *, as_json: bool, url: str | None, database: str | None) -> None:
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(call)
        if as_json:
            print_json(document)
        else:
            out.print(f"{marked(document['status'])}{_WAITING if document.get(f'{wish}_requested') else ''}")
        if client.has_no_engine:
            warn("no engine is running on this database; it is applied when one starts")


# `detent runs rerun|fork|resolve`


ForkStep = Annotated[str, typer.Option("--step", metavar="STEP", help="The step to begin at.")]
Output = Annotated[
    str | None, typer.Option("--output", metavar="JSON", help="The output of the step: JSON, @file.json or -.")
]


def rerun_run(
    run: Run, input_: Input = None, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Run the workflow again from the beginning, in its current version, with the same input or another."""
    call = runs.rerun(run, UNSET if input_ is None else read_value(input_, "--input"))
    with open_client(settings_of(database_url=database), url) as client:
        _made(client, call, as_json=as_json)


def fork_run(
    run: Run, step: ForkStep, output: Output = None, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Start a new run at a step. Results that do not depend on it are reused. With --output the step does not run."""
    call = runs.fork(run, step, output=UNSET if output is None else read_value(output, "--output"))
    with open_client(settings_of(database_url=database), url) as client:
        _made(client, call, as_json=as_json)


def resolve_step(
    run: Run,
    step: Annotated[str, typer.Argument(help="The step whose node died during it.")],
    happened: Annotated[
        bool | None, typer.Option("--happened/--did-not-happen", help="Whether it did its work.")
    ] = None,
    output: Output = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Say whether a step happened whose node died during it. The run goes on when no step is uncertain any more."""
    if happened is None:
        raise wrong("--happened", "say --happened or --did-not-happen")
    if output is not None and not happened:
        raise wrong("--output", "is only for a step that happened")
    said = UNSET if output is None else read_value(output, "--output")
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(runs.resolve(run, step, happened=happened, output=said))
        if as_json:
            print_json(document)
        else:
            waiting = " (requested, not applied yet)" if document.get("resolve_requested") else ""
            out.print(f"{marked(document['status'])}{waiting}")


def _made(client: CommandClient, call: Call[Any], *, as_json: bool) -> None:
    document = client.ask(call)
    if as_json:
        print_json(document)
    else:
        out.print(document.get("id") or document["run_id"])
    if client.has_no_engine:
        warn("no engine is running on this database; the run begins when one does")


# `detent runs signal`


def signal_run(
    run: Annotated[str, typer.Argument(help="The id of the run, run_...")],
    name: Annotated[str, typer.Argument(help="The name of the signal.")],
    value: Annotated[
        str | None, typer.Argument(metavar="JSON", help="What the function gets, as --data; may be left out.")
    ] = None,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="What the function gets.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Send a signal to a run of a durable function. The function may wait for it before or after it is sent."""
    if data is not None and value is not None:
        raise wrong("--data", "is given twice: leave out one of the two")
    text = value if data is None else data
    given = None if text is None else read_value(text, "--data")
    with open_client(settings_of(database_url=database), url) as client:
        document = client.ask(runs.signal(run, name, given))
        if as_json:
            print_json(document)
        else:
            out.print(f"sent {plain(name)}")
        if client.has_no_engine:
            warn("no engine is running on this database; the function receives the signal when one starts")


_MOST: Final = 10_000
_CALLS: Final[dict[Action, Callable[[str], Any]]] = {
    "cancel": runs.cancel,
    "pause": runs.pause,
    "resume": runs.resume,
    "retry": runs.retry,
}
_HELP: Final[dict[Action, str]] = {
    "cancel": "Cancel runs. What has been sent cannot be taken back.",
    "pause": "Pause runs: attempts in flight finish, nothing new starts.",
    "resume": "Resume paused runs.",
}

Runs = Annotated[list[str] | None, typer.Argument(metavar="RUN...", help="The ids of runs, run_...")]
Current = Annotated[
    bool, typer.Option("--current", help="In the current version of the workflow, not in that of the run.")
]
AllMatching = Annotated[
    bool, typer.Option("--all-matching", help="Every run that matches the filter. They are counted first.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would be kept, and which steps would run again.")
]


class _Flags(TypedDict):
    """The flags of a command for runs, beside its filter."""

    yes: bool
    as_json: bool
    url: str | None
    database: str | None


def _command(wish: Action) -> Callable[..., None]:
    @filtered
    def command(
        which: RunFilter,
        run: Runs = None,
        all_matching: AllMatching = False,
        yes: Yes = False,
        as_json: Json = False,
        url: Url = None,
        database: Database = None,
    ) -> None:
        flags = _Flags(yes=yes, as_json=as_json, url=url, database=database)
        _apply(wish, run, which, None, flags, all_matching=all_matching)

    command.__doc__ = _HELP[wish]
    return command


@filtered
def retry_runs(
    which: RunFilter,
    run: Runs = None,
    all_matching: AllMatching = False,
    current: Current = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Retry failed runs as new runs that reuse the results of steps that succeeded."""
    version: RetryVersion | None = "current" if current else None
    if dry_run:
        _preview(run, which, version, as_json=as_json, url=url, database=database, all_matching=all_matching)
        return
    flags = _Flags(yes=yes, as_json=as_json, url=url, database=database)
    _apply("retry", run, which, version, flags, all_matching=all_matching)


def _preview(
    run: list[str] | None,
    which: RunFilter,
    version: RetryVersion | None,
    *,
    as_json: bool,
    url: str | None,
    database: str | None,
    all_matching: bool,
) -> None:
    """Say of each run what a retry would keep. Nothing is started."""
    _check(run, which, all_matching=all_matching)
    with open_client(settings_of(database_url=database), url) as client:
        if run:
            found = [client.ask(runs.preview_retry(id_, version=version or "same")) for id_ in run]
            if as_json:
                print_json(found[0] if len(run) == 1 else found)
            else:
                _print_previews(found)
            return
        call = runs.bulk("retry", which, everything=not which, dry_run=True, limit=_MOST, version=version)
        counted: Document = client.ask(call)
    if as_json:
        print_json(counted)
        return
    _print_previews(counted["previews"])
    _print_refused(counted["refused"])
    shown = len(counted["previews"]) + len(counted["refused"])
    more = f"; shown are the oldest {shown}" if counted["matched"] > shown else ""
    out.print(f"{_matching(counted['matched'])}{more}")


def _print_previews(previews: list[Document]) -> None:
    for one in previews:
        kept, again = (plain(", ".join(one[part])) or "nothing" for part in ("kept", "again"))
        out.print(f"[bright_black]{one['run_id']}[/]  version {one['version']}: keeps {kept}; runs again {again}")


def _print_refused(refused: list[Document]) -> None:
    for one in refused:
        out.print(f"[bright_black]{one['run_id']}[/]  {plain(one['message'])}")


def _matching(count: int) -> str:
    return "1 run matches" if count == 1 else f"{count:,} runs match" if count else "no run matches"


def _apply(
    wish: Action,
    run: list[str] | None,
    which: RunFilter,
    version: RetryVersion | None,
    flags: _Flags,
    *,
    all_matching: bool,
) -> None:
    _check(run, which, all_matching=all_matching)
    with open_client(settings_of(database_url=flags["database"]), flags["url"]) as client:
        if run:
            _each(client, wish, run, version, as_json=flags["as_json"])
        else:
            _all(client, wish, which, version, yes=flags["yes"], as_json=flags["as_json"])
        if client.has_no_engine:
            warn("no engine is running on this database; it is applied when one starts")


def _check(run: list[str] | None, which: RunFilter, *, all_matching: bool) -> None:
    if run and (which or all_matching):
        raise wrong("RUN", "give ids, or a filter with --all-matching, not both")
    if which and not all_matching:
        raise wrong("--all-matching", "is required with a filter, so that a filter never changes many runs by mistake")
    if not run and not all_matching:
        raise wrong("RUN", "is missing; give ids of runs, or a filter with --all-matching")


def _each(client: CommandClient, wish: Action, ids: list[str], version: RetryVersion | None, *, as_json: bool) -> None:
    """Apply the action to each run. If one is refused, print the error and go on with the others."""
    done: list[Document] = []
    refused = False
    for id_ in ids:
        try:
            call = _CALLS[wish](id_) if version is None else runs.retry(id_, version=version)
            document = client.ask(call)
        except DetentError as error:
            if len(ids) == 1:
                raise
            err.print(f"[bright_black]{plain(id_)}[/]  ", end="")
            say_error(error)
            refused = True
            continue
        done.append(document)
        if not as_json:
            _print_outcome(wish, document, many=len(ids) > 1)
    if as_json:
        print_json(done[0] if len(ids) == 1 else done)
    if refused:
        raise typer.Exit(1)


def _print_outcome(wish: Action, document: Document, *, many: bool) -> None:
    if wish == "retry":
        out.print(document.get("id") or document["run_id"])
        return
    waiting = " (requested, not applied yet)" if document.get(f"{wish}_requested") else ""
    name = f"[bright_black]{document['id']}[/]  " if many else ""
    out.print(f"{name}{marked(document['status'])}{waiting}")


def _all(
    client: CommandClient, wish: Action, which: RunFilter, version: RetryVersion | None, *, yes: bool, as_json: bool
) -> None:
    def bulk(*, dry_run: bool) -> Document:
        call = runs.bulk(wish, which, everything=not which, dry_run=dry_run, limit=_MOST, version=version)
        found: Document = client.ask(call)
        return found

    counted = bulk(dry_run=True)
    matched = counted["matched"]
    if not matched:
        print_json(counted) if as_json else out.print(_matching(0))
        return
    confirm(f"{_matching(matched)}. {wish.capitalize()} {'it' if matched == 1 else 'them'}?", yes=yes)
    result = bulk(dry_run=False)
    if as_json:
        print_json(result)
        return
    out.print(f"[green]{wish}[/]: {result['done']:,} of {matched:,}")
    _print_refused(result["refused"])
    if result["more"]:
        out.print("there are more runs; run the command again for the rest")


def add_to(app: typer.Typer) -> None:
    for wish in _CALLS:
        app.command(wish)(retry_runs if wish == "retry" else _command(wish))
    app.command("skip")(skip_step)
    app.command("reattempt")(reattempt_step)
    app.command("finish")(finish_run)
    app.command("signal")(signal_run)
    app.command("rerun")(rerun_run)
    app.command("fork")(fork_run)
    app.command("resolve")(resolve_step)
    app.command("move")(move_runs)
