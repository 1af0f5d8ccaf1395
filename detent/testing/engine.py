"""An engine in memory that a test controls: it starts runs, moves the clock and reads the runs in between."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack
from typing import Any

from detent.commands import Commands
from detent.embed.request import UNSET
from detent.ids import RUN, show
from detent.instant import micros
from detent.testing.answers import Answers
from detent.testing.clock import FakeClock, Length, seconds_of
from detent.testing.result import Speedrun, ending_of
from detent.testing.speedruns import standing_in, subject_of
from detent.testing.world import World


class MemoryEngine:
    """An engine that does nothing by itself: `start` a run, `advance` the clock, check the run.

    with MemoryEngine() as engine:
        run = engine.start(Signup, hero=user)
        engine.advance(days=2)
        assert run.route == ["welcome", "remind"]
    """

    def __init__(self, clock: FakeClock | None = None, answers: Mapping[str, Any] | None = None) -> None:
        self._world = World(clock or FakeClock(), Answers(answers))
        self._stack = ExitStack()
        self._stack.callback(self._world.close)
        self._is_up = False

    @property
    def clock(self) -> FakeClock:
        return self._world.clock

    def start(
        self,
        workflow: Any,
        *args: Any,
        hero: Any = None,
        input: Any = UNSET,  # noqa: A002 - the word users know
        request_id: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> MemoryRun:
        """Start a run, and run everything that is due now. The arguments are those of `speedrun`."""
        subject = subject_of(workflow, args, hero=hero, given=input)
        self._stack.enter_context(standing_in(hero))

        async def begin() -> bytes:
            await self._boot()
            code = await self._world.ask(subject.save)
            if not code <= self._world.serves:
                self._world.serves |= code
                self._world.leave()
                await self._world.boot()
            request = subject.request(request_id, labels)
            started = await self._world.ask(lambda commands: commands.starts.start(request))
            return started.run

        run = self._world.run(begin())
        self.run_until_idle()
        return MemoryRun(self, run)

    def advance(self, length: Length = 0.0, /, **units: float) -> None:
        """Move the clock, and run everything that is due until then, in order: seconds, "2d", a timedelta, days=2."""
        until = self.clock.wall() + micros(seconds_of(length, **units))
        self._world.run(self._settle(until))
        self.clock.move_to(until)

    def run_until_idle(self) -> None:
        """Run everything that is due now."""
        self.advance()

    def ask(self, question: Callable[[Commands], Coroutine[Any, Any, Any]]) -> Any:
        """Run one of the engine's commands and everything that is due after it. Return the command's answer."""

        async def asked() -> Any:
            await self._boot()
            return await self._world.ask(question)

        answer = self._world.run(asked())
        self.run_until_idle()
        return answer

    def answer(self, run: MemoryRun, name: str, value: Any = None) -> None:
        """Send the callback of a wait. Raise AssertionError if the run does not wait for it."""
        waits = [
            step for _, step, called in self._world.open_waits(run.key) if name in (called, called.partition("#")[0])
        ]
        if not waits:
            open_ = ", ".join(called for _, _, called in self._world.open_waits(run.key)) or "nothing"
            raise AssertionError(f"the run does not wait for {name!r} now; it waits for {open_}")
        self._world.run(self._world.deliver(run.key, waits[0], value))
        self.run_until_idle()

    def signal(self, run: MemoryRun, name: str, data: Any = None) -> None:
        """Send a signal to a durable function."""
        self._world.run(self._world.signal(run.key, name, data))
        self.run_until_idle()

    def crash(self) -> None:
        """Kill the process of the engine with everything in its memory. Another one takes over."""

        async def kill() -> None:
            self._world.kill()

        self._world.run(kill())
        self.run_until_idle()

    def look(self, run: MemoryRun) -> Speedrun:
        """Return the current state of a run."""
        return self._world.run(ending_of(self._world.commands, run.key))

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> MemoryEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def _boot(self) -> None:
        if not self._is_up:
            self._is_up = True
            await self._world.boot()

    async def _settle(self, until: int) -> None:
        await self._boot()
        self._world.commands.nudge()
        await self._world.settle(until)


class MemoryRun:
    """A run of an engine in memory. Each property reads its current state."""

    def __init__(self, engine: MemoryEngine, key: bytes) -> None:
        self._engine, self.key = engine, key

    @property
    def id(self) -> str:
        return show(RUN, self.key)

    @property
    def now(self) -> Speedrun:
        """Return the current state of the run."""
        return self._engine.look(self)

    @property
    def status(self) -> str:
        return self.now.status

    @property
    def output(self) -> Any:
        return self.now.output

    @property
    def error(self) -> str | None:
        return self.now.error

    @property
    def route(self) -> list[str]:
        return self.now.route

    def answer(self, name: str, value: Any = None) -> None:
        """Send the callback of one of its waits."""
        self._engine.answer(self, name, value)

    def signal(self, name: str, data: Any = None) -> None:
        """Send it a signal."""
        self._engine.signal(self, name, data)

    def cancel(self) -> None:
        self._engine.ask(lambda commands: commands.control.cancel(self.id))

    def pause(self) -> None:
        self._engine.ask(lambda commands: commands.control.pause(self.id))

    def resume(self) -> None:
        self._engine.ask(lambda commands: commands.control.resume(self.id))

    def __repr__(self) -> str:
        return repr(self.now)
