"""What the operators do to two values. None of them guesses: unlike types are an error, never a conversion.

The one exception is `+` with text on a side: numbers and booleans are then written as they would be in a template.
"""

import math
import operator
from collections.abc import Callable, Mapping

from detent.expressions.errors import EvaluationError
from detent.expressions.limits import LARGEST_INTEGER, SMALLEST_INTEGER, Budget, check_length
from detent.expressions.values import NUMBERS, as_text, equal, kind_of, opened

EXACT_FLOAT = 2.0**53
JOINABLE = frozenset({str, int, float, bool})

Order = Callable[[object, object], bool]
ORDERS: Mapping[str, Order] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}  # type: ignore[dict-item]


def ordered(sign: str, order: Order, left: object, right: object) -> bool:
    """Numbers with numbers and text with text (by code point); anything with null is false."""
    if left is None or right is None:
        return False
    if (type(left) is str and type(right) is str) or (type(left) in NUMBERS and type(right) in NUMBERS):
        return order(left, right)
    raise EvaluationError(f"cannot compare {kind_of(left)} {sign} {kind_of(right)}")


def contains(container: object, item: object, budget: Budget) -> bool:
    """An array has an equal element, an object has the key, a text has the text; null has nothing."""
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
    """With the sign of the left side, as in JavaScript."""
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
    """A result that fits JSON everywhere: finite, 64 bits, and a whole number is an integer (2.5 * 2 is 5)."""
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
    """Both sides, if they are numbers that arithmetic can take without surprise."""
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
