"""Durable functions on a whole engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from detent.auth.caller import Caller
from detent.cli.output.journal import lines_of
from detent.clock import SystemClock
from detent.documents.answers import as_json
from detent.engine.tuning import Tuning
from detent.errors import InvalidInput
from detent.graph.model import StepKind
from detent.ids import RUN, parse, show
from detent.process import App, run_app
from detent.python.decorators import step
from detent.python.functions import ChildFailed, Run, gather, workflow
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.step_runner import StepRunner
from detent.run.initiator import Principal
from detent.run.start import StartRequest
from detent.run.status import TERMINAL
from detent.settings import DEFAULT_TENANT, Settings
from detent.steps.actions import RetryLater
from detent.views.entries import entry_document
from tests.callers import commands_of

QUICK = Tuning(poll=0.02, idle_poll=0.05, mail_poll=0.02, park_after=0.2, drain=2.0, orphans=0.1)


@asynccontextmanager
async def engine(url: str = "memory:") -> AsyncIterator[App]:
    async with run_app(Settings(database_url=url), tuning=QUICK, migrate=True) as app:
        yield app


async def begin(app: App, name: str, **body: Any) -> str:
    return show(RUN, (await commands_of(app).starts.start(StartRequest(name, body))).run)


async def ended(app: App, run: str, *, within: float = 60.0) -> dict[str, Any]:
    return await until(app, run, lambda document: document["status"] in TERMINAL, within=within)


async def until(app: App, run: str, is_so: Callable[[dict[str, Any]], Any], *, within: float = 60.0) -> dict[str, Any]:
    """The run's document when that is so."""
    async with asyncio.timeout(within):
        while not is_so(document := as_json(await commands_of(app).runs.get(run))):  # noqa: ASYNC110 - only the store knows
            await asyncio.sleep(0.02)
    return document


@step(inline=True)
def plus(number: int, more: int = 1) -> int:
    return number + more


def times(number: int) -> int:
    return 2 * number


async def half(number: int) -> float:
    await asyncio.sleep(0.001)
    return number / 2


@workflow
async def everything(run: Run, number: int) -> Any:
    one, two = await gather(run.step(plus, number), run.step(times, number))
    three = await run.step(half, number)
    await run.sleep(0.05)
    await run.sleep(0.4)
    answer = await run.wait("approval", timeout="1h")
    paid = await run.signal("paid")
    again = await run.signal("paid")
    inner = await run.child(inside, number)
    return [one, two, three, answer, paid, again, inner]


@workflow
async def inside(run: Run, number: int) -> int:
    await run.sleep(0.3)
    return await run.step(plus, number, 100)


async def test_a_function_does_everything() -> None:
    async with engine() as app:
        run = await begin(app, "everything", number=10)
        await commands_of(app).signals.send(run, "paid", {"sum": 5})
        waiting = await until(app, run, lambda document: document["callbacks"])
        token = waiting["callbacks"][0]["url"].rpartition("/")[2]
        await commands_of(app).callbacks.deliver(token, body={"ok": True}, headers={}, query={}, message_id=None)
        await commands_of(app).signals.send(run, "paid", 6)
        document = await ended(app, run)
        assert document["status"] == "completed", document
        assert document["output"] == [11, 20, 5.0, {"ok": True}, {"sum": 5}, 6, 110]
        [child], _ = await commands_of(app).runs.children((await commands_of(app).runs.row(run)).id, limit=9)
        assert child.status == "completed"


@workflow
async def waits_for_all(run: Run) -> Any:
    await run.step(plus, 1)
    return await gather(
        run.sleep("1d"),
        run.wait("approval", timeout="2d"),
        run.signal("paid"),
        run.child(asleep),
        run.step(fails, retry=9),
    )


@workflow
async def asleep(run: Run) -> None:
    await run.sleep("1d")


@step(inline=True)
def fails() -> None:
    raise RetryLater(5_000, "not now")


async def test_people_see_what_a_function_waits_for() -> None:
    async with engine() as app:
        run = await begin(app, "waits_for_all")
        open_now = {"@sleep", "@wait:approval", "@ask:paid", "@child:asleep", "fails"}
        document = await until(app, run, lambda seen: open_now <= set(seen["tasks"]) and is_parked(seen))
        tasks = document["tasks"]
        assert tasks["waits_for_all"]["status"] == "waiting"
        assert (tasks["plus"]["status"], tasks["plus"]["output"], tasks["plus"]["type"]) == ("success", 2, "step")
        assert (tasks["@sleep"]["status"], "until" in tasks["@sleep"]) == ("sleeping", True)
        assert tasks["@ask:paid"]["status"] == tasks["@wait:approval"]["status"] == "waiting"
        assert tasks["@child:asleep"]["run_id"].startswith("run_")
        assert (tasks["fails"]["status"], tasks["fails"]["attempt"]) == ("scheduled", 2)
        assert tasks["fails"]["error"]["message"] == "not now"
        _, _, reasons = await commands_of(app).runs.why(run)
        assert {"sleep", "callback", "signal", "child", "retry"} <= {str(reason.kind) for reason in reasons}
        assert any((reason.details or {}).get("url", "").startswith("http") for reason in reasons)
        lines = [line.words for entry in await commands_of(app).runs.entries((await commands_of(app).runs.row(run)).id)
                 for line in lines_of(as_json(entry_document(entry)))]  # fmt: skip
        assert [line for line in lines if line.startswith("sleeps 1d")]
        assert "waits for a signal" in lines
        assert "waits for its child" in lines
        assert any(line.startswith("attempt 1 failed, again in") for line in lines)
        await commands_of(app).control.cancel(run)
        child = tasks["@child:asleep"]["run_id"]
        assert (await ended(app, child))["status"] == "cancelled"


def is_parked(document: dict[str, Any]) -> bool:
    return bool(document["tasks"]["waits_for_all"]["status"] == "waiting")


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store, empty."""
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/detent.db"
    return str(request.getfixturevalue("postgres_database"))


@workflow
async def counts_down(run: Run, number: int) -> Any:
    left = await run.step(plus, number, -1)
    if left > 0:
        run.continue_as_new(left)
    return "done"


async def test_a_function_goes_on_as_a_new_run_until_it_is_done(url: str) -> None:
    async with engine(url) as app:
        run = await begin(app, "counts_down", number=3)
        met = []
        while True:
            document = await ended(app, run)
            met.append(document["status"])
            if document["output"] == "done":
                break
            run = document["output"]["continued_as"]
        assert met == ["completed"] * 3
        assert document["origin"]["kind"] == "continued"


@step(inline=True)
def break_down() -> None:
    raise ValueError("broken")


@workflow(on_exception="fail")
async def broken(run: Run) -> None:
    await run.step(break_down)


@workflow
async def has_broken_child(run: Run) -> str:
    try:
        await run.child(broken)
    except ChildFailed as failed:
        return failed.error.message
    return "fine"


@workflow
async def has_unknown_child(run: Run) -> str:
    try:
        await run.child("nobody_knows", {})
    except ChildFailed as failed:
        return failed.error.code
    return "fine"


async def test_a_child_that_fails_or_cannot_be_started_raises(url: str) -> None:
    async with engine(url) as app:
        first, second = await begin(app, "has_broken_child"), await begin(app, "has_unknown_child")
        told = (await ended(app, first))["output"]
        assert "ended as failed" in told
        assert "ValueError: broken" in told
        assert (await ended(app, second))["output"] == "not_found"


GATES: dict[str, asyncio.Event] = {}


async def slow(name: str) -> str:
    GATES[f"{name} began"].set()
    await GATES[f"{name} may end"].wait()
    return name


@workflow
async def two_slow(run: Run) -> list[str]:
    return [await run.step(slow, "first"), await run.step(slow, "second")]


def _gates() -> None:
    GATES.clear()
    for name in ("first", "second"):
        GATES[f"{name} began"], GATES[f"{name} may end"] = asyncio.Event(), asyncio.Event()


async def test_a_paused_function_ends_what_is_in_flight_and_goes_on_when_it_is_resumed(url: str) -> None:
    _gates()
    async with engine(url) as app:
        run = await begin(app, "two_slow")
        await GATES["first began"].wait()
        await commands_of(app).control.pause(run)
        GATES["first may end"].set()
        stood = await until(app, run, lambda seen: seen["tasks"].get("first", seen["tasks"].get("slow")))
        await asyncio.sleep(0.2)
        assert (await commands_of(app).runs.get(run)).status == "paused"
        assert stood["tasks"]["slow"]["status"] == "success"
        assert not GATES["second began"].is_set()
        GATES["second may end"].set()
        await commands_of(app).control.resume(run)
        assert (await ended(app, run))["output"] == ["first", "second"]


async def test_a_function_on_a_node_that_leaves_is_finished_by_another(tmp_path: Path) -> None:
    _gates()
    url = f"sqlite:///{tmp_path}/detent.db"
    async with engine(url) as app:
        run = await begin(app, "two_slow")
        await GATES["first began"].wait()
        leaving = asyncio.ensure_future(app.drain())
        await asyncio.sleep(0.05)
        GATES["first may end"].set()
        await leaving
    assert not GATES["second began"].is_set()
    GATES["second may end"].set()
    GATES["first began"].clear()
    async with engine(url) as app:
        assert (await ended(app, run))["output"] == ["first", "second"]
    assert not GATES["first began"].is_set(), "what was done is not done again"


async def test_a_cancelled_function_ends_at_once(url: str) -> None:
    _gates()
    async with engine(url) as app:
        run = await begin(app, "two_slow")
        await GATES["first began"].wait()
        document = await commands_of(app).control.cancel(run)
        assert document.status == "cancelled"


class Sessions:
    """Stands for the user's transactions: knows when one is open."""

    def __init__(self) -> None:
        self.is_open = False

    def run_once(self, call: Any, generation: int, body: Callable[[Any], bytes]) -> bytes:
        raise NotImplementedError

    async def run_once_async(self, call: Any, generation: int, body: Callable[[Any], Any]) -> bytes:
        assert (call.step, generation) == ("in_transaction", 1)
        self.is_open = True
        try:
            result: bytes = await body("session")
        finally:
            self.is_open = False
        return result


@step(transactional=True)
async def in_transaction(session: str, name: str) -> str:
    return f"{await slow(name)} in {session}"


@workflow
async def transacts(run: Run) -> str:
    return await run.step(in_transaction, "first")


async def test_a_cancel_waits_for_the_end_of_a_transaction() -> None:
    _gates()
    sessions = Sessions()
    async with engine() as app:
        executors: Any = app.engine._executors  # noqa: SLF001 - the user's database is not here
        executors[StepKind.FUNCTION] = FunctionExecutor(clock=SystemClock(), steps=StepRunner(transactions=sessions))
        run = await begin(app, "transacts")
        await GATES["first began"].wait()
        cancelling = asyncio.ensure_future(commands_of(app).control.cancel(run))
        await asyncio.sleep(0.3)
        assert sessions.is_open
        assert (await commands_of(app).runs.get(run)).status == "running"
        GATES["first may end"].set()
        assert (await cancelling).status in ("cancelled", "completed")
        document = await ended(app, run)
        assert document["tasks"]["in_transaction"]["output"] == "first in session"


EFFECTS: list[str] = []


@step(inline=True)
def reserve(what: str) -> str:
    EFFECTS.append(f"reserve {what}")
    return f"{what} is reserved"


@step(inline=True)
def pay(what: str) -> str:
    EFFECTS.append(f"pay {what}")
    if EFFECTS.count(f"pay {what}") == 1:
        raise ValueError("no money yet")
    return f"{what} is paid"


@workflow(on_exception="fail")
async def buys(run: Run, what: str) -> list[Any]:
    reserved = await run.step(reserve, what)
    await run.sleep(0.05)
    answer = await run.wait("approval")
    return [reserved, answer, await run.step(pay, what)]


async def test_a_retry_keeps_what_the_function_had_achieved(url: str) -> None:
    EFFECTS.clear()
    async with engine(url) as app:
        run = await begin(app, "buys", what="cup")
        waiting = await until(app, run, lambda document: document["callbacks"])
        token = waiting["callbacks"][0]["url"].rpartition("/")[2]
        await commands_of(app).callbacks.deliver(token, body="yes", headers={}, query={}, message_id=None)
        assert (await ended(app, run))["status"] == "failed"
        again = show(RUN, (await commands_of(app).reruns.retry(run)).run)
        document = await ended(app, again)
        assert document["output"] == ["cup is reserved", "yes", "cup is paid"]
        assert EFFECTS == ["reserve cup", "pay cup", "pay cup"]
        assert document["origin"] == {"run_id": run, "kind": "retry"}


#: In a function, braces are text.
SHOWN = {"amount": 120, "note": "{{ 1 + }} {{trigger.body}}"}


@workflow
async def asks_people(run: Run, amount: int) -> Any:
    asked = run.approve(
        "expense",
        title=f"Expense of {amount} {{{{",
        data=SHOWN,
        form={"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]},
        quorum=2,
    )
    sent = await run.step(mailed, asked.url)
    decision = await asked
    late = await run.approve("late", title="Too late?", timeout=0.05, on_timeout="reject")
    return [
        sent,
        decision.approved,
        decision.by,
        decision.answer,
        len(decision.decisions),
        late.approved,
        late.timed_out,
    ]


@step(inline=True)
def mailed(url: str) -> bool:
    return "/wh/" in url


async def test_a_function_asks_people_and_goes_on_with_their_decision() -> None:
    async with engine() as app:
        run = await begin(app, "asks_people", amount=120)
        waiting = await until(app, run, lambda document: document["callbacks"])
        await until(app, run, lambda seen: seen["tasks"]["asks_people"]["status"] == "waiting")
        parked = await until(app, run, lambda seen: seen["stage"]["kind"] not in ("running", "queued"))
        assert (parked["stage"]["kind"], parked["stage"]["step"]) == ("person", "@wait:expense")
        view = await commands_of(app).callbacks.view(waiting["callbacks"][0]["url"].rpartition("/")[2])
        assert view is not None
        assert view.ask is not None
        assert (view.ask.title, view.ask.data) == ("Expense of 120 {{", SHOWN)

        async def decide(who: str, body: Any) -> str:
            caller = Caller(DEFAULT_TENANT, who, via="session", principal=Principal(who))
            bound = app.commands.for_caller(caller)
            answer = bound.callbacks.answer(run, "expense", body=body, headers={}, query={}, message_id=None)
            return str((await answer).receipt)

        yes = {"approved": True, "answer": {"reason": "lunch"}}
        with pytest.raises(InvalidInput, match="reason"):
            await decide("bob", {"approved": True})
        assert (await decide("bob", yes), await decide("eve", yes)) == ("counted", "accepted")
        document = await ended(app, run)
        assert document["output"] == [True, True, "eve", {"reason": "lunch"}, 2, False, True], (document, waiting)
        told = document["tasks"]["@wait:expense"]["output"]
        assert (told["approved"], told["by"], told["answer"]) == (True, "eve", {"reason": "lunch"})
        journal = await app.engine.store.journal(DEFAULT_TENANT, parse(RUN, run))
        assert [entry.step for entry in journal if entry.kind == "noted"] == ["@wait:expense"]


async def test_what_a_function_cannot_ask_fails_where_it_asks() -> None:
    async with engine() as app:
        run = await begin(app, "asks_wrongly")
        document = await until(app, run, lambda seen: seen["status"] not in ("running", "pending"))
        assert "one of fail, approve, reject" in str(document), document


@workflow
async def asks_wrongly(run: Run) -> Any:
    return await run.approve("expense", title="x", on_timeout="never")
