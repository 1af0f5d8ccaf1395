"""The parameters that several routes share, as OpenAPI tells them."""

from __future__ import annotations

from typing import Final

from litestar.openapi.spec import Parameter, Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType

from detent.api.filters import MOST_ROWS, ROWS, SCOPES
from detent.api.operations import BOOLEAN, INTEGER, TEXT, header, query, texts
from detent.authoring.compiled import TriggerType
from detent.run.status import Status

_INSTANT: Final = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.DATE_TIME)
_STATUSES: Final = Schema(
    type=OpenAPIType.ARRAY,
    items=Schema(type=OpenAPIType.STRING, enum=[*(str(status) for status in Status), *SCOPES]),
)
_ROWS: Final = Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=MOST_ROWS, default=ROWS)

_STATUS_HELP: Final = (
    "Only runs with this status; several mean any of them. `active` are all that have not ended, `performing` those "
    "that a node has in its hands, `ready` those that none has and that are not paused."
)

PAGE_PARAMETERS: Final = (
    query("limit", _ROWS, f"How many at most, 1 to {MOST_ROWS}.", ROWS),
    query("cursor", TEXT, "The `next_cursor` of the page before. It belongs to this list, filter and order."),
)
RUN_PARAMETERS: Final[tuple[Parameter, ...]] = (
    query("status", _STATUSES, _STATUS_HELP, ["failed", "timeout"]),
    query("workflow", TEXT, "Only runs of this workflow, by id or name.", "order-processing"),
    query("trigger", TEXT, f"Only runs started by this: {', '.join(TriggerType)}, or a trigger's id.", "cron"),
    query("hero", TEXT, "Only runs about this, `type:id`.", "order:123"),
    query("label", texts(), "Only runs with this label, `key:value`; several must all be there.", ["team:shop"]),
    query("request_id", TEXT, "Only the run that this request id started.", "order-123"),
    query("origin", TEXT, "Only runs made from this run by retry, rerun or fork.", "run_01k5c1v6p2f7x8y9z0a1b2c3d4"),
    query("started_after", _INSTANT, "Only runs that began at this instant or later.", "2026-02-22T00:00:00Z"),
    query("started_before", _INSTANT, "Only runs that began before this instant.", "2026-02-23T00:00:00Z"),
    query(
        "sort",
        Schema(type=OpenAPIType.STRING, enum=["-started_at", "started_at"], default="-started_at"),
        "Newest first, or oldest first.",
        "started_at",
    ),
    *PAGE_PARAMETERS,
)
WAIT: Final = query("wait", TEXT, "Keep the answer back until the run has ended, at most so long (up to 60s).", "30s")
LOOK_PARAMETERS: Final = (
    query("include", TEXT, "Further lists: `actions`, `resources`, `events`, `children`, with commas.", "events"),
    query("limit", INTEGER, "How many of each further list, 1 to 200; 100 if nothing is said.", 100),
    query("offset", INTEGER, "How many of each further list to leave out first.", 0),
    WAIT,
)
REQUEST_ID: Final = header(
    "Idempotency-Key",
    "A request id, up to 255 characters. The same again gives the run that was started first.",
    "order-123",
)
ALLOW_MULTIPLE: Final = query(
    "allow_multiple", BOOLEAN, "Start it beside an active run of that hero, even where `one_per_hero` is said.", True
)
START_PARAMETERS: Final = (
    REQUEST_ID,
    query("start_at", TEXT, "When it begins: an instant, or a time from now. Until then it is pending.", "10m"),
    WAIT,
    query("label", texts(), "A label of the run, `key:value`.", ["team:shop"]),
    query("hero", TEXT, "What the run is about, `type:id`.", "order:123"),
    ALLOW_MULTIPLE,
)
