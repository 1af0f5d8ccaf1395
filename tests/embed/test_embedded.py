"""An engine inside the user's own program, and code that starts runs beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from detent.client.calls import Answer, Request
from detent.client.errors import RunFailed, StillRunning
from detent.embed import sync
from detent.embed.local import InProcessTransport
from detent.embed.node import node
from detent.embed.runs import RunHandle, runs
from detent.embed.start import start
from detent.errors import AlreadyActive, InvalidInput, NotFound, Unavailable
from detent.process import App
from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.registry import registry
from tests.embed.flows import Counting, Greeting, Patient, Stubborn, summing

HERO = ("User", "7")


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with node(f"sqlite:///{tmp_path}/detent.db", workflows=["tests.embed.flows"]) as found:
        yield found


async def test_a_class_is_started_by_itself_and_its_handle_waits_for_the_result(app: App) -> None:
    run = await start(Greeting, hero=HERO, input={"who": "you"})
    assert await run.result(timeout=300) == "HELLO YOU"
    assert await run.status() == "completed"


async def test_a_function_is_started_with_its_arguments(app: App) -> None:
    run = await start(summing, 2, right=3)
    assert await run.result(timeout=300) == 5


async def test_a_workflow_is_started_by_its_name_too(app: App) -> None:
    run = await start("greeting", hero=HERO, input={"who": "all"})
    assert await run.result(timeout=300) == "HELLO ALL"


async def test_arguments_that_do_not_fit_the_function_are_refused_before_anything_is_started(app: App) -> None:
    with pytest.raises(InvalidInput, match="do not fit"):
        await start(summing, 1, 2, 3)
    assert await runs(summing).all() == []


async def test_a_class_takes_no_arguments(app: App) -> None:
    with pytest.raises(InvalidInput, match="takes no arguments"):
        await start(Greeting, 1)


async def test_something_that_is_no_workflow_is_refused(app: App) -> None:
    with pytest.raises(NotFound, match="is not a workflow"):
        await start(dict, input={})


async def test_the_second_start_for_one_hero_names_the_run_that_is_in_the_way(app: App) -> None:
    first = await start(Patient, hero=HERO)
    with pytest.raises(AlreadyActive) as refused:
        await start(Patient, hero=HERO)
    assert refused.value.run == first.id


async def test_a_hero_may_have_two_runs_where_the_start_says_so(app: App) -> None:
    first = await start(Patient, hero=HERO)
    second = await start(Patient, hero=HERO, allow_multiple=True)
    assert first.id != second.id


async def test_the_same_request_id_starts_one_run(app: App) -> None:
    first = await start(summing, 1, request_id="r1")
    second = await start(summing, 1, request_id="r1")
    assert first == second


async def test_a_start_in_process_stores_nothing_that_its_caller_did_not_give(app: App) -> None:
    plain = await (await start(Patient, hero=HERO, labels={"team": "shop"})).get()
    assert (plain.request_id, plain.labels) == (None, {"team": "shop"})
    assert {name: value for name, value in plain.input.items() if name != "body" and value} == {}


async def test_a_start_that_is_refused_for_now_is_not_sent_again_without_an_id(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Request] = []
    send = InProcessTransport.send_async

    async def counted(transport: InProcessTransport, request: Request) -> Answer:
        sent.append(request)
        return await send(transport, request)

    monkeypatch.setattr(InProcessTransport, "send_async", counted)
    await app.drain()
    with pytest.raises(Unavailable):
        await start(summing, 1)
    assert len(sent) == 1


async def test_a_run_is_followed_in_process_until_it_ends(app: App) -> None:
    run = await start(Greeting, hero=HERO, input={"who": "x"})
    assert [entry.step async for entry in run.follow()] == ["greet", "shout"]
    again = await run.rerun()
    assert [entry.step for entry in await asyncio.to_thread(lambda: list(again.sync.follow()))] == ["greet", "shout"]


async def test_a_delayed_run_is_pending_until_its_time(app: App) -> None:
    run = await start(summing, 1, delay="1h")
    assert await run.status() == "pending"


async def test_a_run_cannot_begin_at_a_time_and_after_a_delay(app: App) -> None:
    with pytest.raises(InvalidInput, match="one of them"):
        await start(summing, 1, delay="1h", start_at="2030-01-01T00:00:00Z")


async def test_a_cancelled_run_has_no_result(app: App) -> None:
    run = await start(Patient, hero=HERO)
    await run.cancel()
    with pytest.raises(RunFailed):
        await run.result(timeout=300)


async def test_a_run_that_takes_longer_than_it_is_waited_for_goes_on(app: App) -> None:
    run = await start(Patient, hero=HERO)
    with pytest.raises(StillRunning):
        await run.result(timeout=0.1)


async def test_scopes_tell_active_finished_and_cancelled_runs_of_a_hero_apart(app: App) -> None:
    done = await start(Greeting, hero=HERO, input={"who": "x"})
    await done.result(timeout=300)
    going = await start(Patient, hero=HERO)
    gone = await start(Patient, hero=("User", "8"))
    await gone.cancel()
    of_hero = runs().for_hero(HERO)
    assert [run.id for run in await of_hero.finished().all()] == [done.id]
    assert await of_hero.active().first() == RunHandle(going.id)
    assert await runs(Patient).canceled().handles() == [gone]
    assert await runs(Patient, hero=HERO).count() == 1


async def test_a_run_that_nobody_is_at_is_ready_and_not_performing(app: App) -> None:
    run = await start(Patient, hero=HERO, delay="1h")
    assert await runs(Patient).ready().handles() == [run]
    assert await runs(Patient).performing().handles() == []


async def test_a_paused_run_is_found_and_finished_from_outside(app: App) -> None:
    run = await start(Patient, hero=HERO)
    await run.pause()
    assert await runs(Patient).paused().handles() == [run]
    await run.finish()
    assert (await run.wait(timeout=300)).status == "completed"


async def test_the_history_of_a_run_tells_its_steps_in_order(app: App) -> None:
    run = await start(Greeting, hero=HERO, input={"who": "x"})
    await run.result(timeout=300)
    assert [entry.step for entry in await run.journal()] == ["greet", "shout"]


async def test_a_thread_of_the_same_process_starts_and_waits_without_a_loop(app: App) -> None:
    def in_thread() -> object:
        return sync.start(summing, 20, 22).result(timeout=300)

    assert await asyncio.to_thread(in_thread) == 42


async def test_blocking_the_loop_of_the_engine_is_refused_and_not_a_deadlock(app: App) -> None:
    with pytest.raises(RuntimeError, match=r"await detent\.start"):
        sync.start(summing, 1)


async def test_many_starts_from_many_threads_are_all_done(app: App) -> None:
    def in_thread(number: int) -> object:
        return sync.start(summing, number, 0).result(timeout=300)

    found = await asyncio.gather(*(asyncio.to_thread(in_thread, number) for number in range(24)))
    assert found == list(range(24))


async def test_a_run_that_is_paused_again_at_once_is_told_to_have_been_resumed(app: App) -> None:
    run = await start(Stubborn, hero=HERO)
    for _ in range(3):
        while await run.status() != "paused":  # noqa: ASYNC110 - only the store knows
            await asyncio.sleep(0.01)
        resumed = await run.resume()
        assert not resumed.resume_requested
    outcomes = [one.outcome async for one in run.history()]
    assert outcomes[:3] == ["failed"] * 3


async def test_a_handle_tells_the_state_that_the_steps_handed_on(app: App) -> None:
    run = await start(Counting, hero=HERO)
    await run.wait(timeout=300)
    assert await run.state() == {"count": 2}
    assert await (await start(summing, 1, 2)).state() is None


async def test_a_workflow_that_is_defined_while_the_node_works_is_served_too(app: App) -> None:
    with registry.scoped(lambda one: True):

        class Late(Workflow):
            name = "late"
            allow_multiple = True

            @step
            async def come(self) -> str:
                return "late"

        at_once, later = await start(Late), await start(Late, delay=0.3)
        assert await at_once.result(timeout=300) == "late"
        assert await later.result(timeout=300) == "late"
        assert "workflow:late" in app.engine.serves
    assert "workflow:late" not in app.engine.serves
