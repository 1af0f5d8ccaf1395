"""Types of events: `order.paid`. A trigger names one, or all that begin alike: `order.*`, `*`."""

from __future__ import annotations

import re
from typing import Final

from detent.authoring.fields import shown

LONGEST_EVENT_TYPE: Final = 200
_TYPE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*")


def event_type_problem(text: str) -> str | None:
    """What is wrong with the type of an event that was sent; nothing if it is good."""
    if len(text) > LONGEST_EVENT_TYPE:
        return f"has {len(text)} characters; at most {LONGEST_EVENT_TYPE} are allowed"
    if not _TYPE.fullmatch(text):
        return f"{shown(text)} cannot be the type of an event: letters, digits and . _ - : / only"
    return None


def event_pattern_problem(text: str) -> str | None:
    """What is wrong with the events a trigger names; nothing if it is good."""
    if text == "*":
        return None
    if "*" in text.removesuffix(".*"):
        return f'{shown(text)}: a star stands only at the end, behind a dot, as in "order.*"'
    return event_type_problem(text.removesuffix(".*"))


def event_matches(pattern: str, event_type: str) -> bool:
    """Whether this pattern means it: `order.*` means `order.paid` and `order.item.added`, but not `order`."""
    if pattern == "*":
        return True
    return event_type.startswith(pattern[:-1]) if pattern.endswith(".*") else event_type == pattern
