"""The options that filter runs. Every command that selects runs takes all of them.

A command declares the parameter `which: RunFilter`. `filtered` replaces it by the options of `read_filter`, so that a
new field of a filter is written once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final

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
Stage = Annotated[
    list[str] | None,
    typer.Option(
        "--stage", metavar="STAGE", help="Open runs at this stage: waiting, person, sleeping, ...; repeatable."
    ),
]
View = Annotated[
    str | None, typer.Option("--view", metavar="VIEW", help="A saved view: failing, stuck, waiting, person, ...")
]
Version = Annotated[int | None, typer.Option("--version", metavar="N", help="Runs of this version of their workflow.")]
Trigger = Annotated[
    str | None, typer.Option("--trigger", metavar="TYPE", help="Runs started by api, cron, webhook, ..., or a trg_ id.")
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="Runs with this label; repeatable.")
]
Hero = Annotated[str | None, typer.Option("--hero", metavar="TYPE:ID", help="Runs about this.")]
SearchText = Annotated[
    str | None,
    typer.Option(
        "--text", metavar="TEXT", help="Runs with this in the workflow, hero, a label, error, request id or step."
    ),
]
ErrorText = Annotated[str | None, typer.Option("--error", metavar="TEXT", help="Runs with this in their error.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Runs accepted then or later: 2026-02-22T10:00, or 1h.")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Runs accepted before: 2026-02-22T10:00, or 1h.")
]
RequestId = Annotated[str | None, typer.Option("--request-id", metavar="ID", help="The run that this id started.")]
Origin = Annotated[
    str | None, typer.Option("--origin", metavar="RUN", help="Runs made from this one by retry, rerun or fork.")
]
Parent = Annotated[
    str | None, typer.Option("--parent", metavar="RUN", help="Runs that this one started as its children.")
]
Ids = Annotated[list[str] | None, typer.Option("--id", metavar="RUN", help="The run with this id; repeatable.")]


def read_filter(
    *,
    workflow: Workflow = None,
    status: Status = None,
    stage: Stage = None,
    view: View = None,
    version: Version = None,
    trigger: Trigger = None,
    label: Labels = None,
    hero: Hero = None,
    text: SearchText = None,
    error: ErrorText = None,
    since: Since = None,
    until: Until = None,
    request_id: RequestId = None,
    origin: Origin = None,
    parent: Parent = None,
    id_: Ids = None,
) -> RunFilter:
    """Build a filter of the options that are given."""
    texts = {
        "workflow": workflow, "view": view, "trigger": trigger, "hero": hero, "text": text, "error": error,
        "request_id": request_id, "origin": origin, "parent": parent,
    }  # fmt: skip
    given: dict[str, Any] = {name: value for name, value in texts.items() if value is not None}
    given |= {name: _words(words) for name, words in (("status", status), ("stage", stage), ("ids", id_)) if words}
    if version is not None:
        given["version"] = version
    if label:
        given["labels"] = read_labels(label)
    if since is not None:
        given["started_after"] = read_moment(since, "--since", ago=True)
    if until is not None:
        given["started_before"] = read_moment(until, "--until", ago=True)
    which: RunFilter = {**given}  # type: ignore[typeddict-item]
    return which


def _words(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in text.split(",")]


OPTIONS: Final = inspect.signature(read_filter, eval_str=True).parameters
_PLACE: Final = "which"


def filtered(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a filter in place of its parameter `which`."""

    def called(**flags: Any) -> None:
        command(which=read_filter(**{name: flags.pop(name) for name in OPTIONS}), **flags)

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        parameters += OPTIONS.values() if name == _PLACE else [parameter]
    by_name = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    called.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    return called
