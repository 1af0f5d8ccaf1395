"""JSON Schemas of actions, from the annotations of their functions.

msgspec describes the types it knows, and pydantic its own models. A type that neither can describe may be anything. So
a schema may allow more than the function accepts; it does not refuse a JSON value that the function would accept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from detent.steps.arguments import Signature, is_pydantic

Schema = dict[str, Any]

_REFERENCE: Final = "#/$defs/{name}"
_PYDANTIC_REFERENCE: Final = "#/$defs/{model}"
#: Formats of texts for which msgspec takes numbers too.
_NUMERIC_FORMATS: Final = ("decimal",)


def parameter_schema(signature: Signature) -> Schema:
    """Return the schema of the `with` of an action."""
    if signature.model is not None:
        [schema], defs = _schemas([signature.model], "validation")
        return _whole(_resolved(schema, defs), defs)
    hints = [*signature.named.values(), *([] if signature.others is None else [signature.others])]
    schemas, defs = _schemas(hints, "validation")
    found = dict(zip(signature.named, schemas, strict=False))
    properties = {name: _with_default(schema, signature.defaults, name) for name, schema in found.items()}
    schema = {"type": "object", "properties": properties}
    required = [name for name in signature.named if name not in signature.defaults]
    if required:
        schema["required"] = required
    if signature.others is None:
        schema["additionalProperties"] = False
    elif schemas[-1]:
        schema["additionalProperties"] = schemas[-1]
    return _whole(schema, defs)


def output_schema(signature: Signature) -> Schema:
    """Return the schema of what an action returns."""
    [schema], defs = _schemas([signature.returns], "serialization")
    return _whole(schema, defs)


def _schemas(hints: Sequence[Any], mode: str) -> tuple[list[Schema], dict[str, Any]]:
    """Return the schema of each hint, and the definitions that they refer to."""
    defs: dict[str, Any] = {}
    known = [hint if _can_be_described([hint], mode) else Any for hint in hints]
    if not _can_be_described(known, mode):
        known = [Any] * len(known)
    schemas, components = msgspec.json.schema_components(
        known, schema_hook=_foreign(defs, mode), ref_template=_REFERENCE
    )
    defs |= components
    return [_widened(schema) for schema in schemas], {name: _widened(one) for name, one in defs.items()}


def _can_be_described(hints: Sequence[Any], mode: str) -> bool:
    try:
        msgspec.json.schema_components(hints, schema_hook=_foreign({}, mode), ref_template=_REFERENCE)
    except Exception:  # noqa: BLE001 - annotations of users may be of any type, and hooks of pydantic may raise anything
        return False
    return True


def _foreign(defs: dict[str, Any], mode: str) -> Callable[[type[Any]], Schema]:
    """Return the function that describes a pydantic model. It adds the models inside to `defs`."""

    def describe(kind: type[Any]) -> Schema:
        if not is_pydantic(kind):
            raise NotImplementedError
        schema: Schema = kind.model_json_schema(ref_template=_PYDANTIC_REFERENCE, mode=mode)
        defs.update(schema.pop("$defs", {}))
        return schema

    return describe


def _widened(schema: Any) -> Any:
    """Return a schema that does not refuse what a conversion accepts: numbers for decimals, repeated items of sets."""
    if isinstance(schema, list):
        return [_widened(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {key: _widened(one) for key, one in schema.items() if key != "uniqueItems" or one is not True}
    if found.get("type") == "string" and found.get("format") in _NUMERIC_FORMATS:
        found["type"] = ["string", "number"]
    return found


def _resolved(schema: Schema, defs: Mapping[str, Any]) -> Schema:
    """Return the schema that a reference names, so that the schema of a whole `with` shows its properties."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    return dict(defs[name]) if set(schema) == {"$ref"} and name in defs else schema


def _with_default(schema: Schema, defaults: Mapping[str, Any], name: str) -> Schema:
    if name not in defaults:
        return schema
    try:
        return {**schema, "default": msgspec.to_builtins(defaults[name])}
    except Exception:  # noqa: BLE001 - it has no JSON form, or a class of the user raises
        return schema


def _whole(schema: Schema, defs: Mapping[str, Any]) -> Schema:
    return {**schema, "$defs": dict(defs)} if defs else schema
