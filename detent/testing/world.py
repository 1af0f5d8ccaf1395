"""A memory store and a node on it, with a clock that jumps from one event to the next.

The real engine runs here. A world adds only time: when the loop is idle, the clock moves to the moment that the next
run waits for. Every run that waits is parked, so after each wait the run is read from its journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from detent.auth.caller import local_caller
from detent.commands import Commands, EngineCommands
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.tuning import Tuning
from detent.errors import DetentError
from detent.graph import codec
from detent.ids import RUN, show
from detent.instant import SECOND, Instant
from detent.run.call import Op, name_of, wait_name
from detent.run.journal import Kind, family_in
from detent.settings import Settings
from detent.steps.actions import registry
from detent.steps.links import Reservations
from detent.store.memory.tables import StoredRun
from detent.store.rows import CallbackState, MessageKind
from detent.testing.answers import Answers, CallPlace, Response, StepRequest, plain, value_of
from detent.testing.clock import NO_ID, FakeClock, FakeLoop, Life, outside_of_loops
from detent.testing.errors import AnswerRefused
from detent.testing.executors import executors
from detent.testing.ids import Ids
from detent.testing.stage import Stage, is_dead
from detent.testing.store import WatchedStore
from detent.vault.sealing import KEY_BYTES, Vault
from detent.vault.secrets import OpenSecret, SecretOpener

T = TypeVar("T")

_YEARS: Final = 100 * 366 * 86_400.0
#: The node never polls, parks a run on every wait, and has its lease until the world ends it.
TUNING: Final = Tuning(
    lease=_YEARS,
    beat=_YEARS,
    margin=1.0,
    poll=_YEARS,
    idle_poll=_YEARS,
    mail_poll=_YEARS,
    watch=_YEARS,
    park_after=1e-6,
    horizon=0.0,
)
_SETTINGS: Final = Settings()
_CALLER: Final = local_caller("test")


class NamedSecrets(SecretOpener):
    """Opens every secret, as the text `{{secrets.NAME}}`. Results of sensitive steps are sealed with a known key."""

    def __init__(self) -> None:
        super().__init__(Vault([bytes(KEY_BYTES)]))

    async def open(self, tenant: int, names: Iterable[str]) -> dict[str, OpenSecret]:
        return {name: self.open_now(tenant, name) for name in names}

    def open_now(self, tenant: int, name: str) -> OpenSecret:
        return OpenSecret(name, f"{{{{secrets.{name}}}}}")


class World:
    """A store, a fake clock, an event loop and one node at a time.

    Use it from outside of its loop: `run` a coroutine in it, and `close` it at the end.
    """

    def __init__(self, clock: FakeClock | None = None, answers: Answers | None = None) -> None:
        self.clock = clock or FakeClock()
        self.loop = FakeLoop(self.clock)
        self.loop.when_idle = self._when_idle
        self.store = WatchedStore(self.clock)
        self.store.is_dead = is_dead
        self.answers = answers or Answers()
        self.stage = Stage(self.loop, self.answers)
        self.stage.place_of = lambda call: self._place_of(call.run_id, call.step)
        self._began = self.clock.wall()
        self.stage.time_left = lambda key: max(0, self._due(key) - self.clock.wall()) / SECOND
        self.tokens = CallbackTokens("a key for tests", "http://detent.test")
        self.serves: set[str] = set()
        self.initial_state: Any = None
        self.is_strict = False  # whether durable functions must do the same in every replay
        self.is_stuck: Callable[[StoredRun], bool] = lambda run: False
        self.lives = 0
        self._ids = Ids(self.store.has_id)
        self._life: Life | None = None
        self._engines: list[Engine] = []
        self._executors: list[Any] = []
        self._asking = 0
        self._answered: set[tuple[bytes, str]] = set()
        self._tried: set[tuple[bytes, int, int]] = set()
        self._mail_seen = 0
        self._horizon: Instant = 0
        self._is_enough: Callable[[], bool] = lambda: False
        self._settled: asyncio.Future[None] | None = None

    # -- from outside

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in this world and return its result."""
        with outside_of_loops():
            return self.loop.run_until_complete(work)

    def close(self) -> None:
        """Close the world and end all its work."""
        if self.loop.is_closed():
            return
        if self._life is not None:
            self.loop.bury(self._life)
        with outside_of_loops():
            self.loop.run_until_complete(self._close_all())
            self.loop.close()

    async def _close_all(self) -> None:
        for executor in self._executors:
            await executor.close()
        await self.loop.shutdown_asyncgens()
        self.loop.end_all()
        self.stage.end_all()

    # -- nodes

    def new_id(self) -> bytes:
        """Return an id for the engine: for a node that boots, and after that for everything the node creates."""
        return self._ids.of_node() if self._life is None else self._ids.new()

    async def boot(self) -> None:
        """Start a new process with a new node."""
        self.lives += 1
        life = Life()
        secrets = NamedSecrets()
        made = executors(
            self.stage,
            _SETTINGS,
            self.clock,
            self.initial_state,
            self.store.results,
            reservations=Reservations(self.store),
            secrets=secrets,
            strict=self.is_strict,
        )
        engine = Engine(
            self.store,
            clock=self.clock,
            tokens=self.tokens,
            executors=made,
            serves={*registry.names(), *self.serves},
            tuning=TUNING,
            new_id=self.new_id,
            secrets=secrets,
        )
        self._executors += made.values()
        await self.loop.create_task(engine.start(), context=life.context.copy())
        self._life = life
        self._engines.append(engine)
        self.commands = EngineCommands(engine).for_caller(_CALLER)

    def kill(self) -> None:
        """Kill the process with everything in its memory, and start another one."""
        assert self._life is not None
        self.store.end_lease(self._engines[-1].node.id)
        self._ids.died()
        self.loop.bury(self._life)
        over, self._life = self._life.over, None
        booting = self.loop.create_task(self.boot(), context=NO_ID.copy())
        booting.add_done_callback(lambda done: over.set_result(None), context=NO_ID)

    def leave(self) -> None:
        """End the current process without starting another one."""
        assert self._life is not None
        self.loop.bury(self._life)
        self.store.nodes.clear()
        self.store.leases.clear()
        self._life = None

    def step_names(self, workflow: str) -> list[str]:
        """Return the steps of a saved workflow."""
        saved = next(saved for saved in self.store.saved.values() if saved.new.name == workflow)
        return [step.name for step in codec.decode(saved.new.graph).steps]

    async def ask(self, question: Callable[[Commands], Coroutine[Any, Any, T]]) -> T:
        """Send a command to the current node, and again to the next node if it dies before it answers."""
        self._asking += 1
        try:
            while True:
                life = self._life
                if life is None:
                    await asyncio.sleep(0)
                    continue
                answer: asyncio.Task[T] = self.loop.create_task(question(self.commands), context=life.context.copy())
                either: list[asyncio.Future[Any]] = [answer, life.over]
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if answer.done():
                    return answer.result()
        finally:
            self._asking -= 1

    def _place_of(self, run: bytes, step: str) -> CallPlace:
        """Return the step that a call is made for. A call of a page of a map is made for an item of the map."""
        row = self.store.table.get(run)
        if row is None:
            return CallPlace("", step)
        name, family = self.store.saved[row.new.workflow].new.name, family_in(row.new.opening)
        if family is None or family.page is None:
            return CallPlace(name, step, None, family is None)
        above = self.store.table.get(row.new.parent or b"")
        is_first = above is None or above.new.parent is None
        return CallPlace(name, family.page.step, family.page.first + int(step[1:]), is_first)

    # -- time

    async def settle(self, until: Instant, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Run everything that is due up to that time, or until `is_enough` returns True."""
        self._horizon, self._is_enough = until, is_enough
        self._settled = self.loop.create_future()
        await self._settled

    def _when_idle(self) -> None:
        try:
            if self._is_moved():
                return
        except Exception as error:  # an answer of the test raised it: raise it where the test waits
            if self._settled is None or self._settled.done():
                raise
            self._settled.set_exception(error)
            return
        if self._settled is None or self._settled.done():
            raise RuntimeError("nothing is left to happen")
        self._settled.set_result(None)

    def _is_moved(self) -> bool:
        """Trigger the next event. Return False if there is none before the horizon."""
        if self._is_enough() or self._life is None:
            return False
        if self._send_answer() or self._look_at_mail():
            return True
        timer, parked, answer = self._next_timer(), self._next_parked(), self._next_answer()
        others = [time for time in (timer, parked and parked[2]) if time is not None]
        if answer is not None and answer <= min([self._horizon, *others]):
            self.clock.move_to(answer)
            return True
        if timer is not None and (parked is None or timer < parked[2]) and (timer <= self._horizon or self._asking):
            self.clock.move_to(timer)
            return True
        if parked is None or parked[2] > self._horizon:
            return False
        self._tried.add(parked)
        self.clock.move_to(parked[2])
        self.commands.nudge()
        return True

    def _next_timer(self) -> Instant | None:
        """Return when work in flight continues, or None. Without work in flight the engine's timers do not matter."""
        timer = self.loop.next_timer() if self.loop.effects or self._asking else None
        return None if timer is None else self.clock.wall() + int((timer - self.clock.monotonic()) * SECOND) + 1

    def _next_parked(self) -> tuple[bytes, int, Instant] | None:
        """Return the parked run that is due next, with its generation and time, or None.

        A run that no node claimed when it was due is not returned again.
        """
        places = [
            (run.new.id, run.generation, run.wake_at or 0) for run in self.store.parked() if not self.is_stuck(run)
        ]
        return min((place for place in places if place not in self._tried), key=lambda place: place[2], default=None)

    def _look_at_mail(self) -> bool:
        if not self.store.inbox or self._mail_seen == self.store.last_mail:
            return False
        self._mail_seen = self.store.last_mail
        self.commands.nudge()
        return True

    # -- answers

    def _send_answer(self) -> bool:
        for run, step, _ in self.open_waits():
            if self._is_to_be_answered(run, step):
                key = self.answer_key(run, step)
                answer = value_of(self.answers.of(StepRequest(self.answers.name_for(key) or key)))
                sending = self.loop.create_task(self.deliver(run, step, answer), context=NO_ID.copy())
                sending.add_done_callback(partial(self._was_sent, key), context=NO_ID)
                return True
        for run, key, _ in self.open_signals():
            if self._is_to_be_answered(run, key):
                data = value_of(self.answers.of(StepRequest(self.answers.name_for(key) or key)))
                self.loop.create_task(self.signal(run, name_of(key), data), context=NO_ID.copy())
                return True
        return False

    def _was_sent(self, key: str, sending: asyncio.Task[None]) -> None:
        """Raise the refusal of an answer where the test waits."""
        error = None if sending.cancelled() else sending.exception()
        if isinstance(error, DetentError):
            error = AnswerRefused(self.answers.name_for(key) or key, error.message)
        if error is not None and self._settled is not None and not self._settled.done():
            self._settled.set_exception(error)

    def _is_to_be_answered(self, run: bytes, key: str) -> bool:
        """Return whether an answer is due and was not sent yet, and mark it as sent."""
        if not self._has_answer(run, key) or self._due(self.answer_key(run, key)) > self.clock.wall():
            return False
        self._answered.add((run, key))
        return True

    def _has_answer(self, run: bytes, key: str) -> bool:
        asked = self.answer_key(run, key)
        return (run, key) not in self._answered and asked in self.answers and self.answers.silence(asked) is None

    def answer_key(self, run: bytes, key: str) -> str:
        """Return the key under which a wait or a signal of a run is answered."""
        return key if key.startswith("@") else self.answers.key_for(self._place_of(run, key))

    def _due(self, key: str) -> Instant:
        return self._began + self.answers.after(key)

    def _next_answer(self) -> Instant | None:
        """Return when the next answer is due, or None."""
        waits = [*self.open_waits(), *self.open_signals()]
        times = (self._due(self.answer_key(run, key)) for run, key, _ in waits if self._has_answer(run, key))
        return min(times, default=None)

    def open_waits(self, of: bytes | None = None) -> list[tuple[bytes, str, str]]:
        """Return run, step and name of the callbacks that are active now. The name includes its number."""
        return [
            (run, step, wait_name(step))
            for (run, step), callback in self.store.waits.items()
            if callback.state is CallbackState.ACTIVE and of in (None, run)
        ]

    def open_signals(self, of: bytes | None = None) -> list[tuple[bytes, str, str]]:
        """Return run, key and name of the signals that durable functions wait for.

        Key and name include the number of the call that waits.
        """
        return [
            (run, key.replace(Op.ASK, Op.SIGNAL, 1), key.partition(":")[2])
            for (run, key), pending in self.stage.signals.items()
            if of in (None, run)
            and self.store.open_run(run) is not None
            and (pending.cancelled() or not pending.done())  # parking a run cancels it, too
            and self._is_begun(run, key)
        ]

    def _is_begun(self, run: bytes, key: str) -> bool:
        kinds = [entry.kind for entry in self.store.entries[run].values() if entry.step == key]
        return Kind.BEGAN in kinds and Kind.CHECKPOINT not in kinds

    async def signal(self, run: bytes, name: str, data: Any) -> None:
        """Send a signal to a durable function."""
        message = msgspec.json.encode({"name": name, "data": plain(data)})
        await self.store.send(_CALLER.tenant, run, MessageKind.SIGNAL, message)

    async def deliver(self, run: bytes, step: str, answer: Any) -> None:
        """Send the callback of a wait."""
        response = answer if isinstance(answer, Response) else Response(answer)
        name, body = show(RUN, run), plain(response.body)
        await self.ask(
            lambda commands: commands.callbacks.answer(
                name, step, body=body, headers=response.headers, query=response.query, message_id=name
            )
        )
