"""Links and reservations as the code of steps uses them.

`Links` collects the resources that a step names. `find_or_create` reserves a key of the user's own before a resource is
created for it. So two runs never create it twice: the second finds it, or waits while the first is creating it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Protocol, TypeVar

from detent.errors import StoreError
from detent.ids import RUN, show
from detent.run.links import (
    LONGEST_WORD,
    InvalidLink,
    Link,
    Linked,
    Reservation,
    check_word,
    collected,
    creation_key,
)
from detent.run.outcomes import Done
from detent.steps.errors import OutputTooLarge, RetryLater
from detent.steps.output import encode_output
from detent.values.limits import ID_LIMIT
from detent.vault.secrets import SecretOpener

T = TypeVar("T")
#: Creates a resource. It gets an idempotency key and returns the resource, or its id.
Create = Callable[[str], Link | str | int]
CreateAsync = Callable[[str], Awaitable[Link | str | int]]

#: Seconds after which a step looks again for a resource that another run is creating.
LOOK_AGAIN: Final = 5.0
#: Seconds after which a step tries again if the database cannot be used.
AFTER_TROUBLE: Final = 1.0
RESERVED: Final = "reserved"
#: Seconds that a plain function waits for the database.
PATIENCE: Final = 30.0


class ReservationStore(Protocol):
    """The verbs of a store that reservations need."""

    async def reserve(self, key: tuple[int, str, str, str], *, run: bytes, step: str) -> Reservation: ...

    async def fulfil(
        self, key: tuple[int, str, str, str], *, run: bytes, resource: str, url: str | None
    ) -> Reservation | None: ...


class Reservations:
    """The reservations of one process. Executors get it when they are made, and `store` is set when it is opened.

    The values of `secrets` are never stored with a reservation."""

    def __init__(self, store: ReservationStore | None = None, secrets: SecretOpener | None = None) -> None:
        self.store = store
        self._secrets = secrets

    def clean(self, tenant: int, text: str) -> str:
        """Return a text without the values of the tenant's secrets."""
        redactor = None if self._secrets is None else self._secrets.redactors.get(tenant)
        return text if redactor is None else redactor.text(text)

    def opened(self) -> ReservationStore:
        if self.store is None:
            raise RetryLater(AFTER_TROUBLE, "the database is not open yet", code=RESERVED)
        return self.store


class Links:
    """The resources that one attempt names. It finds or creates one under a key.

    It is made on the loop of the engine. A plain function uses it in its own thread.
    """

    __slots__ = ("_loop", "_reservations", "_run", "_step", "_tenant", "_thread", "found")

    def __init__(self, reservations: Reservations | None, run: bytes, tenant: int, step: str) -> None:
        self._reservations, self._run, self._tenant, self._step = reservations, run, tenant, step
        self._thread = threading.get_ident()
        self._loop: asyncio.AbstractEventLoop | None = None
        if reservations is not None:
            self._loop = _running_loop()
        self.found: list[Link] = []

    def add(self, link: Link) -> Link:
        """Name a resource that this step created or took. It is claimed when the step succeeds."""
        if not isinstance(link, Link):
            raise InvalidLink(f"a link must be a detent.Link, not {type(link).__name__}")
        self.found.append(link)
        return link

    def find_or_create(self, system: str, type_: str, key: str, create: Create) -> Link:
        """Return the resource that was created under this key, or create it. For plain functions."""
        place = self._place(system, type_, key)
        reserved = self._wait(self._reserve(place))
        if reserved.resource is not None:
            return self._known(place, reserved)
        made = self._made(place, create(creation_key(*place)))
        return self._fulfilled(place, made, self._wait(self._fulfil(place, made)))

    async def find_or_create_async(self, system: str, type_: str, key: str, create: CreateAsync) -> Link:
        """Return the resource that was created under this key, or create it. For coroutines."""
        place = self._place(system, type_, key)
        reserved = await self._reserve(place)
        if reserved.resource is not None:
            return self._known(place, reserved)
        made = self._made(place, await create(creation_key(*place)))
        return self._fulfilled(place, made, await self._fulfil(place, made))

    def _place(self, system: str, type_: str, key: str) -> tuple[int, str, str, str]:
        check_word("system", system, LONGEST_WORD)
        check_word("type", type_, LONGEST_WORD)
        check_word("key", key, ID_LIMIT)
        if self._clean(key) != key:
            raise InvalidLink("the key of a resource has the value of a secret in it; write the name of the secret")
        return self._tenant, system, type_, key

    async def _reserve(self, place: tuple[int, str, str, str]) -> Reservation:
        """Reserve the key. Raise RetryLater while another run, which is open, creates the resource."""
        store = self._opened()
        try:
            reserved = await store.reserve(place, run=self._run, step=self._step)
        except StoreError as error:
            raise RetryLater(AFTER_TROUBLE, f"the key cannot be reserved: {error.message}", code=RESERVED) from None
        if reserved.resource is None and not reserved.is_mine:
            _, system, type_, key = place
            message = f"{system} {type_} {key!r} is being created by {show(RUN, reserved.run)}"
            raise RetryLater(LOOK_AGAIN, message, code=RESERVED)
        return reserved

    async def _fulfil(self, place: tuple[int, str, str, str], made: Link) -> Reservation | None:
        resource, url = self._clean(made.id), None if made.url is None else self._clean(made.url)
        try:
            return await self._opened().fulfil(place, run=self._run, resource=resource, url=url)
        except StoreError as error:  # the next attempt creates it again, with the same key
            raise RetryLater(AFTER_TROUBLE, f"the resource cannot be stored: {error.message}", code=RESERVED) from None

    def _opened(self) -> ReservationStore:
        if self._reservations is None:
            raise RuntimeError("this engine has no reservations")
        return self._reservations.opened()

    def _clean(self, text: str) -> str:
        return text if self._reservations is None else self._reservations.clean(self._tenant, text)

    def _known(self, place: tuple[int, str, str, str], reserved: Reservation) -> Link:
        _, system, type_, _ = place
        link = Link(system, type_, reserved.resource or "", reserved.url)
        return self.add(link) if reserved.is_mine else link

    def _made(self, place: tuple[int, str, str, str], made: Link | str | int) -> Link:
        _, system, type_, _ = place
        link = made if isinstance(made, Link) else Link(system, type_, made)  # type: ignore[arg-type]
        if (link.system, link.type) != (system, type_):
            raise InvalidLink(f"a {system} {type_} was to be created, and {link.system} {link.type} was returned")
        return link

    def _fulfilled(self, place: tuple[int, str, str, str], made: Link, stored: Reservation | None) -> Link:
        """Return the resource of the key. Another run that has the key by now got the same one by the same key."""
        if stored is None or stored.is_mine or stored.resource is None:
            return self.add(made)
        return self._known(place, stored)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the store in the thread of a plain function."""
        if threading.get_ident() == self._thread:
            return _at_once(work)
        if self._loop is None:
            work.close()
            raise RuntimeError("this engine has no reservations")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that does not wait, as with a store in memory. Raise RuntimeError if it does."""
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    work.close()
    raise RuntimeError(
        "find_or_create would block the loop of the engine: use find_or_create_async in a coroutine, and leave out "
        "`inline=True` for a plain function"
    )


def done_with(value: Any, links: Links | None = None) -> Done:
    """Return the outcome of a step that returned this value, which may be `Linked`. `links` were named meanwhile."""
    found = () if links is None else tuple(links.found)
    if type(value) is Linked:
        found = (*found, *value.links)
        value = value.output
    if not found:
        return Done(encode_output(value))
    try:
        return Done(encode_output(value), collected(found))
    except OutputTooLarge as error:
        if error.done is not None:
            error.done = Done(error.done.result, collected(found))
        raise


def without_links(value: Any) -> Any:
    """Return the value of a transactional step. Raise InvalidLink if it has links.

    Its result is stored in the user's transaction. An attempt that finds it there would not know the links."""
    if type(value) is Linked:
        raise InvalidLink("a transactional step cannot return links: link the resource in a step after it")
    return value
