"""The names a trigger's condition may use.

trigger.body  trigger.headers  trigger.query  trigger.scheduled_at
body  headers  query                    (the same, shorter)
event.type  event.data  event.id        (event triggers only)
"""

from __future__ import annotations

from typing import Final

from detent.authoring.compiled import TriggerType
from detent.authoring.fields import Fields, Problems, shown
from detent.authoring.templates import condition
from detent.expressions import Reference

_PARTS: Final = {
    "trigger": ("body", "headers", "query", "scheduled_at"),
    "event": ("type", "data", "id"),
}
_WHOLE: Final = ("body", "headers", "query")
ROOTS: Final = (*_PARTS, *_WHOLE)


def read_condition(fields: Fields, name: str, kind: TriggerType) -> str | None:
    """The condition of a trigger; a problem for what is no expression, and for every name it cannot read."""
    text, reads = condition(fields, name)
    for read in reads:
        if message := _problem(read.reference, kind, fields.problems):
            at = f" (at character {read.reference.position + 1})"
            fields.problems.add(read.field, f"{shown(read.reference.text)}: {message}{at}")
    return text


def _problem(reference: Reference, kind: TriggerType, problems: Problems) -> str | None:
    root, *rest = reference.path
    if root in _WHOLE:
        return None
    if root == "event" and kind is not TriggerType.EVENT:
        return f"only an event trigger has an event, and this one is {kind.value}; read body"
    parts = _PARTS.get(str(root))
    if parts is None:
        hint = problems.did_you_mean(str(root), ROOTS) or f"; there is {', '.join(ROOTS)}"
        return f"unknown name {shown(str(root))}{hint}"
    if rest and rest[0] in parts:
        return None
    choices = ", ".join(f"{root}.{part}" for part in parts)
    if not rest:
        return f"say which part: {choices}"
    return f"{root} has no {rest[0]!r}{problems.did_you_mean(str(rest[0]), parts) or f'; there is {choices}'}"
