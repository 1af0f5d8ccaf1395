"""`crash_matrix`: the same run once for every moment at which its process could die.

    report = crash_matrix(Signup, hero=user, answers={"approval": {"ok": True}})
    assert report.ran_twice == {"welcome": 1}

The run is first run once to learn its moments: before and after every checkpoint (a flush that writes to the journal)
and before and after every effect (the body of a step). Then it is run again for each moment, and its process is killed
there with everything in its memory. Another node takes over from the store. The end must be the same.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from detent.clock import SystemClock
from detent.embed.request import UNSET
from detent.run.status import Status
from detent.store.rows import Flush
from detent.testing.answers import Answers
from detent.testing.clock import Length
from detent.testing.result import Speedrun
from detent.testing.speedruns import LONGEST_WAIT, Trial, standing_in, subject_of
from detent.testing.world import World


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """One moment at which the process was killed, and the steps whose bodies ran again because of it."""

    name: str
    ran_again: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class CrashMatrix:
    """The report of a crash matrix. Every run ended like `ending`.

    `ran_twice` counts, by step, the kills after which the body of the step ran again.
    """

    ending: Speedrun
    points: tuple[CrashPoint, ...]
    seconds: float

    @property
    def kills(self) -> int:
        return len(self.points)

    @property
    def ran_twice(self) -> dict[str, int]:
        return dict(Counter(step for point in self.points for step in point.ran_again))

    def __repr__(self) -> str:
        twice, ending = self.ran_twice, self.ending
        head = f"<{ending.workflow}: {self.kills} kills, {ending.status} each time, {self.seconds:.2f} s>"
        if not twice:
            return f"{head}\n  no step ran twice"
        width = max(map(len, twice))
        rows = []
        for step, times in twice.items():
            first = next(point.name for point in self.points if step in point.ran_again)
            rows.append(f"  {step:<{width}}  ran twice at {times} of them, such as {first}")
        return "\n".join([head, *rows])


def crash_matrix(
    workflow: Any,
    *args: Any,
    hero: Any = None,
    input: Any = UNSET,  # noqa: A002 - the word users know
    answers: Mapping[str, Any] | None = None,
    state: Any = None,
    at: datetime | None = None,
    max_wait: Length = LONGEST_WAIT,
    setup: Callable[[], object] | None = None,
    same: Callable[[Speedrun], Any] | None = None,
    ending: str = Status.COMPLETED,
) -> CrashMatrix:
    """Kill a run at each of its moments. Raise AssertionError with the moment after which its end differs.

    The arguments are those of `speedrun`. `setup` is called before each run, to reset what the steps change outside.
    `same` returns what must be equal each time; by default the status, the output and how each step ended. `ending` is
    the expected status; pass it for a run that should not complete.
    """
    subject, begun = subject_of(workflow, args, hero=hero, given=input), SystemClock().monotonic()
    with standing_in(hero):
        trial = Trial(subject, Answers(answers), at=at, max_wait=max_wait, state=state)
        matrix = _Matrix(trial, setup or (lambda: None), same or end_of)
        learnt = matrix.learn()
        if learnt.status != ending:
            hint = f"; if that is expected, pass ending={str(learnt.status)!r}"
            raise AssertionError(f"undisturbed, the run is {learnt.status}, not {ending}{hint}\n{learnt!r}")
        with _tidied() as tidy:
            points = tuple(tidy(matrix.kill_at(index)) for index in range(len(matrix.names)))
    return CrashMatrix(learnt, points, SystemClock().monotonic() - begun)


@contextmanager
def _tidied() -> Iterator[Callable[[CrashPoint], CrashPoint]]:
    """Collect only new garbage, after each run.

    A world leaves reference cycles behind. A full collection over everything that a test has loaded would take longer
    than the run.
    """

    def tidy(point: CrashPoint) -> CrashPoint:
        gc.collect(0)
        return point

    was_on = gc.isenabled()
    gc.disable()
    try:
        yield tidy
    finally:
        if was_on:
            gc.enable()


def end_of(run: Speedrun) -> Any:
    """Return what must not depend on crashes. The route is sorted, because parallel steps may end in any order."""
    return run.status, run.output, sorted(run.route)


class _Matrix:
    """Runs a trial once to learn its moments, then once per moment."""

    def __init__(self, trial: Trial, setup: Callable[[], object], same: Callable[[Speedrun], Any]) -> None:
        self._trial, self._setup, self._same = trial, setup, same
        self.names: list[str] = []
        self._expected: Any = None
        self._ran: Counter[str] = Counter()

    def learn(self) -> Speedrun:
        """Run the trial without a kill, learn its moments and return its end."""
        moments = _Moments(None)
        self._setup()
        ending = self._trial.run(moments.watch)
        self.names, self._ran, self._expected = moments.names, moments.ran, self._same(ending)
        return ending

    def kill_at(self, index: int) -> CrashPoint:
        """Run the trial and kill it at that moment. Raise AssertionError if its end differs."""
        moments = _Moments(index)
        self._setup()
        try:
            ending = self._trial.run(moments.watch)
        except Exception as error:
            raise AssertionError(f"killed {self.names[index]}, the run does not end: {error}") from error
        if not moments.is_over:
            raise AssertionError(
                f"the run did not reach the moment {self.names[index]} again: it does not do the same each time"
            )
        found = self._same(ending)
        if found != self._expected:
            raise AssertionError(
                f"killed {moments.names[index]}, the end of the run differs\n"
                f"  expected: {self._expected!r}\n  found:    {found!r}\n{ending!r}"
            )
        return CrashPoint(moments.names[index], tuple((moments.ran - self._ran).keys()))


class _Moments:
    """Records the moments of one trial run, and kills its process at one of them."""

    def __init__(self, deadly: int | None) -> None:
        self._deadly = deadly
        self.names: list[str] = []
        self.ran: Counter[str] = Counter()
        self.is_over = False

    def watch(self, world: World) -> None:
        world.store.checkpoint = lambda when, flush: self._pass(world, f"{when} checkpoint {_describe(flush)}")
        world.stage.effect = lambda when, step: self._pass(world, f"{when} the effect of {step!r}")
        self.ran = world.stage.ran

    def _pass(self, world: World, name: str) -> None:
        if self.is_over:
            return
        self.names.append(name)
        if len(self.names) - 1 == self._deadly:
            self.is_over = True
            world.kill()


def _describe(flush: Flush) -> str:
    words = ["start"] if flush.starts else []
    words += [" ".join(filter(None, (entry.step, entry.outcome or entry.kind))) for entry in flush.entries]
    words += ["end"] if flush.ends else []
    return f"({', '.join(words)})"
