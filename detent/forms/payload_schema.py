"""The JSON Schema of what starts a run: check the schema, and validate bodies.

A schema is written by users and applied to what strangers send, so both are bounded. Nothing is ever fetched: a
reference stays inside the schema. Patterns run on an engine whose time is linear in the text. References that branch
again and again could make the schema apply very often to one body; `work` refuses such a body before validation.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

import jsonschema_rs

from detent.errors import InvalidDefinition, Problem
from detent.expressions.paths import path_text
from detent.values.nearest import nearest

# How often the parts of a schema would be applied to one body.
#
# Without references that is at most the product of both sizes, and most are small. With references it may double at
# every level, which no size shows. So the walk comes first, without validating. Every part that might be applied
# counts, and the walk stops at MOST_WORK (a fifth of a second at worst).


MOST_WORK: Final = 150_000
#: The cost of a value that has to be walked into, relative to one that is only read.
_STEP: Final = 3
#: Keywords that contain one schema, a list of schemas, or a mapping of names to schemas, by where they are applied.
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
    """Yield the schema and every schema inside it, with its path."""
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
    """Return the path of a schema that leads back to itself at the same value, or branches too often; else `None`."""
    counted: dict[int, float] = {}
    for path, one in subschemas(schema):
        try:
            if _at_once(one, schema, counted) > MOST_WORK:
                return path
        except RecursionError:
            return path
    return None


def _at_once(schema: Any, root: Schema, counted: dict[int, float]) -> float:
    """Return how many schemas are applied to a value when this one is. It is infinite while it is being counted."""
    if not isinstance(schema, dict):
        return 1
    if id(schema) not in counted:
        counted[id(schema)] = math.inf
        counted[id(schema)] = 1 + sum(_at_once(inner, root, counted) for inner in _here(schema, root))
    return counted[id(schema)]


def work(schema: Schema, body: Any) -> int:
    """Return the cost of applying a schema to a body. It stops counting above MOST_WORK."""
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
    """Return how many schemas a schema has, if each is applied at most once to a value; else `None`."""
    parts = [one for _, one in subschemas(schema)]
    return len(parts) if not any("$ref" in one or _values(one) for one in parts) else None


def size(body: Any, most: int) -> int:
    """Return how many values a body has, including itself and its keys. It stops counting soon after `most`."""
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
    """Return how many values a body is compared with one by one. Scalars are found at once, however many there are."""
    options = _listed(schema.get("enum"))
    return len(options) if any(isinstance(one, dict | list) for one in options) else 0


def _here(schema: Schema, root: Any) -> Iterator[Any]:
    """Yield the schemas that are applied to the same value."""
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
    # Patterns are not matched here: each counts for all names.
    each += _named(schema.get("patternProperties")).values()
    names = schema.get("propertyNames")
    for key, one in value.items():
        yield from ((inner, one) for inner in each)
        if names is not None:
            yield names, key


def _in_array(schema: Schema, value: list[Any]) -> tuple[int, list[tuple[Any, Any]]]:
    """Return the cost of items that need no walk, and the items that do: arrays may be very long."""
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
    """Return the path that `#/$defs/order` points to."""
    keys = unquote(reference.removeprefix("#")).split("/")[1:]
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in keys)


def _target(root: Any, reference: str) -> Any:
    """Return the schema at a reference; `None` if it points nowhere."""
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


LARGEST_SCHEMA: Final = 64 * 1024
MOST_PROBLEMS: Final = 20
_FIELD: Final = "trigger_schema"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_LARGEST_PATTERN: Final = 500_000
_LONGEST_MESSAGE: Final = 300
#: Above this cost only the first problem is searched: the library builds all problems before it returns the first.
_MOST_PLACES: Final = 6_000
#: A body of plain values is not counted if it has fewer values than this by parts of its schema.
_MOST_FLAT: Final = 1_000
_TYPES: Final = "array, boolean, integer, null, number, object, string"
#: Not supported: references whose target depends on the origin of a schema, and keywords that change what `#` means.
_UNSUPPORTED: Final = ("$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "$anchor", "$vocabulary")


def check_schema(schema: object, field: str = _FIELD) -> list[Problem]:
    """Return everything that is wrong with a schema; empty if it can be used."""
    if not isinstance(schema, dict):
        return [Problem(field, 'must be a mapping, such as {type: object, required: ["order_id"]}')]
    size = len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())
    if size > LARGEST_SCHEMA:
        return [Problem(field, f"has {size} bytes; at most {LARGEST_SCHEMA} are allowed")]
    found = sorted(_dialect_problems(schema, field), key=lambda problem: problem.field)
    return _unique(found) or _unique(_made(schema, field))


class PayloadSchema:
    """A schema that is ready to validate bodies. Creating it raises InvalidDefinition if the schema is invalid."""

    def __init__(self, schema: Mapping[str, Any], field: str = _FIELD) -> None:
        if problems := check_schema(schema, field):
            raise InvalidDefinition(problems=problems)
        self._field = field
        self._schema = dict(schema)
        self._validator = _validator(self._schema)
        self._parts = plain_parts(self._schema)
        self._flat_length = -1 if self._parts is None else _MOST_FLAT // self._parts

    def problems(self, body: Any, root: str = "body") -> list[Problem]:
        """Return why a body is refused, at most MOST_PROBLEMS; empty if it is valid."""
        if self.accepts_flat(body):
            return []
        needed = self._work(body)
        if needed > MOST_WORK:
            message = "and its schema together take too much work to check; make either smaller"
            return [Problem(root, f"this {root} {message}")]
        if self._validator.is_valid(body):
            return []
        found = _first(self._validator, body) if needed > _MOST_PLACES else self._validator.iter_errors(body)
        return _unique(_said(inner, root) for error in found for inner in _inner(error))

    def accepts_flat(self, body: Any) -> bool:
        """Return whether a body is valid and an object of few plain values, which takes little work to check."""
        return (
            type(body) is dict
            and len(body) <= self._flat_length
            and _CONTAINERS.isdisjoint(map(type, body.values()))
            and self._validator.is_valid(body)
        )

    def constant_problems(self, body: Any, holes: Collection[Path], root: str = "body") -> list[Problem]:
        """Return why a body is refused, whatever comes into its `holes`: the paths of values that are not known yet."""
        if not holes:
            return self.problems(body, root)
        if self._work(body) > MOST_WORK:
            return []  # it is checked when it is complete
        found = (inner for error in self._validator.iter_errors(body) for inner in _inner(error))
        return _unique(_said(error, root) for error in found if _is_certain(error, holes))

    def _work(self, body: Any) -> int:
        """Return an upper bound of the cost. For small schemas and bodies the product of both sizes is enough."""
        if self._parts is not None:
            most = self._parts * size(body, _MOST_PLACES)
            if most <= _MOST_PLACES:
                return most
        return work(self._schema, body)


_CONTAINERS: Final = frozenset({dict, list})


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    # Messages show `mask` instead of the value that was sent: it may be large or secret.
    return jsonschema_rs.validator_for(
        schema,
        offline=True,
        mask="it",
        validate_formats=True,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=_LARGEST_PATTERN),
    )


#: Problems of an object or array that do not depend on the values inside it.
_CERTAIN: Final = (
    jsonschema_rs.ValidationErrorKind.Required,
    jsonschema_rs.ValidationErrorKind.AdditionalProperties,
    jsonschema_rs.ValidationErrorKind.Type,
    jsonschema_rs.ValidationErrorKind.MinItems,
    jsonschema_rs.ValidationErrorKind.MaxItems,
    jsonschema_rs.ValidationErrorKind.MinProperties,
    jsonschema_rs.ValidationErrorKind.MaxProperties,
    jsonschema_rs.ValidationErrorKind.PropertyNames,
)


def _is_certain(error: jsonschema_rs.ValidationError, holes: Collection[Path]) -> bool:
    """Return whether a problem stays, whatever comes into the holes."""
    path = tuple(error.instance_path)
    if any(path[: len(hole)] == hole for hole in holes):
        return False
    return isinstance(error.kind, _CERTAIN) or not any(hole[: len(path)] == path for hole in holes)


def _first(validator: jsonschema_rs.Validator, body: Any) -> list[jsonschema_rs.ValidationError]:
    try:
        validator.validate(body)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


def _dialect_problems(schema: dict[str, Any], field: str) -> Iterator[Problem]:
    """Yield what is not JSON Schema, and what would refer outside of this document."""
    if schema.get("$schema", _DIALECT) == _DIALECT:
        for error in _META.iter_errors(schema):
            yield Problem(_placed(field, error.instance_path), _schema_message(error))
    places = dict(subschemas(schema))
    name = "id" if "draft-04" in str(schema.get("$schema")) else "$id"
    known = {tuple(map(str, path)) for path in places}
    for path, one in places.items():
        for key in _UNSUPPORTED:
            if key in one:
                yield Problem(_placed(field, (*path, key)), f"{key} is not supported; use $ref with #/$defs/NAME")
        if path and name in one:
            yield Problem(_placed(field, (*path, name)), f"only the whole schema may have an {name}")
        if "$ref" in one and (message := _reference_problem(one["$ref"], known)):
            yield Problem(_placed(field, (*path, "$ref")), message)


def _reference_problem(reference: object, known: Collection[tuple[str, ...]]) -> str | None:
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return "a reference stays inside the schema: write #/$defs/NAME; nothing is fetched from elsewhere"
    if target_path(reference) in known:
        return None
    near = nearest(reference, ("#/" + "/".join(place) for place in known if place))
    return f"there is no schema at {_clipped(reference)}" + (f"; did you mean {near!r}?" if near else "")


def _made(schema: dict[str, Any], field: str) -> Iterator[Problem]:
    """Yield what only building the validator finds: patterns, dangling references, other dialects."""
    try:
        _validator(schema)
    except jsonschema_rs.ValidationError as error:
        yield Problem(_placed(field, error.instance_path), _schema_message(error))
        return
    if (place := endless(schema)) is not None:
        message = "leads back to itself, or branches too often, without going deeper into what is checked"
        yield Problem(_placed(field, place), message)


def _schema_message(error: jsonschema_rs.ValidationError) -> str:
    match error.instance_path[-1:]:
        case ["type"]:
            return f"must be one of {_TYPES}, or a list of them"
        case ["$schema"] | []:
            return f"is not a schema that can be used ({_clipped(error.message)})"
        case ["pattern"] | [_] if "regex" in error.message:
            return "is not a pattern that can be used; look-around and back-references are not supported"
    return _clipped(error.message)


def _inner(error: jsonschema_rs.ValidationError) -> Iterator[jsonschema_rs.ValidationError]:
    """Yield the problems of the one choice of an `anyOf` that the value was meant for, else the problem itself.

    That is so if the value has the type of only one choice, as an object has where an object or null may be."""
    if not isinstance(error.kind, jsonschema_rs.ValidationErrorKind.AnyOf):
        yield error
        return
    meant = [choice for choice in error.kind.context if not _has_other_type(choice, error)]
    for one in meant[0] if len(meant) == 1 else [error]:
        yield from _inner(one) if one is not error else [one]


def _has_other_type(choice: list[jsonschema_rs.ValidationError], error: jsonschema_rs.ValidationError) -> bool:
    kind = jsonschema_rs.ValidationErrorKind.Type
    return any(isinstance(one.kind, kind) and one.instance_path == error.instance_path for one in choice)


def _said(error: jsonschema_rs.ValidationError, root: str) -> Problem:
    place = _placed(root, error.instance_path)
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.AnyOf(context=choices) if all(
            _has_other_type(choice, error) for choice in choices
        ):
            types = [name for choice in choices for one in choice for name in getattr(one.kind, "types", ())]
            return Problem(place, f"must be of type {' or '.join(dict.fromkeys(types))}")
        case jsonschema_rs.ValidationErrorKind.Required(property=name):
            return Problem(_placed(place, [name]), "is missing")
        case jsonschema_rs.ValidationErrorKind.Constant(expected_value=value):
            return Problem(place, _clipped(f"must be {json.dumps(value, ensure_ascii=False)}"))
        case jsonschema_rs.ValidationErrorKind.FalseSchema():
            return Problem(place, "is not allowed")
        case jsonschema_rs.ValidationErrorKind.Type(types=types):
            return Problem(place, f"must be of type {' or '.join(types)}")
        case jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected=names):
            listed = ", ".join(_clipped(name) for name in names[:5])
            return Problem(place, _clipped(f"has fields that are not allowed: {listed}"))
    return Problem(place, _clipped(error.message))


def _placed(root: str, keys: Iterable[str | int]) -> str:
    """Return a path such as `body.items[0].price`."""
    return path_text(tuple(keys), root)


def _clipped(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"


def _unique(problems: Iterable[Problem]) -> list[Problem]:
    """Return the first problems; two keywords with the same message about one path are one problem."""
    return list(islice(dict.fromkeys(problems), MOST_PROBLEMS))


_META: Final = jsonschema_rs.validator_for({"$ref": _DIALECT}, offline=True, mask="it")
