"""The leash of a body that runs in a thread: it cannot be stopped, but it can be kept from counting.

A transactional body holds a lock on its run until its transaction is over. So whoever gives it up must know whether it
has begun: if not, it never will; if so, it rolls back when it returns, and only then is the attempt over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class CommitGuard:
    """Of one body. `reason` is why it was given up; a body that is given up ends with that."""

    __slots__ = ("_has_begun", "_lock", "reason")

    def __init__(self) -> None:
        self._lock, self._has_begun = threading.Lock(), False
        self.reason: Exception | None = None

    def give_up(self, reason: Exception) -> bool:
        """What the body does shall not count, if it is not committed yet. True if it has not begun, and never will."""
        with self._lock:
            if self.reason is None:
                self.reason = reason
            return not self._has_begun

    def hold(self, transaction: Callable[[], Result]) -> Result:
        """In the thread: what the transaction gives, unless it was given up before its end."""
        with self._lock:
            if self.reason is not None:
                raise self.reason
            self._has_begun = True
        try:
            return transaction()
        except BaseException as error:
            # A database that ends a transaction which takes too long says so in its own words.
            self.check(error)
            raise

    def check(self, error: BaseException | None = None) -> None:
        """In the thread, when the body has returned: roll back if it was given up."""
        reason = self.reason
        if reason is not None and reason is not error:
            raise reason from error
