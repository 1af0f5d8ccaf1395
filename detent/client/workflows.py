"""The operations on workflows: each function describes one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec
import yaml

from detent.client.calls import PAGE, Answer, Call, Pages, bare, given, one, page, url_path
from detent.documents.lists import WorkflowStats
from detent.documents.rehearsal import RehearsalDocument, RehearsalProgressDocument
from detent.documents.workflows import (
    DiffDocument,
    DraftDocument,
    PlannedChangeDocument,
    PublishedDocument,
    SavedWorkflowAnswer,
    VersionDocument,
    WorkflowDocument,
)
from detent.errors import InvalidInput

#: A definition: a mapping, the text of a YAML or JSON document, or the path of a file.
Definition = Mapping[str, Any] | str | Path
#: The number of a version, or the draft.
Version = int | Literal["draft"]
#: The form of a definition.
Form = Literal["steps", "graph", "rule"]
#: Hears how far a rehearsal is.
Progress = Callable[[RehearsalProgressDocument], object]
#: Seconds that a rehearsal may take beside the usual time of a request.
LONGEST_REHEARSAL: Final = 300.0


class TaggedWorkflow(WorkflowDocument, kw_only=True):
    """A workflow with the `ETag` of its answer. The tag names this state of the workflow, for `if_match`."""

    etag: str | None = None


class TaggedDraft(DraftDocument, kw_only=True):
    """A draft with the `ETag` of its answer. The tag names this revision of the draft, for `if_match`."""

    etag: str | None = None


class SavedWorkflow(NamedTuple):
    """The result of `save`. `changed` is false if exactly this definition was stored already."""

    workflow: TaggedWorkflow
    created: bool
    changed: bool


_stats: Final = one(WorkflowStats)
_JSON: Final = "application/json"
_YAML: Final = "application/yaml"


def create(definition: Definition, *, draft: bool | None = None) -> Call[TaggedWorkflow]:
    """Save a workflow under a new name. Raise Conflict if the name is taken. With `draft` save its draft instead."""
    kind, body = written_definition(definition)
    headers = {"Content-Type": kind}
    return Call(
        "POST", url_path("workflows"), _workflow, query=given(draft=draft), body=body, headers=headers, repeatable=False
    )


def save(
    definition: Definition,
    *,
    draft: bool | None = None,
    if_match: str | None = None,
    folder: str | None = None,
    unlock: bool | None = None,
) -> Call[SavedWorkflow]:
    """Save a workflow: create it, or add a version if no version has this definition.

    With `draft` save its draft: anything that can be read, with its problems in `workflow.draft`. `if_match` is the
    `etag` of the workflow or draft that was edited. Raise PreconditionFailed if it has changed since then. `folder` is
    the folder of files that the definition comes from. Raise Conflict if another folder manages the workflow, unless
    `unlock` is true."""
    kind, body = written_definition(definition)
    headers = {"Content-Type": kind, **_if_match(if_match)}
    where = url_path("workflows", _name(definition, body))
    # With `if_match` a retry is not safe: it fails after our own first save just as after another client's.
    is_safe = if_match is None
    query = given(draft=draft, folder=folder, unlock=unlock)
    return Call("PUT", where, _saved, query=query, body=body, headers=headers, repeatable=is_safe)


def plan(definitions: Iterable[tuple[str, str]], *, folder: str | None = None) -> Call[list[PlannedChangeDocument]]:
    """Return what saving definitions would change, up to 200 of them. Each is (name of its file, text). Nothing is
    changed."""
    written = [{"file": file, "text": text} for file, text in definitions]
    body = msgspec.json.encode({"folder": folder, "definitions": written})
    headers = {"Content-Type": _JSON}
    return Call("POST", url_path("workflows", "plan"), _planned, body=body, headers=headers, repeatable=True)


def rehearse(
    definition: Definition,
    *,
    days: int | None = None,
    workflow: str | None = None,
    progress: Progress | None = None,
) -> Call[RehearsalDocument]:
    """Run a definition over the runs of its workflow, with their recorded answers. Nothing is changed. `days` bounds
    the finished runs, by default 7. `progress` is called with the progress while the server works."""
    kind, body = written_definition(definition)
    return Call(
        "POST",
        url_path("workflows", workflow or _name(definition, body), "rehearse"),
        one(RehearsalDocument),
        query=given(days=days),
        body=body,
        headers={"Content-Type": kind},
        holds=LONGEST_REHEARSAL,
        progress=_hearing(progress),
    )


def get(workflow: str, *, version: Version | None = None, form: Form | None = None) -> Call[TaggedWorkflow]:
    """Return a workflow by its name or id, with its definition: that of the current version, or of the one given.

    With `form` the definition is converted to that form. Raise InvalidInput with every reason if that cannot be."""
    return Call("GET", url_path("workflows", workflow), _workflow, query=given(version=version, form=form))


def text(workflow: str, *, version: Version | None = None, form: Form | None = None) -> Call[str]:
    """Return the text of a definition as it was written, with its comments. With another `form` it is converted, and
    written as YAML. Secrets of its trigger are `***`."""
    query = [*given(version=version, form=form), ("as", "text")]
    return Call("GET", url_path("workflows", workflow), lambda answer: answer.body.decode(), query=query)


def unlock(workflow: str) -> Call[TaggedWorkflow]:
    """Let a workflow be edited elsewhere than in the folder of files that manages it."""
    return Call("POST", url_path("workflows", workflow, "unlock"), _workflow)


def stats(workflow: str, *, days: int | None = None) -> Call[WorkflowStats]:
    """Return how the runs of a workflow went."""
    return Call("GET", url_path("workflows", workflow, "stats"), _stats, query=given(days=days))


def all_stats(*, days: int | None = None, limit: int = PAGE) -> Pages[WorkflowStats]:
    """Yield how the runs of each workflow went, by name, `limit` per request."""
    query = given(days=days, limit=limit)
    return Pages(Call("GET", url_path("stats"), page(WorkflowStats), query=query))


def list_all(
    *,
    label: str | None = None,
    enabled: bool | None = None,
    status: str | None = None,
    search: str | None = None,
    limit: int = PAGE,
) -> Pages[WorkflowDocument]:
    """Yield the workflows by name, `limit` per request.

    `label` (`key:value`), `enabled`, `status` and `search` (a text in name or title) narrow the list."""
    query = given(label=label, enabled=enabled, status=status, search=search, limit=limit)
    return Pages(Call("GET", url_path("workflows"), page(WorkflowDocument), query=query))


def publish(
    workflow: str,
    *,
    auto_activate: bool | None = None,
    validate_parameters: bool | None = None,
    rehearse: Literal["report", "strict"] | None = None,
    days: int | None = None,
    if_match: str | None = None,
    progress: Progress | None = None,
    folder: str | None = None,
    unlock: bool | None = None,
) -> Call[PublishedDocument]:
    """Make a version of the draft of a workflow. It is current at once unless `auto_activate` is false.

    `validate_parameters` also refuses templates that no input can render. `rehearse` runs the draft over recorded runs
    first: the answer has the `rehearsal`. With `strict` raise RehearsalFailed if a run would fail or a run in flight
    could not be moved. `days` bounds the finished runs, by default 7. `if_match` is the `etag` of the draft. `progress`
    is called with the progress of the rehearsal. `folder` and `unlock` are as for `save`."""
    flags = given(autoActivate=auto_activate, validateParameters=validate_parameters)
    return Call(
        "POST",
        url_path("workflows", workflow, "publish"),
        one(PublishedDocument),
        query=[*flags, *given(rehearse=rehearse, days=days, folder=folder, unlock=unlock)],
        headers=_if_match(if_match),
        repeatable=if_match is None,
        holds=LONGEST_REHEARSAL if rehearse else 0.0,
        progress=_hearing(progress),
    )


def archive(workflow: str, *, folder: str | None = None, unlock: bool | None = None) -> Call[TaggedWorkflow]:
    """Let nothing start runs of a workflow. Runs in flight go on, and runs that have not begun are cancelled.

    `folder` and `unlock` are as for `save`."""
    query = given(folder=folder, unlock=unlock)
    return Call("POST", url_path("workflows", workflow, "archive"), _workflow, query=query)


def reactivate(workflow: str, *, folder: str | None = None, unlock: bool | None = None) -> Call[TaggedWorkflow]:
    """Let runs of an archived workflow be started again. `folder` and `unlock` are as for `save`."""
    query = given(folder=folder, unlock=unlock)
    return Call("POST", url_path("workflows", workflow, "reactivate"), _workflow, query=query)


def versions(workflow: str, *, drafts: bool | None = None, limit: int = PAGE) -> Pages[VersionDocument]:
    """Yield the versions of a workflow, newest first; with `drafts`, the drafts that were run instead."""
    where = url_path("workflows", workflow, "versions")
    return Pages(Call("GET", where, page(VersionDocument), query=given(drafts=drafts, limit=limit)))


def version(workflow: str, number: int) -> Call[VersionDocument]:
    """Return a version of a workflow, with its definition."""
    return Call("GET", url_path("workflows", workflow, "versions", str(number)), one(VersionDocument))


def activate(workflow: str, number: int, *, unlock: bool | None = None) -> Call[TaggedWorkflow]:
    """Make a version of a workflow its current one. Runs in flight stay on their version. `unlock` is as for `save`."""
    where = url_path("workflows", workflow, "versions", str(number), "activate")
    return Call("POST", where, _workflow, query=given(unlock=unlock))


def diff(workflow: str, old: Version | None = None, new: Version | None = None) -> Call[DiffDocument]:
    """Compare two versions. Without `old` it is the current one; without `new` it is the draft, or else the newest."""
    query = given(**{"from": old, "to": new})
    return Call("GET", url_path("workflows", workflow, "diff"), one(DiffDocument), query=query)


def get_draft(workflow: str) -> Call[TaggedDraft]:
    """Return the draft of a workflow, with its definition and its problems."""
    return Call("GET", url_path("workflows", workflow, "draft"), _draft)


def discard_draft(workflow: str, *, if_match: str | None = None) -> Call[TaggedDraft]:
    """Delete the draft of a workflow. Its versions stay as they are."""
    where, is_safe = url_path("workflows", workflow, "draft"), if_match is None
    return Call("DELETE", where, _draft, headers=_if_match(if_match), repeatable=is_safe)


def delete(workflow: str, *, unlock: bool | None = None) -> Call[TaggedWorkflow]:
    """Delete a workflow. Its runs in flight go on, and its name is free again. `unlock` is as for `save`."""
    return Call("DELETE", url_path("workflows", workflow), _workflow, query=given(unlock=unlock))


def enable(workflow: str) -> Call[TaggedWorkflow]:
    """Allow a workflow to be started again."""
    return Call("POST", url_path("workflows", workflow, "enable"), _workflow)


def disable(workflow: str) -> Call[TaggedWorkflow]:
    """Allow no start of a workflow. Its runs in flight go on."""
    return Call("POST", url_path("workflows", workflow, "disable"), _workflow)


_read_progress: Final = msgspec.json.Decoder(RehearsalProgressDocument)


def _hearing(progress: Progress | None) -> Callable[[str], object] | None:
    return None if progress is None else lambda data: progress(_read_progress.decode(data))


_read_one: Final = one(TaggedWorkflow)
_read_draft: Final = one(TaggedDraft)
_read_saved: Final = bare(SavedWorkflowAnswer)
_read_plan: Final = page(PlannedChangeDocument)


def _planned(answer: Answer) -> list[PlannedChangeDocument]:
    return _read_plan(answer).data


def _workflow(answer: Answer) -> TaggedWorkflow:
    found = _read_one(answer)
    found.etag = answer.headers.get("etag")
    return found


def _draft(answer: Answer) -> TaggedDraft:
    found = _read_draft(answer)
    found.etag = answer.headers.get("etag")
    return found


def _if_match(tag: str | None) -> dict[str, str]:
    return {} if tag is None else {"If-Match": tag}


def _saved(answer: Answer) -> SavedWorkflow:
    saved = _read_saved(answer)
    workflow = TaggedWorkflow(**msgspec.structs.asdict(saved.data), etag=answer.headers.get("etag"))
    return SavedWorkflow(workflow, created=answer.status == 201, changed=saved.changed)


def written_definition(definition: Definition) -> tuple[str, bytes]:
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
    names = [known.get(key) for key in ("key", "name", "id")] if isinstance(known, Mapping) else []
    name = next((one for one in names if one is not None), None)
    if not isinstance(name, str) or not name:
        raise InvalidInput("the definition has no name; add `name: ...`")
    return name
