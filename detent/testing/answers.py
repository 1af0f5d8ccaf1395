"""The answers of a test instead of the outside world: callbacks of waits, and results of steps that do not run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, NamedTuple

import msgspec

from detent.embed.request import UNSET
from detent.graph.model import StepKind
from detent.instant import Instant, micros
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.http.response import HttpAnswer, outcome_of
from detent.steps.output import encode_output
from detent.steps.stated_outcomes import with_run
from detent.steps.user_code import failure_of
from detent.testing.clock import Length, seconds_of

# An exception of a class of the code under test, created without its constructor, whose arguments are unknown.


def raised(place: str, message: str = "", *, code: str | None = None) -> Exception:
    """Return an exception of the class at that place, such as `shop.errors.CardDeclined`, with that message.

    Its constructor is not called. `code` is the code of an action's error.
    """
    kind = _found(place)
    try:
        error = kind.__new__(kind, message)
    except Exception:  # noqa: BLE001 - a class with its own `__new__`: at least the name is the same
        error = type(kind.__name__, (Exception,), {})(message)
    if code is not None:
        error.code = code
    made: Exception = error
    return made


def _found(place: str) -> Any:
    parts = place.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(f"there is no {place!r}")


_value = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to an HTTP step, or a callback, with status, headers or query in addition to the body."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class After:
    """An answer to a durable function or a wait that comes that long after the start of the run."""

    length: Length
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Output:
    """An answer to a step of a workflow class with more than a return value.

    `state` is the state after the step, as plain JSON. `then` is what the step asks for at its end: "skip", "finish",
    "pause" or "cancel", the last two with a `reason`. The answer to a child of a durable function can be an Output
    with `then="cancel"`.
    """

    value: Any = None
    state: Any = UNSET
    then: Literal["skip", "finish", "pause", "cancel"] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StepRequest:
    """The argument of a callable answer, if it takes one. `parameters` are the rendered parameters of the step. `item`
    is the index of an item of a map."""

    step: str
    attempt: int = 1
    parameters: Any = None
    item: int | None = None


class CallPlace(NamedTuple):
    """The step that a call is made for. A page of a map has its own names of steps, so this has that of the map, and
    the index of the item."""

    workflow: str
    step: str
    item: int | None = None
    is_first: bool = True  # whether it is in the run that the test started


class Answers:
    """The answers of a test by the name of a step or wait.

    An answer is a value, an exception (or its class) to raise, or a callable that returns or raises one. TimeoutError
    means that no answer comes: a wait runs into its time limit, and a step of a definition or a durable function ends
    as if it had timed out.

    An operation that a durable function asks for again has a number from the second time on: `charge#2`. Without an
    answer for it, the answer for `charge` is used. If different operations have one name, use `@wait:x`, `@signal:x`
    and `@child:x`.
    """

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        later = {name: one for name, one in (given or {}).items() if isinstance(one, After)}
        self._after = {name: micros(seconds_of(one.length)) for name, one in later.items()}
        self._given = {**(given or {}), **{name: one.answer for name, one in later.items()}}

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.name_for(key) is not None

    def name_for(self, key: str) -> str | None:
        """Return the name under which this key has an answer, or None."""
        if key in self._given:
            return key
        name = key.partition(":")[2] if key.startswith("@") else key
        found = (name, key.partition("#")[0], name.partition("#")[0])
        return next((one for one in found if one in self._given), None)

    def key_for(self, place: CallPlace) -> str:
        """Return the key under which a step is answered: its name, in whichever run it is."""
        return place.step

    def after(self, key: str) -> Instant:
        """Return how long after the start of the run the answer comes."""
        return self._after.get(self.name_for(key) or key, 0)

    def names(self) -> tuple[str, ...]:
        return tuple(self._given)

    def silence(self, key: str) -> str | None:
        """Return the message of the timeout if no answer comes, else None."""
        given = self._given.get(self.name_for(key) or key)
        if isinstance(given, TimeoutError) or given is TimeoutError:
            return (str(given) if isinstance(given, TimeoutError) else "") or "the test lets it run out of time"
        return None

    def of(self, asked: StepRequest) -> Any:
        """Return the answer, or raise it if it is an exception. A callable's answer may be a coroutine."""
        given = self._given[self.name_for(asked.step) or asked.step]
        if _is_error(given):
            raise given
        if not callable(given):
            return given
        return given(asked) if _takes_one(given) else given()

    def outcome(self, call: StepCall, place: CallPlace) -> Outcome | Coroutine[Any, Any, Outcome] | None:
        """Return the outcome of a step that has an answer and does not run, or `None` for a step that runs."""
        if place.step not in self:
            return None
        asked = StepRequest(place.step, call.attempt, call.parameters, place.item)
        silence = self.silence(place.step)
        if silence is not None:
            return Fail(StepError("timeout", silence), timed_out=True)
        try:
            answer = self.of(asked)
            return self._awaited(call, answer) if inspect.isawaitable(answer) else _outcome(call, answer)
        except Exception as error:  # noqa: BLE001 - an answer that raises is a body that raises
            return failure_of(error)

    async def _awaited(self, call: StepCall, answer: Any) -> Outcome:
        try:
            return _outcome(call, await answer)
        except Exception as error:  # noqa: BLE001 - as above
            return failure_of(error)


def _outcome(call: StepCall, answer: Any) -> Outcome:
    if _is_error(answer):
        raise answer
    if call.kind is not StepKind.HTTP:
        return Done(with_run(call, encode_output(value_of(answer))))
    response = answer if isinstance(answer, Response) else Response(answer)
    body = None if response.body is None else msgspec.Raw(msgspec.json.encode(plain(response.body)))
    request = f"{call.parameters.get('method', 'GET')} {call.parameters.get('url', '')}"
    return outcome_of(HttpAnswer(response.status, dict(response.headers), body), request)


def value_of(answer: Any) -> Any:
    """Return the value of an answer."""
    return answer.value if isinstance(answer, Output) else answer


def plain(value: Any) -> Any:
    """Return a value after a round trip through JSON."""
    return _value(encode_output(value))["output"]


def _is_error(given: Any) -> bool:
    return isinstance(given, Exception) or (isinstance(given, type) and issubclass(given, Exception))


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError):
        return False
    return True
