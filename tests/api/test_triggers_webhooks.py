"""Webhooks over HTTP: who may call them, what they answer, and what is kept of it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from typing import Any

import pytest

from detent.api.server.guards import ALLOWED
from detent.clock import SystemClock
from detent.instant import SECOND
from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Answer, Detent

TRIGGERS = "/api/v1/triggers"
WEBHOOK = "/webhook/workflow/trigger"
HOOKED = """
name: hooked
trigger: {type: webhook, condition: "body.n != 0"}
trigger_schema: {type: object, properties: {n: {type: integer}}}
tasks:
  a: {action: core.echo, with: {n: "{{trigger.body.n ?? 1}}"}}
  w: {wait_for_webhook: {timeout: 1h}}
"""
PLAIN = "name: plain\ntasks: {a: {action: core.echo}}\n"
SECRETS = ["whsec_" + base64.b64encode(text).decode() for text in (b"the old secret key", b"the new secret key")]


async def trigger_of(detent: Detent, workflow: str) -> dict[str, Any]:
    [found] = (await detent.call("GET", f"{TRIGGERS}?workflow={workflow}")).json["data"]
    document: dict[str, Any] = found
    return document


async def firings(detent: Detent, trigger: str, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await detent.call("GET", f"{TRIGGERS}/{trigger}/firings?{query}")).json["data"]
    return found


async def test_a_webhook_starts_a_run_and_answers_with_its_callbacks(detent: Detent) -> None:
    await detent.save(HOOKED)
    trigger = await trigger_of(detent, "hooked")
    assert trigger["url"].endswith(f"{TRIGGERS}/{trigger['id']}")
    for place in (f"{WEBHOOK}/hooked", f"{WEBHOOK}/{trigger['workflow_id']}", f"{TRIGGERS}/{trigger['id']}"):
        headers = {"Authorization": "Bearer x", "Cookie": "a=b", "X-From": "shop"}
        answer = await detent.call("POST", place + "?q=1&label=team:shop&hero=order:7", json={"n": 2}, headers=headers)
        assert answer.status == 201, answer.text
        data = answer.json["data"]
        assert (data["status"], data["execution_id"]) == ("started", data["run_id"])
        assert [each["step"] for each in data["callbacks"]] == ["w"]
        run = (await detent.call("GET", f"/api/v1/runs/{data['run_id']}")).json["data"]
        assert (run["trigger"], run["trigger_id"]) == ("webhook", trigger["id"])
        assert (run["input"]["body"], run["input"]["query"]) == ({"n": 2}, {"q": "1"})
        assert (run["labels"], run["hero"]) == ({"team": "shop"}, {"type": "order", "id": "7"})
        assert run["input"]["headers"]["x-from"] == "shop"
        assert not {"authorization", "cookie"} & set(run["input"]["headers"])
        callback = await detent.call("POST", data["callbacks"][0]["url"], json={})
        assert callback.status in (200, 202)


async def test_what_starts_nothing_is_answered_and_listed(detent: Detent) -> None:
    await detent.save(HOOKED)
    trigger = await trigger_of(detent, "hooked")
    ignored = await detent.call("POST", f"{WEBHOOK}/hooked", json={"n": 0})
    assert (ignored.status, ignored.json["data"]["status"]) == (202, "ignored")
    unfit = await detent.call("POST", f"{WEBHOOK}/hooked", json={"n": "x"})
    assert (unfit.status, unfit.json["error"], unfit.json["code"]) == (400, "invalid_argument", "WFENG005")
    assert unfit.json["details"]["validation_errors"][0]["field"] == "body.n"
    failed = await detent.call("POST", f"{WEBHOOK}/hooked", json={"m": 1})
    assert (failed.status, failed.json["code"]) == (400, "condition_error")
    states = [each["status"] for each in await firings(detent, trigger["id"])]
    assert states == ["errored", "refused", "ignored"]
    [refused] = await firings(detent, trigger["id"], "state=refused")
    kept = (await detent.call("GET", f"{TRIGGERS}/{trigger['id']}/firings/{refused['id']}")).json["data"]
    assert kept["request"]["body"] == {"n": "x"}
    await detent.call("POST", "/api/v1/workflows/hooked/disable")
    disabled = await detent.call("POST", f"{WEBHOOK}/hooked", json={"n": 1})
    assert (disabled.status, disabled.json["code"], disabled.json["message"]) == (
        409, "WFENG002", "Workflow is disabled: hooked"
    )  # fmt: skip
    assert (await detent.call("GET", "/api/v1/runs")).json["data"] == []


@pytest.mark.case("F6")
async def test_the_same_request_fifty_times_at_once_starts_one_run(detent: Detent) -> None:
    await detent.save(HOOKED)
    headers = {"Webhook-Id": "msg_1"}
    answers = await asyncio.gather(
        *(detent.call("POST", f"{WEBHOOK}/hooked", json={"n": 1}, headers=headers) for _ in range(50))
    )
    assert {answer.status for answer in answers} == {201}
    assert len({answer.json["data"]["run_id"] for answer in answers}) == 1
    assert len((await detent.call("GET", "/api/v1/runs")).json["data"]) == 1
    bad = {"Idempotency-Key": "msg_2"}
    unfit = [await detent.call("POST", f"{WEBHOOK}/hooked", json={"n": "x"}, headers=bad) for _ in range(2)]
    assert unfit[0].status == unfit[1].status == 400
    assert unfit[0].json == unfit[1].json


def now() -> int:
    return SystemClock().wall() // SECOND


def signed(body: bytes, secret: str, *, id_: str = "msg_1", at: int | None = None) -> dict[str, str]:
    """The headers of Standard Webhooks."""
    sent = str(now() if at is None else at)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, b".".join((id_.encode(), sent.encode(), body)), hashlib.sha256)
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": id_, "webhook-timestamp": sent, "webhook-signature": signature}


async def made(detent: Detent, secrets: list[Any]) -> str:
    await detent.save(PLAIN)
    config = {"signature": {"preset": "standard", "secrets": secrets}}
    answer = await detent.call("POST", TRIGGERS, json={"workflow": "plain", "type": "webhook", "config": config})
    assert answer.status == 201, answer.text
    assert answer.json["data"]["config"]["signature"]["secrets"] == ["***"] * len(secrets)
    return f"{TRIGGERS}/{answer.json['data']['id']}"


@pytest.mark.case("D8")
async def test_either_secret_will_do_while_one_replaces_the_other(detent: Detent) -> None:
    place, body = await made(detent, SECRETS), b'{"b":1, "a": 2}'

    async def call(secret: str, id_: str, data: bytes = body, **more: Any) -> Answer:
        return await detent.call("POST", place, data=data, headers=signed(body, secret, id_=id_, **more))

    assert [(await call(secret, f"m{at}")).status for at, secret in enumerate(SECRETS)] == [201, 201]
    for number, (data, at) in enumerate([(b'{"a":2,"b":1}', None), (body, 1), (body, now() + 3600)]):
        answer = await call(SECRETS[0], f"bad{number}", data, at=at)
        assert (answer.status, answer.json["error"]) == (401, "unauthenticated")
    unsigned = await detent.call("POST", place, data=body)
    assert unsigned.status == 401
    later = {"signature": {"preset": "standard", "secrets": [SECRETS[1]]}}
    assert (await detent.call("PUT", place, json={"config": later})).status == 200
    assert (await call(SECRETS[0], "old")).status == 401
    assert (await call(SECRETS[1], "new")).status == 201
    states = [each["status"] for each in (await detent.call("GET", f"{place}/firings")).json["data"]]
    assert states == ["started", "refused", "refused", "refused", "refused", "refused", "started", "started"]
    [first, *_] = (await detent.call("GET", f"{place}/firings?state=refused")).json["data"]
    replay = await detent.call("POST", f"{place}/firings/{first['id']}/replay")
    assert (replay.status, replay.json["error"]) == (409, "conflict")


async def test_a_forged_request_does_not_use_up_the_id_of_a_good_one(api: Detent) -> None:
    place = await made(api, SECRETS[:1])
    forged = await api.call("POST", place, data=b"{}", headers=signed(b"{}", SECRETS[1]))
    good = await api.call("POST", place, data=b"{}", headers=signed(b"{}", SECRETS[0]))
    assert (forged.status, good.status) == (401, 201)


async def test_a_secret_is_read_from_the_environment_when_it_is_used(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.save(PLAIN)
    config = {"signature": {"preset": "standard", "secrets": [{"env": "SHOP_SECRET"}]}}
    answer = await api.call("POST", TRIGGERS, json={"workflow": "plain", "type": "webhook", "config": config})
    place = f"{TRIGGERS}/{answer.json['data']['id']}"
    monkeypatch.delenv("SHOP_SECRET", raising=False)
    assert (await api.call("POST", place, data=b"{}", headers=signed(b"{}", SECRETS[0]))).status == 401
    monkeypatch.setenv("SHOP_SECRET", SECRETS[0])
    assert (await api.call("POST", place, data=b"{}", headers=signed(b"{}", SECRETS[0]))).status == 201


async def test_too_many_bad_signatures_are_not_even_kept_and_good_ones_still_pass(api: Detent) -> None:
    place = await made(api, SECRETS[:1])
    answers = [await api.call("POST", place, data=b"{}") for _ in range(ALLOWED + 5)]
    assert [answer.status for answer in answers] == [401] * ALLOWED + [429] * 5
    assert int(answers[-1].headers["Retry-After"]) > 0
    kept = (await api.call("GET", f"{place}/firings?limit=200")).json["data"]
    assert len(kept) == ALLOWED
    assert (await api.call("POST", place, data=b"{}", headers=signed(b"{}", SECRETS[0]))).status == 201


async def test_a_workflow_without_a_webhook_is_started_only_from_where_the_api_may_be_used(api: Detent) -> None:
    await api.save(PLAIN)
    here = await api.call("POST", f"{WEBHOOK}/plain", json={"n": 1})
    assert (here.status, here.json["data"]["status"]) == (201, "started")
    for foreign in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = await api.call("POST", f"{WEBHOOK}/plain", json={}, headers=foreign)
        assert (answer.status, answer.json["error"]) == (403, "permission_denied")
    once = [await api.call("POST", f"{WEBHOOK}/plain", json={}, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert [answer.status for answer in once] == [201, 200]
    assert once[0].json == once[1].json
    assert (await api.call("POST", f"{WEBHOOK}/nobody", json={})).status == 404
    await api.save(HOOKED)
    open_to_all = await api.call("POST", f"{WEBHOOK}/hooked", json={"n": 1}, headers={"Host": "evil.example"})
    assert open_to_all.status == 201


@POSTGRES_TOO
@pytest.mark.case("D12", "D13")
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 201),
        (b'{"a": "\\u0000"}', "application/json", 201),
        (b"\xff\xfe", "application/json", 400),
        (b'{"a": NaN}', "application/json", 400),
        (b'{"a": 1, "a": 2}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"a=1&a=2&b=", "application/x-www-form-urlencoded", 201),
        (b"<a>1</a>", "application/xml", 201),
        (b"plain words", "text/plain", 201),
        (b"\x00\xff\x01", "application/octet-stream", 201),
        (b"x" * (256 * 1024 + 1), "text/plain", 201),
    ],
)
async def test_any_body_is_kept_as_it_came_and_started_or_refused(
    detent: Detent, body: bytes, kind: str, status: int
) -> None:
    await detent.save("name: open\ntrigger: webhook\ntasks: {a: {action: core.echo}}\n")
    answer = await detent.call("POST", f"{WEBHOOK}/open", data=body, headers={"Content-Type": kind})
    assert answer.status == status, answer.text
    kept = await firings(detent, (await trigger_of(detent, "open"))["id"])
    assert [each["status"] for each in kept] == {201: ["started"], 400: ["refused"]}[status]
    if status == 201:
        run = await detent.ended({"workflow_id": "open", "run_id": answer.json["data"]["run_id"]})
        assert run["status"] == "completed"


async def test_the_webhook_of_a_paused_trigger_is_a_conflict_and_of_another_kind_not_found(api: Detent) -> None:
    await api.save(HOOKED)
    trigger = await trigger_of(api, "hooked")
    await api.call("POST", f"{TRIGGERS}/{trigger['id']}/pause", json={})
    answer = await api.call("POST", f"{WEBHOOK}/hooked", json={"n": 1})
    assert (answer.status, answer.json["message"]) == (409, "the trigger is paused")
    await api.save(PLAIN)
    manual = await api.call("POST", TRIGGERS, json={"workflow": "plain", "type": "manual"})
    assert (await api.call("POST", f"{TRIGGERS}/{manual.json['data']['id']}", json={})).status == 404
