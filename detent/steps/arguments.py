"""The arguments of an action's function, from the `with` of a step.

The signature is read once, when the action is registered. A value is converted to the annotation of its parameter by
msgspec, strictly: the text "5" is not an int. Pydantic models validate themselves. Without an annotation the value
is passed unchanged.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from detent import ids
from detent.errors import InvalidInput
from detent.run.call import StepCall
from detent.steps.errors import InvalidParameters
from detent.values.nearest import nearest


@dataclass(frozen=True, slots=True)
class ActionContext:
    """The attempt for which an action is called. A parameter with this annotation receives it; no step can set it."""

    run_id: str
    step: str
    attempt: int
    idempotency_key: str
    tenant: int

    @classmethod
    def of(cls, call: StepCall) -> ActionContext:
        return cls(ids.show(ids.RUN, call.run_id), call.step, call.attempt, call.idempotency_key, call.tenant)


Bind = Callable[[Any, StepCall], Mapping[str, Any]]

_AS_IT_IS: Final = object()
_KEYWORDS: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def compile_binding(function: Callable[..., object]) -> Bind:
    """Return the function that turns a `with` into keyword arguments.

    Raise InvalidInput if a parameter cannot be passed by name, or if the signature cannot be read.
    """
    parameters = _parameters(function)
    hints = _hints(function)
    if [p.kind for p in parameters] == [inspect.Parameter.VAR_KEYWORD] and set(hints.values()) <= {_AS_IT_IS}:
        return _bind_anything
    context = tuple(name for name, hint in hints.items() if hint is ActionContext)
    named: dict[str, Any] = {}
    others: Any = None
    for parameter in parameters:
        hint = hints.get(parameter.name, _AS_IT_IS)
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise InvalidInput(f"{_name(function)}: {parameter.name} cannot be given by name")
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            others = hint
        elif parameter.kind in _KEYWORDS and parameter.name not in context:
            named[parameter.name] = hint
    required = frozenset(p.name for p in parameters if p.name in named and p.default is inspect.Parameter.empty)
    return _Binding(named, required, others, context).bind


@dataclass(frozen=True, slots=True)
class _Binding:
    named: Mapping[str, Any]
    required: frozenset[str]
    others: Any
    context: tuple[str, ...]

    def bind(self, given: Any, call: StepCall) -> Mapping[str, Any]:
        given = _as_mapping(given)
        if not self.required <= given.keys() or (self.others is None and not given.keys() <= self.named.keys()):
            raise InvalidParameters(self._complaint(given))
        arguments = {name: _convert(name, value, self.named.get(name, self.others)) for name, value in given.items()}
        for name in self.context:
            arguments[name] = ActionContext.of(call)
        return arguments

    def _complaint(self, given: Mapping[str, Any]) -> str:
        unknown = [name for name in given if name not in self.named] if self.others is None else []
        missing = [name for name in self.named if name in self.required and name not in given]
        problems = [_unknown(name, self.named) for name in unknown]
        problems += [f"the parameter {name!r} is missing" for name in missing]
        return "; ".join(problems)


def did_you_mean(name: str, known: typing.Iterable[str]) -> str:
    """Return `; did you mean 'charge'?`, or an empty text if no known name is close."""
    meant = nearest(name, known)
    return "" if meant is None else f"; did you mean {meant!r}?"


def _bind_anything(given: Any, _: StepCall) -> Mapping[str, Any]:
    return given if type(given) is dict else _as_mapping(given)


def _as_mapping(given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidParameters(f"`with` must be an object of parameters, not {type(given).__name__}")
    return given


def _unknown(name: str, known: typing.Iterable[str]) -> str:
    return f"there is no parameter {str(name)[:80]!r}{did_you_mean(name, known)}"


def _convert(name: str, value: Any, hint: Any) -> Any:
    if hint is _AS_IT_IS or type(value) is hint:
        return value
    try:
        return msgspec.convert(value, hint, dec_hook=_foreign)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        raise InvalidParameters(f"the parameter {name!r} does not fit: {error}") from None


def _foreign(kind: type[Any], value: Any) -> Any:
    """Decode a value of a type that msgspec does not know: a pydantic model, by duck typing."""
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise TypeError(f"values of {kind.__qualname__} cannot be made from JSON")
    return validate(value)


def innermost(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function inside a partial or a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function):
        return function
    written: Callable[..., object] = type(function).__call__
    return written


def _parameters(function: Callable[..., object]) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise InvalidInput(f"{_name(function)}: its parameters cannot be read; wrap it in a function") from None


def _hints(function: Callable[..., object]) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(innermost(function), include_extras=True)
    except (NameError, TypeError) as error:
        raise InvalidInput(f"{_name(function)}: an annotation cannot be read: {error}") from None
    hints.pop("return", None)
    return {name: _AS_IT_IS if hint is Any or hint is object else hint for name, hint in hints.items()}


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", repr(function))
