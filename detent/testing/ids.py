"""Ids that are the same in every world, so that a run depends only on its code and never on crashes."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

_RUNS: Final = b"\x01\x90" + bytes(4) + b"\x70\x00\x80"
_CHILDREN: Final = b"\x01\x90" + bytes(4) + b"\x70\x01\x80"
_NODES: Final = b"\x01\x90" + bytes(4) + b"\x70\x02\x80"

#: The id of the next run that is started, set by the start of a child.
WISHED: ContextVar[list[bytes] | None] = ContextVar("WISHED", default=None)


class Ids:
    """Returns ids by number.

    Ids that a process got and did not write before its death go to the next process. So a run that is started again
    has the same id. `is_written` returns whether the store has an id.
    """

    def __init__(self, is_written: Callable[[bytes], bool]) -> None:
        self._is_written = is_written
        self._last = self._nodes = 0
        self._given: list[bytes] = []
        self._back: deque[bytes] = deque()

    def of_node(self) -> bytes:
        """Return the id of a new node. It is never used again."""
        self._nodes += 1
        return _NODES + self._nodes.to_bytes(7, "big")

    def new(self) -> bytes:
        """Return the id of a run, or of anything else that a process creates."""
        wished = WISHED.get()
        if wished:
            return wished.pop()
        id_ = self._back.popleft() if self._back else self._next()
        while self._is_written(id_):  # by the world that saved the workflows
            id_ = self._next()
        self._given.append(id_)
        return id_

    def _next(self) -> bytes:
        self._last += 1
        return _RUNS + self._last.to_bytes(7, "big")

    def died(self) -> None:
        """Take back the ids that the dead process had not written."""
        self._back.extendleft(id_ for id_ in reversed(self._given) if not self._is_written(id_))
        self._given.clear()


def id_of_child(parent: bytes, key: str) -> bytes:
    """Return the id of a child. It depends only on parent and key, because children may start in any order."""
    return _CHILDREN + hashlib.sha256(b"%b/%b" % (parent, key.encode())).digest()[:7]
