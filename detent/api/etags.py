"""Entity tags: what identifies the state of a workflow or its draft, and what `If-Match` requires of it."""

from __future__ import annotations

import re
from typing import Final

from detent.errors import PreconditionFailed
from detent.instant import Instant
from detent.store.rows import WorkflowRow

_STATE: Final = re.compile(r'"v([0-9]{1,10})\.([0-9]{1,20})"')


def etag_of(row: WorkflowRow) -> str:
    """Return the entity tag of a workflow. Every change of the workflow changes it. A workflow that is nothing but its
    draft has the tag of the draft."""
    if row.status == "draft" and row.draft is not None:
        return revision_tag(row.draft)
    return f'"v{row.version}.{row.updated_at}"'


def revision_tag(revision: int) -> str:
    """Return the entity tag of a draft."""
    return f'"d{revision}"'


def expected_revision(if_match: str | None, row: WorkflowRow | None) -> int | None:
    """Return the revision that the draft must still have when it is changed, 0 if there must be none; `None` allows
    any. `If-Match` names the draft, or the state of the workflow. Raise PreconditionFailed if it names another one."""
    if if_match is None:
        return None
    if row is None:
        raise PreconditionFailed("there is no such workflow, and If-Match requires one; leave it out to create one")
    tags = {tag.strip() for tag in if_match.split(",")}
    if "*" in tags:
        return None
    known = {etag_of(row)} | ({revision_tag(row.draft)} if row.draft is not None else set())
    if known.isdisjoint(tags):
        raise PreconditionFailed(f"the draft of the workflow {row.name!r} has changed since it was read; read it again")
    return row.draft or 0


def expected_state(if_match: str | None, row: WorkflowRow | None) -> tuple[int, Instant] | None:
    """Return the (version, updated_at) that the workflow must still have when it is changed; `None` allows any. Raise
    PreconditionFailed if `If-Match` does not name the current state."""
    if if_match is None:
        return None
    if row is None:
        raise PreconditionFailed("there is no such workflow, and If-Match requires one; leave it out to create one")
    tags = {tag.strip() for tag in if_match.split(",")}
    if "*" in tags:
        return None
    if etag_of(row) not in tags:
        raise PreconditionFailed(f"the workflow {row.name!r} has changed since it was read; read it again")
    return row.version, row.updated_at


def named_state(if_match: str | None, row: WorkflowRow) -> tuple[int, Instant] | None:
    """Return the (version, updated_at) that a caller has read: the current one if `If-Match` names it, else the first
    one that it names. `None` allows any. A tag that is not one of ours is a state that never was."""
    if if_match is None:
        return None
    tags = [tag.strip() for tag in if_match.split(",")]
    if "*" in tags:
        return None
    if etag_of(row) in tags:
        return row.version, row.updated_at
    found = (_STATE.fullmatch(tag) for tag in tags)
    return next(((int(one[1]), int(one[2])) for one in found if one is not None), (0, 0))
