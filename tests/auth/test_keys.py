"""Keys of the API: what they may do, for how long, and that they never show more than they must."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from detent.auth.caller import Caller
from detent.auth.scopes import Role, Scope
from detent.errors import Forbidden
from detent.ids import WORKFLOW, show
from detent.instant import SECOND
from tests.auth.strict import StrictApi, strict_api

KEYS = "/api/v1/keys"
WORKFLOWS = "/api/v1/workflows"
ECHO = {"name": "echo", "tasks": {"a": {"action": "core.echo"}}}
OTHER = {"name": "other", "tasks": {"a": {"action": "core.echo"}}}


@pytest.fixture
async def api() -> AsyncIterator[StrictApi]:
    async with strict_api() as found:
        yield found


@pytest.fixture
async def admin(api: StrictApi) -> AsyncIterator[str]:
    yield await api.key("boss", Role.ADMIN)  # noqa: PT022 - only generators run on the loop of the test


async def create(api: StrictApi, key: str, **body: Any) -> dict[str, Any]:
    answer = await api.ask("POST", KEYS, key, {"name": "ci", **body})
    assert answer.status == 201, answer.json
    found: dict[str, Any] = answer.json["data"]
    return found


async def problems(api: StrictApi, key: str, **body: Any) -> dict[str, str]:
    answer = await api.ask("POST", KEYS, key, {"name": "ci", **body})
    assert answer.status == 400, answer.json
    return {each["field"]: each["message"] for each in answer.json["details"]["validation_errors"]}


async def test_a_key_is_shown_once_and_does_what_its_role_says(api: StrictApi, admin: str) -> None:
    made = await create(api, admin, role="operator")
    assert (made["role"], made["status"], made["workflows"], made["created_by"]) == (
        "operator", "active", None, "key boss",
    )  # fmt: skip
    assert made["key"].startswith(f"dk_{made['id']}_")
    listed = await api.ask("GET", KEYS, admin)
    assert made["key"] not in str(listed.json)
    assert [one["name"] for one in listed.json["data"]].count("ci") == 1
    one = await api.ask("GET", f"{KEYS}/{made['id']}", admin)
    assert one.json["data"] == {name: value for name, value in made.items() if name != "key"}
    me = (await api.ask("GET", "/api/v1/me", made["key"])).json["data"]
    assert (me["caller"]["name"], me["caller"]["tenant"], me["role"], me["via"]) == (
        "key ci", "default", "operator", "key",
    )  # fmt: skip
    assert me["scopes"] == ["templates:read", "workflows:execute", "workflows:read"]
    assert me["principal"] == {"user_id": f"key:{made['id']}", "display_name": "ci", "email": None}
    assert (me["authenticated"], me["workflows"], me["expires_at"]) == (True, None, None)


async def test_a_key_gets_no_more_than_its_maker_has(api: StrictApi, admin: str) -> None:
    refused = await api.ask("POST", KEYS, admin, {"name": "x", "role": "instance-admin"})
    assert refused.status == 403
    assert "tenants:manage" in refused.message
    made = await create(api, admin, scopes=["keys:manage", "workflows:read"])
    assert made["role"] is None
    for body in ({"role": "viewer"}, {"scopes": ["workflows:execute"]}, {"role": "admin"}):
        assert (await api.ask("POST", KEYS, made["key"], {"name": "x", **body})).status == 403
    await create(api, made["key"], scopes=["workflows:read"])
    boss = (await api.ask("GET", KEYS, admin)).json["data"]
    stronger = next(one["id"] for one in boss if one["name"] == "boss")
    assert (await api.ask("POST", f"{KEYS}/{stronger}/rotate", made["key"], {})).status == 403
    operator = await create(api, admin, role="operator")
    assert (await api.ask("POST", KEYS, operator["key"], {"name": "x", "role": "viewer"})).status == 403


async def test_what_is_wrong_with_a_new_key_is_said_at_once(api: StrictApi, admin: str) -> None:
    assert set(await problems(api, admin)) == {"role"}
    assert set(await problems(api, admin, role="viewer", scopes=["workflows:read"])) == {"role"}
    assert "viewer" in (await problems(api, admin, role="root"))["role"]
    assert "workflows:read" in (await problems(api, admin, scopes=["workflows:*"]))["scopes"]
    assert set(await problems(api, admin, role="viewer", expires_at="2020-01-01T00:00:00Z")) == {"expires_at"}
    assert set(await problems(api, admin, role="viewer", expires_at="soon")) == {"expires_at"}
    assert set(await problems(api, admin, role="viewer", name="x" * 101)) == {"name"}
    assert set(await problems(api, admin, workflows=[])) == {"workflows"}
    assert set(await problems(api, admin, workflows="echo")) == {"workflows"}
    assert set(await problems(api, admin, workflows=["echo"], role="editor")) == {"workflows"}
    assert set(await problems(api, admin, workflows=["echo"], role="viewer")) == {"workflows"}
    for field in ("tenant_id", "tenant", "status", "epoch", "hash", "id", "created_by"):
        assert set(await problems(api, admin, role="viewer", **{field: 1})) == {field}


@pytest.mark.case("K11")
async def test_a_revoked_key_is_refused_as_soon_as_the_watch_has_looked(api: StrictApi, admin: str) -> None:
    made = await create(api, admin, role="viewer")
    await api.watch.poll()
    assert (await api.ask("GET", WORKFLOWS, made["key"])).status == 200
    revoked = await api.ask("DELETE", f"{KEYS}/{made['id']}", admin)
    assert (revoked.status, revoked.json["data"]["status"]) == (200, "revoked")
    await api.watch.poll()
    refused = await api.ask("GET", WORKFLOWS, made["key"])
    assert (refused.status, refused.json["code"]) == (401, "unauthenticated")
    assert (await api.ask("DELETE", f"{KEYS}/{made['id']}", admin)).json == revoked.json
    assert (await api.ask("DELETE", f"{KEYS}/missing", admin)).status == 404


async def test_a_rotated_key_works_beside_the_new_one_until_its_grace_is_over(api: StrictApi, admin: str) -> None:
    made = await create(api, admin, workflows=["echo"], expires_at="30d")
    again = await api.ask("POST", f"{KEYS}/{made['id']}/rotate", admin, {"grace": "1h"})
    new = again.json["data"]
    assert (again.status, new["name"], new["workflows"], new["scopes"]) == (201, "ci", ["echo"], made["scopes"])
    assert new["key"] != made["key"]
    assert new["expires_at"] > made["expires_at"]
    old = (await api.ask("GET", f"{KEYS}/{made['id']}", admin)).json["data"]
    assert old["status"] == "rotated"
    for key in (made["key"], new["key"]):
        assert (await api.ask("GET", "/api/v1/me", key)).status == 200
    assert (await api.ask("POST", f"{KEYS}/{made['id']}/rotate", admin, {})).status == 409
    at_once = await api.ask("POST", f"{KEYS}/{new['id']}/rotate", admin, {"grace": "0s"})
    assert at_once.status == 201
    await api.watch.poll()
    assert (await api.ask("GET", "/api/v1/me", new["key"])).status == 401
    refused: list[Any] = ["91d", "-1s", 7.5e9, []]
    for grace in refused:
        id_ = at_once.json["data"]["id"]
        assert (await api.ask("POST", f"{KEYS}/{id_}/rotate", admin, {"grace": grace})).status == 400


async def test_an_expired_key_is_refused(api: StrictApi, admin: str) -> None:
    made = await create(api, admin, role="viewer", expires_at="1h")
    api.ahead = 3601 * SECOND
    assert (await api.ask("GET", "/api/v1/me", made["key"])).status == 401


@pytest.mark.case("K11")
async def test_only_the_header_carries_a_key_and_only_the_whole_key_is_one(api: StrictApi, admin: str) -> None:
    for target in (f"{KEYS}?key={admin}", f"{KEYS}?access_token={admin}", f"{KEYS}?authorization=Bearer%20{admin}"):
        assert (await api.ask("GET", target)).status == 401
    for wrong in (admin[:-1], admin + "x", admin.upper(), admin[:12] + "A" * 43, "dk_", "x" * 20_000, ""):
        answer = await api.ask("GET", KEYS, wrong)
        assert (answer.status, admin in str(answer.json)) == (401, False)
    assert (await api.ask("GET", KEYS, headers={"authorization": f"Basic {admin}"})).status == 401
    assert (await api.ask("GET", KEYS, headers={"authorization": f"bearer {admin}"})).status == 200
    refused = await api.ask("GET", KEYS)
    assert "detent keys create" in refused.message


async def test_a_key_of_another_tenant_is_like_a_missing_one(api: StrictApi, admin: str) -> None:
    made = await create(api, admin, role="viewer")
    theirs = api.app.commands.for_caller(Caller(2, "them"))
    assert await theirs.keys.list_all(limit=9) == []
    row = await api.app.store.own_key(2, made["id"])
    assert row is None


# A key that may start only some workflows.


@pytest.fixture
async def sender(api: StrictApi, admin: str) -> AsyncIterator[str]:
    editor = await api.key("editor", Role.EDITOR)
    for definition in (ECHO, OTHER):
        assert (await api.ask("POST", WORKFLOWS, editor, definition)).status == 201
    yield (await create(api, admin, workflows=["echo"]))["key"]  # noqa: PT022


async def test_a_key_for_some_workflows_starts_these_by_name_and_by_id(api: StrictApi, admin: str, sender: str) -> None:
    workflow = await api.commands.workflows.get("echo")
    id_ = show(WORKFLOW, workflow.id)
    assert (await api.ask("POST", f"{WORKFLOWS}/echo/trigger", sender, {})).status == 201
    assert (await api.ask("POST", f"{WORKFLOWS}/{id_}/trigger", sender, {})).status == 201
    assert (await api.ask("POST", f"{WORKFLOWS}/{id_}/execute", sender, {"trigger": 1})).status == 202
    assert (await api.ask("POST", f"{WORKFLOWS}/echo/trigger?wait=0", sender, {})).status == 201
    assert (await api.ask("POST", f"{WORKFLOWS}/echo/trigger?dry_run=true", sender, {})).status == 200
    assert (await api.ask("POST", "/webhook/workflow/trigger/echo", sender, {})).status == 201
    by_id = await create(api, admin, workflows=[id_])
    assert (await api.ask("POST", f"{WORKFLOWS}/echo/trigger", by_id["key"], {})).status == 201


async def test_a_key_for_some_workflows_learns_nothing_of_others(api: StrictApi, sender: str) -> None:
    id_ = show(WORKFLOW, (await api.commands.workflows.get("other")).id)
    for place in ("trigger", "execute", "trigger?dry_run=true", "trigger?wait=0"):
        answers = [await api.ask("POST", f"{WORKFLOWS}/{name}/{place}", sender, {}) for name in ("other", id_, "none")]
        assert [answer.status for answer in answers] == [403, 403, 403], place
        words = {
            answer.message.replace(repr(name), "X")
            for answer, name in zip(answers, ("other", id_, "none"), strict=True)
        }
        assert len(words) == 1
    for name in ("other", "none"):
        assert (await api.ask("POST", f"/webhook/workflow/trigger/{name}", sender, {})).status == 403


async def test_a_key_for_some_workflows_steers_nothing(api: StrictApi, sender: str) -> None:
    started = await api.ask("POST", f"{WORKFLOWS}/echo/trigger", sender, {})
    run = started.json["data"]["run_id"]
    for place in ("cancel", "rerun", "retry", "pause"):
        assert (await api.ask("POST", f"/api/v1/runs/{run}/{place}", sender, {})).status == 403
    assert (await api.ask("POST", "/api/v1/events", sender, {"type": "a.b"})).status == 403
    assert (await api.ask("POST", "/api/v1/runs/bulk", sender, {"action": "cancel", "all": True})).status == 403
    limited = Caller(1, "limited", frozenset({Scope.EXECUTE}), workflows=frozenset({"other"}))
    for act in (api.app.commands.for_caller(limited).reruns.rerun, api.app.commands.for_caller(limited).reruns.retry):
        with pytest.raises(Forbidden):
            await act(run)


async def test_a_start_of_a_workflow_without_a_webhook_needs_a_key(api: StrictApi, sender: str) -> None:
    assert (await api.ask("POST", "/webhook/workflow/trigger/echo", None, {})).status == 401
    assert (await api.ask("POST", "/webhook/workflow/trigger/none", None, {})).status == 401
    viewer = await api.key("viewer", Role.VIEWER)
    assert (await api.ask("POST", "/webhook/workflow/trigger/echo", viewer, {})).status == 403


# Tenants in requests.


@pytest.mark.case("K4")
async def test_a_start_names_its_own_tenant_or_none(api: StrictApi, sender: str) -> None:
    operator = await api.key("operator", Role.OPERATOR)
    place = f"{WORKFLOWS}/echo/execute"
    assert (await api.ask("POST", place, operator, {"trigger": 1, "tenantId": "default"})).status == 202
    for name in ("acme", "Default", "1"):
        refused = await api.ask("POST", place, operator, {"trigger": 1, "tenantId": name})
        assert (refused.status, "tenantId" in refused.message) == (403, True)
    for field in ("tenant", "status", "epoch", "owner"):
        assert (await api.ask("POST", place, operator, {"trigger": 1, field: 1})).status == 400
    assert (await api.ask("POST", place, operator, {"tenantId": 2})).status == 400


async def test_a_loose_server_lets_a_start_choose_its_tenant() -> None:
    async with strict_api(loose=True) as api:
        assert (await api.ask("POST", WORKFLOWS, None, ECHO)).status == 201
        place = f"{WORKFLOWS}/echo/execute"
        assert (await api.ask("POST", place, None, {"tenantId": "default"})).status == 202
        assert (await api.ask("POST", place, None, {"tenantId": "acme"})).status == 400
        me = (await api.ask("GET", "/api/v1/me")).json["data"]
        assert (me["via"], me["authenticated"], me["role"]) == ("loose", False, "instance-admin")
