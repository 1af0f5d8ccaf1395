"""`detent rehearse FILE`"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.live import Live
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.commands.runs.moves import print_groups
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import err, out, plain, print_json
from detent.client import workflows
from detent.client.workflows import Progress
from detent.documents.rehearsal import RehearsalProgressDocument

File = Annotated[Path, typer.Argument(metavar="FILE", help="A workflow file, YAML or JSON.")]
_STAGES: Final = {
    "moves": "checking which runs can be moved:",
    "in_flight": "rehearsing runs in flight:",
    "finished": "rehearsing finished runs:",
}
Days = Annotated[int | None, typer.Option("--days", metavar="N", help="Finished runs of the last N days; 7 if absent.")]


def rehearse(file: File, days: Days = None, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Run a workflow file over the recorded runs of its workflow. No effect is made and nothing is written.

    It says which runs take the same path, which take another, which would fail, and which could be moved."""
    with open_client(settings_of(database_url=database), url) as client, show_progress() as progress:
        found = client.ask(workflows.rehearse(file, days=days, progress=progress))
    if as_json:
        print_json(found)
    else:
        print_rehearsal(found)


@contextmanager
def show_progress(is_wanted: bool = True) -> Iterator[Progress | None]:
    """Show on a terminal how far a rehearsal is, until the block ends. Yield what hears its progress."""
    if not (is_wanted and err.is_terminal):
        yield None
        return
    with Live(Text("rehearsing"), console=err, transient=True, auto_refresh=False) as live:
        yield lambda progress: live.update(Text(_progress_line(progress)), refresh=True)


def _progress_line(progress: RehearsalProgressDocument) -> str:
    return f"{_STAGES.get(progress.stage, progress.stage)} {progress.done:,} of {progress.total:,}"


def print_rehearsal(found: Document) -> None:
    """Print a rehearsal: counts, groups of runs, and what could be moved."""
    total = found["in_flight"] + found["finished"]
    out.print(
        f"{plain(found['workflow'])}, as version {found['version']}: {total:,} runs rehearsed, "
        f"{found['finished']:,} finished and {found['in_flight']:,} in flight"
    )
    out.print(
        f"[green]same path[/] {found['same']:,}   [yellow]another path[/] {found['other']:,}   "
        f"[red]would fail[/] {found['failing']:,}"
    )
    for group in found["groups"]:
        _print_group(group)
    if found["matched"]:
        out.print(f"{found['movable']:,} of {found['matched']:,} runs in flight can be moved")
        print_groups(found["moves"])


def _print_group(group: Document) -> None:
    where = "in flight" if group["in_flight"] else "finished"
    word = "[green]same path[/]" if group["same"] else "[yellow]another path[/]"
    if group["failures"]:
        word = "[red]would fail[/]"
    news = f", new: {plain(', '.join(group['new_steps']))}" if group["new_steps"] else ""
    out.print(f"{group['runs']:>6,} {where}: {word}{news}  [bright_black]{group['examples'][0]}[/]")
    for failure in group["failures"]:
        out.print(f"         {plain(failure['step'])} fails: {plain(failure['message'])}")
    for detour in group["detours"]:
        edge = f" ({plain(detour['edge'])})" if detour["edge"] else ""
        out.print(f"         {plain(detour['step'])}: {detour['was']}, would be {detour['now']}{edge}")
    for diff in group["differences"]:
        old, new = (plain(diff[side]) if diff[side] is not None else "nothing" for side in ("old", "new"))
        out.print(f"         {plain(diff['step'])} {plain(diff['field'])}: [red]{old}[/] -> [green]{new}[/]")


def add_to(app: typer.Typer) -> None:
    app.command()(rehearse)
