"""The client's conversations, carried out through the door of this process instead of over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Final, TypeVar

from detent.access.door import door
from detent.access.far import carried_out
from detent.client.calls import Asked, Effect, Give, Pause, Send, Terms, Told, Turns
from detent.client.errors import NoConnection

T = TypeVar("T")

TERMS: Final = Terms()


class BlockingLine:
    """In the caller's thread."""

    def ask(self, asked: Asked[T]) -> T:
        turns: Turns[Effect, T] = Turns(asked.talk(TERMS))
        effect = turns.take()
        while effect is not None:
            effect = turns.take(carried_out(effect, door().way().send))
        return turns.result

    def tell(self, told: Told[T]) -> Iterator[T]:
        turns = Turns(told.tell(TERMS))
        effect = turns.take()
        while effect is not None:
            if isinstance(effect, Give):
                yield from effect.items
                effect = turns.take()
            else:
                effect = turns.take(carried_out(effect, door().way().send))


class AwaitingLine:
    """On the caller's loop."""

    async def ask(self, asked: Asked[T]) -> T:
        turns: Turns[Effect, T] = Turns(asked.talk(TERMS))
        effect = turns.take()
        while effect is not None:
            effect = turns.take(await _done(effect))
        return turns.result

    async def tell(self, told: Told[T]) -> AsyncIterator[T]:
        turns = Turns(told.tell(TERMS))
        effect = turns.take()
        while effect is not None:
            if isinstance(effect, Give):
                for item in effect.items:
                    yield item
                effect = turns.take()
            else:
                effect = turns.take(await _done(effect))


async def _done(effect: Effect) -> object:
    """What came of what a conversation wants; an error of the connection is a result too."""
    match effect:
        case Send(request):
            try:
                return await door().way().deliver(request)
            except NoConnection as error:
                return error
        case Pause(seconds):
            return await asyncio.sleep(seconds, True)
        case _:
            raise TypeError(f"a door cannot do {effect!r}")
