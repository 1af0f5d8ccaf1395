"""Examples of JSON Schemas: the smallest plain value that a person would write for one.

An example or a default in the schema wins. Otherwise the type decides, with every property that the schema names. The
value need not be valid in every detail: patterns and conditions between fields are not solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

_DEEPEST: Final = 12
_MOST_FIELDS: Final = 200
_LONGEST_TEXT: Final = 1_000
_WORD: Final = "example"
_FORMATS: Final = {
    "date-time": "2026-02-22T10:00:00Z",
    "date": "2026-02-22",
    "time": "10:00:00Z",
    "duration": "PT1H",
    "email": "ada@shop.example",
    "hostname": "shop.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://shop.example/",
    "uuid": "01890000-0000-7000-8000-000000000000",
}
_WRITTEN: Final = ("const", "example", "default")
_BRANCHES: Final = ("allOf", "oneOf", "anyOf")


def example_of(schema: Mapping[str, Any]) -> Any:
    """Return an example of a schema; `None` where it says nothing."""
    return _Examples(schema).of(schema, 0)


class _Examples:
    """Builds one example. It counts fields, so that a schema that refers to itself ends soon."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST_FIELDS

    def of(self, schema: Any, depth: int) -> Any:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEEPEST or self._left < 0:
            return None
        for key in _WRITTEN:
            if key in schema:
                return schema[key]
        for key in ("examples", "enum"):
            if isinstance(schema.get(key), list) and schema[key]:
                return schema[key][0]
        if isinstance(schema.get("$ref"), str):
            return self.of(self._target(schema["$ref"]), depth + 1)
        for key in _BRANCHES:
            if isinstance(schema.get(key), list) and schema[key]:
                return self._joined(schema, key, depth)
        return self._typed(schema, depth)

    def _joined(self, schema: Mapping[str, Any], key: str, depth: int) -> Any:
        """Return the example of a schema with branches: of all of them, or of the first that is not null."""
        own = self._typed(schema, depth)
        if key != "allOf":
            found = (self.of(branch, depth + 1) for branch in schema[key])
            value = next((one for one in found if one is not None), None)
            return {**own, **value} if isinstance(own, dict) and isinstance(value, dict) else value
        for branch in schema[key]:
            value = self.of(branch, depth + 1)
            own = {**own, **value} if isinstance(own, dict) and isinstance(value, dict) else value
        return own

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), None)
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return _text(schema)
            case "integer" | "number":
                return _number(schema)
            case "boolean":
                return True
            case _:
                return self._object(schema, depth) if "properties" in schema else None

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping):
            return {}
        return {str(name): self.of(inner, depth + 1) for name, inner in properties.items() if self._left > 0}

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems")
        if isinstance(first, list):
            return [self.of(inner, depth + 1) for inner in first if self._left > 0]
        return [self.of(schema["items"], depth + 1)] if isinstance(schema.get("items"), Mapping) else []

    def _target(self, reference: str) -> Any:
        found: Any = self._root
        for key in unquote(reference.removeprefix("#")).split("/")[1:]:
            name = key.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


def _text(schema: Mapping[str, Any]) -> str:
    known = _FORMATS.get(str(schema.get("format")))
    if known is not None:
        return known
    least, most = schema.get("minLength"), schema.get("maxLength")
    word = _WORD.ljust(min(least, _LONGEST_TEXT), "x") if isinstance(least, int) else _WORD
    return word[:most] if isinstance(most, int) and most >= 0 else word


def _number(schema: Mapping[str, Any]) -> int | float:
    for key, step in (("minimum", 0), ("exclusiveMinimum", 1), ("maximum", 0), ("exclusiveMaximum", -1)):
        bound = schema.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            return bound + step
    return 1
