"""What each operation needs of its caller, written into the OpenAPI document from the policy."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Final

from litestar.handlers import HTTPRouteHandler
from litestar.openapi.spec import Components, SecurityScheme

from detent.api.openapi.operations import refusals
from detent.auth.policy import POLICY, Access
from detent.auth.scopes import least_role

_SCHEMES: Final = {
    "key": SecurityScheme(
        type="http",
        scheme="bearer",
        description="A key of the API (`dk_...`), or a token of the identity provider.",
    ),
    "session": SecurityScheme(
        type="apiKey",
        name="__Host-detent",
        security_scheme_in="cookie",
        description="The cookie of a session, `detent` without TLS. Changes need the header `X-Detent: 1` too.",
    ),
}
COMPONENTS: Final = Components(security_schemes=dict(_SCHEMES))


def describe_access(handlers: Iterable[HTTPRouteHandler]) -> None:
    """Add to each handler what its line in the policy needs: the security, the scope, and the answers 401 and 403."""
    for handler in handlers:
        line = POLICY.get(handler.handler_name)
        if line is None or line.need is Access.PUBLIC:
            continue
        if line.need is Access.IDENTIFIED:
            needs = "Every caller that is known may ask this."
        else:
            needs = f"It needs the scope `{line.need}`, which the role {least_role(line.need)} has."
        handler.description = f"{inspect.getdoc(handler.fn) or ''}\n\n{needs}"
        handler.security = [{name: []} for name in _SCHEMES]
        handler.responses = {**(handler.responses or {}), **refusals(401, 403)}
