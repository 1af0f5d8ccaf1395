"""`detent run FILE --dry`: play a workflow file without effects, and print what it would do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import typer

from detent.auth.caller import local_caller
from detent.cli.client import Document, open_client
from detent.cli.options import decode_value
from detent.cli.output.terminal import marked, one_line, out, plain, print_json
from detent.cli.output.watch import print_result
from detent.cli.targets import compile_file
from detent.client import runs
from detent.clock import SystemClock
from detent.commands.children import DEEPEST
from detent.commands.dry_run.document import dry_run_document
from detent.commands.dry_run.effects import RecordedStep
from detent.commands.dry_run.part import add_unused, advance_play, read_effects, time_limit
from detent.commands.dry_run.simulation import ChildFound, ChildRequest, DryRun, DryRunResult, DryWorkflow
from detent.commands.start import encode_input
from detent.documents.answers import as_json
from detent.errors import InvalidInput, Problem
from detent.forms.compiled import Compiled
from detent.forms.payload_schema import PayloadSchema
from detent.graph.model import Ending
from detent.planner.prepared import prepare
from detent.run.outcomes import EMPTY_RESULT, StepError
from detent.run.start import StartRequest
from detent.run.status import Status
from detent.settings import Settings

_RESULT_KEYS: Final = ("status_code", "headers", "query", "body", "output", "encoding")
_WIDEST: Final = 100
_ITEMS: Final = 5
_FAINT: Final = "bright_black"


def read_pinned(given: Iterable[str]) -> dict[str, Any]:
    """Read answers written `step=JSON`. Return them by step."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            problem = Problem("--answer", f"{text[:80]!r} is not an answer; write for example charge='{{\"id\": 1}}'")
            raise InvalidInput("an option cannot be read", [problem])
        found[name] = decode_value(value.encode(), f"--answer {name}")
    return found


def read_recorded(settings: Settings, run: str, url: str | None) -> dict[str, RecordedStep]:
    """Read how the steps of a past run ended, from a server or a database."""
    with open_client(settings, url) as client:
        document = client.ask(runs.get(run))
    found: dict[str, RecordedStep] = {}
    for name, step in document["tasks"].items():
        if step["status"] not in set(Ending):
            continue
        result = {key: step[key] for key in _RESULT_KEYS if step.get(key) is not None}
        if "child_run_id" in step:
            result["run_id"] = step["child_run_id"]
        if "items" in step:
            result["items"] = {key: step["items"][key] for key in ("count", "succeeded", "failed")}
        error = step["error"] and StepError(step["error"]["code"], step["error"]["message"])
        raw = msgspec.json.encode(result) if result else EMPTY_RESULT
        found[name] = RecordedStep(Ending(step["status"]), raw, error)
    return found


def dry_run(
    compiled: Compiled,
    request: StartRequest,
    pinned: Mapping[str, Any],
    recorded: Mapping[str, RecordedStep] | None,
    children: Sequence[Path],
    settings: Settings,
) -> DryRunResult:
    """Play a compiled workflow. `children` are the files of the workflows that its steps start. Raise InvalidInput."""
    if compiled.trigger_schema is not None:
        problems = PayloadSchema(compiled.trigger_schema).problems(request.body)
        if problems:
            raise InvalidInput(f"the body does not fit the trigger_schema of {compiled.name!r}", problems)
    effects = read_effects(dict(pinned), compiled.graph)
    effects.recorded = recorded or {}
    others = [compile_file(child, settings, strict=False)[1] for child in children]
    known = {one.name: one for one in (compiled, *others)}
    first = DryWorkflow(compiled.name, prepare(compiled.graph))
    play = DryRun(effects, tenant=local_caller("detent run").tenant, is_late=time_limit()).play(
        first, encode_input(request).data, at=SystemClock().wall(), hero=request.hero
    )
    found: ChildFound = None
    while isinstance(wanted := advance_play(play, found), ChildRequest):
        found = _child(wanted, known)
    add_unused(wanted, effects)
    return wanted


def _child(wanted: ChildRequest, known: Mapping[str, Compiled]) -> ChildFound:
    """Find a child among the files. A workflow without a file can only be answered, by an example if need be."""
    if wanted.family.depth > DEEPEST:
        return StepError("nesting_depth", f"it would be {wanted.family.depth} levels below the first run")
    found = known.get(wanted.workflow)
    return None if found is None else DryWorkflow(found.name, prepare(found.graph))


def print_dry_run(result: DryRunResult, *, as_document: bool) -> None:
    """Print what a run would do. Exit with code 0 if it would complete, else 1."""
    document = as_json(dry_run_document(result))
    if as_document:
        print_json(document)
    else:
        out.print(f"[bold]{plain(document['workflow'])}[/] [{_FAINT}]dry run: nothing is sent and nothing is stored[/]")
        _print_steps(document, "")
        out.print(f"\n{marked(document['status'])}")
        print_result(document)
        for problem in document["problems"]:
            out.print(f"[yellow]problem:[/] {plain(problem)}")
        if document["problems"] and _has_example(document):
            out.print(f"[{_FAINT}]steps that an example answers may need a real answer: --answer STEP=JSON[/]")
    raise typer.Exit(0 if document["status"] == Status.COMPLETED else 1)


def _print_steps(document: Document, indent: str) -> None:
    for step in document["steps"]:
        _print_step(step, indent)


def _print_step(step: Document, indent: str) -> None:
    source = f" [{_FAINT}]({step['answered_by']})[/]" if "answered_by" in step else ""
    out.print(f"{indent}{marked(step['status'], word=False)} {plain(step['step'])}  {step['status']}{source}")
    for attempt in step["attempts"]:
        number = f"{attempt['attempt']}. " if len(step["attempts"]) > 1 else ""
        out.print(f"{indent}    {number}{plain(_request(attempt['request']))}", style=_FAINT)
        if "error" in attempt:
            out.print(f"{indent}    {plain(one_line(attempt['error']['message']))}", style="red")
    items = step.get("first_items", ())
    for item in items[:_ITEMS]:
        _print_step(item, f"{indent}    ")
    if "items" in step and step["items"]["count"] > _ITEMS:
        out.print(f"{indent}    and {step['items']['count'] - _ITEMS:,} more items", style=_FAINT)
    if "child" in step:
        _print_steps(step["child"], f"{indent}    ")


def _request(request: Any) -> str:
    """Return a rendered request on one line: that of HTTP as method, address and body."""
    if isinstance(request, dict) and "url" in request and "method" in request:
        body = "" if request.get("body") is None else f" {_text(request['body'])}"
        text = f"{request['method']} {request['url']}{body}"
    else:
        text = "the parameters could not be rendered" if request is None else _text(request)
    text = one_line(text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _has_example(document: Document) -> bool:
    return any(step.get("answered_by") == "example" for step in document["steps"])
