"""`run`: the run as its durable function sees it, and every operation that the function may wait for.

An operation starts when it is called, not when it is awaited, so that several can be in flight:

    paid = run.step(charge, order)
    mailed = run.step(mail, order)
    await gather(paid, mailed)
"""

from __future__ import annotations

import asyncio
import random as chance
import uuid as uuids
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NoReturn, TypeVar, cast, overload

import msgspec

from detent.errors import InvalidInput
from detent.graph.model import Ending, Retry
from detent.ids import RUN, show
from detent.instant import SECOND, as_datetime
from detent.python.flow import FlowControl, FlowVerbs
from detent.python.functions.approval import OpenApproval, approval_ask
from detent.python.functions.driver import FunctionDriver
from detent.python.functions.errors import ContinueAsNew
from detent.python.functions.loop import FunctionLoop
from detent.python.functions.operations import Pending, StepWork
from detent.python.functions.step import check_name, current_step, read_retry, step_function
from detent.python.heroes import HeroRef
from detent.python.schedules import scheduled_at
from detent.run.call import Op, StepCall
from detent.run.start import StartRequest
from detent.run.state import Checkpoint
from detent.steps.logs.attempt_log import current_log
from detent.steps.logs.run_log import RunLog, function_logger
from detent.steps.output import encode_output
from detent.values.answer import RESPOND, answer_problems
from detent.values.durations import Duration, in_seconds

T = TypeVar("T")
_STEP: Final = Op.STEP  # loaded for every step, and a member of an enum class is slow to load
_decode = msgspec.json.Decoder().decode
_running = asyncio._get_running_loop  # noqa: SLF001 - it does not raise if no loop runs


@dataclass(frozen=True, slots=True)
class WaitCallback:
    """The URL that ends a wait when it is called."""

    name: str
    url: str


#: Returns the name and the body of a run for a workflow and its arguments.
Bind = Callable[..., tuple[str, Any]]


class Run(FlowVerbs):
    """One run, as its function sees it."""

    def __init__(
        self, driver: FunctionDriver, call: StepCall, body: Any, hero_of: Callable[[Any], tuple[str, str]]
    ) -> None:
        self._driver, self._log = driver, driver.log
        self._call, self._body, self._hero_of = call, body, hero_of
        self._random: chance.Random | None = None
        self._open: dict[str, deque[str]] = {}  # callbacks that were opened and are not waited for yet
        self.asked: FlowControl | None = None
        self.continued: ContinueAsNew | None = None
        self.bind: Bind = _bind_nothing
        self.unwanted: dict[int, Pending] = {}  # operations that were never awaited, by their number
        driver.log.loop.owner = self

    # -- facts

    @property
    def id(self) -> str:
        """Return the id of the run."""
        return show(RUN, self._driver.facts.id)

    @property
    def input(self) -> Any:
        """Return the body that the run was started with."""
        return self._body

    @property
    def scheduled_at(self) -> datetime | None:
        """Return the slot of the schedule that started the run, or None if something else did."""
        return scheduled_at(self._driver.facts.input)

    @property
    def hero(self) -> HeroRef | None:
        """Return the hero of the run as (type, id). Load the object in a step."""
        hero = self._driver.facts.hero
        return None if hero is None else HeroRef(*hero)

    @property
    def idempotency_key(self) -> str:
        """Return a key that is the same in every attempt of the current step, or outside of a step, of the run."""
        step = current_step.get()
        return self._call.idempotency_key if step is None else step.idempotency_key

    @property
    def attempt(self) -> int:
        """Return the number of this attempt: of the current step, or outside of a step, of the function."""
        step = current_step.get()
        return self._call.attempt if step is None else step.attempt

    @property
    def log(self) -> RunLog:
        """Return a logger (`detent.function`) whose records have the run, step and attempt. Its lines are stored with
        the attempt. What the function logs while it replays is left out."""
        step = current_step.get()
        if step is not None:
            return step.log
        facts = {"run": self.id, "step": self._call.step, "attempt": self._call.attempt}
        return RunLog(function_logger, facts, current_log.get())

    def progress(self, fraction: float, text: str = "") -> None:
        """Show how far the current step is, or outside of a step, the function: from 0 to 1, with a few words."""
        if (stored := current_log.get()) is not None:
            stored.progress(fraction, text)

    # -- operations

    @overload
    def step(
        self,
        function: Callable[..., Awaitable[T]],
        /,
        *args: Any,
        name: str | None = None,
        retry: int | Retry | None = None,
        timeout: Duration | None = None,
        **kwargs: Any,
    ) -> asyncio.Future[T]: ...

    @overload
    def step(
        self,
        function: Callable[..., T],
        /,
        *args: Any,
        name: str | None = None,
        retry: int | Retry | None = None,
        timeout: Duration | None = None,
        **kwargs: Any,
    ) -> asyncio.Future[T]: ...

    def step(
        self,
        function: Callable[..., Any],
        /,
        *args: Any,
        name: str | None = None,
        retry: int | Retry | None = None,
        timeout: Duration | None = None,
        **kwargs: Any,
    ) -> asyncio.Future[Any]:
        """Call a function as a step and store its result. The run continues with that result after a crash.

        A plain function runs in a thread, an `async def` on the engine's loop. `retry` is the number of retries after
        an exception. A step that fails and is not retried raises `StepFailed` here.
        """
        self._must_be_inside("step")
        known, log = step_function(function), self._log
        if name is not None or not known.is_named:
            name = check_name(known.name if name is None else name, "a step; give it a `name=`")
        pending = log.ask(_STEP, log.next_key(name or known.name))
        pending.work = StepWork(
            known,
            args,
            kwargs,
            known.retry if retry is None else read_retry(retry),
            known.timeout if timeout is None else in_seconds(timeout, zero=False),
        )
        return self._release(pending)

    def sleep(self, duration: Duration) -> asyncio.Future[None]:
        """Wait that long. A long sleep parks the run: it is one row in the database and uses no memory."""
        self._must_be_inside("sleep")
        pending = self._log.ask(Op.SLEEP, self._log.next_key(Op.SLEEP.value))
        pending.seconds = in_seconds(duration)
        return self._release(pending)

    def sleep_until(self, when: datetime) -> asyncio.Future[None]:
        """Wait until that time. Raise InvalidInput if it has no time zone."""
        self._must_be_inside("sleep_until")
        if when.tzinfo is None:
            raise InvalidInput("sleep_until takes a datetime with a time zone")
        in_seconds(max(0.0, when.timestamp() - self._log.loop.now))  # raises if it is too far away
        pending = self._log.ask(Op.SLEEP, self._log.next_key(Op.SLEEP.value))
        pending.until = round(when.timestamp() * SECOND)
        return self._release(pending)

    async def callback(self, name: str) -> WaitCallback:
        """Return the URL that ends the next `wait` of that name."""
        self._must_be_inside("callback")
        name = check_name(name, "a wait")
        key = self._log.next_key(f"{Op.WAIT}:{name}")
        self._open.setdefault(name, deque()).append(key)
        self._log.open(key)
        return WaitCallback(name, self._driver.facts.callback_url(key))

    def wait(self, name: str, timeout: Duration | None = None) -> asyncio.Future[Any]:
        """Wait until its URL is called, and return the body of that request. Raise `WaitTimeout`."""
        self._must_be_inside("wait")
        name = check_name(name, "a wait")
        opened = self._open.get(name)
        key = opened.popleft() if opened else self._log.next_key(f"{Op.WAIT}:{name}")
        pending = self._log.ask(Op.WAIT, key)
        pending.seconds = None if timeout is None else in_seconds(timeout)
        return self._release(pending)

    def approve(
        self,
        name: str,
        *,
        title: str,
        text: str | None = None,
        data: Any = None,
        form: Mapping[str, Any] | None = None,
        assignees: str | Sequence[str] | None = None,
        quorum: int = 1,
        not_by: str | None = None,
        by_link: bool = False,
        remind: Mapping[str, Any] | None = None,
        escalate: Mapping[str, Any] | None = None,
        timeout: Duration | None = None,
        on_timeout: str = "fail",
    ) -> OpenApproval:
        """Ask people to approve, and return an `Approval`. Raise `WaitTimeout`, unless `on_timeout` is `approve` or
        `reject`.

        The approval is open when this is called, and its `url` is known: send that in a step, then await it. What it
        shows does not change any more."""
        self._must_be_inside("approve")
        ask = approval_ask(
            title=title,
            text=text,
            data=data,
            form=form,
            assignees=assignees,
            quorum=quorum,
            not_by=not_by,
            by_link=by_link,
            remind=remind,
            escalate=escalate,
            timeout=timeout,
            on_timeout=on_timeout,
        )
        pending = self._log.ask(Op.WAIT, self._log.next_key(f"{Op.WAIT}:{check_name(name, 'an approval')}"))
        pending.seconds = None if timeout is None else in_seconds(timeout)
        pending.ask = ask
        pending.url = self._driver.facts.callback_url(pending.key)
        return cast("OpenApproval", self._release(pending))

    def signal(self, name: str, timeout: Duration | None = None) -> asyncio.Future[Any]:
        """Wait for the next signal of that name and return its data. Raise `WaitTimeout`.

        A signal that came before this call counts too.
        """
        self._must_be_inside("signal")
        pending = self._log.ask(Op.ASK, self._log.next_key(f"{Op.ASK}:{check_name(name, 'a signal')}"))
        pending.seconds = None if timeout is None else in_seconds(timeout)
        return self._release(pending)

    def respond(
        self, body: Any = None, *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> asyncio.Future[Any]:
        """Answer the caller of the webhook that started this run (`respond: step`), and go on. Only the first answer
        counts. Raise InvalidInput if a status, header or body is not allowed."""
        self._must_be_inside("respond")
        if problems := answer_problems(status, headers or {}, body):
            raise InvalidInput("this cannot be the answer of a run", problems)
        return self.step(_answer, status, dict(headers or {}), body, name=RESPOND)

    def child(
        self,
        workflow: Any,
        /,
        *args: Any,
        hero: Any = None,
        priority: int | None = None,
        labels: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> asyncio.Future[Any]:
        """Start a run of another workflow, wait for its end and return its output. Raise `ChildFailed`.

        Pass a durable function its arguments, and any other workflow its input. If this run is cancelled, so is the
        child.
        """
        self._must_be_inside("child")
        name, body = self.bind(workflow, *args, **kwargs)
        pending = self._log.ask(Op.CHILD, self._log.next_key(f"{Op.CHILD}:{name}"))
        about = None if hero is None else self._hero_of(hero)
        pending.child = StartRequest(name, body, about, priority, dict(labels or {}))
        return self._release(pending)

    def _must_be_inside(self, verb: str) -> None:
        """Raise RuntimeError if a step, or any other code outside of the function, calls this.

        A replay would not repeat that call.
        """
        if _running() is not self._log.loop:
            raise RuntimeError(f"run.{verb} can only be called in the function itself; a step can only return or raise")

    def _release(self, pending: Pending) -> Pending:
        pending.unwanted = self.unwanted
        self.unwanted[pending.number] = pending
        return self._log.release(pending)

    # -- what would differ in a replay

    def now(self) -> datetime:
        """Return the current time. A replay returns the recorded one."""
        self._must_be_inside("now")
        log = self._log
        key = log.next_key(Op.NOW.value)
        index = log.indexes.get(key)
        if index is not None:
            return as_datetime(_decode(log.records[index].result)["output"])
        now = self._driver.port.now()
        if not log.loop.is_closing:
            log.decided.append(Checkpoint(key, Ending.SUCCESS, encode_output(now), None, now))
        return as_datetime(now)

    def random(self) -> float:
        """Return a random number from 0 up to 1, the same in a replay."""
        self._must_be_inside("random")
        return self._chance().random()

    def uuid(self) -> uuids.UUID:
        """Return a random UUID, the same in a replay."""
        self._must_be_inside("uuid")
        return uuids.UUID(int=self._chance().getrandbits(128), version=4)

    def _chance(self) -> chance.Random:
        if self._random is None:
            self._random = chance.Random(self._driver.facts.id)
        return self._random

    # -- ends

    def continue_as_new(self, *args: Any, **kwargs: Any) -> NoReturn:
        """End this run and continue as a new one, with these arguments and an empty history.

        If a hero may have only one active run, it is the new run at once: no other start can come in between.
        """
        self._must_be_inside("continue_as_new")
        _, body = self.bind(None, *args, **kwargs)
        self.continued = ContinueAsNew(body)
        raise self.continued

    def _ask(self, verb: str, asked: FlowControl) -> NoReturn:
        self._must_be_inside(verb)
        self.asked = asked
        self._driver.leave(asked)
        raise asked

    def _where(self) -> str:
        return "by its function"


async def _answer(status: int, headers: dict[str, str], body: Any) -> dict[str, Any]:
    """Return the answer of a run, which the journal stores."""
    return {"status": status, "headers": headers, "body": body}


def current_run() -> Run | None:
    """Return the run whose durable function calls this, or None: in a step, and outside of durable functions."""
    loop = _running()
    if type(loop) is not FunctionLoop:
        return None
    owner: Run | None = loop.owner
    return owner


def _bind_nothing(workflow: Any, *args: Any, **kwargs: Any) -> tuple[str, Any]:
    raise NotImplementedError
