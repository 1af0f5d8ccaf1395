"""Notes now and then what this node serves, so that people can be told when a queue or an action was last served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.store.protocol import DoorStore

INTERVAL: Final = 30.0
ANY_QUEUE: Final = "*"


class Presence:
    """`queues` null means all of them."""

    name = "presence"

    def __init__(self, store: DoorStore, *, queues: Sequence[str] | None, actions: Sequence[str]) -> None:
        served = [("queue", queue) for queue in ((ANY_QUEUE,) if queues is None else queues)]
        self._store, self._served = store, [*served, *(("action", action) for action in actions)]

    async def poll(self) -> float:
        await self._store.saw(self._served)
        return INTERVAL
