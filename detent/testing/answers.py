"""What a test says instead of the outside world: callbacks of waits, and results of steps whose bodies are not run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

import msgspec

from detent.embed.request import UNSET
from detent.graph.model import StepKind
from detent.instant import Instant, micros
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.http.step import HttpAnswer, outcome_of
from detent.steps.output import encode_output
from detent.steps.user_code import failure_of
from detent.testing.clock import Length, seconds_of

# An exception of a class that the code under test knows, made without knowing how that class is made.


def raised(place: str, message: str = "", *, code: str | None = None) -> Exception:
    """An exception of the class at that place, such as `shop.errors.CardDeclined`, which says `message`. Its
    constructor is not called; `code` is what an error of an action shows."""
    kind = _found(place)
    try:
        error = kind.__new__(kind, message)
    except Exception:  # noqa: BLE001 - a class with its own constructor: at least the name is the same
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
    """The answer to an HTTP step, or a callback, where the body alone does not say enough."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class After:
    """The answer that a durable function gets, or a wait, that long after the run began and not before."""

    length: Length
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Output:
    """The answer to a step of a workflow class where its return value does not say enough: the `state` it leaves, as
    plain JSON, and what it asks for in the end: `then` is "skip", "finish", "pause" or "cancel", the last two with a
    `reason`. A child of a durable function can be answered so as well: it can `cancel`."""

    value: Any = None
    state: Any = UNSET
    then: Literal["skip", "finish", "pause", "cancel"] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StepRequest:
    """What a callable answer is called with, if it takes an argument. `parameters` are the step's, filled in."""

    step: str
    attempt: int = 1
    parameters: Any = None


class Answers:
    """By the name of a step or wait: a value, an exception (or its class) to be raised, or a callable that returns or
    raises one. TimeoutError says that nothing comes: a wait is left to its time limit, a step of a definition or of a
    durable function ends as if it had run out of its own.

    What a durable function asks for several times has a number from the second time on: `charge#2`. Where nothing is
    said of that, what is said of `charge` holds. `@wait:x`, `@signal:x` and `@child:x` tell what has
    one name apart."""

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        later = {name: one for name, one in (given or {}).items() if isinstance(one, After)}
        self._after = {name: micros(seconds_of(one.length)) for name, one in later.items()}
        self._given = {**(given or {}), **{name: one.answer for name, one in later.items()}}

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.name_for(key) is not None

    def name_for(self, key: str) -> str | None:
        """The name that the answer to this is given under, if there is one."""
        if key in self._given:
            return key
        name = key.partition(":")[2] if key.startswith("@") else key
        found = (name, key.partition("#")[0], name.partition("#")[0])
        return next((one for one in found if one in self._given), None)

    def after(self, key: str) -> Instant:
        """How long after the beginning the answer comes."""
        return self._after.get(self.name_for(key) or key, 0)

    def names(self) -> tuple[str, ...]:
        return tuple(self._given)

    def silence(self, key: str) -> str | None:
        """If the answer is that none comes, the words for that."""
        given = self._given.get(self.name_for(key) or key)
        if isinstance(given, TimeoutError) or given is TimeoutError:
            return (str(given) if isinstance(given, TimeoutError) else "") or "the test lets it run out of time"
        return None

    def of(self, asked: StepRequest) -> Any:
        """The answer; may be a coroutine if it is a callable's. Raises what is to be raised."""
        given = self._given[self.name_for(asked.step) or asked.step]
        if _is_error(given):
            raise given
        if not callable(given):
            return given
        return given(asked) if _takes_one(given) else given()

    def outcome(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        """What becomes of a step that is answered instead of carried out."""
        asked = StepRequest(call.step, call.attempt, call.parameters)
        silence = self.silence(call.step)
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
        return Done(encode_output(value_of(answer)))
    response = answer if isinstance(answer, Response) else Response(answer)
    body = None if response.body is None else msgspec.Raw(msgspec.json.encode(plain(response.body)))
    request = f"{call.parameters.get('method', 'GET')} {call.parameters.get('url', '')}"
    return outcome_of(HttpAnswer(response.status, dict(response.headers), body), request)


def value_of(answer: Any) -> Any:
    """The result of a step that is answered so."""
    return answer.value if isinstance(answer, Output) else answer


def plain(value: Any) -> Any:
    """A value as JSON would give it back."""
    return _value(encode_output(value))["output"]


def _is_error(given: Any) -> bool:
    return isinstance(given, Exception) or (isinstance(given, type) and issubclass(given, Exception))


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError):
        return False
    return True
