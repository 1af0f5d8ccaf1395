"""The lock of files: a workflow that a folder of files manages is edited there, and nowhere else.

The label `managed-by: files/FOLDER` of the current version says so. It is set by a save from the folder, and no text
has to have it. A save that ignores the lock removes it: then no files manage the workflow, until the folder is applied
again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Final

from detent.errors import InvalidInput, ManagedByFiles, Problem
from detent.forms.compiled import Compiled
from detent.store.rows import WorkflowRow

#: The label that says what manages a workflow, and the beginning of its value for files.
LABEL: Final = "managed-by"
_FILES: Final = "files/"
_FOLDER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Edit:
    """Where an edit comes from: a folder of files, or (`None`) elsewhere. With `unlock` the lock is ignored."""

    folder: str | None = None
    unlock: bool = False


ELSEWHERE: Final = Edit()


def read_folder(text: str) -> str:
    """Return the id of a folder. Raise ValueError if it is not valid."""
    if not _FOLDER.fullmatch(text):
        raise ValueError("must be the id of a folder: letters, digits and . _ - only, at most 100")
    return text


def check_folder(text: str, field: str) -> str:
    """Return the id of a folder. Raise InvalidInput if it is not valid."""
    try:
        return read_folder(text)
    except ValueError as error:
        raise InvalidInput("the folder cannot be read", [Problem(field, f"{error}, not {text[:80]!r}")]) from None


def label_of(folder: str) -> str:
    """Return the value of the label for a folder."""
    return f"{_FILES}{folder}"


def folder_of(row: WorkflowRow) -> str | None:
    """Return the folder of files that manages a workflow, or `None`."""
    value = (json.loads(row.labels) if row.labels else {}).get(LABEL, "")
    return value.removeprefix(_FILES) if value.startswith(_FILES) else None


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


def without_label(compiled: Compiled) -> Compiled:
    """Return a workflow that no folder of files manages."""
    return replace(compiled, labels={name: value for name, value in compiled.labels.items() if name != LABEL})
