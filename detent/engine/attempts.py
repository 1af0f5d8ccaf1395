"""One attempt in flight: its time limit, and nothing it does may hurt the engine."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Coroutine
from typing import Any, Final

from detent.run.outcomes import Fail, Outcome, StepError

TRACE_LIMIT: Final = 8_000


async def carry_out(work: Coroutine[Any, Any, Outcome], timeout: float | None) -> Outcome:
    """The outcome of the work, within its time. An executor that raises all the same has failed."""
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            return await work
    except Exception as error:  # noqa: BLE001 - whatever a step does must end as an outcome
        if limit.expired():
            return Fail(StepError("timeout", f"the step took longer than {timeout:g} s"), timed_out=True)
        trace = "".join(traceback.format_exception(error))[-TRACE_LIMIT:]
        return Fail(StepError("exception", f"{type(error).__name__}: {error}", {"traceback": trace}))
