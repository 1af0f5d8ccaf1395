"""`detent runs cancel|pause|resume|retry`: for the runs that are named, or for all that a filter means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from detent.cli.choosing import Hero, Labels, RequestId, Since, Status, Trigger, Until, Workflow, chosen
from detent.cli.doors import Document, Door, open_door
from detent.cli.options import Database, Json, Url, Yes, settings_of, wrong
from detent.cli.terminal import confirm, err, marked, out, plain, print_json, say_error, warn
from detent.client import runs
from detent.client.runs import Action, RunFilter
from detent.errors import DetentError

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
    "resume": "Let paused runs go on.",
    "retry": "Try runs that failed again, as new runs that keep what succeeded.",
}

Runs = Annotated[list[str] | None, typer.Argument(metavar="RUN...", help="The ids of runs, run_...")]
AllMatching = Annotated[
    bool, typer.Option("--all-matching", help="Every run that the filter means. They are counted first.")
]


def _command(wish: Action) -> Callable[..., None]:
    def command(
        run: Runs = None,
        workflow: Workflow = None,
        status: Status = None,
        trigger: Trigger = None,
        label: Labels = None,
        hero: Hero = None,
        since: Since = None,
        until: Until = None,
        request_id: RequestId = None,
        all_matching: AllMatching = False,
        yes: Yes = False,
        as_json: Json = False,
        url: Url = None,
        database: Database = None,
    ) -> None:
        which = chosen(locals())
        _check(run, which, all_matching=all_matching)
        with open_door(settings_of(database_url=database), url) as door:
            if run:
                _each(door, wish, run, as_json=as_json)
            else:
                _all(door, wish, which, yes=yes, as_json=as_json)
            if door.has_no_engine:
                warn("no engine is running on this database; it is done when one does")

    command.__doc__ = _HELP[wish]
    return command


def _check(run: list[str] | None, which: RunFilter, *, all_matching: bool) -> None:
    if run and (which or all_matching):
        raise wrong("RUN", "give ids, or a filter with --all-matching, not both")
    if which and not all_matching:
        raise wrong("--all-matching", "is needed beside a filter, so that nobody means many runs by mistake")
    if not run and not all_matching:
        raise wrong("RUN", "is missing; give ids of runs, or a filter with --all-matching")


def _each(door: Door, wish: Action, ids: list[str], *, as_json: bool) -> None:
    """One after the other. What is refused is told, and the others are done all the same."""
    done: list[Document] = []
    refused = False
    for id_ in ids:
        try:
            document = door.ask(_CALLS[wish](id_))
        except DetentError as error:
            if len(ids) == 1:
                raise
            err.print(f"[bright_black]{plain(id_)}[/]  ", end="")
            say_error(error)
            refused = True
            continue
        done.append(document)
        if not as_json:
            _tell(wish, document, many=len(ids) > 1)
    if as_json:
        print_json(done[0] if len(ids) == 1 else done)
    if refused:
        raise typer.Exit(1)


def _tell(wish: Action, document: Document, *, many: bool) -> None:
    if wish == "retry":
        out.print(document.get("id") or document["run_id"])
        return
    waiting = " (its node has not got to it yet)" if document.get(f"{wish}_requested") else ""
    name = f"[bright_black]{document['id']}[/]  " if many else ""
    out.print(f"{name}{marked(document['status'])}{waiting}")


def _all(door: Door, wish: Action, which: RunFilter, *, yes: bool, as_json: bool) -> None:
    def bulk(*, dry_run: bool) -> Document:
        found: Document = door.ask(runs.bulk(wish, which, everything=not which, dry_run=dry_run, limit=_MOST))
        return found

    counted = bulk(dry_run=True)
    matched = counted["matched"]
    if not matched:
        print_json(counted) if as_json else out.print("no run matches")
        return
    few = "1 run matches." if matched == 1 else f"{matched:,} runs match."
    confirm(f"{few} {wish.capitalize()} {'it' if matched == 1 else 'them'}?", yes=yes)
    result = bulk(dry_run=False)
    if as_json:
        print_json(result)
        return
    out.print(f"[green]{wish}[/]: {result['done']:,} of {matched:,}")
    for one in result["refused"]:
        out.print(f"[bright_black]{one['run_id']}[/]  {plain(one['message'])}")
    if result["more"]:
        out.print("there are more; do it again for the rest")


def add_to(app: typer.Typer) -> None:
    for wish in _CALLS:
        app.command(wish)(_command(wish))
