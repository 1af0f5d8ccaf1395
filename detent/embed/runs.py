"""A run in the hands of a program: the same verbs awaited (`RunHandle`) and blocking (`SyncRunHandle`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Self, TypeVar, cast

from detent.client import runs as run_calls
from detent.client.calls import (
    PAGE,
    Effect,
    Exchange,
    ExchangeDriver,
    ManyAnswers,
    OneAnswer,
    Pages,
    RetryPolicy,
    Send,
    Wait,
    Yield,
)
from detent.client.client import Awaiting, Blocking, asks_of, tells_of
from detent.client.errors import NoConnection
from detent.client.runs import RunFilter, list_all
from detent.client.stream import journal_page
from detent.documents.journal import EntryDocument
from detent.documents.runs import RunSummary, StartedDocument
from detent.embed.gateway import door
from detent.embed.remote import carried_out
from detent.embed.request import hero_pair, named
from detent.errors import InvalidInput

# The client's conversations, carried out through the door of this process instead of over HTTP.


T = TypeVar("T")

TERMS: Final = RetryPolicy()


class BlockingLine:
    """In the caller's thread."""

    def ask(self, asked: OneAnswer[T]) -> T:
        turns: ExchangeDriver[Effect, T] = ExchangeDriver(asked.talk(TERMS))
        effect = turns.take()
        while effect is not None:
            effect = turns.take(carried_out(effect, door().way().send))
        return turns.result

    def tell(self, told: ManyAnswers[T]) -> Iterator[T]:
        turns = ExchangeDriver(told.tell(TERMS))
        effect = turns.take()
        while effect is not None:
            if isinstance(effect, Yield):
                yield from effect.items
                effect = turns.take()
            else:
                effect = turns.take(carried_out(effect, door().way().send))


class AwaitingLine:
    """On the caller's loop."""

    async def ask(self, asked: OneAnswer[T]) -> T:
        turns: ExchangeDriver[Effect, T] = ExchangeDriver(asked.talk(TERMS))
        effect = turns.take()
        while effect is not None:
            effect = turns.take(await _done(effect))
        return turns.result

    async def tell(self, told: ManyAnswers[T]) -> AsyncIterator[T]:
        turns = ExchangeDriver(told.tell(TERMS))
        effect = turns.take()
        while effect is not None:
            if isinstance(effect, Yield):
                for item in effect.items:
                    yield item
                effect = turns.take()
            else:
                effect = turns.take(await _done(effect))


async def _done(effect: Effect) -> object:
    """What came of what a conversation wants; an error of the connection is a result too."""
    match effect:
        case Send(request):
            try:
                return await door().way().deliver(request)
            except NoConnection as error:
                return error
        case Wait(seconds):
            return await asyncio.sleep(seconds, True)
        case _:
            raise TypeError(f"a door cannot do {effect!r}")


@dataclass(frozen=True, slots=True)
class Status:
    """How the run is, in one word: pending, running, paused, completed, failed, cancelled or timeout."""

    run: str

    def talk(self, terms: RetryPolicy) -> Exchange[str]:
        found = yield from run_calls.get(self.run).talk(terms)
        return found.status


@dataclass(frozen=True, slots=True)
class State:
    """What the steps of a workflow class have handed on so far."""

    run: str

    def talk(self, terms: RetryPolicy) -> Exchange[Any]:
        found = yield from run_calls.get(self.run).talk(terms)
        told = [step.state for step in found.steps.values() if step.state is not None]
        return told[-1] if told else None


@dataclass(frozen=True, slots=True)
class Journal:
    """The whole journal."""

    run: str

    def talk(self, terms: RetryPolicy) -> Exchange[list[EntryDocument]]:
        entries: list[EntryDocument] = []
        while True:
            found = yield from journal_page(self.run, entries[-1].seq if entries else 0).talk(terms)
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
    wait = asks_of(run_calls.wait)
    result = asks_of(run_calls.result)
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

    def __init__(self, id: str, started: StartedDocument | None = None) -> None:  # noqa: A002
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

    def __init__(self, id: str, started: StartedDocument | None = None) -> None:  # noqa: A002
        super().__init__(BlockingLine(), id)
        self.id, self.started = id, started

    def __repr__(self) -> str:
        return f"SyncRunHandle({self.id!r})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, SyncRunHandle) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


# Which runs: `detent.runs(Signup, hero=user).paused()`, read when it is iterated.
#
# Each scope narrows the one before and gives a new one; nothing is asked until somebody wants the runs.


@dataclass(frozen=True)
class Scope:
    """A set of runs, newest first."""

    which: RunFilter

    def where(self, **more: Any) -> Self:
        """Those of them with this too, by the words of `RunFilter`."""
        return replace(self, which=cast(RunFilter, {**self.which, **more}))

    def for_hero(self, hero: Any) -> Self:
        """Those about this: an object, a reference or (type, id)."""
        pair = hero_pair(hero)
        if pair is None:
            raise InvalidInput("for_hero needs a hero")
        return self.where(hero=pair)

    def active(self) -> Self:
        """Those that have not ended."""
        return self.where(status="active")

    def ready(self) -> Self:
        """Those that have not ended and are in nobody's hands: due, sleeping or waiting."""
        return self.where(status="ready")

    def performing(self) -> Self:
        """Those that a node has in its hands just now."""
        return self.where(status="performing")

    def paused(self) -> Self:
        return self.where(status="paused")

    def finished(self) -> Self:
        """Those that ended well."""
        return self.where(status="completed")

    def canceled(self) -> Self:
        return self.where(status="cancelled")

    def _pages(self, limit: int = PAGE) -> Pages[RunSummary]:
        return list_all(limit=limit, **self.which)


class RunScope(Scope):
    """`async for run in detent.runs(Signup): ...`; each is a summary, and `handle(run)` its handle."""

    def __aiter__(self) -> AsyncIterator[RunSummary]:
        return AwaitingLine().tell(self._pages())

    async def all(self) -> list[RunSummary]:
        return [run async for run in self]

    async def first(self) -> RunHandle | None:
        """The newest of them."""
        async for run in AwaitingLine().tell(self._pages(limit=1)):
            return RunHandle(run.id)
        return None

    async def handles(self) -> list[RunHandle]:
        return [RunHandle(run.id) async for run in self]

    async def count(self) -> int:
        return len(await self.all())


class SyncRunScope(Scope):
    """`for run in detent.sync.runs(Signup): ...`"""

    def __iter__(self) -> Iterator[RunSummary]:
        return BlockingLine().tell(self._pages())

    def all(self) -> list[RunSummary]:
        return list(self)

    def first(self) -> SyncRunHandle | None:
        """The newest of them."""
        for run in BlockingLine().tell(self._pages(limit=1)):
            return SyncRunHandle(run.id)
        return None

    def handles(self) -> list[SyncRunHandle]:
        return [SyncRunHandle(run.id) for run in self]

    def count(self) -> int:
        return len(self.all())


def filter_of(workflow: Any, status: str | Iterable[str] | None, hero: Any, more: dict[str, Any]) -> RunFilter:
    """The filter that the arguments of `runs` make."""
    which: dict[str, Any] = dict(more)
    if workflow is not None:
        which["workflow"] = named(workflow)[0]
    if status is not None:
        which["status"] = status
    if hero is not None:
        which["hero"] = hero_pair(hero)
    return cast(RunFilter, which)


def runs(workflow: Any = None, *, status: str | Iterable[str] | None = None, hero: Any = None, **more: Any) -> RunScope:
    """Runs of a workflow, or of all. `more` are further words of `RunFilter`, such as `labels`."""
    return RunScope(filter_of(workflow, status, hero, more))


def sync_runs(
    workflow: Any = None, *, status: str | Iterable[str] | None = None, hero: Any = None, **more: Any
) -> SyncRunScope:
    """Runs of a workflow, or of all, without an event loop."""
    return SyncRunScope(filter_of(workflow, status, hero, more))
