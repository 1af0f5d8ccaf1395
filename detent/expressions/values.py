"""The values of expressions: JSON values, and four classes that may be in their place. And the operators."""

import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from detent.expressions.errors import (
    Budget,
    EvaluationError,
    ExpressionError,
    ExpressionLimitExceeded,
    TruncatedValue,
    check_length,
)
from detent.expressions.sealed import Sealed
from detent.values.limits import CHARACTERS_PER_WORK, LARGEST_INTEGER, NESTING_LIMIT, SIZE_LIMIT, SMALLEST_INTEGER

SCALARS = frozenset({str, int, float, bool, type(None)})
NUMBERS = frozenset({int, float})
PLAIN = SCALARS | {dict, list}
LARGEST_DATA_BITS = 1_024
SMALL = 2**53
UNLIMITED = 2**63


class Deferred:
    """The base of values that are made on read, such as JSON that is still encoded."""

    __slots__ = ()

    def resolve(self) -> object:
        """Return the JSON value. This is called at each read, so an implementation should cache it."""
        raise NotImplementedError

    def inside(self) -> object:
        """Return the value that a longer path goes on in."""
        return self.resolve()


class Truncated:
    """A placeholder for a response that was cut off. Reading it, or anything in it, raises TruncatedValue.

    `reason` says why it is not there, if it is not a response."""

    __slots__ = ("field", "reason", "step")

    def __init__(self, step: str, field: str = "body", reason: str | None = None) -> None:
        self.step = step
        self.field = field
        self.reason = reason


class Headers(dict[str, object]):
    """Headers by name. A look-up ignores the case of the name. They do not change after their first look-up."""

    __slots__ = ("_lower",)
    _lower: dict[str, str]

    def __missing__(self, name: str) -> object:
        try:
            lower = self._lower
        except AttributeError:
            # Of two names that differ in their case only, the first one counts.
            lower = self._lower = {known.lower(): known for known in reversed(self)}
        return dict.__getitem__(self, lower[name.lower()])


def resolve(deferred: Deferred, *, inside: bool = False) -> object:
    """Return the value of a deferred value, or the one that a longer path goes on in. Any failure in it is caused by
    the data and becomes an EvaluationError."""
    try:
        return deferred.inside() if inside else deferred.resolve()
    except ExpressionError:
        raise
    except Exception as error:
        raise EvaluationError(f"a value could not be decoded ({type(error).__name__})") from error


def opened(value: object) -> object:
    """Return the value at the end of a read. Resolve a deferred one; refuse a truncated one and foreign objects."""
    if isinstance(value, Deferred):
        value = resolve(value)
    if type(value) in PLAIN or isinstance(value, Mapping):
        return value
    if isinstance(value, Truncated):
        raise TruncatedValue(value.step, value.field, reason=value.reason)
    if isinstance(value, Sealed):
        return value
    raise EvaluationError(f"a {type(value).__name__} is not a JSON value")


def kind_of(value: object) -> str:
    """Return the name of a value's type, for messages."""
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
    """Return whether a value counts as true, as in JavaScript: null, false, 0, NaN and '' are false.

    Everything else is true, also empty arrays and objects.
    """
    return bool(value) and value == value if type(value) in SCALARS else True


def equal(left: object, right: object, budget: Budget) -> bool:
    """Return whether two values have the same type and value, deeply. 1 equals 1.0, but true does not equal 1.

    The order of keys does not matter.
    """
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
    """Return the value with every deferred value in it resolved, and charge the work to the budget.

    Return the same object if nothing was resolved.
    """
    size, budget.size = budget.size, largest
    try:
        return measured(value, budget)
    finally:
        budget.size = size


def measured(value: object, budget: Budget, depth: int = 0) -> object:
    """Do the same as `settled`, and take at least the value's size as JSON from the budget."""
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
        raise ExpressionLimitExceeded(f"a value is nested more than {NESTING_LIMIT} levels deep")
    return depth + 1


def _measured_list(items: list[object], budget: Budget, depth: int) -> list[object]:
    budget.spend(len(items) + 1)
    result, size = items, len(items) + 2
    for index, item in enumerate(items):
        # Long arrays mostly have small integers. A function call for each would cost more than everything else.
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
    """Return the length of the text in UTF-8. Raise EvaluationError if it cannot be encoded (half a surrogate pair)."""
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise EvaluationError("a text contains half a surrogate pair") from None


def as_json(value: object, budget: Budget) -> str:
    """Return the value as compact JSON."""
    text = json.dumps(settled(value, budget, SIZE_LIMIT), ensure_ascii=False, separators=(",", ":"))
    check_length(len(text))
    return text


def as_text(value: object, budget: Budget) -> str:
    """Return the value as part of a text: null as an empty text, text unchanged, everything else as JSON."""
    if type(value) is str:
        return value
    return "" if value is None else as_json(value, budget)


def some_keys(mapping: Mapping[str, object]) -> Iterable[str]:
    """Return enough keys for a "did you mean", and few enough for data of any size."""
    return islice(mapping, 100)


# The operators. None of them converts: different types are an error.
#
# The one exception is `+` with a text on one side: numbers and booleans are then written as in a template.


EXACT_FLOAT = 2.0**53
JOINABLE = frozenset({str, int, float, bool})

Order = Callable[[object, object], bool]
ORDERS: Mapping[str, Order] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}  # type: ignore[dict-item]


def ordered(sign: str, order: Order, left: object, right: object) -> bool:
    """Compare numbers with numbers, and text with text (by code point). Return false if one side is null."""
    if left is None or right is None:
        return False
    if (type(left) is str and type(right) is str) or (type(left) in NUMBERS and type(right) in NUMBERS):
        return order(left, right)
    raise EvaluationError(f"cannot compare {kind_of(left)} {sign} {kind_of(right)}")


def contains(container: object, item: object, budget: Budget) -> bool:
    """Return whether an array has an equal element, an object has the key, or a text has the text. Null has nothing."""
    if container is None:
        return False
    if isinstance(container, list):
        budget.spend(len(container))
        return any(equal(opened(element), item, budget) for element in container)
    if isinstance(container, str) and isinstance(item, str):
        budget.spend_text(container, item)
        return item in container
    if isinstance(container, Mapping) and isinstance(item, str):
        return _has_key(container, item)
    raise EvaluationError(f"cannot look for {kind_of(item)} in {kind_of(container)}")


def _has_key(mapping: Mapping[str, object], key: str) -> bool:
    try:
        mapping[key]
    except KeyError:
        return False
    return True


def add(left: object, right: object, budget: Budget) -> object:
    if type(left) is str or type(right) is str:
        return _join(left, right, budget)
    a, b = _numbers("+", left, right)
    return checked(a + b)


def subtract(left: object, right: object, budget: Budget) -> object:
    a, b = _numbers("-", left, right)
    return checked(a - b)


def multiply(left: object, right: object, budget: Budget) -> object:
    a, b = _numbers("*", left, right)
    return checked(a * b)


def divide(left: object, right: object, budget: Budget) -> object:
    a, b = _numbers("/", left, right)
    if b == 0:
        raise EvaluationError("division by zero")
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return checked(a // b)
    return checked(a / b)


def remainder(left: object, right: object, budget: Budget) -> object:
    """Return the remainder with the sign of the left side, as in JavaScript."""
    a, b = _numbers("%", left, right)
    if b == 0:
        raise EvaluationError("division by zero")
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    return checked(math.fmod(a, b))


def negate(value: object) -> object:
    a, _ = _numbers("-", value, 0)
    return checked(-a)


ARITHMETIC: Mapping[str, Callable[[object, object, Budget], object]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
}


def checked(number: int | float) -> int | float:
    """Return a number that every JSON reader accepts: finite and 64 bits. A whole number is an integer (2.5 * 2 is 5).

    Raise EvaluationError if it is too large.
    """
    if isinstance(number, float):
        if not math.isfinite(number):
            raise EvaluationError("the number is too large")
        if not number.is_integer() or abs(number) > EXACT_FLOAT:
            return number
        number = int(number)
    if not SMALLEST_INTEGER <= number <= LARGEST_INTEGER:
        raise EvaluationError("the number is too large")
    return number


def _numbers(sign: str, left: object, right: object) -> tuple[int | float, int | float]:
    """Return both sides. Raise EvaluationError if one is not a number, or is an integer beyond 64 bits."""
    if type(left) not in NUMBERS or type(right) not in NUMBERS:
        raise EvaluationError(f"cannot calculate {kind_of(left)} {sign} {kind_of(right)}")
    for number in (left, right):
        if type(number) is int and not SMALLEST_INTEGER <= number <= LARGEST_INTEGER:
            raise EvaluationError("the number is too large to calculate with")
    return left, right  # type: ignore[return-value]


def _join(left: object, right: object, budget: Budget) -> str:
    if type(left) not in JOINABLE or type(right) not in JOINABLE:
        raise EvaluationError(f"cannot join {kind_of(left)} + {kind_of(right)}")
    first, second = as_text(left, budget), as_text(right, budget)
    check_length(len(first) + len(second))
    budget.spend_text(first, second)
    return first + second
