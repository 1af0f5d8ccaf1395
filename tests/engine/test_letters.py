"""Dead letters of the engine: a poisoned step and a run that cannot be planned or read leave one each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.engine import runner as running
from detent.run.call import StepCall
from detent.run.outcomes import Outcome
from tests.engine.rig import Rig, done, rig, virtual
from tests.engine.test_suspects import _crash_in_flight


def letters(world: Rig) -> list[Any]:
    return sorted(world.store.dead.values(), key=lambda row: row.id)


@virtual
async def test_a_step_that_is_given_up_as_poison_leaves_one_letter_with_its_payload() -> None:
    async with rig() as world:
        await world.engine(poison_after=2, poison_delay=1.0)
        world.hands.hold("a")
        run = await world.start({"a": {"with": {"order": 17}}})
        await _crash_in_flight(world, "a", 4, poison_after=2, poison_delay=1.0)
        assert await world.ended(run, 400) == "failed"
        [letter] = letters(world)
        assert (letter.kind, letter.run, letter.step, letter.reason, letter.state) == (
            "step",
            run,
            "a",
            "poison",
            "open",
        )
        assert "died 2 times" in letter.message
        assert json.loads(letter.payload)["with"] == {"order": 17}
        assert letter.attempts >= 4


@virtual
async def test_an_adoption_that_gives_up_nothing_leaves_no_letter() -> None:
    async with rig() as world:
        await world.engine()
        gate = world.hands.hold("a")
        run = await world.start({"a": {}})
        await _crash_in_flight(world, "a")
        gate.set()
        assert await world.ended(run, 100) == "completed"
        assert letters(world) == []


@virtual
async def test_a_run_that_cannot_be_planned_leaves_a_letter_in_the_flush_that_pauses_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("the planner\0is broken")

    async with rig() as world:
        await world.engine()

        def breaks(call: StepCall) -> Outcome:
            monkeypatch.setattr(running, "advance", broken)
            return done()

        world.hands.scripts["a"] = breaks
        run = await world.start({"a": {}})
        await world.until(lambda: world.store.table[run].status == "paused")
        [letter] = letters(world)
        assert (letter.kind, letter.run, letter.step, letter.reason) == ("run", run, None, "quarantined")
        assert "ValueError: the planner" in letter.message
        assert "\0" not in letter.message


@virtual
async def test_a_run_that_cannot_be_read_leaves_one_letter_however_often_it_is_claimed() -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start({"nap": {"sleep": "30s"}})
        await world.until(lambda: world.store.table[run].owner is None)
        stored = world.store.table[run]
        stored.new = stored.new._replace(opening=b"not json")
        stored.wake_at = world.clock.wall()
        await world.until(lambda: stored.status == "paused")
        await world.until(lambda: bool(letters(world)))
        [letter] = letters(world)
        assert (letter.kind, letter.run, letter.reason) == ("run", run, "quarantined")
        assert not world.held_by(engine, run)
