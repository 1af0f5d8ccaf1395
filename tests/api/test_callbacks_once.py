"""A callback counts once: early, repeated, replayed, late, or in the very instant its time is over."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Answer, Detent, statuses

pytestmark = POSTGRES_TOO

WAIT = "name: waits\ntasks:\n  w: {wait_for_webhook: {timeout: 1h}}\n  after: {needs: [w], action: core.echo}\n"
UNUSED = """
name: unused
tasks:
  first: {wait_for_webhook: {}}
  never: {needs: [first], if: "tasks.first.body.more == true", wait_for_webhook: {}}
"""
SHORT = """
name: short
tasks:
  w: {wait_for_webhook: {timeout: 300ms}}
  after: {needs: [w], if: "tasks.w.status != 'received'", action: core.echo}
"""
BOTH = """
name: both
tasks:
  a: {wait_for_webhook: {}}
  b: {wait_for_webhook: {}}
  c: {wait_for_webhook: {timeout: 400ms}}
  end:
    needs: [a, b, c]
    if: "tasks.a.status == 'received'"
    action: core.echo
    with: {a: "{{tasks.a.body}}", b: "{{tasks.b.body}}"}
"""
#: On a machine where all starts of a race take longer than the time that they wait, the race is run again with more.
LONGER_AND_LONGER = (3, 12, 60)


async def waiting(detent: Detent, name: str, step: str, body: Any = None) -> tuple[dict[str, Any], dict[str, str]]:
    """A run that waits at a step, and the addresses of its callbacks."""
    started = await detent.start(name, body or {})
    run = await detent.until(started, lambda run: statuses(run)[step] == "waiting")
    return started, {each["step"]: each["url"] for each in run["callbacks"]}


@pytest.mark.case("D2")
async def test_fifty_sendings_of_one_message_get_one_answer_and_count_once(detent: Detent) -> None:
    await detent.save(WAIT)
    started, urls = await waiting(detent, "waits", "w")
    same = {"webhook-id": "msg_1"}
    answers = await asyncio.gather(
        *(detent.call("POST", urls["w"], json={"sending": number}, headers=same) for number in range(50))
    )
    assert Counter((answer.status, answer.text) for answer in answers) == {(200, answers[0].text): 50}
    run = await detent.ended(started)
    kept = run["tasks"]["w"]["body"]
    assert len(run["tasks"]["w"]["attempts"]) == 1
    late = await detent.call("POST", urls["w"], json={"sending": 99}, headers=same)
    assert (late.status, late.text) == (200, answers[0].text)
    assert (await detent.run(started))["tasks"]["w"]["body"] == kept


@pytest.mark.case("D1", "D2")
async def test_an_early_message_is_answered_the_same_way_when_it_comes_again_later(detent: Detent) -> None:
    await detent.save(UNUSED)
    started, urls = await waiting(detent, "unused", "first")
    same = {"Idempotency-Key": "k"}
    early = await detent.call("POST", urls["never"], json={"n": 1}, headers=same)
    assert (early.status, early.json["data"]) == (202, {"status": "buffered", "step": "never"})
    other = await detent.call("POST", urls["never"], json={"n": 2})
    assert other.status == 409
    assert (await detent.call("POST", urls["first"], json={"more": True})).status == 200
    run = await detent.ended(started)
    assert run["tasks"]["never"]["body"] == {"n": 1}
    again = await detent.call("POST", urls["never"], json={"n": 3}, headers=same)
    assert (again.status, again.text) == (202, early.text)


@pytest.mark.case("D3")
async def test_a_replay_with_another_body_is_refused_and_leaves_no_trace(detent: Detent) -> None:
    await detent.save(WAIT)
    started, urls = await waiting(detent, "waits", "w")
    assert (await detent.call("POST", urls["w"], json={"n": 1})).status == 200
    before = await detent.ended(started)
    for headers in ({}, {"webhook-id": "new"}):
        answer = await detent.call("POST", urls["w"], json={"n": "canary-of-a-replay"}, headers=headers)
        assert (answer.status, answer.json["message"]) == (409, "Webhook already used")
    after = await detent.run(started)
    assert after == before
    row = await detent.app.store.run(1, detent.app.engine.tokens.read(urls["w"].rpartition("/")[2])[0])  # type: ignore[index]
    assert row is not None
    assert "canary" not in json.dumps([entry.data.decode() for entry in await detent.app.store.journal(1, row.id)])


@pytest.mark.case("D4")
@pytest.mark.parametrize("end", ["timeout", "cancel", "completion"])
async def test_a_callback_after_the_end_is_gone_and_changes_nothing(detent: Detent, end: str) -> None:
    if end == "timeout":
        await detent.save(SHORT)
        started = await detent.start("short", {})
        url = (await detent.run(started))["callbacks"][0]["url"]
    else:
        await detent.save(UNUSED)
        started, urls = await waiting(detent, "unused", "first")
        url = urls["never"]
        if end == "cancel":
            await detent.call("POST", f"/api/v1/runs/{started['run_id']}/cancel")
        else:
            await detent.call("POST", urls["first"], json={"more": False})
    before = await detent.ended(started)
    late = await detent.call("POST", url, json={"late": True})
    assert (late.status, late.json["error"], late.json["message"]) == (410, "gone", "Webhook expired")
    assert await detent.run(started) == before
    assert before["status"] == {"timeout": "completed", "cancel": "cancelled", "completion": "completed"}[end]


@pytest.mark.case("D14")
async def test_each_of_several_waits_gets_its_own_callback_in_whatever_order_they_come(detent: Detent) -> None:
    await detent.save(BOTH)
    for order in itertools.permutations(["a", "b"]):
        started, urls = await waiting(detent, "both", "c")
        for step in order:
            assert (await detent.call("POST", urls[step], json={"for": step})).status == 200
        run = await detent.ended(started)
        assert run["status"] == "completed"
        assert run["output"] == {"a": {"for": "a"}, "b": {"for": "b"}}
        assert statuses(run)["c"] == "timeout"  # who lost is over, and holds nobody up


@pytest.mark.case("D14")
async def test_the_callbacks_of_many_runs_are_not_mixed_up(detent: Detent) -> None:
    await detent.save(BOTH.replace("400ms", "60s"))
    runs = [await waiting(detent, "both", "c") for _ in range(8)]
    wanted = [(url, f"{number}{step}") for number, (_, urls) in enumerate(runs) for step, url in urls.items()]
    random.Random(7).shuffle(wanted)
    answers = await asyncio.gather(*(detent.call("POST", url, json=mark) for url, mark in wanted))
    assert {answer.status for answer in answers} == {200}
    for number, (started, _) in enumerate(runs):
        assert (await detent.ended(started))["output"] == {"a": f"{number}a", "b": f"{number}b"}


@pytest.mark.slow
@pytest.mark.case("C9")
async def test_a_callback_in_the_instant_of_the_timeout_counts_wholly_or_not_at_all(detent: Detent) -> None:
    both = {(200, "success"), (410, "timeout")}
    seen: Counter[tuple[int, str]] = Counter()
    for seconds in LONGER_AND_LONGER:
        await detent.save(SHORT.replace("short", f"in-{seconds}").replace("300ms", f"{seconds}s"))
        answered = await at_the_last_instants(detent, f"in-{seconds}", 150)
        for each, answer in answered:
            run = await detent.ended(each)
            step = run["tasks"]["w"]
            seen[answer.status, step["status"]] += 1
            assert step["body"] == ({"run": each["run_id"]} if answer.status == 200 else None)
            assert statuses(run)["after"] == ("skipped" if answer.status == 200 else "success")
            assert run["status"] == "completed"
        if set(seen) >= both:
            break
    assert set(seen) == both


@pytest.mark.slow
@pytest.mark.case("C10")
async def test_a_run_that_expires_as_its_last_step_ends_has_one_ending_and_keeps_it(detent: Detent) -> None:
    both = {"completed", "timeout"}
    endings = Counter[str]()
    for seconds in LONGER_AND_LONGER:
        await detent.save(f"name: in-{seconds}\nmax_duration: {seconds}s\ntasks:\n  w: {{wait_for_webhook: {{}}}}\n")
        answered = await at_the_last_instants(detent, f"in-{seconds}", 100)
        for each, answer in answered:
            run = await detent.ended(each)
            endings[run["status"]] += 1
            assert answer.status in (200, 410)
            assert (run["status"], statuses(run)["w"]) in {("completed", "success"), ("timeout", "cancelled")}
            assert answer.status == 200 or run["status"] == "timeout"
            assert await detent.run(each) == run
        if set(endings) >= both:
            break
    assert set(endings) == both


async def at_the_last_instants(detent: Detent, workflow: str, count: int) -> list[tuple[dict[str, Any], Answer]]:
    return await asyncio.gather(*(at_the_last_instant(detent, workflow, number) for number in range(count)))


async def at_the_last_instant(detent: Detent, workflow: str, number: int) -> tuple[dict[str, Any], Answer]:
    """A run, answered within milliseconds of the end of its wait's time, or of its own. One in ten is answered surely
    before that and one in ten surely after it, however slow the machine is."""
    started = await detent.start(workflow, {"n": number})
    run = await detent.run(started)
    callback = run["callbacks"][0]
    until = datetime.fromisoformat(callback["expires_at"] or run["expires_at"]).timestamp()
    off = {0: -60.0, 1: 0.05}.get(number % 10, random.uniform(-0.1, 0.01))
    left = until - await detent.app.store.now() / 1_000_000
    await asyncio.sleep(max(0.0, left + off))  # the instant itself is what is tested
    return started, await detent.call("POST", callback["url"], json={"run": run["id"]})
