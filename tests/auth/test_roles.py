"""Every operation of the API, asked by every role and without a key: the policy decides, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from detent.api.app import build_routes
from detent.auth.keys import make_key
from detent.auth.policy import POLICY, Access
from detent.auth.scopes import SCOPES, Role
from detent.store.auth import NewKey
from tests.auth.strict import StrictApi, strict_api

#: It does not name an object, and no body begins like this: a request that is admitted changes nothing.
MISSING = "missing"
NO_BODY = b"["


def requests() -> Iterator[tuple[str, str, str]]:
    """Operation, method and path of every route that needs a caller."""
    for route in build_routes().routes:
        for handler in getattr(route, "route_handlers", ()):
            line = POLICY[handler.handler_name]
            if line.need is not Access.PUBLIC:
                path = re.sub(r"{[^}]*}", lambda found: "7" if ":int" in found[0] else MISSING, route.path)
                for method in sorted(handler.http_methods):
                    yield handler.handler_name, method, path


async def keys_of_roles(api: StrictApi) -> dict[str, str]:
    return {role: await api.key(role, role) for role in Role}


@pytest.mark.case("K7")
async def test_every_role_may_ask_what_the_policy_says_and_no_more() -> None:
    wrong: list[str] = []
    async with strict_api() as api:
        keys = await keys_of_roles(api)
        for operation, method, path in requests():
            need = POLICY[operation].need
            for role, key in keys.items():
                status = (await api.ask(method, path, key, NO_BODY)).status
                may = isinstance(need, Access) or need in SCOPES[Role(role)]
                if (status in (401, 403)) == may or status >= 500:
                    wrong.append(f"{operation} ({method} {path}) as {role}: {status}")
            status = (await api.ask(method, path, None, NO_BODY)).status
            if status != 401:
                wrong.append(f"{operation} ({method} {path}) without a key: {status}")
    assert wrong == []


@pytest.mark.case("K7")
async def test_a_role_that_is_not_known_may_nothing() -> None:
    async with strict_api() as api:
        made = make_key()
        await api.app.store.add_key(NewKey(made.id, 1, "odd", made.hash, "root", None, None, "tests", None))
        for operation, method, path in requests():
            if not isinstance(POLICY[operation].need, Access):
                assert (await api.ask(method, path, made.key, NO_BODY)).status == 403, operation
        me = await api.ask("GET", "/api/v1/me", made.key)
        assert (me.status, me.json["data"]["scopes"]) == (200, [])


async def test_what_a_key_may_is_in_the_openapi_document() -> None:
    schema = build_routes().openapi_schema.to_schema()
    described = {
        operation["operationId"]: operation for path in schema["paths"].values() for operation in path.values()
    }
    start = described["triggerWorkflow"]
    assert start["security"] == [{"key": []}, {"session": []}]
    assert "`workflows:execute`" in start["description"]
    assert {"401", "403"} <= set(start["responses"])
    assert "security" not in described["receiveCallback"]
    open_ = {name for name, operation in described.items() if "security" not in operation}
    names = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in open_}
    public = {name for name, line in POLICY.items() if line.need is Access.PUBLIC}
    assert {name for name in names if not any(name.startswith(known) for known in public)} == set()
