"""Whole runs of workflow classes on an engine, on every store."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from detent.errors import NameTaken
from detent.python.classes.workflow import Workflow
from detent.python.decorators import cancel_if, step
from detent.python.flow import reattempt
from detent.python.heroes import Heroes
from detent.python.registry import PythonRegistry
from tests.python.stage import endings, theatre


@dataclass
class Progress:
    sent: list[str] = field(default_factory=list)


@dataclass
class User:
    id: int
    is_active: bool = False


async def test_a_chain_runs_to_its_end_with_its_state_its_waits_and_its_hero(
    store_url: str, code: PythonRegistry, heroes: Heroes
) -> None:
    users = {"7": User(7)}
    heroes.register("User", load=users.get, cls=User)

    class Signup(Workflow, registry=code):
        queue, priority = "onboarding", 5
        hero: User
        state: Progress

        @cancel_if
        def gone(self) -> bool:
            return self.hero.id == 0

        @step
        async def welcome(self) -> str:
            self.state.sent.append("welcome")
            return f"hello {self.hero.id} of {self.input['town']}"

        @step(wait=0.05, skip_if=lambda self: self.hero.is_active)
        def remind(self) -> None:
            self.state.sent.append("remind")

        step("done", lambda self: [self.results["welcome"], self.state.sent], wait="20ms", inline=True)

    async with theatre(store_url, code, heroes) as world:
        await world.engine()
        first = await world.start(Signup, {"town": "Ulm"}, hero=tuple(heroes.ref(users["7"])))
        run = await world.ended(first)
        assert run["status"] == "completed"
        assert endings(run) == {"welcome": "success", "remind": "success", "done": "success"}
        assert run["output"] == ["hello 7 of Ulm", ["welcome", "remind"]]
        assert run["hero"] == {"type": "User", "id": "7"}
        assert run["tasks"]["remind"]["state"] == {"sent": ["welcome", "remind"]}
        users["7"].is_active = True
        run = await world.ended(await world.start(Signup, {"town": "Ulm"}, hero=("User", "7")))
        assert endings(run)["remind"] == "skipped"
        assert run["output"] == ["hello 7 of Ulm", ["welcome"]]


async def test_flow_control_from_inside_steers_the_run(store_url: str, code: PythonRegistry) -> None:
    class Steered(Workflow, registry=code):
        allow_multiple = True

        @step
        def first(self) -> Any:
            verb, times = self.input["verb"], self.input.get("times", 1)
            if self.attempt <= times:
                getattr(self, verb)()
            return self.attempt

        step("second", lambda self: "second", inline=True)

    async with theatre(store_url, code) as world:
        await world.engine()

        async def ends(verb: str, **more: Any) -> dict[str, Any]:
            return await world.ended(await world.start(Steered, {"verb": verb, **more}))

        cancelled = await ends("cancel")
        assert cancelled["status"] == "cancelled"
        assert endings(cancelled) == {"first": "cancelled", "second": "cancelled"}
        skipped = await ends("skip")
        assert (skipped["status"], endings(skipped)) == ("completed", {"first": "skipped", "second": "success"})
        finished = await ends("finish")
        assert (finished["status"], endings(finished)) == ("completed", {"first": "success", "second": "skipped"})
        again = await ends("reattempt", times=3)
        assert (again["status"], again["output"]) == ("completed", "second")
        assert again["tasks"]["first"]["output"] == 4
        run = await world.start(Steered, {"verb": "pause"})
        paused = await world.paused(run)
        assert paused["paused_by"] == "step 'first'"
        await world.commands().control.resume(run)
        assert (await world.ended(run))["tasks"]["first"]["output"] == 2


async def test_an_exception_pauses_with_its_traceback_and_a_resume_tries_again(
    store_url: str, code: PythonRegistry
) -> None:
    broken = [True]

    class Payment(Workflow, registry=code):
        @step
        def charge(self) -> str:
            if broken[0]:
                raise ConnectionError("the gateway is away")
            return "charged"

        @step(on_exception="skip")
        def receipt(self) -> None:
            raise ValueError("no printer")

        step("stock", lambda self: 1 / 0, on_exception="cancel")

    async with theatre(store_url, code) as world:
        await world.engine()
        run = await world.start(Payment)
        paused = await world.paused(run)
        error = paused["tasks"]["charge"]["error"]
        assert error["message"] == "ConnectionError: the gateway is away"
        assert "test_runs.py" in error["detail"]["traceback"]
        assert paused["paused_by"] == "an exception in step 'charge'"
        broken[0] = False
        await world.commands().control.resume(run)
        ended = await world.ended(run)
        assert ended["status"] == "cancelled"
        assert endings(ended) == {"charge": "success", "receipt": "skipped", "stock": "cancelled"}
        assert ended["tasks"]["receipt"]["error"]["message"] == "ValueError: no printer"


async def test_reattempts_are_counted_across_the_run_and_end_in_a_pause(store_url: str, code: PythonRegistry) -> None:
    tries: list[int] = []

    class Payment(Workflow, registry=code):
        @step(on_exception=reattempt(max=3, wait=0.02, factor=1, then="pause"))
        def charge(self) -> None:
            tries.append(self.attempt)
            raise ConnectionError

    async with theatre(store_url, code) as world:
        await world.engine()
        run = await world.start(Payment)
        paused = await world.paused(run)
        assert tries == [1, 2, 3]
        assert [one["attempt"] for one in paused["tasks"]["charge"]["attempts"]][:2] == [1, 2]
        await world.commands().control.cancel(run)
        assert (await world.ended(run))["status"] == "cancelled"


async def test_a_gone_hero_cancels_the_run_before_the_step(store_url: str, code: PythonRegistry) -> None:
    users = {"7": User(7)}
    ran: list[str] = []
    heroes = Heroes()
    heroes.register("User", load=users.get)

    class Reminder(Workflow, registry=code):
        @step
        def first(self) -> None:
            ran.append("first")
            users.clear()

        step("second", lambda self: ran.append("second"))

    class Cleanup(Reminder):
        may_proceed_without_hero = True
        step("third", lambda self: [self.hero, self.hero_id])

    async with theatre(store_url, code, heroes) as world:
        await world.engine()
        ended = await world.ended(await world.start(Reminder, hero=("User", "7")))
        assert (ended["status"], ran) == ("cancelled", ["first"])
        ended = await world.ended(await world.start(Cleanup, hero=("User", "7")))
        assert (ended["status"], ended["output"]) == ("completed", [None, "7"])


@pytest.mark.case("A14")
async def test_a_node_without_the_class_leaves_the_run_alone_and_why_says_what_is_missing(
    store_url: str, code: PythonRegistry
) -> None:
    class Signup(Workflow, registry=code):
        step("welcome", lambda self: "hi", inline=True)

    async with theatre(store_url, code) as world:
        other = await world.engine(PythonRegistry())
        await world.save(code, other)
        run = await world.start(Signup, engine=other)
        await asyncio.sleep(0.3)
        document = await world.run(run)
        assert (document["status"], document["tasks"]["welcome"]["attempts"]) == ("running", [])
        _, _, reasons = await world.commands().runs.why(run)
        assert "has the code it needs: the workflow 'Signup'; " in reasons[0].message
        await world.engine()
        assert (await world.ended(run))["output"] == "hi"


async def test_a_workflow_is_saved_once_and_again_when_it_changed(store_url: str, code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        """Greets people."""

        step("welcome", lambda self: "hi")

    async with theatre(store_url, code) as world:
        engine = await world.engine()
        commands = world.commands()
        row = await commands.workflows.get("Signup")
        assert (row.form, row.version, row.description) == ("python", 1, "Greets people.")
        await world.save(code, engine)
        assert (await commands.workflows.get("Signup")).version == 1
        await commands.workflows.enable("Signup", enabled=False)

        class Changed(Workflow, registry=code):
            name = "Signup"
            step("welcome", lambda self: "hello")

        await world.save(code, engine)
        row = await commands.workflows.get("Signup")
        assert (row.version, row.enabled) == (2, False)
        await commands.workflows.save('{"name": "Mine", "tasks": {"a": {"sleep": 1}}}')

        class Mine(Workflow, registry=code):
            step("a", lambda self: 1)

        with pytest.raises(NameTaken, match="of the form 'steps'"):
            await world.save(code, engine)


async def test_runs_of_many_heroes_go_side_by_side(store_url: str, code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        step("plain", lambda self: self.hero_id)

        @step
        async def awaited(self) -> Any:
            await asyncio.sleep(0)
            return self.results["plain"]

    async with theatre(store_url, code) as world:
        await world.engine()
        runs = [await world.start(Signup, hero=("User", str(number))) for number in range(50)]
        ended = [await world.ended(run) for run in runs]
        assert [run["output"] for run in ended] == [str(number) for number in range(50)]
