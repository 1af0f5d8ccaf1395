"""Commands on entity events: send them, ask which rules match, and look at what they started."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from detent.documents.events import (
    EntityEventDocument,
    EntityEventReceipt,
    RecentEventDocument,
    RuleFiringDocument,
    RuleMatchDocument,
)
from detent.errors import Conflict, InvalidInput, NotFound, NotStartable, Problem, Unavailable
from detent.ids import RUN, WORKFLOW, show
from detent.store.events import SAMPLES, AddedEvent, NewEvent
from detent.store.letters import NO_WORKFLOW, LetterRow
from detent.store.rows import RunCriteria, WorkflowRow
from detent.store.rule_rows import RuleRow
from detent.store.trigger_rows import FiringState
from detent.triggers.context import TriggerPart
from detent.triggers.entities.event import RecordChange, event_id, read_change
from detent.triggers.entities.matcher import EventRule, rule_of
from detent.triggers.entities.processor import TRIGGER, Processed, StartedRule, request_id, start_request
from detent.triggers.entities.view import (
    errored_document,
    event_document,
    judge,
    match_document,
    receipt_document,
    recent_document,
    started_document,
)
from detent.triggers.record import read_request
from detent.values.fields import Problems, inside, shown

MOST_EVENTS: Final = 1_000
RULE_FORM: Final = "rule"
_MESSAGE: Final = "the events cannot be sent"
#: How many entities are compared with a name that does not exist.
_MOST_NAMES: Final = 200

Place = tuple[str, RecordChange]


class EntityEventCommands(TriggerPart):
    """Events of records, and the rules that they start. An event that is answered with a receipt is durable."""

    async def send(self, changes: Sequence[Place], *, wait: float | None = None) -> list[EntityEventReceipt]:
        """Store events, and let them start the rules that match. Each has its path, for problems.

        With `wait` the receipts say what the events started, if that is known after at most so many seconds."""
        await self._check_entities(changes)
        now, tenant = self._now(), self._tenant
        events = []
        for path, change in changes:
            try:
                events.append(change.event(tenant, self._context.new_id, now))
            except InvalidInput as error:
                raise _placed(error, path) from None
        added, arrival = await self._context.entities.intake.store(events, watch=wait is not None)
        if arrival.processed is None:
            return [receipt_document(event, _status(one), None) for event, one in zip(events, added, strict=True)]
        watched = [future for future, one in zip(arrival.processed, added, strict=True) if one.is_new]
        if watched:
            await asyncio.wait(watched, timeout=wait)
        receipts = []
        for event, one, future in zip(events, added, arrival.processed, strict=True):
            done = future.result() if future.done() else None
            if not one.is_new:
                done = await self._started_before(event)
            status = "processed" if done is not None and one.is_new else _status(one)
            receipts.append(receipt_document(event, status, done))
        return receipts

    async def read_relayed(self, id_: bytes, body: Any) -> NewEvent:
        """Return the event of a row of an outbox, with the id of the row. Raise InvalidInput if it is not one."""
        if not isinstance(body, dict):
            raise InvalidInput("the event is not a JSON object")
        problems = Problems()
        given = {name: value for name, value in body.items() if name not in ("id", "record_id")}
        change = read_change({**given, "id": body.get("record_id")}, "", problems)
        if change is None:
            raise InvalidInput("; ".join(map(str, problems.found)), problems.found)
        await self._check_entities([("", change)])
        return change.event(self._tenant, lambda: id_, self._now())

    async def store_relayed(self, events: Sequence[NewEvent]) -> None:
        """Store events of an outbox, in order. One that was stored before is left out."""
        await self._context.entities.intake.store(events)

    async def match(self, change: RecordChange, rule: str | None = None) -> list[RuleMatchDocument]:
        """Return which active rules of its entity a change matches, and why the others do not match.

        With `rule` the answer is about that rule alone, active or not. Nothing is stored and nothing is started."""
        if rule is not None:
            rules: Sequence[EventRule] = [await self._rule(rule)]
        else:
            found = await self._context.entities.matcher.read(self._tenant, change.entity)
            if found is None:
                await self._check_entities([("", change)])
                return []
            rules = found.rules
        return [match_document(one, change.operation.value, change.before, change.after) for one in rules]

    async def recent_matches(self, rule: str) -> list[RecentEventDocument]:
        """Return the last events of a rule's entity, newest first, and whether the rule matches each.

        The rule need not be active. Events that this process has just processed are among them."""
        row = await self._workflow(rule)
        found = _event_rule(row)
        await self._context.entities.processor.ends.flush()
        samples = await self._store.samples(self._tenant, row.entity or "", limit=SAMPLES)
        return [recent_document(found, sample) for sample in samples]

    async def recent(self, entity: str) -> list[EntityEventDocument]:
        """Return the last events of an entity, newest first. Events that this process has just processed are among
        them."""
        row = await self._context.commands.for_caller(self._caller).entities.get(entity)
        await self._context.entities.processor.ends.flush()
        samples = await self._store.samples(self._tenant, row.name, limit=SAMPLES)
        return [event_document(sample) for sample in samples]

    async def firings(
        self, rule: str, *, limit: int, before: bytes | None = None
    ) -> list[tuple[bytes, RuleFiringDocument]]:
        """Return the runs that events started of a rule, and the firings that errored, newest first, with their ids."""
        row = await self._workflow(rule)
        where = RunCriteria(workflow=row.id, trigger=TRIGGER)
        runs = await self._context.commands.for_caller(self._caller).runs.find(limit=limit, where=where, cursor=before)
        errored = await self._store.firings(
            self._tenant, trigger=row.id, limit=limit, before=before, state=str(FiringState.ERRORED)
        )
        found = [(run.id, started_document(run)) for run in runs]
        found += [(firing.id, errored_document(firing)) for firing in errored]
        return sorted(found, key=lambda one: one[0], reverse=True)[:limit]

    async def try_again(self, letter: LetterRow) -> str:
        """Let the event of a dead letter start its rule, or all its rules if it is about none. Return the first run, or
        the event. Raise Conflict if there is no such rule or it does not match any more."""
        body = read_request(letter.payload or b"{}").body
        if not isinstance(body, dict):
            raise Conflict("its event cannot be read; purge the dead letter")
        event = _event_of(letter, body)
        if letter.workflow == NO_WORKFLOW:
            return await self._process_again(event)
        try:
            rule = await self._rule(show(WORKFLOW, letter.workflow))
        except NotFound:
            raise Conflict("its rule was deleted; purge the dead letter") from None
        matches, why, _ = judge(rule, event.operation, body["before"], body["after"])
        if not matches:
            raise Conflict(f"the rule {rule.name!r} does not match the event: {why}")
        starts = self._context.commands.for_caller(self._caller).starts
        return show(RUN, (await starts.start(start_request(event, body, rule))).run)

    async def _process_again(self, event: NewEvent) -> str:
        rules = await self._context.entities.matcher.read(self._tenant, event.entity)
        if rules is None:
            raise Conflict(f"there is no entity {shown(event.entity)}; register it with POST /api/v1/entities")
        done = await self._context.entities.processor.process(event, rules.revision)
        if not done.is_over:
            raise Unavailable("a rule of the event could not be started now; try again in a moment")
        return show(RUN, done.started[0].run) if done.started else event_id(event)

    async def _check_entities(self, changes: Sequence[Place]) -> None:
        problems, names = Problems(), None
        matcher = self._context.entities.matcher
        unknown: dict[str, str] = {}
        for path, change in changes:
            entity = change.entity
            is_new = entity not in unknown and matcher.known(self._tenant, entity) is None
            if is_new and await matcher.read(self._tenant, entity) is None:
                names = names or [row.name for row in await self._store.entities(self._tenant, limit=_MOST_NAMES)]
                hint = problems.did_you_mean(entity, names) or "; register it with POST /api/v1/entities"
                unknown[entity] = f"there is no entity {shown(entity)}{hint}"
            if entity in unknown:
                problems.add(inside(path, "entity"), unknown[entity])
        if problems.found:
            raise InvalidInput(f"{_MESSAGE}: {problems.found[0]}", problems.found)

    async def _started_before(self, event: NewEvent) -> Processed:
        """Return what an event started when it was sent first, as far as its rules still match."""
        rules = self._context.entities.matcher.known(self._tenant, event.entity)
        body, done = msgspec.json.decode(event.data), Processed()
        starts = self._context.commands.for_caller(self._caller).starts
        for match in () if rules is None else rules.matches(event.operation, body["before"], body["after"]):
            run = await starts.run_by_request(request_id(event_id(event), match.rule))
            if run is not None:
                done.started.append(StartedRule(match.rule, run.id, False))
        return done

    async def _workflow(self, rule: str) -> WorkflowRow:
        row = await self._context.commands.for_caller(self._caller).workflows.get(rule)
        if row.form != RULE_FORM:
            raise NotFound(f"there is no rule {rule[:200]!r}")
        return row

    async def _rule(self, rule: str) -> EventRule:
        return _event_rule(await self._workflow(rule))


def _event_rule(row: WorkflowRow) -> EventRule:
    """Return a rule, active or not. Raise NotStartable if events do not start it."""
    found = rule_of(RuleRow(row.id, row.name, row.title, row.version, row.trigger))
    if found is None:
        raise NotStartable(f"the rule {row.name!r} is not started by events; its trigger type is another one")
    return found


def _event_of(letter: LetterRow, body: dict[str, Any]) -> NewEvent:
    """Return the event of a dead letter, under the id that its sender knows: a run that it started is known by it."""
    return NewEvent(
        letter.id,
        letter.tenant,
        body["entity"],
        body["operation"],
        body["record_id"],
        msgspec.json.encode(body),
        body["id"],
    )


def _status(added: AddedEvent) -> str:
    return "accepted" if added.is_new else "known"


def _placed(error: InvalidInput, path: str) -> InvalidInput:
    """Return the error of one event of a list, with its place."""
    return type(error)(f"{path}: {error.message}", [Problem(path, error.message)]) if path else error
