"""Detent: a durable workflow engine for Python teams.

    from detent import Workflow, step, days

What users write against is named here, and loaded when it is asked for, so that `import detent` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from detent.version import VERSION

if TYPE_CHECKING:
    from asyncio import gather

    from detent.access import sync
    from detent.access.configuring import configure
    from detent.access.embedded import node
    from detent.access.handles import RunHandle
    from detent.access.scopes import runs
    from detent.access.starting import start
    from detent.client.async_client import AsyncClient
    from detent.client.client import Client
    from detent.errors import AlreadyActive
    from detent.python.durations import days, hours, minutes, seconds, weeks
    from detent.python.function import ChildFailed, Run, StepContext, StepFailed, WaitTimeout
    from detent.python.function.workflow import workflow
    from detent.python.heroes import HeroRef, heroes
    from detent.python.marks import cancel_if, step
    from detent.python.policies import reattempt
    from detent.python.transactional import transactions
    from detent.python.workflow import Workflow
    from detent.steps.actions import ActionContext, ActionError, Permanent, RetryLater, action

__version__ = VERSION
__all__ = [
    "ActionContext",
    "ActionError",
    "AlreadyActive",
    "AsyncClient",
    "ChildFailed",
    "Client",
    "HeroRef",
    "Permanent",
    "RetryLater",
    "Run",
    "RunHandle",
    "StepContext",
    "StepFailed",
    "WaitTimeout",
    "Workflow",
    "__version__",
    "action",
    "cancel_if",
    "configure",
    "days",
    "gather",
    "heroes",
    "hours",
    "minutes",
    "node",
    "reattempt",
    "runs",
    "seconds",
    "start",
    "step",
    "sync",
    "transactions",
    "weeks",
    "workflow",
]

_NAMES_BY_HOME = {
    "detent.access.configuring": "configure",
    "detent.access.embedded": "node",
    "detent.access.handles": "RunHandle",
    "detent.access.scopes": "runs",
    "detent.access.starting": "start",
    "detent.client.async_client": "AsyncClient",
    "detent.client.client": "Client",
    "detent.errors": "AlreadyActive",
    "detent.python.durations": "days hours minutes seconds weeks",
    "detent.python.function": "ChildFailed Run StepContext StepFailed WaitTimeout gather workflow",
    "detent.python.heroes": "HeroRef heroes",
    "detent.python.marks": "cancel_if step",
    "detent.python.policies": "reattempt",
    "detent.python.transactional": "transactions",
    "detent.python.workflow": "Workflow",
    "detent.steps.actions": "ActionContext ActionError Permanent RetryLater action",
}
_HOMES = {name: home for home, names in _NAMES_BY_HOME.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "sync":
        return import_module("detent.access.sync")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'detent' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
