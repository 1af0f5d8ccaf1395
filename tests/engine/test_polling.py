"""Chores that are done again and again: they outlive trouble, and end when they are told to."""

import asyncio
from contextlib import suppress

from detent.engine.poller import Polling
from detent.errors import StoreBusy


class Deaf:
    """Makes of a cancellation the trouble that came in the same instant, as some database drivers do."""

    name = "deaf"

    def __init__(self) -> None:
        self.polls = 0
        self.is_polling = asyncio.Event()

    async def poll(self) -> float:
        self.polls += 1
        self.is_polling.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        raise StoreBusy("the database is away")


async def test_a_chore_ends_though_its_cancellation_was_lost_in_trouble() -> None:
    deaf = Deaf()
    work = asyncio.create_task(Polling(deaf, after_trouble=0).work())
    await deaf.is_polling.wait()
    work.cancel()
    await asyncio.wait([work], timeout=5)
    assert work.cancelled()
    assert deaf.polls == 1
