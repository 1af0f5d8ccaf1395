"""Workflows whose runs are kept as tests. A line that ends with `# old` is in the code that the first node has, one
with `# new` in that of the second; the rest is in both."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import detent
from detent import (  # fmt: skip
    ChildFailed,
    Permanent,
    RetryLater,
    Run,
    StepFailed,
    WaitTimeout,
    Workflow,
    cancel_if,
    reattempt,
    step,
    workflow,
)


@dataclass
class Order:
    id: str
    tags: list[str] = field(default_factory=list)


@dataclass
class User:
    id: str
    is_gone: bool = False


class Declined(Exception):
    def __init__(self, card: str, limit: int) -> None:
        super().__init__(f"the card {card!r} has a limit of {limit}")


detent.heroes.register("KeptUser", load=lambda id_: None if id_ == "0" else User(id_, id_ == "13"), cls=User)
TRIES: dict[str, int] = {}


def real(what: str) -> None:
    """An effect that no test may have."""
    with Path("effects.txt").open("a") as file:
        file.write(what + "\n")


def charge(order: Order) -> str:
    real("charge")
    return f"r-{order.id}"


def flaky(run: str) -> int:
    real("flaky")
    TRIES[run] = TRIES.get(run, 0) + 1
    if TRIES[run] < 2:
        raise ValueError('bad """ quote \\ \' \n newline \N{PILE OF POO}')
    return TRIES[run]


def fails(how: str) -> None:
    real("fails")
    match how:
        case "key":
            raise KeyError("nope")
        case "own":
            raise Declined("'4711\"", 5)
        case "code":
            raise Permanent("gone: for ever", code="gone")
        case "os":
            raise FileNotFoundError(2, "No such file", "x.txt")
        case "bytes":
            b"\xff".decode()
        case "time":
            raise TimeoutError("by itself")
        case "empty":
            raise ValueError
        case "colon":
            raise RuntimeError("a: b: c")


async def slow() -> None:
    real("slow")
    await asyncio.sleep(30)


def extra() -> None:
    """What an edit adds."""


# -- durable functions


@workflow(allow_multiple=True)
async def kept_kid(run: Run, n: int) -> int:
    if n < 0:
        raise Permanent('no child of mine: "x"')
    await run.step(charge, Order("kid"))
    if n == 7:
        await run.wait("deep")
    if n == 8:
        run.cancel('too "many"')
    return n * 2


@workflow
async def kept_waits(run: Run, order: Order, note: str = "x") -> list[Any]:
    found = [await run.step(charge, order), await run.wait("w"), await run.wait("w")]
    try:
        await run.wait("w", timeout=0.2)
    except WaitTimeout:
        found.append("late")
    found.append(note)
    return found


@workflow
async def kept_signals(run: Run) -> list[Any]:
    found = [await run.signal("s"), await run.signal("s")]
    try:
        await run.signal("s", timeout=0.2)
    except WaitTimeout:
        found.append("late")
    return [*found, await run.signal("s"), await run.signal("s")]


@workflow
async def kept_race(run: Run) -> list[Any]:
    found: list[Any] = []
    for _ in range(2):
        both = [run.wait("w"), run.sleep(0.3 if found else 60), run.signal("s")]
        done, rest = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for one in rest:
            one.cancel()
        found.append(len(done))
    run.wait("w")
    await run.sleep(0.1)
    return found


async def nap(seconds: float) -> float:
    real("nap")
    await asyncio.sleep(seconds)
    return seconds


@workflow
async def kept_slow_kid(run: Run) -> str:
    await run.sleep(1.5)
    return "slow"


@workflow
async def kept_order(run: Run) -> list[Any]:
    waits = [run.wait("a"), run.wait("b"), run.signal("c")]
    found = [await one for one in asyncio.as_completed(waits)]
    try:
        async with asyncio.timeout(0.5):
            await run.child(kept_slow_kid)
    except TimeoutError:
        found.append("late")
    naps: list[asyncio.Future[Any]] = [run.step(nap, 2.0), run.step(nap, 0.2), run.child(kept_kid, 1), run.sleep(1.1)]
    found += [await one for one in asyncio.as_completed(naps)]
    await run.sleep(1)
    return found


@workflow
async def kept_unheard(run: Run) -> Any:
    await run.sleep(0.5)
    return await run.signal("s")


@workflow
async def kept_failures(run: Run) -> list[str]:
    found = [str(await run.step(flaky, run.id, retry=2) > 0)]
    for how in ("key", "own", "code", "os", "bytes", "time", "empty", "colon"):
        try:
            await run.step(fails, how)
        except StepFailed as error:
            found.append(f"{error.code} {error.message}")
    try:
        await run.step(slow, timeout=0.1)
    except StepFailed as error:
        found.append(error.message)
    return found


@workflow
async def kept_children(run: Run) -> list[Any]:
    found = [*await asyncio.gather(run.child(kept_kid, 1), run.child(kept_kid, 2))]
    for n in (-1, 8):
        try:
            await run.child(kept_kid, n)
        except ChildFailed as error:
            found.append(str(error).partition(" ended")[2])
    child = run.child(kept_kid, 7)
    return [*found, await run.child("kept_yaml_kid", {"a": 1}), await run.step(charge, Order("p")), child.done()]


@workflow
async def kept_one_name(run: Run) -> list[Any]:
    return [await run.step(extra, name="same"), await run.signal("same"), await run.wait("same"), list(run.hero or ())]


@workflow
async def kept_continued(run: Run, n: int) -> str:
    await run.step(charge, Order(str(n)))
    if n:
        run.continue_as_new(n - 1)
    return "end"


@workflow
async def kept_failed(run: Run) -> None:
    await run.step(charge, Order("1"))
    raise Permanent("no '''")


@workflow
async def kept_paused(run: Run) -> None:
    await run.step(fails, "key")


@workflow(on_exception="cancel")
async def kept_cancels(run: Run) -> None:
    await run.step(fails, "own")


@workflow
async def kept_asks(run: Run, verb: str) -> None:
    await run.step(charge, Order("1"))
    match verb:
        case "pause":
            run.pause('for "you"')
        case "cancel":
            run.cancel('for "me"')
        case "skip":
            run.skip()
        case "finish":
            run.finish({"verb": verb})


@workflow(max_duration=1)
async def kept_expires(run: Run) -> None:
    await run.step(charge, Order("1"))
    await run.wait("never")


@workflow
async def kept_edited(run: Run) -> list[Any]:
    found = [await run.step(charge, Order("1"))]
    await run.step(extra, name="before")  # old
    await run.step(extra, name="instead")  # new
    found.append(await run.wait("w"))
    await run.step(extra, name="behind")  # new
    return found


# -- classes


@dataclass
class Count:
    n: int = 0
    said: list[str] = field(default_factory=list)


class KeptChain(Workflow):
    state: Count

    @step(on_exception=reattempt(max=3, wait=0.05))
    def one(self) -> Any:
        real("one")
        if self.attempt < 2:
            raise ValueError("no '''")
        self.state.n = 5
        self.state.said.append("q\"'")
        return {"k": self.input}

    @step(skip_if=lambda self: self.state.n == 5)
    def two(self) -> int:
        return 1

    @step(on_exception={Declined: "skip", Exception: "cancel"})
    def three(self) -> None:
        raise Declined("1", 2)

    @step
    async def four(self) -> None:
        self.state.n += 1
        self.skip()

    @step
    def five(self) -> None:
        self.finish({"done": self.results["one"], "n": self.state.n})

    @step
    def six(self) -> int:
        return 5


class KeptVerbs(Workflow):
    @step
    def one(self) -> str:
        real("one")
        return "one"

    @step
    async def two(self) -> None:
        match self.input:
            case "cancel":
                self.cancel("because \"x\" '''")
            case "pause":
                self.pause("a while")
            case "finish":
                self.finish()

    @step(on_exception=reattempt(max=2, wait=0.05, then="cancel"), timeout=0.1)
    async def three(self) -> None:
        class Local(Exception):
            pass

        match self.input:
            case "raise":
                raise Local("boom\n'''")
            case "late":
                await asyncio.sleep(5)
            case "later":
                raise RetryLater(0.05, "not yet")
            case "code":
                raise Permanent("no", code="gone")

    @step
    def four(self) -> None:
        if self.input == "key":
            raise KeyError("nope")


class KeptExpires(Workflow):
    max_duration = 1
    step("one", lambda self: 1)
    step("two", lambda self: 2, wait="1h")
    step("three", lambda self: 3)


class KeptTries(Workflow):
    max_duration = 1

    @step
    def one(self) -> None:
        self.reattempt(0.2)


class KeptHero(Workflow):
    hero: User

    @cancel_if
    def gone(self) -> bool:
        return self.hero.is_gone

    @step
    def one(self) -> str:
        return self.hero.id


class KeptMoved(Workflow):
    step("one", lambda self: 1)
    step("dropped", lambda self: 2)  # old
    step("passed", lambda self: 3)  # new

    @step
    def waits(self) -> str:
        if self.attempt == 1:
            self.pause()
        return "on"

    step("removed", lambda self: 4)  # old
    step("added", lambda self: 5)  # new
