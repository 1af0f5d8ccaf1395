"""`detent.Client`, whose methods block; the handles of runs; the descriptors that turn operations into methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from functools import partial
from inspect import signature
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from detent.client import (
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
from detent.client.transports import HttpTransport
from detent.documents.runs import StartedDocument

# Sync and async methods are built from one description of each operation.
#
# An operation is a function that describes an exchange. As an attribute of a class it becomes a method with the same
# parameters. On a `Blocking` object the method returns the result, on an `Awaiting` object an awaitable of the result.


P = ParamSpec("P")
T = TypeVar("T")


class Blocking:
    """An object whose operations block. `about` are the first arguments of each operation, such as the id of a run."""

    def __init__(self, driver: Driver, *about: str) -> None:
        self.driver = driver
        self.about = about


class Awaiting:
    """An object whose operations are awaited. `about` are the first arguments of each operation, as in `Blocking`."""

    def __init__(self, driver: AsyncDriver, *about: str) -> None:
        self.driver = driver
        self.about = about


class _Method(Generic[P, T]):
    """A descriptor: an operation in the body of a class."""

    def __init__(self, describe: Callable[..., T], *, given: int = 0) -> None:
        self._describe, self.__doc__ = describe, describe.__doc__
        known = signature(describe)
        # `about` is not a parameter of the method.
        self._signature = known.replace(parameters=[*known.parameters.values()][given:])

    def __set_name__(self, kind: type, name: str) -> None:
        self.__name__ = name

    def bound(self, face: Blocking | Awaiting, act: Callable[[T], object]) -> Callable[P, object]:
        def method(*args: P.args, **options: P.kwargs) -> object:
            return act(self._describe(*face.about, *args, **options))

        method.__name__, method.__doc__ = self.__name__, self.__doc__
        method.__signature__ = self._signature  # type: ignore[attr-defined]
        return method


class Asks(_Method[P, OneAnswer[T]]):
    """An operation with one answer."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        return self if face is None else self.bound(face, face.driver.ask)


class Streams(_Method[P, ManyAnswers[T]]):
    """An operation that yields answers one by one."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        return self if face is None else self.bound(face, face.driver.stream)


class Starts(_Method[P, OneAnswer[StartedDocument]]):
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


def asks(describe: Callable[P, OneAnswer[T]]) -> Asks[P, T]:
    return Asks(describe)


def streams(describe: Callable[P, ManyAnswers[T]]) -> Streams[P, T]:
    return Streams(describe)


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
    seconds, if no server answers or the server is unavailable. `headers` are sent with every request."""

    def __init__(
        self,
        url: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.url = server_url(url)
        super().__init__(Driver(HttpTransport(self.url), RetryPolicy(timeout, patience, dict(headers or {}))))
        self.workflows = Workflows(self.driver)
        self.triggers = Triggers(self.driver)
        self.connectors = Connectors(self.driver)
        self.dead_letters = Letters(self.driver)
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
