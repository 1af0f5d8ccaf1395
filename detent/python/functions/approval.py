"""Approvals of durable functions: what `run.approve` asks, and the decision that it returns."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from detent.errors import InvalidInput
from detent.forms.asks import read_approval_values
from detent.graph.ask import ASK, FAILS, build_ask
from detent.values.durations import Duration, in_seconds
from detent.values.fields import Fields, Problems


class Approval(msgspec.Struct, frozen=True):
    """How an approval was decided.

    `by` identifies the person that decided last, `link` if only the URL was known, and is `None` if the time was over
    (`timed_out`). `answer` is what that person filled in. `decisions` has all of them. `digest` is the SHA-256 of what
    was shown."""

    approved: bool
    by: str | None = None
    name: str | None = None
    at: str | None = None
    comment: str | None = None
    answer: Any = None
    decisions: list[dict[str, Any]] = []
    digest: str | None = None
    timed_out: bool = False


class OpenApproval(asyncio.Future[Approval]):
    """An approval that people are asked for: await it for their decision. `url` is where they decide."""

    url: str


def approval_ask(
    *,
    title: str,
    text: str | None,
    data: Any,
    form: Mapping[str, Any] | None,
    assignees: str | Sequence[str] | None,
    quorum: int,
    not_by: str | None,
    by_link: bool,
    remind: Mapping[str, Any] | None,
    escalate: Mapping[str, Any] | None,
    timeout: Duration | None,
    on_timeout: str,
) -> dict[str, Any]:
    """Return what an approval asks, checked as in every other form. Raise InvalidInput.

    What it shows are values: nothing in a function is a template."""
    problems = Problems()
    given: dict[str, Any] = {
        "title": title,
        "text": text,
        "data": data,
        "form": None if form is None else dict(form),
        "assignees": [assignees] if isinstance(assignees, str) else assignees and list(assignees),
        "quorum": quorum,
        "not_by": not_by,
        "by_link": by_link,
        "remind": None if remind is None else _with_seconds(remind, "every"),
        "escalate": None if escalate is None else _with_seconds(escalate, "after"),
        "timeout": None if timeout is None else in_seconds(timeout, zero=False),
        "on_timeout": on_timeout,
    }
    config = read_approval_values(Fields(given, "approve", problems))
    if problems.found:
        said = "; ".join(f"{one.field} {one.message}" for one in problems.found[:5])
        raise InvalidInput(f"this cannot be asked: {said}", problems.found)
    ask: dict[str, Any] = {"on_timeout": FAILS, **config[ASK]}
    try:
        build_ask(ask, now=0)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"this cannot be asked: {error}") from None
    return ask


def _with_seconds(block: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {**block, **({name: in_seconds(block[name], zero=False)} if name in block else {})}
