"""Read paths: the fast part follows keys, the slow part explains why a path leads nowhere.

Only the items of mappings, arrays and text are read, and never an attribute. So `__class__` and `constructor` are
missing keys like any other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from detent.expressions.errors import Budget, EvaluationError, MissingValue, TruncatedValue
from detent.expressions.values import PLAIN, Deferred, Truncated, kind_of, opened, resolve, some_keys
from detent.values.limits import LARGEST_INTEGER, SMALLEST_INTEGER
from detent.values.nearest import nearest

Scope = Mapping[str, object]
Evaluate = Callable[[Scope, Budget], object]
Key = str | int
LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Reading:
    """How strict a path is: whether it may go through null, and whether it may lead nowhere. Then it reads as null."""

    through_null: bool
    missing: bool
    position: int
    base: str = ""


def static_path(keys: tuple[Key, ...], reading: Reading) -> Evaluate:
    """Compile a path without computed keys that is read from the scope."""

    def read(scope: Scope, budget: Budget) -> object:
        value: object = scope
        try:
            for key in keys:
                value = value[key] if type(value) is dict else _enter(value, key)
        except KeyError:
            return _explain(scope, keys, reading)
        return value if type(value) in PLAIN else _end(value, reading)

    return read


def follow(start: object, keys: tuple[Key, ...], reading: Reading) -> object:
    """Read keys from any value."""
    value = start
    try:
        for key in keys:
            value = _enter(value, key)
    except KeyError:
        return _explain(start, keys, reading)
    return _end(value, reading)


def as_key(value: object, position: int) -> Key:
    """Return a computed index as a key. Raise EvaluationError if it is neither text nor a whole number."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int and SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        return value
    if type(value) is str:
        return value
    raise EvaluationError(f"an index must be text or a whole number, not {kind_of(value)}", position)


def _enter(value: object, key: Key) -> object:
    """Return the item of one key. Raise KeyError if there is none."""
    if isinstance(value, Deferred):
        value = resolve(value, inside=True)
    if isinstance(value, (list, str)):
        if isinstance(key, int) and 0 <= key < len(value):
            return value[key]
        if key == "length":
            return len(value)
    elif isinstance(key, str) and isinstance(value, (dict, Mapping)):
        return value[key]
    raise KeyError(key)


def _end(value: object, reading: Reading) -> object:
    try:
        return opened(value)
    except EvaluationError as error:
        error.position = reading.position
        raise


def _explain(start: object, keys: tuple[Key, ...], reading: Reading) -> object:
    """Follow a failed path again. Return None where that is allowed; otherwise raise an error that names the key."""
    value = start
    for index, key in enumerate(keys):
        if isinstance(value, Deferred):
            value = resolve(value, inside=True)
        if isinstance(value, Truncated):
            path = value.field + path_text(keys[index:])
            raise TruncatedValue(value.step, path, reading.position, value.reason)
        if value is None and (reading.through_null or reading.missing):
            return None
        try:
            value = _enter(value, key)
        except KeyError:
            break
    else:
        # A mapping that creates its items on demand may have the item now.
        return _end(value, reading)
    if reading.missing:
        return None
    raise MissingValue(_reason(value, keys, index, reading.base), reading.position)


def _reason(value: object, keys: tuple[Key, ...], index: int, base: str) -> str:
    key = keys[index]
    owner = path_text(keys[:index], base).removeprefix(".")
    if isinstance(value, Mapping):
        if isinstance(key, int):
            return f"{owner} is an object and has no index {key}"
        return f"'{_clipped(key)}' is not {f'in {owner}' if owner else 'known here'}{_hint(key, value)}"
    if isinstance(value, list) and isinstance(key, int):
        return f"{owner} has no index {key}, its length is {len(value)}"
    if value is None:
        return f"{owner} is null"
    return f"{owner} is {kind_of(value)}, so it has no {_clipped(repr(key))}"


def _hint(key: str, mapping: Mapping[str, object]) -> str:
    minuend, minus, _ = key.partition("-")
    if minus and minuend in mapping:
        return "; put blanks around - to subtract"
    meant = nearest(key, some_keys(mapping))
    return f"; did you mean '{meant}'?" if meant else ""


def path_text(keys: tuple[Key, ...], base: str = "") -> str:
    """Format keys as in an expression: `.name`, `[0]`, `['odd name']`."""
    pieces = [base]
    for key in keys:
        if isinstance(key, int):
            pieces.append(f"[{key}]")
        elif key.replace("-", "_").replace("$", "_").isidentifier():
            pieces.append(f".{key}")
        else:
            pieces.append(f"[{_clipped(key)!r}]")
    return _clipped("".join(pieces))


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
