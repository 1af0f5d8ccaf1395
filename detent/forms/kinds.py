"""What a step does, as every form reads it: a request, a sleep, a wait, or an action with its parameters.

Every kind has one spelling as an action (`core.http.request`, `core.delay`, `core.wait`), so that forms convert.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from detent.forms.templates import Read, template_reads
from detent.graph.model import Step, StepKind
from detent.values.durations import SECONDS
from detent.values.fields import Fields, Problems, inside, shown
from detent.values.http_body import is_header_name

#: The kinds whose attempts can fail and be tried again.
TRIED_KINDS: Final = (StepKind.HTTP, StepKind.ACTION)


@dataclass(slots=True)
class Work:
    """The kind and the config of a step, what its templates read, and remarks that do not make it invalid."""

    kind: StepKind
    config: dict[str, Any]
    reads: list[Read] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


# The request of an HTTP step: url, method, headers, body.


REQUEST_FIELDS: Final = ("url", "method", "headers", "body")
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_METHOD: Final = "POST"
MOST_HEADERS: Final = 64
LARGEST_HEADERS: Final = 16 * 1024
_LONGEST_URL: Final = 8_192
_HEADER_BREAK: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# These headers describe how the message is framed; the HTTP client sets them.
_OURS: Final = frozenset({"connection", "content-length", "transfer-encoding", "upgrade"})


def read_request(fields: Fields) -> Work:
    """Read the request of an HTTP step: all four keys, headers and body as written."""
    config = {
        "url": _url(fields),
        "method": _method(fields, _METHOD),
        "headers": _headers(fields),
        "body": fields.get("body"),
    }
    work = Work(StepKind.HTTP, config)
    for name in ("url", "headers", "body"):
        work.reads += template_reads(config[name], fields.at(name), fields.problems)
    if config["method"] in {"GET", "HEAD"} and config["body"] is not None:
        work.warnings.append(f"{fields.at('body')}: many servers ignore the body of a {config['method']}")
    return work


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


# Sleeps and waits. Numbers count seconds.


_WAIT_FIELDS: Final = ("timeout", "early")


class Early(StrEnum):
    """What happens to a callback that arrives before its wait step is active."""

    BUFFER = "buffer"
    REJECT = "reject"


def read_sleep(fields: Fields, name: str) -> Work:
    """Read a sleep. A text with a template stays text and becomes a duration when the step runs."""
    value = fields.get(name)
    if isinstance(value, str) and "{{" in value:
        return Work(StepKind.SLEEP, {"seconds": value}, template_reads(value, fields.at(name), fields.problems))
    return Work(StepKind.SLEEP, {"seconds": fields.duration(name, unit=SECONDS)})


def _read_delay(fields: Fields) -> Work:
    """Read the parameters of `core.delay`."""
    fields.refuse_unknown(("seconds", "duration"))
    written = fields.written(("seconds", "duration"))
    if len(written) != 1:
        said = "one is enough" if written else "one is needed"
        fields.problems.add(fields.path, f'write either "seconds" or "duration"; {said}')
    return read_sleep(fields, written[0] if written else "duration")


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


# Actions. Core actions are part of Detent; all others are code of a user.


CORE_PREFIX: Final = "core."
CORE_ACTIONS: Final = ("core.echo", "core.fail", "core.delay", "core.http.request", "core.wait")
_ACTION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]{0,127}")


def read_action(action: str, given: Fields) -> Work:
    """Read the parameters of an action, or of another kind of step that is written as an action."""
    match action:
        case "core.delay":
            return _read_delay(given)
        case "core.wait":
            return Work(StepKind.WAIT, read_wait_block(given))
        case "core.http.request":
            given.refuse_unknown(REQUEST_FIELDS)
            return read_request(given)
        case _:
            reads = template_reads(given.values, given.path, given.problems)
            return Work(StepKind.ACTION, {"action": action, "with": given.values}, reads)


def action_name_problem(action: str, actions: Collection[str] | None, problems: Problems) -> str | None:
    """Return what is wrong with the name of an action, or `None`. `actions` are the names that may be called."""
    if not _ACTION_NAME.fullmatch(action):
        return f"{shown(action)} cannot be the name of an action"
    # Names of core actions can always be checked, others only with a list of them.
    is_core = action.startswith(CORE_PREFIX)
    given = [name for name in actions or () if name.startswith(CORE_PREFIX) == is_core]
    known = sorted({*given, *CORE_ACTIONS})
    if action in known or (actions is None and not is_core):
        return None
    return f"no {'core ' if is_core else ''}action {shown(action)}{problems.did_you_mean(action, known)}"


def user_actions(steps: Collection[Step]) -> tuple[str, ...]:
    """Return the user's own actions that these steps call, sorted: only a node that has them may run the workflow."""
    names = {str(step.config.get("action", "")) for step in steps if step.kind is StepKind.ACTION}
    return tuple(sorted(name for name in names if name and name not in CORE_ACTIONS))
