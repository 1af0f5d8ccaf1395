"""The short form of the hostile campaign; `make hostile` is the long one, with the same judgement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hostile.__main__ import run
from tests.hostile.ledger import Sent, judge_step


@pytest.mark.slow
@pytest.mark.case("C9", "D2", "D3", "D4", "D6")
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_what_was_accepted_is_consumed_once_by_its_own_run(database: str, tmp_path: Path) -> None:
    count = 1_500 if database == "sqlite" else 1_000
    report = run(database, count, 20_261_116, tmp_path, print)
    assert report.broken == []
    assert report.requests > count * 0.9
    assert report.kills >= 1
    statuses = report.ledger.statuses
    assert statuses["early"][202] == statuses["early"][200] > 0
    assert statuses["duplicate"][409] > 0
    assert set(statuses["late"]) == {410}
    assert {*statuses["race"]} <= {200, 410}, "a race with the timeout has two outcomes"
    assert statuses["race"].total() > 0


def ended(body: Any, status: str = "success", run: str = "completed", attempts: int = 1) -> dict[str, Any]:
    return {"status": run, "tasks": {"w": {"status": status, "body": body, "attempts": [{}] * attempts}}}


TAKEN, REFUSED, UNKNOWN = Sent("m1", "a", 200), Sent("m2", "b", 409), Sent("m3", "c", 0)
BROKEN: dict[str, tuple[dict[str, Any], list[Sent]]] = {
    "two messages were accepted": (ended({"mark": "a"}), [TAKEN, Sent("m2", "b", 202)]),
    "lost": (ended(None, "timeout"), [TAKEN]),
    "not accepted": (ended({"mark": "b"}), [TAKEN, REFUSED]),
    "not accepted, though unknown": (ended({"mark": "c"}), [TAKEN, UNKNOWN]),
    "consumed more than once": (ended({"mark": "a"}, attempts=2), [TAKEN]),
    "stuck": (ended({"mark": "a"}, run="running"), [TAKEN]),
    "the step is timeout": (ended({"mark": "a"}, "timeout"), [TAKEN]),
}


@pytest.mark.parametrize("promise", BROKEN)
def test_the_judge_can_say_no(promise: str) -> None:
    found = judge_step(BROKEN[promise][0], "w", BROKEN[promise][1])
    assert [line for line in found if promise.partition(",")[0] in line], found


@pytest.mark.parametrize(
    ("document", "sent"),
    [
        (ended({"mark": "a"}), [REFUSED, TAKEN, Sent("m1", "again", 200)]),
        (ended({"mark": "again"}), [Sent("m1", "again", 0), Sent("m1", "a", 200)]),
        (ended({"mark": "c"}), [UNKNOWN]),
        (ended(None, "timeout"), [UNKNOWN, REFUSED]),
        (ended({"mark": "a"}, attempts=0), [Sent("m1", "a", 202)]),
    ],
)
def test_the_judge_can_say_yes(document: dict[str, Any], sent: list[Sent]) -> None:
    assert judge_step(document, "w", sent) == []
