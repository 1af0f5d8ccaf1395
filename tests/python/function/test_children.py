"""Child runs on a whole engine: which are looked for, and what becomes of them when their parent fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from detent.commands.children import ChildStarts
from detent.documents.answers import as_json
from detent.engine import claims
from detent.engine.inbox import child_event
from detent.engine.owned_run import OwnedRun
from detent.graph.model import Ending
from detent.ids import RUN, new_id, parse, show
from detent.planner.fold import fold
from detent.process import App, run_app
from detent.python.functions import Run, gather, workflow
from detent.run import events
from detent.run.start import StartRequest
from detent.run.state import RunFacts
from detent.settings import Settings
from detent.store.memory.store import MemoryStore
from detent.store.rows import Mail, MessageKind, RunRow
from tests.callers import commands_of
from tests.planner.test_children import parent
from tests.python.function.test_continuing import children, statuses
from tests.python.function.test_engine import QUICK, begin, ended, engine, plus, until

MANY = 12


@workflow
async def waits_to_be_called(run: Run) -> int:
    return int(await run.signal("go"))


@workflow
async def has_many(run: Run) -> list[int]:
    return list(await gather(*(run.child(waits_to_be_called) for _ in range(MANY))))


class Asked:
    """What the engine asked a memory store about runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.existing: list[int] = []
        self.rows = 0
        look, read = MemoryStore.existing, MemoryStore.run

        async def existing(store: MemoryStore, runs: Sequence[bytes]) -> set[bytes]:
            self.existing.append(len(runs))
            return await look(store, runs)

        async def run(store: MemoryStore, tenant: int, run: bytes) -> RunRow | None:
            self.rows += 1
            return await read(store, tenant, run)

        monkeypatch.setattr(MemoryStore, "existing", existing)
        monkeypatch.setattr(MemoryStore, "run", run)


async def _until_parked(app: App, run: str) -> None:
    """Wait until no node owns the run, and it has no mail. This asks the tables, not the store."""
    assert isinstance(app.store, MemoryStore)
    row, inbox = app.store.table[parse(RUN, run)], app.store.inbox
    async with asyncio.timeout(300):
        while row.owner is not None or any(mail.run == row.new.id for mail in inbox.values()):  # noqa: ASYNC110 - they
            await asyncio.sleep(0.01)


async def _call(app: App, child: bytes, number: int) -> None:
    data = b'{"name":"go","data":%d}' % number
    assert await app.store.send(1, child, MessageKind.SIGNAL, data)


async def test_a_parent_that_is_called_again_and_again_does_not_ask_for_its_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with engine() as app:
        run = await begin(app, "has_many")
        await statuses(app, run, ["running"] * MANY)
        await _until_parked(app, run)
        asked = Asked(monkeypatch)
        app.engine.children.existing = app.store.existing
        found = [one.id for one in await app.store.runs(1, limit=99) if one.parent is not None]
        for number, child in enumerate(found):
            await _call(app, child, number)
            if number < MANY - 1:
                await _until_parked(app, run)
        assert (asked.existing, asked.rows) == ([], 0)
        document = await ended(app, run)
        assert sorted(document["output"]) == list(range(MANY))


async def test_a_parent_that_was_adopted_asks_for_all_its_children_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    async with engine() as app:
        run = await begin(app, "has_many")
        await statuses(app, run, ["running"] * MANY)
        await _until_parked(app, run)
        assert isinstance(app.store, MemoryStore)
        row = app.store.table[parse(RUN, run)]
        row.owner, row.generation = b"a node that died", row.generation + 1  # it died while it had the run
        assert asked.existing == []
        await until(app, run, lambda _: asked.existing)
        await _until_parked(app, run)
        for child in [one.id for one in await app.store.runs(1, limit=99) if one.parent is not None]:
            await _call(app, child, 1)
        assert (await ended(app, run))["output"] == [1] * MANY
        assert asked.existing[0] == MANY
        # The journal shows the adoption. So a later claim may ask once, for those that are still open.
        assert all(one < MANY for one in asked.existing[1:])
        assert len(await app.store.runs(1, limit=99)) == 1 + MANY


class Held:
    """Holds up every start of a child until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.came, self.may_go = asyncio.Event(), asyncio.Event()
        start = ChildStarts.start

        async def held(starts: ChildStarts, parent: RunFacts, run: bytes, child: StartRequest, again: bool) -> None:
            self.came.set()
            await self.may_go.wait()
            await start(starts, parent, run, child, again)

        monkeypatch.setattr(ChildStarts, "start", held)


@workflow
async def quick_child(run: Run) -> int:
    return await run.step(plus, 1)


@workflow
async def has_quick_child(run: Run) -> Any:
    return await run.child(quick_child)


async def test_a_child_whose_start_was_under_way_when_its_node_stopped_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, held = f"sqlite:///{tmp_path}/detent.db", Held(monkeypatch)
    async with run_app(Settings(database_url=url), tuning=replace(QUICK, drain=0.05), migrate=True) as app:
        run = await begin(app, "has_quick_child")
        await held.came.wait()
    held.may_go.set()
    async with engine(url) as app:
        assert (await ended(app, run))["output"] == 2
        assert len(await children(app, run)) == 1


BROKEN: list[str] = []


@workflow
async def breaks_beside_its_child(run: Run) -> Any:
    child = run.child(quick_child)
    await run.sleep(0.05)
    if BROKEN:
        raise ValueError("broken")
    return await child


async def test_a_child_whose_start_was_under_way_when_its_function_failed_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = Held(monkeypatch)
    BROKEN.append("yes")
    async with engine() as app:
        run = await begin(app, "breaks_beside_its_child")
        await held.came.wait()
        await until(app, run, lambda document: document["status"] == "paused")
        await _until_parked(app, run)
        BROKEN.clear()
        held.may_go.set()
        await commands_of(app).control.resume(run)
        assert (await ended(app, run))["output"] == 2
        assert len(await children(app, run)) == 1


class Unscanned(dict[str, Any]):
    """Operations that can only be looked up."""

    def _refuse(self) -> NoReturn:
        raise AssertionError("every operation was looked at")

    items = values = keys = __iter__ = _refuse


def test_the_child_of_a_message_is_looked_up() -> None:
    play = parent()
    play.state.operations = Unscanned(play.state.operations)
    owned = OwnedRun(play.facts.id, 1, play.prepared, play.state)

    def event(child: str, status: str) -> events.Event | None:
        data = b'{"child":"%b","status":"%b"}' % (child.encode(), status.encode())
        return child_event(Mail(7, owned.id, 1, MessageKind.CHILD, None, data, 0), owned, new_id)

    told = event("run_2", "completed")
    assert isinstance(told, events.OperationEnded)
    assert (told.key, told.ending, told.message) == ("@child:c#2", Ending.SUCCESS, 7)
    assert event("run_9", "completed") is None
    play.state.children["run_9"] = 0
    ended = event("run_9", "completed")
    assert isinstance(ended, events.ChildEnded), "a step waits for it, not an operation"
    assert (ended.step, ended.child, ended.ending, ended.message) == (0, "run_9", Ending.SUCCESS, 7)


async def test_the_children_of_a_parent_that_cannot_be_read_are_cancelled_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its node knows nothing of its state, and so of no child."""
    async with engine() as app:
        run = await begin(app, "has_many")
        await statuses(app, run, ["running"] * MANY)
        await _until_parked(app, run)

        def broken(prepared: Any, facts: RunFacts, *given: Any, **options: Any) -> Any:
            if show(RUN, facts.id) == run:
                raise ValueError("it cannot be read")
            return fold(prepared, facts, *given, **options)

        monkeypatch.setattr(claims, "fold", broken)
        await commands_of(app).control.cancel(run)
        async with asyncio.timeout(300):
            while as_json(await commands_of(app).runs.get(run))["status"] != "cancelled":  # noqa: ASYNC110 - the store
                await asyncio.sleep(0.02)
        await statuses(app, run, ["cancelled"] * MANY)
        [first, *_] = await app.store.runs(1, limit=1)
        [*_, last] = await app.store.journal(1, first.id)
        assert f"{run}, which started it and is cancelled".encode() in last.data


@workflow(queue="far")
async def far_child(run: Run) -> int:
    return await run.step(plus, 1)


@workflow
async def has_far_child(run: Run) -> Any:
    return await run.child(far_child)


@pytest.mark.slow
async def test_a_parent_on_another_node_hears_of_its_child_without_waiting_for_a_poll(postgres_database: str) -> None:
    slow = replace(QUICK, poll=600.0, idle_poll=600.0, mail_poll=600.0)
    here, there = replace(slow, queues=("default",)), replace(slow, queues=("far",))
    settings = Settings(database_url=postgres_database)
    async with run_app(settings, tuning=here, migrate=True) as app, run_app(settings, tuning=there):
        for _ in range(3):
            run = await begin(app, "has_far_child")
            assert (await ended(app, run))["output"] == 2
