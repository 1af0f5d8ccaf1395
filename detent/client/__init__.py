"""The Python client: the methods of `Client` block, those of `AsyncClient` are awaited. Both have the same methods.

    with Client() as client:
        client.workflows.save(Path("order.yaml"))
        print(client.start("order", {"amount": 42}).result(timeout=60))

`AsyncClient` needs aiohttp, which is imported when `AsyncClient` is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from detent.client.client import Client, RunHandle, SyncRunHandle
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
    RehearsalFailed,
    RunFailed,
    ServerError,
    StillRunning,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
)
from detent.client.runs import RunFilter
from detent.client.workflows import SavedWorkflow, TaggedWorkflow
from detent.documents.answers import Health
from detent.documents.connectors import (
    ActionChangeDocument,
    BrokenStepDocument,
    CatalogActionDocument,
    ConnectorDocument,
    EffectDocument,
    ImportDocument,
    SavedConnectorAnswer,
    SkippedDocument,
    StepUpgradeDocument,
    UpgradeDocument,
    WorkflowUpgradeDocument,
)
from detent.documents.journal import EntryDocument, PastAttemptDocument, ProbeDocument, StepFailure, TimelineEntry
from detent.documents.rehearsal import RehearsalDocument, RehearsalProgressDocument
from detent.documents.rules import (
    ActionTemplateDocument,
    ActionTypeDocument,
    AlertDocument,
    CheckedRuleDocument,
    DeletedRuleDocument,
    EntityDocument,
    LayoutDocument,
    RuleActionDocument,
    RuleDifference,
    RuleDocument,
    RuleDraftDocument,
    RuleEdgeDocument,
    RuleSummary,
    RuleVersionDocument,
    StaleRuleDocument,
    TriggerTypeDocument,
)
from detent.documents.runs import (
    AttemptDocument,
    BulkDocument,
    CallbackDocument,
    CallbackReceipt,
    HeroDocument,
    OriginDocument,
    ReasonDocument,
    RefusedDocument,
    RunDocument,
    RunSummary,
    SignalReceipt,
    StartedDocument,
    StepDocument,
    WhyDocument,
)
from detent.documents.templates import (
    DocumentTemplateDocument,
    InstantiatedDocument,
    RenderingDocument,
    SavedTemplateAnswer,
    TemplateSetDocument,
    WorkflowTemplateDocument,
)
from detent.documents.triggers import (
    AppliedTrigger,
    BackfillDocument,
    BackfilledSlot,
    EventReceipt,
    FiringDocument,
    FiringRequest,
    MatchedTrigger,
    TriggerDocument,
)
from detent.documents.workflows import WorkflowDocument

if TYPE_CHECKING:
    from detent.client.async_client import AsyncClient

__all__ = [
    "Client",
    "AsyncClient",
    "SyncRunHandle",
    "RunHandle",
    "RunFilter",
    # documents
    "ActionChangeDocument",
    "AppliedTrigger",
    "ActionTemplateDocument",
    "ActionTypeDocument",
    "AlertDocument",
    "CheckedRuleDocument",
    "DeletedRuleDocument",
    "EntityDocument",
    "LayoutDocument",
    "RuleActionDocument",
    "RuleDifference",
    "RuleDocument",
    "RuleDraftDocument",
    "RuleEdgeDocument",
    "RuleSummary",
    "RuleVersionDocument",
    "StaleRuleDocument",
    "TriggerTypeDocument",
    "AttemptDocument",
    "BackfillDocument",
    "BackfilledSlot",
    "BrokenStepDocument",
    "BulkDocument",
    "CallbackDocument",
    "CallbackReceipt",
    "CatalogActionDocument",
    "ConnectorDocument",
    "EffectDocument",
    "DocumentTemplateDocument",
    "EntryDocument",
    "EventReceipt",
    "FiringDocument",
    "FiringRequest",
    "Health",
    "HeroDocument",
    "ImportDocument",
    "InstantiatedDocument",
    "MatchedTrigger",
    "OriginDocument",
    "PastAttemptDocument",
    "ProbeDocument",
    "ReasonDocument",
    "RefusedDocument",
    "RehearsalDocument",
    "RehearsalProgressDocument",
    "RenderingDocument",
    "RunDocument",
    "RunSummary",
    "SavedConnectorAnswer",
    "SavedTemplateAnswer",
    "SavedWorkflow",
    "SignalReceipt",
    "SkippedDocument",
    "StartedDocument",
    "StepDocument",
    "StepFailure",
    "StepUpgradeDocument",
    "TaggedWorkflow",
    "TemplateSetDocument",
    "TimelineEntry",
    "TriggerDocument",
    "UpgradeDocument",
    "WhyDocument",
    "WorkflowDocument",
    "WorkflowTemplateDocument",
    "WorkflowUpgradeDocument",
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
    "RehearsalFailed",
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
