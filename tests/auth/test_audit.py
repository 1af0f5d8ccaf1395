"""The audit of the API: what is written for changes, refusals and failures, and who can read it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.api.server.auditor import MOST_ROWS, Auditor, address_of
from detent.auth.caller import Caller
from detent.auth.policy import POLICY
from detent.auth.scopes import Role
from detent.clock import SystemClock
from detent.errors import Forbidden, StoreBusy, Unauthenticated
from detent.store.audit import AuditRow
from detent.store.memory.store import MemoryStore
from tests.api.server import Detent, serving
from tests.auth.test_principals import key_of

NAP = "name: nap\ntasks: {nap: {sleep: 3600}}"


@pytest.fixture
async def detent(tmp_path: Path) -> AsyncIterator[Detent]:
    async with serving(f"sqlite:///{tmp_path}/detent.db") as opened:
        yield opened


async def audit(detent: Detent, **query: str) -> list[dict[str, Any]]:
    answer = await detent.call("GET", "/api/v1/audit", params=query)
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = answer.json["data"]
    return found


async def until_gathered(detent: Detent, **query: str) -> list[dict[str, Any]]:
    """What was refused is written within a second."""
    async with asyncio.timeout(300):
        while True:
            found = await audit(detent, **query)
            if found:
                return found
            await asyncio.sleep(0.05)  # the API is polled, as any of its users would


@pytest.mark.case("K19")
async def test_changes_leave_a_row_each_and_reads_and_starts_leave_none(detent: Detent) -> None:
    headers = await key_of(detent, "ci", Role.ADMIN)
    headers["X-Correlation-Id"] = "c-9"
    made = await detent.call("POST", "/api/v1/workflows", data=NAP, headers=headers)
    assert made.status == 201
    runs = [await detent.start("nap", {}) for _ in range(3)]
    first = runs[0]["run_id"]
    assert (await detent.call("POST", f"/api/v1/runs/{first}/cancel", json={}, headers=headers)).status in (200, 202)
    await detent.ended(runs[0])
    again = await detent.call("POST", f"/api/v1/runs/{first}/rerun", headers=headers)
    assert again.status in (200, 201, 202), again.text
    for dry_run in (True, False):
        bulk = {"action": "cancel", "filter": {"workflow": "nap"}, "dry_run": dry_run}
        answer = await detent.call("POST", "/api/v1/runs/bulk", json=bulk, headers=headers)
        assert answer.status == 200, answer.text
    rows = list(reversed(await audit(detent)))
    assert [(row["action"], row["kind"], row["object"], row["outcome"]) for row in rows] == [
        ("create_workflow", "workflow", "nap", "done"),
        ("cancel_run", "run", first, "done"),
        ("rerun_run", "run", first, "done"),
        ("change_many_runs", "many runs", None, "done"),
    ]
    assert {(row["actor"], row["via"], row["address"], row["correlation_id"], row["tenant"]) for row in rows} == {
        ("key ci", "key", "127.0.0.1", "c-9", "default")
    }
    detail = rows[3]["detail"]
    assert (detail["action"], detail["count"]) == ("cancel", 3)
    assert "workflow" in detail["filter"]


async def test_the_row_of_a_creation_names_what_was_created(detent: Detent) -> None:
    key = await detent.call("POST", "/api/v1/keys", json={"name": "ci", "role": "viewer"})
    rotated = await detent.call("POST", f"/api/v1/keys/{key.json['data']['id']}/rotate", json={})
    assert (await detent.call("POST", "/api/v1/tenants", json={"name": "acme"})).status == 201
    template = {"name": "a mail", "action_type": "create_alert", "default_config": {}}
    assert (await detent.call("POST", "/api/v1/action-templates", json=template)).status == 201
    rows = {row["action"]: row for row in await audit(detent)}
    assert rows["create_key"]["object"] == rows["rotate_key"]["object"] == key.json["data"]["id"]
    assert rows["create_key"]["detail"] == {"name": "ci", "may": "the role viewer"}
    assert rows["rotate_key"]["detail"] == {"new": rotated.json["data"]["id"]}
    assert rows["create_tenant"]["object"] == "acme"
    assert rows["create_action_template"]["object"] == "a mail"


@pytest.mark.case("K19")
async def test_refused_and_failed_requests_are_gathered_and_counted(detent: Detent) -> None:
    viewer = await key_of(detent, "viewer", Role.VIEWER)
    for _ in range(5):
        assert (await detent.call("POST", "/api/v1/workflows", data=NAP, headers=viewer)).status == 403
        assert (await detent.call("POST", "/api/v1/workflows/nap/trigger", json={}, headers=viewer)).status == 403
    bad = {"Authorization": "Bearer dk_aaaaaaaa_" + "x" * 43}
    assert (await detent.call("GET", "/api/v1/runs", headers=bad)).status == 401
    assert (await detent.call("DELETE", "/api/v1/workflows/none", headers={})).status == 404
    failed = await until_gathered(detent, outcome="failed")
    assert [(row["action"], row["object"]) for row in failed] == [("delete_workflow", "none")]
    assert failed[0]["reason"]
    refused = await until_gathered(detent, outcome="refused", actor="key viewer")
    counts = {row["action"]: 0 for row in refused}
    for row in refused:
        counts[row["action"]] += (row["detail"] or {"count": 1})["count"]
        assert "the scope workflows:" in row["reason"]
    assert counts == {"create_workflow": 5, "trigger_workflow": 5}
    [guess] = await until_gathered(detent, action="list_runs")
    assert (guess["actor"], guess["via"], guess["address"]) == ("unknown", "none", "127.0.0.1")


async def test_the_audit_is_read_with_its_scope_filtered_paged_and_exported(detent: Detent) -> None:
    for name in ("a", "b", "c"):
        await detent.save(f"name: {name}\ntasks: {{nap: {{sleep: 1}}}}")
    editor, admin = await key_of(detent, "editor", Role.EDITOR), await key_of(detent, "admin", Role.ADMIN)
    assert (await detent.call("GET", "/api/v1/audit", headers=editor)).status == 403
    assert (await detent.call("GET", "/api/v1/audit?all_tenants=true", headers=admin)).status == 403
    page = await detent.call("GET", "/api/v1/audit?limit=2&action=create_workflow", headers=admin)
    assert [row["object"] for row in page.json["data"]] == ["c", "b"]
    path = f"/api/v1/audit?limit=2&action=create_workflow&cursor={page.json['next_cursor']}"
    assert [row["object"] for row in (await detent.call("GET", path, headers=admin)).json["data"]] == ["a"]
    assert [row["object"] for row in await audit(detent, object="b")] == ["b"]
    assert await audit(detent, to="2020-01-01T00:00:00Z") == []
    assert len(await audit(detent, all_tenants="true", kind="workflow")) == 3
    assert (await detent.call("GET", "/api/v1/audit?outcome=odd", headers=admin)).status == 400
    export = await detent.call("GET", "/api/v1/audit/export?kind=workflow", headers=admin)
    assert export.headers["Content-Type"].startswith("application/x-ndjson")
    lines = [msgspec.json.decode(line) for line in export.text.splitlines()]
    assert [line["object"] for line in lines] == ["c", "b", "a"]
    assert {line["actor"] for line in lines} == {"api"}


async def test_a_flood_of_refusals_is_a_bounded_number_of_rows() -> None:
    store = MemoryStore(SystemClock())
    auditor = Auditor(store, SystemClock().wall, gathers=True)
    for number in range(5 * MOST_ROWS):
        scope: Any = {"headers": [], "client": (f"10.0.{number // 250}.{number % 250}", 1), "method": "POST"}
        auditor.refuse(scope, "create_workflow", Caller(1, "public", via="public"), Unauthenticated("no"))
    scope = {"headers": [(b"cookie", b"x")], "client": ("10.9.9.9", 1), "method": "GET"}
    auditor.refuse(scope, "list_runs", Caller(1, "key a"), Forbidden("no"))
    await auditor.poll()
    rows = await store.audits(1, limit=10 * MOST_ROWS)
    assert len(rows) == MOST_ROWS
    total = sum(msgspec.json.decode(row.detail)["count"] if row.detail else 1 for row in rows)
    assert total == 5 * MOST_ROWS + 1
    await auditor.poll()
    assert len(await store.audits(1, limit=10 * MOST_ROWS)) == MOST_ROWS


class SlowStore(MemoryStore):
    """Lets others go on while it writes audits. It fails as often as it is told to."""

    failures = 0

    async def add_audits(self, rows: Sequence[AuditRow]) -> None:
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise StoreBusy("try again")
        await super().add_audits(rows)


@pytest.mark.parametrize("failures", [0, 1])
async def test_what_is_refused_while_others_are_written_is_written_later(failures: int) -> None:
    store = SlowStore(SystemClock())
    store.failures = failures
    auditor = Auditor(store, SystemClock().wall, gathers=True)

    def refuse(name: str) -> None:
        scope: Any = {"headers": [], "client": ("10.9.9.9", 1), "method": "POST"}
        auditor.refuse(scope, "create_workflow", Caller(1, name, via="key"), Forbidden("no"))

    refuse("key a")
    writing = asyncio.create_task(auditor.flush())
    await asyncio.sleep(0)
    refuse("key a")
    refuse("key b")
    await asyncio.gather(writing, return_exceptions=True)
    await auditor.flush()
    rows = await store.audits(1, limit=10)
    counted = Counter[str]()
    for row in rows:
        counted[row.actor] += msgspec.json.decode(row.detail)["count"] if row.detail else 1
    assert counted == {"key a": 2, "key b": 1}


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "6.6.6.6, nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("192.0.2.5", "203.0.113.9", "192.0.2.5"),
    ],
)
def test_a_forwarded_address_counts_only_behind_a_trusted_proxy(peer: str, forwarded: str, found: str) -> None:
    scope: Any = {"client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    assert address_of(scope, [ip_network("10.0.0.0/8")]) == found
    assert address_of(scope, []) == peer


def test_every_change_is_audited_and_no_start_is() -> None:
    starts = {"trigger_workflow", "execute_workflow", "send_event", "send_entity_events"}
    reading = ("list_", "get_", "read_", "show_", "count_", "tell_", "preview_", "export_", "stream_", "compare_")
    plain = {name for name, line in POLICY.items() if not line.audited and not name.startswith(reading)}
    assert starts <= plain
    assert not any(name.startswith(("create_", "save_", "delete_", "change_", "set_", "revoke_")) for name in plain)
