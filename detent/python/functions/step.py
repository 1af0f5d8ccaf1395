"""The properties of a function that durable functions call as a step, read once.

The result of a step is always the stored one: JSON, converted to the function's return annotation if msgspec supports
it. So the function sees the same value after the step has run and in a replay.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from detent.errors import InvalidInput
from detent.graph.model import NO_RETRY, Retry
from detent.ids import RUN, show
from detent.python.decorators import MARK, StepMark, StepOptions
from detent.python.results import decoder, hints_of
from detent.run.call import idempotency_key, is_name
from detent.run.links import Link
from detent.steps.arguments import innermost
from detent.steps.links import Create, CreateAsync
from detent.steps.logs.run_log import RunLog, function_logger
from detent.values.durations import in_seconds

MOST_RETRIES: Final = 100
_NO_OPTIONS: Final = StepOptions()


class StepContext(msgspec.Struct, frozen=True):
    """The run and the step for which a function is called. A parameter with this annotation receives it.

    `links` has the resources that the step names, and finds or creates one. `secrets` opens secrets for it."""

    run: bytes
    tenant: int
    step: str
    attempt: int
    generation: int = 0  # of the run's ownership
    links: Any = None  # a `steps.links.Links`, while the step runs
    secrets: Any = None  # a `steps.secret_calls.CodeSecrets`, while the step runs
    attempt_log: Any = None  # a `steps.logs.attempt_log.AttemptLog`, while the step runs

    def find_or_create(self, system: str, type: str, key: str, create: Create) -> Link:  # noqa: A002
        """Return the resource that a run created under this key, or create it. For plain functions.

        `create` gets an idempotency key and returns the id of the resource, or a `Link`. Raise RetryLater while another
        run creates it."""
        found: Link = self.links.find_or_create(system, type, key, create)
        return found

    async def find_or_create_async(self, system: str, type: str, key: str, create: CreateAsync) -> Link:  # noqa: A002
        """Return the resource that a run created under this key, or create it, in a coroutine."""
        found: Link = await self.links.find_or_create_async(system, type, key, create)
        return found

    def secret(self, name: str) -> str:
        """Return the newest value of a secret, in a plain step. What the step returns or raises is redacted.

        Raise Permanent if there is no such secret."""
        value: str = self.secrets.read(name)
        return value

    async def secret_async(self, name: str) -> str:
        """Return the newest value of a secret, in a coroutine."""
        value: str = await self.secrets.read_async(name)
        return value

    @property
    def log(self) -> RunLog:
        """Return a logger (`detent.function`) whose records have the run, step and attempt. Its lines are stored with
        the attempt."""
        return RunLog(
            function_logger, {"run": self.run_id, "step": self.step, "attempt": self.attempt}, self.attempt_log
        )

    def progress(self, fraction: float, text: str = "") -> None:
        """Show how far the attempt of the step is: from 0 to 1, with a few words. Only the latest is shown."""
        if self.attempt_log is not None:
            self.attempt_log.progress(fraction, text)

    @property
    def run_id(self) -> str:
        return show(RUN, self.run)

    @property
    def idempotency_key(self) -> str:
        """Return the key that is the same in every attempt of this step of this run."""
        return idempotency_key(self.tenant, self.run, self.step)


#: The step that is running; None outside of a step.
current_step: Final[ContextVar[StepContext | None]] = ContextVar("detent_step", default=None)


@dataclass(frozen=True, slots=True)
class StepFunction:
    """A function that can be a step.

    `decode` reads a stored result. `context` is the parameter that receives the StepContext. `retry` and `timeout`
    are those of the function's own decorator.
    """

    function: Callable[..., Any]
    name: str
    is_named: bool  # whether that can be the name of a step
    is_async: bool
    is_inline: bool
    decode: Callable[[bytes], Any]
    context: str | None
    retry: Retry
    timeout: float | None
    transactional: bool


def check_name(name: object, what: str) -> str:
    """Return the name as text. Raise InvalidInput if it is not valid."""
    text = str(name)
    if not is_name(text):
        raise InvalidInput(f"{text[:80]!r} cannot be the name of {what}: use up to 64 letters, digits and _ . -")
    return text


def step_function(function: Callable[..., Any]) -> StepFunction:
    """Return the properties of a function. Raise InvalidInput if it cannot be a step."""
    try:
        return _known(function)
    except TypeError:  # it is not hashable
        return _read(function)


@functools.lru_cache(maxsize=1024)
def _known(function: Callable[..., Any]) -> StepFunction:
    return _read(function)


def _read(function: Callable[..., Any]) -> StepFunction:
    if not callable(function):
        raise InvalidInput(f"run.step takes a function and its arguments, not {type(function).__name__}")
    written = innermost(function)
    mark = getattr(function, MARK, None)
    given, options = (mark.name, mark.options) if isinstance(mark, StepMark) else (None, _NO_OPTIONS)
    hints = hints_of(written)
    is_async, is_inline = inspect.iscoroutinefunction(written), options.inline
    if is_async and is_inline:
        raise InvalidInput(f"step {_name(function)!r}: only a plain function can be inline, not an async one")
    name = given or _name(function)
    return StepFunction(
        function=function,
        name=name,
        is_named=is_name(name),
        is_async=is_async,
        is_inline=is_inline,
        decode=decoder(hints.get("return", Any)),
        context=next((name for name, hint in hints.items() if hint is StepContext and name != "return"), None),
        retry=read_retry(options.retry),
        timeout=None if options.timeout is None else in_seconds(options.timeout, zero=False),
        transactional=options.transactional,
    )


def read_retry(given: object) -> Retry:
    """Return the retry policy of a step: `3` means three retries after the first attempt. Raise InvalidInput."""
    match given:
        case None:
            return NO_RETRY
        case Retry():
            return given
        case bool():
            pass
        case int() if 0 <= given <= MOST_RETRIES:
            return Retry(attempts=given + 1)
    raise InvalidInput(f"retry must be a number from 0 to {MOST_RETRIES}, or a Retry, not {given!r}")


def _name(function: Callable[..., Any]) -> str:
    written = function.func if isinstance(function, functools.partial) else function
    return str(getattr(written, "__name__", type(written).__name__))
