"""The functions of lists and objects since revision 2: `map filter find any all sortBy groupBy` and the like.

An arrow reaches its function as `Each`: a call evaluates the body for one element, and pays for it. So the work of a
loop is limited before it is done. A function that builds an array of elements also pays for their texts: an array of a
thousand references to one large text would else be cheap to build and expensive to compare.
"""

import math
from collections.abc import Callable, Iterator, Mapping

from detent.expressions.arguments import (
    ANY_NUMBER,
    Function,
    need_array,
    need_choice,
    need_object,
    need_text,
    need_whole,
)
from detent.expressions.errors import Budget, EvaluationError
from detent.expressions.values import NUMBERS, PLAIN, kind_of, opened, settled, truthy

Each = Callable[[int, object], object]


def _elements(items: object) -> Iterator[tuple[int, object]]:
    for index, item in enumerate(need_array(items)):
        yield index, item if type(item) in PLAIN else opened(item)


def _map(budget: Budget, items: object, each: Each) -> list[object]:
    results = []
    for index, item in _elements(items):
        result = each(index, item)
        budget.spend_long(result)
        results.append(result)
    return results


def _filter(budget: Budget, items: object, each: Each) -> list[object]:
    kept = []
    for index, item in _elements(items):
        if truthy(each(index, item)):
            budget.spend_long(item)
            kept.append(item)
    return kept


def _find(budget: Budget, items: object, each: Each) -> object:
    return next((item for index, item in _elements(items) if truthy(each(index, item))), None)


def _any(budget: Budget, items: object, each: Each) -> bool:
    return any(truthy(each(index, item)) for index, item in _elements(items))


def _all(budget: Budget, items: object, each: Each) -> bool:
    return all(truthy(each(index, item)) for index, item in _elements(items))


def _sort_by(budget: Budget, items: object, each: Each, order: object = "asc") -> list[object]:
    is_descending = need_choice(order, ("asc", "desc"), "order") == "desc"
    numbers: list[tuple[object, object]] = []
    texts: list[tuple[object, object]] = []
    unknown: list[object] = []
    # A sort reads each key about as often as the length of the array has binary digits.
    rounds = len(need_array(items)).bit_length()
    for index, item in _elements(items):
        key = each(index, item)
        budget.spend_long(item)
        budget.spend(1 + rounds // 8)
        if type(key) is str:
            budget.spend(len(key) // 32 * rounds)
            texts.append((key, item))
        elif type(key) in NUMBERS:
            _finite(key)
            numbers.append((key, item))
        elif key is None:
            unknown.append(item)
        else:
            raise EvaluationError(f"needs an arrow that returns a number or text, not {kind_of(key)}")
    if numbers and texts:
        raise EvaluationError("cannot order numbers and texts together; use string() or number() in the arrow")
    ordered = sorted(numbers or texts, key=lambda pair: pair[0], reverse=is_descending)  # type: ignore[arg-type, return-value]
    return [*(item for _, item in ordered), *unknown]


def _group_by(budget: Budget, items: object, each: Each) -> dict[str, object]:
    groups: dict[str, list[object]] = {}
    for index, item in _elements(items):
        key = each(index, item)
        if type(key) not in (str, bool) and type(key) not in NUMBERS:
            raise EvaluationError(f"needs an arrow that returns text, a number or a boolean, not {kind_of(key)}")
        budget.spend(1)
        budget.spend_long(key)
        budget.spend_long(item)
        name = key if isinstance(key, str) else _scalar_text(key)
        groups.setdefault(name, []).append(item)
    return dict(groups)


def _unique(budget: Budget, items: object) -> list[object]:
    found: dict[str, object] = {}
    for _, item in _elements(items):
        whole = settled(item, budget)
        found.setdefault(_identity(whole), item)
        budget.spend_long(item)
    return list(found.values())


def _identity(value: object) -> str:
    """Return a text that is the same for two values exactly if they are equal.

    A text, because its hash cannot be foreseen: data could be made of numbers that all have the same hash.
    """
    if isinstance(value, str):
        return f"'{len(value)}:{value}"
    if isinstance(value, list):
        return f"[{','.join(map(_identity, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(_identity(key) + _identity(value[key]) for key in sorted(value))}}}"
    return _scalar_text(value)


def _scalar_text(value: object) -> str:
    """Return null, a boolean or a number as text: 1 and 1.0 are the same number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    number = _finite(value)
    return str(int(number)) if isinstance(number, int) or number.is_integer() else repr(number)


def _finite(value: object) -> int | float:
    assert isinstance(value, (int, float))
    if isinstance(value, float) and not math.isfinite(value):
        raise EvaluationError("a number of the data is not finite")
    return value


def _flatten(budget: Budget, items: object) -> list[object]:
    flat: list[object] = []
    for _, item in _elements(items):
        if isinstance(item, list):
            budget.spend(1 + len(item))
            for inner in item:
                budget.spend_long(inner)
            flat.extend(item)
        else:
            budget.spend(1)
            budget.spend_long(item)
            flat.append(item)
    return flat


def _zip(budget: Budget, *arrays: object) -> list[object]:
    length = min(len(need_array(one)) for one in arrays)
    budget.spend(length * (len(arrays) + 1))
    return [list(row) for row in zip(*(need_array(one)[:length] for one in arrays), strict=True)]


def _range(budget: Budget, first: object, end: object = None, step: object = 1) -> list[int]:
    start, stop = (0, need_whole(first)) if end is None else (need_whole(first), need_whole(end))
    if not need_whole(step):
        raise EvaluationError("needs a step that is not 0")
    numbers = range(start, stop, need_whole(step))
    budget.spend(1 + max(0, (stop - start) // numbers.step))  # `len` cannot count every range
    return list(numbers)


def _merge(budget: Budget, *objects: object) -> dict[str, object]:
    merged: dict[str, object] = {}
    for one in objects:
        if one is not None:
            budget.spend(2 * len(need_object(one)))
            merged.update(need_object(one))
    return merged


def _names(names: tuple[object, ...]) -> list[str]:
    given = names[0] if len(names) == 1 and isinstance(names[0], list) else list(names)
    return [need_text(name if type(name) in PLAIN else opened(name)) for name in given]


def _pick(budget: Budget, value: object, *names: object) -> dict[str, object]:
    whole, wanted = need_object(value), _names(names)
    budget.spend(2 * len(wanted))
    picked = {}
    for name in wanted:
        try:
            picked[name] = whole[name]
        except KeyError:
            continue
    return picked


def _omit(budget: Budget, value: object, *names: object) -> dict[str, object]:
    whole, unwanted = need_object(value), frozenset(_names(names))
    budget.spend(2 * len(whole) + len(unwanted))
    return {name: whole[name] for name in whole if name not in unwanted}


def _entries(budget: Budget, value: object) -> list[object]:
    whole = need_object(value)
    budget.spend(3 * len(whole))
    return [[name, whole[name]] for name in whole]


def _from_entries(budget: Budget, items: object) -> dict[str, object]:
    pairs = need_array(items)
    budget.spend(3 * len(pairs))
    found: dict[str, object] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise EvaluationError("needs an array of arrays of two, each a text and a value")
        found[pair[0]] = pair[1]
    return found


def _arrow(run: Callable[..., object], description: str, *, most: int = 2, of_null: object = None) -> Function:
    return Function(run, 2, most, description, of_null=of_null, language=2, has_arrow=True)


LIST_FUNCTIONS: Mapping[str, Function] = {
    "map": _arrow(_map, "what the arrow returns for each element"),
    "filter": _arrow(_filter, "the elements for which the arrow returns true"),
    "find": _arrow(_find, "the first element for which the arrow returns true, null if there is none"),
    "any": _arrow(_any, "whether the arrow returns true for at least one element", of_null=False),
    "all": _arrow(_all, "whether the arrow returns true for every element; true for an empty array", of_null=False),
    "sortBy": _arrow(
        _sort_by,
        "the elements by the number or text that the arrow returns; null last; 'desc' for the largest first",
        most=3,
    ),
    "groupBy": _arrow(_group_by, "an object: each text that the arrow returns, with the array of its elements"),
    "unique": Function(_unique, 1, 1, "the elements, of equal ones only the first", language=2),
    "flatten": Function(_flatten, 1, 1, "the elements of the arrays in an array, one level deep", language=2),
    "zip": Function(
        _zip, 2, ANY_NUMBER, "arrays of the elements with the same index, as many as the shortest has", language=2
    ),
    "range": Function(
        _range, 1, 3, "the whole numbers from a start (0) up to, not including, an end; with a step (1)", language=2
    ),
    "merge": Function(
        _merge, 2, ANY_NUMBER, "one object with the keys of all; the last one wins, null has no keys",
        takes_null=True, language=2,
    ),
    "pick": Function(_pick, 2, ANY_NUMBER, "the object with only these keys, or the keys of an array", language=2),
    "omit": Function(_omit, 2, ANY_NUMBER, "the object without these keys, or the keys of an array", language=2),
    "entries": Function(_entries, 1, 1, "the keys and values of an object, as arrays of two", language=2),
    "fromEntries": Function(
        _from_entries, 1, 1, "an object of keys and values in arrays of two; the last one of a key wins", language=3
    ),
}  # fmt: skip
