"""The functions of the language. Each is pure and bounded. `lower(x)` and `x.lower()` are the same call.

Those of revision 1 are here. `lists`, `dates` and `digests` have those of revision 2.

If the first argument is null, a function returns null, or false if it answers yes or no. So a condition on a skipped
step behaves like one on a path through null. Functions that accept null have `takes_null`.
"""

import decimal
import json
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NoReturn

from detent.expressions import values as operators
from detent.expressions.arguments import (
    ANY_NUMBER,
    Function,
    need_array,
    need_number,
    need_object,
    need_text,
    need_whole,
)
from detent.expressions.dates import DATE_FUNCTIONS
from detent.expressions.digests import DIGEST_FUNCTIONS
from detent.expressions.errors import Budget, EvaluationError, check_length
from detent.expressions.lists import LIST_FUNCTIONS
from detent.expressions.values import as_json, as_text, kind_of, opened, settled, utf8_length

MOST_DIGITS = 15
NUMBER_LETTERS = frozenset("0123456789+-.eE")
LONGEST_NUMBER = 64
URL_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
URL_TEXT = [chr(byte) if byte in URL_SAFE else f"%{byte:02X}" for byte in range(256)]
ROUNDING = decimal.Context(prec=60, rounding=decimal.ROUND_HALF_UP)


def _contains(budget: Budget, container: object, item: object) -> bool:
    return operators.contains(container, item, budget)


def _starts_with(budget: Budget, text: object, start: object) -> bool:
    return need_text(text).startswith(need_text(start))


def _ends_with(budget: Budget, text: object, end: object) -> bool:
    return need_text(text).endswith(need_text(end))


def _recased(budget: Budget, text: str, change: Callable[[str], str]) -> str:
    budget.spend_text(text, text)
    check_length(len(text))
    changed = change(text)
    check_length(len(changed))
    return changed


def _lower(budget: Budget, text: object) -> str:
    return _recased(budget, need_text(text), str.lower)


def _upper(budget: Budget, text: object) -> str:
    return _recased(budget, need_text(text), str.upper)


def _trim(budget: Budget, text: object) -> str:
    budget.spend_text(need_text(text))
    return need_text(text).strip()


def _split(budget: Budget, text: object, separator: object) -> list[str]:
    whole, mark = need_text(text), need_text(separator)
    if not mark:
        raise EvaluationError("needs a separator that is not empty")
    budget.spend_text(whole)
    budget.spend(whole.count(mark))
    return whole.split(mark)


def _join(budget: Budget, items: object, separator: object = ",") -> str:
    mark = need_text(separator)
    pieces: list[str] = []
    length = 0
    for item in need_array(items):
        piece = as_text(opened(item), budget)
        budget.spend_text(piece)
        pieces.append(piece)
        length += len(piece) + len(mark)
        check_length(length - len(mark))
    return mark.join(pieces)


def _replace(budget: Budget, text: object, old: object, new: object) -> str:
    whole, wanted, instead = need_text(text), need_text(old), need_text(new)
    if not wanted:
        raise EvaluationError("needs a text to replace that is not empty")
    budget.spend_text(whole, whole)
    check_length(len(whole) + whole.count(wanted) * (len(instead) - len(wanted)))
    return whole.replace(wanted, instead)


def _slice(budget: Budget, value: object, start: object, end: object = None) -> object:
    if not isinstance(value, (str, list)):
        raise EvaluationError(f"needs text or an array, not {kind_of(value)}")
    first = need_whole(start)
    last = len(value) if end is None else need_whole(end)
    budget.spend(len(value) if isinstance(value, list) else 1)
    return value[first:last]


def _size(budget: Budget, value: object) -> int:
    if isinstance(value, (str, list, Mapping)):
        return len(value)
    raise EvaluationError(f"needs text, an array or an object, not {kind_of(value)}")


def _keys(budget: Budget, value: object) -> list[str]:
    budget.spend(len(need_object(value)))
    return list(need_object(value))


def _values(budget: Budget, value: object) -> object:
    return settled(list(need_object(value).values()), budget)


def _first(budget: Budget, items: object) -> object:
    return opened(need_array(items)[0]) if need_array(items) else None


def _last(budget: Budget, items: object) -> object:
    return opened(need_array(items)[-1]) if need_array(items) else None


def _to_number(budget: Budget, value: object) -> int | float:
    if not isinstance(value, str):
        return need_number(value)
    text = value.strip() if len(value) <= LONGEST_NUMBER else ""
    try:
        if not NUMBER_LETTERS.issuperset(text):
            raise ValueError
        return operators.checked(float(text) if set(text) & set(".eE") else int(text))
    except ValueError:
        raise EvaluationError("the text is not a number") from None


def _to_boolean(budget: Budget, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    raise EvaluationError(f"needs a boolean or 'true' or 'false', not {kind_of(value)}")


def _to_string(budget: Budget, value: object) -> str:
    return as_text(value, budget)


def _to_json(budget: Budget, value: object) -> str:
    return as_json(value, budget)


def _parse_json(budget: Budget, text: object) -> object:
    budget.spend_text(need_text(text))
    check_length(len(need_text(text)))
    try:
        value = json.loads(need_text(text), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise EvaluationError("the text is not JSON") from None
    return settled(value, budget)


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python accepts but which are not valid JSON."""
    raise ValueError(name)


def _round(budget: Budget, value: object, digits: object = 0) -> int | float:
    number, places = need_number(value), need_whole(digits)
    if not 0 <= places <= MOST_DIGITS:
        raise EvaluationError(f"needs 0 to {MOST_DIGITS} digits")
    if isinstance(number, int) or abs(number) >= operators.EXACT_FLOAT:
        return number
    # Round the digits that users see: 1.005 rounds to 1.01, although its float is slightly smaller.
    rounded = decimal.Decimal(repr(number)).quantize(decimal.Decimal((0, (1,), -places)), context=ROUNDING)
    return operators.checked(float(rounded))


def _floor(budget: Budget, value: object) -> int | float:
    return operators.checked(math.floor(need_number(value)))


def _ceil(budget: Budget, value: object) -> int | float:
    return operators.checked(math.ceil(need_number(value)))


def _abs(budget: Budget, value: object) -> int | float:
    return operators.checked(abs(need_number(value)))


def _all_numbers(budget: Budget, values: tuple[object, ...]) -> list[int | float]:
    items = need_array(values[0]) if len(values) == 1 and isinstance(values[0], list) else list(values)
    budget.spend(len(items) + sum(type(item) is not int for item in items))
    return [need_number(item if type(item) is int else opened(item)) for item in items]


def _min(budget: Budget, *values: object) -> int | float | None:
    return min(_all_numbers(budget, values), default=None)


def _max(budget: Budget, *values: object) -> int | float | None:
    return max(_all_numbers(budget, values), default=None)


def _sum(budget: Budget, items: object) -> int | float:
    return operators.checked(sum(_all_numbers(budget, (need_array(items),))))


def _url_encode(budget: Budget, value: object) -> str:
    text = as_text(value, budget)
    check_length(utf8_length(text))
    data = text.encode()
    budget.spend(len(data))
    encoded = "".join(map(URL_TEXT.__getitem__, data))
    check_length(len(encoded))
    return encoded


TABLE: Mapping[str, Function] = {
    "contains": Function(
        _contains, 2, 2, "whether a text has a text, an array an element, an object a key", of_null=False
    ),
    "startsWith": Function(_starts_with, 2, 2, "whether a text begins with another", of_null=False),
    "endsWith": Function(_ends_with, 2, 2, "whether a text ends with another", of_null=False),
    "lower": Function(_lower, 1, 1, "the text in small letters"),
    "upper": Function(_upper, 1, 1, "the text in capital letters"),
    "trim": Function(_trim, 1, 1, "the text without blanks at both ends"),
    "split": Function(_split, 2, 2, "the array of texts between a separator"),
    "join": Function(_join, 1, 2, "the elements of an array as one text, with a separator (',') between"),
    "replace": Function(_replace, 3, 3, "the text with every occurrence of a text replaced by another"),
    "slice": Function(
        _slice, 2, 3, "the part of a text or array from one index up to another; negative ones count from the end"
    ),
    "size": Function(_size, 1, 1, "how many characters, elements or keys a text, array or object has"),
    "keys": Function(_keys, 1, 1, "the keys of an object"),
    "values": Function(_values, 1, 1, "the values of an object"),
    "first": Function(_first, 1, 1, "the first element of an array, null if it is empty"),
    "last": Function(_last, 1, 1, "the last element of an array, null if it is empty"),
    "number": Function(_to_number, 1, 1, "the number that a text spells"),
    "boolean": Function(_to_boolean, 1, 1, "the boolean that 'true' or 'false' spells"),
    "string": Function(_to_string, 1, 1, "the value as text, as a template writes it; '' for null", takes_null=True),
    "json": Function(_to_json, 1, 1, "the value as JSON text; 'null' for null", takes_null=True),
    "parseJson": Function(_parse_json, 1, 1, "the value that a JSON text spells"),
    "round": Function(_round, 1, 2, "the number rounded to so many digits (0) behind the point, halves away from zero"),
    "floor": Function(_floor, 1, 1, "the next smaller whole number"),
    "ceil": Function(_ceil, 1, 1, "the next larger whole number"),
    "abs": Function(_abs, 1, 1, "the number without its sign"),
    "min": Function(_min, 1, ANY_NUMBER, "the smallest of some numbers or of an array, null if it is empty"),
    "max": Function(_max, 1, ANY_NUMBER, "the largest of some numbers or of an array, null if it is empty"),
    "sum": Function(_sum, 1, 1, "the sum of an array of numbers"),
    "urlEncode": Function(_url_encode, 1, 1, "the value as text that is safe as one part of a URL"),
    **LIST_FUNCTIONS,
    **DATE_FUNCTIONS,
    **DIGEST_FUNCTIONS,
}

ALIASES: Mapping[str, str] = {
    "includes": "contains",
    "toLowerCase": "lower",
    "toUpperCase": "upper",
    "toString": "string",
    "replaceAll": "replace",
    "encodeURIComponent": "urlEncode",
    "some": "any",
    "every": "all",
    "flat": "flatten",
}

FUNCTIONS: Mapping[str, str] = MappingProxyType({name: function.description for name, function in TABLE.items()})
