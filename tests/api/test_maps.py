"""Maps: a step that runs once for each item of a list, from its definition to its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.auth.caller import local_caller
from detent.blobs.contents import BlobContents
from detent.values.blob import Blob
from detent.vault.sealing import new_key
from tests.api.conftest import EVERY_DATABASE, POSTGRES_TOO
from tests.api.server import Detent, serving
from tests.api.shop import Shop
from tests.forms.graphs import document, node

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
        "item": "y",
        "user": "ann",
        "whole": {"user": "ann"},
        "head": "nine",
        "before": 3,
        "chosen": 2,
        "all": {"fee": 3, "by": {"x": 1, "y": 2}},
        "run": run["id"],
        "name": "mapped",
        "missing": "none",
    }


async def test_what_is_missing_in_the_run_is_missing_for_its_items(api: Detent) -> None:
    run = await run_of(api, {"m": {"for_each": [1], "action": "core.echo", "with": {"n": "{{ trigger.body.gone }}"}}})
    assert run["status"] == "failed"
    assert "'gone' is not in trigger.body" in run["tasks"]["m"]["error"]["message"]


@EVERY_DATABASE
async def test_items_can_be_requests_each_with_its_own_key(detent: Detent, shop: Shop) -> None:
    step = {"for_each": "{{ trigger.body }}", "url": shop.url + "/send/{{ item }}", "body": {"to": "{{ item }}"}}
    run = await run_of(detent, {"m": {**step, "collect": "{{ result.status_code }}"}}, ["a", "b", "c", "d"])
    assert run["output"] == [200] * 4
    assert sorted(shop.paths()) == ["/send/a", "/send/b", "/send/c", "/send/d"]
    assert len({call.key for call in shop.calls}) == 4


@EVERY_DATABASE
async def test_items_can_be_child_runs(detent: Detent) -> None:
    double = {"name": "double", "tasks": {"d": {"action": "core.echo", "with": {"n": "{{ trigger.body.n * 2 }}"}}}}
    await detent.save(json.dumps(double))
    step = {"for_each": [1, 2, 3], "workflow": "double", "with": {"n": "{{ item }}"}}
    run = await run_of(detent, {"m": step})
    assert run["status"] == "completed", run["tasks"]["m"]
    assert run["output"] == [{"n": 2}, {"n": 4}, {"n": 6}]


async def test_an_item_is_retried_as_a_step_is(api: Detent, shop: Shop) -> None:
    shop.charge = (503, {})
    retry = {"attempts": 2, "delay": 0}
    step = {"for_each": [1, 2], "url": shop.url + "/api/charge", "body": "{{ item }}", "retry": retry}
    run = await run_of(api, {"m": {**step, "on_item_failure": "continue"}})
    assert run["status"] == "completed"
    assert run["output"] == [None, None]
    assert len(shop.calls) == 6
    assert run["tasks"]["m"]["items"] == {"count": 2, "succeeded": 0, "failed": 2, "pages": 1}


async def fails_some(api: Detent, failed: int, of: int, **more: Any) -> dict[str, Any]:
    """A map of which the first items fail, because their templates cannot be rendered."""
    items = [{} if number < failed else {"n": 1} for number in range(of)]
    step = {"for_each": items, "action": "core.echo", "with": {"n": "{{ item.n }}"}, **more}
    return await run_of(api, {"m": step})


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
        *((0, 0, "completed"), (0, 1, "failed"), ("0%", 1, "failed")),
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
    reads = {"out": "{{ steps.m.output }}", "items": "{{ steps.m.items }}"}
    run = await run_of(api, {"m": echo([]), "after": {"needs": ["m"], "action": "core.echo", "with": reads}})
    assert run["tasks"]["m"]["status"] == "success"
    assert run["output"]["out"] == []
    assert run["output"]["items"] == {"count": 0, "succeeded": 0, "failed": 0}


@pytest.mark.parametrize(
    ("items", "code", "words"),
    [
        ("{{ trigger.body.name }}", "not_a_list", "for_each must be a list, and it is text"),
        ("{{ trigger.body.nothing }}", "not_a_list", "and it is null"),
        ("{{ trigger.body.gone }}", "template_error", "for_each: "),
        ("{{ trigger.body.many }}", "too_many_items", "for_each has 11 items; at most 10 are allowed"),
    ],
)
async def test_a_list_that_cannot_be_used_fails_the_step(api: Detent, items: str, code: str, words: str) -> None:
    given = {"name": "x", "nothing": None, "many": list(range(11))}
    run = await run_of(api, {"m": echo(items, max_items=10)}, given)
    assert run["status"] == "failed"
    assert run["tasks"]["m"]["error"]["code"] == code
    assert words in run["tasks"]["m"]["error"]["message"]


async def test_a_list_that_cannot_be_used_is_named_as_the_graph_form_names_it(api: Detent) -> None:
    written = document(node("m", forEach="{{ trigger.name }}"))
    await api.call("PUT", "/api/v1/workflows/orders", data=json.dumps(written))
    assert (await api.call("POST", "/api/v1/workflows/orders/publish")).status == 200
    run = await api.ended(await api.start("orders", {"name": "x"}))
    assert run["error"] == "m: forEach must be a list, and it is text"


@POSTGRES_TOO
async def test_outputs_that_are_large_together_are_a_blob_that_later_steps_read(detent: Detent) -> None:
    items = {"for_each": list(range(100)), "action": "core.echo", "with": {"n": "{{ item }}", "text": LARGE}}
    reads = {"n": "{{ steps.m.output[99].n }}", "many": "{{ steps.m.output.length }}", "all": "{{ steps.m.output }}"}
    after = {"needs": ["m"], "action": "core.echo", "with": reads}
    run = await run_of(detent, {"m": {**items, "max_parallel": 100}, "after": after})
    assert run["status"] == "completed", run
    assert run["tasks"]["m"]["items"]["succeeded"] == 100
    blob = run["tasks"]["m"]["output"]
    assert run["output"] == {"n": 99, "many": 100, "all": blob}
    async with detent.opened("GET", f"/api/v1/blobs/{blob['$blob']}", {}) as content:
        assert json.loads(await content.read()) == [{"n": number, "text": LARGE} for number in range(100)]


async def test_a_list_that_is_a_blob_has_no_values_of_secrets() -> None:
    async with serving("memory://", encryption_key=new_key()) as detent:
        token = "t0k3n-of-the-shop"
        await detent.app.commands.for_caller(local_caller("test")).secrets.set("SHOP", token)
        step = {"for_each": list(range(100)), "action": "core.echo", "with": {"text": LARGE}, "max_parallel": 100}
        collect = {"text": "{{ result.output.text }}", "by": "{{ trigger.body.token }}"}
        run = await run_of(detent, {"m": {**step, "collect": collect}}, {"token": token})
        async with detent.opened("GET", f"/api/v1/blobs/{run['output']['$blob']}", {}) as content:
            values = json.loads(await content.read())
        assert [value["text"] for value in values] == [LARGE] * 100
        assert token not in json.dumps(values)


async def test_outputs_that_are_too_large_for_a_page_or_a_blob_read_as_truncated() -> None:
    reads = {"needs": ["m"], "action": "core.echo", "with": {"all": "{{ steps.m.output }}"}}
    counts = {"needs": ["m"], "action": "core.echo", "with": {"n": "{{ steps.m.items.succeeded }}"}}
    items = {"for_each": list(range(100)), "action": "core.echo", "with": {"text": LARGE}, "max_parallel": 100}
    async with serving("memory://", max_blob=300_000) as detent:
        run = await run_of(detent, {"m": items, "all": reads, "counts": counts})
        assert await detent.app.store.blobs(1, limit=9) == []
    assert run["tasks"]["m"]["status"] == "success"
    assert run["tasks"]["m"]["is_truncated"] is True
    assert run["tasks"]["counts"]["output"] == {"n": 100}
    message = run["tasks"]["all"]["error"]["message"]
    assert "'collect'" in message
    assert "/steps/m/items" in message


async def test_a_list_that_cannot_become_a_blob_reads_as_truncated_and_its_map_succeeds(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: BlobContents, tenant: int, run: bytes, parts: object) -> Blob:
        raise ValueError("an error that no code expects")

    monkeypatch.setattr(BlobContents, "save", broken)
    items = {"for_each": list(range(100)), "action": "core.echo", "with": {"text": LARGE}, "max_parallel": 100}
    run = await run_of(api, {"m": items})
    assert (run["status"], run["tasks"]["m"]["is_truncated"]) == ("completed", True)


async def test_a_collect_that_cannot_be_rendered_fails_the_map(api: Detent) -> None:
    run = await run_of(api, {"m": echo([1, 2], collect="{{ result.output.gone.further }}")})
    assert run["status"] == "failed"
    assert run["tasks"]["m"]["error"]["code"] == "template_error"
    assert run["tasks"]["m"]["error"]["message"].startswith("collect: ")


async def test_a_page_that_is_cancelled_by_itself_leaves_its_items_without_a_value(api: Detent, shop: Shop) -> None:
    shop.hold.clear()
    paths = ["charge", "create-checkout", "charge", "charge"]
    step = {"for_each": paths, "url": shop.url + "/api/{{ item }}", "max_parallel": 4, "on_item_failure": "continue"}
    await api.save(json.dumps({"name": "mapped", "tasks": {"m": step}}))
    started = await api.start("mapped", {})
    await api.until(started, lambda run: len(shop.calls) == 4 and run["tasks"]["m"]["items"]["succeeded"] == 2)
    pages = (await api.call("GET", f"/api/v1/runs?trigger=map&status=running&parent={started['run_id']}")).json["data"]
    page = {"workflow_id": pages[0]["workflow_id"], "run_id": pages[0]["id"]}
    await api.until(page, lambda run: run["tasks"]["i0"]["status"] == "success")
    assert (await api.call("POST", f"/api/v1/runs/{page['run_id']}/cancel")).status < 300
    run = await api.ended(started)
    assert run["tasks"]["m"]["items"] == {"count": 4, "succeeded": 3, "failed": 1, "pages": 2}
    paid = {"amount": 42.5}
    assert run["output"] == [paid, None, paid, paid]


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
    url, nap = shop.url + "/api/create-checkout", {"duration": "300ms"}
    nodes = [
        {
            "id": "m",
            "actionType": "core.http.request",
            "parameters": {"url": url},
            "forEach": [1] * 30,
            "maxParallel": 4,
        },
        {"id": "nap", "actionType": "core.delay", "parameters": nap, "edges": [{"targetNode": "bad"}]},
        {"id": "bad", "actionType": "core.fail", "policies": {"retry": {"maxAttempts": 1}}},
    ]
    graph = {"id": "mapped", "displayName": "Mapped", "startNodes": ["m", "nap"], "nodes": nodes}
    await detent.save(json.dumps(graph))
    assert (await detent.call("POST", "/api/v1/workflows/mapped/publish")).status == 200
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


async def test_pages_are_left_out_of_lists_unless_they_are_asked_for(detent: Detent) -> None:
    run = await run_of(detent, {"m": echo([1, 2, 3], max_parallel=1)})
    listed = (await detent.call("GET", "/api/v1/runs")).json["data"]
    assert [one["id"] for one in listed] == [run["id"]]
    for asked in ("trigger=map", f"parent={run['id']}"):
        pages = (await detent.call("GET", f"/api/v1/runs?{asked}")).json["data"]
        assert [one["trigger"] for one in pages] == ["map"] * 3
    tree = (await detent.call("GET", f"/api/v1/runs/{run['id']}/hierarchy")).json["data"]
    assert tree["root"]["children"] == []


async def test_the_runs_that_a_map_started_are_in_the_tree_below_its_step(api: Detent) -> None:
    await api.save(json.dumps({"name": "small", "tasks": {"a": {"action": "core.echo"}}}))
    tasks = {
        "m": {"for_each": list(range(60)), "workflow": "small", "max_parallel": 9},
        "single": {"workflow": "small"},
        "plain": echo([1, 2]),
    }
    run = await run_of(api, tasks)
    assert run["status"] == "completed", run
    tree = (await api.call("GET", f"/api/v1/runs/{run['id']}/hierarchy")).json["data"]
    [single], [found] = tree["root"]["children"], tree["root"]["maps"]
    assert (single["parent"]["step"], found["step"]) == ("single", "m")
    assert found["items"] == {"count": 60, "succeeded": 60, "failed": 0, "pages": 20}
    assert [child["item"] for child in found["children"]] == list(range(50))
    assert (found["more"], tree["complete"]) == (True, False)
    items = (await api.call("GET", f"/api/v1/runs/{run['id']}/steps/m/items?limit=50")).json["data"]
    assert [item["child_run_id"] for item in items] == [child["id"] for child in found["children"]]
    below = (await api.call("GET", f"/api/v1/runs/{items[0]['child_run_id']}/hierarchy?limit=5")).json["data"]
    assert below["root"]["id"] == run["id"], "it is the tree of the child too"
    assert [child["item"] for child in below["root"]["maps"][0]["children"]] == [0, 1, 2]
    assert below["root"]["maps"][0]["more"]


async def test_the_pages_of_a_map_are_no_level_of_their_own(tmp_path: Path) -> None:
    async with serving(f"sqlite:///{tmp_path}/detent.db", max_nesting_depth=2) as detent:
        await detent.save(json.dumps({"name": "leaf", "tasks": {"a": {"action": "core.echo", "with": {"n": 1}}}}))
        for name, child in (("middle", "leaf"), ("top", "middle"), ("beyond", "top")):
            await detent.save(json.dumps({"name": name, "tasks": {"m": {"for_each": [1], "workflow": child}}}))
        run = await detent.ended(await detent.start("top", {}))
        assert (run["status"], run["output"]) == ("completed", [[{"n": 1}]])
        run = await detent.ended(await detent.start("beyond", {}))
        assert (run["status"], "3 levels below the first run" in run["error"]) == ("failed", True), run["error"]


async def items_of(detent: Detent, run: str, query: str = "") -> list[dict[str, Any]]:
    """All items of the map, page by page."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        answer = await detent.call("GET", f"/api/v1/runs/{run}/steps/m/items?{query}{cursor}")
        assert answer.status == 200, answer.text
        found += answer.json["data"]
        if answer.json["next_cursor"] is None:
            return found
        cursor = f"&cursor={answer.json['next_cursor']}"


@EVERY_DATABASE
async def test_the_items_of_a_map_are_listed(detent: Detent) -> None:
    items = [{} if number in (3, 40) else {"n": number} for number in range(50)]
    step = {"for_each": items, "action": "core.echo", "with": {"n": "{{ item.n }}"}, "on_item_failure": "continue"}
    run = await run_of(detent, {"m": {**step, "max_parallel": 4}})
    found = await items_of(detent, run["id"], "limit=7")
    assert [item["index"] for item in found] == list(range(50))
    assert found[5]["result"] == {"output": {"n": 5}}
    assert {item["attempts"] for item in found} == {1}
    failed = await items_of(detent, run["id"], "status=template_error")
    assert [item["index"] for item in failed] == [3, 40]
    assert "item" in failed[0]["error"]["message"]
    page = (await detent.call("GET", f"/api/v1/runs/{failed[0]['run_id']}")).json["data"]
    assert page["trigger"] == "map"


async def test_what_is_not_a_map_has_no_items(detent: Detent) -> None:
    run = await run_of(detent, {"a": {"action": "core.echo"}})
    place = f"/api/v1/runs/{run['id']}/steps"
    assert (await detent.call("GET", f"{place}/a/items")).status == 409
    assert (await detent.call("GET", f"{place}/b/items")).status == 404
    assert (await detent.call("GET", f"{place}/a/items?status=sad")).status == 400
    assert (await detent.call("GET", f"{place}/a/items?cursor=x")).status == 400


async def test_a_map_says_how_far_it_is(detent: Detent, shop: Shop) -> None:
    shop.hold.clear()
    step = {"for_each": list(range(9)), "url": shop.url + "/{{ index < 3 ? 'a' : 'api/create-checkout' }}"}
    await detent.save(json.dumps({"name": "mapped", "tasks": {"m": {**step, "max_parallel": 1}}}))
    started = await detent.start("mapped", {})
    run = await detent.until(started, lambda run: (run["tasks"]["m"].get("items") or {}).get("succeeded") == 3)
    assert run["tasks"]["m"]["status"] == "running"
    why = (await detent.call("GET", f"/api/v1/runs/{run['id']}/why")).json["data"]
    assert "3 of 9 pages, 3 of 9 items have ended" in why["summary"]
    waiting = await items_of(detent, run["id"], "status=pending")
    assert [item["index"] for item in waiting] == [4, 5, 6, 7, 8]
    shop.hold.set()
    over = (await detent.ended(started))["tasks"]["m"]
    assert over["started_at"] == run["tasks"]["m"]["started_at"]


@EVERY_DATABASE
@pytest.mark.parametrize("policy", ["stop", "continue"])
async def test_a_retry_runs_only_the_items_that_did_not_succeed(detent: Detent, shop: Shop, policy: str) -> None:
    shop.charge = (400, {})
    paths = [f"fine/{number}" for number in range(12)]
    paths[7] = "api/charge"
    step = {"for_each": paths, "url": shop.url + "/{{ item }}", "max_parallel": 4, "on_item_failure": policy}
    more = {"tolerate": "1%"} if policy == "continue" else {}
    failed = await run_of(detent, {"m": {**step, **more, "collect": "{{ index }}"}})
    assert failed["status"] == "failed"
    done = {item["index"] for item in await items_of(detent, failed["id"], "status=success")}
    shop.charge = (200, {})
    shop.calls.clear()
    answer = await detent.call("POST", f"/api/v1/runs/{failed['id']}/retry")
    assert answer.status in (200, 201), answer.text
    again = answer.json["data"]
    run = await detent.ended({"workflow_id": again["workflow_id"], "run_id": again["id"]})
    assert run["status"] == "completed", run["tasks"]["m"]
    assert run["output"] == list(range(12))
    assert run["tasks"]["m"]["items"]["succeeded"] == 12
    assert sorted(shop.paths()) == sorted(f"/{path}" for number, path in enumerate(paths) if number not in done)
    assert done


async def test_a_page_is_not_retried_alone(detent: Detent) -> None:
    run = await run_of(detent, {"m": echo([{}], **{"with": {"n": "{{ item.gone }}"}})})
    [page] = (await detent.call("GET", f"/api/v1/runs?parent={run['id']}")).json["data"]
    for verb in ("retry", "rerun"):
        answer = await detent.call("POST", f"/api/v1/runs/{page['id']}/{verb}")
        assert answer.status == 409
        assert run["id"] in answer.json["message"]


async def test_a_list_of_a_million_items_is_refused_before_it_is_built(api: Detent) -> None:
    for million in ("range(0, 1000000)", "range(0, 1000).map(a => range(0, 1000)).flatten()"):
        await api.call("DELETE", "/api/v1/workflows/mapped")
        run = await run_of(api, {"m": echo(f"{{{{ {million} }}}}", max_items=1_000_000)})
        error = run["tasks"]["m"]["error"]
        assert (run["status"], error["code"]) == ("failed", "template_error")
        assert error["message"].endswith("the expression reads too much data")
        assert (await api.call("GET", f"/api/v1/runs?parent={run['id']}")).json["data"] == [], "no page began"


async def test_an_item_or_a_page_that_is_too_large_fails_the_step_with_its_size(api: Detent) -> None:
    # A control character has one byte in a value and six in JSON.
    large = "{{ ['small', trigger.body.text + trigger.body.text] }}"
    run = await run_of(api, {"m": {"for_each": large, "action": "core.echo"}}, {"text": "\x01" * 40_000})
    assert (run["status"], run["tasks"]["m"]["error"]["code"]) == ("failed", "item_too_large"), run["error"]
    assert run["tasks"]["m"]["error"]["message"] == "item 1 has 480003 bytes; at most 262144 are allowed"
    await api.call("DELETE", "/api/v1/workflows/mapped")
    # What the items read beside the item is in the input of each page.
    copies = {f"c{number}": {"action": "core.echo", "with": {"it": "{{ trigger.body.text }}"}} for number in range(3)}
    reads = {name: f"{{{{ steps.{name}.output.it }}}}" for name in copies}
    step = {"for_each": [1, 2], "needs": list(copies), "action": "core.echo", "with": reads}
    run = await run_of(api, {**copies, "m": step}, {"text": "y" * 200_000})
    assert (run["status"], run["tasks"]["m"]["error"]["code"]) == ("failed", "page_too_large")
    assert "at most 524288 are allowed" in run["tasks"]["m"]["error"]["message"]


async def test_pages_are_neither_rehearsed_nor_moved(api: Detent) -> None:
    await api.save(json.dumps({"name": "waits", "tasks": {"go": {"wait_for_webhook": {}}}}))
    tasks = {"m": {"for_each": [1, 2], "workflow": "waits"}}
    await api.save(json.dumps({"name": "mapped", "tasks": tasks}))
    started = await api.start("mapped", {})
    await api.until(started, lambda run: run["tasks"]["m"].get("items"))
    # Version 2 has a step of the name that the first item has in its page.
    again = {"name": "mapped", "tasks": {**tasks, "i0": {"workflow": "waits"}, "i1": {"workflow": "waits"}}}
    assert (await api.call("PUT", "/api/v1/workflows/mapped", json=again)).status == 200
    rehearsal = await api.call("POST", "/api/v1/workflows/mapped/rehearse", json=again)
    assert rehearsal.status == 200, rehearsal.text
    assert (rehearsal.json["data"]["in_flight"], rehearsal.json["data"]["matched"]) == (1, 1)
    [page] = (await api.call("GET", "/api/v1/runs?trigger=map")).json["data"]
    move = await api.call("POST", f"/api/v1/runs/{page['id']}/move", json={"version": 2})
    assert (move.status, "is a page of a map" in move.json["message"]) == (409, True), move.text
    wish = {"filter": {"workflow": "mapped", "trigger": "map"}, "version": 2, "dry_run": False}
    moves = (await api.call("POST", "/api/v1/runs/move", json=wish)).json["data"]
    assert (moves["matched"], moves["movable"], moves["sent"]) == (1, 0, 0)
    assert "is a page of a map" in moves["groups"][0]["reasons"][0]["message"]
