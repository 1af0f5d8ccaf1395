"""A start that is resolved to one version of a workflow, ready to be written."""

from __future__ import annotations

from dataclasses import dataclass

from detent.instant import Instant
from detent.planner.prepared import Prepared
from detent.planner.reuse import Reuse
from detent.run.initiator import NO_INITIATOR, Initiator
from detent.run.journal import Family
from detent.store.rows import StartCheck


@dataclass(frozen=True, slots=True)
class PreparedStart:
    """A start that is resolved to one version of a workflow.

    `input` is JSON with `body`, `headers` and `query`. `code` has the names of the user code it needs. A run with
    `start_at` in the future is pending until then. The store refuses the start if `check` fails. `reuse` has results of
    the run that it continues. Only one open run may have an `active_key`; a successor takes it from the run in
    `successor_of`. `asked`: the priority was given for this run and is not the workflow's.
    """

    tenant: int
    workflow: bytes
    version: int
    name: str
    prepared: Prepared
    input: bytes
    trigger: str = "api"
    queue: str = "default"
    priority: int = 0
    code: tuple[str, ...] = ()
    labels: str | None = None
    watch: bool = False
    request_id: str | None = None
    request_hash: bytes | None = None
    hero: tuple[str, str] | None = None
    start_at: Instant | None = None
    check: StartCheck = StartCheck.NONE
    origin: bytes | None = None
    origin_kind: str | None = None
    fired_by: bytes | None = None
    reuse: Reuse | None = None
    active_key: str | None = None
    parent: bytes | None = None
    id: bytes | None = None  # None: a new one
    asked: bool = False
    successor_of: bytes | None = None
    family: Family | None = None
    expires_at: Instant | None = None  # of a page of a map: when its parent expires
    initiator: Initiator = NO_INITIATOR
