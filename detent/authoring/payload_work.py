"""How often the parts of a schema would have to be applied to one body.

Without references that is at most the size of one times the size of the other, and most are small. With references it
may double at every level, which no size shows. So the walk is made first, without judging anything: every part that
might be applied counts, and the walk stops at MOST_WORK (a fifth of a second at worst).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

MOST_WORK: Final = 150_000
#: What a place that has to be walked into costs, beside one that is only looked at.
_STEP: Final = 3
#: Keywords that hold one schema, a list of schemas, or a mapping of names to schemas, by where they are applied.
_HERE: Final = ("not", "if", "then", "else")
_HERE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_HERE_NAMED: Final = ("dependentSchemas", "dependencies")
_EACH_ITEM: Final = ("items", "additionalItems", "unevaluatedItems", "contains")
_EACH_VALUE: Final = ("additionalProperties", "unevaluatedProperties")
_ONE: Final = (*_HERE, *_EACH_ITEM, *_EACH_VALUE, "propertyNames")
_LISTS: Final = (*_HERE_LISTS, "prefixItems", "items")
_NAMED: Final = (*_HERE_NAMED, "properties", "patternProperties", "$defs", "definitions")
_APPLIES: Final = frozenset({*_ONE, *_LISTS, *_NAMED, "$ref"})
Path = tuple[str | int, ...]
Schema = dict[str, Any]


def subschemas(schema: Schema) -> Iterator[tuple[Path, Schema]]:
    """The schema and every schema written inside it, with its place."""
    pending: list[tuple[Path, Any]] = [((), schema)]
    while pending:
        path, one = pending.pop()
        if not isinstance(one, dict):
            continue
        yield path, one
        pending += [((*path, key), one[key]) for key in _ONE if isinstance(one.get(key), dict)]
        pending += [
            ((*path, key, number), inner)
            for key in _LISTS
            if isinstance(one.get(key), list)
            for number, inner in enumerate(one[key])
        ]
        pending += [
            ((*path, key, name), inner)
            for key in _NAMED
            if isinstance(one.get(key), dict)
            for name, inner in one[key].items()
        ]


def endless(schema: Schema) -> Path | None:
    """The place of a schema that leads back to itself, or branches without end, at one and the same value."""
    counted: dict[int, float] = {}
    for path, one in subschemas(schema):
        try:
            if _at_once(one, schema, counted) > MOST_WORK:
                return path
        except RecursionError:
            return path
    return None


def _at_once(schema: Any, root: Schema, counted: dict[int, float]) -> float:
    """How many schemas are applied to a value when this one is. Endless while it is being counted."""
    if not isinstance(schema, dict):
        return 1
    if id(schema) not in counted:
        counted[id(schema)] = math.inf
        counted[id(schema)] = 1 + sum(_at_once(inner, root, counted) for inner in _here(schema, root))
    return counted[id(schema)]


def work(schema: Schema, body: Any) -> int:
    """How much it takes to apply a schema to a body; more than MOST_WORK if it is more."""
    done = 0
    pending: list[tuple[Any, Any]] = [(schema, body)]
    while pending and done <= MOST_WORK:
        one, value = pending.pop()
        done += _STEP
        if isinstance(one, dict):
            done += _values(one)
            pending += ((inner, value) for inner in _here(one, schema))
            if isinstance(value, dict):
                pending += _in_object(one, value)
            elif isinstance(value, list):
                flat, deep = _in_array(one, value)
                done += flat
                pending += deep
    return done


def plain_parts(schema: Schema) -> int | None:
    """How many schemas a schema has, if each is applied at most once to a value; else nothing."""
    parts = [one for _, one in subschemas(schema)]
    return len(parts) if not any("$ref" in one or _values(one) for one in parts) else None


def size(body: Any, most: int) -> int:
    """How many values a body has, itself and those of its keys counted; it is not counted much further than `most`."""
    count = 1
    pending = [body]
    while pending and count <= most:
        value = pending.pop()
        if isinstance(value, dict):
            count += 2 * len(value)
            pending += value.values()
        elif isinstance(value, list):
            count += len(value)
            pending += value
    return count


def _values(schema: Schema) -> int:
    """Values a body is compared with one by one. Plain ones are found at once, however many they are."""
    options = _listed(schema.get("enum"))
    return len(options) if any(isinstance(one, dict | list) for one in options) else 0


def _here(schema: Schema, root: Any) -> Iterator[Any]:
    """Schemas applied to the same value."""
    yield from (schema[key] for key in _HERE if key in schema)
    for key in _HERE_LISTS:
        yield from _listed(schema.get(key))
    for key in _HERE_NAMED:
        yield from _named(schema.get(key)).values()
    if isinstance(schema.get("$ref"), str):
        yield _target(root, schema["$ref"])


def _in_object(schema: Schema, value: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    properties = _named(schema.get("properties"))
    yield from ((properties[key], value[key]) for key in value.keys() & properties.keys())
    each = [schema[key] for key in _EACH_VALUE if key in schema]
    # Which names a pattern matches is not asked: each counts for all.
    each += _named(schema.get("patternProperties")).values()
    names = schema.get("propertyNames")
    for key, one in value.items():
        yield from ((inner, one) for inner in each)
        if names is not None:
            yield names, key


def _in_array(schema: Schema, value: list[Any]) -> tuple[int, list[tuple[Any, Any]]]:
    """What the items take that need no closer look, and those that do: arrays may be very long."""
    flat, deep = 0, []
    for inner in (schema[key] for key in _EACH_ITEM if isinstance(schema.get(key), dict)):
        if inner.keys().isdisjoint(_APPLIES):
            flat += len(value) * (1 + _values(inner))
        else:
            deep += [(inner, one) for one in value]
    for key in ("prefixItems", "items"):
        deep += zip(_listed(schema.get(key)), value, strict=False)
    return flat, deep


def target_path(reference: str) -> tuple[str, ...]:
    """The place that `#/$defs/order` points to."""
    keys = unquote(reference.removeprefix("#")).split("/")[1:]
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in keys)


def _target(root: Any, reference: str) -> Any:
    """What stands there; nothing if it points nowhere."""
    for key in target_path(reference):
        if isinstance(root, list) and key.isdecimal() and int(key) < len(root):
            root = root[int(key)]
        else:
            root = root.get(key) if isinstance(root, dict) else None
    return root


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _named(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
