"""The fingerprint of code: a hash over functions and their options, without line numbers.

It changes with the code of a step, its defaults and its closed-over plain values, and not with a comment. Another
version of Python may compile the same code differently, which makes another fingerprint.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, Final

_PLAIN: Final = (str, bytes, bool, int, float, type(None))


def fingerprint(functions: Iterable[Callable[..., Any]], said: Any) -> str:
    """Return the fingerprint as sixteen hexadecimal digits."""
    found = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode())
    for function in functions:
        for part in _parts(function):
            found.update(part.encode("utf-8", "replace") + b"\x00")
    return found.hexdigest()[:16]


def _parts(function: Any) -> Iterator[str]:
    """Yield texts that identify a function, the one it wraps, and the one inside a partial."""
    seen = 0
    while function is not None and seen < 100:
        seen += 1
        if isinstance(function, functools.partial):
            yield f"{function.args!r}{sorted(function.keywords)!r}"
            function = function.func
            continue
        code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
        if isinstance(code, CodeType):
            yield from _code(code)
        else:
            yield getattr(function, "__qualname__", type(function).__qualname__)
        yield from _values(function)
        function = getattr(function, "__wrapped__", None)


def _values(function: Any) -> Iterator[str]:
    """Yield the plain values of a function: its defaults and its closed-over values."""
    values = [
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
    ]
    for cell in getattr(function, "__closure__", None) or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            continue  # not set yet
    yield repr([value for value in values if isinstance(value, _PLAIN)])


def _code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        yield from _constant(constant)


def _constant(constant: object) -> Iterator[str]:
    if isinstance(constant, CodeType):
        yield from _code(constant)
    elif isinstance(constant, frozenset):
        yield repr(sorted(map(repr, constant)))  # the order of a set differs between processes
    else:
        yield repr(constant)
