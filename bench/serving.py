"""The side of a child process: does what it is asked, one line of JSON after the other. Standard library only, because
the peer's own environment reads it too."""

import asyncio
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Handler = Callable[..., Awaitable[Any]]


class Voice:
    """The way back to the parent. Whatever else is printed goes to the error output, so that no answer is garbled."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def tell(self, **facts: Any) -> None:
        self._out.write(json.dumps(facts) + "\n")
        self._out.flush()


async def serve(handlers: Mapping[str, Handler], voice: Voice) -> None:
    """Answer until the parent closes the line."""
    voice.tell(answer="ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        request = json.loads(line)
        try:
            answer = await handlers[request["do"]](**request["given"])
        except Exception:  # noqa: BLE001 - the parent must hear of it
            voice.tell(error=traceback.format_exc())
        else:
            voice.tell(answer=answer)


class Meter:
    """Wall time and CPU of this process since it was made; `thread` is the CPU of the calling thread alone."""

    def __init__(self) -> None:
        self._wall, self._cpu, self._thread = time.perf_counter(), process_cpu(), time.thread_time()

    def read(self) -> dict[str, float]:
        return {
            "seconds": time.perf_counter() - self._wall,
            "cpu": process_cpu() - self._cpu,
            "thread_cpu": time.thread_time() - self._thread,
        }


def process_cpu() -> float:
    """User and system seconds of this process, all its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
