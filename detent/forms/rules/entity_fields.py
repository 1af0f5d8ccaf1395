"""Compares the fields that a rule reads with the registered schema of its entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detent.errors import Problem
from detent.forms.compiled import RuleFacts
from detent.values.fields import shown
from detent.values.nearest import nearest


def check_fields(rule: RuleFacts | None, schema: Mapping[str, Any] | bool | None) -> list[Problem]:
    """Return a problem for each field that a rule reads and the schema of its entity does not have.

    A schema says which fields there are in `properties`. One that has none, or allows others with
    `additionalProperties` or `patternProperties`, is not compared."""
    known = fields_of(schema)
    if rule is None or known is None:
        return []
    problems = []
    for place, name in dict.fromkeys(rule.reads):
        if name not in known:
            near = nearest(name, known)
            hint = f"; did you mean {near!r}?" if near is not None else f"; it has {', '.join(sorted(known)[:20])}"
            problems.append(Problem(place, f"{rule.entity or 'the entity'} has no field {shown(name)}{hint}"))
    return problems


def fields_of(schema: Mapping[str, Any] | bool | None) -> set[str] | None:
    """Return the fields that a schema of an entity allows, or `None` if it allows any."""
    if not isinstance(schema, Mapping):
        return None
    found: set[str] = set()
    seen: set[int] = set()
    pending: list[Any] = [schema]
    while pending:
        one = pending.pop()
        if not isinstance(one, Mapping) or id(one) in seen:
            continue
        seen.add(id(one))
        if one.get("additionalProperties") not in (None, False) or one.get("patternProperties"):
            return None
        found |= (one.get("properties") or {}).keys()
        pending += [part for key in ("allOf", "anyOf", "oneOf") for part in one.get(key) or ()]
        pending += [one[key] for key in ("if", "then", "else") if key in one]
        if isinstance(one.get("$ref"), str):
            pending.append(_referred(schema, one["$ref"]))
    return found or None


def _referred(schema: Mapping[str, Any], reference: str) -> Any:
    """Return the part of a schema that a reference inside it names."""
    part: Any = schema
    for key in reference.removeprefix("#").strip("/").split("/"):
        part = part.get(key) if isinstance(part, Mapping) and key else part
    return part
