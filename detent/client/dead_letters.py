"""The operations on dead letters: each function describes one call."""

from __future__ import annotations

from datetime import datetime
from typing import Final, TypedDict, Unpack

from detent.client.calls import JSON, PAGE, Call, Pages, given, instant, json_body, one, page, url_path
from detent.documents.letters import BulkLettersDocument, LetterDocument
from detent.errors import InvalidInput

_letter: Final = one(LetterDocument)
_PLACE: Final = "dead-letters"


class LetterFilter(TypedDict, total=False):
    """A filter of dead letters. `kind` is step, run, firing or event; `state` is open or requeued; `before` bounds when
    it was written."""

    kind: str
    reason: str
    state: str
    workflow: str
    run: str
    before: datetime | str


def list_all(*, limit: int = PAGE, **which: Unpack[LetterFilter]) -> Pages[LetterDocument]:
    """Yield the dead letters that match, newest first, `limit` per request."""
    query = given(**_words(which), limit=limit)
    return Pages(Call("GET", url_path(_PLACE), page(LetterDocument), query=query))


def get(letter: str) -> Call[LetterDocument]:
    """Return a dead letter with its payload."""
    return Call("GET", url_path(_PLACE, letter), _letter)


def requeue(letter: str) -> Call[LetterDocument]:
    """Try again what was given up. Raise Conflict if it was requeued before."""
    return Call("POST", url_path(_PLACE, letter, "requeue"), _letter, repeatable=False)


def purge(letter: str) -> Call[LetterDocument]:
    """Delete a dead letter and return it as it was."""
    return Call("DELETE", url_path(_PLACE, letter), _letter)


def bulk(
    action: str,
    *,
    dry_run: bool = True,
    limit: int | None = None,
    everything: bool = False,
    **which: Unpack[LetterFilter],
) -> Call[BulkLettersDocument]:
    """Requeue or purge the oldest `limit` dead letters that match. Unless `dry_run` is false, only count them.

    Without a filter, `everything` must be true."""
    if not which and not everything:
        raise InvalidInput("without a filter this means every dead letter; pass everything=True if you mean that")
    body: dict[str, object] = {"action": action, "filter": _words(which), "dry_run": dry_run}
    if not which:
        body["all"] = True
    if limit is not None:
        body["limit"] = limit
    where = url_path(_PLACE, "bulk")
    return Call("POST", where, one(BulkLettersDocument), body=json_body(body), headers=JSON, repeatable=dry_run)


def _words(which: LetterFilter) -> dict[str, str]:
    return {name: instant(value) if isinstance(value, datetime) else str(value) for name, value in which.items()}
