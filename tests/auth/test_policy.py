"""The policy has a line for every operation, and an application with an operation without one does not start."""

from __future__ import annotations

import pytest
from litestar import Litestar, get
from litestar.params import FromPath

from detent.api.app import build_routes
from detent.api.server.policy_guard import require_lines
from detent.auth.policy import POLICY, Access
from detent.auth.scopes import ALL_SCOPES, MEANINGS, SCOPES, Role, Scope, least_role, scopes_of
from detent.errors import EngineError


def operations() -> set[str]:
    return {handler.handler_name for route in build_routes().routes for handler in getattr(route, "route_handlers", ())}


def test_every_operation_has_a_line_and_every_line_an_operation() -> None:
    assert operations() == set(POLICY)


def test_an_application_with_a_route_without_a_line_does_not_start() -> None:
    @get("/forgotten")
    async def forgotten() -> None: ...

    with pytest.raises(EngineError, match="forgotten"):
        require_lines(Litestar([forgotten]))


def test_an_application_with_an_unknown_parameter_does_not_start() -> None:
    @get("/workflows/{thing:str}")
    async def list_workflows(thing: FromPath[str]) -> None: ...

    with pytest.raises(EngineError, match="thing"):
        require_lines(Litestar([list_workflows], openapi_config=None))


def test_a_role_has_the_scopes_of_those_before_it() -> None:
    before: frozenset[Scope] = frozenset()
    for role in Role:
        assert before < SCOPES[role]
        before = SCOPES[role]
    assert before == ALL_SCOPES == set(MEANINGS)


def test_unknown_roles_and_scopes_grant_nothing() -> None:
    assert scopes_of("root") == frozenset()
    assert scopes_of(None, ["workflows:*", "WORKFLOWS:READ", "admin"]) == frozenset()
    assert scopes_of("viewer", ["workflows:execute"]) == SCOPES[Role.VIEWER] | {Scope.EXECUTE}


def test_every_scope_of_the_policy_is_in_a_role() -> None:
    needs = {line.need for line in POLICY.values() if not isinstance(line.need, Access)}
    assert all(least_role(need) for need in needs)
