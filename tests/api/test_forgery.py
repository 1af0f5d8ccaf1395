"""What a caller adds to a request does not become a fact of ours: cursors, owners, states."""

from __future__ import annotations

import base64
import json
import secrets

import pytest

from tests.api.server import Detent
from tests.callers import commands_of

WORKFLOWS = "/api/v1/workflows"
RUNS = "/api/v1/runs"
ECHO = {"tasks": {"a": {"action": "core.echo"}}}


def forged() -> list[str]:
    """Cursors that no list gave, and those of other lists with something changed."""
    raw = [
        b"",
        b"\x00" * 16,
        b"\xff" * 16,
        secrets.token_bytes(16),
        secrets.token_bytes(40),
        b"a' or 1=1 --",
        b"w2",
        b'{"a":1}',
    ]
    return [base64.urlsafe_b64encode(each).rstrip(b"=").decode() for each in raw] + [
        "!!!",
        "é",
        "a" * 5000,
        "null",
        "%00",
    ]


@pytest.mark.case("K5")
async def test_a_forged_cursor_is_refused_or_shows_only_what_its_list_shows(detent: Detent) -> None:
    for number in range(4):
        await detent.save(json.dumps({"name": f"w{number}", **ECHO}))
    mine = {(await detent.start("w0", {}))["run_id"] for _ in range(3)}
    others = {(await detent.start("w1", {}))["run_id"] for _ in range(3)}
    lists = {WORKFLOWS: None, f"{WORKFLOWS}/w0/runs": mine, RUNS: mine | others}
    given = [(await detent.call("GET", f"{place}?limit=1")).json["next_cursor"] for place in lists]
    for place, allowed in lists.items():
        for cursor in (*forged(), *given):
            answer = await detent.call("GET", place, params={"cursor": cursor})
            assert answer.status in (200, 400), (place, cursor, answer.text)
            if answer.status == 200 and allowed is not None:
                assert {row["id"] for row in answer.json["data"]} <= allowed


@pytest.mark.case("K6")
@pytest.mark.parametrize(
    "field", ["tenant_id", "tenant", "status", "epoch", "owner", "id", "version", "current_version"]
)
async def test_a_definition_cannot_set_what_is_ours(api: Detent, field: str) -> None:
    answer = await api.call("POST", WORKFLOWS, data=json.dumps({"name": "mine", field: 2, **ECHO}))
    assert (answer.status, answer.json["error"]) == (400, "invalid_argument")
    assert field in answer.text
    assert (await api.call("GET", WORKFLOWS)).json["data"] == []


@pytest.mark.case("K6")
async def test_what_a_start_or_a_callback_carries_is_data_and_nothing_else(detent: Detent) -> None:
    await detent.save('{"name": "waits", "tasks": {"w": {"wait_for_webhook": {}}}}')
    claims = {
        "tenant_id": 7,
        "status": "completed",
        "epoch": 99,
        "owner": "me",
        "run": "r",
        "step": "x",
        "encoding": "x",
    }
    started = await detent.start("waits", claims)
    run = await detent.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    assert (run["status"], run["input"]["body"]) == ("running", claims)
    answer = await detent.call("POST", f"{run['callbacks'][0]['url']}?status=failed&step=x&body=x", json=claims)
    assert (answer.status, answer.json["data"]) == (200, {"status": "accepted", "step": "w"})
    ended = await detent.ended(started)
    assert (ended["status"], ended["tasks"]["w"]["body"]) == ("completed", claims)
    assert "encoding" not in ended["tasks"]["w"]
    row = await detent.app.store.run(1, (await commands_of(detent.app).runs.find(limit=1))[0].id)
    assert row is not None
    assert row.tenant == 1
