"""`speedrun`: a run from its start to its end, at once.

    run = speedrun(Signup, hero=user, answers={"approval": {"ok": True}})
    assert run.route == ["welcome", "remind:skipped", "complete"]

It is the engine that runs, on a memory store under a fake clock: sleeps of days take no time, and between two steps
that wait the run leaves memory and is read again from its journal, and its hero is loaded again.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

from detent.commands import Commands
from detent.embed.request import UNSET, build_start, named, plain
from detent.engine.children import CONTINUED
from detent.errors import InvalidDefinition, InvalidInput, NotFound
from detent.ids import RUN, parse, show
from detent.instant import Instant, micros
from detent.python.heroes import HeroRef, heroes
from detent.python.registry import CodeKind, registry
from detent.run.call import Op
from detent.run.start import StartRequest
from detent.run.status import Status
from detent.steps.actions import is_core
from detent.store.memory.tables import StoredRun, StoredWorkflow
from detent.testing.answers import Answers, Response
from detent.testing.clock import FakeClock, Length, seconds_of
from detent.testing.errors import NeverEnds, NotDeterministic
from detent.testing.python_stage import check_state
from detent.testing.result import Speedrun, ending_of
from detent.testing.world import World
from detent.values.nearest import nearest

# What is tested: a workflow however it is given, what it is started with, and what it is about.


_FILES: Final = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Definition:
    """A workflow that is text."""

    text: str
    filename: str | None = None


@dataclass(slots=True)
class Subject:
    """`name` is known when it was saved, if it is a definition."""

    name: str
    body: Any
    hero: tuple[str, str] | None
    definition: Definition | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    def request(self, request_id: str | None, labels: Mapping[str, str] | None = None) -> StartRequest:
        """Return the start of its run."""
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
        if self.definition is not None:
            code.update(await self._save_definition(commands, self.definition))
        return code

    async def _save_definition(self, commands: Commands, given: Definition) -> list[str]:
        try:
            row, _, compiled = await commands.workflows.save(given.text, filename=given.filename, replace=True)
        except InvalidDefinition as error:
            for problem in error.problems:
                error.add_note(f"  {problem}")
            raise
        self.name = row.name
        return [name for name in compiled.code if not is_core(name)]


def subject_of(workflow: Any, args: tuple[Any, ...], *, hero: Any, given: Any) -> Subject:
    """What the arguments of a test mean, or InvalidInput. `given` is UNSET if there is no input."""
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
    """The text of a definition; `None` for code."""
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
    """Type and id of any object: an object that is not registered is named by its class."""
    try:
        return heroes.ref(hero)
    except InvalidInput:
        if isinstance(hero, tuple) or not _is_plain(hero):
            raise
        id_ = next((found for name in ("id", "pk") if (found := getattr(hero, name, None)) is not None), 1)
        return HeroRef(type(hero).__name__, str(id_))


def _is_plain(hero: Any) -> bool:
    """Whether it is an object of some class of the test's, and no value such as a text."""
    return type(hero).__module__ != "builtins"


@contextmanager
def standing_in(hero: Any) -> Iterator[None]:
    """While this lasts, a hero whose type has no loader is loaded as this very object, refreshed if it can be."""
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
    """The loader of a type that has none of its own."""

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


# One run of a test, in a world of its own, as often as it is wanted.


LONGEST_WAIT: Final = timedelta(days=3650)
_REQUEST: Final = "test"
_MOST_RUNS: Final = 1_000
_CONTINUED_AS: Final = "continued_as"
_NOT_THE_SAME: Final = (
    "not the same in a replay: is a clock, a random number or something else from outside between the steps? "
    "use run.now(), run.random(), run.uuid() or a step"
)


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
        started = await world.ask(lambda commands: commands.starts.start(subject.request(_REQUEST)))
        world.is_stuck = lambda parked: self._is_forgotten(world, parked)
        until, run = world.clock.wall() + self._longest, started.run
        endings = [await self._end(world, run, until)]
        while self._follows and (follower := _continued_as(endings[-1])) is not None:
            if len(endings) == _MOST_RUNS:
                raise NeverEnds(f"the run went on as a new one {_MOST_RUNS} times.\n{endings[-1]!r}")
            endings.append(await self._end(world, follower, until))
        return _joined(endings)

    async def _end(self, world: World, run: bytes, until: Instant) -> Speedrun:
        """How one run ends, or NeverEnds; NotDeterministic if a replay of it took another route."""
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
        """Whether nothing but the end of its time is ahead of a run that waits for a callback without an answer."""
        if parked.wake_at is None or parked.wake_at != parked.new.expires_at:
            return False
        waits = [*world.open_waits(parked.new.id), *world.open_signals(parked.new.id)]
        return any(self._answers.silence(key) is None for _, key, _ in waits)

    async def _complaint(self, world: World, run: bytes, ending: Speedrun) -> str:
        _, _, reasons = await world.commands.runs.why(show(RUN, run))
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
) -> Speedrun:
    """Run a workflow to its end and return how it went. Raise NeverEnds if it waits for something without an answer.

    `workflow` is a Workflow class, a function made by @workflow, the name of one, or a definition: its path, its text
    or a dict. `answers` give waits their callback and steps their result without running their body, by name: a
    value, an exception to be raised, or a callable that is called with what was `Asked`. `state` is what `self.state`
    begins with. `at` is when it begins. `max_wait` is how long it may take, in its own time. A durable function that
    goes on as a new run is followed to its end, unless `follow` is false.

    It can be called where a loop is running: that loop stands still meanwhile. Where something on that loop is
    needed, such as a server of the test's, `await speedrun_async(...)`."""
    subject = subject_of(workflow, args, hero=hero, given=input)
    with standing_in(hero):
        return Trial(subject, Answers(answers), at=at, max_wait=max_wait, state=state, follow=follow).run()


async def speedrun_async(workflow: Any, *args: Any, **options: Any) -> Speedrun:
    """The same in a thread of its own, while the loop of the caller goes on."""
    return await asyncio.to_thread(partial(speedrun, workflow, *args, **options))
