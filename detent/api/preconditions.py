"""Entity tags of workflows: whoever changes one can say which state of it he has seen."""

from __future__ import annotations

from detent.errors import PreconditionFailed
from detent.instant import Instant
from detent.store.rows import WorkflowRow


def etag_of(row: WorkflowRow) -> str:
    """Names one state of a workflow: any change gives it another."""
    return f'"v{row.version}.{row.updated_at}"'


def expected_state(if_match: str | None, row: WorkflowRow | None) -> tuple[int, Instant] | None:
    """(version, updated_at) that must still be there when the change is made; null if any will do. PreconditionFailed
    if what is there now is not what `If-Match` names."""
    if if_match is None:
        return None
    if row is None:
        raise PreconditionFailed("there is no such workflow yet, and If-Match asks for one")
    tags = {tag.strip() for tag in if_match.split(",")}
    if "*" in tags:
        return None
    if etag_of(row) not in tags:
        raise PreconditionFailed(f"the workflow {row.name!r} was changed by somebody else; read it again")
    return row.version, row.updated_at
