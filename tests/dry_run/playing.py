"""Plays definitions without a store: the dry run of a workflow and its children."""

from __future__ import annotations

from typing import Any

from detent.commands.dry_run.document import dry_run_document
from detent.commands.dry_run.effects import RecordedStep
from detent.commands.dry_run.part import add_unused, advance_play, read_effects
from detent.commands.dry_run.simulation import ChildFound, ChildRequest, DryRun, DryWorkflow
from detent.commands.start import encode_input
from detent.documents.answers import as_json
from detent.forms.compile import compile_document
from detent.planner.prepared import prepare
from detent.run.start import StartRequest

NOON = 1_771_754_400_000_000


def play(
    definition: dict[str, Any],
    body: Any = None,
    answers: dict[str, Any] | None = None,
    *,
    children: tuple[dict[str, Any], ...] = (),
    recorded: dict[str, RecordedStep] | None = None,
    late_after: int | None = None,
) -> dict[str, Any]:
    """Return the document of a dry run. `late_after`: its time is over after so many events."""
    compiled = compile_document(definition)
    effects = read_effects(answers, compiled.graph)
    effects.recorded = recorded or {}
    known = {one.name: one for one in map(compile_document, children)}
    looks = iter(range(10**9))
    simulation = DryRun(effects, tenant=1, is_late=lambda: late_after is not None and next(looks) >= late_after)
    given = encode_input(StartRequest(compiled.name, {} if body is None else body)).data
    running = simulation.play(DryWorkflow(compiled.name, prepare(compiled.graph)), given, at=NOON)
    found: ChildFound = None
    while isinstance(wanted := advance_play(running, found), ChildRequest):
        child = known.get(wanted.workflow)
        found = None if child is None else DryWorkflow(child.name, prepare(child.graph))
    add_unused(wanted, effects)
    return as_json(dry_run_document(wanted))


def step(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one step of a dry run."""
    [found] = [one for one in document["steps"] if one["step"] == name]
    return dict(found)
