"""The operations on runs, events and health: each function describes one call or one exchange."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypedDict, Unpack
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from msgspec import UNSET, UnsetType

from detent.client.calls import (
    JSON,
    PAGE,
    Answer,
    Call,
    Exchange,
    Pages,
    RetryPolicy,
    Seconds,
    Wait,
    When,
    bare,
    duration,
    given,
    header_text,
    hero_text,
    instant,
    json_body,
    moment,
    one,
    page,
    pairs,
    repeated,
    seconds,
    url_path,
)
from detent.client.errors import RunFailed, StillRunning
from detent.documents.answers import Health, Json
from detent.documents.dry_run import DryRunDocument
from detent.documents.journal import PastAttemptDocument, TimelineEntry
from detent.documents.lists import SearchPage
from detent.documents.outline import GraphDocument, OutlineDocument, StepDetail
from detent.documents.overview import WaitItem
from detent.documents.runs import (
    BulkDocument,
    CallbackReceipt,
    EvaluationDocument,
    HierarchyDocument,
    ItemDocument,
    MoveDocument,
    MovesDocument,
    ResourceDocument,
    RetryPreviewDocument,
    RunDocument,
    RunSummary,
    SignalReceipt,
    StartedDocument,
    VerifyDocument,
    WhyDocument,
)
from detent.documents.triggers import EventReceipt
from detent.errors import NotFound

Action = Literal["cancel", "pause", "resume", "retry", "rerun"]
RetryVersion = Literal["same", "current"]

_run: Final = one(RunDocument)
_started: Final = one(StartedDocument)
_dry_run: Final = one(DryRunDocument)
_signal: Final = one(SignalReceipt)
_run_page: Final = bare(SearchPage[RunSummary])


class RunFilter(TypedDict, total=False):
    """A filter of runs. Every key narrows the list.

    `status` is one status or several, or `active`, `ready` or `performing`. `workflow` is a name or id, `trigger` a
    type or the id of a trigger, `hero` a (type, id). A run must have all `labels`. `origin` is the run that was
    retried, rerun or forked, `parent` the run that started them as its children. The times bound when a run was
    accepted. `stage` is one stage of open runs or several, `ids` are up to 200 runs. `text` and `error` are parts of
    texts, `view` is the name of a saved view."""

    status: str | Iterable[str]
    workflow: str
    trigger: str
    hero: tuple[str, str] | str
    labels: Mapping[str, str]
    request_id: str
    origin: str
    parent: str
    started_after: datetime | str
    started_before: datetime | str
    stage: str | Iterable[str]
    version: int
    ids: Iterable[str]
    text: str
    error: str
    view: str


def start(
    workflow: str,
    body: Json = None,
    *,
    request_id: str | None = None,
    start_at: When | None = None,
    wait: Seconds | None = None,
    labels: Mapping[str, str] | None = None,
    hero: tuple[str, str] | str | None = None,
    allow_multiple: bool | None = None,
    version: int | Literal["draft"] | None = None,
) -> Call[StartedDocument]:
    """Start a run of a workflow. When this returns, the run is durable. `body` is `trigger.body`, by default `{}`.

    A repeated `request_id` starts nothing and returns the first run. `start_at` is an instant or a time from now. With
    `wait` the server delays its answer until the run has ended, at most so long (up to 60 s). Raise AlreadyActive if
    the workflow allows one active run per hero and there is one, unless `allow_multiple` is true. `version` is the
    version to run, by default the current one."""
    query = given(
        version=version,
        start_at=None if start_at is None else moment(start_at),
        wait=None if wait is None else duration(wait),
        hero=None if hero is None else hero_text(hero),
        allow_multiple=allow_multiple,
    )
    return Call(
        "POST",
        url_path("workflows", workflow, "trigger"),
        _started,
        query=[*query, *repeated("label", pairs(labels or {}))],
        body=json_body({} if body is None else body),
        holds=0.0 if wait is None else seconds(wait),
        **_named(request_id),
    )


def dry_run(
    workflow: str,
    body: Json = None,
    *,
    answers: Mapping[str, Json] | None = None,
    from_run: str | None = None,
    hero: tuple[str, str] | str | None = None,
    version: int | Literal["draft"] | None = None,
) -> Call[DryRunDocument]:
    """Return what a run of a workflow would do. Nothing is started and nothing is written.

    Effects are answered from `answers`, by step, then from the run `from_run`, then by examples. An answer is a value,
    or a mapping that says more: `{"$status": 503}`, `{"$fail": "no funds"}`, `{"$attempts": [...]}`."""
    envelope: dict[str, Json] = {"trigger": {} if body is None else body, "dryRun": True}
    if answers is not None:
        envelope["answers"] = dict(answers)
    if from_run is not None:
        envelope["fromRun"] = from_run
    query = given(version=version, hero=None if hero is None else hero_text(hero))
    return Call("POST", url_path("workflows", workflow, "execute"), _dry_run, query=query, body=json_body(envelope))


def list_all(*, sort: str | None = None, limit: int = PAGE, **which: Unpack[RunFilter]) -> Pages[RunSummary]:
    """Yield the runs that match a RunFilter, newest first (`sort="started_at"`: oldest first), `limit` per request."""
    query = [(name, text) for name, texts in filter_fields(which).items() for text in texts]
    return Pages(Call("GET", url_path("runs"), page(RunSummary), query=[*query, *given(sort=sort, limit=limit)]))


def list_page(
    *,
    cursor: str | None = None,
    sort: str | None = None,
    progress: bool = False,
    limit: int = PAGE,
    **which: Unpack[RunFilter],
) -> Call[SearchPage[RunSummary]]:
    """Return one page of the runs that match a RunFilter. `next_cursor` is the `cursor` of the next page.

    A search that no index helps with may stop before the page is full: `searched_until` then says how far it looked,
    and the next page goes on from there. `progress` adds to each run how many of its steps have ended."""
    query = [(name, text) for name, texts in filter_fields(which).items() for text in texts]
    query += given(include="progress" if progress else None, sort=sort, limit=limit, cursor=cursor)
    return Call("GET", url_path("runs"), _run_page, query=query)


def bulk(
    action: Action,
    which: RunFilter,
    *,
    everything: bool = False,
    dry_run: bool = True,
    limit: int = 1000,
    version: RetryVersion | None = None,
) -> Call[BulkDocument]:
    """Apply an action to the oldest `limit` runs that match a filter. Unless `dry_run` is false, only count them. An
    empty filter is refused unless `everything` is true. `version` is that of a retry: `same` or `current`."""
    chosen = {name: texts if name in _LISTS else texts[0] for name, texts in filter_fields(which).items()}
    body: dict[str, Any] = {"action": action, "filter": chosen, "dry_run": dry_run, "limit": limit}
    body |= ({"all": True} if everything else {}) | ({} if version is None else {"version": version})
    # A retry would change nothing more, but its answer would not count the runs that the first request changed.
    return Call(
        "POST", url_path("runs", "bulk"), one(BulkDocument), body=json_body(body), headers=JSON, repeatable=dry_run
    )


_LISTS: Final = frozenset({"status", "stage", "label"})


def filter_fields(which: RunFilter) -> dict[str, list[str]]:
    """Return the values of a filter as texts, by the names of the API."""
    spelled: dict[str, list[str]] = {}
    for name, value in which.items():
        match name, value:
            case "status" | "stage", str():
                spelled[name] = [value]
            case "status" | "stage", Iterable():
                spelled[name] = list(value)
            case "ids", Iterable():
                spelled[name] = [",".join(value)]
            case "labels", Mapping():
                spelled["label"] = pairs(value)
            case "hero", tuple():
                spelled[name] = [hero_text((value[0], value[1]))]
            case _, datetime():
                spelled[name] = [instant(value)]
            case _:
                spelled[name] = [str(value)]
    return spelled


def get(
    run: str, *, include: Sequence[str] = (), limit: int | None = None, offset: int | None = None
) -> Call[RunDocument]:
    """Return the run as it is now. `include` names further lists: `actions`, `resources`, `events`, `children`,
    `context`; `limit` and `offset` choose a part of each."""
    query = given(include=",".join(include) or None, limit=limit, offset=offset)
    return Call("GET", url_path("runs", run), _run, query=query)


def poll(run: str, wait: float) -> Call[RunDocument]:
    """Return the run when it has ended, or as it is after `wait` seconds."""
    return Call("GET", url_path("runs", run), _run, query=given(wait=duration(wait)), holds=wait)


def cancel(run: str) -> Call[RunDocument]:
    """Cancel the run. `cancel_requested` is true if its node has not applied it within two seconds."""
    return Call("POST", url_path("runs", run, "cancel"), _run)


def pause(run: str) -> Call[RunDocument]:
    """Pause the run: attempts in flight finish, and no new attempt starts."""
    return Call("POST", url_path("runs", run, "pause"), _run)


def resume(run: str) -> Call[RunDocument]:
    """Resume the run."""
    return Call("POST", url_path("runs", run, "resume"), _run)


def skip(run: str, step: str | None = None) -> Call[RunDocument]:
    """Skip a step, by default the one that the run is at, and go on with the next."""
    return _steered(run, "skip", {"step": step})


def reattempt(run: str, step: str | None = None, *, wait: float | None = None) -> Call[RunDocument]:
    """Run a step again after `wait` seconds, by default the step that the run is at."""
    return _steered(run, "reattempt", {"step": step, "wait": wait})


def finish(run: str) -> Call[RunDocument]:
    """Complete the run now. Steps that have not ended are skipped."""
    return Call("POST", url_path("runs", run, "finish"), _run)


def move(
    run: str, version: int | None = None, *, names: Mapping[str, str] | None = None, dry_run: bool = False
) -> Call[MoveDocument]:
    """Move the run to another version of its workflow, by default the current one. `names` has the new names of renamed
    steps. Raise Conflict with the reasons if that cannot hold."""
    body = _without_none({"version": version, "names": None if names is None else dict(names), "dry_run": dry_run})
    return Call("POST", url_path("runs", run, "move"), one(MoveDocument), body=json_body(body), headers=JSON)


def move_all(
    which: RunFilter,
    version: int | None = None,
    *,
    names: Mapping[str, str] | None = None,
    dry_run: bool = True,
    limit: int = 1000,
) -> Call[MovesDocument]:
    """Move the oldest `limit` open runs of a workflow that match a filter. Unless `dry_run` is false, only say which
    could be moved."""
    chosen = {name: texts if name in _LISTS else texts[0] for name, texts in filter_fields(which).items()}
    body = {"filter": chosen, "dry_run": dry_run, "limit": limit}
    body |= _without_none({"version": version, "names": None if names is None else dict(names)})
    place = url_path("runs", "move")
    return Call("POST", place, one(MovesDocument), body=json_body(body), headers=JSON, repeatable=dry_run)


def _without_none(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def _steered(run: str, verb: str, body: dict[str, Any]) -> Call[RunDocument]:
    said = {name: value for name, value in body.items() if value is not None}
    return Call("POST", url_path("runs", run, verb), _run, body=json_body(said), headers=JSON)


def retry(
    run: str, *, version: RetryVersion | UnsetType = UNSET, request_id: str | None = None
) -> Call[StartedDocument]:
    """Start a new run that reuses the results of steps that succeeded and runs the rest again. It has the version of
    the old run, or with `version="current"` the current one."""
    return _again(run, "retry", {"version": version}, request_id)


def preview_retry(run: str, *, version: RetryVersion = "same") -> Call[RetryPreviewDocument]:
    """Say what a retry would keep and which steps would run again. Nothing is started."""
    return Call("GET", url_path("runs", run, "retry"), one(RetryPreviewDocument), query=given(version=version))


def rerun(run: str, body: Json = UNSET, *, request_id: str | None = None) -> Call[StartedDocument]:
    """Start a new run from the beginning, on the workflow's current version, with the same body or another."""
    return _again(run, "rerun", {"input": body}, request_id)


def fork(
    run: str,
    step: str,
    *,
    output: Json = UNSET,
    status_code: int | UnsetType = UNSET,
    request_id: str | None = None,
) -> Call[StartedDocument]:
    """Start a new run at a step, which runs again or ends with `output`. Results that do not depend on it are
    reused."""
    return _again(run, "fork", {"step": step, "output": output, "status_code": status_code}, request_id)


def _again(run: str, verb: str, body: dict[str, Any], request_id: str | None) -> Call[StartedDocument]:
    edited = {name: value for name, value in body.items() if value is not UNSET}
    return Call("POST", url_path("runs", run, verb), _made, body=json_body(edited), **_named(request_id))


class _Named(TypedDict):
    headers: Mapping[str, str]
    key: str | None


def _named(request_id: str | None) -> _Named:
    """Return the headers and the key that make a start safe to repeat: the caller's request id, or a random key."""
    if request_id is None:
        return {"headers": JSON, "key": secrets.token_hex(16)}
    return {"headers": {**JSON, "Idempotency-Key": header_text(request_id)}, "key": None}


def _made(answer: Answer) -> StartedDocument:
    """Read the answer to a retry, rerun or fork: the document of the new run."""
    run = _run(answer)
    return StartedDocument(
        run_id=run.id, workflow_id=run.workflow_id, status=run.status, started_at=run.started_at, start_at=run.start_at
    )


def resolve(run: str, step: str, *, happened: bool, output: Json = UNSET) -> Call[RunDocument]:
    """Say whether a step happened whose node died during it."""
    body = {"happened": happened} | ({} if output is UNSET else {"output": output})
    return Call("POST", url_path("runs", run, "steps", step, "resolve"), _run, body=json_body(body), headers=JSON)


def signal(run: str, name: str, data: Json = None) -> Call[SignalReceipt]:
    """Send a signal to the durable function. The function may wait for it before or after it is sent."""
    return Call("POST", url_path("runs", run, "signals", name), _signal, body=json_body(data), headers=JSON)


def why(run: str) -> Call[WhyDocument]:
    """Explain why the run does not go on: what blocks it, and which steps wait for that."""
    return Call("GET", url_path("runs", run, "why"), one(WhyDocument))


def verify(run: str) -> Call[VerifyDocument]:
    """Say whether the run is as it was when it was sealed at its end."""
    return Call("GET", url_path("runs", run, "verify"), one(VerifyDocument))


def outline(run: str, *, at: int | None = None) -> Call[OutlineDocument]:
    """Return the run without bodies: each step with its status, times and tries. With `at`, as its journal had it after
    that entry."""
    return Call("GET", url_path("runs", run, "outline"), one(OutlineDocument), query=given(at=at))


def graph(run: str, *, at: int | None = None) -> Call[GraphDocument]:
    """Return the steps and edges of the run, and which edges were taken."""
    return Call("GET", url_path("runs", run, "graph"), one(GraphDocument), query=given(at=at))


def step(run: str, step: str, *, at: int | None = None, whole: bool | None = None) -> Call[StepDetail]:
    """Return everything about one step: as written, as sent, its output and its error. Large values are cut unless
    `whole` is true."""
    return Call("GET", url_path("runs", run, "steps", step), one(StepDetail), query=given(at=at, whole=whole))


def answer(run: str, step: str, body: Json = None, *, message_id: str | None = None) -> Call[CallbackReceipt]:
    """Answer a wait step of the run by its name. A repeated `message_id` counts as the same answer."""
    headers = {**JSON, "webhook-id": header_text(message_id or secrets.token_hex(16))}
    path = url_path("runs", run, "steps", step, "answer")
    return Call("POST", path, one(CallbackReceipt), body=json_body(body), headers=headers)


def waits(
    *, workflow: str | None = None, hero: tuple[str, str] | str | None = None, mine: bool = False, limit: int = PAGE
) -> Pages[WaitItem]:
    """Yield the active waits, the nearest deadline first, `limit` per request. `mine`: those that you may decide."""
    about = {"hero": None if hero is None else hero_text(hero), "for": "me" if mine else None}
    return Pages(Call("GET", url_path("waits"), page(WaitItem), query=given(workflow=workflow, **about, limit=limit)))


def resources(
    *,
    system: str | None = None,
    type: str | None = None,  # noqa: A002
    id: str | None = None,  # noqa: A002
    run: str | None = None,
    limit: int = PAGE,
) -> Pages[ResourceDocument]:
    """Yield the resources of other systems that belong to runs, `limit` per request: those of one `run`, or by system,
    type and id. `type` needs `system`, and `id` needs both."""
    query = given(system=system, type=type, id=id, run=run, limit=limit)
    return Pages(Call("GET", url_path("resources"), page(ResourceDocument), query=query))


def evaluate(
    run: str, expression: str | UnsetType = UNSET, *, template: Json = UNSET, step: str | None = None
) -> Call[EvaluationDocument]:
    """Try an expression or a template on the data of the run, or on what one of its steps could read."""
    body = {"expression": expression, "template": template, **({} if step is None else {"step": step})}
    sent = {name: value for name, value in body.items() if value is not UNSET}
    path = url_path("runs", run, "evaluate")
    return Call("POST", path, one(EvaluationDocument), body=json_body(sent), headers=JSON)


def hierarchy(run: str, *, limit: int | None = None) -> Call[HierarchyDocument]:
    """Return the parents and children of a run as a tree of up to `limit` runs, from the run that was started first."""
    return Call("GET", url_path("runs", run, "hierarchy"), one(HierarchyDocument), query=given(limit=limit))


def history(run: str, *, limit: int = PAGE) -> Pages[PastAttemptDocument]:
    """Yield the attempts that have ended with their outcomes, in the order of the ends."""
    return Pages(Call("GET", url_path("runs", run, "history"), page(PastAttemptDocument), query=given(limit=limit)))


def items(run: str, step: str, *, status: str | None = None, limit: int = PAGE) -> Pages[ItemDocument]:
    """Yield the items of a step that runs for each item of a list, in their order. `status`: only these."""
    path = url_path("runs", run, "steps", step, "items")
    return Pages(Call("GET", path, page(ItemDocument), query=given(status=status, limit=limit)))


def timeline(hero: tuple[str, str] | str, *, limit: int = PAGE) -> Pages[TimelineEntry]:
    """Yield the journal entries of all runs of a hero in the order of time, `limit` per request."""
    query = given(hero=hero_text(hero), limit=limit)
    return Pages(Call("GET", url_path("timeline"), page(TimelineEntry), query=query))


# Exchanges that last until a run has ended.


LONGEST_POLL: Final = 20.0
#: Seconds between two polls, if the server answers at once instead of waiting.
SHORTEST_ROUND: Final = 0.25


@dataclass(frozen=True, slots=True)
class WaitForEnd:
    """The exchange that waits until a run has ended and returns it. It raises StillRunning after the timeout.

    `commit` is for how many seconds the run may not exist yet, because the transaction of its start is open."""

    run: str
    timeout: float
    commit: float = 0.0

    def talk(self, policy: RetryPolicy) -> Exchange[RunDocument]:
        first = policy.now()
        until = first + self.timeout
        while True:
            begun = policy.now()
            try:
                found = yield from poll(self.run, max(0.0, min(LONGEST_POLL, until - begun))).talk(policy)
            except NotFound as error:
                if not self.commit:
                    raise
                if policy.now() >= min(until, first + self.commit):
                    waited = f"the transaction of its start was not committed within {policy.now() - first:.0f} s"
                    raise NotFound(f"{error.message}: {waited}; wait for it after the commit") from None
                yield Wait(SHORTEST_ROUND)
                continue
            if found.is_over:
                return found
            if policy.now() >= until:
                raise StillRunning(found)
            early = min(SHORTEST_ROUND - (policy.now() - begun), until - policy.now())
            if early > 0:
                yield Wait(early)


@dataclass(frozen=True, slots=True)
class WaitForResult:
    """The exchange that waits until a run has completed and returns its output. It raises RunFailed if the run ended in
    another way. The result of a run that continued as a new run is that of its last successor."""

    waiting: WaitForEnd

    def talk(self, policy: RetryPolicy) -> Exchange[Json]:
        until, waiting = policy.now() + self.waiting.timeout, self.waiting
        while True:
            run = yield from waiting.talk(policy)
            if run.status != "completed":
                raise RunFailed(run)
            match run.output:
                case {"continued_as": str(follower), **others} if not others and follower.startswith("run_"):
                    waiting = WaitForEnd(follower, max(0.0, until - policy.now()))
                case output:
                    return output


def wait(run: str, timeout: Seconds | None = None) -> WaitForEnd:
    """Wait until the run has ended and return it. Raise StillRunning if that takes longer than `timeout` seconds."""
    return WaitForEnd(run, math.inf if timeout is None else seconds(timeout))


def result(run: str, timeout: Seconds | None = None) -> WaitForResult:
    """Wait until the run has completed and return its output. Raise RunFailed if it ended in another way. Raise
    StillRunning if that takes longer than `timeout` seconds."""
    return WaitForResult(wait(run, timeout))


@dataclass(frozen=True, slots=True)
class ReadStatus:
    """The exchange that reads the status of a run."""

    run: str

    def talk(self, policy: RetryPolicy) -> Exchange[str]:
        found = yield from get(self.run).talk(policy)
        return found.status


@dataclass(frozen=True, slots=True)
class ReadState:
    """The exchange that reads the state that the last step of a workflow class left."""

    run: str

    def talk(self, policy: RetryPolicy) -> Exchange[Json]:
        found = yield from get(self.run).talk(policy)
        states = [step.state for step in found.steps.values() if step.state is not None]
        return states[-1] if states else None


def status(run: str) -> ReadStatus:
    """Return the status: pending, running, paused, completed, failed, cancelled or timeout."""
    return ReadStatus(run)


def state(run: str) -> ReadState:
    """Return the state of a workflow class after its last step, as JSON, or `None` if there is none."""
    return ReadState(run)


# Callbacks, events and health.


_WAITS: Final = "/wh/"


def callback(url_or_token: str, body: Json = None, *, message_id: str | None = None) -> Call[CallbackReceipt]:
    """Answer a wait step by the URL of its callback, or by the token alone. The answer goes to the server of this
    client, whatever host the URL names. A repeated `message_id` counts as the same callback."""
    url = urlsplit(url_or_token)
    token = unquote(url.path.rpartition("/")[2])
    return Call(
        "POST",
        _WAITS + quote(token, safe=""),
        one(CallbackReceipt),
        query=parse_qsl(url.query, keep_blank_values=True),
        body=json_body(body),
        headers={**JSON, "webhook-id": header_text(message_id or secrets.token_hex(16))},
    )


def send_event(type: str, data: Json = None, *, id: str | None = None) -> Call[EventReceipt]:  # noqa: A002
    """Send an event. Every event trigger that listens to its type fires. A repeated `id` fires nothing again."""
    body = {"type": type, "data": {} if data is None else data, "id": id or secrets.token_hex(16)}
    return Call("POST", url_path("events"), one(EventReceipt), body=json_body(body), headers=JSON)


def health() -> Call[Health]:
    """Return the health of the server. Raise Unavailable if it is starting, draining or without its database."""
    return Call("GET", "/health/ready", bare(Health), repeatable=False)
