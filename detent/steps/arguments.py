"""The arguments of an action's function, from the `with` of a step.

The signature is read once, when the action is registered. A value is converted to the annotation of its parameter by
msgspec, strictly: the text "5" is not an int. Pydantic models validate themselves. Without an annotation the value
is passed unchanged. One parameter named `params` whose annotation is a class with fields takes the whole `with`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from detent.errors import InvalidInput
from detent.steps.action_context import ActionContext
from detent.steps.errors import InvalidParameters
from detent.values.nearest import nearest
from detent.values.text import plain_text

Bind = Callable[[Any, ActionContext | None], Mapping[str, Any]]

_AS_IT_IS: Final = object()
_KEYWORDS: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
#: The name of the parameter that takes the whole `with`.
WHOLE: Final = "params"


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of an action's function, and what it returns. A hint that says nothing is `Any`.

    `others` is the hint of `**parameters`, `None` without them. `context` has the parameters that receive the context.
    `model` is the class of the parameter that takes the whole `with`.
    """

    named: Mapping[str, Any]
    defaults: Mapping[str, Any]
    others: Any
    context: tuple[str, ...]
    returns: Any
    model: Any = None

    @property
    def required(self) -> frozenset[str]:
        return frozenset(name for name in self.named if name not in self.defaults)

    def binding(self) -> Bind:
        """Return the function that turns a `with` and a context into keyword arguments. It raises InvalidParameters."""
        if not self.named and self.others is Any and not self.context:
            return _bind_anything
        named = {name: _AS_IT_IS if hint is Any else hint for name, hint in self.named.items()}
        others = _AS_IT_IS if self.others is Any else self.others
        if self.model is not None:
            return _WholeBinding(self.model, self.context).bind
        return _Binding(named, self.required, others, self.context).bind

    def misfits(self, constants: Mapping[str, Any], *, is_whole: bool) -> Mapping[str, str | None]:
        """Return why each of these values does not fit its parameter, or `None` if it does. The empty name stands for
        all values together, of a function that takes the whole `with` in one parameter."""
        if self.model is not None:
            return {"": _misfit(constants, self.model)} if is_whole else {}
        hints = {name: self.named.get(name, self.others) for name in constants}
        return {name: _misfit(constants[name], hint) for name, hint in hints.items() if hint is not None}


def read_signature(function: Callable[..., object]) -> Signature:
    """Return the signature of an action's function.

    Raise InvalidInput if a parameter cannot be passed by name, or if the signature cannot be read.
    """
    hints = _hints(function)
    context = tuple(name for name, hint in hints.items() if hint is ActionContext and name != "return")
    named: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    others: Any = None
    for parameter in _parameters(function):
        hint = hints.get(parameter.name, Any)
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise InvalidInput(f"{_name(function)}: {parameter.name} cannot be given by name")
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            others = hint
        elif parameter.kind in _KEYWORDS and parameter.name not in context:
            named[parameter.name] = hint
            if parameter.default is not inspect.Parameter.empty:
                defaults[parameter.name] = parameter.default
    is_whole = list(named) == [WHOLE] and others is None and has_fields(named[WHOLE])
    return Signature(named, defaults, others, context, hints.get("return", Any), named[WHOLE] if is_whole else None)


def has_fields(hint: Any) -> bool:
    """Return whether a hint is a class with fields: a msgspec Struct, a dataclass or a pydantic model."""
    if not isinstance(hint, type):
        return False
    return issubclass(hint, msgspec.Struct) or dataclasses.is_dataclass(hint) or is_pydantic(hint)


def is_pydantic(hint: Any) -> bool:
    """Return whether a hint is a pydantic model, by duck typing: pydantic need not be installed."""
    return isinstance(hint, type) and hasattr(hint, "model_validate") and hasattr(hint, "model_json_schema")


@dataclass(frozen=True, slots=True)
class _Binding:
    named: Mapping[str, Any]
    required: frozenset[str]
    others: Any
    context: tuple[str, ...]

    def bind(self, given: Any, context: ActionContext | None) -> Mapping[str, Any]:
        given = _as_mapping(given)
        if not self.required <= given.keys() or (self.others is None and not given.keys() <= self.named.keys()):
            raise InvalidParameters(self._complaint(given))
        arguments: dict[str, Any] = {}
        wrong: list[str] = []
        for name, value in given.items():
            hint = self.named.get(name, self.others)
            if hint is _AS_IT_IS or type(value) is hint:
                arguments[name] = value
                continue
            try:
                arguments[name] = _converted(value, hint)
            except _MISFITS as error:
                wrong.append(f"the parameter {name!r} does not fit: {error}")
        if wrong:
            raise InvalidParameters("; ".join(wrong))
        for name in self.context:
            arguments[name] = context
        return arguments

    def _complaint(self, given: Mapping[str, Any]) -> str:
        unknown = [name for name in given if name not in self.named] if self.others is None else []
        missing = [name for name in self.named if name in self.required and name not in given]
        problems = [_unknown(name, self.named) for name in unknown]
        problems += [f"the parameter {name!r} is missing" for name in missing]
        return "; ".join(problems)


@dataclass(frozen=True, slots=True)
class _WholeBinding:
    model: Any
    context: tuple[str, ...]

    def bind(self, given: Any, context: ActionContext | None) -> Mapping[str, Any]:
        given = unwrapped(_as_mapping(given), self.model)
        try:
            arguments = {WHOLE: _converted(given, self.model)}
        except _MISFITS as error:
            raise InvalidParameters(f"the parameters do not fit: {error}") from None
        for name in self.context:
            arguments[name] = context
        return arguments


def unwrapped(given: Mapping[str, Any], model: Any) -> Any:
    """Return what the class of a whole `with` is made of. `with: {params: {...}}` is another spelling of it."""
    is_wrapped = given.keys() == {WHOLE} and WHOLE not in getattr(model, "__annotations__", ())
    return given[WHOLE] if is_wrapped else given


def did_you_mean(name: str, known: typing.Iterable[str]) -> str:
    """Return `; did you mean 'charge'?`, or an empty text if no known name is close."""
    meant = nearest(name, known)
    return "" if meant is None else f"; did you mean {meant!r}?"


def _bind_anything(given: Any, _: ActionContext | None) -> Mapping[str, Any]:
    return given if type(given) is dict else _as_mapping(given)


def _as_mapping(given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidParameters(f"`with` must be an object of parameters, not {type(given).__name__}")
    return given


def _unknown(name: str, known: typing.Iterable[str]) -> str:
    return f"there is no parameter {str(name)[:80]!r}{did_you_mean(name, known)}"


_LONGEST_MISFIT: Final = 300
_MISFITS: Final = (msgspec.MsgspecError, TypeError, ValueError)


def _converted(value: Any, hint: Any) -> Any:
    return msgspec.convert(value, hint, dec_hook=_foreign)


def _misfit(value: Any, hint: Any) -> str | None:
    try:
        if hint is not Any:
            _converted(value, hint)
    except _MISFITS as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a class of the user may raise anything when it is made
        return plain_text(error, _LONGEST_MISFIT)
    return None


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
    return {name: Any if hint is object else hint for name, hint in hints.items()}


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", repr(function))
