"""Documents of workflows."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import FieldProblem, Json
from detent.documents.rehearsal import RehearsalDocument


class DraftSummary(msgspec.Struct, omit_defaults=True):
    """The draft of a workflow. Lists have only its revision, which every save of it raises.

    `problems` keep it from being published; the list is left out if there are none."""

    revision: int
    problems: list[FieldProblem] = []
    saved_by: str | None = None
    updated_at: datetime | None = None


class WorkflowDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A workflow and its current version. Lists leave out the definition.

    `status` is `draft`, `active` or `archived`. A workflow that was never activated has `current_version` 0 and the
    definition of its draft. `version` is there if a version was asked for; trigger, labels, description and definition
    are then those of that version. `warnings` are remarks on a definition that was just saved. `managed_by` is the
    folder of files that manages it: it is edited there. `fingerprint` is there if a form was asked for: definitions of
    all forms that mean the same have the same one."""

    id: str
    name: str
    title: str | None = None
    form: str
    description: str | None
    status: str
    enabled: bool
    current_version: int
    version: int | None = None
    trigger: str
    step_count: int = msgspec.field(name="task_count")
    labels: dict[str, str]
    inserted_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    draft: DraftSummary | None = None
    definition: dict[str, Json] | None = None
    warnings: list[str] = []
    managed_by: str | None = None
    fingerprint: str | None = None


class DraftDocument(msgspec.Struct, kw_only=True):
    """The draft of a workflow, with its definition as written and the problems that keep it from being published."""

    workflow_id: str
    workflow: str
    form: str
    revision: int
    problems: list[FieldProblem]
    saved_by: str
    updated_at: datetime
    definition: dict[str, Json]


class PublishedDocument(msgspec.Struct, kw_only=True):
    """The version that a publish made or found. `changed` is false if nothing had to be done.

    `rehearsal` is that of the draft; null if none was asked for, or if there was no draft."""

    workflow_id: str
    workflow: str
    version: int
    status: str
    current_version: int
    changed: bool
    warnings: list[str]
    rehearsal: RehearsalDocument | None = None


class FieldChangeDocument(msgspec.Struct, omit_defaults=True):
    """A value that differs, by its path. `old` or `new` is left out if the field exists on the other side only."""

    field: str
    old: Json = msgspec.UNSET
    new: Json = msgspec.UNSET


class StepDifference(msgspec.Struct):
    """A step that differs."""

    name: str
    fields: list[FieldChangeDocument]


class EdgeDifference(msgspec.Struct):
    """An edge that differs, by the steps at its ends."""

    source: str
    target: str
    fields: list[FieldChangeDocument]


class StepDifferences(msgspec.Struct):
    """The steps that one version has and the other has not, and those that differ."""

    added: list[dict[str, Json]]
    removed: list[dict[str, Json]]
    changed: list[StepDifference]


class EdgeDifferences(msgspec.Struct):
    """The edges that one version has and the other has not, and those that differ."""

    added: list[dict[str, Json]]
    removed: list[dict[str, Json]]
    changed: list[EdgeDifference]


class DiffDocument(msgspec.Struct, kw_only=True):
    """What differs between two versions of a workflow: its steps, its edges and everything else as `settings`.

    A version is a number, or `draft`. `same` is true if nothing differs."""

    workflow_id: str
    workflow: str
    old: int | str = msgspec.field(name="from")
    new: int | str = msgspec.field(name="to")
    same: bool
    steps: StepDifferences
    edges: EdgeDifferences
    settings: list[FieldChangeDocument]


class VersionDocument(msgspec.Struct):
    """One version of a workflow, with its definition as written."""

    version: int
    current: bool
    checksum: str
    inserted_at: datetime
    definition: dict[str, Json]


class PlannedChangeDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the save of a definition would do: `create`, `change`, `unchanged`, or nothing because it is `invalid`.

    `current_version` is the version that it would replace. `changes` say what differs, a line each. `archived`: the
    workflow would be reactivated."""

    file: str
    name: str | None
    form: str | None
    change: str
    current_version: int
    changes: list[str] = []
    problems: list[FieldProblem] = []
    warnings: list[str] = []
    archived: bool = False


class SavedWorkflowAnswer(msgspec.Struct):
    """A workflow after a save. `changed` is false if the definition was the same."""

    data: WorkflowDocument
    changed: bool
