"""Workflows written in Python that nodes run under chaos; `python_programs.py` says what must become of them.

Steps with an effect send it to the target with their key, as steps of the other form do. What they send is made of
everything the run knows by then, so that two attempts of one step that do not send the same are found out. Every second
life of a node is of another edition of this module: a class has a step more, as after a deployment.
"""

from __future__ import annotations

import asyncio
import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp

from detent import (
    ChildFailed,
    Permanent,
    Run,
    StepContext,
    StepFailed,
    WaitTimeout,
    Workflow,
    cancel_if,
    gather,
    heroes,
    reattempt,
    step,
    workflow,
)
from detent.graph.model import Retry
from tests.chaos.cluster import EDITION_VARIABLE

EDITION: Final = int(os.environ.get(EDITION_VARIABLE, "0"))
#: Tries enough for everything that a campaign does to a node or a database.
PATIENT: Final = Retry(attempts=100, delay=0.05, factor=1.5, max_delay=0.2)
AGAIN: Final = reattempt(wait=0.05, factor=1)
REFUSED: Final = 402
_sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}


# -- effects


@dataclass(frozen=True)
class Effect:
    """One request to the target, for one attempt of one step of the run of that number."""

    target: str
    n: int
    step: str
    key: str
    attempt: int
    path: str = "/echo"

    @property
    def url(self) -> str:
        return f"{self.target}{self.path}?{urlencode({'n': self.n, 'step': self.step})}"

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Idempotency-Key": self.key, "Detent-Attempt": str(self.attempt)}
        return {**headers, "Content-Type": "application/json"}


async def send(effect: Effect, body: Any) -> None:
    """On the engine's loop."""
    loop = asyncio.get_running_loop()
    session = _sessions.get(loop)
    if session is None:
        session = _sessions[loop] = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    async with session.post(effect.url, data=json.dumps(body), headers=effect.headers) as response:
        await response.read()
        _judge(response.status)


def send_in_thread(effect: Effect, body: Any) -> None:
    """In a thread."""
    request = urllib.request.Request(effect.url, json.dumps(body).encode(), effect.headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            response.read()
    except urllib.error.HTTPError as error:
        with error:
            _judge(error.code)


def _judge(status: int) -> None:
    if status == REFUSED:
        raise Permanent("the target does not want it")
    if status >= 400:
        raise RuntimeError(f"the target says {status}")


async def close() -> None:
    """Let go of the connections."""
    for session in _sessions.values():
        await session.close()


# -- a class


@dataclass
class Trail:
    """The steps that a run has taken."""

    steps: list[str] = field(default_factory=list)


def effect_of(this: Workflow, path: str = "/echo") -> Effect:
    given = this.input
    return Effect(given["target"], given["n"], this.step_name, this.idempotency_key, this.attempt, path)


class Errands(Workflow):
    """Waits, conditions, reattempts, and a state that goes from step to step."""

    name = "python_errands"
    on_exception = AGAIN
    state: Trail

    @cancel_if
    def is_called_off(self) -> bool:
        return bool(self.input["n"] == 0)

    def is_started_by_a_client(self) -> bool:
        return bool(self.input["n"] > 0)

    @step
    async def fetch(self) -> str:
        self.state.steps.append("fetch")
        await send(effect_of(self), self.state.steps)
        return "fetched"

    @step(wait=0.15)
    def carry(self) -> str:
        self.state.steps.append("carry")
        send_in_thread(effect_of(self), [self.results["fetch"], *self.state.steps])
        return "carried"

    @step(skip_if="is_started_by_a_client")
    def left_out(self) -> None:
        send_in_thread(effect_of(self), None)

    @step(skip_if=lambda self: self.input["n"] < 0)
    async def flaky(self) -> None:
        self.state.steps.append("flaky")
        await send(effect_of(self, "/flaky/2"), self.state.steps)

    @step(on_exception=reattempt(max=3, wait=0.05, factor=1, then="skip"))
    def hopeless(self) -> None:
        self.state.steps.append("hopeless")
        send_in_thread(effect_of(self, "/status/503"), None)

    @step(wait=0.6)
    async def deliver(self) -> list[str]:
        self.state.steps.append("deliver")
        await send(effect_of(self), [self.results["carry"], *self.state.steps])
        return self.state.steps


class Edited(Workflow):
    """A class that was edited between one life of a node and the next."""

    name = "python_edited"
    on_exception = AGAIN

    @step
    async def first(self) -> None:
        await send(effect_of(self), None)

    if EDITION % 2:

        @step
        async def extra(self) -> None:
            await send(effect_of(self), None)

    @step(wait=0.7)
    def second(self) -> None:
        send_in_thread(effect_of(self), None)

    @step(wait=0.5)
    async def third(self) -> None:
        await send(effect_of(self), None)


class CalledOff(Workflow):
    """Cancels itself in its second step."""

    name = "python_called_off"
    on_exception = AGAIN

    @step
    async def first(self) -> None:
        await send(effect_of(self), None)

    @step
    async def second(self) -> None:
        await send(effect_of(self), None)
        self.cancel("it is not needed any more")

    @step
    async def third(self) -> None:
        await send(effect_of(self), None)


class Rounds(Workflow):
    """One run at a time for each courier."""

    name = "python_rounds"
    on_exception = AGAIN

    @step
    async def leave(self) -> None:
        await send(effect_of(self), self.hero)

    @step(wait=0.05)
    def ring(self) -> None:
        send_in_thread(effect_of(self), self.hero)

    @step(wait=0.3)
    async def come_back(self) -> None:
        await send(effect_of(self), self.hero)


@heroes.loader("Courier")
async def load_courier(courier: str) -> dict[str, str]:
    return {"courier": courier}


# -- a durable function


async def tell(target: str, n: int, body: Any, path: str = "/echo", *, context: StepContext) -> str:
    """A step on the loop."""
    await send(Effect(target, n, context.step, context.idempotency_key, context.attempt, path), body)
    return context.step


def tell_in_thread(target: str, n: int, body: Any, path: str = "/echo", *, context: StepContext) -> str:
    """The same in a thread."""
    send_in_thread(Effect(target, n, context.step, context.idempotency_key, context.attempt, path), body)
    return context.step


@workflow(name="python_function")
async def errand(run: Run, n: int, target: str) -> dict[str, Any]:
    """Everything that a durable function can wait for. What is told is what the function knows by then."""
    known: list[Any] = [run.random(), str(run.uuid()), run.now().isoformat()]
    await run.callback("answer")
    known.append(await run.step(tell, target, n, known, name="first", retry=PATIENT))
    known += await gather(
        run.step(tell_in_thread, target, n, known, name="left", retry=PATIENT),
        run.step(tell, target, n, known, name="right", retry=PATIENT),
        run.sleep(0.1),
    )
    known.append(await run.step(tell, target, n, known, "/flaky/2", name="flaky", retry=PATIENT))
    try:
        await run.step(tell, target, n, known, "/status/402", name="refused", retry=PATIENT)
    except StepFailed as error:
        known.append(error.code)
    # A step that is not awaited at once gets what it is given when it begins: nobody may change that meanwhile.
    slow = run.step(tell, target, n, tuple(known), "/slow/100", name="slow", retry=PATIENT)
    nap = run.sleep(0.1)
    done, _ = await asyncio.wait({slow, nap}, return_when=asyncio.FIRST_COMPLETED)
    known += [slow in done, nap in done]
    for _ in range(2):
        known.append(await run.step(tell_in_thread, target, n, known, name="again", retry=PATIENT))
    known += [await run.signal("paid"), await run.signal("paid"), await run.wait("answer")]
    try:
        child = await run.child(small_errand, -n, target)
    except ChildFailed as error:
        child = str(error)
    await gather(slow, nap, run.sleep(1.2))
    try:
        await run.wait("missed", timeout=0.3)
    except WaitTimeout:
        known.append("missed")
    await run.step(tell, target, n, known, name="last", retry=PATIENT)
    return {"n": n, "child": child}


@workflow(name="python_child")
async def small_errand(run: Run, n: int, target: str) -> int:
    """What the other one starts."""
    await run.step(tell, target, n, run.random(), name="only", retry=PATIENT)
    await run.sleep(0.6)
    return n
