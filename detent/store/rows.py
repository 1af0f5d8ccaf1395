"""What goes into a store and what comes out: plain rows, the same for every database.

Times are microseconds since the Unix epoch by the database's clock. Ids are 16 bytes. JSON is the bytes as written.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from detent.errors import StoreError
from detent.run.journal import Entry
from detent.store.trigger_rows import NewTrigger

#: The kind of a run's first row in a timeline, which is not an entry of its journal.
RUN_STARTED: Final = "run_started"
#: The owner of a run that was released without being loaded. No node has this id, so the node that claims the run
#: adopts it.
NO_ID: Final = bytes(16)


#: A position in a timeline: time, run, seq of the entry.
TimelineCursor = tuple[int, bytes, int]


class NewRun(NamedTuple):
    """A run to insert.

    With `owned` the inserting node owns it (generation 1); otherwise any node may claim it at `wake_at`.

    `code` is a JSON list of the user actions it needs, `None` if it needs none.

    The start is refused if a run of that tenant has its `request_id`, or an open run of that tenant has its
    `active_key`. With `current` it is also refused unless the workflow exists, is active, enabled and still at that
    version. A run holds its key until the flush that ends it has returned.

    A successor (`successor_of`) takes the key of that run when it is inserted, if that run is open and owned by the
    node. That run then has its `released_key`. If the successor is refused, the other run still has its key, and other
    successors in the same flush may be refused too."""

    id: bytes
    tenant: int
    workflow: bytes
    version: int
    status: str
    trigger: str
    input: bytes
    opening: bytes | None
    owned: bool
    wake_at: int | None
    expires_at: int | None
    queue: str
    priority: int
    code: str | None
    request_id: str | None
    request_hash: bytes | None
    hero_type: str | None
    hero_id: str | None
    labels: str | None
    origin: bytes | None
    parent: bytes | None
    started_at: int
    origin_kind: str | None = None  # retry, rerun or fork of `origin`
    fired_by: bytes | None = None  # the trigger that started it
    current: bool = False
    active_key: str | None = None  # at most one open run of a tenant has it
    successor_of: bytes | None = None  # the run whose active key it takes


class NewCallback(NamedTuple):
    """A callback to insert, in state `pending`: created when the run starts, or later when a function opens a wait."""

    tenant: int
    run: bytes
    step: str
    early: bool  # whether a callback before the wait is active is accepted


class Activation(NamedTuple):
    """A wait step became active: its callback is accepted from now until `until`."""

    run: bytes
    step: str
    until: int | None


class Park(NamedTuple):
    """The node releases the run until `wake_at` (`None`: until mail comes). `generation` is the ownership it had.

    The run then waits in that queue with that priority; `None` leaves them unchanged."""

    run: bytes
    generation: int
    wake_at: int | None
    status: str
    queue: str | None = None
    priority: int | None = None


class End(NamedTuple):
    """The run has ended. Its callbacks expire and its mail is dropped in the same flush.

    `successor` is the run that starts in this flush and continues it. Mail of the kinds FORWARDED goes there, in its
    order. If that start is refused, the whole flush fails and nothing is written."""

    run: bytes
    generation: int
    status: str
    ended_at: int
    output: bytes | None
    error: str | None
    successor: bytes | None = None


class Message(NamedTuple):
    """A message to a run, written by another run's flush. (source, source_seq) makes it arrive once."""

    tenant: int
    run: bytes
    kind: str
    step: str | None
    data: bytes
    source: bytes
    source_seq: int


@dataclass(slots=True)
class Flush:
    """Everything one node has to write, as one transaction."""

    starts: list[NewRun] = field(default_factory=list)
    callbacks: list[NewCallback] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    activations: list[Activation] = field(default_factory=list)
    parks: list[Park] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    expiries: list[tuple[bytes, str]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    consumed: list[int] = field(default_factory=list)

    def continued(self) -> list[End]:
        """Return the ends of runs that continue as another run."""
        return [end for end in self.ends if end.successor is not None]

    def check_successors(self, refused: Collection[bytes]) -> None:
        """Raise StoreError if a successor was refused: the run that it continues must not end without it."""
        for end in self.ends:
            if end.successor is not None and end.successor in refused:
                raise StoreError(f"run {end.run.hex()} cannot end: its successor {end.successor.hex()} was refused")

    def last_activations(self) -> list[Activation]:
        """Return the last activation of each callback: one flush may activate a wait and then set its time."""
        return list({(row.run, row.step): row for row in self.activations}.values())


class Flushed(NamedTuple):
    """The result of a durable flush.

    `expired`: the (run, step) of `expiries` whose callback is now expired, by this flush or before. The others were
    received first, and their payload is in the inbox. `refused`: the ids of the starts that were not inserted; nothing
    else of them was written either."""

    now: int
    expired: frozenset[tuple[bytes, str]]
    refused: frozenset[bytes] = frozenset()


class ClaimedRun(NamedTuple):
    """A run this node now owns. `adopted`: its owner was a node that is gone."""

    id: bytes
    tenant: int
    workflow: bytes
    version: int
    status: str
    input: bytes
    opening: bytes | None
    generation: int
    adopted: bool
    expires_at: int | None
    wake_at: int | None
    queue: str
    priority: int
    started_at: int
    parent: bytes | None
    hero_type: str | None = None
    hero_id: str | None = None


class ClaimResult(NamedTuple):
    """The claimed runs. `None` in its place means that the fence refused: this node is gone."""

    now: int
    runs: list[ClaimedRun]


class Mail(NamedTuple):
    """One message in the inbox of a run that the asking node owns, in the order of arrival."""

    id: int
    run: bytes
    generation: int
    kind: str
    step: str | None
    data: bytes
    at: int


class MessageKind(StrEnum):
    """What a message in the inbox is about."""

    CALLBACK = "callback"
    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    RESOLVE = "resolve"
    SKIP = "skip"
    REATTEMPT = "reattempt"
    FINISH = "finish"
    SIGNAL = "signal"
    CHILD = "child"


#: Requests of people and of other runs. They apply to the successor of a run too.
FORWARDED: Final = (
    MessageKind.SIGNAL,
    MessageKind.CANCEL,
    MessageKind.PAUSE,
    MessageKind.RESUME,
    MessageKind.FINISH,
)
#: The kind of origin of a run that continues another one.
CONTINUED: Final = "continued"


class Delivery(NamedTuple):
    """A callback for a wait step."""

    run: bytes
    step: str
    data: bytes
    message_id: str | None


class Receipt(StrEnum):
    """The answer to a callback."""

    ACCEPTED = "accepted"
    EARLY = "early"
    NOT_ACTIVE = "not_active"
    USED = "used"
    EXPIRED = "expired"
    NOT_FOUND = "not_found"


class CallbackState(StrEnum):
    """The state of a callback. The API's word for `received` is `consumed`."""

    PENDING = "pending"
    ACTIVE = "active"
    RECEIVED = "received"
    EXPIRED = "expired"


class CallbackRow(NamedTuple):
    """A callback as users see it."""

    step: str
    state: str
    created_at: int
    until: int | None


class RunRow(NamedTuple):
    """A run as stored in its table."""

    id: bytes
    tenant: int
    workflow: bytes
    workflow_name: str
    version: int
    status: str
    trigger: str
    input: bytes
    opening: bytes | None
    owner: bytes | None
    generation: int
    wake_at: int | None
    expires_at: int | None
    queue: str
    priority: int
    code: str | None
    request_id: str | None
    hero_type: str | None
    hero_id: str | None
    labels: str | None
    origin: bytes | None
    parent: bytes | None
    started_at: int
    ended_at: int | None
    output: bytes | None
    error: str | None
    request_hash: bytes | None = None
    origin_kind: str | None = None
    fired_by: bytes | None = None
    active_key: str | None = None


def released_key(run: bytes) -> str:
    """Return the active key of a run that passed its own key to a successor.

    It shows that the run had a key, and it is unique, so it conflicts with no other run."""
    return run.hex()


class Orphan(NamedTuple):
    """An open run whose parent has ended with `status`, without completing. `opening` is that of the open run."""

    tenant: int
    run: bytes
    opening: bytes | None
    parent: bytes
    status: str


class TimelineRow(NamedTuple):
    """An entry of the journal of a run. With seq 0 it is the start of the run (RUN_STARTED)."""

    workflow_name: str
    entry: Entry

    def place(self) -> TimelineCursor:
        """Return its position in the timeline."""
        return self.entry.at, self.entry.run, self.entry.seq


def hero_of(row: RunRow | ClaimedRun) -> tuple[str, str] | None:
    """Return the type and id of a run's hero, or `None`."""
    return None if row.hero_type is None or row.hero_id is None else (row.hero_type, row.hero_id)


@dataclass(frozen=True, slots=True)
class RunCriteria:
    """A filter of runs. A field that is not given does not narrow it.

    `started_after` and `started_before` bound `started_at` as [after, before). `owned`: whether a node owns the run."""

    workflow: bytes | None = None
    statuses: tuple[str, ...] = ()
    trigger: str | None = None
    fired_by: bytes | None = None
    hero_type: str | None = None
    hero_id: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    request_id: str | None = None
    origin: bytes | None = None
    parent: bytes | None = None
    started_after: int | None = None
    started_before: int | None = None
    owned: bool | None = None

    def given(self) -> dict[str, object]:
        """Return the given fields by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) not in (None, ())}


class NewVersion(NamedTuple):
    """A workflow definition to save. A new version is created only if the checksum differs from the current one."""

    tenant: int
    id: bytes  # used if the name is new
    name: str
    form: str
    description: str | None
    enabled: bool
    trigger: str  # JSON: its type and the fields of that type
    labels: str | None
    source: str  # the text as received
    graph: bytes  # the compiled graph in our codec
    checksum: str
    language: int
    owned_trigger: NewTrigger | None = None  # the trigger of the definition; `None` removes the previous one


class Unsaved(StrEnum):
    """Why a workflow was not saved."""

    TAKEN = "taken"  # another workflow has the name
    CHANGED = "changed"  # the current version is not the expected one
    MISSING = "missing"  # it does not exist, and a version was expected


class SavedVersion(NamedTuple):
    """The result of a save. `created`: the name was new. `changed`: a new version was created."""

    id: bytes
    version: int
    created: bool
    changed: bool


class WorkflowRow(NamedTuple):
    """A workflow with its current version."""

    id: bytes
    tenant: int
    name: str
    form: str
    description: str | None
    status: str
    enabled: bool
    version: int
    trigger: str
    labels: str | None
    created_at: int
    updated_at: int
    source: str
    graph: bytes


class Finding(NamedTuple):
    """One result of `doctor` about the database. `level` is ok, warning or error."""

    level: str
    subject: str
    message: str


class VersionRow(NamedTuple):
    """One version of a workflow."""

    version: int
    checksum: str
    created_at: int
    source: str


class NodeOffer(NamedTuple):
    """What a registered node serves: its queues (`None`: all) and its user actions. Its lease ends at `until`."""

    node: bytes
    queues: tuple[str, ...] | None
    actions: tuple[str, ...]
    until: int
