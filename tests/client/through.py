"""An async face used as if it blocked, so that one test holds both faces to the same."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

from detent.client.operations import Awaiting


class Through:
    """Awaits whatever the face gives to be awaited, on a loop of the test's own."""

    def __init__(self, face: Any, runner: asyncio.Runner) -> None:
        self._face, self._runner = face, runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._face, name)
        if isinstance(found, Awaiting):
            return Through(found, self._runner)
        if not callable(found):
            return found
        return lambda *args, **options: self._plain(found(*args, **options))

    def _plain(self, given: Any) -> Any:
        if inspect.iscoroutine(given):
            given = self._runner.run(given)
        if inspect.isasyncgen(given):
            return self._items(given)
        return Through(given, self._runner) if isinstance(given, Awaiting) else given

    def _items(self, items: AsyncIterator[Any]) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._runner.run(_next(items))
                except StopAsyncIteration:
                    return
        finally:
            self._runner.run(items.aclose())  # type: ignore[attr-defined]


async def _next(items: AsyncIterator[Any]) -> Any:
    return await anext(items)
