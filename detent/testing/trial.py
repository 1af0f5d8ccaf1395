"""One run of a test, in a world of its own, as often as it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from detent.engine.commands import Given, StartOptions
from detent.errors import InvalidInput
from detent.expressions.nearest import nearest
from detent.ids import RUN, show
from detent.instant import micros
from detent.run.status import Status
from detent.store.memory_tables import StoredRun, StoredWorkflow
from detent.testing.answers import Answers
from detent.testing.clock import FakeClock, Length, seconds_of
from detent.testing.ending import Speedrun, ending_of
from detent.testing.python_stage import check_state
from detent.testing.subject import Subject
from detent.testing.world import World

LONGEST_WAIT: Final = timedelta(days=3650)
_REQUEST: Final = "test"


class NeverEnds(AssertionError):
    """A run waits for something that will not come."""


class Trial:
    """A subject, and what is said to it. Every `run` of it is the same but for what `prepare` does to its world."""

    def __init__(
        self,
        subject: Subject,
        answers: Answers,
        *,
        at: datetime | None = None,
        max_wait: Length = LONGEST_WAIT,
        state: Any = None,
    ) -> None:
        self._subject, self._answers, self._state = subject, answers, state
        if state is not None:
            check_state(subject.name, state)
        self._at = at or FakeClock().now()
        self._longest = micros(seconds_of(max_wait))
        self._saved: dict[bytes, StoredWorkflow] | None = None
        self._code: set[str] = set()

    def run(self, prepare: Callable[[World], None] = lambda world: None) -> Speedrun:
        """Live through it."""
        world = World(FakeClock(self._at), self._answers)
        world.initial_state = self._state
        try:
            return world.run(self._live(world, prepare))
        finally:
            world.close()

    async def _live(self, world: World, prepare: Callable[[World], None]) -> Speedrun:
        await self._save(world)
        await world.boot()
        prepare(world)
        subject = self._subject
        options = StartOptions(request_id=_REQUEST, hero=subject.hero, trigger="manual")
        started = await world.ask(lambda commands: commands.start(subject.name, Given(subject.body), options))
        run, store = started.run, world.store
        world.is_stuck = lambda parked: self._is_forgotten(world, parked)
        await world.settle(world.clock.wall() + self._longest, lambda: store.open_run(run) is None)
        ending = await ending_of(world.commands, run)
        if store.open_run(run) is not None and ending.status != Status.PAUSED:
            raise NeverEnds(await self._complaint(world, run, ending))
        return ending

    async def _save(self, world: World) -> None:
        """Save the workflows; the second world gets what the first one had."""
        if self._saved is None:
            await world.boot()
            self._code = await self._subject.save(world.commands)
            self._check_answers(world)
            self._saved, world.serves = world.store.saved, self._code
            world.leave()
        world.serves = self._code
        world.store.saved = {
            id_: replace(workflow, versions=dict(workflow.versions)) for id_, workflow in self._saved.items()
        }

    def _check_answers(self, world: World) -> None:
        """Refuse answers to steps that a definition does not have: they would never be given."""
        if self._subject.definition is None:
            return
        known = world.step_names(self._subject.name)
        for name in self._answers.names():
            if name not in known:
                near = nearest(name, known)
                hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(known)}"
                raise InvalidInput(f"answers: {self._subject.name!r} has no step {name!r}{hint}")

    def _is_forgotten(self, world: World, parked: StoredRun) -> bool:
        """Whether nothing but the end of its time is ahead of a run that waits for a callback nobody gives."""
        if parked.wake_at is None or parked.wake_at != parked.new.expires_at:
            return False
        return any(not self._answers.is_silence(name) for name in _awaited(world, parked.new.id))

    async def _complaint(self, world: World, run: bytes, ending: Speedrun) -> str:
        _, _, reasons = await world.commands.why(show(RUN, run))
        told = "\n".join(f"  {reason.message}" for reason in reasons)
        waits = _awaited(world, run)
        limit = timedelta(microseconds=self._longest)
        hint = f"\nGive max_wait= more than {limit}"
        if waits:
            given = ", ".join(f"{name!r}: ..." for name in waits)
            hint = f"\nSay what it gets: answers={{{given}}}, or TimeoutError for no answer within its time"
        return f"the run does not end.\n{told}{hint}\n{ending!r}"


def _awaited(world: World, run: bytes) -> list[str]:
    """The names of what a run waits for from outside."""
    return [*(name for _, _, name in world.open_waits(run)), *world.open_signals(run).values()]
