"""Documents of rehearsals and of groups of runs that can be moved, for routes and for errors."""

from __future__ import annotations

from typing import Final

from detent.commands.moves import MoveGroup
from detent.commands.rehearsal import RehearsalGroup, RehearsalResult
from detent.documents.rehearsal import (
    DetourDocument,
    FailureDocument,
    ParameterDiffDocument,
    RehearsalDocument,
    RehearsalGroupDocument,
)
from detent.documents.runs import MoveGroupDocument, MoveReasonDocument
from detent.ids import RUN, show
from detent.planner.moves.version import MoveReason

_EXAMPLES: Final = 5


def rehearsal_document(found: RehearsalResult) -> RehearsalDocument:
    """Build the document of a rehearsal."""
    counts = {"same": 0, "other": 0, "failing": 0}
    for group in found.groups:
        word = "failing" if group.found.failures else "same" if group.is_same() else "other"
        counts[word] += len(group.runs)
    moves = found.moves
    return RehearsalDocument(
        workflow=found.workflow.name,
        version=found.version,
        days=found.days,
        in_flight=found.in_flight,
        finished=found.finished,
        groups=[_group(group) for group in found.groups],
        matched=0 if moves is None else moves.matched,
        movable=0 if moves is None else moves.movable(),
        moves=[] if moves is None else [group_document(group) for group in moves.groups],
        **counts,
    )


def _group(group: RehearsalGroup) -> RehearsalGroupDocument:
    found = group.found
    return RehearsalGroupDocument(
        runs=len(group.runs),
        in_flight=group.is_open,
        same=group.is_same(),
        detours=[DetourDocument(*detour) for detour in found.detours],
        failures=[FailureDocument(*failure) for failure in found.failures],
        new_steps=list(found.new_steps),
        differences=[ParameterDiffDocument(*diff) for diff in found.diffs],
        examples=[show(RUN, run) for run in group.runs[:_EXAMPLES]],
    )


def group_document(group: MoveGroup) -> MoveGroupDocument:
    """Build the document of runs that can be moved alike."""
    return MoveGroupDocument(
        runs=len(group.runs),
        was=group.was,
        at=list(group.at),
        movable=not group.reasons,
        begins=list(group.begins),
        reasons=reason_documents(group.reasons),
        examples=[show(RUN, run) for run in group.runs[:_EXAMPLES]],
    )


def reason_documents(reasons: tuple[MoveReason, ...]) -> list[MoveReasonDocument]:
    """Build the documents of the reasons why a run cannot be moved."""
    return [MoveReasonDocument(reason.step, reason.message) for reason in reasons]
