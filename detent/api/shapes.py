"""Schemas for people: the name of a type, and a value that shows a shape."""

from __future__ import annotations

from typing import Any, Final

Schemas = dict[str, Any]
_DEEPEST: Final = 4


def type_name(schema: dict[str, Any]) -> str:
    """The type of a parameter in a word or two."""
    if schema.get("type") == "array":
        return f"{type_name(schema.get('items', {}))}, repeatable"
    kind = schema.get("format") or schema.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else str(kind)


def sketch(schema: dict[str, Any], schemas: Schemas, depth: int = 0) -> Any:
    """A value that shows the shape of a schema: the names of types in place of values."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = schemas.get(name, schema)
    if depth > _DEEPEST:
        return "…"
    if "properties" in schema:
        return {key: sketch(value, schemas, depth + 1) for key, value in schema["properties"].items()}
    if schema.get("type") == "array":
        return [sketch(schema.get("items", {}), schemas, depth + 1)]
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return _either([sketch(choice, schemas, depth + 1) for choice in choices])
    return type_name(schema)


def _either(choices: list[Any]) -> Any:
    """The choice that says most; types are named side by side."""
    large = [choice for choice in choices if isinstance(choice, dict | list)]
    return large[0] if large else " | ".join(map(str, choices))
