"""The operations that look at many runs at once: each function describes one call."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Unpack

from detent.client.calls import PAGE, Call, Pages, given, instant, one, page, url_path
from detent.client.runs import RunFilter, filter_fields
from detent.documents.lists import CountsDocument, HeroSummary, HistogramDocument, SearchDocument
from detent.documents.overview import MeDocument
from detent.documents.people import AuditDocument

_me: Final = one(MeDocument)
_counts: Final = one(CountsDocument)
_histogram: Final = one(HistogramDocument)
_found: Final = one(SearchDocument)


def me() -> Call[MeDocument]:
    """Return who asks, what it may do, and what the server is."""
    return Call("GET", url_path("me"), _me)


def counts() -> Call[CountsDocument]:
    """Return how many runs each saved view has, up to 10,000."""
    return Call("GET", url_path("runs", "counts"), _counts)


def histogram(
    *,
    begin: datetime | str | None = None,
    end: datetime | str | None = None,
    buckets: int | None = None,
    **which: Unpack[RunFilter],
) -> Call[HistogramDocument]:
    """Return how many runs that match a RunFilter were accepted when, by default in the last 24 hours."""
    times = {"from": begin, "to": end}
    query = [(name, instant(at) if isinstance(at, datetime) else at) for name, at in times.items() if at is not None]
    query += [(name, text) for name, texts in filter_fields(which).items() for text in texts]
    return Call("GET", url_path("runs", "histogram"), _histogram, query=[*query, *given(buckets=buckets)])


def search(text: str, *, limit: int | None = None) -> Call[SearchDocument]:
    """Return what a text names: workflows, runs, heroes and triggers, `limit` of each at most."""
    return Call("GET", url_path("search"), _found, query=given(q=text, limit=limit))


def heroes(type: str | None = None, *, prefix: str | None = None, limit: int = PAGE) -> Pages[HeroSummary]:  # noqa: A002
    """Yield the heroes of runs by type and id, `limit` per request."""
    query = given(type=type, prefix=prefix, limit=limit)
    return Pages(Call("GET", url_path("heroes"), page(HeroSummary), query=query))


def audit(
    *,
    actor: str | None = None,
    action: str | None = None,
    kind: str | None = None,
    object: str | None = None,  # noqa: A002 - the word of the API
    outcome: str | None = None,
    since: str | None = None,
    until: str | None = None,
    all_tenants: bool = False,
    limit: int = PAGE,
) -> Pages[AuditDocument]:
    """Yield the rows of the audit, newest first. `since` and `until` are instants. The rows of all tenants need the
    scope `tenants:manage`."""
    asked = given(
        actor=actor,
        action=action,
        kind=kind,
        object=object,
        outcome=outcome,
        to=until,
        all_tenants="true" if all_tenants else None,
        limit=limit,
        **{"from": since},
    )
    return Pages(Call("GET", url_path("audit"), page(AuditDocument), query=asked))
