"""A run is steered past a step over HTTP, on real databases: skip, reattempt, finish."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.server import Answer, Detent
from tests.api.shop import Shop

pytestmark = pytest.mark.slow

RUNS = "/api/v1/runs"
WORKFLOW = """
name: orders
tasks:
  charge: {url: "SHOP/api/charge", retries: {attempts: 3, delay: 1h}}
  approve: {wait_for_webhook: {timeout: 1h}}
  ship: {needs: [charge, approve], if: "true", action: core.echo, with: {x: 1}}
"""


async def stuck(detent: Detent, shop: Shop) -> dict[str, Any]:
    """A run with one step that waits for its retry, and one that waits for its callback."""
    shop.charge = (503, {})
    await detent.save(WORKFLOW.replace("SHOP", shop.url))
    started = await detent.start("orders", {})

    def stands(run: dict[str, Any]) -> bool:
        return bool(run["tasks"]["charge"]["attempts"]) and run["tasks"]["approve"]["status"] == "waiting"

    return await detent.until(started, stands)


async def wish(detent: Detent, run: dict[str, Any], word: str, body: Any = None) -> Answer:
    return await detent.call("POST", f"{RUNS}/{run['id']}/{word}", **({} if body is None else {"json": body}))


async def test_steps_are_skipped_by_name_and_without_one_and_the_run_goes_on(detent: Detent, shop: Shop) -> None:
    run = await stuck(detent, shop)
    first = await wish(detent, run, "skip", {"step": "approve"})
    assert (first.status, first.json["data"]["tasks"]["approve"]["status"]) == (200, "skipped")
    assert (await detent.call("POST", run["callbacks"][0]["url"])).status == 410
    second = (await wish(detent, run, "skip")).json["data"]
    assert (second["tasks"]["charge"]["status"], second["skip_requested"]) == ("skipped", False)
    ended = await detent.ended({"workflow_id": run["workflow_id"], "run_id": run["id"]})
    assert (ended["status"], ended["output"]) == ("completed", {"x": 1})


async def test_a_step_is_tried_now_and_a_paused_run_goes_on_with_that(detent: Detent, shop: Shop) -> None:
    run = await stuck(detent, shop)
    await wish(detent, run, "pause")
    answer = await wish(detent, run, "reattempt", {"step": "charge"})
    assert (answer.status, answer.json["data"]["status"]) == (200, "running")
    place = {"workflow_id": run["workflow_id"], "run_id": run["id"]}
    tried = await detent.until(place, lambda seen: len(seen["tasks"]["charge"]["attempts"]) == 2)
    assert [one["attempt"] for one in tried["tasks"]["charge"]["attempts"]] == [1, 2]
    later = (await wish(detent, run, "reattempt", {"wait": "2h"})).json["data"]
    assert later["tasks"]["charge"]["attempt"] == 3
    entries = (await detent.call("GET", f"{RUNS}/{run['id']}/events")).json["data"]
    assert [(one["kind"], one["by"]) for one in entries if one["by"]] == [
        ("paused", "api"),
        ("retry", "api"),
        ("retry", "api"),
    ]


async def test_a_run_is_finished_and_that_again_is_no_error(detent: Detent, shop: Shop) -> None:
    run = await stuck(detent, shop)
    answer = await wish(detent, run, "finish")
    assert (answer.status, answer.json["data"]["status"]) == (200, "completed")
    assert {task["status"] for task in answer.json["data"]["tasks"].values()} == {"skipped"}
    assert (await wish(detent, run, "finish")).status == 200
    late = await wish(detent, run, "skip")
    assert (late.status, late.json["code"], late.json["message"]) == (
        409,
        "WFENG002",
        "Cannot skip a finished workflow",
    )
    assert (await wish(detent, run, "reattempt")).json["message"] == "Cannot reattempt a finished workflow"


async def test_what_cannot_be_skipped_or_tried_is_refused_and_says_why(api: Detent, shop: Shop) -> None:
    run = await stuck(api, shop)
    refused = {
        ("skip", "ship"): (409, "Cannot skip step 'ship': its turn has not come"),
        ("reattempt", "approve"): (409, "Cannot reattempt step 'approve': it waits"),
        ("skip", "chrage"): (404, "the run has no step 'chrage'; did you mean 'charge'?"),
    }
    for (word, step), expected in refused.items():
        answer = await wish(api, run, word, {"step": step})
        assert (answer.status, answer.json["message"]) == expected
    await wish(api, run, "skip", {"step": "charge"})
    over = await wish(api, run, "skip", {"step": "charge"})
    assert (over.status, over.json["message"]) == (409, "Cannot skip step 'charge': it ended skipped")
    none = await wish(api, run, "reattempt")
    assert (none.status, none.json["message"]) == (
        409,
        "Cannot reattempt this workflow: it has no current step that can be tried",
    )


async def test_bad_bodies_are_refused_and_change_nothing(api: Detent, shop: Shop) -> None:
    run = await stuck(api, shop)
    for word, body in (
        ("skip", {"step": 7}),
        ("skip", {"stp": "charge"}),
        ("skip", []),
        ("reattempt", {"wait": "soon"}),
        ("reattempt", {"wait": -1}),
        ("reattempt", {"wait": "99999d"}),
    ):
        answer = await wish(api, run, word, body)
        assert (answer.status, answer.json["code"]) == (400, "WFENG005"), (word, body)
    seen = (await api.call("GET", f"{RUNS}/{run['id']}")).json["data"]
    assert (seen["status"], seen["tasks"]) == (run["status"], run["tasks"])


async def test_a_run_that_has_not_begun_can_only_be_cancelled(api: Detent) -> None:
    await api.save("name: later\ntasks:\n  a: {action: core.echo}\n")
    answer = await api.call("POST", "/api/v1/workflows/later/trigger?start_at=2030-01-01T00:00:00Z", json={})
    run = {"id": answer.json["data"]["run_id"]}
    for word in ("skip", "reattempt", "finish"):
        refused = await wish(api, run, word)
        assert (refused.status, refused.json["message"]) == (409, f"Cannot {word} a pending workflow")


async def test_the_same_is_done_under_the_other_names_of_a_run(api: Detent, shop: Shop) -> None:
    run = await stuck(api, shop)
    place = f"/api/v1/workflows/orders/runs/{run['id']}/skip"
    assert (await api.call("POST", place, json={"step": "charge"})).status == 200
    below = f"/api/v1/executions/{run['id']}/finish"
    assert (await api.call("POST", below)).json["data"]["execution_id"] == run["id"]
