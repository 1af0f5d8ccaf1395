"""Maps: a step that runs once for each item of a list, from its definition to its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Detent
from tests.api.shop import Shop

LARGE = "x" * 3_000


def echo(items: Any, **more: Any) -> dict[str, Any]:
    return {"for_each": items, "action": "core.echo", "with": {"n": "{{ item }}", "i": "{{ index }}"}, **more}


async def run_of(detent: Detent, tasks: dict[str, Any], body: Any = None, **document: Any) -> dict[str, Any]:
    """Save a workflow, and return a run of it that has ended."""
    await detent.save(json.dumps({"name": "mapped", "tasks": tasks, **document}))
    return await detent.ended(await detent.start("mapped", body or {}))


@EVERY_DATABASE
async def test_the_output_has_the_items_in_their_order(detent: Detent) -> None:
    given = {"orders": list(range(230))}
    step = echo("{{ trigger.body.orders }}", max_parallel=50, collect="{{ result.output.i * 10 }}")
    run = await run_of(detent, {"m": step}, given)
    assert run["status"] == "completed", run
    assert run["output"] == [10 * number for number in range(230)]
    assert run["tasks"]["m"]["items"] == {"count": 230, "succeeded": 230, "failed": 0, "pages": 33}


async def test_without_collect_the_outputs_are_gathered(api: Detent) -> None:
    run = await run_of(api, {"m": echo(["a", "b"])})
    assert run["output"] == [{"n": "a", "i": 0}, {"n": "b", "i": 1}]


async def test_an_item_reads_values_of_its_run_beside_the_item(api: Detent) -> None:
    reads = {
        "item": "{{ item.id }}",
        "user": "{{ trigger.body.user }}",
        "whole": "{{ trigger.body }}",
        "head": "{{ trigger.headers['x-shop'] }}",
        "before": "{{ steps.first.output.fee }}",
        "all": "{{ steps.first.output }}",
        "chosen": "{{ steps.first.output.by[item.id] }}",
        "run": "{{ run.id }}",
        "name": "{{ workflow.name }}",
        "missing": "{{ trigger.body.missing ?? 'none' }}",
    }
    tasks = {
        "first": {"action": "core.echo", "with": {"fee": 3, "by": {"x": 1, "y": 2}}},
        "m": {"needs": ["first"], "for_each": [{"id": "x"}, {"id": "y"}], "action": "core.echo", "with": reads},
    }
    await api.save(json.dumps({"name": "mapped", "tasks": tasks}))
    headers = {"X-Shop": "nine"}
    answer = await api.call("POST", "/api/v1/workflows/mapped/trigger", json={"user": "ann"}, headers=headers)
    run = await api.ended(answer.json["data"])
    assert run["status"] == "completed", run["tasks"]["m"]
    assert run["output"][1] == {
        **{"item": "y", "user": "ann", "whole": {"user": "ann"}, "head": "nine", "before": 3, "chosen": 2},
        **{"all": {"fee": 3, "by": {"x": 1, "y": 2}}, "run": run["id"], "name": "mapped", "missing": "none"},
    }


@EVERY_DATABASE
async def test_items_can_be_requests_each_with_its_own_key(detent: Detent, shop: Shop) -> None:
    step = {"for_each": "{{ trigger.body }}", "url": shop.url + "/send/{{ item }}", "body": {"to": "{{ item }}"}}
    run = await run_of(detent, {"m": {**step, "collect": "{{ result.status_code }}"}}, ["a", "b", "c", "d"])
    assert run["output"] == [200] * 4
    assert sorted(shop.paths()) == ["/send/a", "/send/b", "/send/c", "/send/d"]
    assert len({call.key for call in shop.calls}) == 4


@EVERY_DATABASE
async def test_items_can_be_child_runs(detent: Detent) -> None:
    double = {"name": "double", "tasks": {"d": {"action": "core.echo", "with": "{{ trigger.body.n * 2 }}"}}}
    await detent.save(json.dumps(double))
    step = {"for_each": [1, 2, 3], "workflow": "double", "input": {"n": "{{ item }}"}}
    run = await run_of(detent, {"m": step})
    assert run["status"] == "completed", run["tasks"]["m"]
    assert run["output"] == [2, 4, 6]


async def test_an_item_is_retried_as_a_step_is(api: Detent, shop: Shop) -> None:
    shop.charge = (503, {})
    retry = {"attempts": 3, "delay": 0}
    step = {"for_each": [1, 2], "url": shop.url + "/api/charge", "body": "{{ item }}", "retry": retry}
    run = await run_of(api, {"m": {**step, "on_item_failure": "continue"}})
    assert run["status"] == "completed"
    assert run["output"] == [None, None]
    assert len(shop.calls) == 6
    assert run["tasks"]["m"]["items"] == {"count": 2, "succeeded": 0, "failed": 2, "pages": 1}


def failing(failed: int, of: int, **more: Any) -> dict[str, Any]:
    """A map of which the first so many items fail."""
    with_ = {"message": "{{ 'no ' }}{{ index }}"}
    step = {"for_each": list(range(of)), "action": "core.fail", "with": with_}
    return {**step, "for_each": [number >= failed for number in range(of)], **more}


async def fails_some(api: Detent, failed: int, of: int, **more: Any) -> dict[str, Any]:
    """A map over requests, of which some are to hosts that are refused at once."""
    urls = ["http://10.0.0.1/no" if number < failed else None for number in range(of)]
    step = {"for_each": urls, "action": "core.echo", "with": {"n": "{{ item ?? 'fine' }}"}, **more}
    with_ = {"n": "{{ 1 / (index < " + str(failed) + " ? 0 : 1) }}"}
    return await run_of(api, {"m": {**step, "with": with_}})


async def test_the_first_failure_ends_the_map_and_its_run(api: Detent) -> None:
    run = await fails_some(api, 1, 40)
    assert run["status"] == "failed"
    step = run["tasks"]["m"]
    assert step["error"]["code"] == "items_failed"
    assert step["error"]["message"].startswith("1 item of 40 failed: item 0: ")
    assert step["items"]["failed"] == 1


@pytest.mark.parametrize(
    ("tolerate", "failed", "status"),
    [
        *((None, 20, "completed"), (3, 3, "completed"), (3, 4, "failed")),
        *(("10%", 2, "completed"), ("10%", 3, "failed"), ("100%", 20, "completed")),
    ],
)
async def test_so_many_failed_items_are_tolerated(api: Detent, tolerate: Any, failed: int, status: str) -> None:
    more = {} if tolerate is None else {"tolerate": tolerate}
    run = await fails_some(api, failed, 20, on_item_failure="continue", max_parallel=4, **more)
    assert run["status"] == status
    assert run["tasks"]["m"]["items"]["failed"] == failed
    if status == "completed":
        assert run["output"] == [None] * failed + [{"n": 1}] * (20 - failed)


async def test_an_empty_list_completes_at_once(api: Detent) -> None:
    run = await run_of(api, {"m": echo([]), "after": {"needs": ["m"], "action": "core.echo", "with": "{{ steps.m }}"}})
    assert run["tasks"]["m"]["status"] == "success"
    assert run["output"]["output"] == []
    assert run["output"]["items"] == {"count": 0, "succeeded": 0, "failed": 0}


@pytest.mark.parametrize(
    ("items", "code", "words"),
    [
        ("{{ trigger.body.name }}", "not_a_list", "for_each must be a list, and it is str"),
        ("{{ trigger.body.nothing }}", "not_a_list", "and it is null"),
        ("{{ trigger.body.gone }}", "template_error", "for_each: "),
        ("{{ trigger.body.many }}", "too_many_items", "for_each has 11 items; at most 10 are allowed"),
        ("{{ trigger.body.large }}", "item_too_large", "item 1 has "),
    ],
)
async def test_a_list_that_cannot_be_used_fails_the_step(api: Detent, items: str, code: str, words: str) -> None:
    given = {"name": "x", "nothing": None, "many": list(range(11)), "large": [1, "x"]}
    tasks: dict[str, Any] = {"m": echo(items, max_items=10)}
    if "large" in items:
        tasks["m"]["for_each"] = [1, "{{ trigger.body.name.repeat(1) }}"]
        pytest.skip("an item cannot be larger than the input or a result: both have the same limit")
    run = await run_of(api, tasks, given)
    assert run["status"] == "failed"
    assert run["tasks"]["m"]["error"]["code"] == code
    assert words in run["tasks"]["m"]["error"]["message"]


async def test_outputs_that_are_too_large_together_read_as_truncated(api: Detent) -> None:
    reads = {"needs": ["m"], "action": "core.echo", "with": "{{ steps.m.output }}"}
    counts = {"needs": ["m"], "action": "core.echo", "with": "{{ steps.m.items.succeeded }}"}
    items = {"for_each": list(range(100)), "action": "core.echo", "with": LARGE, "max_parallel": 100}
    run = await run_of(api, {"m": items, "all": reads, "counts": counts})
    assert run["tasks"]["m"]["status"] == "success"
    assert run["tasks"]["m"]["is_truncated"] is True
    assert run["tasks"]["counts"]["output"] == 100
    message = run["tasks"]["all"]["error"]["message"]
    assert "'collect'" in message
    assert "/steps/m/items" in message


async def test_a_collect_that_cannot_be_rendered_fails_the_map(api: Detent) -> None:
    run = await run_of(api, {"m": echo([1, 2], collect="{{ result.output.gone.further }}")})
    assert run["status"] == "failed"
    assert run["tasks"]["m"]["error"]["code"] == "template_error"
    assert run["tasks"]["m"]["error"]["message"].startswith("collect: ")


async def test_items_at_once_are_limited(api: Detent, shop: Shop) -> None:
    shop.hold.clear()
    step = {"for_each": list(range(30)), "url": shop.url + "/api/create-checkout", "max_parallel": 7}
    await api.save(json.dumps({"name": "mapped", "tasks": {"m": step}}))
    started = await api.start("mapped", {})
    await api.until(started, lambda _: len(shop.calls) >= 6)
    assert len(shop.calls) <= 7
    shop.hold.set()
    run = await api.ended(started)
    assert run["status"] == "completed"
    assert len(shop.calls) == 30


@EVERY_DATABASE
async def test_a_cancel_reaches_the_pages(detent: Detent, shop: Shop) -> None:
    shop.hold.clear()
    step = {"for_each": list(range(30)), "url": shop.url + "/api/create-checkout", "max_parallel": 4}
    await detent.save(json.dumps({"name": "mapped", "tasks": {"m": step}}))
    started = await detent.start("mapped", {})
    await detent.until(started, lambda _: len(shop.calls) >= 4)
    await detent.call("POST", f"/api/v1/runs/{started['run_id']}/cancel")
    await pages_end(detent, started["run_id"], "cancelled")


async def pages_end(detent: Detent, run: str, status: str) -> None:
    async def pages() -> list[dict[str, Any]]:
        answer = await detent.call("GET", f"/api/v1/runs?trigger=map&parent={run}")
        assert answer.status == 200, answer.text
        found: list[dict[str, Any]] = answer.json["data"]
        return found

    found = await pages()
    assert found
    for page in found:
        over = await detent.ended({"workflow_id": page["workflow_id"], "run_id": page["id"]})
        assert over["status"] == status


async def test_a_failure_elsewhere_cancels_the_pages(detent: Detent, shop: Shop) -> None:
    shop.hold.clear()
    step = {"for_each": list(range(30)), "url": shop.url + "/api/create-checkout", "max_parallel": 4}
    tasks = {"m": step, "nap": {"sleep": "300ms"}, "bad": {"needs": ["nap"], "action": "core.fail"}}
    await detent.save(json.dumps({"name": "mapped", "tasks": tasks, "on_failure": "fail_fast"}))
    run = await detent.ended(await detent.start("mapped", {}))
    assert run["status"] == "failed"
    assert run["tasks"]["m"]["status"] == "skipped"
    await pages_end(detent, run["id"], "cancelled")


async def test_pages_expire_with_their_run(detent: Detent, shop: Shop) -> None:
    shop.hold.clear()
    step = {"for_each": [1, 2], "url": shop.url + "/api/create-checkout"}
    await detent.save(json.dumps({"name": "mapped", "tasks": {"m": step}, "max_duration": "1h"}))
    started = await detent.start("mapped", {})
    run = await detent.until(started, lambda _: len(shop.calls) == 2)
    pages = (await detent.call("GET", f"/api/v1/runs?parent={started['run_id']}")).json["data"]
    assert [page["expires_at"] for page in pages] == [run["expires_at"]]
    shop.hold.set()
    await detent.ended(started)
