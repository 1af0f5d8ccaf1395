"""What can be asked about workflows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import yaml

from detent.client.calls import PAGE, Answer, Call, Pages, bare, given, one, page, url_path
from detent.documents.workflows import SavedWorkflowAnswer, WorkflowDocument
from detent.errors import InvalidInput

#: A definition: as a mapping, as the text of a YAML or JSON document, or as the path of a file with one.
Definition = Mapping[str, Any] | str | Path


class TaggedWorkflow(WorkflowDocument, kw_only=True):
    """A workflow, with the `ETag` of its answer: it names this state of the workflow, for `if_match`."""

    etag: str | None = None


class SavedWorkflow(NamedTuple):
    """What `save` did. `changed` is false if exactly that definition was stored already."""

    workflow: TaggedWorkflow
    created: bool
    changed: bool


_JSON: Final = "application/json"
_YAML: Final = "application/yaml"


def create(definition: Definition) -> Call[TaggedWorkflow]:
    """Save a workflow under a new name. Conflict if the name is taken."""
    kind, body = _written(definition)
    headers = {"Content-Type": kind}
    return Call("POST", url_path("workflows"), _workflow, body=body, headers=headers, repeatable=False)


def save(definition: Definition, *, if_match: str | None = None) -> Call[SavedWorkflow]:
    """Save a workflow: create it, or give it a new version if the definition differs. With the `etag` of the workflow
    it was made from as `if_match`, PreconditionFailed if somebody else changed it since."""
    kind, body = _written(definition)
    headers = {"Content-Type": kind} | ({} if if_match is None else {"If-Match": if_match})
    where = url_path("workflows", _name(definition, body))
    # A save that must come first cannot be told from somebody else's when it is sent again.
    return Call("PUT", where, _saved, body=body, headers=headers, repeatable=if_match is None)


def get(workflow: str) -> Call[TaggedWorkflow]:
    """A workflow by its name or id, with its definition."""
    return Call("GET", url_path("workflows", workflow), _workflow)


def list_all(*, label: str | None = None, enabled: bool | None = None, limit: int = PAGE) -> Pages[WorkflowDocument]:
    """All workflows by name, `limit` in each request; those with a `label` (`key:value`), those `enabled` or not."""
    query = given(label=label, enabled=enabled, limit=limit)
    return Pages(Call("GET", url_path("workflows"), page(WorkflowDocument), query=query))


def delete(workflow: str) -> Call[TaggedWorkflow]:
    """Delete a workflow. Its runs in flight go on, its name is free again."""
    return Call("DELETE", url_path("workflows", workflow), _workflow)


def enable(workflow: str) -> Call[TaggedWorkflow]:
    """Let a workflow be started again."""
    return Call("POST", url_path("workflows", workflow, "enable"), _workflow)


def disable(workflow: str) -> Call[TaggedWorkflow]:
    """Let nothing start a workflow. Its runs in flight go on."""
    return Call("POST", url_path("workflows", workflow, "disable"), _workflow)


_read_one: Final = one(TaggedWorkflow)
_read_saved: Final = bare(SavedWorkflowAnswer)


def _workflow(answer: Answer) -> TaggedWorkflow:
    found = _read_one(answer)
    found.etag = answer.headers.get("etag")
    return found


def _saved(answer: Answer) -> SavedWorkflow:
    saved = _read_saved(answer)
    workflow = TaggedWorkflow(**msgspec.structs.asdict(saved.data), etag=answer.headers.get("etag"))
    return SavedWorkflow(workflow, created=answer.status == 201, changed=saved.changed)


def _written(definition: Definition) -> tuple[str, bytes]:
    """The content type and bytes of a definition."""
    match definition:
        case Path():
            return _JSON if definition.suffix.lower() == ".json" else _YAML, definition.read_bytes()
        case str():
            return _JSON if definition.lstrip().startswith("{") and _is_json(definition) else _YAML, definition.encode()
        case _:
            return _JSON, msgspec.json.encode(dict(definition))


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True


def _name(definition: Definition, body: bytes) -> str:
    """The name in a definition; `PUT` needs it in its address."""
    try:
        known = yaml.safe_load(body) if isinstance(definition, str | Path) else definition
    except yaml.YAMLError as error:
        raise InvalidInput(f"the definition cannot be read: {error}") from None
    name = known.get("name") if isinstance(known, Mapping) else None
    if not isinstance(name, str) or not name:
        raise InvalidInput("the definition has no name")
    return name
