"""The requests of the matrix: for every operation and every object in its path, the id of another tenant's object
beside an id of the same form that names nothing.

They are made from the routes and the policy, so a new route is in the matrix when it exists. A parameter that names an
object of which the world has none is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from litestar import Litestar

from detent.auth.policy import OBJECTS, POLICY, Access
from detent.auth.scopes import Scope
from tests.tenants.world import A, B, World, absent, escaped

#: What a body must have so that the request gets to the look at the object in its path.
BODIES: Final[Mapping[str, Any]] = {
    "save_workflow": {"name": "NAME", "tasks": {"t": {"action": "core.echo"}}},
    "set_secret": {"value": "long enough to be one"},
    "set_credential": {"kind": "token", "hosts": ["crm.example.com"], "token": "long enough to be one"},
    "save_document_template": {"title": "t", "body": "b"},
    "save_template_set": {"title": "t"},
    "evaluate_run": {"expression": "1"},
    "change_layout": {"node_positions": {}},
    "replace_action_template": {"name": "n", "action_type": "create_alert"},
    "change_entity": {"title": "t"},
    "change_user": {"role": "viewer"},
    "update_trigger": {"name": "n"},
    "backfill_trigger": {"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"},
    "resolve_run_step": {"outcome": "success"},
    "skip_run_step": {"step": "t"},
    "reattempt_run_step": {"step": "t"},
    "fork_run": {"from": "t"},
    "move_run": {"version": 1},
    "rehearse_workflow": {"name": "n", "tasks": {"t": {"action": "core.echo"}}},
    "instantiate_workflow_template": {"name": "made", "config": {}},
    "add_rule_action": {"name": "n", "action_config": {}},
}
#: Operations that create what they do not find. They come last: then A has objects with those names.
_CREATES: Final = ("save_workflow", "set_secret", "set_credential", "save_document_template", "save_template_set")
_PARTS: Final = {"number": "1", "version": "1", "step": "w", "edge": "edge_01k5c1v6p2f7x8y9z0a1b2c3d4", "name": "go"}
_PARAMETER: Final = re.compile(r"\{(\w+):\w+\}")
_ID: Final = re.compile(r"\b[a-z]{2,4}_[0-9a-z]{26}\b")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-][\d:]+)")


class Case(NamedTuple):
    """An operation with the id of an object of B, and with one of nothing. Both are sent as A."""

    operation: str
    parameter: str
    method: str
    foreign: str
    missing: str
    value: str
    other: str
    body: Any


def operations(routes: Litestar) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the method and the path of every operation."""
    for route in routes.routes:
        for handler in getattr(route, "route_handlers", ()):
            for method in sorted(handler.http_methods - {"OPTIONS", "HEAD"}):
                yield handler.handler_name, method, route.path


def cases(routes: Litestar, world: World) -> Iterator[Case]:
    """Yield every case of the matrix."""
    for operation, method, path in sorted(operations(routes), key=lambda one: one[0] in _CREATES):
        if POLICY[operation].need in (Access.PUBLIC, Scope.TENANTS):
            continue  # its address is the permission, or its caller manages every tenant
        for parameter in _PARAMETER.findall(path):
            if OBJECTS[parameter] is not None:
                for value in world.objects[B].get(parameter, []):
                    yield _case(world, operation, method, path, parameter, value)
                if parameter not in world.objects[B]:
                    raise AssertionError(f"{operation}: the world has no {OBJECTS[parameter]} to ask for")


def _case(world: World, operation: str, method: str, path: str, parameter: str, value: str) -> Case:
    other = absent(value)

    def target(chosen: str) -> str:
        return _PARAMETER.sub(lambda match: escaped(chosen if match[1] == parameter else _own(world, match[1])), path)

    return Case(operation, parameter, method, target(value), target(other), value, other, BODIES.get(operation, {}))


def _own(world: World, parameter: str) -> str:
    """Return what A has for another parameter of the path."""
    return _PARTS[parameter] if OBJECTS[parameter] is None and parameter in _PARTS else world.objects[A][parameter][0]


def body_of(case: Case, value: str) -> Any:
    """Return the body of a request, with the name in its path where it must have the same."""
    return {name: value if text == "NAME" else text for name, text in case.body.items()}


def plain(text: str, value: str) -> str:
    """Return an answer without the value that was asked for, and without other ids and times."""
    return _TIME.sub("TIME", _ID.sub("ID", text.replace(value, "ID")))
