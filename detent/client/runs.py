"""What can be asked about runs."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping
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
from detent.documents.journal import PastAttemptDocument, TimelineEntry
from detent.documents.runs import (
    BulkDocument,
    CallbackReceipt,
    RunDocument,
    RunSummary,
    SignalReceipt,
    StartedDocument,
    WhyDocument,
)
from detent.documents.triggers import EventReceipt

Action = Literal["cancel", "pause", "resume", "retry", "rerun"]

_run: Final = one(RunDocument)
_started: Final = one(StartedDocument)
_signal: Final = one(SignalReceipt)


class RunFilter(TypedDict, total=False):
    """Which runs. Every word narrows it: `status` is one or several, or what they have in common (`active`, `ready`,
    `performing`), `workflow` a name or id, `trigger` a type or a trigger's id, `hero` (type, id), `labels` all of which
    a run must have, `origin` the run they were made from."""

    status: str | Iterable[str]
    workflow: str
    trigger: str
    hero: tuple[str, str] | str
    labels: Mapping[str, str]
    request_id: str
    origin: str
    started_after: datetime | str
    started_before: datetime | str


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
) -> Call[StartedDocument]:
    """Start a run of a workflow; when this returns, it is durable. `body` is `trigger.body` (`{}` if it is left out).

    The same `request_id` never starts twice: the first run comes back. `start_at` is an instant or a time from now.
    With `wait` the answer is kept back until the run has ended, at most so long (60 s). AlreadyActive if the workflow
    allows one active run per hero and there is one, unless `allow_multiple`."""
    query = given(
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


def list_all(*, sort: str | None = None, limit: int = PAGE, **which: Unpack[RunFilter]) -> Pages[RunSummary]:
    """Runs, newest first (`sort="started_at"`: oldest first), `limit` in each request; see RunFilter for which."""
    query = [(name, text) for name, texts in _spelled(which).items() for text in texts]
    return Pages(Call("GET", url_path("runs"), page(RunSummary), query=[*query, *given(sort=sort, limit=limit)]))


def bulk(
    action: Action, which: RunFilter, *, everything: bool = False, dry_run: bool = True, limit: int = 1000
) -> Call[BulkDocument]:
    """Do something to the oldest `limit` runs of a filter. Unless `dry_run` is false it only counts them. An empty
    filter is refused unless `everything` says that it is meant."""
    chosen = {name: texts if name in _LISTS else texts[0] for name, texts in _spelled(which).items()}
    body = {"action": action, "filter": chosen, "dry_run": dry_run, "limit": limit}
    body |= {"all": True} if everything else {}
    # Done twice it does nothing more, but the second answer would tell of the rest only.
    return Call(
        "POST", url_path("runs", "bulk"), one(BulkDocument), body=json_body(body), headers=JSON, repeatable=dry_run
    )


_LISTS: Final = frozenset({"status", "label"})


def _spelled(which: RunFilter) -> dict[str, list[str]]:
    """The words of a filter as queries and bodies have them."""
    spelled: dict[str, list[str]] = {}
    for name, value in which.items():
        match name, value:
            case "status", str():
                spelled[name] = [value]
            case "status", Iterable():
                spelled[name] = list(value)
            case "labels", Mapping():
                spelled["label"] = pairs(value)
            case "hero", tuple():
                spelled[name] = [hero_text((value[0], value[1]))]
            case _, datetime():
                spelled[name] = [instant(value)]
            case _:
                spelled[name] = [str(value)]
    return spelled


def get(run: str) -> Call[RunDocument]:
    """The run as it is now."""
    return Call("GET", url_path("runs", run), _run)


def poll(run: str, wait: float) -> Call[RunDocument]:
    """The run when it has ended, or as it is when `wait` seconds are over."""
    return Call("GET", url_path("runs", run), _run, query=given(wait=duration(wait)), holds=wait)


def cancel(run: str) -> Call[RunDocument]:
    """Cancel it. `cancel_requested` is true if its node has not applied it within two seconds."""
    return Call("POST", url_path("runs", run, "cancel"), _run)


def pause(run: str) -> Call[RunDocument]:
    """Pause it: attempts in flight finish, nothing new starts."""
    return Call("POST", url_path("runs", run, "pause"), _run)


def resume(run: str) -> Call[RunDocument]:
    """Let it go on."""
    return Call("POST", url_path("runs", run, "resume"), _run)


def skip(run: str, step: str | None = None) -> Call[RunDocument]:
    """Leave out a step, or the one it is at, and go on behind it."""
    return _steered(run, "skip", {"step": step})


def reattempt(run: str, step: str | None = None, *, wait: float | None = None) -> Call[RunDocument]:
    """Have a step tried again, or the one it is at, after `wait` seconds."""
    return _steered(run, "reattempt", {"step": step, "wait": wait})


def finish(run: str) -> Call[RunDocument]:
    """Say that it is done: what has not run yet is skipped."""
    return Call("POST", url_path("runs", run, "finish"), _run)


def _steered(run: str, verb: str, body: dict[str, Any]) -> Call[RunDocument]:
    said = {name: value for name, value in body.items() if value is not None}
    return Call("POST", url_path("runs", run, verb), _run, body=json_body(said), headers=JSON)


def retry(run: str, *, request_id: str | None = None) -> Call[StartedDocument]:
    """A new run that keeps what succeeded and tries the rest again."""
    return _again(run, "retry", {}, request_id)


def rerun(run: str, body: Json = UNSET, *, request_id: str | None = None) -> Call[StartedDocument]:
    """A new run from the beginning, on the workflow's current version, with the same body or with another."""
    return _again(run, "rerun", {"input": body}, request_id)


def fork(
    run: str,
    step: str,
    *,
    output: Json = UNSET,
    status_code: int | UnsetType = UNSET,
    request_id: str | None = None,
) -> Call[StartedDocument]:
    """A new run from a step on: what does not depend on it is kept, and it runs again or ends with `output`."""
    return _again(run, "fork", {"step": step, "output": output, "status_code": status_code}, request_id)


def _again(run: str, verb: str, body: dict[str, Any], request_id: str | None) -> Call[StartedDocument]:
    edited = {name: value for name, value in body.items() if value is not UNSET}
    return Call("POST", url_path("runs", run, verb), _made, body=json_body(edited), **_named(request_id))


class _Named(TypedDict):
    headers: Mapping[str, str]
    key: str | None


def _named(request_id: str | None) -> _Named:
    """Return what makes a start safe to send again: the id that the caller gave it, or a key of its own."""
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
    """Say whether a step whose node died in the middle of it did its work."""
    body = {"happened": happened} | ({} if output is UNSET else {"output": output})
    return Call("POST", url_path("runs", run, "steps", step, "resolve"), _run, body=json_body(body), headers=JSON)


def signal(run: str, name: str, data: Json = None) -> Call[SignalReceipt]:
    """Send a signal to its durable function, which gets it whether it asks for it before or after."""
    return Call("POST", url_path("runs", run, "signals", name), _signal, body=json_body(data), headers=JSON)


def why(run: str) -> Call[WhyDocument]:
    """Why it is not running: what it waits for, step by step."""
    return Call("GET", url_path("runs", run, "why"), one(WhyDocument))


def history(run: str, *, limit: int = PAGE) -> Pages[PastAttemptDocument]:
    """Its attempts that are over, in the order they ended, and what came of each."""
    return Pages(Call("GET", url_path("runs", run, "history"), page(PastAttemptDocument), query=given(limit=limit)))


def timeline(hero: tuple[str, str] | str, *, limit: int = PAGE) -> Pages[TimelineEntry]:
    """Everything that happened in all runs of a hero, in the order of time, `limit` in each request."""
    query = given(hero=hero_text(hero), limit=limit)
    return Pages(Call("GET", url_path("timeline"), page(TimelineEntry), query=query))


# Exchanges that go on until a run has ended.


LONGEST_POLL: Final = 20.0
#: Seconds between two polls of a server that does not keep its answer back.
SHORTEST_ROUND: Final = 0.25


@dataclass(frozen=True, slots=True)
class WaitForEnd:
    """Wait until a run has ended and return it. Raise StillRunning when the time is over."""

    run: str
    timeout: float

    def talk(self, policy: RetryPolicy) -> Exchange[RunDocument]:
        until = policy.now() + self.timeout
        while True:
            begun = policy.now()
            found = yield from poll(self.run, max(0.0, min(LONGEST_POLL, until - begun))).talk(policy)
            if found.is_over:
                return found
            if policy.now() >= until:
                raise StillRunning(found)
            early = min(SHORTEST_ROUND - (policy.now() - begun), until - policy.now())
            if early > 0:
                yield Wait(early)


@dataclass(frozen=True, slots=True)
class WaitForResult:
    """Wait until a run has completed and return its output. Raise RunFailed if it ended in another way. The result of a
    run that continued as a new run is that of the last of them."""

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
    """The run once it has ended, however it ended. StillRunning if that takes longer than `timeout` seconds."""
    return WaitForEnd(run, math.inf if timeout is None else seconds(timeout))


def result(run: str, timeout: Seconds | None = None) -> WaitForResult:
    """The output of the run once it has completed. RunFailed if it ended in another way; StillRunning if that takes
    longer than `timeout` seconds."""
    return WaitForResult(wait(run, timeout))


@dataclass(frozen=True, slots=True)
class ReadStatus:
    """Read the status of a run."""

    run: str

    def talk(self, policy: RetryPolicy) -> Exchange[str]:
        found = yield from get(self.run).talk(policy)
        return found.status


@dataclass(frozen=True, slots=True)
class ReadState:
    """Read what the steps of a workflow class have handed on so far."""

    run: str

    def talk(self, policy: RetryPolicy) -> Exchange[Json]:
        found = yield from get(self.run).talk(policy)
        states = [step.state for step in found.steps.values() if step.state is not None]
        return states[-1] if states else None


def status(run: str) -> ReadStatus:
    """How the run is, in one word: pending, running, paused, completed, failed, cancelled or timeout."""
    return ReadStatus(run)


def state(run: str) -> ReadState:
    """The state of a workflow class as its last step left it, as JSON; `None` if there is none."""
    return ReadState(run)


# Messages from the outside: answers to waits, events, and health.


_WAITS: Final = "/wh/"


def callback(url_or_token: str, body: Json = None, *, message_id: str | None = None) -> Call[CallbackReceipt]:
    """Answer a wait step, at the URL of its callback or by the token alone. It is sent to this client's own server,
    whatever host the URL names. The same `message_id` again is the same callback again."""
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
    """Send an event; event triggers of that type fire. The same `id` again fires nothing again."""
    body = {"type": type, "data": {} if data is None else data, "id": id or secrets.token_hex(16)}
    return Call("POST", url_path("events"), one(EventReceipt), body=json_body(body), headers=JSON)


def health() -> Call[Health]:
    """Whether it can take work. Unavailable if it is starting, draining or cut off."""
    return Call("GET", "/health/ready", bare(Health), repeatable=False)
