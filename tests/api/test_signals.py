"""Durable functions and their signals over HTTP, on real databases."""

from __future__ import annotations

from typing import Any

import pytest

from detent.python.decorators import step
from detent.python.functions import Run, gather, workflow
from tests.api.server import Detent

RUNS = "/api/v1/runs"


@step(inline=True)
def add(one: int, other: int) -> int:
    return one + other


def negated(number: int) -> int:
    return -number


@workflow(name="api_signals")
async def api_signals(run: Run, number: int) -> Any:
    one, two = await gather(run.step(add, number, 1), run.step(negated, number))
    answer = await run.wait("approval", timeout="1h")
    first, second = await run.signal("paid"), await run.signal("paid")
    inner = await run.child("api_child", {"number": number})
    return [one, two, answer, first, second, inner]


@workflow(name="api_child")
async def api_child(run: Run, number: int) -> int:
    await run.sleep(0.05)
    return await run.step(add, number, 100)


@workflow(name="api_waits")
async def api_waits(run: Run) -> Any:
    return await run.signal("go")


@pytest.mark.slow
async def test_a_function_hears_signals_callbacks_and_children_on_every_database(detent: Detent) -> None:
    started = await detent.start("api_signals", {"number": 10})
    run = started["run_id"]
    early = await detent.call("POST", f"{RUNS}/{run}/signals/paid", json={"sum": 5})
    assert (early.status, early.json["data"]) == (202, {"run_id": run, "signal": "paid", "accepted": True})
    waiting = await detent.until(started, lambda seen: seen["callbacks"])
    assert (await detent.call("POST", waiting["callbacks"][0]["url"], json={"ok": True})).status == 200
    assert (await detent.call("POST", f"{RUNS}/{run}/signals/paid", json=6)).status == 202
    ended = await detent.ended(started)
    assert (ended["status"], ended["output"]) == ("completed", [11, -10, {"ok": True}, {"sum": 5}, 6, 110])


async def test_a_body_that_does_not_fit_the_function_is_refused(api: Detent) -> None:
    for body in ({}, {"number": "ten"}, {"number": 1, "more": 2}, [1]):
        answer = await api.call("POST", "/api/v1/workflows/api_signals/trigger", json=body)
        assert answer.status == 400, (body, answer.json)


async def test_signals_that_nobody_could_hear_are_refused(api: Detent) -> None:
    await api.save("name: plain\ntasks:\n  nap: {sleep: 1h}\n")
    plain = await api.start("plain", {})
    waits = await api.start("api_waits", {})
    unknown = await api.call("POST", f"{RUNS}/run_01k5c1v6p2f7x8y9z0a1b2c3d4/signals/go", json=1)
    no_function = await api.call("POST", f"{RUNS}/{plain['run_id']}/signals/go", json=1)
    no_name = await api.call("POST", f"{RUNS}/{waits['run_id']}/signals/9@", json=1)
    large = await api.call("POST", f"{RUNS}/{waits['run_id']}/signals/go", json="x" * 300_000)
    no_json = await api.call("POST", f"{RUNS}/{waits['run_id']}/signals/go", data=b"{")
    assert [answer.status for answer in (unknown, no_function, no_name, large, no_json)] == [404, 409, 400, 413, 400]
    assert (await api.call("POST", f"{RUNS}/{waits['run_id']}/signals/go")).status == 202
    assert (await api.ended(waits))["output"] is None
    assert (await api.call("POST", f"{RUNS}/{waits['run_id']}/signals/go", json=1)).status == 409
