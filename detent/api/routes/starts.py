"""Routes that start runs, and the readers of starts, which the fast path and webhooks use too.

On `/trigger` and webhooks the whole body is the input of the run; options are in the query and in `Idempotency-Key`. On
`/execute` the body is an envelope with input and options. Below `/executions`, documents have `execution_id` and `id`.
With `dry_run` nothing is started: the answer says what the run would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import msgspec
from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath
from litestar.types import HTTPScope

from detent.api.context import caller_of, context_of, prefix_of, put_caller
from detent.api.large_body import Begin, read_body
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    ANYTHING,
    DATA,
    INTEGER,
    START_PARAMETERS,
    TEXT,
    answers,
    operation,
    record_schema,
    refusals,
    takes,
)
from detent.api.request import (
    Aliases,
    AnyRequest,
    aliases,
    commands,
    feeds,
    flag_of,
    instant_of,
    normalize_names,
    object_body,
    pair_of,
    query_pairs,
    read_json,
    refuse_if_any,
    seconds_of,
    tenant_of,
    version_of,
    wait_of,
    word_of,
)
from detent.blobs.library import BlobUpload
from detent.commands import Commands, StartAnswer
from detent.commands.drafts import VersionKey
from detent.commands.dry_run.document import dry_run_document
from detent.commands.dry_run.part import DryRunRequest
from detent.documents.answers import NULL, One
from detent.documents.dry_run import DryRunDocument
from detent.documents.runs import ExecutionStarted, StartedDocument
from detent.errors import Forbidden, InvalidInput, NotFound, Problem, StoreError, TooLarge, Unavailable
from detent.ids import RUN, WORKFLOW, show
from detent.instant import Instant, as_datetime, micros
from detent.run.initiator import LONGEST_CORRELATION, SYSTEM, Principal
from detent.run.start import StartRequest
from detent.run.status import Status
from detent.store.rows import RunRow
from detent.values.blob import JSON_TYPE, Blob
from detent.values.fields import Fields, Problems, inside
from detent.values.http_body import read_headers, refuse_coding
from detent.values.limits import ID_LIMIT, INPUT_LIMIT

Headers = Iterable[tuple[bytes, bytes]]
Clock = Callable[[], Instant]
T = TypeVar("T")

MOST_LABELS: Final = 64
LARGEST_PRIORITY: Final = 1_000
_MESSAGE: Final = "the run cannot be started"
#: The options of a webhook request. Everything else in its query is written by another system, and is input.
WEBHOOK_OPTIONS: Final = aliases("start_at", "wait", "label", "hero", "allow_multiple")
_LARGE_DRY_RUN: Final = (
    f"a dry run stores nothing, so its body may have {INPUT_LIMIT} bytes; send a smaller one with the same fields"
)
_OPTIONS: Final = {**WEBHOOK_OPTIONS, **aliases("version", "dry_run", "from_run")}
_ENVELOPE_NAMES: Final = aliases(
    *("request_id", "principal", "trigger", "spec", "priority", "tenant_id", "labels", "hero", "start_at"),
    *("allow_multiple", "version", "correlation_id", "dry_run", "from_run", "answers"),
)
_PRINCIPAL: Final = aliases("user_id", "display_name", "email")
_HERO: Final = aliases("type", "id")


@dataclass(frozen=True, slots=True)
class StartCall:
    """A start, and for how many seconds the answer waits for the end of the run. `None`: it does not wait. With `dry`
    nothing is started. `tenant` is the name of the tenant that the request asks for."""

    request: StartRequest
    wait: float | None = None
    dry: DryRunRequest | None = None
    tenant: str | None = None


ReadStart = Callable[[str, Headers, bytes, bytes | Blob, Clock], StartCall]


@dataclass(slots=True)
class Options:
    """The options of a start request, and the rest of its query. `problems` lists the problems of the options."""

    headers: dict[str, str]
    query: dict[str, str]
    problems: Problems
    request_id: str | None = None
    start_at: Instant | None = None
    wait: float | None = None
    labels: dict[str, str] = field(default_factory=dict)
    hero: tuple[str, str] | None = None
    allow_multiple: bool | None = None
    version: VersionKey | None = None
    dry_run: bool | None = None
    from_run: str | None = None
    answers: Any = None

    def call(
        self, workflow: str, body: Any, *, priority: int | None = None, extra: Mapping[str, Any] | None = None
    ) -> StartCall:
        """Build the start. Raise InvalidInput with every problem of the options."""
        if not self.dry_run and (self.from_run is not None or self.answers is not None):
            name = "from_run" if self.answers is None else "answers"
            self.problems.add(name, "is for a dry run only: write dry_run=true too")
        refuse_if_any(self.problems, _MESSAGE)
        request = StartRequest(
            workflow,
            body,
            hero=self.hero,
            priority=priority,
            labels=self.labels,
            headers=self.headers,
            query=self.query,
            extra=extra or {},
            request_id=self.request_id,
            start_at=self.start_at,
            allow_multiple=bool(self.allow_multiple),
            version=self.version,
        )
        return StartCall(request, self.wait, DryRunRequest(self.answers, self.from_run) if self.dry_run else None)


def read_trigger(workflow: str, headers: Headers, query: bytes, body: bytes | Blob, now: Clock) -> StartCall:
    """Read a start whose whole body is the input of the run."""
    options = read_options(headers, query, now)
    refuse_if_any(options.problems, _MESSAGE)
    return options.call(workflow, body.document() if isinstance(body, Blob) else read_json(body, empty={}))


def read_execute(workflow: str, headers: Headers, query: bytes, body: bytes, now: Clock) -> StartCall:
    """Read a start whose body is an envelope. Refuse unknown fields."""
    options = read_options(headers, query, now)
    problems = options.problems
    envelope = Fields(normalize_names(object_body(body, _MESSAGE), _ENVELOPE_NAMES, problems), "", problems)
    _take_envelope(envelope, options, now)
    tenant = envelope.text("tenant_id", most=ID_LIMIT)
    priority = envelope.integer("priority", least=-LARGEST_PRIORITY, most=LARGEST_PRIORITY)
    extra = {"principal": _principal(envelope), "spec": envelope.get("spec")}
    correlation = envelope.text("correlation_id", most=LONGEST_CORRELATION)
    if correlation is not None:
        extra["correlation_id"] = correlation
    call = options.call(workflow, envelope.values.get("trigger", {}), priority=priority, extra=extra)
    return replace(call, tenant=tenant)


def read_options(headers: Headers, query: bytes, now: Clock, known: Aliases = _OPTIONS) -> Options:
    """Read the options in headers and query. The headers and the rest of the query become input of the run."""
    options = Options(read_headers(headers), {}, Problems())
    request_id = options.headers.get("idempotency-key")
    if request_id is not None:
        options.request_id = read_request_id(request_id, "Idempotency-Key", options.problems)
    seen: set[str] = set()
    for name, value in query_pairs(query):
        ours = known.get(name)
        if ours is None:
            options.query[name] = value
        elif ours == "label":
            _add_label(options, name, value)
        elif ours in seen:
            options.problems.add(name, "is given twice")
        else:
            seen.add(ours)
            _set(options, ours, name, value, now)
    return options


def request_id_of(headers: Headers) -> str | None:
    """Return the request id in the headers. Raise InvalidInput if it is not valid."""
    problems = Problems()
    text = read_headers(headers).get("idempotency-key")
    found = None if text is None else read_request_id(text, "Idempotency-Key", problems)
    refuse_if_any(problems, _MESSAGE)
    return found


def read_request_id(text: str, path: str, problems: Problems) -> str | None:
    """Read a request id. Add a problem under `path` and return `None` if it is not valid."""
    return _tried(lambda: word_of(text, ID_LIMIT), path, problems)


def _set(options: Options, ours: str, path: str, value: str, now: Clock) -> None:
    match ours:
        case "start_at":
            options.start_at = _tried(lambda: _start_at(value, now), path, options.problems)
        case "wait":
            options.wait = _tried(lambda: wait_of(value), path, options.problems)
        case "version":
            options.version = _tried(lambda: version_of(value), path, options.problems)
        case "allow_multiple":
            options.allow_multiple = _tried(lambda: flag_of(value), path, options.problems)
        case "dry_run":
            options.dry_run = _tried(lambda: flag_of(value), path, options.problems)
        case "from_run":
            options.from_run = _tried(lambda: word_of(value, ID_LIMIT), path, options.problems)
        case _:
            options.hero = _tried(lambda: pair_of(value), path, options.problems)


def _start_at(text: str, now: Clock) -> Instant:
    """Read an instant, or a duration from now."""
    return instant_of(text) if "-" in text or "T" in text else now() + micros(seconds_of(text))


def _add_label(options: Options, path: str, text: str) -> None:
    pair = _tried(lambda: pair_of(text), path, options.problems)
    if pair is None:
        return
    key, value = pair
    if options.labels.setdefault(key, value) != value:
        options.problems.add(path, f"the label {key!r} is given twice")
    elif len(options.labels) > MOST_LABELS:
        options.problems.add(path, f"at most {MOST_LABELS} labels are allowed")


def _take_envelope(envelope: Fields, options: Options, now: Clock) -> None:
    """Read the options in the envelope. An option that is also in the query or headers must have the same value."""
    names = ("request_id", "start_at", "hero", "allow_multiple", "version", "dry_run", "from_run")
    before = {name: getattr(options, name) for name in names}
    request_id, start_at = envelope.get("request_id"), envelope.get("start_at")
    if request_id is not None:
        text = envelope.text("request_id", most=ID_LIMIT)
        options.request_id = None if text is None else read_request_id(text, "requestId", options.problems)
    if start_at is not None:
        text = envelope.text("start_at", most=ID_LIMIT)
        if text is not None:
            _set(options, "start_at", "startAt", text, now)
    if envelope.get("allow_multiple") is not None:
        options.allow_multiple = envelope.boolean("allow_multiple", False)
    if envelope.get("dry_run") is not None:
        options.dry_run = envelope.boolean("dry_run", False)
    if envelope.get("from_run") is not None:
        options.from_run = envelope.text("from_run", most=ID_LIMIT)
    options.answers = envelope.get("answers")
    version = envelope.get("version")
    if version is not None:
        text = str(version) if isinstance(version, str | int) and not isinstance(version, bool) else ""
        options.version = _tried(lambda: version_of(text), "version", options.problems)
    _take_labels(envelope, options)
    _take_hero(envelope, options)
    for name, was in before.items():
        if was is not None and getattr(options, name) != was:
            options.problems.add(name, "is given in two places, and they differ")


def _take_labels(envelope: Fields, options: Options) -> None:
    labels = envelope.mapping("labels") or {}
    inner = Fields(labels, "labels", options.problems)
    for key, value in labels.items():
        if not isinstance(value, str):
            inner.wrong(key, "text")
        else:
            _add_label_pair(options, inside("labels", key), key, value)


def _add_label_pair(options: Options, path: str, key: str, value: str) -> None:
    if ":" in key:
        options.problems.add(path, "the name of a label has no colon")
    else:
        _add_label(options, path, f"{key}:{value}")


def _take_hero(envelope: Fields, options: Options) -> None:
    written = envelope.get("hero")
    if isinstance(written, str):
        options.hero = _tried(lambda: pair_of(written), "hero", options.problems)
        return
    block = envelope.mapping("hero")
    if block is None:
        return
    fields = Fields(normalize_names(block, _HERO, options.problems, "hero"), "hero", options.problems)
    kind, id_ = fields.text("type", most=200), fields.text("id", most=200)
    for name in ("type", "id"):
        if fields.get(name) is None:
            options.problems.add(fields.at(name), "is missing")
    if kind is not None and ":" in kind:  # filters are written `type:id`, so no filter could match this type
        options.problems.add(fields.at("type"), "has a colon, which is not allowed here")
    options.hero = (kind, id_) if kind is not None and id_ is not None else None


def _principal(envelope: Fields) -> Principal:
    """Return the principal that the envelope asks for. The command checks whether the caller may."""
    block = envelope.mapping("principal")
    if block is None:
        return SYSTEM
    fields = Fields(normalize_names(block, _PRINCIPAL, envelope.problems, "principal"), "principal", envelope.problems)
    if fields.get("user_id") is None:
        envelope.problems.add("principal.userId", "is missing")
    user_id, name = fields.text("user_id", most=200), fields.text("display_name", most=200)
    return Principal(user_id or "", name, fields.text("email", most=320))


def _tried(read: Callable[[], T], path: str, problems: Problems) -> T | None:
    try:
        return read()
    except (ValueError, InvalidInput) as error:
        problems.add(path, str(error))
        return None


#: What 200 means for a start.
_KNOWN_OR_DRY: Final = "The request id is known: this is the run it started. Or a dry run: what the run would do."
BASE: Final = "/api/v1/executions"
WORKFLOWS: Final = "/api/v1/workflows"
_ENVELOPE_SCHEMA: Final = takes(
    record_schema(
        {
            "requestId": Schema(
                type=OpenAPIType.STRING, max_length=ID_LIMIT, description="One id starts at most one run."
            ),
            "principal": record_schema({"userId": TEXT, "displayName": TEXT, "email": TEXT}, required=["userId"]),
            "trigger": Schema(description="What becomes `trigger.body`, any JSON value."),
            "spec": ANYTHING,
            "correlationId": Schema(
                type=OpenAPIType.STRING,
                max_length=LONGEST_CORRELATION,
                description="An id of the caller, for the run and all runs below it.",
            ),
            "priority": INTEGER,
            "tenantId": Schema(type=OpenAPIType.STRING, description="The name of your tenant; another one is refused."),
            "labels": Schema(type=OpenAPIType.OBJECT, additional_properties=TEXT),
            "hero": record_schema({"type": TEXT, "id": TEXT}, required=["type", "id"]),
            "allowMultiple": Schema(
                type=OpenAPIType.BOOLEAN,
                description="Start beside an active run of that hero, even with `one_per_hero`.",
            ),
            "version": Schema(
                one_of=[INTEGER, TEXT],
                description="The version to run, a number; `draft` runs the draft. The current one by default.",
            ),
            "startAt": Schema(type=OpenAPIType.STRING, description="An instant, or a time from now such as `10m`."),
            "dryRun": Schema(type=OpenAPIType.BOOLEAN, description="Start nothing and say what the run would do."),
            "answers": Schema(
                type=OpenAPIType.OBJECT,
                additional_properties=True,
                description="Of a dry run: the answers to effects, by step. Each is a value, or says more with `$`.",
            ),
            "fromRun": Schema(type=OpenAPIType.STRING, description="Of a dry run: take answers from this past run."),
        }
    ),
    {
        "requestId": "ext-event-12345",
        "principal": {"userId": "U123", "displayName": "Doug", "email": "doug@example.com"},
        "trigger": {"source": "channel-x", "userId": "abc"},
        "priority": 5,
        "labels": {"team": "shop"},
        "hero": {"type": "order", "id": "123"},
    },
)


def is_execution(request: AnyRequest) -> bool:
    """Return whether the path of the request is below `/executions`."""
    return request.scope["path"].startswith(BASE)


def started_document(started: StartAnswer, ended: RunRow | None = None) -> StartedDocument:
    """Build the document of an accepted run. `ended` is its row if the request waited for the end of the run."""
    status = started.status if ended is None else ended.status
    is_pending = status == Status.PENDING
    begins = as_datetime(started.started_at)
    document = StartedDocument(
        run_id=show(RUN, started.run),
        workflow_id=show(WORKFLOW, started.workflow),
        status=status,
        started_at=None if is_pending else begins,
        start_at=begins if is_pending else None,
    )
    if ended is not None:
        document.finished_at = NULL if ended.ended_at is None else as_datetime(ended.ended_at)
        document.output = NULL if ended.output is None else msgspec.Raw(ended.output)
        document.error = NULL if ended.error is None else ended.error
    return document


@post(
    WORKFLOWS + "/{workflow:str}/trigger",
    tags=["starts"],
    summary="Start a run",
    operation_class=operation(*START_PARAMETERS, body=DATA),
    responses={
        **answers(201, One[StartedDocument], "The run was started.", examples.one(examples.STARTED)),
        **answers(200, One[StartedDocument] | One[DryRunDocument], _KNOWN_OR_DRY),
        **refusals(400, 403, 404, 409, 413),
    },
)
async def trigger_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[Any]:
    """Start a run. The whole body is `trigger.body`; over 256 KB it becomes a blob, which that names. The rest of the
    query is `trigger.query`. When this answers, the run is durable and will come to an end. With `dry_run` nothing is
    started or written: effects are answered from the run `from_run`, or from examples, and the answer has the route,
    each rendered request and the output."""
    scope = request.scope
    body = await read_body(request.receive, large_input(commands(request), workflow, scope))
    call = read_trigger(workflow, scope["headers"], scope["query_string"], body, commands(request).now)
    if call.dry is not None:
        return await _dry_run(request, call.request, call.dry)
    started, ended = await _start(request, call)
    document = started_document(started, ended)
    headers = {"Location": prefix_of(request.scope) + location_of(document)}
    return Response(One(document), status_code=201 if started.is_new else 200, headers=headers)


@post(
    WORKFLOWS + "/{workflow:str}/execute",
    tags=["starts"],
    summary="Start a run with an envelope",
    status_code=202,
    operation_class=operation(*START_PARAMETERS, body=_ENVELOPE_SCHEMA),
    responses={
        **answers(202, One[ExecutionStarted], "The run was started.", examples.one(examples.EXECUTION)),
        **answers(200, One[ExecutionStarted] | One[DryRunDocument], _KNOWN_OR_DRY),
        **refusals(400, 403, 404, 409, 413),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def execute_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[Any]:
    """Start a run. The envelope's `trigger` is `trigger.body`. The default `principal` is the system. Names may be
    written in snake_case too. With `dryRun` nothing is started or written: effects are answered from `answers`, from
    the run `fromRun`, or from examples."""
    call = read_execute(workflow, *await _parts(request))
    if call.tenant is not None:
        await _work_in(request, call.tenant)
    if call.dry is not None:
        return await _dry_run(request, call.request, call.dry)
    started, ended = await _start(request, call)
    document = _execution(started_document(started, ended))
    place = {"Location": document.status_url}
    return Response(One(document), status_code=202 if started.is_new else 200, headers=place)


def _execution(started: StartedDocument) -> ExecutionStarted:
    return ExecutionStarted(
        execution_id=started.run_id,
        run_id=started.run_id,
        workflow_id=started.workflow_id,
        status=started.status,
        status_url=f"{BASE}/{started.run_id}",
        finished_at=started.finished_at,
        output=started.output,
        error=started.error,
    )


async def start(
    commands: Commands, read: ReadStart, workflow: str, scope: HTTPScope, body: bytes | Blob
) -> tuple[StartAnswer, float | None]:
    """Start the run of a request. Return it, and for how many seconds the answer waits for its end. Raise InvalidInput
    for a dry run: it has an answer of another kind."""
    call = read(workflow, scope["headers"], scope["query_string"], body, commands.now)
    if call.dry is not None:
        raise InvalidInput(_MESSAGE, [Problem("dry_run", "write it as it is, without percent signs")])
    return await commands.starts.start(call.request), call.wait


def large_input(commands: Commands, workflow: str, scope: HTTPScope, known: Aliases = _OPTIONS) -> Begin:
    """Return what begins the blob of an input that is too large for the journal, if the workflow can be started.
    `known` are the options in the query."""

    async def begin() -> BlobUpload:
        headers = read_headers(scope["headers"])
        refuse_coding(headers)
        options = read_options(scope["headers"], scope["query_string"], commands.now, known)
        refuse_if_any(options.problems, _MESSAGE)
        if options.dry_run:
            raise TooLarge(_LARGE_DRY_RUN)
        await commands.starts.require_startable(workflow)
        return await commands.blobs.begin(headers.get("content-type") or JSON_TYPE)

    return begin


def location_of(document: StartedDocument) -> str:
    """Return the path of a run that was started by `/trigger`."""
    return f"{WORKFLOWS}/{document.workflow_id}/runs/{document.run_id}"


async def _work_in(request: AnyRequest, tenant: str) -> None:
    """Go on in the tenant that a request names. Raise Forbidden unless it is the caller's own.

    A caller that is not checked may name any tenant."""
    bound = caller_of(request.scope)
    if tenant == await bound.commands.system.tenant_name():
        return
    if bound.caller.via not in ("loose", "local"):
        raise Forbidden(f"tenantId is {tenant!r}, which is not the tenant of {bound.caller.name!r}; leave it out")
    found = await bound.commands.system.find_tenant(tenant)
    if found is None:
        raise InvalidInput(_MESSAGE, [Problem("tenantId", f"there is no tenant {tenant!r}")])
    put_caller(request.scope, context_of(request.scope).bound(replace(bound.caller, tenant=found)))


async def _parts(request: AnyRequest) -> tuple[Headers, bytes, bytes, Clock]:
    """Return what a start is read from."""
    scope = request.scope
    return scope["headers"], scope["query_string"], await request.body(), commands(request).now


async def _start(request: AnyRequest, call: StartCall) -> tuple[StartAnswer, RunRow | None]:
    """Start a run. If the request waits, return its row too, after the run has ended or the time is over.

    The run is durable before the wait. If it cannot be read then, because the database is away or this process stops,
    the answer is that of a start without a wait: a refusal would make the caller start it again."""
    started = await commands(request).starts.start(call.request)
    if call.wait is None:
        return started, None
    try:
        await feeds(request).ended(tenant_of(request), started.run, call.wait)
        return started, await commands(request).runs.row(show(RUN, started.run))
    except (StoreError, Unavailable, NotFound):
        return started, None


async def _dry_run(request: AnyRequest, start: StartRequest, asked: DryRunRequest) -> Response[One[DryRunDocument]]:
    found, version = await commands(request).dry_runs.run(start, asked)
    return Response(One(dry_run_document(found, version)), status_code=200)


ROUTES = [trigger_workflow, execute_workflow]
