"""Lines that steps log are stored with their attempt: whose they are, how many, and when."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from detent.clock import SystemClock
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.records import logs as step_logs
from detent.engine.records.logs import MOST_BYTES, ROW_BYTES
from detent.engine.tuning import Tuning
from detent.errors import StoreError
from detent.graph.model import StepKind
from detent.ids import RUN, new_id, parse
from detent.observe import listen
from detent.observe.logs import log_through_logging
from detent.python.classes.executor import ClassExecutor
from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.flow import reattempt
from detent.python.functions import Run, workflow
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.step import StepContext
from detent.python.registry import PythonRegistry
from detent.python.registry import registry as functions
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import ActionContext, Registry
from detent.steps.logs.attempt_log import OFF
from detent.store.logs.rows import LogKind, LogRow
from detent.store.memory.store import MemoryStore
from detent.store.rows import Flush
from tests.python.stage import Theatre, theatre

shop = logging.getLogger("shop.orders")


def charge(number: int, context: StepContext) -> int:
    context.log.info("charging")
    shop.warning("charged")
    return number


@workflow
async def logged_order(run: Run, number: int) -> int:
    run.log.info("begins")
    charged: int = await run.step(charge, number)
    run.log.info("is charged")
    await run.signal("go")
    run.log.info("goes on")
    shop.warning("at the end")
    return charged


@asynccontextmanager
async def stage(
    code: PythonRegistry, *, level: int = logging.DEBUG, actions: Registry | None = None
) -> AsyncIterator[Theatre]:
    """A store with one engine that has classes, functions and actions."""
    clock = SystemClock()
    async with theatre("memory://", code) as world:
        engine = Engine(
            world.store,
            clock=clock,
            tokens=CallbackTokens("key", "https://detent.example"),
            executors={
                StepKind.PYTHON: ClassExecutor(code),
                StepKind.FUNCTION: FunctionExecutor(clock=clock),
                StepKind.ACTION: ActionExecutor(actions or Registry()),
            },
            serves=(*code.serves(), *functions.serves(), *(actions or Registry()).names()),
            tuning=Tuning(log_level=level, drain=2.0),
            new_id=new_id,
        )
        await engine.start()
        world.engines.append(engine)
        await world.save(code, engine)
        function = functions.find("logged_order")
        assert function is not None
        await world.commands().workflows.save_python(function.compiled, function.source)
        yield world


async def rows(world: Theatre, run: str, **given: Any) -> list[LogRow]:
    return await world.store.log_rows(1, parse(RUN, run), limit=1000, **given)


async def lines(world: Theatre, run: str) -> list[tuple[str, int, str, str]]:
    """The step, attempt, logger and text of every line, in the order of their times."""
    found = [(line, row) for row in await rows(world, run) for line in msgspec.json.decode(row.data)]
    found.sort(key=lambda one: int(one[0][0]))
    return [(row.step, row.attempt, line[2], line[3]) for line, row in found]


async def test_whatever_a_class_step_logs_is_stored_with_its_attempt(code: PythonRegistry) -> None:
    class Paying(Workflow, registry=code):
        @step(on_exception=reattempt(max=2, wait=0.01))
        async def ask(self) -> None:
            self.log.info("asking %s", "Ada")
            await asyncio.gather(asyncio.to_thread(shop.warning, "in a thread of its own"))
            if self.attempt == 1:
                raise OSError("the line is busy")

        @step
        def pay(self) -> None:
            try:
                raise ValueError("no funds")
            except ValueError:
                shop.exception("not paid")

    async with stage(code) as world:
        run = await world.start(Paying)
        await world.ended(run)
        found = await lines(world, run)
    assert [line[:3] for line in found] == [
        ("ask", 1, "detent.workflow"), ("ask", 1, "shop.orders"), ("ask", 2, "detent.workflow"),
        ("ask", 2, "shop.orders"), ("pay", 1, "shop.orders"),
    ]  # fmt: skip
    assert [line[3] for line in found[:2]] == ["asking Ada", "in a thread of its own"]
    assert found[-1][3].startswith("not paid\nTraceback")
    assert found[-1][3].endswith("ValueError: no funds")


async def test_records_of_a_step_have_their_run_and_those_outside_have_none(
    code: PythonRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    class Paying(Workflow, registry=code):
        @step
        def pay(self) -> None:
            shop.warning("inside")

    async with stage(code) as world:
        run = await world.start(Paying)
        await world.ended(run)
        shop.warning("outside")
        assert await lines(world, run) == [("pay", 1, "shop.orders", "inside")]
    found = {record.getMessage(): record for record in caplog.records if record.name == shop.name}
    inside = found["inside"]
    assert (inside.detent_run, inside.detent_step, inside.detent_attempt) == (run, "pay", 1)  # type: ignore[attr-defined]
    assert not hasattr(found["outside"], "detent_run")


async def test_a_durable_function_logs_once_however_often_it_is_replayed(code: PythonRegistry) -> None:
    async with stage(code) as world:
        run = await world.start("logged_order", {"number": 3})
        async with asyncio.timeout(300):
            while len(await lines(world, run)) < 4:  # noqa: ASYNC110 - only the store knows
                await asyncio.sleep(0.01)
        await world.commands().signals.send(run, "go", None)  # it was suspended, so it is replayed from its beginning
        await world.ended(run)
        found = [(line[0], line[3]) for line in await lines(world, run)]
    assert [text for _, text in found] == ["begins", "charging", "charged", "is charged", "goes on", "at the end"]
    assert {name for name, text in found if text.startswith("charg")} == {"charge"}


async def test_a_flood_of_lines_leaves_the_newest_of_them_and_says_how_many_are_left_out(code: PythonRegistry) -> None:
    count = 100_000

    class Noisy(Workflow, registry=code):
        @step
        def shout(self) -> None:
            log = self.log
            for number in range(count):
                log.info("line %d of many, and some more words to make it longer", number)

    async with stage(code) as world:
        run = await world.start(Noisy)
        await world.ended(run)
        found = await rows(world, run)
        texts = [line[3] for line in [one for row in found for one in msgspec.json.decode(row.data)]]
    stored = sum(len(row.data) for row in found)
    assert MOST_BYTES - 2 * ROW_BYTES <= stored <= MOST_BYTES
    assert texts[-1].startswith(f"line {count - 1} ")
    assert found[0].first == count - len(texts)
    assert found[-1].first + found[-1].size == count
    assert [row.first + row.size for row in found[:-1]] == [row.first for row in found[1:]]


async def test_lines_and_progress_of_a_long_attempt_are_seen_while_it_runs(code: PythonRegistry) -> None:
    go_on = threading.Event()

    class Long(Workflow, registry=code):
        @step
        def copy(self) -> None:
            self.log.info("page 4")
            self.progress(0.3)
            self.progress(0.4, "page 4 of 10")
            assert go_on.wait(300)
            self.log.info("done")

    async with stage(code) as world:
        run = await world.start(Long)
        try:
            async with asyncio.timeout(300):
                while not (shown := await rows(world, run, kind=LogKind.PROGRESS)):  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.05)
            assert [line[3] for line in await lines(world, run)] == ["page 4"]
        finally:
            go_on.set()
        assert msgspec.json.decode(shown[0].data)[:2] == [0.4, "page 4 of 10"]
        await world.ended(run)
        assert [line[3] for line in await lines(world, run)] == ["page 4", "done"]
        assert await rows(world, run, kind=LogKind.PROGRESS) == []


@pytest.mark.parametrize(("level", "stored"), [(logging.WARNING, ["loud"]), (OFF, [])])
async def test_lines_below_the_level_are_not_stored(code: PythonRegistry, level: int, stored: list[str]) -> None:
    class Paying(Workflow, registry=code):
        @step
        def pay(self) -> None:
            self.log.info("quiet")
            self.log.warning("loud")

    async with stage(code, level=level) as world:
        run = await world.start(Paying)
        await world.ended(run)
        assert [line[3] for line in await lines(world, run)] == stored


async def test_steps_that_log_nothing_cause_no_flush_and_no_row_more(
    code: PythonRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_logs, "LIVE", 3600.0)  # no look at attempts in flight, however slow the machine is

    class Quiet(Workflow, registry=code):
        @step
        def one(self) -> None: ...

        @step
        async def two(self) -> None: ...

    class Loud(Workflow, registry=code):
        @step
        def one(self) -> None:
            self.log.info("a line")

        @step
        async def two(self) -> None: ...

    counts = []
    for of in (Quiet, Loud):
        async with stage(code) as world:
            store = world.store
            assert isinstance(store, MemoryStore)
            flushes: list[Flush] = []
            flush = store.flush

            async def counted(*args: Any, _flush: Any = flush, _flushes: list[Any] = flushes, **given: Any) -> Any:
                _flushes.append(args[2])
                return await _flush(*args, **given)

            store.flush = counted  # type: ignore[method-assign]
            await world.ended(await world.start(of))
            counts.append((len(flushes), sum([len(one.logs) for one in flushes])))
    assert counts[0][1] == 0
    assert counts[1] == (counts[0][0], 1), "the line goes with the flush of the attempt's outcome"


async def test_what_an_action_logs_is_stored_with_its_facts(code: PythonRegistry) -> None:
    actions = Registry()

    @actions.action("rows.copy")
    def copy(context: ActionContext) -> dict[str, Any]:
        context.log.warning("row %d", 5, table="orders", text="x" * 4000, more="y" * 4000, most="z" * 4000)
        context.log.info("row 6", table="orders")
        return {}

    async with stage(code, actions=actions) as world:
        text = '{"name": "w", "tasks": {"copy": {"action": "rows.copy"}}}'
        await world.commands().workflows.save(text, filename="w.json")
        run = await world.start("w")
        await world.ended(run)
        [row] = await rows(world, run)
    first, second = msgspec.json.decode(row.data)
    assert first[1:] == [logging.WARNING, "detent.action", "row 5"], "facts that are too large are left out"
    assert second[1:] == [logging.INFO, "detent.action", "row 6", {"table": "orders"}]


async def test_a_step_that_blocks_the_loop_is_named_with_the_line_that_does(code: PythonRegistry) -> None:
    class Blocking(Workflow, registry=code):
        @step
        async def sum_up(self) -> None:
            until = time.monotonic() + 1.8
            while time.monotonic() < until:
                pass

    heard: list[dict[str, Any]] = []
    stop = listen(lambda name, facts: heard.append(facts) if name == "step.blocked" else None)
    try:
        async with stage(code) as world:
            run = await world.start(Blocking)
            await world.ended(run)
            async with asyncio.timeout(300):
                while not heard:  # noqa: ASYNC110 - the loop reports it when it runs again
                    await asyncio.sleep(0.05)
    finally:
        stop()
    [found] = heard
    assert (found["run"], found["step"], found["action"]) == (parse(RUN, run), "sum_up", "Blocking")
    assert found["seconds"] > 1
    assert f"{__file__}:" in found["at"]
    assert found["at"].endswith(" in sum_up")


async def test_a_node_inside_a_program_logs_through_its_logging(
    code: PythonRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    class Paying(Workflow, registry=code):
        @step
        def pay(self) -> None:
            raise ValueError("no funds")

    stop = log_through_logging()
    try:
        async with stage(code) as world:
            run = await world.start(Paying)
            await world.paused(run)
    finally:
        stop()
    [record] = [record for record in caplog.records if record.name == "detent.run"]
    assert (record.levelname, record.detent_event) == ("WARNING", "run.paused")  # type: ignore[attr-defined]
    assert record.getMessage().startswith(f"run.paused run={run} reason=")
    assert record.getMessage().endswith("ValueError: no funds")
    assert "detent/python/classes" not in record.getMessage(), "the frames of Detent are left out"


async def test_lines_that_the_database_rejects_are_lost_and_the_run_goes_on(code: PythonRegistry) -> None:
    class Paying(Workflow, registry=code):
        @step
        def pay(self) -> None:
            self.log.info("a line")

        @step
        def ship(self) -> None: ...

    heard: list[dict[str, Any]] = []
    stop = listen(lambda name, facts: heard.append(facts) if name == "engine.error" else None)
    try:
        async with stage(code) as world:
            store = world.store
            assert isinstance(store, MemoryStore)
            flush = store.flush

            async def choosy(*args: Any, **given: Any) -> Any:
                if args[2].logs:
                    raise StoreError("no such table: step_log")
                return await flush(*args, **given)

            store.flush = choosy  # type: ignore[method-assign]
            run = await world.start(Paying)
            assert (await world.ended(run))["status"] == "completed"
            assert await lines(world, run) == []
    finally:
        stop()
    assert [facts["where"] for facts in heard] == ["step logs"]
    assert "no such table" in heard[0]["error"]
