"""Hints to other nodes: many that are asked for at once are sent as one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from detent.engine.background import IDLE, LISTEN_AGAIN, HintListener, HintSender


class Wire:
    """Records what is sent."""

    def __init__(self) -> None:
        self.sent = 0
        self.on_send: Callable[[], None] = lambda: None

    async def send(self) -> None:
        self.sent += 1
        self.on_send()

    async def listen(self, heard: Callable[[], None]) -> None:
        heard()


async def test_many_hints_are_sent_as_one() -> None:
    wire = Wire()
    sender = HintSender(wire)
    assert await sender.poll() == IDLE
    assert wire.sent == 0
    for _ in range(100):
        sender.ask()
    assert await sender.poll() == IDLE
    assert wire.sent == 1


async def test_a_hint_that_is_asked_for_while_one_is_sent_is_sent_too() -> None:
    wire = Wire()
    sender = HintSender(wire)
    wire.on_send = sender.ask
    sender.ask()
    assert await sender.poll() == 0.0
    wire.on_send = lambda: None
    assert await sender.poll() == IDLE
    assert wire.sent == 2


async def test_a_connection_that_was_lost_is_made_again_after_a_pause() -> None:
    heard = asyncio.Event()
    assert await HintListener(Wire(), heard.set).poll() == LISTEN_AGAIN
    assert heard.is_set()
