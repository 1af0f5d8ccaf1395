"""The tables of the memory store, as dictionaries."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from detent.clock import Clock
from detent.run.journal import Entry
from detent.run.links import Reservation
from detent.run.status import TERMINAL
from detent.store.audit import AuditRow
from detent.store.auth import STAMP, KeyRow
from detent.store.blobs.rows import BlobRow, UploadRow, UseKey
from detent.store.catalog_rows import NewAction, NewConnector
from detent.store.events import EventRow
from detent.store.identity.people import Handshake, PersonRow, SessionRow
from detent.store.letters import LetterRow, NewLetter
from detent.store.links import LinkKey, LinkRow
from detent.store.logs.rows import LogRow
from detent.store.protocol import Hints
from detent.store.rows import CallbackState, DraftRow, Favoured, Mail, NewRun, NewVersion, NodeOffer, Receipt
from detent.store.rule_rows import ActionTemplateRow, AlertRow, EntityRow
from detent.store.secrets import SecretRow
from detent.store.templates import DocumentTemplateRow, TemplateSetRow, WorkflowTemplateRow
from detent.store.tenants import TenantRow, TenantStatus
from detent.store.trigger_rows import FiringRow, NewTrigger
from detent.store.vault.credentials import CredentialRow


@dataclass(slots=True)
class StoredRun:
    new: NewRun
    owner: bytes | None
    generation: int
    status: str
    wake_at: int | None
    ended_at: int | None = None
    output: bytes | None = None
    seal: bytes | None = None
    error: str | None = None
    stage_epoch: int | None = None  # the generation in which its stage was written, which `new` has

    def is_open(self) -> bool:
        return self.status not in TERMINAL


@dataclass(slots=True)
class StoredCallback:
    tenant: int
    early: bool
    created_at: int
    state: CallbackState = CallbackState.PENDING
    until: int | None = None
    message_id: str | None = None
    answer: Receipt | None = None
    ask: str | None = None
    decisions: str | None = None


@dataclass(slots=True)
class StoredWorkflow:
    new: NewVersion  # the current version
    version: int
    created_at: int
    updated_at: int
    versions: dict[int, tuple[NewVersion, int]] = field(default_factory=dict)  # with the time of its creation
    deleted_at: int | None = None
    status: str = "active"
    draft: DraftRow | None = None
    revision: int = 0  # of its last draft
    created_by: str | None = None


@dataclass(slots=True)
class StoredTrigger:
    new: NewTrigger
    created_at: int
    updated_at: int
    last_at: int | None = None
    deleted_at: int | None = None


@dataclass(slots=True)
class StoredConnector:
    versions: dict[int, tuple[NewConnector, int]] = field(default_factory=dict)  # by ranking, with their times
    enabled: bool = True
    is_removed: bool = False


@dataclass(slots=True)
class StoredAction:
    versions: dict[int, tuple[NewAction, int]] = field(default_factory=dict)
    enabled: bool = True


class MemoryTables:
    """The dictionaries that every part of the memory store uses."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.hints: Hints | None = None
        self.nodes: dict[bytes, int] = {}
        self.leases: dict[bytes, int] = {}
        self.table: dict[bytes, StoredRun] = {}
        self.entries: dict[bytes, dict[int, Entry]] = {}
        self.inbox: dict[int, Mail] = {}
        self.sources: set[tuple[bytes, int]] = set()
        self.waits: dict[tuple[bytes, str], StoredCallback] = {}
        self.favoured = Favoured.BEST  # by the next claim
        self.results: dict[tuple[bytes, str], bytes] = {}
        self.saved: dict[bytes, StoredWorkflow] = {}
        self.workflow_texts: dict[tuple[int, str], WorkflowTemplateRow] = {}
        self.template_sets_by_id: dict[tuple[int, str], TemplateSetRow] = {}
        self.document_texts: dict[tuple[int, str, str, int], DocumentTemplateRow] = {}
        self.entities_by_name: dict[tuple[int, str], EntityRow] = {}
        self.events: dict[bytes, EventRow] = {}
        self.layouts: dict[bytes, str] = {}
        self.raised: dict[bytes, AlertRow] = {}
        self.action_texts: dict[bytes, ActionTemplateRow] = {}
        self.settings: dict[str, str] = {}
        self.rules: dict[bytes, StoredTrigger] = {}
        self.fired: dict[bytes, FiringRow] = {}
        self.offered: dict[bytes, NodeOffer] = {}
        self.seen: dict[tuple[str, str], int] = {}
        self.services: dict[tuple[int, str], StoredConnector] = {}
        self.actions_by_id: dict[tuple[int, str], StoredAction] = {}
        self.last_mail = 0
        self.links: dict[LinkKey, LinkRow] = {}
        self.reservations: dict[LinkKey, Reservation] = {}
        self.dead: dict[bytes, LetterRow] = {}
        self.logs: dict[bytes, LogRow] = {}
        self.api_keys: dict[str, KeyRow] = {}
        self.tenants_by_id = {1: TenantRow(1, "default", TenantStatus.ACTIVE, None, None)}
        self.last_tenant = 1
        self.audit_rows: dict[bytes, AuditRow] = {}
        self.sealed_secrets: dict[tuple[int, str], SecretRow] = {}
        self.persons: dict[bytes, PersonRow] = {}
        self.open_sessions: dict[str, SessionRow] = {}
        self.handshakes: dict[str, Handshake] = {}
        self.credentials_by_name: dict[tuple[int, str], CredentialRow] = {}
        self.blobs_by_id: dict[bytes, BlobRow] = {}
        self.uploads: dict[bytes, UploadRow] = {}
        self.chunks: dict[tuple[bytes, int], tuple[int, bytes]] = {}  # with their tenant
        self.uses: dict[UseKey, tuple[int, int]] = {}  # tenant and time by holder and blob
        self.awaiting: dict[tuple[int, str, bytes], int] = {}  # runs by their credential, with the time of the note

    def new_stamp(self) -> None:
        """Replace the stamp of identities."""
        self.settings[STAMP] = secrets.token_hex(8)

    def is_suspended(self, tenant: int) -> bool:
        """Return whether a tenant is suspended."""
        row = self.tenants_by_id.get(tenant)
        return row is not None and row.status == TenantStatus.SUSPENDED

    def sorted_entries(self, run: bytes) -> list[Entry]:
        """Return the journal of a run of any tenant."""
        return [entry for _, entry in sorted(self.entries.get(run, {}).items())]

    def holder(self, tenant: int, key: str) -> bytes | None:
        """Return the open run that has that active key."""
        runs = (run for run in self.table.values() if run.is_open() and run.new.active_key == key)
        return next((run.new.id for run in runs if run.new.tenant == tenant), None)

    def post(self, run: bytes, kind: str, step: str | None, data: bytes) -> None:
        """Put a message into a run's inbox."""
        self.last_mail += 1
        self.inbox[self.last_mail] = Mail(self.last_mail, run, 0, kind, step, data, self.clock.wall())

    def drop_links(self, run: bytes) -> None:
        """Delete the links and reservations of a run."""
        for key in [key for key, row in self.links.items() if row.run == run]:
            del self.links[key]
        for key in [key for key, one in self.reservations.items() if one.run == run]:
            del self.reservations[key]

    def add_letter(self, letter: NewLetter) -> None:
        """Add a dead letter, unless it was added before."""
        at = self.clock.wall()
        row = LetterRow(*letter, at=at, state="open", settled_at=None, settled_by=None, result=None, workflow_name="")
        self.dead.setdefault(letter.id, row)
