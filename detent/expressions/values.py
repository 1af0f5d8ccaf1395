"""The values expressions work on: JSON values, and three markers that a scope may hold in their place."""

import json
import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from detent.expressions.errors import EvaluationError, ExpressionError, LimitExceeded, TruncatedValue
from detent.expressions.limits import CHARACTERS_PER_WORK, NESTING_LIMIT, SIZE_LIMIT, Budget, check_length

SCALARS = frozenset({str, int, float, bool, type(None)})
NUMBERS = frozenset({int, float})
PLAIN = SCALARS | {dict, list}
LARGEST_DATA_BITS = 1_024
SMALL = 2**53
UNLIMITED = 2**63


class Deferred:
    """A value that is made when it is first read, such as JSON that is still bytes. Subclass it."""

    __slots__ = ()

    def resolve(self) -> object:
        """The JSON value; called at each read, so keep it."""
        raise NotImplementedError


class Truncated:
    """Stands for a response that was cut off: reading it, or anything below it, is an error that says so."""

    __slots__ = ("field", "step")

    def __init__(self, step: str, field: str = "body") -> None:
        self.step = step
        self.field = field


class Headers(dict[str, object]):
    """Header names to values, found in any case."""

    def __missing__(self, name: str) -> object:
        wanted = name.lower()
        for known, value in self.items():
            if known.lower() == wanted:
                return value
        raise KeyError(name)


def resolve(deferred: Deferred) -> object:
    """What a deferred value stands for. Whatever fails in there is the data's fault and becomes our error."""
    try:
        return deferred.resolve()
    except ExpressionError:
        raise
    except Exception as error:
        raise EvaluationError(f"a value could not be decoded ({type(error).__name__})") from error


def opened(value: object) -> object:
    """The value a read ends at: deferred ones resolved, truncated ones and foreign objects refused."""
    if isinstance(value, Deferred):
        value = resolve(value)
    if type(value) in PLAIN or isinstance(value, Mapping):
        return value
    if isinstance(value, Truncated):
        raise TruncatedValue(value.step, value.field)
    raise EvaluationError(f"a {type(value).__name__} is not a JSON value")


def kind_of(value: object) -> str:
    """The name of a value's type, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an array" if isinstance(value, list) else "an object"


def truthy(value: object) -> bool:
    """As in JavaScript: null, false, 0, NaN and '' are false; all else is true, empty arrays and objects too."""
    return bool(value) and value == value if type(value) in SCALARS else True


def equal(left: object, right: object, budget: Budget) -> bool:
    """Same type and same value, deeply; 1 equals 1.0, true does not equal 1, the order of keys is nothing."""
    if type(left) in SCALARS or type(right) in SCALARS:
        return _same_scalar(left, right)
    return _same(settled(left, budget), settled(right, budget))


def _same_scalar(left: object, right: object) -> bool:
    if type(left) not in SCALARS or type(right) not in SCALARS:
        return False
    return (type(left) is bool) is (type(right) is bool) and left == right


def _same(left: object, right: object) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(key in right and _same(left[key], right[key]) for key in left)
    return _same_scalar(left, right)


def settled(value: object, budget: Budget, largest: int = UNLIMITED) -> object:
    """The value with every marker inside it resolved, paid for as work; the same object if there was none."""
    size, budget.size = budget.size, largest
    try:
        return measured(value, budget)
    finally:
        budget.size = size


def measured(value: object, budget: Budget, depth: int = 0) -> object:
    """As `settled`, and takes at least the value's size as JSON from the budget."""
    if type(value) not in SCALARS:
        value = opened(value)
    if isinstance(value, list):
        return _measured_list(value, budget, _deeper(depth))
    if isinstance(value, Mapping):
        return _measured_object(value, budget, _deeper(depth))
    budget.spend(1)
    budget.take(_scalar_size(value, budget))
    return value


def _deeper(depth: int) -> int:
    if depth == NESTING_LIMIT:
        raise LimitExceeded(f"a value is nested more than {NESTING_LIMIT} levels deep")
    return depth + 1


def _measured_list(items: list[object], budget: Budget, depth: int) -> list[object]:
    budget.spend(len(items) + 1)
    result, size = items, len(items) + 2
    for index, item in enumerate(items):
        # Small integers are most of what makes arrays long; a call for each would cost more than all the rest.
        if type(item) is int and -SMALL < item < SMALL:
            size += 1
        elif type(item) in SCALARS:
            size += _scalar_size(item, budget)
        elif (new := measured(item, budget, depth)) is not item:
            result = list(items) if result is items else result
            result[index] = new
    budget.take(size)
    return result


def _measured_object(entries: Mapping[str, object], budget: Budget, depth: int) -> dict[str, object]:
    budget.spend(2 * len(entries) + 1)
    result = entries if type(entries) is dict else dict(entries)
    size = 2
    for key, item in entries.items():
        if type(key) is not str:
            raise EvaluationError(f"a key of an object must be text, not {type(key).__name__}")
        size += utf8_length(key) + 4
        if type(item) in SCALARS:
            size += _scalar_size(item, budget)
        elif (new := measured(item, budget, depth)) is not item:
            result = dict(result) if result is entries else result
            result[key] = new
    budget.take(size)
    return result


def _scalar_size(value: Any, budget: Budget) -> int:
    if type(value) is str:
        if len(value) >= CHARACTERS_PER_WORK:
            budget.spend(len(value) // CHARACTERS_PER_WORK)
        return utf8_length(value)
    if type(value) is int and value.bit_length() > LARGEST_DATA_BITS:
        raise EvaluationError("a number of the data is too large")
    if type(value) is float and not math.isfinite(value):
        raise EvaluationError("a number of the data is not finite")
    return 1


def utf8_length(text: str) -> int:
    """Bytes of the text in UTF-8; text that has none (half a surrogate pair) is refused."""
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise EvaluationError("a text holds half a surrogate pair") from None


def as_json(value: object, budget: Budget) -> str:
    """Compact JSON text."""
    text = json.dumps(settled(value, budget, SIZE_LIMIT), ensure_ascii=False, separators=(",", ":"))
    check_length(len(text))
    return text


def as_text(value: object, budget: Budget) -> str:
    """How a value reads inside text: null as nothing, text as itself, everything else as JSON."""
    if type(value) is str:
        return value
    return "" if value is None else as_json(value, budget)


def some_keys(mapping: Mapping[str, object]) -> Iterable[str]:
    """Enough keys to find what was meant, few enough for data of any size."""
    return islice(mapping, 100)
