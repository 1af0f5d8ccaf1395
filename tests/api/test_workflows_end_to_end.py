"""The three workflows, word for word but for hosts and sleep lengths, through the API to their outcome."""

from __future__ import annotations

import asyncio

import pytest

from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Detent, statuses
from tests.api.shop import Shop
from tests.forms.workflows import CHECKOUT_FLOW, ORDER_PROCESSING, TRIAL_EXPIRY

pytestmark = [pytest.mark.slow, EVERY_DATABASE]

HOST = "https://myapp.com"


def at(definition: str, shop: Shop, **lengths: str) -> str:
    """The definition with its host and some lengths of time replaced."""
    assert definition.count(HOST) >= 3
    written = definition.replace(HOST, shop.url)
    for old, new in lengths.items():
        assert f'"{old.lstrip("_")}"' in written
        written = written.replace(f'"{old.lstrip("_")}"', f'"{new}"')
    return written


async def test_an_order_that_is_paid_gets_its_receipt_and_is_shipped(detent: Detent, shop: Shop) -> None:
    saved = await detent.save(at(ORDER_PROCESSING, shop))
    assert saved["task_count"] == 4
    run = await detent.ended(await detent.start("order-processing", {"order_id": 123}))
    assert run["status"] == "completed"
    assert statuses(run) == {
        "charge": "success",
        "send-receipt": "success",
        "notify-warehouse": "success",
        "handle-failure": "skipped",
    }
    assert shop.body("/api/charge") == {"order_id": 123}
    assert shop.body("/api/send-receipt") == {"order_id": 123, "amount": 42.5}
    assert sorted(shop.paths()) == ["/api/charge", "/api/send-receipt", "/api/ship"]
    assert len({call.key for call in shop.calls}) == 3
    assert run["tasks"]["charge"]["status_code"] == 200


async def test_an_order_whose_charge_is_refused_takes_the_failure_path_and_completes(
    detent: Detent, shop: Shop
) -> None:
    shop.charge = (402, {"error": "declined"})
    await detent.save(at(ORDER_PROCESSING, shop))
    run = await detent.ended(await detent.start("order-processing", {"order_id": 123}))
    assert run["status"] == "completed"
    assert statuses(run) == {
        "charge": "failed",
        "send-receipt": "skipped",
        "notify-warehouse": "skipped",
        "handle-failure": "success",
    }
    assert run["tasks"]["charge"]["status_code"] == 402
    assert shop.paths() == ["/api/charge", "/api/payment-failed"]


async def test_a_trial_is_reminded_of_and_ends_after_its_sleeps(detent: Detent, shop: Shop) -> None:
    await detent.save(at(TRIAL_EXPIRY, shop, _13d="400ms", _1d="300ms"))
    started = await detent.start("trial-expiry", {"user_id": 7})
    sleeping = await detent.until(started, lambda run: statuses(run)["wait-13-days"] == "sleeping")
    assert sleeping["tasks"]["wait-13-days"]["until"] > sleeping["started_at"]
    run = await detent.ended(started)
    assert run["status"] == "completed"
    assert set(statuses(run).values()) == {"success"}
    assert shop.paths() == ["/api/activate-trial", "/api/send-email", "/api/expire-trial"]
    assert shop.body("/api/send-email") == {"template": "trial-ending-soon", "user_id": 7}


async def test_a_checkout_whose_payment_comes_is_fulfilled(detent: Detent, shop: Shop) -> None:
    await detent.save(at(CHECKOUT_FLOW, shop))
    started = await detent.start("checkout-flow", {"order_id": 9, "amount": 5})
    waiting = await detent.until(started, lambda run: statuses(run)["payment-result"] == "waiting")
    [callback] = waiting["callbacks"]
    assert callback["status"] == "active"
    assert shop.body("/api/create-checkout") == {"amount": 5, "callback_url": callback["url"]}
    answer = await detent.call("POST", callback["url"], json={"status": "paid", "payment_id": "p1"})
    assert (answer.status, answer.json["data"]["status"]) == (200, "accepted")
    run = await detent.ended(started)
    assert run["status"] == "completed"
    assert statuses(run) == {
        "create-checkout": "success",
        "payment-result": "success",
        "fulfill-order": "success",
        "handle-timeout": "skipped",
    }
    assert shop.body("/api/fulfill") == {"order_id": 9, "payment_id": "p1"}
    assert run["callbacks"][0]["status"] == "consumed"


async def test_a_checkout_nobody_pays_times_out_and_is_handled(detent: Detent, shop: Shop) -> None:
    await detent.save(at(CHECKOUT_FLOW, shop, _1h="500ms"))
    started = await detent.start("checkout-flow", {"order_id": 9, "amount": 5})
    run = await detent.ended(started)
    assert run["status"] == "completed"
    assert statuses(run) == {
        "create-checkout": "success",
        "payment-result": "timeout",
        "fulfill-order": "skipped",
        "handle-timeout": "success",
    }
    assert shop.paths() == ["/api/create-checkout", "/api/checkout-expired"]
    late = await detent.call("POST", run["callbacks"][0]["url"], json={"status": "paid"})
    assert (late.status, late.json["message"]) == (410, "Webhook expired")


@pytest.mark.case("D1")
async def test_a_payment_that_comes_before_the_wait_begins_is_kept_for_it(detent: Detent, shop: Shop) -> None:
    shop.hold.clear()
    await detent.save(at(CHECKOUT_FLOW, shop))
    started = await detent.start("checkout-flow", {"order_id": 9, "amount": 5})
    await asyncio.wait_for(shop.arrived.wait(), 300)
    url = shop.body("/api/create-checkout")["callback_url"]
    early = await detent.call("POST", url, json={"status": "paid", "payment_id": "p1"})
    assert (early.status, early.json["data"]["status"]) == (202, "buffered")
    shop.hold.set()
    run = await detent.ended(started)
    assert run["status"] == "completed"
    assert statuses(run)["fulfill-order"] == "success"
    assert shop.body("/api/fulfill") == {"order_id": 9, "payment_id": "p1"}


@pytest.mark.parametrize("body", [b"", b'{"status": "paid", "payment_id": "p1"}'])
async def test_two_payments_for_one_checkout_count_once(detent: Detent, shop: Shop, body: bytes) -> None:
    await detent.save(at(CHECKOUT_FLOW, shop))
    started = await detent.start("checkout-flow", {"order_id": 9, "amount": 5})
    waiting = await detent.until(started, lambda run: statuses(run)["payment-result"] == "waiting")
    url = waiting["callbacks"][0]["url"]
    answers = await asyncio.gather(*(detent.call("POST", url, data=body) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [200, *[409] * 7]
    again = await detent.call("POST", url, data=body)
    assert (again.status, again.json["message"]) == (409, "Webhook already used")
    run = await detent.ended(started)
    assert run["tasks"]["payment-result"]["status"] == "success"


@pytest.mark.case("D4")
async def test_a_run_that_waits_can_be_cancelled_and_its_callback_is_gone(detent: Detent, shop: Shop) -> None:
    await detent.save(at(CHECKOUT_FLOW, shop))
    started = await detent.start("checkout-flow", {"order_id": 9, "amount": 5})
    waiting = await detent.until(started, lambda run: statuses(run)["payment-result"] == "waiting")
    place = f"/api/v1/workflows/{started['workflow_id']}/runs/{started['run_id']}/cancel"
    answer = await detent.call("POST", place)
    assert answer.status == 200
    run = await detent.ended(started)
    assert run["status"] == "cancelled"
    assert statuses(run)["payment-result"] == "cancelled"
    assert (await detent.call("POST", place)).status == 200
    late = await detent.call("POST", waiting["callbacks"][0]["url"], json={})
    assert late.status == 410
