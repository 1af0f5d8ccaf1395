"""The workflow templates that are part of Detent, one YAML file each. The name of the file is the id."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from detent.catalog.workflow_template import WorkflowTemplate
from detent.forms.definition import read_definition

_SUFFIX: Final = ".yaml"
_AUTHOR: Final = "Detent"


@cache
def gallery() -> Mapping[str, WorkflowTemplate]:
    """Return the templates by id. The files are read once."""
    found = [file for file in files(__package__).iterdir() if file.name.endswith(_SUFFIX)]
    made = {}
    for file in sorted(found, key=lambda one: one.name):
        id_ = file.name.removesuffix(_SUFFIX)
        facts = read_definition(file.read_text(encoding="utf-8"), filename=file.name)
        made[id_] = WorkflowTemplate(id=id_, author=_AUTHOR, **facts)
    return made
