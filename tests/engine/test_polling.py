"""Chores that are done again and again: they outlive trouble, and end when they are told to."""

import asyncio
from contextlib import suppress

import pytest

from detent.engine.background import Polling
from detent.errors import StoreBusy


class Deaf:
    """Does not hear that it is cancelled, as some database drivers do not in the instant a connection stands or
    fails."""

    name = "deaf"

    def __init__(self, *, fails: bool) -> None:
        self._fails = fails
        self.polls = 0
        self.is_polling = asyncio.Event()

    async def poll(self) -> float:
        self.polls += 1
        self.is_polling.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        if self._fails:
            raise StoreBusy("the database is away")
        return 0.0


@pytest.mark.parametrize("fails", [True, False])
async def test_a_chore_ends_though_what_it_calls_did_not_hear_of_it(fails: bool) -> None:
    deaf = Deaf(fails=fails)
    work = asyncio.create_task(Polling(deaf, after_trouble=0).work())
    await deaf.is_polling.wait()
    work.cancel()
    await asyncio.wait([work], timeout=30)
    assert work.cancelled()
    assert deaf.polls == 1
