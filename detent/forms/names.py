"""Names, queues and priorities as every form reads them."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from detent.values.fields import Fields, Problems, shown

_LONGEST_NAME: Final = 200
# A name is used in addresses and lists: no path, no invisible or bidirectional marks, no lone surrogates.
_NOT_IN_NAME: Final = re.compile(r"[/\\\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_STEP_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_QUEUE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_LARGEST_PRIORITY: Final = 1_000
_NOT_IN_SLUG: Final = re.compile(r"[^a-z0-9]+")


def read_name(fields: Fields) -> str:
    """Read the name of a workflow: 1 to 200 printable characters, without slashes and without spaces at its ends."""
    if fields.get("name") is None:
        fields.problems.add(fields.at("name"), "is missing")
    name = fields.text("name", most=_LONGEST_NAME) or ""
    if name != name.strip() or name in {".", ".."} or _NOT_IN_NAME.search(name):
        rule = "without slashes, invisible characters, or blanks at its ends"
        fields.problems.add(fields.at("name"), f"{shown(name)} cannot be the name of a workflow; choose one {rule}")
    return name


def slug(text: str) -> str:
    """Return small letters, digits and hyphens of a text; an empty text if it has no letters that can be written so."""
    folded = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return _NOT_IN_SLUG.sub("-", folded).strip("-")


def check_step_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of a step, in every form: names are used in addresses, expressions and columns."""
    if not _STEP_NAME.fullmatch(name):
        rule = "letters, digits, - and _, at most 64, the first a letter or _"
        problems.add(path, f"{shown(name)} cannot be the name of a step: {rule}")


def read_queue(fields: Fields) -> str | None:
    """Read the name of a queue, of a step or a workflow."""
    queue = fields.text("queue", most=64)
    if queue is not None and not _QUEUE_NAME.fullmatch(queue):
        fields.problems.add(fields.at("queue"), f"{shown(queue)} cannot be the name of a queue")
    return queue


def read_priority(fields: Fields) -> int | None:
    """Read a priority; the highest runs first."""
    return fields.integer("priority", least=-_LARGEST_PRIORITY, most=_LARGEST_PRIORITY)
