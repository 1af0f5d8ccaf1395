"""The lock of files: a workflow that a folder of files manages is edited there, and nowhere else.

The label `managed-by: files/FOLDER` of the current version says so. It is set by a save from the folder, and no text
has to have it. A save that ignores the lock removes it: then no files manage the workflow, until the folder is applied
again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Final

from detent.errors import ManagedByFiles
from detent.forms.compiled import Compiled
from detent.store.rows import WorkflowRow
from detent.values.folders import LABEL, folder_in, label_of


@dataclass(frozen=True, slots=True)
class Edit:
    """Where an edit comes from: a folder of files, or (`None`) elsewhere. With `unlock` the lock is ignored."""

    folder: str | None = None
    unlock: bool = False


ELSEWHERE: Final = Edit()


def folder_of(row: WorkflowRow) -> str | None:
    """Return the folder of files that manages a workflow, or `None`."""
    return folder_in(json.loads(row.labels)) if row.labels else None


def check_lock(row: WorkflowRow, edit: Edit) -> None:
    """Raise ManagedByFiles if a folder of files manages a workflow and the edit comes from elsewhere."""
    folder = folder_of(row)
    if folder is None or edit.unlock or edit.folder == folder:
        return
    message = f"the workflow {row.name!r} is managed by the files of the folder {folder!r}"
    hint = "change its file and apply the folder; or add ?unlock=true, or call `detent workflows unlock`"
    raise ManagedByFiles(f"{message}; {hint}", folder=folder)


def with_label(compiled: Compiled, edit: Edit) -> Compiled:
    """Return a workflow with the label of the folder that an edit comes from."""
    if edit.folder is None:
        return compiled
    return replace(compiled, labels={**compiled.labels, LABEL: label_of(edit.folder)})
