"""The arguments of a durable function: from a call to the body of a run, and back, converted to their annotations.

A body is an object with the parameters by name. As far as JSON Schema can describe them, a start with an invalid body
is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from detent.errors import InvalidDefinition, InvalidInput
from detent.forms.payload_schema import check_schema
from detent.python.functions.run import Run
from detent.python.results import hints_of
from detent.steps.arguments import did_you_mean
from detent.steps.errors import InvalidParameters
from detent.steps.output import encode_output
from detent.steps.user_code import error_message

_KINDS: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_decode: Final = msgspec.json.Decoder().decode


class Arguments:
    """The parameters of a function after its `run`. Raises InvalidDefinition if one cannot be passed by name."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        every = list(inspect.signature(function).parameters.values())
        others = every[1:]
        if not every or every[0].kind not in (inspect.Parameter.POSITIONAL_ONLY, _KINDS[0]):
            raise InvalidDefinition(f"{name}: a durable function takes its run first, as in `async def {name}(run)`")
        for parameter in others:
            if parameter.kind not in _KINDS:
                raise InvalidDefinition(f"{name}: the parameter {parameter.name!r} cannot be given by name")
        hints = hints_of(function)
        if not _may_be_run(hints.get(every[0].name, every[0].annotation)):
            raise InvalidDefinition(
                f"{name}: a durable function takes its run first, as in `async def {name}(run: Run, {every[0]})`"
            )
        self._signature = inspect.Signature(others)
        self._hints = {one.name: hints.get(one.name, Any) for one in others}
        self.required = tuple(one.name for one in others if one.default is one.empty)
        self.schema = _schema(self._hints, self.required)

    def body_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a run that calls the function with these arguments. Raise InvalidInput if it cannot."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidInput(f"the arguments do not fit the function: {error}") from None
        body: dict[str, Any] = kept(dict(bound.arguments), "the body of the run")
        return body

    def check(self, body: Any) -> None:
        """Raise InvalidInput, with the arguments named, if the function cannot be called with that body."""
        try:
            self.of_body(body)
        except InvalidParameters as error:
            raise InvalidInput(f"the arguments do not fit the function: {error}") from None

    def of_body(self, body: Any) -> dict[str, Any]:
        """Return the arguments in a body as their annotated types. Raise InvalidParameters if they do not fit."""
        if body is None:
            body = {}
        if not isinstance(body, dict):
            raise InvalidParameters(f"the body must be an object of arguments, not {type(body).__name__}")
        problems = [f"the argument {name!r} is missing" for name in self.required if name not in body]
        problems += [
            f"there is no parameter {name!r}{did_you_mean(name, self._hints)}"
            for name in body
            if name not in self._hints
        ]
        if problems:
            raise InvalidParameters("; ".join(problems))
        return {name: _convert(name, value, self._hints[name]) for name, value in body.items()}


def kept(value: Any, what: str) -> Any:
    """Return a value as the JSON that is stored. Raise InvalidInput if it has none; `what` names the value."""
    try:
        return _decode(encode_output(value))["output"]
    except ValueError as error:
        raise InvalidInput(str(error).replace("the output", what)) from None


def _convert(name: str, value: Any, hint: Any) -> Any:
    if hint is Any or hint is object:
        return value
    try:
        return msgspec.convert(value, hint, dec_hook=_foreign)
    except Exception as error:  # noqa: BLE001 - this instantiates the user's class, which may raise anything
        raise InvalidParameters(f"the argument {name!r} does not fit: {error_message(error)}") from None


def _foreign(kind: type[Any], value: Any) -> Any:
    validate = getattr(kind, "model_validate", None)
    return value if validate is None else validate(value)


def _may_be_run(hint: Any) -> bool:
    """Return whether the annotation of a function's first parameter allows a Run."""
    if isinstance(hint, str):
        return "Run" in hint  # an annotation that cannot be evaluated
    return (
        not isinstance(hint, type) or hint is inspect.Parameter.empty or issubclass(Run, hint) or issubclass(hint, Run)
    )


def _schema(hints: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the JSON Schema of a body, as far as it can be described, or None."""
    properties: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    for name, hint in hints.items():
        try:
            (said,), found = msgspec.json.schema_components([hint], ref_template="#/$defs/{name}")
        except (TypeError, ValueError, NotImplementedError):
            said, found = {}, {}
        properties[name] = said
        parts |= found
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    else:
        schema["type"] = ["object", "null"]
    if parts:
        schema["$defs"] = parts
    return None if check_schema(schema) else schema
