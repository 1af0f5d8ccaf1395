"""The rows of resource links and reservations, and the verbs of a store for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from detent.run.links import Reservation

#: What identifies a resource: (tenant, system, type, id).
LinkKey = tuple[int, str, str, str]
#: The position of a link in a list: (system, type, id).
LinkPlace = tuple[str, str, str]


class NewLink(NamedTuple):
    """A link that a step of a run claims."""

    tenant: int
    system: str
    type: str
    id: str
    run: bytes
    step: str
    url: str | None = None

    @property
    def key(self) -> LinkKey:
        return self[:4]


class LinkRow(NamedTuple):
    """A link as stored in its table. `at` is when it was claimed."""

    tenant: int
    system: str
    type: str
    id: str
    run: bytes
    step: str
    url: str | None
    at: int

    def place(self) -> LinkPlace:
        """Return its position in a list."""
        return self.system, self.type, self.id


#: How many origins of a run are looked at.
MOST_ORIGINS: Final = 1_000


class LinkStore(Protocol):
    """The verbs of links. Links themselves are written by `flush`, and deleted with their run."""

    async def link_owners(self, keys: Sequence[LinkKey]) -> dict[LinkKey, bytes]:
        """Return which run has each of these resources. A resource that no run has is left out.

        It sees everything that was committed before the call."""

    async def hand_over_links(self, run: bytes, claims: Sequence[NewLink]) -> dict[LinkKey, bytes]:
        """Give a run the resources that belong to a run which it repeats or continues, in one transaction. Return which
        run has each of these resources now. A resource that no run has is left out.

        That is the origin of the run, the origin of that, and so on, if it has ended. Each resource is given away only
        if its owner is still the one that was looked at, so of two runs with the same origin one gets it."""

    async def run_links(self, tenant: int, run: bytes, *, limit: int, offset: int = 0) -> list[LinkRow]:
        """List the links of a run in the order in which they were claimed."""

    async def find_links(
        self,
        tenant: int,
        *,
        limit: int,
        system: str | None = None,
        type_: str | None = None,
        id_: str | None = None,
        after: LinkPlace | None = None,
    ) -> list[LinkRow]:
        """List links by system, type and id, those after that place.

        `type_` needs `system`, and `id_` needs both."""

    async def reserve(self, key: LinkKey, *, run: bytes, step: str) -> Reservation:
        """Reserve a key for a run unless another run has it, in one transaction.

        A run that has ended, or does not exist any more, and has created nothing loses the key to the run that asks.
        The key is deleted with the run that has it."""

    async def fulfil(self, key: LinkKey, *, run: bytes, resource: str, url: str | None) -> Reservation | None:
        """Store what was created for a key, if that run has it and nothing is stored yet. Return what is stored now.

        Return `None` if there is no such key any more."""
