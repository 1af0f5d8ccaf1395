"""`speedrun`: run a workflow from its start to its end, at once.

    run = speedrun(Signup, hero=user, answers={"approval": {"ok": True}})
    assert run.route == ["welcome", "remind:skipped", "complete"]

The real engine runs, on a memory store with a fake clock: sleeps of days take no time. While a run waits it is parked.
After that it is read again from its journal, and its hero is loaded again.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

from detent.commands import Commands
from detent.embed.request import UNSET, build_start, named, plain
from detent.errors import InvalidDefinition, InvalidInput, NotFound
from detent.ids import RUN, show
from detent.instant import Instant, micros
from detent.python.heroes import HeroRef, heroes
from detent.python.registry import CodeKind, registry
from detent.run.start import StartRequest
from detent.run.status import Status
from detent.steps.actions import is_core
from detent.store.memory.tables import StoredRun, StoredWorkflow
from detent.store.rows import CONTINUED
from detent.testing.answers import Answers, Response
from detent.testing.clock import FakeClock, Length, seconds_of
from detent.testing.errors import NeverEnds, NotDeterministic
from detent.testing.python_stage import check_state
from detent.testing.result import Speedrun, ending_of
from detent.testing.world import World
from detent.values.nearest import nearest

# The subject of a test: a workflow in any form, its input and its hero.


_FILES: Final = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Definition:
    """The text of a workflow definition."""

    text: str
    filename: str | None = None


@dataclass(slots=True)
class Subject:
    """The workflow under test, with its input and hero. The `name` of a definition is set when it is saved."""

    name: str
    body: Any
    hero: tuple[str, str] | None
    definition: Definition | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    children: Sequence[Definition] = ()  # of the workflows that its steps start

    def request(self, request_id: str | None, labels: Mapping[str, str] | None = None) -> StartRequest:
        """Return the request that starts its run."""
        return StartRequest(
            self.name,
            self.body,
            hero=self.hero,
            labels=labels or {},
            headers=self.headers,
            query=self.query,
            request_id=request_id,
            trigger="manual",
        )

    async def save(self, commands: Commands) -> set[str]:
        """Save it and every Python workflow it could start. Return the code that a node needs to run them."""
        code: set[str] = set()
        for one in registry.all():
            await commands.workflows.save_python(one.compiled, one.source)
            code.update(one.compiled.code)
        for child in self.children:
            _, needed = await self._save_definition(commands, child)
            code.update(needed)
        if self.definition is not None:
            self.name, needed = await self._save_definition(commands, self.definition)
            code.update(needed)
        return code

    async def _save_definition(self, commands: Commands, given: Definition) -> tuple[str, list[str]]:
        try:
            row, _, compiled = await commands.workflows.save(given.text, filename=given.filename, replace=True)
        except InvalidDefinition as error:
            for problem in error.problems:
                error.add_note(f"  {problem}")
            raise
        return row.name, [name for name in compiled.code if not is_core(name)]


def subject_of(workflow: Any, args: tuple[Any, ...], *, hero: Any, given: Any) -> Subject:
    """Build the subject from the arguments of a test. Raise InvalidInput. `given` is UNSET without an input."""
    definition = _definition(workflow)
    known = named(workflow)[1] if definition is None else None
    if (known is None or known.kind is CodeKind.CHAIN) and len(args) == 1 and given is UNSET:
        given, args = args[0], ()
    pair = None if hero is None else ref_of(hero)
    if definition is None:
        order = build_start(workflow, args, {}, hero=pair, input=given)
        return Subject(order.workflow, order.body, order.hero)
    if args:
        raise InvalidInput("a definition takes one input and no other arguments")
    if isinstance(given, Response):
        return Subject("", plain(given.body), pair, definition, given.headers, given.query)
    return Subject("", plain({} if given is UNSET else given), pair, definition)


def _definition(workflow: Any) -> Definition | None:
    """Return the text of a definition, or None for code. Raise NotFound for an unknown name."""
    match workflow:
        case Mapping():
            return Definition(json.dumps(workflow))
        case bytes():
            return Definition(workflow.decode())
        case PurePath():
            return _read(Path(workflow))
        case str() if "\n" in workflow or workflow.lstrip().startswith("{"):
            return Definition(workflow)
        case str() if workflow.endswith(_FILES):
            return _read(Path(workflow))
        case str() if named(workflow)[1] is None:
            known = ", ".join(registry.names()) or "none: import the module that defines it"
            raise NotFound(f"there is no workflow {workflow!r} here; there are {known}")
    return None


def _read(path: Path) -> Definition:
    try:
        return Definition(path.read_text(), path.name)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None


# -- heroes


def ref_of(hero: Any) -> HeroRef:
    """Return the type and id of any object. The type of an unregistered object is the name of its class."""
    try:
        return heroes.ref(hero)
    except InvalidInput:
        if isinstance(hero, tuple) or not _is_plain(hero):
            raise
        id_ = next((found for name in ("id", "pk") if (found := getattr(hero, name, None)) is not None), 1)
        return HeroRef(type(hero).__name__, str(id_))


def _is_plain(hero: Any) -> bool:
    """Return whether it is an object of a class, and not a builtin value such as a text."""
    return type(hero).__module__ != "builtins"


@contextmanager
def standing_in(hero: Any) -> Iterator[None]:
    """Load this object as the hero if its type has no loader. A Django object is refreshed first."""
    if hero is None or isinstance(hero, tuple):
        yield
        return
    ref = ref_of(hero)
    loader = heroes.find_loader(ref.type)
    with ExitStack() as stack:
        if loader is None:
            loader = _StandIns()
            stack.enter_context(heroes.scoped())
            heroes.register(ref.type, load=loader)
        if isinstance(loader, _StandIns):
            stack.callback(loader.objects.pop, ref.id, None)
            loader.objects[ref.id] = hero
        yield


class _StandIns:
    """The loader of a type that has no loader: it returns the objects of the test."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def __call__(self, id_: str) -> Any:
        found = self.objects.get(id_)
        return None if found is None else _refreshed(found)


def _refreshed(hero: Any) -> Any:
    refresh = getattr(hero, "refresh_from_db", None)
    if refresh is not None:
        refresh()
    return hero


# One run of a test, in its own world. It can be repeated.


LONGEST_WAIT: Final = timedelta(days=3650)
_REQUEST: Final = "test"
_MOST_RUNS: Final = 1_000
_NOT_THE_SAME: Final = (
    "not the same in a replay: is a clock, a random number or something else from outside between the steps? "
    "use run.now(), run.random(), run.uuid() or a step"
)


class Trial:
    """A subject and its answers. Every `run` is the same, except for what `prepare` changes in its world."""

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
        """Run the subject in a new world and return how it ended."""
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
        started = await world.ask(lambda commands: commands.starts.start(subject.request(_REQUEST)))
        world.is_stuck = lambda parked: self._is_forgotten(world, parked)
        until, run = world.clock.wall() + self._longest, started.run
        endings = [await self._end(world, run, until)]
        while self._follows and (follower := _continued_as(world, run)) is not None:
            run = follower
            if len(endings) == _MOST_RUNS:
                raise NeverEnds(f"the run continued as a new one {_MOST_RUNS} times.\n{endings[-1]!r}")
            endings.append(await self._end(world, follower, until))
        return _joined(endings)

    async def _end(self, world: World, run: bytes, until: Instant) -> Speedrun:
        """Return how one run ends. Raise NeverEnds, or NotDeterministic if a replay took another route."""
        store = world.store
        await world.settle(until, lambda: store.open_run(run) is None)
        ending = await ending_of(world.commands, run)
        drift = next((past.error for past in ending.history if past.error and past.error.code == "drift"), None)
        if drift is not None:
            raise NotDeterministic(f"{_NOT_THE_SAME}\n  {drift.message}\n{ending!r}")
        if store.open_run(run) is not None and ending.status != Status.PAUSED:
            raise NeverEnds(await self._complaint(world, run, ending))
        return ending

    def _saved_once(self) -> dict[bytes, StoredWorkflow]:
        """Return the saved workflows. They are saved in a separate world, so that all later worlds are the same."""
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
        """Raise InvalidInput for an answer to a step that a definition does not have: it would never be used."""
        if self._subject.definition is None:
            return
        known = world.step_names(self._subject.name)
        for name in self._answers.names():
            if name not in known:
                near = nearest(name, known)
                hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(known)}"
                raise InvalidInput(f"answers: {self._subject.name!r} has no step {name!r}{hint}")

    def _is_forgotten(self, world: World, parked: StoredRun) -> bool:
        """Return whether a run only waits to expire, because the test has no answer for its callback or signal, or for
        those of a child that it waits for."""
        if parked.wake_at is None or parked.wake_at != parked.new.expires_at:
            return False
        waits = [*world.open_waits(parked.new.id), *world.open_signals(parked.new.id)]
        children = [row for row in world.store.table.values() if row.new.parent == parked.new.id and row.is_open()]
        is_silent = any(self._answers.silence(world.answer_key(run, key)) is None for run, key, _ in waits)
        return is_silent or any(self._is_forgotten(world, child) for child in children)

    async def _complaint(self, world: World, run: bytes, ending: Speedrun) -> str:
        _, _, reasons = await world.commands.runs.why(show(RUN, run))
        messages = "\n".join(f"  {reason.message}" for reason in reasons)
        waits = _awaited(world, run)
        limit = timedelta(microseconds=self._longest)
        hint = f"\nPass max_wait= with more than {limit}"
        if waits:
            given = ", ".join(f"{name!r}: ..." for name in waits)
            hint = f"\nPass its answers: answers={{{given}}}, or TimeoutError for no answer within its time"
        return f"the run does not end.\n{messages}{hint}\n{ending!r}"


def _takes_over(world: World, run: bytes) -> bool:
    """Return whether a run is a successor of the tested run. A successor of one of its children is not."""
    row = world.store.table.get(run)
    return row is not None and row.new.origin_kind == CONTINUED and row.new.parent is None


def _continued_as(world: World, run: bytes) -> bytes | None:
    """Return the successor of a durable function's run, or None."""
    rows = world.store.table.items()
    return next((id_ for id_, row in rows if (row.new.origin, row.new.origin_kind) == (run, CONTINUED)), None)


def _joined(endings: list[Speedrun]) -> Speedrun:
    """Join a run and its successors into one result, which ends as the last one does."""
    return replace(
        endings[-1],
        steps=tuple(step for one in endings for step in one.steps),
        history=tuple(past for one in endings for past in one.history),
        slept=sum((one.slept for one in endings), timedelta()),
    )


def _awaited(world: World, run: bytes) -> list[str]:
    """Return the names of the callbacks and signals that a run waits for."""
    return [*(name for _, _, name in world.open_waits(run)), *(name for _, _, name in world.open_signals(run))]


def speedrun(
    workflow: Any,
    *args: Any,
    hero: Any = None,
    input: Any = UNSET,  # noqa: A002 - the word users know
    answers: Mapping[str, Any] | None = None,
    state: Any = None,
    at: datetime | None = None,
    max_wait: Length = LONGEST_WAIT,
    follow: bool = True,
    children: Sequence[Any] = (),
) -> Speedrun:
    """Run a workflow to its end and return how it went. Raise NeverEnds if it waits for something without an answer.

    `workflow` is a Workflow class, a function made by @workflow, the name of one, or a definition: its path, its text
    or a dict. `answers` has, by name, the callbacks of waits and the results of steps whose bodies do not run: a value,
    an exception to raise, or a callable that takes a `StepRequest`. `state` is the initial `self.state`. `at` is when
    the run begins. `max_wait` is how long it may take, in fake time. A durable function that continues as a new run is
    followed to its end, unless `follow` is false. `children` are the definitions of the workflows that its steps start.
    Workflows in Python are known without it. `answers` and `max_wait` count for the child runs too.

    It can be called while a loop is running, and blocks that loop. If the workflow needs something on that loop, such
    as a server of the test, use `await speedrun_async(...)`.
    """
    subject = subject_of(workflow, args, hero=hero, given=input)
    subject.children = [found for child in children if (found := _definition(child)) is not None]
    with standing_in(hero):
        return Trial(subject, Answers(answers), at=at, max_wait=max_wait, state=state, follow=follow).run()


async def speedrun_async(workflow: Any, *args: Any, **options: Any) -> Speedrun:
    """Run `speedrun` in its own thread, so that the caller's loop is not blocked."""
    return await asyncio.to_thread(partial(speedrun, workflow, *args, **options))
