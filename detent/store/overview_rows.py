"""The rows and the verbs of overviews: waits and their answers, received requests, grids, queues and storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from detent.store.rows import CallbackState, MessageKind, Receipt
from detent.store.trigger_rows import FiringRow


class WaitRow(NamedTuple):
    """An active wait. `until` is `None` if it waits without a time limit."""

    run: bytes
    step: str
    created_at: int
    until: int | None
    ask: str | None = None
    decisions: str | None = None

    def place(self) -> WaitPlace:
        """Return its position in the inbox."""
        return self.until, self.run, self.step


#: The position of a wait in the inbox: its deadline, run and step.
WaitPlace = tuple[int | None, bytes, str]


class CallbackFacts(NamedTuple):
    """A callback as those read it that answer it. `decisions` are those that do not end it yet."""

    tenant: int
    state: str
    early: bool
    until: int | None
    message_id: str | None
    answer: str | None
    ask: str | None
    decisions: str | None

    def refusal(self, now: int) -> Receipt | None:
        """Return why it accepts nothing at that time, `None` if it does."""
        if self.state == CallbackState.RECEIVED:
            return Receipt.USED
        if self.state == CallbackState.PENDING and not self.early:
            return Receipt.NOT_ACTIVE
        if self.state == CallbackState.EXPIRED or (self.until is not None and self.until <= now):
            return Receipt.EXPIRED
        return None


class AskAnswer(NamedTuple):
    """An answer to a callback that has an ask. With `is_final` the callback is received, and the other callbacks of the
    same run in `others` expire. `before` and `decisions` are the stored decisions without and with this one."""

    run: bytes
    step: str
    data: bytes
    message_id: str | None
    is_final: bool = True
    before: str | None = None
    decisions: str | None = None
    others: tuple[str, ...] = ()

    @property
    def kind(self) -> MessageKind:
        """Return the kind of its message to the run."""
        return MessageKind.CALLBACK if self.is_final else MessageKind.NOTE


class ReceivedRow(NamedTuple):
    """A firing with the names of its workflow and its trigger, which may have been deleted since."""

    firing: FiringRow
    workflow_name: str
    trigger_name: str | None


class ReceivedSlice(NamedTuple):
    """Some firings, newest first. `end` is the last one that was looked at, `None` if there are no more behind it."""

    rows: list[ReceivedRow]
    end: bytes | None


class FiringMark(NamedTuple):
    """A firing without its request."""

    id: bytes
    state: str


class EntryMark(NamedTuple):
    """An entry of a journal without its data."""

    run: bytes
    at: int
    kind: str
    step: str
    attempt: int
    outcome: str | None


class QueueRow(NamedTuple):
    """The runs of a queue that no node owns, each number up to a limit. `oldest_at`: since when the oldest is due."""

    queue: str
    ready: int
    sleeping: int
    oldest_at: int | None


class StoredBytes(NamedTuple):
    """What some runs of a workflow take: how many they are, and the rows and bytes of their journals."""

    workflow: bytes
    runs: int
    journal_rows: int
    bytes: int


class StorageSlice(NamedTuple):
    """The bytes of some runs by workflow, in the order of their ids. `end` is the last of them, `None` if there are no
    more."""

    found: list[StoredBytes]
    end: bytes | None


class OverviewStore(Protocol):
    """The verbs of overviews over all runs. They change nothing, and look at a bounded number of rows."""

    async def active_waits(
        self,
        tenant: int,
        *,
        limit: int,
        after: WaitPlace | None = None,
        workflow: bytes | None = None,
        hero: tuple[str, str] | None = None,
    ) -> list[WaitRow]:
        """List the active waits behind that place: the nearest deadline first, those without one last."""

    async def count_waits(self, tenant: int, *, limit: int) -> int:
        """Count the active waits, up to `limit`."""

    async def deadlines(self, tenant: int, runs: Sequence[bytes]) -> dict[tuple[bytes, str], int | None]:
        """Return until when each active wait of these runs waits, by run and step."""

    async def received(
        self,
        tenant: int,
        *,
        limit: int,
        window: int,
        before: bytes | None = None,
        kind: str | None = None,
        state: str | None = None,
    ) -> ReceivedSlice:
        """List the firings of all triggers, newest first: those of a kind and a state among the next `window` ones."""

    async def newest_firings(
        self,
        tenant: int,
        *,
        limit: int,
        window: int,
        trigger: bytes | None = None,
        kind: str | None = None,
        state: str | None = None,
    ) -> list[FiringMark]:
        """Return the newest firings of all triggers or of one, newest first, without their requests: those of a kind
        and a state among the newest `window` ones."""

    async def entry_marks(self, tenant: int, runs: Sequence[bytes], *, limit: int) -> list[EntryMark]:
        """Return the entries of these runs that are about a step, without their data, in order of run and seq."""

    async def owned_counts(self) -> dict[bytes, int]:
        """Return how many runs each node owns, of every tenant."""

    async def owned_queues(self, *, limit: int) -> dict[str, int]:
        """Return how many runs of each queue are owned, among `limit` owned ones."""

    async def queues(self, *, now: int, limit: int) -> list[QueueRow]:
        """Return the queues with runs that no node owns, of every tenant. Each number is at most `limit`."""

    async def database_bytes(self) -> int | None:
        """Return the size of the database, or `None` if it is not known."""

    async def stored_bytes(self, tenant: int, *, after: bytes | None, limit: int) -> StorageSlice:
        """Measure the next `limit` runs after that one."""
