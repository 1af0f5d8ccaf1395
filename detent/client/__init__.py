"""The Python client: `Client` blocks, `AsyncClient` is awaited, and everything else is the same.

    with Client() as client:
        client.workflows.save(Path("order.yaml"))
        print(client.start("order", {"amount": 42}).result(timeout=60))

`AsyncClient` needs aiohttp, which is loaded when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from detent.client.client import Client, RunHandle, SyncRunHandle
from detent.client.documents import (
    Attempt,
    Backfill,
    Bulk,
    Callback,
    Entry,
    FilledSlot,
    Firing,
    Happening,
    Health,
    Hero,
    Origin,
    PastAttempt,
    Reason,
    Received,
    RunDocument,
    RunSummary,
    SavedWorkflow,
    SentEvent,
    SentSignal,
    Started,
    StepDocument,
    StepError,
    Trigger,
    Why,
    Workflow,
)
from detent.client.errors import (
    AlreadyActive,
    ApiError,
    ClientClosed,
    Conflict,
    Gone,
    InvalidRequest,
    LimitExceeded,
    NoConnection,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    RunFailed,
    ServerError,
    StillRunning,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
)
from detent.client.runs import RunFilter

if TYPE_CHECKING:
    from detent.client.async_client import AsyncClient

__all__ = [
    "Client",
    "AsyncClient",
    "SyncRunHandle",
    "RunHandle",
    "RunFilter",
    # documents
    "Attempt",
    "Backfill",
    "Bulk",
    "Callback",
    "Entry",
    "FilledSlot",
    "Firing",
    "Happening",
    "Health",
    "Hero",
    "Origin",
    "PastAttempt",
    "Reason",
    "Received",
    "RunDocument",
    "RunSummary",
    "SavedWorkflow",
    "SentEvent",
    "SentSignal",
    "Started",
    "StepDocument",
    "StepError",
    "Trigger",
    "Why",
    "Workflow",
    # errors
    "AlreadyActive",
    "ApiError",
    "ClientClosed",
    "Conflict",
    "Gone",
    "InvalidRequest",
    "LimitExceeded",
    "NoConnection",
    "NotFound",
    "PermissionDenied",
    "PreconditionFailed",
    "RunFailed",
    "ServerError",
    "StillRunning",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
]


def __getattr__(name: str) -> Any:
    if name == "AsyncClient":
        return import_module("detent.client.async_client").AsyncClient
    raise AttributeError(f"module 'detent.client' has no attribute {name!r}")
