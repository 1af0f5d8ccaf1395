"""The processor of entity events: match, start a run of each rule, then end the event.

A process may die at every line. Until an event has ended its row is there, and a node takes it when its time is over.
It is matched again then, with the rules of that moment. A run that was started before is known by its request id.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import msgspec

from detent.auth.caller import Caller
from detent.commands import EngineCommands
from detent.commands.start import StartAnswer, StartCommands
from detent.errors import (
    AlreadyActive,
    DetentError,
    EngineError,
    NotFound,
    NotStartable,
    StartBlocked,
    StoreError,
    Unavailable,
)
from detent.ids import NewId
from detent.instant import Instant
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.run.start import StartRequest
from detent.store.events import SAMPLES, EventStore, NewEvent
from detent.store.letters import NO_WORKFLOW, LetterKind, NewLetter
from detent.store.protocol import TriggerStore
from detent.store.rule_protocol import EntityStore
from detent.store.trigger_rows import FiringState, NewFiring
from detent.triggers.entities.event import event_id
from detent.triggers.entities.matcher import EventRule, MatchedRule, RuleMatcher
from detent.triggers.record import Event, FiringPayload, FiringReason, encode_reason, encode_request, reason, reason_of

#: What a run says about its start, and a firing about its kind.
TRIGGER: Final = "event"
CONDITION_ERROR: Final = "condition_error"
#: An event that waits for an earlier one of its record is tried again after this many seconds.
QUEUE_PAUSE: Final = 0.5
#: How many seconds an event waits for others to be ended with it, in one transaction.
END_PAUSE: Final = 0.2
END_AGAIN: Final = 1.0
#: The first pause before a node is asked again that could not take a run.
FULL_PAUSE: Final = 0.05
_MOST_TRIES: Final = 5
#: How many seconds a process that stops waits for the database.
STOPPING: Final = 3.0
#: The error is temporary, or this node cannot write: another try may start the run.
_PASSES: Final = (Unavailable, StoreError, EngineError)

#: The reason of a firing that leaves no dead letter: a run of its record is active.
_ALIVE: Final = (AlreadyActive.code,)
NO_ENTITY: Final = "no_entity"
_INTERNAL: Final = reason("internal", "something went wrong inside Detent; its log says more")

_decode: Final = msgspec.json.Decoder().decode


class EntityEventStore(EventStore, EntityStore, TriggerStore, Protocol):
    """The verbs of events, entities and firings."""


@dataclass(frozen=True, slots=True)
class StartedRule:
    """A run that an event started, now (`is_new`) or before."""

    rule: EventRule
    run: bytes
    is_new: bool


@dataclass(frozen=True, slots=True)
class ErroredRule:
    """A rule that an event could not start, and why."""

    rule: EventRule
    reason: FiringReason


@dataclass(slots=True)
class Processed:
    """What an event did. `is_over` is false if a part of it must be tried again."""

    started: list[StartedRule] = field(default_factory=list)
    errored: list[ErroredRule] = field(default_factory=list)
    is_over: bool = True
    is_queued: bool = False


class EventEnds:
    """Ends events in batches: each is deleted, or stays as a sample if it is one of the newest of its entity.

    Nothing is lost if a batch is not written: its events are matched again later, and their runs are known."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._waiting: list[tuple[NewEvent, NewLetter | None]] = []
        self._kept: dict[tuple[int, str], int] = {}  # samples added since the last prune
        self._work: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()

    def add(self, event: NewEvent, letter: NewLetter | None = None) -> None:
        """End an event with the next batch, and store its dead letter."""
        self._waiting.append((event, letter))
        if self._work is None:
            self._work = asyncio.create_task(self._end_soon())

    async def close(self) -> None:
        """End what is waiting now."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOPPING):
                await self.flush()

    async def flush(self) -> None:
        """End what is waiting now, after what is being written. Another process ends it later if the database
        refuses."""
        async with self._writing:
            batch, self._waiting = self._waiting, []
            if not batch:
                return
            try:
                await self._end(batch)
            except StoreError as error:
                emit("engine.error", where="entity events", error=error.message)

    async def _end_soon(self) -> None:
        try:
            tries = 0
            while self._waiting and tries < _MOST_TRIES:
                await asyncio.sleep(END_PAUSE if not tries else END_AGAIN)
                async with self._writing:
                    batch, self._waiting = self._waiting, []
                    try:
                        await self._end(batch)
                        tries = 0
                    except StoreError:
                        tries += 1
                        self._waiting[:0] = batch
            self._waiting = self._waiting if tries < _MOST_TRIES else []
        finally:
            self._work = None

    async def _end(self, batch: Sequence[tuple[NewEvent, NewLetter | None]]) -> None:
        by_entity: dict[tuple[int, str], list[bytes]] = {}
        for event, _ in batch:
            by_entity.setdefault((event.tenant, event.entity), []).append(event.id)
        done: list[bytes] = []
        kept: list[bytes] = []
        for ids in by_entity.values():
            ids.sort()
            done += ids[:-SAMPLES]
            kept += ids[-SAMPLES:]
        await self._store.end_events(done, kept, [letter for _, letter in batch if letter is not None])
        for key, ids in by_entity.items():
            self._kept[key] = self._kept.get(key, 0) + min(len(ids), SAMPLES)
            # So an entity has at most twice as many samples for each node, and one statement deletes many.
            if self._kept[key] >= SAMPLES:
                await self._store.prune_samples(*key, keep=SAMPLES)
                del self._kept[key]


class EventProcessor:
    """Processes events. Any number of processors may use the same store."""

    def __init__(
        self,
        commands: EngineCommands,
        store: EntityEventStore,
        matcher: RuleMatcher,
        *,
        now: Callable[[], Instant],
        new_id: NewId,
    ) -> None:
        self._commands = commands
        self._store = store
        self._matcher = matcher
        self._now = now
        self._new_id = new_id
        self._starts: dict[int, StartCommands] = {}
        self.ends = EventEnds(store)
        self.busy: set[bytes] = set()

    async def process(self, event: NewEvent, revision: int | None) -> Processed:
        """Start the rules that match an event, and end it. Never raise because of what one rule does."""
        self.busy.add(event.id)
        try:
            return await self._process(event, revision)
        finally:
            self.busy.discard(event.id)

    async def _process(self, event: NewEvent, revision: int | None) -> Processed:
        done = Processed()
        letter: NewLetter | None = None
        try:
            matches, body = await self._match(event, revision)
            if matches:
                reach("after_match")
                await asyncio.gather(*(self._start(event, body, match, done) for match in matches))
                reach("after_event_starts")
        except _PASSES as error:
            emit("engine.error", where="entity events", error=error.message)
            done.is_over = False
        except NotFound as error:
            emit("engine.error", where="entity events", error=error.message)
            letter = _event_letter(event, reason(NO_ENTITY, error.message))
        except Exception as error:  # noqa: BLE001 - a bug of ours: another try would meet it again
            emit("engine.error", where="entity events", error="".join(traceback.format_exception(error))[-4000:])
            letter = _event_letter(event, _INTERNAL)
        if done.is_over:
            self.ends.add(event, letter)
        elif done.is_queued:
            await self._defer(event)
        return done

    async def _match(self, event: NewEvent, revision: int | None) -> tuple[Sequence[MatchedRule], dict[str, Any]]:
        """Return the rules that an event starts, and its body. Raise NotFound if there is no such entity."""
        rules = None if revision is None else await self._matcher.rules(event.tenant, event.entity, revision)
        if rules is None:
            raise NotFound(f"there is no entity {event.entity!r}")
        if not rules.rules:
            return (), {}
        body = _decode(event.data)
        return list(rules.matches(event.operation, body["before"], body["after"])), body

    async def _start(self, event: NewEvent, body: dict[str, Any], match: MatchedRule, done: Processed) -> None:
        rule = match.rule
        if match.error is not None:
            await self._fail(event, body, rule, reason(CONDITION_ERROR, match.error), done)
            return
        try:
            if rule.is_ordered and event.record is not None and await self._store.has_older_event(event):
                done.is_over, done.is_queued = False, True
                return
            answer = await self._begin(event.tenant, start_request(event, body, rule))
        except (NotFound, NotStartable):
            return  # the rule was deleted or deactivated meanwhile
        except AlreadyActive as error:
            if not rule.is_ordered:
                await self._fail(event, body, rule, reason_of(error), done)
                return
            done.is_over, done.is_queued = False, True
        except _PASSES as error:
            emit("engine.error", where="entity events", error=error.message)
            done.is_over = False
        except DetentError as error:
            await self._fail(event, body, rule, reason_of(error), done)
        except Exception as error:  # noqa: BLE001 - a bug of ours in one rule must not stop the others
            emit("engine.error", where="entity events", error="".join(traceback.format_exception(error))[-4000:])
            await self._fail(event, body, rule, _INTERNAL, done)
        else:
            done.started.append(StartedRule(rule, answer.run, answer.is_new))

    async def _begin(self, tenant: int, request: StartRequest) -> StartAnswer:
        """Start a run. A node that is full for a moment is asked again.

        To leave the event to the poller would not be enough: it matches all rules again, and the first ones, which are
        started, would fill the queue of the node before the others."""
        starts, pause = self._starts_of(tenant), FULL_PAUSE
        for _ in range(_MOST_TRIES):
            try:
                return await starts.start(request)
            except StartBlocked:
                raise
            except Unavailable:
                await asyncio.sleep(pause)
                pause *= 2
        return await starts.start(request)

    async def _fail(
        self, event: NewEvent, body: dict[str, Any], rule: EventRule, why: FiringReason, done: Processed
    ) -> None:
        """Store a firing that errored, once for each event and rule, with its dead letter."""
        done.errored.append(ErroredRule(rule, why))
        request = FiringPayload(body=body, event=_event_of(event))
        firing = NewFiring(
            id=self._new_id(),
            tenant=event.tenant,
            trigger=rule.id,  # a rule has no trigger of its own
            workflow=rule.id,
            kind=TRIGGER,
            state=FiringState.ERRORED,
            due_at=self._now(),
            dedup=event_id(event),
            request=encode_request(request),
            message=encode_reason(why),
        )
        try:
            letters = () if why.code in _ALIVE else (_rule_letter(firing, why),)
            await self._store.add_firings([firing], letters=letters)
        except StoreError as error:
            emit("engine.error", where="entity events", error=error.message)
            done.is_over = False

    async def _defer(self, event: NewEvent) -> None:
        try:
            await self._store.defer_events([event.id], pause=QUEUE_PAUSE)
        except StoreError as error:
            emit("engine.error", where="entity events", error=error.message)

    def _starts_of(self, tenant: int) -> StartCommands:
        found = self._starts.get(tenant)
        if found is None:
            found = self._starts[tenant] = self._commands.for_caller(Caller(tenant, "entity event")).starts
        return found


def start_request(event: NewEvent, body: dict[str, Any], rule: EventRule) -> StartRequest:
    """Return the start of a rule's run. Its request id makes it happen once for each event and rule."""
    return StartRequest(
        rule.workflow,
        body,
        hero=None if event.record is None else (event.entity, event.record),
        request_id=request_id(event_id(event), rule),
        trigger=TRIGGER,
    )


def request_id(event: str, rule: EventRule) -> str:
    """Return the request id of the run that an event starts of a rule."""
    return f"event:{event}:{rule.workflow}"


def _rule_letter(firing: NewFiring, why: FiringReason) -> NewLetter:
    """Return the dead letter of an event that could not start a rule. It has the id of the firing."""
    return _letter(firing.id, firing.tenant, firing.workflow, firing.id, why, firing.request)


def _event_letter(event: NewEvent, why: FiringReason) -> NewLetter:
    """Return the dead letter of an event whose rules could not be found. It has the id of the event."""
    try:
        body = _decode(event.data)
    except msgspec.DecodeError:
        body = event.data.decode(errors="replace")
    request = FiringPayload(body=body, event=_event_of(event))
    return _letter(event.id, event.tenant, NO_WORKFLOW, None, why, encode_request(request))


def _letter(
    id_: bytes, tenant: int, workflow: bytes, source: bytes | None, why: FiringReason, payload: bytes | None
) -> NewLetter:
    return NewLetter(
        id=id_,
        tenant=tenant,
        kind=str(LetterKind.EVENT),
        workflow=workflow,
        run=None,
        step=None,
        source=source,
        trigger=None,
        reason=why.code or "refused",
        message=why.text(),
        payload=payload,
        attempts=1,
        last_error=why.message,
    )


def _event_of(event: NewEvent) -> Event:
    return Event(event_id(event), f"{event.entity}.{event.operation}")
