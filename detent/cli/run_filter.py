"""The options that filter runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from detent.cli.options import read_labels, read_moment
from detent.client.runs import RunFilter

Workflow = Annotated[str | None, typer.Option("--workflow", "-w", metavar="NAME", help="Runs of this workflow.")]
Status = Annotated[
    list[str] | None,
    typer.Option(
        "--status", "-s", metavar="STATUS", help="Runs with this status, or active, ready, performing; repeatable."
    ),
]
Trigger = Annotated[
    str | None, typer.Option("--trigger", metavar="TYPE", help="Runs started by api, cron, webhook, ..., or a trg_ id.")
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="Runs with this label; repeatable.")
]
Hero = Annotated[str | None, typer.Option("--hero", metavar="TYPE:ID", help="Runs about this.")]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Runs begun then or later: 2026-02-22T10:00, or 1h."),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Runs begun before: 2026-02-22T10:00, or 1h."),
]
RequestId = Annotated[str | None, typer.Option("--request-id", metavar="ID", help="The run that this id started.")]


def chosen(flags: Mapping[str, Any]) -> RunFilter:
    """Build a filter from flags by name. Flags that are `None` are not part of it."""
    which = RunFilter()
    for name in ("workflow", "trigger", "hero", "request_id"):
        if flags.get(name) is not None:
            which[name] = flags[name]
    if flags.get("status"):
        which["status"] = [word for text in flags["status"] for word in text.split(",")]
    if flags.get("label"):
        which["labels"] = read_labels(flags["label"])
    if flags.get("since"):
        which["started_after"] = read_moment(flags["since"], "--since", ago=True)
    if flags.get("until"):
        which["started_before"] = read_moment(flags["until"], "--until", ago=True)
    return which
