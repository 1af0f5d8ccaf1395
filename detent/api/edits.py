"""The query of requests that edit a workflow: the folder of files they come from, and `unlock`."""

from __future__ import annotations

from typing import Final

from detent.api.openapi.operations import BOOLEAN, TEXT, query
from detent.api.request import QueryValues, flag_of
from detent.commands.files.lock import Edit
from detent.values.folders import read_folder_id

FOLDER: Final = query("folder", TEXT, "The id of the folder of files that the edit comes from.", "shop")
UNLOCK: Final = query("unlock", BOOLEAN, "Edit it although a folder of files manages it.", False)
#: The names that `read_edit` reads.
EDIT_NAMES: Final = ("folder", "unlock")


def read_edit(values: QueryValues) -> Edit:
    """Read where an edit comes from. The caller refuses the query if it has problems."""
    return Edit(values.one("folder", read_folder_id), bool(values.one("unlock", flag_of)))
