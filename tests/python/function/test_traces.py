"""What a durable function leaves behind in memory: nothing."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

from detent.python.functions import Run, gather, workflow
from detent.python.functions.driver import FunctionDriver
from detent.python.functions.loop import FunctionLoop
from detent.python.functions.operations import OperationLog
from detent.python.functions.runner import OperationRunner
from detent.run.state import RunState
from tests.python.function.test_engine import begin, ended, engine


async def half(number: int) -> float:
    return number / 2


@workflow
async def traceless(run: Run, number: int) -> Any:
    await run.sleep(0.01)
    return await gather(run.step(half, number), run.step(half, number))


def _alive() -> dict[int, type]:
    """What makes up functions that run, by identity."""
    kinds = (FunctionDriver, OperationLog, OperationRunner, FunctionLoop, RunState)
    return {id(one): type(one) for one in gc.get_objects() if type(one) in kinds}


async def test_a_function_that_has_ended_is_gone_without_the_collector() -> None:
    async with engine() as app:
        gc.collect()
        before = _alive()
        gc.disable()
        try:
            document = await ended(app, await begin(app, "traceless", number=4))
            await asyncio.sleep(0.05)  # what was told last has been heard
            left = {number: kind for number, kind in _alive().items() if number not in before}
        finally:
            gc.enable()
    assert document["status"] == "completed"
    assert left == {}
