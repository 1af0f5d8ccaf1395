"""One step of the steps form: an HTTP request, a sleep, a wait for a webhook, or an action."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from detent.forms.names import check_step_name, read_priority, read_queue
from detent.forms.templates import Read, condition, template_reads
from detent.graph.model import NO_RETRY, OnCrash, Retry, Step, StepKind
from detent.values.durations import MILLISECONDS, SECONDS
from detent.values.fields import Fields, Problems, described, inside, shown
from detent.values.http_body import is_header_name
from detent.values.nearest import nearest

# The request of an HTTP step: url, method, headers, body.


REQUEST_FIELDS: Final = ("url", "method", "headers", "body")
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
MOST_HEADERS: Final = 64
LARGEST_HEADERS: Final = 16 * 1024
_LONGEST_URL: Final = 8_192
_HEADER_BREAK: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# These headers describe how the message is framed; the HTTP client sets them.
_OURS: Final = frozenset({"connection", "content-length", "transfer-encoding", "upgrade"})


def read_request(fields: Fields, default_method: str) -> dict[str, Any]:
    """Read the config of an HTTP step: all four keys, headers and body as written."""
    return {
        "url": _url(fields),
        "method": _method(fields, default_method),
        "headers": _headers(fields),
        "body": fields.get("body"),
    }


def _url(fields: Fields) -> str:
    if fields.get("url") is None:
        fields.problems.add(fields.at("url"), "is missing")
    url = fields.text("url", most=_LONGEST_URL) or ""
    if not url or url.startswith("{{"):
        return url
    if not url.lower().startswith(("http://", "https://")):
        fields.problems.add(fields.at("url"), f"{shown(url)} must begin with http:// or https://")
    elif "{{" not in url and (message := _constant_url_problem(url)):
        fields.problems.add(fields.at("url"), f"{shown(url)} {message}")
    return url


def _constant_url_problem(url: str) -> str | None:
    if re.search(r"\s", url):
        return "has a blank in it; write %20"
    try:
        parts = urlsplit(url)
        return None if parts.hostname and parts.port != 0 else "names no host"
    except ValueError as error:
        return f"is not a URL: {error}"


def _method(fields: Fields, default: str) -> str:
    value = fields.get("method")
    if value is None:
        return default
    if not isinstance(value, str):
        fields.wrong("method", f"one of {', '.join(METHODS)}")
    elif value.upper() in METHODS:
        return value.upper()
    else:
        hint = fields.problems.did_you_mean(value, METHODS)
        fields.problems.add(fields.at("method"), f"{shown(value)} is not one of {', '.join(METHODS)}{hint}")
    return default


def _headers(fields: Fields) -> dict[str, str]:
    headers = fields.mapping("headers") or {}
    path = fields.at("headers")
    if len(headers) > MOST_HEADERS:
        fields.problems.add(path, f"has {len(headers)} headers; at most {MOST_HEADERS} are allowed")
        return {}
    seen: dict[str, str] = {}
    for name, value in headers.items():
        message = _header_problem(name, value) or _taken(name, seen)
        if message:
            fields.problems.add(inside(path, name), message)
    size = sum(len(name.encode()) + len(str(value).encode()) for name, value in headers.items())
    if size > LARGEST_HEADERS:
        fields.problems.add(path, f"has {size} bytes; at most {LARGEST_HEADERS} are allowed")
    return headers


def _taken(name: str, seen: dict[str, str]) -> str | None:
    """Return a problem if the header was written before in another case."""
    first = seen.setdefault(name.lower(), name)
    return None if first == name else f"is the same header as {first!r}"


def _header_problem(name: str, value: object) -> str | None:
    if not is_header_name(name):
        return f"{shown(name)} cannot be the name of a header"
    if name.lower() in _OURS:
        return "is set by Detent and cannot be written"
    if not isinstance(value, str):
        return f'the value of a header must be text; write "{value}"' if is_scalar(value) else "must be text"
    if _HEADER_BREAK.search(value):
        return "has a control character, which is not allowed in a header"
    return None


def is_scalar(value: object) -> bool:
    return isinstance(value, bool | int | float)


# How often a step is retried: `retries: 3`, or `retries: {attempts: 3, delay: 5s, factor: 2, ...}`.


RETRY_FIELDS: Final = ("retries", "retry")
MOST_RETRIES: Final = 100
_BLOCK_FIELDS: Final = ("attempts", "delay", "factor", "max_delay", "jitter")
_LARGEST_FACTOR: Final = 100.0


def read_retry(fields: Fields, default: Retry) -> Retry:
    """Read the retries. They count the attempts after the first, as a number and as `attempts` of the block."""
    written = fields.written(RETRY_FIELDS)
    if len(written) > 1:
        fields.problems.add(fields.at("retry"), "is another spelling of 'retries'; write one of them")
    if not written:
        return default
    [name, *_] = written
    if isinstance(fields.get(name), dict):
        return _block(Fields(fields.get(name), fields.at(name), fields.problems), default)
    again = fields.integer(name, least=0, most=MOST_RETRIES)
    return default if again is None else Retry(attempts=again + 1)


def _block(fields: Fields, default: Retry) -> Retry:
    fields.refuse_unknown(_BLOCK_FIELDS)
    again = fields.integer("attempts", least=0, most=MOST_RETRIES)
    delay = fields.duration("delay", unit=SECONDS)
    factor = fields.number("factor", least=1.0, most=_LARGEST_FACTOR)
    longest = fields.duration("max_delay", unit=SECONDS)
    retry = Retry(
        attempts=default.attempts if again is None else again + 1,
        delay=default.delay if delay is None else delay,
        factor=default.factor if factor is None else factor,
        jitter=fields.boolean("jitter", default.jitter),
        max_delay=max(default.max_delay, delay or 0.0) if longest is None else longest,
    )
    if longest is not None and longest < retry.delay:
        fields.problems.add(fields.at("max_delay"), f"is shorter than the first delay of {retry.delay:g} s")
    return retry


# Sleeps and waits. Numbers count seconds.


_WAIT_FIELDS: Final = ("timeout", "early")


class Early(StrEnum):
    """What happens to a callback that arrives before its wait step is active."""

    BUFFER = "buffer"
    REJECT = "reject"


def read_sleep(fields: Fields, name: str) -> dict[str, Any]:
    """Read the config of a sleep. A text with a template stays text and becomes a duration when the step runs."""
    value = fields.get(name)
    if isinstance(value, str) and "{{" in value:
        return {"seconds": value}
    return {"seconds": fields.duration(name, unit=SECONDS)}


def read_delay(fields: Fields) -> tuple[dict[str, Any], str]:
    """Return the config of `core.delay` from its parameters, and the name of the parameter that was used."""
    fields.refuse_unknown(("seconds", "duration"))
    written = fields.written(("seconds", "duration"))
    if len(written) != 1:
        said = "one is enough" if written else "one is needed"
        fields.problems.add(fields.path, f'write either "seconds" or "duration"; {said}')
    name = written[0] if written else "duration"
    return read_sleep(fields, name), name


def read_wait(fields: Fields, name: str) -> dict[str, Any]:
    """Read the config of a wait from `wait_for_webhook`: a mapping, only its timeout, or no value."""
    value = fields.get(name)
    if isinstance(value, dict):
        return read_wait_block(Fields(value, fields.at(name), fields.problems))
    if value is False:
        fields.wrong(name, 'a mapping such as {timeout: "1h"}')
    timeout = None if isinstance(value, bool) else fields.duration(name, unit=SECONDS, zero=False)
    return {"timeout": timeout, "early": Early.BUFFER.value}


def read_wait_block(fields: Fields) -> dict[str, Any]:
    """Read the config of a wait from its own fields. Without a timeout it lasts until the run expires."""
    fields.refuse_unknown(_WAIT_FIELDS)
    timeout = fields.duration("timeout", unit=SECONDS, zero=False)
    return {"timeout": timeout, "early": fields.choice("early", Early, Early.BUFFER).value}


CORE_PREFIX: Final = "core."
CORE_ACTIONS: Final = ("core.echo", "core.fail", "core.delay", "core.http.request", "core.wait")
_ACTION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]{0,127}")
_LONGEST_DESCRIPTION: Final = 10_000
_TIMEOUT: Final = 30.0
_HASTY: Final = 0.1
_METHOD: Final = "POST"
_RETRY: Final = Retry()

_KINDS: Final = ("url", "sleep", "wait_for_webhook", "action")
_SHARED: Final = ("needs", "if", "queue", "priority", "description", "name")
_TRIED: Final = (*RETRY_FIELDS, "timeout", "on_crash")
_FIELDS: Final = {
    "url": (*_SHARED, *_TRIED, *REQUEST_FIELDS),
    "sleep": (*_SHARED, "sleep"),
    "wait_for_webhook": (*_SHARED, "wait_for_webhook"),
    "action": (*_SHARED, *_TRIED, "action", "with"),
}
_ALL_FIELDS: Final = tuple(dict.fromkeys(name for names in _FIELDS.values() for name in names))
_HINTS: Final = {("wait_for_webhook", "timeout"): '; write wait_for_webhook: {timeout: "1h"}'}


@dataclass(slots=True)
class WrittenStep:
    """A step as far as it could be read. Each need comes with its field.

    `kind` is `None` if even that could not be read; `unclear` is set if one of the needs does not exist.
    """

    name: str
    path: str
    kind: StepKind | None = None
    config: dict[str, Any] = field(default_factory=dict)
    guard: str | None = None
    needs: list[tuple[str, str]] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    retry: Retry = NO_RETRY
    timeout: float | None = None
    on_crash: OnCrash = OnCrash.RETRY
    queue: str | None = None
    priority: int | None = None
    unclear: bool = False

    def step(self) -> Step:
        """Build the step of the graph."""
        return Step(
            name=self.name,
            kind=self.kind or StepKind.ACTION,
            config=self.config,
            guard=self.guard,
            retry=self.retry,
            timeout=self.timeout,
            on_crash=self.on_crash,
            queue=self.queue,
            priority=self.priority,
        )


def read_step(name: str, raw: object, path: str, problems: Problems, actions: Collection[str] | None) -> WrittenStep:
    """Read one step. Everything that is wrong with it becomes a problem."""
    written = WrittenStep(name, path)
    check_step_name(name, path, problems)
    if not isinstance(raw, dict):
        problems.add(path, f"a step must be a mapping, not {described(raw)}")
        return written
    fields = Fields(raw, path, problems)
    fields.refuse_unknown(_ALL_FIELDS)
    if fields.get("name") not in (None, name):
        problems.add(fields.at("name"), f"this step is named {name!r} by its key; put other text into its description")
    written.needs = _needs(fields)
    written.guard, reads = condition(fields, "if")
    written.reads += reads
    written.queue = read_queue(fields)
    written.priority = read_priority(fields)
    fields.text("description", most=_LONGEST_DESCRIPTION, lines=True)
    _read_kind(fields, written, actions)
    return written


def _needs(fields: Fields) -> list[tuple[str, str]]:
    """Return the names this step needs, each with its field; `needs: charge` is `needs: [charge]`."""
    value = fields.get("needs")
    if value is None:
        return []
    if isinstance(value, str):
        return [(value, fields.at("needs"))]
    if not isinstance(value, list):
        fields.wrong("needs", "the name of a step or a list of names")
        return []
    found = []
    for number, name in enumerate(value):
        place = f"{fields.at('needs')}[{number}]"
        if isinstance(name, str):
            found.append((name, place))
        else:
            fields.problems.add(place, f"must be the name of a step, not {described(name)}")
    return found


def _read_kind(fields: Fields, written: WrittenStep, actions: Collection[str] | None) -> None:
    match _kind(fields):
        case "url":
            _refuse_others(fields, "url")
            _request(fields, written)
            _tries(fields, written)
        case "sleep":
            _refuse_others(fields, "sleep")
            written.kind, written.config = StepKind.SLEEP, read_sleep(fields, "sleep")
            written.reads += template_reads(written.config["seconds"], fields.at("sleep"), fields.problems)
        case "wait_for_webhook":
            _refuse_others(fields, "wait_for_webhook")
            written.kind, written.config = StepKind.WAIT, read_wait(fields, "wait_for_webhook")
        case "action":
            _action(fields, written, actions)


def _kind(fields: Fields) -> str | None:
    found = fields.written(_KINDS)
    if not found and "wait_for_webhook" in fields.values:
        return "wait_for_webhook"
    if len(found) == 1:
        return found[0]
    if found:
        message = f"a step is one of {', '.join(_KINDS)}; this one has {' and '.join(found)}"
        fields.problems.add(fields.path, message)
    # A misspelled `ulr` is reported as such; the missing kind is then not a second mistake.
    elif not any(nearest(key, _KINDS) for key in fields.values if key not in _ALL_FIELDS):
        fields.problems.add(fields.path, f"a step needs one of {', '.join(_KINDS)}")
    return None


def _refuse_others(fields: Fields, kind: str, *, tried: bool = True) -> None:
    """Report fields that have no meaning for this kind of step."""
    for name in fields.written(_ALL_FIELDS):
        if name not in _FIELDS[kind] or (name in _TRIED and not tried):
            hint = _HINTS.get((kind, name), "")
            fields.problems.add(fields.at(name), f"{name!r} has no meaning for a step with {kind!r}{hint}")


def _request(fields: Fields, written: WrittenStep) -> None:
    written.kind, written.config = StepKind.HTTP, read_request(fields, _METHOD)
    for name in ("url", "headers", "body"):
        written.reads += template_reads(written.config[name], fields.at(name), fields.problems)
    if written.config["method"] in {"GET", "HEAD"} and written.config["body"] is not None:
        written.warnings.append(f"{fields.at('body')}: many servers ignore the body of a {written.config['method']}")


def _tries(fields: Fields, written: WrittenStep) -> None:
    timeout = fields.duration("timeout", unit=MILLISECONDS, zero=False)
    written.timeout = _TIMEOUT if timeout is None else timeout
    if timeout is not None and timeout < _HASTY and not isinstance(fields.get("timeout"), str):
        said = f'a number counts milliseconds; write "{fields.get("timeout"):g}s" for seconds'
        written.warnings.append(f"{fields.at('timeout')}: {said}")
    written.retry = read_retry(fields, _RETRY)
    written.on_crash = fields.choice("on_crash", OnCrash, OnCrash.RETRY)


def _action(fields: Fields, written: WrittenStep, actions: Collection[str] | None) -> None:
    """Read an action, or another kind of step that is written as an action."""
    action = fields.text("action", most=128)
    given = Fields(fields.mapping("with") or {}, fields.at("with"), fields.problems)
    _refuse_others(fields, "action", tried=action not in {"core.delay", "core.wait"})
    match action:
        case None:
            written.kind = StepKind.ACTION
        case "core.delay":
            written.kind = StepKind.SLEEP
            written.config, name = read_delay(given)
            written.reads += template_reads(written.config["seconds"], given.at(name), fields.problems)
        case "core.wait":
            written.kind, written.config = StepKind.WAIT, read_wait_block(given)
        case "core.http.request":
            given.refuse_unknown(REQUEST_FIELDS)
            _request(given, written)
            _tries(fields, written)
        case _:
            _check_action_name(fields, action, actions)
            written.kind, written.config = StepKind.ACTION, {"action": action, "with": given.values}
            written.reads += template_reads(given.values, given.path, fields.problems)
            _tries(fields, written)


def _check_action_name(fields: Fields, action: str, actions: Collection[str] | None) -> None:
    if not _ACTION_NAME.fullmatch(action):
        fields.problems.add(fields.at("action"), f"{shown(action)} cannot be the name of an action")
        return
    # Names of core actions can always be checked, others only with a list of them.
    is_core = action.startswith(CORE_PREFIX)
    known = CORE_ACTIONS if is_core else sorted({*(actions or ()), *CORE_ACTIONS})
    if action not in known and (is_core or actions is not None):
        hint = fields.problems.did_you_mean(action, known)
        fields.problems.add(fields.at("action"), f"no {'core ' if is_core else ''}action {shown(action)}{hint}")
