"""Entity events: durable, matched with the rules of their moment, and each rule started once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from detent.auth.caller import local_caller
from detent.clock import SystemClock
from detent.commands import EngineCommands
from detent.documents.events import EntityEventReceipt
from detent.engine.engine import Engine
from detent.errors import Conflict, InvalidInput, StoreError, TooLarge
from detent.forms.steps.form import compile_steps
from detent.ids import LETTER, new_id, show
from detent.store.events import SAMPLES, NewEvent
from detent.store.memory.store import MemoryStore
from detent.store.protocol import Store
from detent.store.trigger_rows import FiringState
from detent.triggers.commands import EngineTriggers, TriggerCommands
from detent.triggers.entities.event import RecordChange, RecordOperation, read_change
from detent.triggers.entities.matcher import RuleMatcher
from detent.triggers.entities.processor import EventEnds
from detent.triggers.entities.worker import EntityEvents
from detent.values.fields import Problems
from tests.engine.rig import OWNER, Rig, rig
from tests.triggers.entity_rules import add_entity, condition, rule, save
from tests.triggers.world import BASE_URL, virtual

SHIPPED = condition("status", "changed_to", "shipped")


def change(record: str = "1", *, to: str = "shipped", **more: Any) -> RecordChange:
    before, after = {"id": record, "status": "new"}, {"id": record, "status": to}
    made = RecordChange("order", RecordOperation.UPDATE, record, before, after, "ann")
    return made._replace(**more)


class Site:
    """A process of a world: its commands on events."""

    def __init__(self, world: Rig, engine: Engine) -> None:
        self.world, self.engine = world, engine
        self.line = world.lines[engine]
        triggers = EngineTriggers(
            EngineCommands(engine), cast(Store, self.line), now=engine.time.now, new_id=new_id, base_url=BASE_URL
        )
        self.commands: TriggerCommands = triggers.for_caller(local_caller("test"))
        self.entities: EntityEvents = triggers.entities

    async def send(self, *changes: RecordChange, wait: float | None = 5.0) -> list[EntityEventReceipt]:
        before = OWNER.set(self.engine)
        try:
            return await self.commands.events.send([("", one) for one in changes], wait=wait)
        finally:
            OWNER.reset(before)

    async def poll(self) -> None:
        await self.entities.left.poll()


@asynccontextmanager
async def sites(*rules: Any, count: int = 1) -> AsyncIterator[list[Site]]:
    async with rig() as world:
        await add_entity(world.store)
        for one in rules:
            await save(world.store, one)
        made = [Site(world, await world.engine()) for _ in range(count)]
        yield made
        for site in made:
            await site.entities.close()


def runs(world: Rig) -> list[tuple[str, str]]:
    """The runs, as rule and record, in the order they were accepted."""
    names = {one: saved.new.name for one, saved in world.store.saved.items()}
    rows = sorted(world.store.table.values(), key=lambda run: run.new.id)
    return [(names[run.new.workflow], str(run.new.hero_id)) for run in rows]


@virtual
async def test_an_event_starts_every_rule_that_matches_and_its_input_is_the_event() -> None:
    matching = [rule("notify", SHIPPED), rule("always")]
    others = [rule("other", condition("status", "equals", "new")), rule("new", on="create"), rule("x", entity="part")]
    async with sites(*matching) as [site]:
        await add_entity(site.world.store, "part")
        for other in others:
            await save(site.world.store, other)
        [receipt] = await site.send(change("7"))
        assert receipt.status == "processed"
        assert [(one.rule, one.run_id[:4]) for one in receipt.runs or ()] == [("notify", "run_"), ("always", "run_")]
        assert runs(site.world) == [("notify", "7"), ("always", "7")]
        [first, _] = site.world.store.table.values()
        body = json.loads(first.new.input)["body"]
        assert body.pop("at")
        assert body == {
            "id": receipt.id, "entity": "order", "operation": "update", "record_id": "7",
            "before": {"id": "7", "status": "new"}, "after": {"id": "7", "status": "shipped"}, "actor": "ann",
        }  # fmt: skip
        assert (first.new.hero_type, first.new.hero_id, first.new.trigger) == ("order", "7", "event")
        assert first.new.request_id == f"event:{receipt.id}:{(receipt.runs or [])[0].rule_id}"


@virtual
async def test_an_event_that_is_sent_again_starts_nothing_again() -> None:
    async with sites(rule("notify", SHIPPED), count=2) as [one, two]:
        [first] = await one.send(change(event_id="e-1"))
        [known] = await two.send(change(event_id="e-1"))
        assert (known.status, known.runs) == ("known", first.runs)
        await one.entities.close()
        one.world.store.events.clear()  # as if fifty others had come since
        [again] = await two.send(change(event_id="e-1"))
        assert (again.status, again.runs) == ("processed", first.runs)
        [other] = await two.send(change(event_id="e-1", actor="bob"))
        assert other.status == "known", "the id decides"
        assert runs(one.world) == [("notify", "1")]


@virtual
async def test_a_rule_that_is_saved_while_events_flow_is_applied_from_the_next_event_on() -> None:
    async with sites(rule("first"), count=2) as [one, two]:
        for site in (one, two):
            await site.send(change("a"))
        reads = one.world.store.saved
        assert len(reads) == 1
        late = await save(one.world.store, rule("second", SHIPPED))
        [there] = await two.send(change("b"))
        [here] = await one.send(change("c"))
        assert [[run.rule for run in got.runs or ()] for got in (there, here)] == [["first", "second"]] * 2
        await one.world.store.enable_workflow(1, late, enabled=False)
        [without] = await two.send(change("d"))
        assert [run.rule for run in without.runs or ()] == ["first"]


@virtual
async def test_rules_are_read_only_when_the_entity_has_changed() -> None:
    async with sites(rule("first")) as [site]:
        asked: list[str] = []
        reading = site.world.store.entity_rules

        async def counted(tenant: int, entity: str) -> Any:
            asked.append(entity)
            return await reading(tenant, entity)

        site.world.store.entity_rules = counted  # type: ignore[method-assign]
        await asyncio.gather(*(site.send(change(str(number))) for number in range(20)))
        await site.send(*(change(str(number)) for number in range(20)))
        assert asked == ["order"]
        await save(site.world.store, rule("second"))
        await asyncio.gather(*(site.send(change(str(number))) for number in range(20)))
        assert asked == ["order", "order"]


@virtual
async def test_events_that_come_together_are_stored_in_few_commits() -> None:
    async with sites(rule("first")) as [site]:
        await site.send(change())
        commits: list[int] = []
        adding = site.world.store.add_events

        async def counted(events: Any, *, head_start: float) -> Any:
            commits.append(len(events))
            return await adding(events, head_start=head_start)

        site.world.store.add_events = counted  # type: ignore[method-assign]
        await asyncio.gather(*(site.send(change(str(number))) for number in range(50)))
        assert sum(commits) == 50
        assert len(commits) <= 2


@virtual
async def test_an_event_that_its_process_left_is_matched_later_and_each_rule_started_once() -> None:
    async with sites(rule("first"), rule("second"), count=2) as [one, two]:
        # The first rule is started, then the store refuses: as if the process had died in the middle.
        one.line.break_next("flush", "applied", "applied", "applied")
        await one.send(change(), wait=0.5)
        one.world.crash(one.engine)
        await asyncio.sleep(6.0)
        await two.poll()
        assert sorted(runs(one.world)) == [("first", "1"), ("second", "1")]
        assert await two.world.store.count_events(limit=9) == 1
        await asyncio.sleep(1.0)
        assert await two.world.store.count_events(limit=9) == 0, "it has ended"


@virtual
async def test_a_sender_whose_event_was_not_stored_gets_the_error() -> None:
    async with sites(rule("first")) as [site]:
        site.line.break_next("add_events", "lost")
        with pytest.raises(StoreError):
            await site.send(change())
        assert runs(site.world) == []
        [receipt] = await site.send(change())
        assert receipt.status == "processed"


@virtual
async def test_the_last_events_of_an_entity_stay_as_samples_and_no_more() -> None:
    async with sites(rule("first", SHIPPED)) as [site]:
        for start in range(0, 130, 10):
            await site.send(*(change(str(number), to="open") for number in range(start, start + 10)))
            await asyncio.sleep(0.5)
        samples = await site.world.store.samples(1, "order", limit=999)
        assert [row.record for row in samples[:SAMPLES]] == [str(number) for number in range(129, 79, -1)]
        assert len(samples) <= 2 * SAMPLES
        assert await site.world.store.count_events(limit=9) == 0
        recent = await site.commands.events.recent_matches("first")
        assert len(recent) == SAMPLES
        assert {one.matches for one in recent} == {False}
        assert recent[0].reason == "not true: status changed to 'shipped'"


@virtual
async def test_a_rule_shows_which_events_it_would_have_matched_before_it_is_activated() -> None:
    async with sites(rule("draft", SHIPPED, enabled=False)) as [site]:
        await site.send(change("1"), change("2", to="open"), change("3", operation=RecordOperation.CREATE, before=None))
        recent = await site.commands.events.recent_matches("draft")
        assert [(one.record_id, one.matches) for one in recent] == [("3", False), ("2", False), ("1", True)]
        assert recent[0].reason == "it is for on_update, not for create"
        assert runs(site.world) == []


@virtual
async def test_what_matches_is_explained_for_every_rule() -> None:
    big = {"any": [condition("total", "gt", 100), condition("vip", "equals", True)]}
    async with sites(rule("a", SHIPPED), rule("b", SHIPPED, big), rule("c", on="delete")) as [site]:
        found = await site.commands.events.match(change(after={"status": "shipped", "total": 7}))
        assert [(one.rule, one.matches) for one in found] == [("a", True), ("b", False), ("c", False)]
        assert found[1].reason == "not true: total is greater than 100 or vip is true"
        assert [part.is_true for part in found[1].conditions] == [True, False]
        assert [part.words for part in found[1].conditions[1].parts] == ["total is greater than 100", "vip is true"]
        [only] = await site.commands.events.match(change(), rule="c")
        assert only.reason == "it is for on_delete, not for update"
        assert runs(site.world) == []
        with pytest.raises(InvalidInput) as refused:
            await site.commands.events.match(change(entity="ordr"))
        assert str(refused.value.problems[0]) == "entity: there is no entity 'ordr'; did you mean 'order'?"


@virtual
async def test_a_rule_that_cannot_be_started_is_listed_with_the_reason_and_stops_no_other() -> None:
    bad = condition("status", "gt", 5)
    async with sites(rule("bad", bad), rule("good")) as [site]:
        [receipt] = await site.send(change(event_id="e"))
        assert [one.rule for one in receipt.runs or ()] == ["good"]
        assert receipt.errors is not None
        [error] = receipt.errors
        assert (error.rule, error.code) == ("bad", "condition_error")
        await site.send(change(event_id="f"))
        listed = await site.commands.events.firings("bad", limit=9)
        assert [(one.status, one.event_id, one.run_id) for _, one in listed] == [
            ("errored", "f", None),
            ("errored", "e", None),
        ]
        started = await site.commands.events.firings("good", limit=1)
        assert [(one.status, one.event_id, one.record_id) for _, one in started] == [("started", "f", "1")]
        [older] = await site.commands.events.firings("good", limit=9, before=started[0][0])
        assert older[1].event_id == "e"
        assert {row.state for row in site.world.store.fired.values()} == {FiringState.ERRORED}


@virtual
async def test_an_event_that_cannot_start_a_rule_leaves_one_dead_letter_and_its_requeue_starts_the_rule() -> None:
    bad = rule("bad", condition("status", "gt", 5))
    async with sites(bad, rule("good")) as [site]:
        event = change("7", event_id="e")
        await site.send(event)
        site.world.store.events.clear()  # as if fifty others had come since
        await site.send(event)
        letters = site.commands.letters
        [letter] = await letters.find(limit=9)
        assert (letter.kind, letter.workflow, letter.reason, letter.trigger) == (
            "event", bad.id, "condition_error", None,
        )  # fmt: skip
        assert letter.source in site.world.store.fired
        assert json.loads(letter.payload or b"")["body"]["record_id"] == "7"
        name = show(LETTER, letter.id)
        with pytest.raises(Conflict, match="does not match the event: its conditions cannot be evaluated"):
            await letters.requeue(name)
        await save(site.world.store, rule("bad", condition("status", "equals", "packed"), id=bad.id))
        with pytest.raises(Conflict, match="does not match the event: not true: status is 'packed'"):
            await letters.requeue(name)
        await save(site.world.store, rule("bad", SHIPPED, id=bad.id))
        settled = await letters.requeue(name)
        assert (settled.state, str(settled.result)[:4]) == ("requeued", "run_")
        assert runs(site.world) == [("good", "7"), ("bad", "7")]
        [again] = await site.send(change("7", event_id="e2"))
        assert [run.rule for run in again.runs or ()] == ["bad", "good"]


@virtual
async def test_a_dead_letter_of_a_rule_that_was_deleted_can_only_be_purged() -> None:
    async with sites(rule("bad", condition("status", "gt", 5))) as [site]:
        await site.send(change())
        [letter] = await site.commands.letters.find(limit=9)
        await site.world.store.delete_workflow(1, letter.workflow)
        with pytest.raises(Conflict, match="its rule was deleted; purge the dead letter"):
            await site.commands.letters.requeue(show(LETTER, letter.id))
        await site.commands.letters.purge(show(LETTER, letter.id))


@virtual
async def test_an_event_of_an_entity_that_does_not_exist_leaves_a_dead_letter() -> None:
    """An application writes such an event in a transaction of its own, where no API refuses it."""
    async with sites(rule("always")) as [site]:
        store = site.world.store
        lost = change("7", entity="part", event_id="p").event(1, new_id, 0)
        await store.add_events([lost], head_start=-1.0)
        await site.poll()
        await site.entities.processor.ends.flush()
        assert await store.count_events(limit=9) == 0
        letters = site.commands.letters
        [letter] = await letters.find(limit=9)
        assert (letter.reason, letter.message) == ("no_entity", "there is no entity 'part'")
        name = show(LETTER, letter.id)
        with pytest.raises(Conflict, match="there is no entity 'part'; register it"):
            await letters.requeue(name)
        await add_entity(store, "part")
        assert (await letters.requeue(name)).result == "p", "no rule is about it"
        assert runs(site.world) == []


@virtual
async def test_an_event_that_a_bug_of_ours_meets_leaves_a_dead_letter_and_is_not_tried_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with sites(rule("always")) as [site]:

        async def broken(*given: object) -> Any:
            raise ZeroDivisionError

        with monkeypatch.context() as patch:
            patch.setattr(site.entities.matcher, "rules", broken)
            [receipt] = await site.send(change("7"))
        assert (receipt.status, receipt.runs) == ("processed", [])
        await site.entities.processor.ends.flush()
        [letter] = await site.commands.letters.find(limit=9)
        assert letter.reason == "internal"
        settled = await site.commands.letters.requeue(show(LETTER, letter.id))
        assert str(settled.result).startswith("run_")
        assert runs(site.world) == [("always", "7")]


@virtual
async def test_runs_of_one_record_begin_in_the_order_of_its_changes_if_the_rule_queues_them() -> None:
    graph = compile_steps({"name": "queue", "tasks": {"a": {"action": "core.echo"}}}).graph
    queued = rule("queue", facts={"overlap": "queue"}, graph=replace(graph, one_per_hero=True))
    async with sites(queued) as [site]:
        held = site.world.hands.hold("a")
        await site.send(change("1"), change("2"), wait=1.0)
        await site.send(change("1", actor="bob"), change("1", actor="cid"), wait=1.0)
        assert sorted(runs(site.world)) == [("queue", "1"), ("queue", "2")]
        held.set()
        for _ in range(20):
            await asyncio.sleep(0.6)
            await site.poll()
        actors = [json.loads(run.new.input)["body"]["actor"] for run in site.world.store.table.values()]
        assert actors == ["ann", "ann", "bob", "cid"]


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({}, "entity", "is missing"),
        ({"entity": "order"}, "operation", "is missing"),
        ({"entity": "order", "operation": "upsert"}, "operation", "is not one of create, update, delete"),
        ({"entity": "order", "operation": "create"}, "after", "is missing"),
        ({"entity": "order", "operation": "create", "after": {}, "before": {}}, "before", "must be null"),
        ({"entity": "order", "operation": "delete", "after": {}}, "before", "is missing"),
        ({"entity": "order", "operation": "update", "after": []}, "after", "must be a mapping"),
        ({"entity": "order", "operation": "update", "after": {}, "id": []}, "id", "must be text"),
        ({"entity": "order", "operation": "update", "after": {}, "id": "\x00"}, "id", "must be text"),
        ({"entity": "order", "operation": "update", "after": {}, "event_id": "x" * 201}, "event_id", "201 characters"),
        ({"entity": "order", "operation": "update", "after": {}, "befor": {}}, "befor", "did you mean 'before'"),
    ],
)
def test_a_change_that_is_wrong_is_refused_with_its_place(values: dict[str, Any], field: str, message: str) -> None:
    problems = Problems()
    assert read_change(values, "events[3]", problems) is None
    assert any(one.field == f"events[3].{field}" and message in one.message for one in problems.found), problems.found


def test_the_id_of_a_record_is_its_field_if_none_is_given() -> None:
    problems = Problems()
    sent = {"entity": "order", "operation": "update"}
    given: list[dict[str, Any]] = [
        {"id": 7, "after": {"id": 8}},
        {"after": {"id": 8}},
        {"after": {"id": [1]}},
        {"after": {}},
    ]
    found = [read_change({**sent, **more}, "", problems) for more in given]
    assert [one and one.record for one in found] == ["7", "8", None, None]
    assert not problems.found


def test_an_event_that_is_too_large_is_refused() -> None:
    with pytest.raises(TooLarge):
        change(after={"x": "y" * 300_000}).event(1, new_id, 0)
    with pytest.raises(InvalidInput, match="not JSON"):
        change(after={"x": object()}).event(1, new_id, 0)


@virtual
async def test_anchored_rules_are_found_by_value_and_only_they_are_tried() -> None:
    async with rig() as world:
        await add_entity(world.store)
        for number in range(50):
            await save(world.store, rule(f"r{number}", condition("code", "equals", number)))
        await save(world.store, rule("true", condition("code", "equals", True)))
        await save(world.store, rule("list", condition("code", "in", [3, "x"])))
        matcher = RuleMatcher(world.store)
        rules = await matcher.rules(1, "order", 1)
        assert rules is not None

        def matched(code: Any) -> list[str]:
            return [one.rule.name for one in rules.matches("update", None, {"code": code})]

        assert matched(3) == ["r3", "list"]
        assert matched(3.0) == ["r3", "list"]
        assert matched(1) == ["r1"], "true is not one"
        assert matched(True) == ["true"]
        assert matched([3]) == matched({"a": 1}) == matched(None) == []
        assert [one.rule.name for one in rules.matches("delete", {"code": 3}, None)] == []


async def test_a_flush_waits_for_the_batch_that_is_being_written() -> None:
    begun, may_go_on, written = asyncio.Event(), asyncio.Event(), list[bytes]()

    class Slow(MemoryStore):
        async def end_events(self, done: Any, kept: Any, letters: Any = ()) -> None:
            begun.set()
            await may_go_on.wait()
            written.extend(kept)

    ends = EventEnds(Slow(SystemClock()))
    ends.add(NewEvent(b"1" * 16, 1, "order", "update", None, b"{}"))
    await begun.wait()
    flush = asyncio.create_task(ends.flush())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not flush.done()
    may_go_on.set()
    await flush
    assert written == [b"1" * 16]
    await ends.close()
