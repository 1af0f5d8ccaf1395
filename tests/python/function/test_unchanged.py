"""Code that was not changed fits its record, whatever program it is and wherever its process died.

`DETENT_PROGRAMS=500 DETENT_PROGRAMS_SEED=1000 pytest tests/python/function/test_unchanged.py` tries others.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from detent.graph.model import Ending
from detent.run.outcomes import Done, Outcome, Pause
from tests.python.function.lively import Life
from tests.python.function.ports import Record
from tests.python.function.test_operations import output

FIRST = int(os.environ.get("DETENT_PROGRAMS_SEED", "1"))
PROGRAMS = int(os.environ.get("DETENT_PROGRAMS", "400"))
GROUP = 20
#: What a failing TaskGroup inside an asyncio.timeout can come to in Python 3.11, without any durable function too.
LEFT_CANCELLED = "RuntimeError: the function cancelled itself"


@pytest.mark.case("F15")
@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, GROUP))
async def test_a_strict_function_that_did_not_change_is_never_called_changed_and_ends_the_same_again(
    first: int,
) -> None:
    for seed in range(first, first + GROUP):
        life = Life(seed)
        told, record = f"seed {seed}: {life.program}", life.stage.record
        end = _end(await life.live(), told)
        done = _steps(record)
        again = await life.stage.attempt()  # its end was not on record yet when its process died
        assert _end(again, told) == end, told
        assert _steps(record) == done, told


def _end(outcome: Outcome | None, told: str) -> Any:
    if isinstance(outcome, Pause):
        assert outcome.error is not None
        assert outcome.error.message == LEFT_CANCELLED, (told, outcome)
        return LEFT_CANCELLED
    assert isinstance(outcome, Done), (told, outcome)
    return output(outcome)


def _steps(record: Record) -> list[str]:
    """What was done; that something was given up may be written late."""
    ended = (one for one in record.order if one.ending is not Ending.CANCELLED)
    return [one.key for one in ended if not one.key.startswith("@")]
