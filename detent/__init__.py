"""Detent: a durable workflow engine for Python teams.

    from detent import Workflow, step, days

This module names the public API. Each name is imported when it is first used, so that `import detent` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from detent.version import VERSION

if TYPE_CHECKING:
    from asyncio import gather

    from detent.client.async_client import AsyncClient
    from detent.client.client import Client
    from detent.embed import sync
    from detent.embed.asgi import asgi
    from detent.embed.changes import record_change
    from detent.embed.config import configure
    from detent.embed.node import node
    from detent.embed.runs import RunHandle, runs
    from detent.embed.start import start
    from detent.errors import AlreadyActive
    from detent.python.classes.workflow import Workflow
    from detent.python.decorators import cancel_if, step
    from detent.python.flow import reattempt
    from detent.python.functions import Approval, ChildFailed, Run, StepContext, StepFailed, WaitTimeout
    from detent.python.functions.workflow import workflow
    from detent.python.heroes import HeroRef, heroes
    from detent.python.schedules import cron
    from detent.python.transactions import transactions
    from detent.run.links import Link, Linked
    from detent.steps.actions import ActionContext, action
    from detent.steps.errors import (
        ActionError,
        Failed,
        Permanent,
        RetriableFailure,
        RetryLater,
        Skipped,
        Succeeded,
        Unauthorized,
    )
    from detent.values.durations import days, hours, minutes, seconds, weeks

__version__ = VERSION
__all__ = [
    "ActionContext",
    "ActionError",
    "AlreadyActive",
    "Approval",
    "AsyncClient",
    "ChildFailed",
    "Client",
    "Failed",
    "HeroRef",
    "Link",
    "Linked",
    "Permanent",
    "RetriableFailure",
    "RetryLater",
    "Run",
    "RunHandle",
    "Skipped",
    "StepContext",
    "StepFailed",
    "Succeeded",
    "Unauthorized",
    "WaitTimeout",
    "Workflow",
    "__version__",
    "action",
    "asgi",
    "cancel_if",
    "configure",
    "cron",
    "days",
    "gather",
    "heroes",
    "hours",
    "minutes",
    "node",
    "reattempt",
    "record_change",
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
    "detent.embed.asgi": "asgi",
    "detent.embed.changes": "record_change",
    "detent.embed.config": "configure",
    "detent.embed.node": "node",
    "detent.embed.runs": "RunHandle runs",
    "detent.embed.start": "start",
    "detent.client.async_client": "AsyncClient",
    "detent.client.client": "Client",
    "detent.errors": "AlreadyActive",
    "detent.values.durations": "days hours minutes seconds weeks",
    "detent.python.functions": "Approval ChildFailed Run StepContext StepFailed WaitTimeout gather workflow",
    "detent.python.heroes": "HeroRef heroes",
    "detent.python.decorators": "cancel_if step",
    "detent.python.flow": "reattempt",
    "detent.python.schedules": "cron",
    "detent.python.transactions": "transactions",
    "detent.python.classes.workflow": "Workflow",
    "detent.run.links": "Link Linked",
    "detent.steps.actions": "ActionContext action",
    "detent.steps.errors": "ActionError Failed Permanent RetriableFailure RetryLater Skipped Succeeded Unauthorized",
}
_HOMES = {name: home for home, names in _NAMES_BY_HOME.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "sync":
        return import_module("detent.embed.sync")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'detent' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
