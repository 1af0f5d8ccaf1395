"""Passwords: stored as argon2id hashes, and compared in a thread.

One comparison takes some 20 ms and 19 MB on purpose. So only a few are made at once, and few more wait: a flood of
logins is refused and does not slow down the node. A name that does not exist costs the same time as one that does.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from detent.clock import Clock
from detent.errors import InvalidInput, LimitExceeded, Problem

SHORTEST: Final = 10
LONGEST: Final = 256
_AT_ONCE: Final = 2
_MOST_WAITING: Final = 20
#: Seconds that a login of a name waits which failed often.
LONGEST_DELAY: Final = 4.0
_FIRST_DELAY: Final = 0.25
_MOST_DELAYED: Final = 200

T = TypeVar("T")


def usual_hasher() -> PasswordHasher:
    """Return a hasher with the usual cost: 19 MiB, two passes, one lane."""
    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def check_password(password: object, field: str = "password") -> str:
    """Return a new password. Raise InvalidInput if it is too short or too long; the error does not show it."""
    if not isinstance(password, str) or not SHORTEST <= len(password) <= LONGEST:
        raise InvalidInput("invalid password", [Problem(field, f"must have {SHORTEST} to {LONGEST} characters")])
    return password


class Passwords:
    """Hashes and compares passwords, a few at once."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or usual_hasher()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0
        self._absent: str | None = None

    async def hash(self, password: str) -> str:
        """Return the hash of a password, as it is stored. Raise LimitExceeded if too many callers wait."""
        return await self._run(self._hasher.hash, password)

    async def matches(self, stored: str | None, password: str) -> bool:
        """Return whether a password is the stored one. `None` takes the same time and never matches."""
        return await self._run(self._compare, stored, password[: LONGEST + 1])

    async def _run(self, work: Callable[..., T], *arguments: object) -> T:
        if self._waiting >= _MOST_WAITING:
            raise LimitExceeded("too many logins at once; try again", 1.0)
        self._waiting += 1
        try:
            async with self._turns:
                return await asyncio.to_thread(work, *arguments)
        finally:
            self._waiting -= 1

    def _compare(self, stored: str | None, password: str) -> bool:
        if self._absent is None:
            self._absent = self._hasher.hash("the password of a name that does not exist")
        try:
            self._hasher.verify(stored or self._absent, password)
        except (Argon2Error, InvalidHashError):
            return False
        return stored is not None


class FailedLogins:
    """Failed logins by key, such as an address. It refuses further attempts of a key that failed too often.

    Names are counted whether they exist or not, so that the answer says nothing about them. The oldest of too many
    keys is dropped."""

    def __init__(self, clock: Clock, *, allowed: int, window: float, most: int = 10_000) -> None:
        self._clock = clock
        self._allowed = allowed
        self._window = window
        self._most = most
        self._failed: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def refuse(self, key: str) -> None:
        """Raise LimitExceeded if a key has failed too often in its window."""
        began, count = self._current(key)
        if count >= self._allowed:
            wait = began + self._window - self._clock.monotonic()
            raise LimitExceeded("too many logins; wait, then try again", wait)

    def count(self, key: str) -> None:
        """Count one failed login."""
        began, count = self._current(key)
        self._failed[key] = began, count + 1
        if len(self._failed) > self._most:
            self._failed.popitem(last=False)

    def forget(self, key: str) -> None:
        """Forget the failed logins of a key, because one was right."""
        self._failed.pop(key, None)

    def excess(self, key: str) -> int:
        """Return how many failed logins of a key are more than those allowed; negative while there are fewer."""
        return self._current(key)[1] - self._allowed

    def _current(self, key: str) -> tuple[float, int]:
        now = self._clock.monotonic()
        began, count = self._failed.get(key, (now, 0))
        if now - began >= self._window:
            self._failed.pop(key, None)
            return now, 0
        return began, count


class SlowedNames:
    """Names that failed often, from whatever addresses. Their logins wait, and are never refused for it: a stranger who
    guesses the password of a person must not lock the person out.

    The wait is the same for names that do not exist, and for right passwords."""

    def __init__(
        self,
        clock: Clock,
        *,
        allowed: int,
        window: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._failed = FailedLogins(clock, allowed=allowed, window=window)
        self._sleep = sleep
        self._waiting = 0

    async def wait(self, name: str) -> None:
        """Wait before a login of a name: longer after each failed one, at most `LONGEST_DELAY` seconds.

        Raise LimitExceeded if too many logins wait."""
        excess = self._failed.excess(name)
        if excess < 0:
            return
        if self._waiting >= _MOST_DELAYED:
            raise LimitExceeded("too many logins at once; try again", 1.0)
        self._waiting += 1
        try:
            await self._sleep(min(LONGEST_DELAY, _FIRST_DELAY * 2 ** min(excess, 10)))
        finally:
            self._waiting -= 1

    def count(self, name: str) -> None:
        """Count one failed login."""
        self._failed.count(name)
