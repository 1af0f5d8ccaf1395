"""Documents of workflows."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json


class WorkflowDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A workflow and its current version. Lists leave out the definition."""

    id: str
    name: str
    form: str
    description: str | None
    status: str
    enabled: bool
    current_version: int
    trigger: str
    step_count: int = msgspec.field(name="task_count")
    labels: dict[str, str]
    inserted_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    definition: dict[str, Json] | None = None


class VersionDocument(msgspec.Struct):
    """One version of a workflow, with its definition as written."""

    version: int
    current: bool
    checksum: str
    inserted_at: datetime
    definition: dict[str, Json]


class SavedWorkflowAnswer(msgspec.Struct):
    """A workflow after a save. `changed` is false if the definition was the same."""

    data: WorkflowDocument
    changed: bool
