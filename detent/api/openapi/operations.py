"""Parts of the OpenAPI document that the types of a route do not have: parameters, request bodies and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import (
    Example,
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    Parameter,
    Reference,
    RequestBody,
    Schema,
    Tag,
)
from litestar.openapi.spec.base import BaseSchemaObject
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType
from litestar.types import Method

from detent.api.filters import SCOPES
from detent.api.request import MOST_ROWS, ROWS, camel_case
from detent.commands.lists import VIEWS
from detent.documents.refusals import Refusal
from detent.forms.compiled import TriggerType
from detent.run.stage import StageKind
from detent.run.status import Status

BOOLEAN: Final = Schema(type=OpenAPIType.BOOLEAN)
INTEGER: Final = Schema(type=OpenAPIType.INTEGER)
TEXT: Final = Schema(type=OpenAPIType.STRING)
ANYTHING: Final = Schema(description="Any JSON value.")
_ANY: Final = Schema(description="Any JSON value, at most 256 KB.")
_DEFINITION: Final = Schema(
    type=OpenAPIType.OBJECT,
    description="A workflow definition of the steps form (`name`, `tasks`), the graph form (`id`, `nodes`; its schema "
    "is at `/api/v1/schemas/graph`) or the rule form (`name`, `actions`, `edges`; its schema is at "
    "`/api/v1/schemas/rule`), in JSON or YAML, at most 1 MB.",
    properties={
        "name": TEXT,
        "tasks": Schema(type=OpenAPIType.OBJECT),
        "id": TEXT,
        "nodes": Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.OBJECT)),
        "actions": Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.OBJECT)),
        "edges": Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.OBJECT)),
    },
)
_DEFINITION_EXAMPLE: Final = {
    "name": "order-processing",
    "tasks": {
        "charge": {
            "url": "https://shop.example/api/charge",
            "body": {"order_id": "{{trigger.body.order_id}}"},
            "retries": 3,
        },
        "receipt": {
            "needs": ["charge"],
            "if": "tasks.charge.status_code == 200",
            "url": "https://shop.example/api/send-receipt",
        },
    },
}
#: The parts of the API, in the order of the documentation page.
TAGS: Final = [
    Tag("workflows", "Definitions, and their versions."),
    Tag("rules", "Rules as an editor writes them: actions and edges that run when a record of an entity changes."),
    Tag("entities", "The kinds of records that rules watch, and the types that rules are made of."),
    Tag("alerts", "What actions of rules raise: list it, acknowledge it, resolve it."),
    Tag("templates", "Patterns that become workflows, and texts that become documents."),
    Tag("starts", "Start runs: at once or later, once for each request id."),
    Tag("runs", "Read runs, control them, and run them again. `/executions` is another name of `/runs`."),
    Tag("catalog", "What steps can call: connectors and their actions."),
    Tag("secrets", "Values that steps send. They are set here, and no answer has one."),
    Tag("credentials", "What steps authenticate with. They are set here, and no answer has a sealed part."),
    Tag("triggers", "What starts runs by itself: schedules, webhooks and events."),
    Tag("events", "Send events to every workflow that listens for them."),
    Tag("webhooks", "Where other systems start runs."),
    Tag("callbacks", "Where other systems answer a wait step."),
    Tag("blobs", "Large payloads that runs name: list and download them."),
    Tag("dead letters", "What was given up: list it, try it again, or delete it."),
    Tag("keys", "Who may ask: keys of the API, what each may do, and until when."),
    Tag("tenants", "The tenants of an installation: none sees what another has."),
    Tag("people", "People who sign in, and the sessions of their browsers."),
    Tag("audit", "Who changed what, and what was refused."),
    Tag("system", "Nodes, queues, storage, and who asks."),
    Tag("health", "For load balancers and supervisors."),
]
#: The parameters of paths by name: description and example.
_IN_PATH: Final = {
    "workflow": ("The workflow's id or its name.", "order-processing"),
    "number": ("The number of a version.", 1),
    "version": ("The number of a version, `current` or `draft`.", "current"),
    "run": ("The run's id.", "run_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    "letter": ("The id of the dead letter.", "dlt_01k5c1y0s5j7x8y9z0a1b2c3d4"),
    "blob": ("The id of the blob.", "blob_01k5c1y0s5j7x8y9z0a1b2c3d4"),
    "step": ("The step's name.", "charge"),
    "name": ("The signal's name.", "paid"),
    "hero_type": ("The type of what the runs are about.", "User"),
    "hero_id": ("Its id.", "42"),
    "token": ("The token at the end of the callback's address.", "AZk3…"),
    "trigger": ("The trigger's id.", "trg_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    "firing": ("The firing's id.", "fir_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    "form": ("The form of definitions.", "graph"),
    "connector": ("The connector's id.", "slack"),
    "action": ("The action's id.", "slack.post-message"),
    "template": ("The template's id.", "mobile-app"),
    "rule": ("The rule's id or its key.", "order-status-notification"),
    "edge": ("The edge's id.", "edge_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    "entity": ("The entity's id or its name.", "order"),
    "secret": ("The name of the secret.", "STRIPE_KEY"),
    "credential": ("The name of the credential.", "crm"),
    "alert": ("The alert's id.", "alt_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    "key": ("The key's id: the letters after `dk_`.", "k7m2p9xq"),
    "user": ("The person's id or name.", "alice"),
    "session": ("The session's id, or `current`.", "ses_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    "template_set": ("The id of a template set.", "project-briefs"),
    "tenant": ("The name of the tenant.", "shop"),
}


@dataclass
class _Whole(BaseSchemaObject):
    """The value of an example. Litestar would omit values that are `None`."""

    value: Any = None

    def to_schema(self) -> Any:
        return self.value


def example_of(value: Any) -> Example:
    return Example(value=_Whole(value))


def query(name: str, schema: Schema, description: str, example: Any = None) -> Parameter:
    """Build a parameter of the query. A parameter that is an array may be given several times."""
    return Parameter(name=name, param_in="query", schema=schema, description=description, example=example)


def header(name: str, description: str, example: str) -> Parameter:
    """Build a header that a route reads."""
    return Parameter(name=name, param_in="header", schema=TEXT, description=description, example=example)


def texts() -> Schema:
    """Build the schema of a parameter that may be repeated."""
    return Schema(type=OpenAPIType.ARRAY, items=TEXT)


def record_schema(properties: Mapping[str, Schema], *, required: Sequence[str] = ()) -> Schema:
    """Build the schema of a body with these fields and no others."""
    return Schema(
        type=OpenAPIType.OBJECT,
        properties=dict(properties),
        required=list(required) or None,
        additional_properties=False,
    )


def takes(schema: Schema, example: Any, *kinds: str, required: bool = False) -> RequestBody:
    """Build a request body with an example."""
    shown = {"example": example_of(example)}
    content = {
        kind: OpenAPIMediaType(schema=schema, examples={**shown} if kind == "application/json" else None)
        for kind in kinds or ("application/json",)
    }
    return RequestBody(content=content, required=required)


def operation(*parameters: Parameter, body: RequestBody | None = None, texts: Sequence[str] = ()) -> type[Operation]:
    """Return the class of an operation with this body and these parameters, in addition to those of its path.

    `texts` are the media types of texts that it may return instead of JSON."""

    class Described(Operation):  # no dataclass of its own: making one takes a millisecond, for each route
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.request_body = body or self.request_body
            in_path = [_described(parameter) for parameter in self.parameters or ()]
            names = {parameter.name for parameter in in_path if isinstance(parameter, Parameter)}
            self.parameters = [*in_path, *(each for each in parameters if each.name not in names)] or None
            _drop_foreign_refusal(self)
            done = (self.responses or {}).get("200")
            if texts and isinstance(done, OpenAPIResponse) and done.content is not None:
                # A reader of YAML has a value and not its text.
                schemas = {text: _ANY if text.endswith("yaml") else TEXT for text in texts}
                done.content.update({text: OpenAPIMediaType(schema=schema) for text, schema in schemas.items()})

    return Described


def _drop_foreign_refusal(described: Operation) -> None:
    """Remove the 400 that Litestar adds for path parameters. Ours are texts and always valid, and the added error does
    not have our form."""
    bad = (described.responses or {}).get("400")
    shapes = [media.schema for media in (bad.content or {}).values()] if isinstance(bad, OpenAPIResponse) else []
    if described.responses and any(isinstance(shape, Schema) for shape in shapes):
        del described.responses["400"]


def _described(parameter: Parameter | Reference) -> Parameter | Reference:
    if isinstance(parameter, Reference) or parameter.param_in != "path" or parameter.name not in _IN_PATH:
        return parameter
    description, example = _IN_PATH[parameter.name]
    return replace(parameter, description=description, example=example, schema=TEXT)


DEFINITION: Final = takes(_DEFINITION, _DEFINITION_EXAMPLE, "application/json", "application/yaml", required=True)
DATA: Final = takes(_ANY, {"order_id": 123, "email": "alice@example.com"})
#: A route without parameters except those of its path.
Plain: Final = operation()
#: A route whose whole body is data.
TakesAnything: Final = operation(body=DATA)
#: A route whose body is a workflow definition.
TakesDefinition: Final = operation(body=DEFINITION)


def operation_id(handler: HTTPRouteHandler, method: Method, path: list[Any]) -> str:
    """Return the name of an operation for client generators: the name of its handler. If a handler has several paths,
    the name also tells the path."""
    name = camel_case(handler.handler_name)
    if len(handler.paths) == 1:
        return name
    words = [part for part in path if isinstance(part, str)]
    if "executions" in words:
        return name.replace("Run", "Execution")
    if "webhook" in words:
        return f"{name}ByWebhook"
    if "full" in words or "workflow" in words:
        return f"{name}{'Full' if 'full' in words else 'Bare'}"
    return f"{name}OfWorkflow" if "workflows" in words else name


def refusals(*statuses: int) -> dict[int, ResponseSpec]:
    """Build the error answers of a route. Every route can answer 503, when the database cannot be reached."""
    return {status: _refusal(status) for status in (*statuses, 503)}


def _refusal(status: int) -> ResponseSpec:
    description, error, code, message = _WHY[status]
    value: dict[str, Any] = {"error": error, "code": code, "message": message}
    if status == 400:
        value["details"] = {"validation_errors": [{"field": "limit", "message": "must be a number from 1 to 200"}]}
    examples = [example_of(value)]
    return ResponseSpec(Refusal, generate_examples=False, description=description, examples=examples)


def answers(status: int, container: Any, description: str, example: Any = None) -> dict[int, ResponseSpec]:
    """Build a success answer with an example."""
    examples = None if example is None else [example_of(example)]
    return {status: ResponseSpec(container, generate_examples=False, description=description, examples=examples)}


#: By status: the description, then the error of the example.
_WHY: Final = {
    400: (
        "The request is invalid; `details` says where.",
        *("invalid_argument", "WFENG005", "the list cannot be read"),
    ),
    401: (
        "The request has no valid key, token, session or signature.",
        *("unauthenticated", "unauthenticated", "this needs an API key, sent as `Authorization: Bearer dk_...`"),
    ),
    403: (
        "The caller may not do this, or not from this origin or under this host name.",
        *("permission_denied", "permission_denied", "this needs the scope workflows:manage"),
    ),
    404: ("Not found.", *("not_found", "not_found", "there is no workflow 'x'")),
    409: ("The current state does not allow this.", *("conflict", "WFENG002", "Cannot cancel a finished workflow")),
    410: ("It has expired, or is not stored any more.", *("gone", "webhook_expired", "Webhook expired")),
    412: (
        "It has changed since it was read.",
        *(
            "precondition_failed",
            "precondition_failed",
            "the workflow 'x' has changed since it was read; read it again",
        ),
    ),
    413: ("The body is larger than its limit.", *("too_large", "too_large", "the body is larger than its limit")),
    416: (
        "The blob has no byte in that range.",
        *("invalid_argument", "no_such_range", "the blob has 10 bytes, and none of them is in that range"),
    ),
    429: (
        "Too many unknown tokens from this source.",
        *("limit_exceeded", "limit_exceeded", "too many unknown callback addresses"),
    ),
    502: (
        "The run has ended without an answer to its caller.",
        *("run_failed", "run_failed", "the run has ended as failed and has no answer"),
    ),
    503: (
        "Not available now; try again after `Retry-After` seconds.",
        *("unavailable", "unavailable", "the disk of the database is full; try again"),
    ),
}


# Parameters that several routes share.


_INSTANT: Final = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.DATE_TIME)
_STATUSES: Final = Schema(
    type=OpenAPIType.ARRAY,
    items=Schema(type=OpenAPIType.STRING, enum=[*(str(status) for status in Status), *SCOPES]),
)
_STAGES: Final = Schema(
    type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.STRING, enum=[str(kind) for kind in StageKind])
)
_VIEWS: Final = Schema(type=OpenAPIType.STRING, enum=list(VIEWS))
_ROWS: Final = Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=MOST_ROWS, default=ROWS)

_STATUS_HELP: Final = (
    "Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs "
    "that a node owns, `ready` runs that no node owns and that are not paused."
)

PAGE_PARAMETERS: Final = (
    query("limit", _ROWS, f"How many at most, 1 to {MOST_ROWS}.", ROWS),
    query("cursor", TEXT, "The `next_cursor` of the page before. It belongs to this list, filter and order."),
)
_TEXT_HELP: Final = (
    "Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of "
    "a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits."
)
_VIEW_HELP: Final = (
    "A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 "
    "hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`."
)
RUN_FILTER: Final[tuple[Parameter, ...]] = (
    query("status", _STATUSES, _STATUS_HELP, ["failed", "timeout"]),
    query("workflow", TEXT, "Only runs of this workflow, by id or name.", "order-processing"),
    query("trigger", TEXT, f"Only runs started by this: {', '.join(TriggerType)}, map, or a trigger's id.", "cron"),
    query("hero", TEXT, "Only runs about this, `type:id`.", "order:123"),
    query("label", texts(), "Only runs with this label, `key:value`; several mean all of them.", ["team:shop"]),
    query("request_id", TEXT, "Only the run that this request id started.", "order-123"),
    query("origin", TEXT, "Only runs made from this run by retry, rerun or fork.", "run_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    query(
        "parent", TEXT, "Only runs that this run started, with the pages of its maps.", "run_01k5c1v6p2f7x8y9z0a1b2c3d4"
    ),
    query("started_after", _INSTANT, "Only runs accepted at this instant or later.", "2026-02-22T00:00:00Z"),
    query("started_before", _INSTANT, "Only runs accepted before this instant.", "2026-02-23T00:00:00Z"),
    query("stage", _STAGES, "Only open runs at this stage; several mean any of them.", ["waiting", "person"]),
    query("version", INTEGER, "Only runs of this version of their workflow.", 3),
    query("ids", TEXT, "Only these runs: up to 200 ids with commas.", "run_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    query("text", TEXT, _TEXT_HELP, "payment"),
    query("error", TEXT, "Only runs whose error has this text, whatever the case of letters.", "refused"),
    query("view", _VIEWS, _VIEW_HELP, "failing"),
)
RUN_PARAMETERS: Final[tuple[Parameter, ...]] = (
    *RUN_FILTER,
    query("include", Schema(type=OpenAPIType.STRING, enum=["progress"]), "Add `progress` to each run.", "progress"),
    query(
        "sort",
        Schema(type=OpenAPIType.STRING, enum=["-started_at", "started_at"], default="-started_at"),
        "Newest first, or oldest first.",
        "started_at",
    ),
    *PAGE_PARAMETERS,
)
ITEM_PARAMETERS: Final[tuple[Parameter, ...]] = (
    query("status", TEXT, "Only items with this status, such as `failed`, `success` or `running`.", "failed"),
    *PAGE_PARAMETERS,
)
WAIT: Final = query("wait", TEXT, "Delay the answer until the run has ended, at most so long (up to 60s).", "30s")
LOOK_PARAMETERS: Final = (
    query("include", TEXT, "Further lists: `actions`, `resources`, `events`, `children`, with commas.", "events"),
    query("limit", INTEGER, "How many of each further list, 1 to 200; 100 by default.", 100),
    query("offset", INTEGER, "How many of each further list to leave out at the beginning.", 0),
    WAIT,
)
REQUEST_ID: Final = header(
    "Idempotency-Key",
    "A request id, up to 255 characters. The same id again returns the run that it started first.",
    "order-123",
)
ALLOW_MULTIPLE: Final = query(
    "allow_multiple", BOOLEAN, "Start it beside an active run of that hero, even with `one_per_hero`.", True
)
START_PARAMETERS: Final = (
    REQUEST_ID,
    query("start_at", TEXT, "When it begins: an instant, or a time from now. Until then it is pending.", "10m"),
    WAIT,
    query("label", texts(), "A label of the run, `key:value`.", ["team:shop"]),
    query("hero", TEXT, "What the run is about, `type:id`.", "order:123"),
    ALLOW_MULTIPLE,
    query("version", TEXT, "The version to run, a number; `draft` runs the draft. The current one by default.", "1"),
    query("dry_run", BOOLEAN, "Start nothing, and say what the run would do.", False),
    query(
        "from_run",
        TEXT,
        "Of a dry run: take the answers to effects from this past run.",
        "run_01h455vb4pex5vsknk084sn02q",
    ),
)
