"""Shapes: parts of a request or of an output, each compiled once to a function that fills it in.

Most values are exactly one parameter, or one value of the answer. They are taken as they are, without an expression.
Everything else is read by an expression, which knows the rules and the limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from detent.expressions import SECRETS_LANGUAGE, Mode, compile_expression, compile_template

ABSENT: Final = object()
#: The expressions of manifests read no secrets: a workflow passes them in as parameters.
LANGUAGE: Final = SECRETS_LANGUAGE - 1
_WHOLE: Final = re.compile(r"\{\{(.*)\}\}", re.DOTALL)
_PATH: Final = re.compile(r"\{\{\s*(with|response\.body)((?:\.[A-Za-z_]\w*)+)\s*\}\}", re.ASCII)
_KEY: Final = ("{{ call.key }}", "{{call.key}}")
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
#: Longer texts and larger numbers inside a text are left to a template, which limits what it renders.
_SHORT: Final = 1_000
_SMALL: Final = 2**53
_ALONE: Final = re.compile(r"\{\{\s*with(?:\.([A-Za-z_$][\w$-]*)|\['([^'\\]+)'\])\s*\}\}")


class Values(Protocol):
    """What shapes are filled in with: parameters, the idempotency key, and the body of the answer that was read."""

    given: dict[str, Any]
    key: str
    body: Any

    def scope(self) -> Mapping[str, Any]:
        """Return what expressions read."""


Fill = Callable[[Values], Any]


def compile_shape(value: Any, declared: frozenset[str] = frozenset()) -> Fill | None:
    """Return the function that fills in a part, or `None` if it is constant. `declared` are the parameters.

    The function of a declared parameter that is not given returns ABSENT."""
    if isinstance(value, str):
        return _compile_text(value, declared)
    if isinstance(value, dict):
        return _compile_object(value, declared)
    if isinstance(value, list):
        fills = [(index, fill) for index, one in enumerate(value) if (fill := compile_shape(one, declared))]

        def fill_array(values: Values) -> Any:
            result = list(value)
            for index, fill in fills:
                found = fill(values)
                result[index] = None if found is ABSENT else found
            return result

        return fill_array if fills else None
    return None


def path_of_body(text: Any) -> tuple[str, ...] | None:
    """Return the path in the body of an answer that is the whole value."""
    whole = _PATH.fullmatch(text) if isinstance(text, str) else None
    return _names(whole[2]) if whole and whole[1] != "with" else None


def _names(path: str) -> tuple[str, ...]:
    return tuple(path.split(".")[1:])


def read_path(root: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path of the parameters or of an answer, or ABSENT."""
    value = root
    for name in path:
        if type(value) is not dict:
            return ABSENT
        value = value.get(name, ABSENT)
    return value


def _parameter_of(text: Any, declared: frozenset[str]) -> str | None:
    """Return the declared parameter that is the whole value."""
    alone = _ALONE.fullmatch(text) if isinstance(text, str) else None
    name = (alone[1] or alone[2]) if alone else None
    return name if name in declared else None


def _compile_text(text: str, declared: frozenset[str]) -> Fill | None:
    if "{{" not in text:
        return None
    name = _parameter_of(text, declared)
    if name is not None:
        return lambda values: values.given.get(name, ABSENT)
    if text in _KEY:
        return lambda values: values.key
    fill = _compile_any(text)
    if whole := _PATH.fullmatch(text):
        return _compile_value(whole[1] == "with", _names(whole[2]), fill)
    pieces = _PATH.split(text)  # texts, roots and paths in turn
    if len(pieces) == 1 or any("{{" in one for one in pieces[::3]):
        return fill
    return _compile_pieces(pieces[::3], pieces[1::3], pieces[2::3], fill)


def _compile_value(is_given: bool, path: tuple[str, ...], fill: Fill) -> Fill:
    """Compile a value that is exactly one path of the parameters, or of the body of an answer."""

    def fill_value(values: Values) -> Any:
        value = read_path(values.given if is_given else values.body, path)
        return value if type(value) in _SCALARS else fill(values)

    return fill_value


def _compile_pieces(texts: list[str], roots: list[str], paths: list[str], fill: Fill) -> Fill:
    """Compile a text with paths between its constant pieces."""
    holes = [
        (2 * at + 1, root == "with", _names(path)) for at, (root, path) in enumerate(zip(roots, paths, strict=True))
    ]
    constant = [one for text in texts for one in (text, "")][:-1]

    def fill_text(values: Values) -> Any:
        pieces = constant.copy()
        for index, is_given, path in holes:
            value: Any = values.given if is_given else values.body
            for name in path:
                if type(value) is not dict:
                    return fill(values)
                value = value.get(name)
            if type(value) is str and len(value) <= _SHORT:
                pieces[index] = value
            elif type(value) is int and -_SMALL < value < _SMALL:
                pieces[index] = str(value)
            else:
                return fill(values)
        text = "".join(pieces)
        return text if text.isascii() else fill(values)

    return fill_text


def _compile_any(text: str) -> Fill:
    whole = _WHOLE.fullmatch(text)
    if whole is not None and "{{" not in whole[1] and "}}" not in whole[1]:
        evaluate = compile_expression(whole[1].strip(), Mode.TEMPLATE, LANGUAGE).evaluate
        return lambda values: evaluate(values.scope())
    render = compile_template(text, LANGUAGE).render
    return lambda values: render(values.scope())


def _compile_object(value: dict[str, Any], declared: frozenset[str]) -> Fill | None:
    if value and all(map(_is_field, value.values())):
        return _compile_fields(value)
    fills = {key: fill for key, one in value.items() if (fill := compile_shape(one, declared))}
    if not fills:
        return None
    parts = [(key, _parameter_of(one, declared), fills.get(key) or _constant(one)) for key, one in value.items()]

    def fill_object(values: Values) -> Any:
        result, given = {}, values.given
        for key, name, fill in parts:
            if name is None:
                result[key] = fill(values)
            elif name in given:
                result[key] = given[name]
        return result

    return fill_object


def _constant(value: Any) -> Fill:
    return lambda values: value


def _is_field(text: Any) -> bool:
    """Return whether a value is exactly one field of the body of an answer."""
    path = path_of_body(text)
    return path is not None and len(path) == 1


def _compile_fields(value: dict[str, str]) -> Fill:
    """Compile an object whose values are fields of the body, as most outputs are."""
    fields = [(key, path[0], _compile_any(text)) for key, text in value.items() if (path := path_of_body(text))]

    def fill_fields(values: Values) -> Any:
        result, body = {}, values.body
        read = body.get if type(body) is dict else _no_field
        for key, name, fill in fields:
            found = read(name, ABSENT)
            result[key] = found if type(found) in _SCALARS else fill(values)
        return result

    return fill_fields


def _no_field(name: str, default: Any) -> Any:
    return default
