"""The matcher: which rules an event starts.

The rules of an entity are in memory, with the revision of the entity at which they were read. An event is stored with
the revision of that moment. If that is newer, the rules are read again. So a rule that was saved is applied from the
next event on, and a node asks the database for rules only after a change.

A rule with an equality that must be true in any case (`status equals 'shipped'`) is found by the value of that field.
Only the others are tried one by one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from detent.engine.cache import ByteCache
from detent.errors import InvalidDefinition
from detent.expressions import ExpressionError
from detent.forms.rules.conditions import Conditions, conditions_of
from detent.ids import WORKFLOW, show
from detent.observe import emit
from detent.store.rule_protocol import EntityStore
from detent.store.rule_rows import RuleRow
from detent.triggers.entities.event import RecordOperation

#: About how many bytes a rule takes in memory, beside the text of its conditions.
RULE_BYTES: Final = 1_500
TEXT_FACTOR: Final = 8
#: After so many rules that are read, other work gets its turn.
AT_ONCE: Final = 10

Record = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class EventRule:
    """A rule that events can start. `workflow` is the text of its id. `error`: why its conditions cannot be read.

    `is_ordered`: the runs of one record begin one after the other, in the order of its events."""

    id: bytes
    workflow: str
    name: str
    title: str | None
    operation: str
    conditions: Conditions
    is_ordered: bool = False
    error: str | None = None
    version: int = 0


class MatchedRule(NamedTuple):
    """A rule that an event starts, or `error`: why its conditions cannot be evaluated for the event."""

    rule: EventRule
    error: str | None = None


@dataclass(slots=True)
class _Candidates:
    """The rules of one operation, in order. Those with an anchor are found by field and value."""

    anchored: dict[str, dict[Any, list[tuple[int, EventRule]]]] = field(default_factory=dict)
    others: list[tuple[int, EventRule]] = field(default_factory=list)

    def add(self, number: int, rule: EventRule) -> None:
        anchor = None if rule.error else rule.conditions.anchor()
        if anchor is None:
            self.others.append((number, rule))
        else:
            name, value = anchor
            self.anchored.setdefault(name, {}).setdefault(value, []).append((number, rule))

    def of(self, record: Mapping[str, Any]) -> list[EventRule]:
        """Return the rules that may match a record as it is now, in order."""
        found = list(self.others)
        for name, by_value in self.anchored.items():
            try:
                found += by_value.get(record.get(name), ())
            except TypeError:
                continue  # a list or a mapping equals no anchor
        found.sort(key=lambda one: one[0])
        return [rule for _, rule in found]


class EntityRules:
    """The active rules of an entity at one revision."""

    def __init__(self, revision: int, rules: Sequence[EventRule]) -> None:
        self.revision = revision
        self.rules = rules
        self._by_operation: dict[str, _Candidates] = {}
        for number, rule in enumerate(rules):
            self._by_operation.setdefault(rule.operation, _Candidates()).add(number, rule)

    def matches(self, operation: str, before: Record, after: Record) -> Iterator[MatchedRule]:
        """Yield the rules that a change starts, and those whose conditions cannot be evaluated for it."""
        candidates = self._by_operation.get(operation)
        if candidates is None:
            return
        for rule in candidates.of((before if after is None else after) or {}):
            if rule.error is not None:
                yield MatchedRule(rule, rule.error)
                continue
            try:
                if rule.conditions.test(before, after):
                    yield MatchedRule(rule)
            except ExpressionError as error:
                yield MatchedRule(rule, f"its conditions cannot be evaluated: {error}")


class RuleMatcher:
    """The rules of every entity that had events here. Events of one entity that need them read them once."""

    def __init__(self, store: EntityStore) -> None:
        self._store = store
        self._known: ByteCache[tuple[int, str], EntityRules] = ByteCache()
        self._loads: dict[tuple[int, str], asyncio.Task[EntityRules | None]] = {}

    def known(self, tenant: int, entity: str) -> EntityRules | None:
        """Return the rules of an entity as they were read last."""
        return self._known.get((tenant, entity))

    async def rules(self, tenant: int, entity: str, revision: int) -> EntityRules | None:
        """Return the rules of an entity, at least as new as that revision; `None` if there is no such entity."""
        found = self._known.get((tenant, entity))
        while found is None or found.revision < revision:
            newer = await self.read(tenant, entity)
            if newer is None or (found is not None and newer.revision <= found.revision):
                return newer
            found = newer
        return found

    async def read(self, tenant: int, entity: str) -> EntityRules | None:
        """Read the rules of an entity, or wait for a read that has begun."""
        key = (tenant, entity)
        load = self._loads.get(key)
        if load is None:
            load = self._loads[key] = asyncio.create_task(self._read(tenant, entity))
            load.add_done_callback(lambda done: self._has_read(key, done))
        return await asyncio.shield(load)

    def _has_read(self, key: tuple[int, str], load: asyncio.Task[EntityRules | None]) -> None:
        del self._loads[key]
        if not load.cancelled():
            load.exception()  # asyncio would log an error that no caller was left to receive

    async def _read(self, tenant: int, entity: str) -> EntityRules | None:
        # The store reads revision and rules together. Rules that are newer than their revision are only read once more;
        # a revision that is newer than its rules would hide a save for ever.
        found = await self._store.entity_rules(tenant, entity)
        if found is None:
            self._known.pop((tenant, entity))
            return None
        revision, rows = found
        rules = EntityRules(revision, await self._built((tenant, entity), rows))
        weight = sum(RULE_BYTES + TEXT_FACTOR * len(row.trigger) for row in rows)
        return self._known.put((tenant, entity), rules, RULE_BYTES + weight)

    async def _built(self, key: tuple[int, str], rows: Sequence[RuleRow]) -> list[EventRule]:
        """Return the rules of these rows. Those that have not changed since the last read are taken over.

        To read the conditions of a rule takes about 0.1 ms, so with many rules other work gets its turn in between."""
        known = self._known.get(key)
        before = {} if known is None else {(rule.id, rule.version): rule for rule in known.rules}
        found: list[EventRule] = []
        for number, row in enumerate(rows):
            rule = before.get((row.id, row.version)) or rule_of(row)
            found += [] if rule is None else [rule]
            if number % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
        return found


def rule_of(row: RuleRow) -> EventRule | None:
    """Return a rule that events can start; `None` if only a schedule or a person starts it."""
    facts = json.loads(row.trigger).get("rule") or {}
    operation = _OPERATIONS.get(str(facts.get("trigger_type")))
    if operation is None:
        return None
    error = None
    try:
        conditions = conditions_of(facts.get("conditions"))
    except InvalidDefinition as raised:
        error = f"its conditions cannot be read: {raised}"
        emit("engine.error", where="rules", error=f"{row.name}: {error}")
        conditions = Conditions()
    is_ordered = facts.get("overlap") == "queue"
    workflow = show(WORKFLOW, row.id)
    return EventRule(row.id, workflow, row.name, row.title, operation, conditions, is_ordered, error, row.version)


_OPERATIONS: Final = {operation.trigger_type: operation.value for operation in RecordOperation}
