"""`detent.Client`, whose methods block, and the handles of runs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Concatenate, Self, overload

from detent.client import (
    blobs,
    connectors,
    dead_letters,
    entity_events,
    overviews,
    rules,
    stream,
    templates,
    triggers,
    workflows,
)
from detent.client import runs as run_calls
from detent.client.calls import ManyAnswers, OneAnswer, RetryPolicy, server_url
from detent.client.drivers import PROCESS, AsyncDriver, Driver
from detent.client.identity import keys, tenants
from detent.client.identity.key_file import finder
from detent.client.operations import Asks, Awaiting, Blocking, Method, P, Streams, T, asks, streams
from detent.client.transports import HttpTransport
from detent.client.vault import credentials, secrets
from detent.documents.runs import StartedDocument


class Starts(Method[P, OneAnswer[StartedDocument]]):
    """An operation that starts a run and returns its handle."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, SyncRunHandle]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, Coroutine[Any, Any, RunHandle]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        if face is None:
            return self
        if isinstance(face, Blocking):
            return self.bound(face, partial(_start, face.driver))
        return self.bound(face, partial(_start_async, face.driver))


def starts(describe: Callable[P, OneAnswer[StartedDocument]]) -> Starts[P]:
    return Starts(describe)


def asks_of(describe: Callable[Concatenate[str, P], OneAnswer[T]]) -> Asks[P, T]:
    """Make a method of an operation. Its first argument is that of the object."""
    return Asks(describe, given=1)


def streams_of(describe: Callable[Concatenate[str, P], ManyAnswers[T]]) -> Streams[P, T]:
    return Streams(describe, given=1)


def starts_of(describe: Callable[Concatenate[str, P], OneAnswer[StartedDocument]]) -> Starts[P]:
    return Starts(describe, given=1)


class RunOperations:
    """The operations on one run."""

    get = asks_of(run_calls.get)
    status = asks_of(run_calls.status)
    state = asks_of(run_calls.state)
    wait = asks_of(run_calls.wait)
    result = asks_of(run_calls.result)
    cancel = asks_of(run_calls.cancel)
    pause = asks_of(run_calls.pause)
    resume = asks_of(run_calls.resume)
    skip = asks_of(run_calls.skip)
    reattempt = asks_of(run_calls.reattempt)
    finish = asks_of(run_calls.finish)
    move = asks_of(run_calls.move)
    retry = starts_of(run_calls.retry)
    preview_retry = asks_of(run_calls.preview_retry)
    rerun = starts_of(run_calls.rerun)
    fork = starts_of(run_calls.fork)
    resolve = asks_of(run_calls.resolve)
    signal = asks_of(run_calls.signal)
    why = asks_of(run_calls.why)
    verify = asks_of(run_calls.verify)
    outline = asks_of(run_calls.outline)
    graph = asks_of(run_calls.graph)
    step = asks_of(run_calls.step)
    answer = asks_of(run_calls.answer)
    evaluate = asks_of(run_calls.evaluate)
    hierarchy = asks_of(run_calls.hierarchy)
    history = streams_of(run_calls.history)
    items = streams_of(run_calls.items)
    events = streams_of(stream.events)
    follow = streams_of(stream.follow)
    logs = streams_of(stream.logs)
    journal = asks_of(stream.journal)


class SyncRunHandle(RunOperations, Blocking):
    """A handle of one run, whose methods block. `started` is the answer to the start, if this program started the run.
    Without a driver the handle uses the Detent that the settings of this process name."""

    def __init__(self, id: str, started: StartedDocument | None = None, *, driver: Driver | None = None) -> None:  # noqa: A002
        super().__init__(_known(driver or PROCESS.sync), id)
        self.id, self.started = id, started

    def __repr__(self) -> str:
        return f"SyncRunHandle({self.id!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SyncRunHandle) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


class RunHandle(RunOperations, Awaiting):
    """A handle of one run, whose methods are awaited. `started` is the answer to the start, if this program started the
    run. Without a driver the handle uses the Detent that the settings of this process name. `run.sync` is a handle of
    the same run whose methods block."""

    def __init__(self, id: str, started: StartedDocument | None = None, *, driver: AsyncDriver | None = None) -> None:  # noqa: A002
        super().__init__(_known(driver or PROCESS.awaited), id)
        self.id, self.started = id, started

    @property
    def sync(self) -> SyncRunHandle:
        return SyncRunHandle(self.id, self.started, driver=self.driver.sync())

    def __repr__(self) -> str:
        return f"RunHandle({self.id!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunHandle) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


def _known(driver: T | None) -> T:
    if driver is None:
        raise TypeError("a handle needs a client: use client.run(id), or detent.RunHandle(id) in a program with Detent")
    return driver


def _start(driver: Driver, asked: OneAnswer[StartedDocument]) -> SyncRunHandle:
    started = driver.ask(asked)
    return SyncRunHandle(started.run_id, started, driver=driver)


async def _start_async(driver: AsyncDriver, asked: OneAnswer[StartedDocument]) -> RunHandle:
    started = await driver.ask(asked)
    return RunHandle(started.run_id, started, driver=driver)


class WorkflowOperations:
    """The operations on workflows."""

    create = asks(workflows.create)
    save = asks(workflows.save)
    rehearse = asks(workflows.rehearse)
    get = asks(workflows.get)
    list = streams(workflows.list_all)
    stats = asks(workflows.stats)
    all_stats = streams(workflows.all_stats)
    text = asks(workflows.text)
    plan = asks(workflows.plan)
    unlock = asks(workflows.unlock)
    delete = asks(workflows.delete)
    enable = asks(workflows.enable)
    disable = asks(workflows.disable)
    publish = asks(workflows.publish)
    archive = asks(workflows.archive)
    reactivate = asks(workflows.reactivate)
    versions = streams(workflows.versions)
    version = asks(workflows.version)
    activate = asks(workflows.activate)
    diff = asks(workflows.diff)
    draft = asks(workflows.get_draft)
    discard_draft = asks(workflows.discard_draft)


class Workflows(WorkflowOperations, Blocking):
    """`client.workflows`"""


class AsyncWorkflows(WorkflowOperations, Awaiting):
    """`client.workflows`"""


class TriggerOperations:
    """The operations on triggers and their firings."""

    create = asks(triggers.create)
    apply = asks(triggers.apply)
    get = asks(triggers.get)
    list = streams(triggers.list_all)
    update = asks(triggers.update)
    delete = asks(triggers.delete)
    fire = asks(triggers.fire)
    pause = asks(triggers.pause)
    resume = asks(triggers.resume)
    next = asks(triggers.coming)
    preview = asks(triggers.preview)
    backfill = asks(triggers.backfill)
    firings = streams(triggers.firings)
    firing = asks(triggers.firing)
    replay = asks(triggers.replay)


class Triggers(TriggerOperations, Blocking):
    """`client.triggers`"""


class AsyncTriggers(TriggerOperations, Awaiting):
    """`client.triggers`"""


class ConnectorOperations:
    """The operations on connectors and actions."""

    list = streams(connectors.list_all)
    get = asks(connectors.get)
    add = asks(connectors.add)
    import_openapi = asks(connectors.import_openapi)
    import_mcp = asks(connectors.import_mcp)
    upgrade = asks(connectors.upgrade)
    remove = asks(connectors.remove)
    enable = asks(connectors.enable)
    disable = asks(connectors.disable)
    actions = streams(connectors.actions)
    facets = asks(connectors.facets)
    action = asks(connectors.get_action)
    enable_action = asks(connectors.enable_action)
    disable_action = asks(connectors.disable_action)


class Connectors(ConnectorOperations, Blocking):
    """`client.connectors`"""


class AsyncConnectors(ConnectorOperations, Awaiting):
    """`client.connectors`"""


class KeyOperations:
    """The operations on keys of the API."""

    list = streams(keys.list_all)
    get = asks(keys.get)
    create = asks(keys.create)
    rotate = asks(keys.rotate)
    revoke = asks(keys.revoke)


class Keys(KeyOperations, Blocking):
    """`client.keys`"""


class AsyncKeys(KeyOperations, Awaiting):
    """`client.keys`"""


class TenantOperations:
    """The operations on tenants."""

    list = streams(tenants.list_all)
    get = asks(tenants.get)
    create = asks(tenants.create)
    change = asks(tenants.change)
    suspend = asks(tenants.suspend)
    resume = asks(tenants.resume)
    export = asks(tenants.export)
    delete = asks(tenants.delete)


class Tenants(TenantOperations, Blocking):
    """`client.tenants`"""


class AsyncTenants(TenantOperations, Awaiting):
    """`client.tenants`"""


class SecretOperations:
    """The operations on secrets. None of them returns a value."""

    list = streams(secrets.list_all)
    get = asks(secrets.get)
    set = asks(secrets.set_value)
    delete = asks(secrets.delete)
    rotate = asks(secrets.rotate)


class Secrets(SecretOperations, Blocking):
    """`client.secrets`"""


class AsyncSecrets(SecretOperations, Awaiting):
    """`client.secrets`"""


class AuditOperations:
    """The operations on the audit."""

    list = streams(overviews.audit)


class Audit(AuditOperations, Blocking):
    """`client.audit`"""


class AsyncAudit(AuditOperations, Awaiting):
    """`client.audit`"""


class CredentialOperations:
    """The operations on credentials. None of them returns a sealed part."""

    list = streams(credentials.list_all)
    get = asks(credentials.get)
    set = asks(credentials.put)
    connect = asks(credentials.connect)
    delete = asks(credentials.delete)


class StoredCredentials(CredentialOperations, Blocking):
    """`client.credentials`"""


class AsyncStoredCredentials(CredentialOperations, Awaiting):
    """`client.credentials`"""


class LetterOperations:
    """The operations on dead letters."""

    list = streams(dead_letters.list_all)
    get = asks(dead_letters.get)
    requeue = asks(dead_letters.requeue)
    purge = asks(dead_letters.purge)
    bulk = asks(dead_letters.bulk)


class Letters(LetterOperations, Blocking):
    """`client.dead_letters`"""


class AsyncLetters(LetterOperations, Awaiting):
    """`client.dead_letters`"""


class BlobOperations:
    """The operations on large payloads."""

    list = streams(blobs.list_all)
    read = asks(blobs.read)


class StoredBlobs(BlobOperations, Blocking):
    """`client.blobs`"""


class AsyncStoredBlobs(BlobOperations, Awaiting):
    """`client.blobs`"""


class RuleOperations:
    """The operations on rules and their parts."""

    list = streams(rules.list_all)
    get = asks(rules.get)
    create = asks(rules.create)
    save = asks(rules.save)
    validate = asks(rules.validate)
    save_draft = asks(rules.save_draft)
    activate = asks(rules.activate)
    deactivate = asks(rules.deactivate)
    delete = asks(rules.delete)
    save_layout = asks(rules.save_layout)
    versions = streams(rules.versions)
    history = streams(rules.history)
    restore = asks(rules.restore)
    runs = streams(rules.runs)
    add_action = asks(rules.add_action)
    change_action = asks(rules.change_action)
    remove_action = asks(rules.remove_action)
    add_edge = asks(rules.add_edge)
    change_edge = asks(rules.change_edge)
    remove_edge = asks(rules.remove_edge)
    trigger_types = streams(rules.trigger_types)
    action_types = streams(rules.action_types)


class Rules(RuleOperations, Blocking):
    """`client.rules`"""


class AsyncRules(RuleOperations, Awaiting):
    """`client.rules`"""


class EntityOperations:
    """The operations on entities."""

    list = streams(rules.list_entities)
    get = asks(rules.get_entity)
    create = asks(rules.create_entity)
    change = asks(rules.change_entity)
    delete = asks(rules.delete_entity)


class Entities(EntityOperations, Blocking):
    """`client.entities`"""


class AsyncEntities(EntityOperations, Awaiting):
    """`client.entities`"""


class AlertOperations:
    """The operations on alerts."""

    list = streams(rules.list_alerts)
    get = asks(rules.get_alert)
    acknowledge = asks(rules.acknowledge_alert)
    resolve = asks(rules.resolve_alert)


class Alerts(AlertOperations, Blocking):
    """`client.alerts`"""


class AsyncAlerts(AlertOperations, Awaiting):
    """`client.alerts`"""


class ActionTemplateOperations:
    """The operations on action templates."""

    list = streams(rules.list_templates)
    get = asks(rules.get_template)
    create = asks(rules.create_template)
    replace = asks(rules.replace_template)
    delete = asks(rules.delete_template)


class ActionTemplates(ActionTemplateOperations, Blocking):
    """`client.action_templates`"""


class AsyncActionTemplates(ActionTemplateOperations, Awaiting):
    """`client.action_templates`"""


class WorkflowTemplateOperations:
    """The operations on workflow templates."""

    list = streams(templates.list_all)
    get = asks(templates.get)
    create = asks(templates.create)
    delete = asks(templates.delete)
    instantiate = asks(templates.instantiate)


class WorkflowTemplates(WorkflowTemplateOperations, Blocking):
    """`client.workflow_templates`"""


class AsyncWorkflowTemplates(WorkflowTemplateOperations, Awaiting):
    """`client.workflow_templates`"""


class DocumentTemplateOperations:
    """The operations on document templates and their sets."""

    list = streams(templates.list_documents)
    get = asks(templates.get_document)
    create = asks(templates.create_document)
    save = asks(templates.save_document)
    enable = asks(templates.enable_document)
    disable = asks(templates.disable_document)
    render = asks(templates.render_document)
    sets = streams(templates.list_sets)
    save_set = asks(templates.save_set)


class DocumentTemplates(DocumentTemplateOperations, Blocking):
    """`client.document_templates`"""


class AsyncDocumentTemplates(DocumentTemplateOperations, Awaiting):
    """`client.document_templates`"""


class ClientOperations:
    """The operations on a whole Detent."""

    start = starts(run_calls.start)
    dry_run = asks(run_calls.dry_run)
    runs = streams(run_calls.list_all)
    run_page = asks(run_calls.list_page)
    me = asks(overviews.me)
    counts = asks(overviews.counts)
    histogram = asks(overviews.histogram)
    search = asks(overviews.search)
    heroes = streams(overviews.heroes)
    timeline = streams(run_calls.timeline)
    bulk = asks(run_calls.bulk)
    move_all = asks(run_calls.move_all)
    callback = asks(run_calls.callback)
    waits = streams(run_calls.waits)
    resources = streams(run_calls.resources)
    send_event = asks(run_calls.send_event)
    send_change = asks(entity_events.send_change)
    send_changes = asks(entity_events.send_changes)
    match_rules = asks(entity_events.match_rules)
    recent_matches = asks(entity_events.recent_matches)
    rule_firings = streams(entity_events.rule_firings)
    health = asks(run_calls.health)


class Client(ClientOperations, Blocking):
    """A client of the Detent at `url`, else at DETENT_URL, else at http://127.0.0.1:8080. It owns its connections.

    `timeout` is the limit of one request in seconds. A request that is safe to repeat is retried for at most `patience`
    seconds, if no server answers or the server is unavailable. `headers` are sent with every request. `key` is the key
    of the API, else that of DETENT_KEY, else the one that `detent login` stored."""

    def __init__(
        self,
        url: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> None:
        self.url = server_url(url)
        transport = HttpTransport(self.url, finder(self.url, key))
        super().__init__(Driver(transport, RetryPolicy(timeout, patience, dict(headers or {}))))
        self.workflows = Workflows(self.driver)
        self.triggers = Triggers(self.driver)
        self.connectors = Connectors(self.driver)
        self.keys = Keys(self.driver)
        self.tenants = Tenants(self.driver)
        self.audit = Audit(self.driver)
        self.secrets = Secrets(self.driver)
        self.credentials = StoredCredentials(self.driver)
        self.dead_letters = Letters(self.driver)
        self.blobs = StoredBlobs(self.driver)
        self.workflow_templates = WorkflowTemplates(self.driver)
        self.document_templates = DocumentTemplates(self.driver)
        self.rules = Rules(self.driver)
        self.entities = Entities(self.driver)
        self.alerts = Alerts(self.driver)
        self.action_templates = ActionTemplates(self.driver)

    def run(self, id: str) -> SyncRunHandle:  # noqa: A002
        """Return the handle of a run. It sends no request yet."""
        return SyncRunHandle(id, driver=self.driver)

    def close(self) -> None:
        """Close the connections and end every wait for a retry."""
        self.driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
