"""Print what a process serves, as a small table."""

from __future__ import annotations

from rich.table import Table

from detent.cli.output.terminal import err, plain
from detent.python.registry import CodeKind, Registered
from detent.python.registry import registry as workflows
from detent.settings import Settings
from detent.steps.actions import registry as actions

_WORDS = {CodeKind.CHAIN: "class", CodeKind.FUNCTION: "function"}


def show_served(settings: Settings) -> None:
    """Print the workflows and actions of this process, and the queues that it serves."""
    table = Table(box=None, pad_edge=False, header_style="bright_black", show_header=bool(workflows.all()))
    for title in ("workflow", "written as", "steps", "queue", "code"):
        table.add_column(title, overflow="fold", justify="right" if title == "steps" else "left")
    for one in workflows.all():
        table.add_row(*_row(one))
    if workflows.all():
        err.print(table)
    if actions.names():
        err.print(f"[bright_black]actions[/] {plain(', '.join(actions.names()))}")
    err.print(f"[bright_black]queues[/]  {plain(', '.join(settings.queues)) if settings.queues else 'all'}")


def _row(one: Registered) -> tuple[str, ...]:
    compiled = one.compiled
    steps = str(len(compiled.graph.steps)) if one.kind is CodeKind.CHAIN else ""
    return (
        f"[bold]{plain(one.name)}[/]",
        _WORDS[one.kind],
        steps,
        plain(compiled.queue or "default"),
        f"[bright_black]{plain(one.place)}[/]",
    )
