"""What a step does, as every form reads it: a request, a sleep, a wait, or an action with its parameters.

Every kind has one spelling as an action (`core.http.request`, `core.delay`, `core.wait`, `core.approval`), so that
forms convert.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from detent.forms.asks import WAIT_ASK_FIELDS, read_approval, read_wait_ask
from detent.forms.templates import Read, condition, template_reads
from detent.graph.ask import ASK
from detent.graph.model import Each, ItemFailure, OnCrash, Repeat, Retry, Step, StepKind
from detent.values.answer import RESPOND, header_problem, status_problem
from detent.values.durations import SECONDS
from detent.values.fields import Fields, Problems, inside, shown
from detent.values.http_body import is_header_name
from detent.values.limits import LARGEST_VERSION

_LONGEST_WORKFLOW: Final = 200
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


REQUEST_FIELDS: Final = ("url", "method", "headers", "body", "acting_user_headers", "parts", "large")

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_METHOD: Final = "POST"
MOST_HEADERS: Final = 64
LARGEST_HEADERS: Final = 16 * 1024
_LONGEST_URL: Final = 8_192
_HEADER_BREAK: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# These headers describe how the message is framed; the HTTP client sets them.
_OURS: Final = frozenset({"connection", "content-length", "transfer-encoding", "upgrade"})


class Large(StrEnum):
    """What becomes of a response over 256 KB."""

    TRUNCATE = "truncate"
    BLOB = "blob"


def read_request(fields: Fields) -> Work:
    """Read the request of an HTTP step: all four keys, headers and body as written, and a wish for more headers."""
    config = {
        "url": _url(fields),
        "method": _method(fields, _METHOD),
        "headers": _headers(fields),
        "body": fields.get("body"),
    }
    if fields.boolean("acting_user_headers", False):
        config["acting_user_headers"] = True
    parts = fields.mapping("parts")
    if parts is not None:
        config["parts"] = parts
        if config["body"] is not None:
            fields.problems.add(fields.at("parts"), "a request has a body or parts, and not both; remove one")
    if fields.choice("large", Large, Large.TRUNCATE) is Large.BLOB:
        config["large"] = str(Large.BLOB)
    work = Work(StepKind.HTTP, config)
    for name in ("url", "headers", "body", "parts"):
        work.reads += template_reads(config.get(name), fields.at(name), fields.problems)
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


def unit_warning(fields: Fields, name: str, unit: str) -> list[str]:
    """Return a warning for a limit of time that is a number without a unit: readers take it for another one."""
    value = fields.get(name)
    if not is_scalar(value) or isinstance(value, bool):
        return []
    other = "s" if unit == "ms" else "ms"
    word = "milliseconds" if unit == "ms" else "seconds"
    return [f'{fields.at(name)}: {value:g} counts {word}; write "{value:g}{unit}" to say so, or "{value:g}{other}"']


# Sleeps and waits. Numbers count seconds.


_WAIT_FIELDS: Final = ("timeout", "early", *WAIT_ASK_FIELDS)


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


def read_wait(fields: Fields, name: str) -> Work:
    """Read the config of a wait from `wait_for_webhook`: a mapping, only its timeout, or no value."""
    value = fields.get(name)
    if isinstance(value, dict):
        return read_wait_block(Fields(value, fields.at(name), fields.problems))
    if value is False:
        fields.wrong(name, 'a mapping such as {timeout: "1h"}')
    timeout = None if isinstance(value, bool) else fields.duration(name, unit=SECONDS, zero=False)
    return Work(StepKind.WAIT, {"timeout": timeout, "early": Early.BUFFER.value})


def read_wait_block(fields: Fields) -> Work:
    """Read the config of a wait from its own fields. Without a timeout it lasts until the run expires."""
    fields.refuse_unknown(_WAIT_FIELDS)
    timeout = fields.duration("timeout", unit=SECONDS, zero=False)
    config: dict[str, Any] = {"timeout": timeout, "early": fields.choice("early", Early, Early.BUFFER).value}
    ask, reads = read_wait_ask(fields)
    if ask:
        config[ASK] = ask
    return Work(StepKind.WAIT, config, reads)


def read_approval_block(fields: Fields) -> Work:
    """Read an approval from its own fields."""
    return Work(StepKind.WAIT, *read_approval(fields))


# Actions. Core actions are part of Detent; all others are code of a user.


CORE_PREFIX: Final = "core."
CORE_ACTIONS: Final = (
    *("core.echo", "core.fail", "core.delay", "core.http.request", "core.template.render", "core.wait"),
    *("core.log", "core.transform", "core.sometimes-fails", "core.alert", "core.approval", RESPOND),
)
_ACTION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]{0,127}")


def read_action(action: str, given: Fields) -> Work:
    """Read the parameters of an action, or of another kind of step that is written as an action."""
    match action:
        case "core.delay":
            return _read_delay(given)
        case "core.wait":
            work = read_wait_block(given)
            work.warnings += unit_warning(given, "timeout", "s")
            return work
        case "core.approval":
            return read_approval_block(given)
        case "core.http.request":
            given.refuse_unknown(REQUEST_FIELDS)
            return read_request(given)
        case _ if action == RESPOND:
            return read_answer(given)
        case _:
            reads = template_reads(given.values, given.path, given.problems)
            return Work(StepKind.ACTION, {"action": action, "with": given.values}, reads)


ANSWER_FIELDS: Final = ("status", "headers", "body")


def read_answer(fields: Fields) -> Work:
    """Read the answer to the caller of a webhook. Parts with templates are checked when the step runs."""
    fields.refuse_unknown(ANSWER_FIELDS)
    status = fields.get("status")
    if status is not None and not _is_template(status) and (wrong := status_problem(status)):
        fields.problems.add(fields.at("status"), wrong)
    headers = fields.get("headers")
    if not isinstance(headers, dict | None) and not _is_template(headers):
        fields.wrong("headers", "a mapping of names to values")
    for name, value in headers.items() if isinstance(headers, dict) else ():
        if wrong := header_problem(name, "" if _is_template(value) else value):
            fields.problems.add(inside(fields.at("headers"), name), wrong)
    reads = template_reads(fields.values, fields.path, fields.problems)
    return Work(StepKind.ACTION, {"action": RESPOND, "with": fields.values}, reads)


def _is_template(value: object) -> bool:
    return isinstance(value, str) and "{{" in value


def read_on_crash(fields: Fields, name: str, kind: StepKind | None, *, repeat: bool) -> OnCrash:
    """Read what happens to an attempt whose node died. Only an action can have a probe."""
    found = fields.choice(name, OnCrash, OnCrash.RETRY)
    if found is OnCrash.PROBE and (repeat or kind not in (StepKind.ACTION, StepKind.SUBWORKFLOW)):
        said = "a repeated step" if repeat else f"a step of kind {kind}"
        fields.problems.add(fields.at(name), f"{said} cannot be probed; only an action that declares its probe can")
        return OnCrash.RETRY
    return found


# How often a step of the steps form or a rule is tried: `retries: 3` are three more tries. A block counts all
# of them, or those after the first: `{max_attempts: 4, delay: 5s}` are four tries, `{attempts: 3}` are three more.


RETRY_FIELDS: Final = ("retries", "retry")
MOST_RETRIES: Final = 100
RETRY_BLOCK: Final = ("max_attempts", "attempts", "delay", "factor", "max_delay", "jitter")


def read_retry(fields: Fields, default: Retry) -> Retry:
    """Read the retries: a number counts the tries after the first; in a block `max_attempts` counts all of them, and
    `attempts` those after the first."""
    written = fields.written(RETRY_FIELDS)
    if len(written) > 1:
        fields.problems.add(fields.at("retry"), "is another spelling of 'retries'; write one of them")
    if not written:
        return default
    [name, *_] = written
    if isinstance(fields.get(name), dict):
        return _retry_block(Fields(fields.get(name), fields.at(name), fields.problems), default)
    again = fields.integer(name, least=0, most=MOST_RETRIES)
    return default if again is None else Retry(attempts=again + 1)


def retry_warnings(fields: Fields) -> list[str]:
    """Return a warning for a spelling of retries that reads as a number of all tries, and is none."""
    for name in RETRY_FIELDS:
        block = fields.get(name)
        again = block.get("attempts") if isinstance(block, dict) else None
        if isinstance(again, int) and not isinstance(again, bool):
            said = f"{again} more after the first, {again + 1} in all; write max_attempts: {again + 1} to say so"
            return [f"{fields.at(name)}.attempts: counts the tries after the first: {said}"]
    return []


def _retry_block(fields: Fields, default: Retry) -> Retry:
    fields.refuse_unknown(RETRY_BLOCK)
    again = fields.integer("attempts", least=0, most=MOST_RETRIES)
    whole = fields.integer("max_attempts", least=1, most=MOST_RETRIES + 1)
    if whole is not None:
        if again is not None:
            fields.problems.add(fields.at("attempts"), "and max_attempts say the same twice; write max_attempts")
        again = whole - 1
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


# Repeats: a step that looks again and again until its result is as wanted.


REPEAT_KINDS: Final = (StepKind.HTTP, StepKind.ACTION)
_SHORTEST_PAUSE: Final = 0.1
_LARGEST_FACTOR: Final = 100.0


@dataclass(frozen=True, slots=True)
class RepeatFields:
    """What a form calls the fields of a repeat."""

    until: str
    every: str
    factor: str
    max_wait: str
    give_up_after: str

    def all(self) -> tuple[str, ...]:
        return (self.until, self.every, self.factor, self.max_wait, self.give_up_after)


def read_repeat(
    fields: Fields, name: str, names: RepeatFields, kind: StepKind | None
) -> tuple[Repeat | None, list[Read]]:
    """Read a repeat, and what its condition reads."""
    block = fields.mapping(name)
    if block is None:
        return None, []
    if kind is not None and kind not in REPEAT_KINDS:
        fields.problems.add(fields.at(name), f"a {kind.value} cannot be repeated; only requests and actions can")
    inner = Fields(block, fields.at(name), fields.problems)
    inner.refuse_unknown(names.all())
    until, reads = condition(inner, names.until)
    if inner.get(names.until) is None:
        inner.problems.add(inner.at(names.until), "is missing: a condition such as \"result.body.status == 'done'\"")
    every = inner.duration(names.every, unit=SECONDS)
    factor = inner.number(names.factor, least=1.0, most=_LARGEST_FACTOR)
    longest = inner.duration(names.max_wait, unit=SECONDS)
    pause = 30.0 if every is None else every
    if pause < _SHORTEST_PAUSE:
        inner.problems.add(inner.at(names.every), f"must be at least {_SHORTEST_PAUSE:g} s, not {pause:g} s")
    if longest is not None and longest < pause:
        inner.problems.add(inner.at(names.max_wait), f"is shorter than the first pause of {pause:g} s")
    repeat = Repeat(
        until=until or "true",
        every=pause,
        factor=1.0 if factor is None else factor,
        max_wait=max(3600.0, pause) if longest is None else longest,
        give_up_after=inner.duration(names.give_up_after, unit=SECONDS, zero=False),
    )
    return repeat, reads


# Maps: a step that runs once for each item of a list. Both forms have the same fields, spelled in their own manner.


MAP_KINDS: Final = (StepKind.HTTP, StepKind.ACTION, StepKind.SUBWORKFLOW)
MOST_ITEMS: Final = 1_000_000
MOST_PARALLEL_ITEMS: Final = 10_000
_PARALLEL_ITEMS: Final = 10
_MAX_ITEMS: Final = 10_000
_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d+)?)%")


@dataclass(frozen=True, slots=True)
class MapFields:
    """What a form calls the fields of a map."""

    for_each: str
    max_parallel: str
    collect: str
    on_item_failure: str
    tolerate: str
    max_items: str

    def all(self) -> tuple[str, ...]:
        return (
            *(self.for_each, self.max_parallel, self.collect),
            *(self.on_item_failure, self.tolerate, self.max_items),
        )


@dataclass(slots=True)
class WrittenMap:
    """A map as far as it could be read. `reads` are those of its list, `collect_reads` those of `collect`."""

    each: Each
    reads: list[Read]
    collect_reads: list[Read]


def read_map(fields: Fields, names: MapFields, kind: StepKind | None) -> WrittenMap | None:
    """Read the fields of a map, or return None if the step is none."""
    items = fields.get(names.for_each)
    if items is None:
        for name in fields.written(names.all()):
            fields.problems.add(fields.at(name), f"{name!r} has no meaning without {names.for_each!r}")
        return None
    if kind is not None and kind not in MAP_KINDS:
        fields.problems.add(fields.at(names.for_each), f"a {kind.value} cannot run for each item of a list")
    if not isinstance(items, list) and not (isinstance(items, str) and "{{" in items):
        fields.wrong(names.for_each, 'a list, or a template such as "{{ trigger.body.orders }}"')
        items = []
    collect = fields.get(names.collect)
    tolerate, share = _tolerance(fields, names.tolerate)
    on_failure = fields.choice(names.on_item_failure, ItemFailure, ItemFailure.STOP)
    if fields.get(names.tolerate) is not None and not tolerate and not share:
        on_failure = ItemFailure.STOP  # none may fail, and in a graph a tolerance of 0 is no limit
    each = Each(
        items=items,
        parallel=fields.integer(names.max_parallel, least=1, most=MOST_PARALLEL_ITEMS) or _PARALLEL_ITEMS,
        collect=collect,
        on_failure=on_failure,
        tolerate=tolerate,
        tolerate_share=share,
        max_items=fields.integer(names.max_items, least=1, most=MOST_ITEMS) or _MAX_ITEMS,
    )
    if (tolerate or share) and each.on_failure is ItemFailure.STOP:
        message = f"needs {names.on_item_failure}: continue, because the first failure ends the step otherwise"
        fields.problems.add(fields.at(names.tolerate), message)
    return WrittenMap(
        each,
        template_reads(items, fields.at(names.for_each), fields.problems),
        template_reads(collect, fields.at(names.collect), fields.problems),
    )


def _tolerance(fields: Fields, name: str) -> tuple[int, float]:
    """Read how many items may fail: a number, or a share such as `5%`."""
    value = fields.get(name)
    if isinstance(value, str):
        share = _SHARE.fullmatch(value.strip())
        if share is not None and float(share[1]) <= 100:
            return 0, float(share[1]) / 100
        fields.wrong(name, 'a number of items or a share such as "5%"')
        return 0, 0.0
    return fields.integer(name, least=0, most=MOST_ITEMS) or 0, 0.0


# Child runs and conditions.


@dataclass(frozen=True, slots=True)
class ChildFields:
    """What a form calls the fields of a child run."""

    workflow: str
    input: str
    version: str
    wait: str
    allow_recursion: str


def read_child(fields: Fields, names: ChildFields, noun: str) -> Work:
    """Read a step that is a child run. Keys of its config with default values are left out."""
    if fields.get(names.workflow) is None:
        fields.problems.add(fields.at(names.workflow), f"is missing: name the workflow that this {noun} starts")
    body = fields.mapping(names.input) or {}
    config: dict[str, Any] = {"workflow": fields.text(names.workflow, most=_LONGEST_WORKFLOW) or "", "input": body}
    version = fields.integer(names.version, least=1, most=LARGEST_VERSION)
    if version is not None:
        config["version"] = version
    if not fields.boolean(names.wait, True):
        config["detached"] = True
    if fields.boolean(names.allow_recursion, False):
        config["recursion"] = True
    return Work(StepKind.SUBWORKFLOW, config, template_reads(body, fields.at(names.input), fields.problems))


def read_expression(fields: Fields, name: str, *example: str) -> Work:
    """Read a step that is a condition. A problem shows the example, if there is one of the form."""
    text, reads = condition(fields, name, *example)
    return Work(StepKind.CONDITION, {"expression": text or "false"}, reads)


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
    """Return the user's own actions that these steps call, sorted: only a node that has them may run the workflow.

    An action with a pinned version is data of the catalog, which every node can run."""
    calls = (step.config for step in steps if step.kind is StepKind.ACTION and "version" not in step.config)
    probes = (step.probe.action for step in steps if step.probe is not None and step.probe.version is None)
    names = {*(str(config.get("action", "")) for config in calls), *probes}
    return tuple(sorted(name for name in names if name and name not in CORE_ACTIONS))
