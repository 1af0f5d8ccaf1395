"""The caller of a command: the tenant whose rows it may read and change, and the name that the journal records."""

from __future__ import annotations

from dataclasses import dataclass

from detent.settings import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller. Commands that are bound to it read and change rows of its tenant only.

    `name` is the value of `by` in a journal entry: `api`, or `trigger trg_...`."""

    tenant: int
    name: str


def local_caller(name: str) -> Caller:
    """Return a caller of the default tenant, which every installation has."""
    return Caller(DEFAULT_TENANT, name)
