"""An event beside a save of a rule: what was saved before the event came is applied to it, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from detent.store.protocol import Store
from detent.store.rule_protocol import EntityStore
from detent.triggers.entities.matcher import RuleMatcher
from tests.store.test_events import event
from tests.triggers.entity_rules import add_entity, rule, save

Between = Callable[[], Awaitable[object]]


class Reader:
    """Reads rules as the store does; `between` happens at the worst moment."""

    def __init__(self, store: Store, between: Between) -> None:
        self._store, self._between = store, between

    async def entity_rules(self, tenant: int, entity: str) -> Any:
        found = await self._store.entity_rules(tenant, entity)
        await self._between()
        return found


class RevisionLast(Reader):
    """The tempting wrong way: first the rules, then the revision that they are said to have."""

    async def entity_rules(self, tenant: int, entity: str) -> Any:
        found = await self._store.entity_rules(tenant, entity)
        await self._between()
        row = await self._store.entity(tenant, entity)
        return None if found is None or row is None else (row.revision, found[1])


async def matched_after_a_save(store: Store, reader: type[Reader]) -> list[str]:
    """The rules that an event starts that comes after a save, if the save met a read of the rules."""
    await add_entity(store)
    await save(store, rule("first"))
    is_first = True

    async def between() -> None:
        nonlocal is_first
        if is_first:
            is_first = False
            await save(store, rule("second"))

    matcher = RuleMatcher(cast(EntityStore, reader(store, between)))
    [early] = await store.add_events([event()], head_start=60.0)
    assert early.revision is not None
    await matcher.rules(1, "order", early.revision)
    [late] = await store.add_events([event()], head_start=60.0)  # the save has returned
    assert late.revision is not None
    rules = await matcher.rules(1, "order", late.revision)
    assert rules is not None
    return [one.rule.name for one in rules.matches("update", {}, {})]


async def test_a_rule_that_is_saved_while_rules_are_read_is_applied_to_the_next_event(store: Store) -> None:
    assert await matched_after_a_save(store, Reader) == ["first", "second"]


async def test_a_revision_that_is_read_after_the_rules_hides_a_save(store: Store) -> None:
    """This is why the store reads both in one statement."""
    assert await matched_after_a_save(store, RevisionLast) == ["first"]


@pytest.mark.slow
async def test_events_and_saves_at_once_never_lose_a_rule(store: Store) -> None:
    await add_entity(store)
    matchers = [RuleMatcher(store), RuleMatcher(store)]

    async def arrives(matcher: RuleMatcher) -> set[str]:
        [added] = await store.add_events([event()], head_start=60.0)
        assert added.revision is not None
        rules = await matcher.rules(1, "order", added.revision)
        assert rules is not None
        return {one.rule.name for one in rules.matches("update", {}, {})}

    names: set[str] = set()
    for number in range(12):
        name = f"rule-{number}"
        await asyncio.gather(save(store, rule(name)), *(arrives(one) for one in matchers))
        names.add(name)
        assert [await arrives(one) for one in matchers] == [names, names]
