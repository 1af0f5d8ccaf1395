"""The guard of the policy: it identifies the caller of each request, and refuses what the caller may not do.

The fast path asks the same function, because its two routes run before the web framework.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Litestar
from litestar.handlers import BaseRouteHandler
from litestar.routes import BaseRoute
from litestar.types import ASGIApp, Receive, Scope, Send

from detent.api.context import ApiContext, CallerCommands, context_of, put_caller
from detent.api.server.auditor import ERROR_KEY
from detent.auth.caller import Caller
from detent.auth.policy import OBJECTS, POLICY, STARTS, Access
from detent.auth.scopes import Scope as Permission
from detent.errors import EngineError, Forbidden, Unauthenticated

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
#: A header that no form can send, and no page of another site without being asked about it first.
_MARK: Final = b"x-detent"


class PolicyGuard:
    """Middleware that identifies the caller, and raises Unauthenticated or Forbidden unless it may do this."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        context, operation = context_of(scope), _operation(scope)
        try:
            bound = await admit(context, scope, operation)
        except (Unauthenticated, Forbidden) as error:
            context.auditor.refuse(scope, operation, known_caller(context, scope), error)
            raise
        put_caller(scope, bound)
        if POLICY[operation].audited:
            await context.auditor.run(self._app, scope, receive, send, operation=operation, caller=bound.caller)
        else:
            await self._app(scope, receive, send)
            raised = scope["state"].get(ERROR_KEY)
            if isinstance(raised, Forbidden):
                context.auditor.refuse(scope, operation, bound.caller, raised)


async def admit_request(scope: Scope) -> CallerCommands:
    """Return the commands of the caller of a request that has a route. Raise Unauthenticated or Forbidden if it may
    not ask this."""
    return await admit(context_of(scope), scope, _operation(scope))


async def admit(context: ApiContext, scope: Scope, operation: str) -> CallerCommands:
    """Return the commands of the caller of a request. Raise Unauthenticated or Forbidden if it may not ask this."""
    line = POLICY.get(operation)
    if line is None:
        raise Forbidden(f"the operation {operation!r} has no line in the policy")
    if line.need is Access.PUBLIC:
        return context.bound(context.public)
    caller = await identify(context, scope)
    if line.need is not Access.IDENTIFIED:
        caller.require(line.need)
        if caller.workflows is not None and line.need is Permission.EXECUTE and operation not in STARTS:
            raise Forbidden(f"{caller.name!r} may only start some workflows; this needs a key for all of them")
    return context.bound(caller)


async def identify(context: ApiContext, scope: Scope) -> Caller:
    """Return the caller of a request. Raise Unauthenticated if it has no valid key, token or session."""
    headers = scope["headers"]
    caller = context.authenticator.known(headers) or await context.authenticator.identify(headers)
    if caller.via == "session" and scope.get("method") not in _READS and (_MARK, b"1") not in headers:
        raise Forbidden("a change with the cookie of a session needs the header `X-Detent: 1`")
    return caller


def known_caller(context: ApiContext, scope: Scope) -> Caller:
    """Return the caller of a request that was refused, as far as it is known."""
    return context.authenticator.known(scope["headers"]) or context.public


def _operation(scope: Scope) -> str:
    handler: BaseRouteHandler = scope["route_handler"]
    return handler.handler_name


def require_lines(routes: Litestar) -> None:
    """Raise EngineError if an operation has no line in the policy, or a path a parameter that it does not know."""
    missing = sorted({name for route in routes.routes for name in _names(route) if name not in POLICY})
    if missing:
        raise EngineError(f"these operations have no line in auth/policy.py: {', '.join(missing)}")
    unknown = {name for route in routes.routes for name in route.path_parameters if name not in OBJECTS}
    if unknown:
        raise EngineError(f"these parameters of paths are not in auth/policy.py: {', '.join(sorted(unknown))}")


def _names(route: BaseRoute) -> list[str]:
    found: list[Any] = getattr(route, "route_handlers", None) or [getattr(route, "route_handler", None)]
    return [handler.handler_name for handler in found if handler is not None]
