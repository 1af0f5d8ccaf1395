"""What goes into a store and what comes out: plain rows, the same for every database.

Times are microseconds since the Unix epoch by the database's clock. Ids are 16 bytes. JSON is the bytes as written.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

from detent.errors import StoreError
from detent.run.journal import Entry
from detent.store.audit import AuditRow
from detent.store.letters import NewLetter
from detent.store.links import LinkKey, NewLink
from detent.store.logs.rows import LogRow
from detent.store.trigger_rows import NewTrigger

#: The owner of a run that was released without being loaded. No node has this id, so the node that claims the run
#: adopts it.
NO_ID: Final = bytes(16)


class StartCheck(IntEnum):
    """What must be true of a start's workflow at the moment its run is inserted. Otherwise the start is refused."""

    NONE = 0
    CURRENT = 1  # it is active and enabled, and that version is its current one
    STARTABLE = 2  # it is active and enabled, and has that version
    STORED = 3  # it has that version, whatever its status: a run of a draft


class NewRun(NamedTuple):
    """A run to insert.

    With `owned` the inserting node owns it (generation 1); otherwise any node may claim it at `wake_at`.

    `code` is a JSON list of the user actions it needs, `None` if it needs none.

    The start is refused if a run of that tenant has its `request_id`, or an open run of that tenant has its
    `active_key`, or if `check` fails. A run holds its key until the flush that ends it has returned.

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
    check: StartCheck = StartCheck.NONE
    active_key: str | None = None  # at most one open run of a tenant has it
    successor_of: bytes | None = None  # the run whose active key it takes
    stage: str | None = None  # what it waits for at once; a run without an owner only
    stage_step: str | None = None
    principal: str | None = None  # on whose behalf it is started, as JSON; `None` is the system
    via: str | None = None  # the caller that asked, if it is not the principal
    correlation: str | None = None


class NewCallback(NamedTuple):
    """A callback to insert, in state `pending`: created when the run starts, or later when a function opens a wait."""

    tenant: int
    run: bytes
    step: str
    early: bool  # whether a callback before the wait is active is accepted
    ask: str | None = None  # what it asks; empty before that is known, `None` if it accepts anything


class Activation(NamedTuple):
    """A wait step became active: its callback is accepted from now until `until`."""

    run: bytes
    step: str
    until: int | None
    ask: str | None = None  # what it asks from now on


class Park(NamedTuple):
    """The node releases the run until `wake_at` (`None`: until mail comes). `generation` is the ownership it had.

    The run then waits in that queue with that priority; `None` leaves them unchanged. A run that was moved to another
    version has that `version` and needs its `code` from then on; `None` leaves them unchanged too. With `kept` the node
    goes on owning the run. `stage` is what the run waits for, `stage_step` the step that waits. A claim clears both."""

    run: bytes
    generation: int
    wake_at: int | None
    status: str
    queue: str | None = None
    priority: int | None = None
    version: int | None = None
    code: str | None = None
    kept: bool = False
    stage: str | None = None
    stage_step: str | None = None


class End(NamedTuple):
    """The run has ended. Its callbacks expire and its mail is dropped in the same flush.

    `successor` is the run that starts in this flush and continues it. Mail of the kinds FORWARDED goes there, in its
    order. If that start is refused, the whole flush fails and nothing is written. `seal` proves what the run did, if
    the node seals runs."""

    run: bytes
    generation: int
    status: str
    ended_at: int
    output: bytes | None
    error: str | None
    successor: bytes | None = None
    seal: bytes | None = None


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
    links: list[NewLink] = field(default_factory=list)
    letters: list[NewLetter] = field(default_factory=list)
    audits: list[tuple[bytes, AuditRow]] = field(default_factory=list)  # of starts: the run, and the row
    logs: list[LogRow] = field(default_factory=list)
    dropped_logs: list[bytes] = field(default_factory=list)  # the ids of older rows

    def sorted_links(self) -> list[NewLink]:
        """Return the first claim of each resource, in one order for every node, so that two nodes cannot deadlock."""
        return sorted({link.key: link for link in reversed(self.links)}.values())

    def unlinked(self, inserted: Collection[tuple[LinkKey, bytes]]) -> frozenset[tuple[LinkKey, bytes]]:
        """Return the claims that are not among the inserted ones."""
        return frozenset({(link.key, link.run) for link in self.links}.difference(inserted))

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
        asks = {row[:2]: row.ask for row in self.activations if row.ask is not None}
        last = {row[:2]: row for row in self.activations}
        return [row if not asks else row._replace(ask=asks.get(key)) for key, row in last.items()]


class Flushed(NamedTuple):
    """The result of a durable flush.

    `expired`: the (run, step) of `expiries` whose callback is now expired, by this flush or before. The others were
    received first, and their payload is in the inbox. `refused`: the ids of the starts that were not inserted; nothing
    else of them was written either. `unlinked`: the claims of links, each with its run, that were not inserted because
    a run had the resource already, perhaps the same one (`link_owners` says which)."""

    now: int
    expired: frozenset[tuple[bytes, str]]
    refused: frozenset[bytes] = frozenset()
    unlinked: frozenset[tuple[LinkKey, bytes]] = frozenset()


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
    principal: str | None = None
    via: str | None = None
    correlation: str | None = None


class Favoured(IntEnum):
    """The sort of runs that comes first in a claim.

    Claims take turns, or a backlog of one sort would keep the others waiting without bound. In the turn of mail, a run
    that is not due comes before one that is, because the other one has a second turn.
    """

    BEST = 0
    MAILED = 1
    ORPHANED = 2
    DUE = 3

    def next(self) -> Favoured:
        """Return whose turn the next claim is."""
        return Favoured((self + 1) % 4)


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
    MOVE = "move"
    NOTE = "note"


#: Requests of people and of other runs. They apply to the successor of a run too.
FORWARDED: Final = (MessageKind.SIGNAL, MessageKind.CANCEL, MessageKind.PAUSE, MessageKind.RESUME, MessageKind.FINISH)
#: The kind of origin of a run that continues another one.
CONTINUED: Final = "continued"


class Delivery(NamedTuple):
    """A callback for a wait step."""

    run: bytes
    step: str
    data: bytes
    message_id: str | None


class Receipt(StrEnum):
    """The answer to a callback. `asks`: it has an ask, which `decide` checks. `counted`: one decision of several."""

    ACCEPTED = "accepted"
    EARLY = "early"
    NOT_ACTIVE = "not_active"
    USED = "used"
    EXPIRED = "expired"
    NOT_FOUND = "not_found"
    ASKS, COUNTED = "asks", "counted"


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
    ask: str | None = None
    decisions: str | None = None


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
    stage: str | None = None
    stage_step: str | None = None
    stage_epoch: int | None = None
    principal: str | None = None
    via: str | None = None
    correlation: str | None = None
    seal: bytes | None = None


def released_key(run: bytes) -> str:
    """Return the active key of a run that passed its own key to a successor.

    It shows that the run had a key, and it is unique, so it conflicts with no other run."""
    return run.hex()


def hero_of(row: RunRow | ClaimedRun) -> tuple[str, str] | None:
    """Return the type and id of a run's hero, or `None`."""
    return None if row.hero_type is None or row.hero_id is None else (row.hero_type, row.hero_id)


@dataclass(frozen=True, slots=True)
class RunCriteria:
    """A filter of runs. A field that is not given does not narrow it.

    `started_after` and `started_before` bound `started_at` as [after, before). `first` and `last` bound the id, and so
    when the run was accepted, as [first, last). `owned`: whether a node owns the run. `without`: runs that this started
    are left out. `ended_after`: the run has ended, at that time or later.

    `stages` are kinds of `StageKind`, as they are at `now`. `error` is part of the error, whatever the case of letters.
    So is `text` of the name of the workflow, the hero's id, the value of a label, the error, the request id or the step
    that the run waits at; or the last bytes of the id are `id_end`, in hexadecimal digits."""

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
    without: str | None = None
    version: int | None = None
    stages: tuple[str, ...] = ()
    now: int | None = None
    ids: tuple[bytes, ...] = ()
    first: bytes | None = None
    last: bytes | None = None
    ended_after: int | None = None
    error: str | None = None
    text: str | None = None
    id_end: str | None = None

    def given(self) -> dict[str, object]:
        """Return the given fields by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) not in (None, ())}


class VersionFacts(NamedTuple):
    """What a start of a version needs beside its graph, and what a workflow shows of its current version.

    `trigger` and `labels` are JSON. A workflow's row has those of its current version."""

    form: str
    title: str | None
    description: str | None
    trigger: str
    labels: str | None

    def encode(self) -> str:
        """Return the facts as a version's row stores them."""
        return json.dumps(self._asdict())

    @classmethod
    def decode(cls, data: str) -> VersionFacts:
        """Return the facts that a version's row stores."""
        return cls(**json.loads(data))


class NewVersion(NamedTuple):
    """A workflow definition to save. A new version is created only if no version has the checksum."""

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
    title: str | None = None
    entity: str | None = None  # of a rule
    author: str | None = None

    def facts(self) -> VersionFacts:
        """Return what its row stores for later starts."""
        return VersionFacts(self.form, self.title, self.description, self.trigger, self.labels)


class NewDraft(NamedTuple):
    """A draft to save. `problems` is a JSON list of {field, message}, empty if the draft can be published."""

    tenant: int
    id: bytes  # the id of the workflow if the name is new
    name: str
    form: str
    title: str | None
    description: str | None
    source: str
    problems: str
    author: str


class SavedDraft(NamedTuple):
    """The result of saving a draft. `created`: the name was new."""

    id: bytes
    revision: int
    created: bool


class DraftRow(NamedTuple):
    """The draft of a workflow. Each save raises `revision`; a workflow never has the same revision twice."""

    workflow: bytes
    tenant: int
    source: str
    form: str
    revision: int
    problems: str
    author: str
    updated_at: int


class Unsaved(StrEnum):
    """Why a workflow or its draft was not saved or deleted."""

    TAKEN = "taken"  # another workflow has the name
    CHANGED = "changed"  # the current version, or the draft's revision, is not the expected one
    MISSING = "missing"  # it does not exist, and a version was expected
    PUBLISHED = "published"  # it has the status `active` or `archived`, and only a draft may be replaced
    UNPUBLISHED = "unpublished"  # it has no version, so it is nothing without its draft
    ARCHIVED = "archived"  # it must be reactivated first
    ACTIVE = "active"  # it must be archived first
    NO_ENTITY = "no_entity"  # the entity of the rule does not exist
    USED = "used"  # the entity has rules


class SavedVersion(NamedTuple):
    """The result of a save. `created`: the name was new. `changed`: another version is current than before.

    Of a draft that was published without activating it, `changed` says that a version was added. `updated_at` is that
    of the workflow after this save, whatever follows it."""

    id: bytes
    version: int
    created: bool
    changed: bool
    updated_at: int


class WorkflowRow(NamedTuple):
    """A workflow with its current version.

    A workflow that was never activated has the status `draft` and version 0, without source and graph. `draft` is the
    revision of its draft, `None` if it has none."""

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
    title: str | None = None
    draft: int | None = None
    entity: str | None = None
    updated_by: str | None = None
    created_by: str | None = None

    def facts(self) -> VersionFacts:
        """Return the facts of the current version."""
        return VersionFacts(self.form, self.title, self.description, self.trigger, self.labels)


class Finding(NamedTuple):
    """One result of `doctor` about the database. `level` is ok, warning or error."""

    level: str
    subject: str
    message: str


class VersionRow(NamedTuple):
    """One version of a workflow. A number below zero is a draft that was run.

    `facts` is `None` in versions that code of the first tables saved."""

    version: int
    checksum: str
    created_at: int
    source: str
    facts: VersionFacts | None = None
    author: str | None = None


class NodeOffer(NamedTuple):
    """What a registered node serves: its queues (`None`: all) and its user actions. Its lease ends at `until`.

    `version` is that of its code, `None` if it did not say."""

    node: bytes
    queues: tuple[str, ...] | None
    actions: tuple[str, ...]
    until: int
    version: str | None = None
