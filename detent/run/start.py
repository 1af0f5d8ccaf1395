"""The request to start a run, for every caller: the API, Python code, triggers, the outbox, other runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from detent.errors import InvalidInput, Problem
from detent.instant import Instant, micros
from detent.run.initiator import Initiator
from detent.run.journal import Family
from detent.values.limits import ID_LIMIT

#: This many characters fit into a column and an index of every database.
LONGEST_LABEL: Final = 1_000
#: Priorities are columns of 32 bits.
LARGEST_PRIORITY: Final = 2**31 - 1


class StartRequest(msgspec.Struct, frozen=True):
    """A run that a caller asks for.

    `workflow` is an id or a name. `body`, `headers`, `query` and `extra` (such as `spec` or `principal`) are the input.
    The run begins at `start_at`, after `delay` seconds, or at once.

    A second start with the same `request_id` returns the first run. `allow_multiple`: start also beside an open run of
    the same hero, where the workflow allows only one. `origin` is the run it comes from; `origin_kind` is how.
    `successor_of`: it replaces that run, which is about to end. `id` is the run's id if the caller has chosen it.
    `version` is a number or `draft`; `None` is the current version. `family`: where a child run stands below its
    parents. `initiator` is that of the run it comes from; `None`: the caller initiates it."""

    workflow: str
    body: Any = None
    hero: tuple[str, str] | None = None
    priority: int | None = None
    labels: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    extra: Mapping[str, Any] = {}
    request_id: str | None = None
    start_at: Instant | None = None
    delay: float | None = None
    allow_multiple: bool = False
    trigger: str = "api"
    fired_by: bytes | None = None
    origin: bytes | None = None
    origin_kind: str | None = None
    parent: bytes | None = None
    successor_of: bytes | None = None
    id: bytes | None = None
    version: int | Literal["draft"] | None = None
    family: Family | None = None
    initiator: Initiator | None = None

    def begins(self, now: Instant) -> Instant | None:
        """Return when the run begins; `None` means at once."""
        return self.start_at if self.delay is None else now + micros(self.delay)

    def check(self) -> None:
        """Raise InvalidInput with every problem, unless every database can store the request.

        Only the caller gets the error. In a flush, a value that the database refuses would block every other run of
        the node."""
        if self.request_id is None and self.hero is None and not self.labels and self.priority is None:
            return
        problems = list(_problems(self))
        if problems:
            message = "; ".join(map(str, problems))
            raise InvalidInput(f"the run cannot be started: {message}", problems)


def _problems(request: StartRequest) -> Iterator[Problem]:
    if request.request_id is not None:
        yield from _text_problems("request_id", request.request_id, ID_LIMIT, least=1)
    if request.hero is not None:
        yield from _hero_problems(request.hero)
    if request.labels:
        yield from _label_problems(request.labels)
    if request.priority is not None:
        yield from _priority_problems(request.priority)


# Python code may pass values of any type, so these functions do not trust the annotations.


def _hero_problems(hero: Any) -> Iterator[Problem]:
    if not isinstance(hero, tuple) or len(hero) != 2:
        yield Problem("hero", "must be a type and an id")
        return
    for name, part in zip(("hero.type", "hero.id"), hero, strict=True):
        yield from _text_problems(name, part, ID_LIMIT)


def _label_problems(labels: Any) -> Iterator[Problem]:
    if not isinstance(labels, Mapping):
        yield Problem("labels", "must be a mapping of names to texts")
        return
    for name, value in labels.items():
        wrong = list(_text_problems("labels", name, LONGEST_LABEL))
        yield from wrong or _text_problems(f"labels.{name}", value, LONGEST_LABEL)


def _priority_problems(priority: Any) -> Iterator[Problem]:
    if not isinstance(priority, int) or isinstance(priority, bool):
        yield Problem("priority", f"must be a whole number, not {type(priority).__name__}")
    elif not -LARGEST_PRIORITY <= priority <= LARGEST_PRIORITY:
        yield Problem("priority", f"must be between -{LARGEST_PRIORITY} and {LARGEST_PRIORITY}")


def _text_problems(name: str, text: Any, most: int, least: int = 0) -> Iterator[Problem]:
    if not isinstance(text, str):
        yield Problem(name, f"must be a text, not {type(text).__name__}")
    elif least and not least <= len(text) <= most:
        yield Problem(name, f"must have {least} to {most} characters")
    elif len(text) > most:
        yield Problem(name, f"has {len(text)} characters; at most {most} are allowed")
    elif "\x00" in text:
        yield Problem(name, "contains a NUL character, which cannot be stored")
    elif not _is_encodable(text):
        yield Problem(name, "contains half of a surrogate pair, which is not a valid character")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
