"""A process that is killed anywhere between an event and its runs: each rule that matches is started exactly once."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.triggers.test_dying import PATIENCE, Served, serve

EVENT = {"entity": "order", "operation": "update", "id": "7", "event_id": "e-1", "after": {"status": "shipped"}}
ACTION = {"name": "Note", "action_type": "core.echo", "action_config": {"is": "{{status}}"}, "execution_order": 1}


def rule(name: str) -> dict[str, Any]:
    conditions = [{"field_name": "status", "operator": "equals", "value": "shipped"}]
    return {
        "name": name,
        "is_active": True,
        "entity_id": "order",
        "trigger_type_id": "on_update",
        "trigger_conditions": {"field_conditions": conditions},
        "actions": [ACTION],
        "edges": [{"source_action_id": None, "target_action_id": "temp:0", "edge_type": "start"}],
    }


async def make_rules(folder: Path) -> None:
    with serve(folder) as program:
        detent = Served(program)
        await detent.call("POST", "/api/v1/entities", json={"name": "order"})
        for name in ("first", "second"):
            await detent.call("POST", "/api/v1/rules/full", json=rule(name))
        program.stop()


async def started(folder: Path) -> list[str]:
    """The rules that were started, once all have been and nothing is left to match."""
    with serve(folder) as program:
        detent = Served(program)
        async with asyncio.timeout(PATIENCE):
            while True:
                runs = await detent.call("GET", "/api/v1/runs")
                [known] = [await detent.call("POST", "/api/v1/events/entity?wait=30", json=EVENT)]
                if len(runs) >= 2 and known["status"] == "known":
                    break
                await asyncio.sleep(0.1)  # the API is polled, as any of its users would
        again = await detent.call("GET", "/api/v1/runs")
        assert {run["id"] for run in again} == {run["run_id"] for run in known["runs"]}
        program.stop()
        return sorted(run["workflow"] for run in again)


@pytest.mark.slow
@pytest.mark.case("A1")
@pytest.mark.parametrize("place", ["after_event", "after_match", "after_start", "after_event_starts"])
async def test_an_event_whose_process_dies_starts_each_rule_exactly_once(place: str, tmp_path: Path) -> None:
    await make_rules(tmp_path)
    with serve(tmp_path, DETENT_FAILPOINT=f"{place}:1") as program:
        await Served(program).sends_in_vain("/api/v1/events/entity?wait=30", json=EVENT)
    assert await started(tmp_path) == ["first", "second"]


@pytest.mark.slow
@pytest.mark.case("A1")
async def test_an_event_that_was_left_behind_survives_the_death_of_the_process_that_takes_it(tmp_path: Path) -> None:
    await make_rules(tmp_path)
    with serve(tmp_path, DETENT_FAILPOINT="after_event:1") as program:
        await Served(program).sends_in_vain("/api/v1/events/entity", json=EVENT)
    with serve(tmp_path, DETENT_FAILPOINT="after_take:1") as program:
        assert await asyncio.to_thread(program.process.wait, PATIENCE) == -signal.SIGKILL
    with serve(tmp_path, DETENT_FAILPOINT="after_event_starts:1") as program:
        assert await asyncio.to_thread(program.process.wait, PATIENCE) == -signal.SIGKILL
    assert await started(tmp_path) == ["first", "second"]
