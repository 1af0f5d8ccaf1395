"""One run of a test, in a world of its own, as often as it is wanted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from detent.engine.commands import StartOptions
from detent.engine.family import CONTINUED
from detent.errors import InvalidInput
from detent.expressions.nearest import nearest
from detent.ids import RUN, parse, show
from detent.instant import Instant, micros
from detent.run.keys import Op
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
_MOST_RUNS: Final = 1_000
_CONTINUED_AS: Final = "continued_as"
_NOT_THE_SAME: Final = (
    "not the same in a replay: is a clock, a random number or something else from outside between the steps? "
    "use run.now(), run.random(), run.uuid() or a step"
)


class NeverEnds(AssertionError):
    """A run waits for something that will not come."""


class NotTheSame(AssertionError):
    """A durable function took another way when it was replayed."""


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
        follow: bool = True,
    ) -> None:
        self._follows = follow
        self._subject, self._answers, self._state = subject, answers, state
        if state is not None:
            check_state(subject.name, state)
        self._at = at or FakeClock().now()
        self._longest = micros(seconds_of(max_wait))
        self._saved: dict[bytes, StoredWorkflow] | None = None
        self._code: set[str] = set()

    def run(self, prepare: Callable[[World], None] = lambda world: None) -> Speedrun:
        """Live through it."""
        saved = self._saved_once()
        world = World(FakeClock(self._at), self._answers)
        world.initial_state, world.is_strict, world.serves = self._state, True, self._code
        world.store.saved = {
            id_: replace(workflow, versions=dict(workflow.versions)) for id_, workflow in saved.items()
        }
        world.stage.is_beyond = lambda run: not self._follows and _takes_over(world, run)
        try:
            ending = world.run(self._live(world, prepare))
        finally:
            world.close()
        if world.stage.forgotten:
            what = ", ".join(world.stage.forgotten)
            warnings.warn(f"{ending.workflow} ended without awaiting {what}: an `await` is missing", stacklevel=3)
        return ending

    async def _live(self, world: World, prepare: Callable[[World], None]) -> Speedrun:
        await world.boot()
        prepare(world)
        subject = self._subject
        options = StartOptions(request_id=_REQUEST, hero=subject.hero, trigger="manual")
        started = await world.ask(lambda commands: commands.start(subject.name, subject.given, options))
        world.is_stuck = lambda parked: self._is_forgotten(world, parked)
        until, run = world.clock.wall() + self._longest, started.run
        endings = [await self._end(world, run, until)]
        while self._follows and (follower := _continued_as(endings[-1])) is not None:
            if len(endings) == _MOST_RUNS:
                raise NeverEnds(f"the run went on as a new one {_MOST_RUNS} times.\n{endings[-1]!r}")
            endings.append(await self._end(world, follower, until))
        return _joined(endings)

    async def _end(self, world: World, run: bytes, until: Instant) -> Speedrun:
        """How one run ends, or NeverEnds; NotTheSame if a replay of it took another way."""
        store = world.store
        await world.settle(until, lambda: store.open_run(run) is None)
        ending = await ending_of(world.commands, run)
        drift = next((past.error for past in ending.history if past.error and past.error.code == "drift"), None)
        if drift is not None:
            raise NotTheSame(f"{_NOT_THE_SAME}\n  {drift.message}\n{ending!r}")
        if store.open_run(run) is not None and ending.status != Status.PAUSED:
            raise NeverEnds(await self._complaint(world, run, ending))
        return ending

    def _saved_once(self) -> dict[bytes, StoredWorkflow]:
        """The workflows, saved in a world of their own, so that all those after it are the same."""
        if self._saved is None:
            world = World(FakeClock(self._at))
            try:
                world.run(self._save(world))
            finally:
                world.close()
            self._saved = world.store.saved
        return self._saved

    async def _save(self, world: World) -> None:
        await world.boot()
        self._code = await self._subject.save(world.commands)
        self._check_answers(world)

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
        waits = [*world.open_waits(parked.new.id), *world.open_signals(parked.new.id)]
        return any(self._answers.silence(key) is None for _, key, _ in waits)

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


def _takes_over(world: World, run: bytes) -> bool:
    """Whether a run is what the one that is tested goes on as. What its children go on as serves it."""
    row = world.store.table.get(run)
    return row is not None and row.new.origin_kind == CONTINUED and row.new.parent is None


def _continued_as(ending: Speedrun) -> bytes | None:
    """The run that a durable function went on as, if it did."""
    if ending.status != Status.COMPLETED or not any(past.step == Op.CONTINUE for past in ending.history):
        return None
    return parse(RUN, ending.output[_CONTINUED_AS])


def _joined(endings: list[Speedrun]) -> Speedrun:
    """A run and those it went on as, as one: it ends as the last does."""
    return replace(
        endings[-1],
        steps=tuple(step for one in endings for step in one.steps),
        history=tuple(past for one in endings for past in one.history),
        slept=sum((one.slept for one in endings), timedelta()),
    )


def _awaited(world: World, run: bytes) -> list[str]:
    """The names of what a run waits for from outside."""
    return [*(name for _, _, name in world.open_waits(run)), *(name for _, _, name in world.open_signals(run))]
