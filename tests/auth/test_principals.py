"""On whose behalf runs are started: the caller's own principal, or another one if the caller may impersonate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.auth.keys import make_key
from detent.auth.scopes import Role
from detent.store.auth import NewKey
from tests.api.server import Detent, serving

DOUG = {"userId": "U123", "displayName": "Doug", "email": "doug@example.com"}
SYSTEM = {"user_id": "system", "display_name": "System", "email": None}
WHO = """
name: who
tasks:
  pause: {sleep: 0.001}
"""
OUTER = """
name: outer
tasks:
  below: {workflow: who}
  each: {workflow: who, for_each: [1]}
"""


@pytest.fixture
async def detent(tmp_path: Path) -> AsyncIterator[Detent]:
    async with serving(f"sqlite:///{tmp_path}/detent.db") as opened:
        for definition in (WHO, OUTER):
            await opened.save(definition)
        yield opened


async def key_of(detent: Detent, name: str, role: Role | None, *scopes: str) -> dict[str, str]:
    """Return the headers of a new key, and its principal under `X-Test-Id`."""
    made = make_key()
    given = msgspec.json.encode(scopes).decode() if scopes else None
    key = NewKey(made.id, 1, name, made.hash, role, given, None, "test", None)
    assert await detent.app.store.add_key(key)
    return {"Authorization": f"Bearer {made.key}", "X-Test-Id": f"key:{made.id}"}


async def executed(detent: Detent, headers: dict[str, str], workflow: str = "who", **envelope: Any) -> dict[str, Any]:
    answer = await detent.call("POST", f"/api/v1/workflows/{workflow}/execute", json=envelope, headers=headers)
    assert answer.status in (200, 202), answer.text
    return await detent.ended(answer.json["data"])


async def test_a_run_has_the_principal_of_the_key_that_started_it(detent: Detent) -> None:
    headers = await key_of(detent, "ci", Role.OPERATOR)
    own = {"user_id": headers["X-Test-Id"], "display_name": "ci", "email": None}
    by_trigger = await detent.call("POST", "/api/v1/workflows/who/trigger", json={}, headers=headers)
    for run in (await detent.ended(by_trigger.json["data"]), await executed(detent, headers)):
        assert (run["principal"], run["via"], run["correlation_id"]) == (own, None, None)
        assert run["input"]["principal"] == {"userId": headers["X-Test-Id"], "displayName": "ci", "email": None}


async def test_a_run_without_a_principal_is_the_systems(detent: Detent) -> None:
    run = await detent.ended(await detent.start("who", {"principal": DOUG}))
    assert (run["principal"], run["via"], run["correlation_id"]) == (SYSTEM, None, None)


async def test_another_principal_needs_the_scope_to_impersonate_and_both_are_stored(detent: Detent) -> None:
    operator = await key_of(detent, "plain", Role.OPERATOR)
    refused = await detent.call(
        "POST", "/api/v1/workflows/who/execute", json={"principal": DOUG, "requestId": "forged"}, headers=operator
    )
    assert refused.status == 403
    assert "workflows:impersonate" in refused.json["message"]
    assert await detent.app.store.runs(1, limit=100) == []

    gateway = await key_of(detent, "gateway", None, "workflows:execute", "workflows:impersonate")
    run = await executed(detent, gateway, principal=DOUG, correlationId="c-1")
    assert run["principal"] == {"user_id": "U123", "display_name": "Doug", "email": "doug@example.com"}
    assert (run["via"], run["correlation_id"]) == ("key gateway", "c-1")
    assert run["input"]["principal"] == DOUG


async def test_the_own_principal_may_be_named_and_cannot_be_dressed_up(detent: Detent) -> None:
    headers = await key_of(detent, "self", Role.OPERATOR)
    given = {"userId": headers["X-Test-Id"], "displayName": "The Boss", "email": "boss@example.com"}
    run = await executed(detent, headers, principal=given)
    assert run["input"]["principal"] == {"userId": headers["X-Test-Id"], "displayName": "self", "email": None}
    run = await executed(detent, {}, principal={"userId": "system", "displayName": "The Boss"})
    assert run["input"]["principal"] == {"userId": "system", "displayName": "System", "email": None}


async def test_the_same_request_of_another_key_of_the_system_is_known(detent: Detent) -> None:
    first, second = await key_of(detent, "old", Role.OPERATOR), await key_of(detent, "new", Role.OPERATOR)
    runs = [await executed(detent, headers, requestId="rotated", trigger={"n": 1}) for headers in (first, second)]
    assert runs[0]["id"] == runs[1]["id"]
    assert runs[1]["principal"]["user_id"] == first["X-Test-Id"]


async def test_a_correlation_id_in_a_header_is_bounded_and_has_no_control_characters(detent: Detent) -> None:
    path, headers = "/api/v1/workflows/who/trigger", {"X-Correlation-Id": "a\tb" + "x" * 500}
    answer = await detent.call("POST", path, json={}, headers=headers)
    run = await detent.ended(answer.json["data"])
    assert run["correlation_id"] == "a b" + "x" * 197


async def test_children_pages_and_reruns_inherit_principal_and_correlation_id(detent: Detent) -> None:
    gateway = await key_of(detent, "front", None, "workflows:execute", "workflows:impersonate")
    run = await executed(detent, gateway, "outer", principal=DOUG, correlationId="c-2")
    assert run["status"] == "completed", run["error"]
    rows = [row for row in await detent.app.store.runs(1, limit=100) if row.correlation == "c-2"]
    assert len(rows) == 4  # the run, its child, the page of its map and the child of that page
    assert {(row.via, msgspec.json.decode(row.principal or "{}")["userId"]) for row in rows} == {("key front", "U123")}

    operator = await key_of(detent, "night shift", Role.OPERATOR)
    answer = await detent.call("POST", f"/api/v1/runs/{run['id']}/rerun", headers=operator)
    assert answer.status in (200, 201, 202), answer.text
    again = await detent.ended({"workflow_id": run["workflow_id"], "run_id": answer.json["data"]["id"]})
    assert (again["principal"]["user_id"], again["via"]) == ("U123", "key night shift")
    assert again["correlation_id"] == "c-2"


async def test_a_journal_entry_names_the_caller_that_asked_for_it(detent: Detent) -> None:
    await detent.save("name: nap\ntasks: {nap: {sleep: 3600}}")
    started = await detent.start("nap", {})
    headers = await key_of(detent, "on call", Role.OPERATOR)
    answer = await detent.call("POST", f"/api/v1/runs/{started['run_id']}/cancel", json={}, headers=headers)
    assert answer.status in (200, 202), answer.text
    await detent.ended(started)
    entries = await detent.call("GET", f"/api/v1/runs/{started['run_id']}/events")
    assert "key on call" in {entry.get("by") for entry in entries.json["data"]}
