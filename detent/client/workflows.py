"""The operations on workflows: each function describes one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import yaml

from detent.client.calls import PAGE, Answer, Call, Pages, bare, given, one, page, url_path
from detent.documents.rehearsal import RehearsalDocument
from detent.documents.workflows import SavedWorkflowAnswer, WorkflowDocument
from detent.errors import InvalidInput

#: A definition: a mapping, the text of a YAML or JSON document, or the path of a file.
Definition = Mapping[str, Any] | str | Path


class TaggedWorkflow(WorkflowDocument, kw_only=True):
    """A workflow with the `ETag` of its answer. The tag names this state of the workflow, for `if_match`."""

    etag: str | None = None


class SavedWorkflow(NamedTuple):
    """The result of `save`. `changed` is false if exactly this definition was stored already."""

    workflow: TaggedWorkflow
    created: bool
    changed: bool


_JSON: Final = "application/json"
_YAML: Final = "application/yaml"


def create(definition: Definition) -> Call[TaggedWorkflow]:
    """Save a workflow under a new name. Raise Conflict if the name is taken."""
    kind, body = _written(definition)
    headers = {"Content-Type": kind}
    return Call("POST", url_path("workflows"), _workflow, body=body, headers=headers, repeatable=False)


def save(definition: Definition, *, if_match: str | None = None) -> Call[SavedWorkflow]:
    """Save a workflow: create it, or add a version if the definition differs. `if_match` is the `etag` of the workflow
    that was edited. Raise PreconditionFailed if the workflow has changed since then."""
    kind, body = _written(definition)
    headers = {"Content-Type": kind} | ({} if if_match is None else {"If-Match": if_match})
    where = url_path("workflows", _name(definition, body))
    # With `if_match` a retry is not safe: it fails after our own first save just as after another client's.
    return Call("PUT", where, _saved, body=body, headers=headers, repeatable=if_match is None)


def rehearse(
    definition: Definition, *, days: int | None = None, workflow: str | None = None
) -> Call[RehearsalDocument]:
    """Run a definition over the runs of its workflow, with their recorded answers. Nothing is changed. `days` bounds
    the finished runs, by default 7."""
    kind, body = _written(definition)
    where = url_path("workflows", workflow or _name(definition, body), "rehearse")
    headers = {"Content-Type": kind}
    return Call("POST", where, one(RehearsalDocument), query=given(days=days), body=body, headers=headers)


def get(workflow: str) -> Call[TaggedWorkflow]:
    """Return a workflow by its name or id, with its definition."""
    return Call("GET", url_path("workflows", workflow), _workflow)


def list_all(*, label: str | None = None, enabled: bool | None = None, limit: int = PAGE) -> Pages[WorkflowDocument]:
    """Yield the workflows by name, `limit` per request. `label` (`key:value`) and `enabled` narrow the list."""
    query = given(label=label, enabled=enabled, limit=limit)
    return Pages(Call("GET", url_path("workflows"), page(WorkflowDocument), query=query))


def delete(workflow: str) -> Call[TaggedWorkflow]:
    """Delete a workflow. Its runs in flight go on, and its name is free again."""
    return Call("DELETE", url_path("workflows", workflow), _workflow)


def enable(workflow: str) -> Call[TaggedWorkflow]:
    """Allow a workflow to be started again."""
    return Call("POST", url_path("workflows", workflow, "enable"), _workflow)


def disable(workflow: str) -> Call[TaggedWorkflow]:
    """Allow no start of a workflow. Its runs in flight go on."""
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
    """Return the content type and the bytes of a definition."""
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
    """Return the name in a definition, which is part of the path of the `PUT`. Raise InvalidInput if there is none."""
    try:
        known = yaml.safe_load(body) if isinstance(definition, str | Path) else definition
    except yaml.YAMLError as error:
        raise InvalidInput(f"the definition cannot be read: {error}") from None
    name = known.get("name") if isinstance(known, Mapping) else None
    if not isinstance(name, str) or not name:
        raise InvalidInput("the definition has no name; add `name: ...`")
    return name
