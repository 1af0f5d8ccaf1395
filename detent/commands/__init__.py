"""Commands: everything a caller can ask of Detent. The API, the command line, triggers and tests call nothing else.

No rule is in the API or the command line. They translate a request, call one command and render the answer.
"""

from __future__ import annotations

from collections.abc import Collection

from detent.auth.caller import Caller
from detent.auth.passwords import Passwords
from detent.blobs.library import BlobLibrary
from detent.catalog.connections import EnvironmentConnections
from detent.catalog.parameters import FindAction
from detent.catalog.source import ConnectorSource
from detent.commands.bulk import BulkCommands
from detent.commands.callbacks import CallbackCommands
from detent.commands.catalog.connectors import CatalogCommands
from detent.commands.catalog.imports import ImportCommands
from detent.commands.catalog.upgrades import UpgradeCommands
from detent.commands.children import ChildStarts
from detent.commands.context import CommandContext
from detent.commands.control import ControlCommands
from detent.commands.drafts import DraftCommands
from detent.commands.dry_run.part import DryRunCommands
from detent.commands.files.plan import PlanCommands
from detent.commands.hierarchy import HierarchyCommands
from detent.commands.identity.audit import AuditCommands
from detent.commands.identity.keys import KeyCommands
from detent.commands.identity.people import PersonCommands, SessionCommands
from detent.commands.identity.tenants import TenantCommands
from detent.commands.items import ItemCommands
from detent.commands.lists import ListCommands
from detent.commands.logs.step_logs import LogCommands
from detent.commands.moves import MoveCommands
from detent.commands.outlines import OutlineCommands
from detent.commands.overviews import InboxCommands, SystemCommands
from detent.commands.payloads.blobs import BlobCommands
from detent.commands.rehearsal import RehearsalCommands
from detent.commands.rerun import RerunCommands
from detent.commands.rules.action_templates import ActionTemplateCommands
from detent.commands.rules.alerts import AlertCommands
from detent.commands.rules.entities import EntityCommands
from detent.commands.rules.parts import RulePartCommands
from detent.commands.rules.save import RuleCommands
from detent.commands.runs import RunCommands
from detent.commands.search import SearchCommands
from detent.commands.signals import SignalCommands
from detent.commands.start import StartAnswer, StartCommands
from detent.commands.templates.documents import DocumentTemplateCommands
from detent.commands.templates.workflows import WorkflowTemplateCommands
from detent.commands.vault.credentials import CredentialCommands
from detent.commands.vault.secrets import SecretCommands
from detent.commands.vault.waiters import CredentialWaiters
from detent.commands.versions import VersionCommands
from detent.commands.workflows import WorkflowCommands
from detent.engine.engine import Engine
from detent.forms.compiled import Limits
from detent.instant import Instant
from detent.steps.templates.renderer import Renderer
from detent.tenants.registry import UNCONFINED, TenantRegistry
from detent.vault.credential import CodeExchange
from detent.vault.secrets import SecretOpener

__all__ = ["Commands", "EngineCommands", "StartAnswer"]


class Commands:
    """Everything a caller can ask of Detent, as that caller."""

    def __init__(self, context: CommandContext, caller: Caller) -> None:
        self.caller = caller
        self.workflows = WorkflowCommands(context, caller)
        self.runs = RunCommands(context, caller)
        self.lists = ListCommands(context, caller)
        self.search = SearchCommands(context, caller, self.lists)
        self.items = ItemCommands(context, caller)
        self.hierarchy = HierarchyCommands(context, caller, self.runs)
        self.drafts = DraftCommands(context, caller, self.workflows)
        self.entities = EntityCommands(context, caller)
        self.rules = RuleCommands(context, caller, self.workflows, self.drafts, self.entities)
        self.rule_parts = RulePartCommands(context, caller, self.rules)
        self.alerts = AlertCommands(context, caller)
        self.action_templates = ActionTemplateCommands(context, caller)
        self.workflow_templates = WorkflowTemplateCommands(context, caller, self.drafts)
        self.document_templates = DocumentTemplateCommands(context, caller)
        self.versions = VersionCommands(context, caller, self.workflows, self.drafts)
        self.plans = PlanCommands(context, caller, self.workflows)
        self.outlines = OutlineCommands(context, caller, self.runs, self.workflows, self.versions)
        self.starts = StartCommands(context, caller)
        self.dry_runs = DryRunCommands(context, caller, self.workflows, self.runs)
        self.reruns = RerunCommands(context, caller, self.runs, self.starts)
        self.control = ControlCommands(context, caller, self.runs)
        self.moves = MoveCommands(context, caller, self.runs)
        self.rehearsals = RehearsalCommands(context, caller, self.workflows, self.moves)
        self.bulk = BulkCommands(context, caller, self.reruns)
        self.signals = SignalCommands(context, caller, self.runs)
        self.blobs = BlobCommands(context, caller)
        self.callbacks = CallbackCommands(context, caller, self.runs)
        self.catalog = CatalogCommands(context, caller)
        self.imports = ImportCommands(context, caller)
        self.upgrades = UpgradeCommands(context, caller, self.workflows)
        self.secrets = SecretCommands(context, caller)
        self.credentials = CredentialCommands(context, caller)
        self.inbox = InboxCommands(context, caller)
        self.system = SystemCommands(context, caller, self.runs, self.workflows)
        self.keys = KeyCommands(context, caller)
        self.people = PersonCommands(context, caller)
        self.sessions = SessionCommands(context, caller)
        self.tenants = TenantCommands(context, caller)
        self.audit = AuditCommands(context, caller, self.runs)
        self.logs = LogCommands(context, caller)
        self._context = context

    def now(self) -> Instant:
        """Return the time of the database's clock, as far as this process knows it."""
        return self._context.now()

    def nudge(self) -> None:
        """Let the engine of this process read the inbox now, not at its next poll."""
        self._context.nudge()


class EngineCommands:
    """The commands on one engine's store. `for_caller` binds them; the engine starts child runs through them."""

    def __init__(
        self,
        engine: Engine,
        *,
        limits: Limits | None = None,
        actions: Collection[str] | None = None,
        find_action: FindAction | None = None,
        allow_draft_execution: bool = False,
        own_rules_only: bool = False,
        connections: EnvironmentConnections | None = None,
        renderer: Renderer | None = None,
        source: ConnectorSource | None = None,
        code_exchange: CodeExchange | None = None,
        base_url: str = "",
        tenants: TenantRegistry = UNCONFINED,
    ) -> None:
        self._context = CommandContext(
            engine,
            limits or Limits(),
            actions,
            find_action=find_action,
            allow_draft_execution=allow_draft_execution,
            own_rules_only=own_rules_only,
            connections=connections,
            renderer=renderer,
            source=source,
            code_exchange=code_exchange,
            base_url=base_url,
            tenants=tenants,
        )
        children = ChildStarts(self._context)
        engine.children.start = children.start
        engine.children.start_page = children.start_page
        engine.children.prepare_successor = children.prepare_successor

    @property
    def passwords(self) -> Passwords:
        """Return what hashes passwords, so that logins and commands share its limit."""
        return self._context.passwords

    @property
    def tenants(self) -> TenantRegistry:
        """Return what this process knows of tenants."""
        return self._context.tenants

    @property
    def blobs(self) -> BlobLibrary:
        """Return the blobs of every tenant."""
        return self._context.blobs

    def awaiting_runs(self) -> CredentialWaiters:
        """Return the poller that resumes runs whose credential is ready again."""
        return CredentialWaiters(self._context)

    @property
    def secrets(self) -> SecretOpener:
        """Return what opens the secrets of this process."""
        return self._context.engine.secrets

    def for_caller(self, caller: Caller) -> Commands:
        """Return the commands of one caller. It costs a few objects and no read."""
        return Commands(self._context, caller)
