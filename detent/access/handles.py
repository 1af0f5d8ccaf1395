"""A run in the hands of a program: the same verbs awaited (`RunHandle`) and blocking (`SyncRunHandle`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from detent.access.lines import AwaitingLine, BlockingLine
from detent.client import runs as run_calls
from detent.client import waiting
from detent.client.calls import PAGE, Call, Conversation, Terms, page
from detent.client.documents import Entry, Started
from detent.client.faces import Awaiting, Blocking, asks_of, tells_of
from detent.client.spelling import given, place


@dataclass(frozen=True, slots=True)
class Status:
    """How the run is, in one word: pending, running, paused, completed, failed, cancelled or timeout."""

    run: str

    def talk(self, terms: Terms) -> Conversation[str]:
        found = yield from run_calls.get(self.run).talk(terms)
        return found.status


@dataclass(frozen=True, slots=True)
class State:
    """What the steps of a workflow class have handed on so far."""

    run: str

    def talk(self, terms: Terms) -> Conversation[Any]:
        found = yield from run_calls.get(self.run).talk(terms)
        told = [step.state for step in found.steps.values() if step.state is not None]
        return told[-1] if told else None


@dataclass(frozen=True, slots=True)
class Journal:
    """The whole journal."""

    run: str

    def talk(self, terms: Terms) -> Conversation[list[Entry]]:
        entries: list[Entry] = []
        while True:
            query = given(after=entries[-1].seq if entries else 0, limit=PAGE)
            found = yield from Call("GET", place("runs", self.run, "events"), page(Entry), query=query).talk(terms)
            entries += found.data
            if not found.data or found.next_cursor is None:
                return entries


def status(run: str) -> Status:
    """How the run is, in one word: pending, running, paused, completed, failed, cancelled or timeout."""
    return Status(run)


def state(run: str) -> State:
    """The state of a workflow class as its last step left it, as JSON; null if there is none."""
    return State(run)


def journal(run: str) -> Journal:
    """Everything that happened in the run so far, in order: attempts, outcomes, what was decided."""
    return Journal(run)


class HandleOperations:
    """What can be done with one run."""

    get = asks_of(run_calls.get)
    status = asks_of(status)
    state = asks_of(state)
    journal = asks_of(journal)
    wait = asks_of(waiting.wait)
    result = asks_of(waiting.result)
    why = asks_of(run_calls.why)
    cancel = asks_of(run_calls.cancel)
    pause = asks_of(run_calls.pause)
    resume = asks_of(run_calls.resume)
    skip = asks_of(run_calls.skip)
    reattempt = asks_of(run_calls.reattempt)
    finish = asks_of(run_calls.finish)
    signal = asks_of(run_calls.signal)
    history = tells_of(run_calls.history)


class RunHandle(HandleOperations, Awaiting):
    """A handle of one run, whose verbs are awaited. `started` is what its start was answered with, if this process
    started it. `run.sync` is the same run without an event loop."""

    def __init__(self, id: str, started: Started | None = None) -> None:  # noqa: A002
        super().__init__(AwaitingLine(), id)
        self.id, self.started = id, started

    @property
    def sync(self) -> SyncRunHandle:
        return SyncRunHandle(self.id, self.started)

    def __repr__(self) -> str:
        return f"RunHandle({self.id!r})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, RunHandle) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


class SyncRunHandle(HandleOperations, Blocking):
    """A handle of one run, whose verbs return when they are done."""

    def __init__(self, id: str, started: Started | None = None) -> None:  # noqa: A002
        super().__init__(BlockingLine(), id)
        self.id, self.started = id, started

    def __repr__(self) -> str:
        return f"SyncRunHandle({self.id!r})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, SyncRunHandle) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)
