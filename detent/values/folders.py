"""The id of a folder of workflow files, and the label of the workflows that it manages: `managed-by: files/FOLDER`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from detent.errors import InvalidInput, Problem

#: The label that says what manages a workflow, and the beginning of its value for files.
LABEL: Final = "managed-by"
_FILES: Final = "files/"
_FOLDER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def read_folder_id(text: str) -> str:
    """Return the id of a folder. Raise ValueError if it is not valid."""
    if not _FOLDER.fullmatch(text):
        raise ValueError("must be the id of a folder: letters, digits and . _ - only, at most 100")
    return text


def check_folder_id(text: str, field: str) -> str:
    """Return the id of a folder. Raise InvalidInput if it is not valid."""
    try:
        return read_folder_id(text)
    except ValueError as error:
        raise InvalidInput("the folder cannot be read", [Problem(field, f"{error}, not {text[:80]!r}")]) from None


def label_of(folder: str) -> str:
    """Return the value of the label for a folder."""
    return f"{_FILES}{folder}"


def folder_in(labels: Mapping[str, str]) -> str | None:
    """Return the folder of files that labels name, or `None`."""
    value = labels.get(LABEL, "")
    return value.removeprefix(_FILES) if value.startswith(_FILES) else None
