"""The lifespan protocol of ASGI, from both sides: answer a server, and ask a host application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

_STARTUP: Final = "lifespan.startup"
_SHUTDOWN: Final = "lifespan.shutdown"


async def answer_lifespan(lifespan: AbstractAsyncContextManager[None], receive: Any, send: Any) -> None:
    """Run a lifespan as a server asks for it. A failure is answered and raised: the server logs its traceback.

    A server takes an exception without an answer for an application that has no lifespan, and serves it."""
    await receive()
    answer = _STARTUP
    try:
        async with lifespan:
            await send({"type": f"{_STARTUP}.complete"})
            answer = _SHUTDOWN
            await receive()
    except Exception as error:
        message = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
        await send({"type": f"{answer}.failed", "message": message})
        raise
    await send({"type": f"{_SHUTDOWN}.complete"})


@asynccontextmanager
async def entered_lifespan(application: Any, scope: MutableMapping[str, Any]) -> AsyncIterator[None]:
    """Let an application start, and stop at the end of the block. An application that ends or raises without an answer
    has no lifespan, as servers see it. Raise RuntimeError if it answers that it cannot start or stop."""
    asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    work = asyncio.create_task(application(scope, asked.get, answers.put))
    try:
        await _ask(_STARTUP, work, asked, answers)
        yield
        await _ask(_SHUTDOWN, work, asked, answers)
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _ask(
    name: str, work: asyncio.Task[None], asked: asyncio.Queue[dict[str, Any]], answers: asyncio.Queue[dict[str, Any]]
) -> None:
    if work.done():
        return
    asked.put_nowait({"type": name})
    answering = asyncio.create_task(answers.get())
    await asyncio.wait([work, answering], return_when=asyncio.FIRST_COMPLETED)
    if not answering.done():
        answering.cancel()
    elif answering.result()["type"] == f"{name}.failed":
        raise RuntimeError(answering.result().get("message") or f"the application answered {name}.failed")
