"""Durations no clock can hold are refused or end a step; none is an overflow, and no run is stuck on one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.server import Detent

WORKFLOWS = "/api/v1/workflows"
REFUSED: list[Any] = [
    -1, "-5s", 1e18, 10**18, 1e308, "1e18", "P1Y", "PT5M", "1y", "100000w", "", " ", "5 parsecs", True, [], {},
    "9" * 400 + "s", "2016-12-31T23:59:60Z", "02:30 Europe/Berlin", "NaN", "Infinity",
]  # fmt: skip
WRITTEN: dict[str, Callable[[Any], Any]] = {
    "sleep": lambda value: {"a": {"sleep": value}},
    "wait": lambda value: {"a": {"wait_for_webhook": {"timeout": value}}},
    "delay": lambda value: {"a": {"action": "core.delay", "with": {"duration": value}}},
}


@pytest.mark.case("C7")
@pytest.mark.parametrize("place", WRITTEN)
async def test_a_time_that_is_none_is_refused_where_it_is_written(api: Detent, place: str) -> None:
    for value in REFUSED:
        answer = await api.call("POST", WORKFLOWS, data=json.dumps({"name": "odd", "tasks": WRITTEN[place](value)}))
        assert answer.status == 400, (value, answer.text)
        assert "tasks.a" in answer.text, (value, answer.text)


@pytest.mark.case("C7")
@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400"])
async def test_a_number_that_is_none_is_refused_before_anything_reads_it(api: Detent, word: str) -> None:
    answer = await api.call("POST", WORKFLOWS, data=f'{{"name": "odd", "tasks": {{"a": {{"sleep": {word}}}}}}}')
    assert (answer.status, answer.json["error"]) == (400, "invalid_argument")


@pytest.mark.case("C7")
async def test_a_time_that_a_template_makes_is_checked_when_it_is_made(detent: Detent) -> None:
    await detent.save('{"name": "odd", "tasks": {"a": {"sleep": "{{trigger.body.time}}"}}}')
    for value in REFUSED:
        run = await detent.ended(await detent.start("odd", {"time": value}))
        assert (run["status"], run["tasks"]["a"]["status"]) in {("failed", "failed"), ("failed", "template_error")}, (
            value
        )
        assert run["tasks"]["a"]["error"]["message"]
    for value in (0, "0s", 0.001, "1ms"):
        assert (await detent.ended(await detent.start("odd", {"time": value})))["status"] == "completed"


@pytest.mark.case("C7")
async def test_the_longest_times_there_are_do_not_overflow(detent: Detent) -> None:
    definition = {"name": "long", "max_duration": "3650d", "tasks": {"a": {"sleep": "3650d"}}}
    assert (await detent.call("POST", WORKFLOWS, data=json.dumps(definition))).status == 201
    started = await detent.start("long", {})
    run = await detent.until(started, lambda run: run["tasks"]["a"]["status"] == "sleeping")
    assert run["tasks"]["a"]["until"] > "2030"
    answer = await detent.call("POST", f"/api/v1/runs/{started['run_id']}/cancel")
    assert answer.json["data"]["status"] == "cancelled"


@pytest.mark.case("C7")
async def test_only_zones_that_exist_are_taken(api: Detent) -> None:
    base = {"trigger": "cron", "cron_expression": "30 2 * * *", "tasks": {"a": {"action": "core.echo"}}}
    for zone, status in (
        ("Europe/Berlin", 201),
        ("UTC", 201),
        ("Mars/Olympus", 400),
        ("../../etc/passwd", 400),
        ("", 400),
    ):
        name = f"zone{status}{len(zone)}"
        answer = await api.call("POST", WORKFLOWS, data=json.dumps({"name": name, "timezone": zone, **base}))
        assert answer.status == status, (zone, answer.text)
