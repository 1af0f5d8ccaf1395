"""The rows of dead letters, and the verbs of a store for them.

A dead letter is what Detent gave up: a step that killed its nodes, a run that cannot be read or planned, a firing or an
event that can never start a run. It is written in the transaction that gives up, so none is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

#: The workflow of a dead letter that is about none.
NO_WORKFLOW: Final = bytes(16)


class LetterKind(StrEnum):
    """What was given up."""

    STEP = "step"
    RUN = "run"
    FIRING = "firing"
    EVENT = "event"  # a firing of an event trigger or a rule, or an entity event as a whole


class LetterState(StrEnum):
    """The state of a dead letter."""

    OPEN = "open"
    REQUEUED = "requeued"


class NewLetter(NamedTuple):
    """A dead letter to store. `reason` is a stable code. `payload` is JSON: what the step, the run or the firing got.

    `source` is the firing that it is about, `None` for steps and runs. An entity event has no `trigger`; one that no
    rule could be found for has the workflow `NO_WORKFLOW`, and no `source`."""

    id: bytes
    tenant: int
    kind: str
    workflow: bytes
    run: bytes | None
    step: str | None
    source: bytes | None
    trigger: bytes | None
    reason: str
    message: str
    payload: bytes | None
    attempts: int
    last_error: str | None


class LetterRow(NamedTuple):
    """A dead letter as stored in its table. `result` is the run or the firing that a requeue made, as users see it."""

    id: bytes
    tenant: int
    kind: str
    workflow: bytes
    run: bytes | None
    step: str | None
    source: bytes | None
    trigger: bytes | None
    reason: str
    message: str
    payload: bytes | None
    attempts: int
    last_error: str | None
    at: int
    state: str
    settled_at: int | None
    settled_by: str | None
    result: str | None
    workflow_name: str


@dataclass(frozen=True, slots=True)
class LetterCriteria:
    """A filter of dead letters. A field that is not given does not narrow it. `before` bounds when it was written."""

    kind: str | None = None
    reason: str | None = None
    state: str | None = None
    workflow: bytes | None = None
    run: bytes | None = None
    before: int | None = None

    def given(self) -> dict[str, object]:
        """Return the given fields by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


EVERY_LETTER = LetterCriteria()


class LetterStore(Protocol):
    """The verbs of dead letters. They are written by `flush`, `end_firing`, `add_firings` and `end_events`."""

    async def letters(
        self,
        tenant: int,
        *,
        limit: int,
        where: LetterCriteria = EVERY_LETTER,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> list[LetterRow]:
        """List dead letters by id, newest first, those before `cursor`. With `oldest_first` the oldest come first,
        those after `cursor`."""

    async def letter(self, tenant: int, letter: bytes) -> LetterRow | None: ...

    async def count_letters(self, tenant: int, *, where: LetterCriteria, limit: int) -> int:
        """Count dead letters, up to `limit`."""

    async def take_letter(self, tenant: int, letter: bytes, *, by: str, stale: int) -> LetterRow | None:
        """Take an open dead letter to requeue it: its state becomes `requeued`. Return it as it was.

        Return `None` if it does not exist or was taken. One that was taken `stale` microseconds ago, and has no result,
        can be taken again: the process that took it has died."""

    async def settle_letter(self, tenant: int, letter: bytes, *, result: str | None) -> None:
        """Store the result of a requeue. With `None` the requeue was refused, and the letter is open again."""

    async def drop_letters(self, tenant: int, letters: Sequence[bytes]) -> int:
        """Delete dead letters. Return how many there were."""

    async def prune_letters(self, *, before: int, limit: int) -> int:
        """Delete up to `limit` dead letters of every tenant that were written before `before`, oldest first."""
