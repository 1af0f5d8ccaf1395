"""Resource links: which resources of other systems a run has created or taken.

A link is claimed before its step ends. One resource of a tenant belongs to one run. So a run that is repeated, or
another run for the same order, cannot take a resource that a run has already.

A reservation is a key of the user's own, such as the number of an order, under which one run creates a resource. It is
stored before the resource is created.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec

from detent.values.limits import ID_LIMIT

#: The maximum number of characters of a system and of a type.
LONGEST_WORD: Final = 64
LONGEST_URL: Final = 2_000
MOST_LINKS: Final = 100
#: The code and the name of a link to a resource that belongs to another run.
CONFLICT: Final = "WFENG003"
CONFLICT_NAME: Final = "RESOURCE_LINK_CONFLICT_OTHER_EXECUTION"


class InvalidLink(ValueError):
    """The link cannot be stored."""


class Link(msgspec.Struct, frozen=True, omit_defaults=True):
    """A resource of another system: `Link("monday", "item", "17", url="https://...")`. The id may be a number.

    Raise InvalidLink if a part is missing, too long, or not printable.
    """

    system: str
    type: str
    id: str
    url: str | None = None

    def __post_init__(self) -> None:
        given: object = self.id
        if isinstance(given, int) and not isinstance(given, bool):
            msgspec.structs.force_setattr(self, "id", str(given))
        _check_kind(self.system, self.type)
        check_word("id", self.id, ID_LIMIT)
        url = self.url
        if url is None:
            return
        check_word("url", url, LONGEST_URL)
        if not url.startswith(("http://", "https://")):
            raise InvalidLink(f"the url of a link must begin with http:// or https://, not {url[:80]!r}")


@lru_cache(maxsize=256)
def _check_kind(system: str, type_: str) -> None:
    """Check the system and the type of a link. There are few of them."""
    check_word("system", system, LONGEST_WORD)
    check_word("type", type_, LONGEST_WORD)


class Linked(msgspec.Struct, frozen=True):
    """The output of a step together with the resources that it created: `return Linked(page, [Link(...)])`."""

    output: Any
    links: tuple[Link, ...] | list[Link]


class Reservation(NamedTuple):
    """A key and what the store knows of it. `run` has it. `resource` is the id of the resource that was created for it,
    `None` until then. `is_mine`: the run that asked has it."""

    run: bytes
    resource: str | None
    url: str | None
    is_mine: bool


def check_word(name: str, value: object, most: int) -> None:
    """Raise InvalidLink unless the value is a printable text of 1 to `most` characters without blanks at its ends."""
    if type(value) is str and 0 < len(value) <= most and value.isprintable() and value[0] != " " != value[-1]:
        return  # the usual case; a space is the only blank that is printable
    if not isinstance(value, str):
        raise InvalidLink(f"the {name} of a link must be text, not {type(value).__name__}")
    if not 0 < len(value) <= most or not value.isprintable() or value != value.strip():
        shown = f"{value[:80]!r}" + ("…" if len(value) > 80 else "")
        raise InvalidLink(
            f"the {name} of a link must have 1 to {most} printable characters and no blank at its ends, not {shown}"
        )


def collected(links: Iterable[object]) -> tuple[Link, ...]:
    """Return links as they are claimed, each resource once. Raise InvalidLink for other values and for too many."""
    found: dict[tuple[str, str, str], Link] = {}
    for link in links:
        if not isinstance(link, Link):
            raise InvalidLink(f"links must be a list of detent.Link, and it has a {type(link).__name__}")
        found.setdefault((link.system, link.type, link.id), link)
    if len(found) > MOST_LINKS:
        raise InvalidLink(f"a step can have {MOST_LINKS} links, and this one has {len(found)}")
    return tuple(found.values())


def creation_key(tenant: int, system: str, type_: str, key: str) -> str:
    """Return the idempotency key with which the resource of a reservation is created, by whichever run."""
    text = "\0".join((str(tenant), system, type_, key))
    return sha256(text.encode()).hexdigest()[:32]
