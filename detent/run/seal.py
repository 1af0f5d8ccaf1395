"""The seal of a run: a digest of its facts, its journal and its end, which only the instance's key can make.

The digest of each entry includes that of the entry before, and the first one includes the facts of the run. The seal is
an HMAC of the last digest and of the end, so a writer of the database cannot make another one. It also has a few bytes
of some of the digests: they do not prove anything, but tell where a journal was changed.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from detent.run.journal import Entry

#: Marks that a seal has at most, beside that of the facts.
MOST_MARKS: Final = 128
_MARK_BYTES: Final = 4
_VERSION: Final = 1
_encode: Final = msgspec.json.Encoder().encode


class SealedRun(NamedTuple):
    """What a seal covers beside the journal: what the run was started with, and how it ended."""

    id: bytes
    tenant: int
    workflow: bytes
    input: bytes
    opening: bytes | None
    started_at: int
    parent: bytes | None
    hero: tuple[str, str] | None
    principal: str | None
    via: str | None
    correlation: str | None
    version: int
    status: str
    ended_at: int | None
    output: bytes | None
    error: str | None


class SealState(StrEnum):
    """Whether a run is as it was when it ended."""

    VALID = "valid"
    NOT_SEALED = "not_sealed"
    CHANGED = "changed"


class SealCheck(NamedTuple):
    """The result of a check. A change is between the entries `first` and `last`, as far as that is known."""

    state: SealState
    reason: str | None = None
    first: int | None = None
    last: int | None = None


class _Seal(msgspec.Struct):
    v: int
    entries: int
    every: int  # a mark for each so many entries
    marks: bytes
    mac: bytes


def seal_of(key: bytes, run: SealedRun, entries: Sequence[Entry]) -> bytes:
    """Return the seal of a run that has ended. The entries are in their order."""
    every = -(-len(entries) // MOST_MARKS) or 1
    marks, mac = _digest(key, run, entries, every)
    return _encode(_Seal(_VERSION, len(entries), every, marks, mac))


def check_seal(key: bytes, seal: bytes | None, run: SealedRun, entries: Sequence[Entry]) -> SealCheck:
    """Say whether a run is as it was when it was sealed, and else where it was changed."""
    if seal is None:
        return SealCheck(SealState.NOT_SEALED)
    try:
        found = msgspec.json.decode(seal, type=_Seal)
    except msgspec.MsgspecError:
        return SealCheck(SealState.CHANGED, "the seal cannot be read")
    if found.v != _VERSION or found.every < 1:
        return SealCheck(SealState.CHANGED, "the seal cannot be read")
    marks, mac = _digest(key, run, entries, found.every)
    if found.entries == len(entries) and hmac.compare_digest(mac, found.mac):
        return SealCheck(SealState.VALID)
    return _difference(found, marks, len(entries))


def _difference(seal: _Seal, marks: bytes, count: int) -> SealCheck:
    """Say where a run differs from its seal."""
    parts = zip(_split(seal.marks), _split(marks), strict=False)
    place = next((number for number, (was, now) in enumerate(parts) if was != now), None)
    if place == 0:
        reason = "what the run was started with was changed, or it was sealed with another key"
        return SealCheck(SealState.CHANGED, reason)
    if place is not None:
        first, last = (place - 1) * seal.every + 1, min(place * seal.every, max(seal.entries, count))
        return SealCheck(SealState.CHANGED, "the journal was changed", first, last)
    if seal.entries != count:
        reason = f"the journal has {count} entries and was sealed with {seal.entries}"
        return SealCheck(SealState.CHANGED, reason, min(seal.entries, count) + 1)
    if count % seal.every:  # the last mark is before the last entries
        return SealCheck(SealState.CHANGED, "the last entries or the end of the run were changed")
    return SealCheck(SealState.CHANGED, "the end of the run, its output or the seal was changed")


def _split(marks: bytes) -> list[bytes]:
    return [marks[place : place + _MARK_BYTES] for place in range(0, len(marks), _MARK_BYTES)]


def _digest(key: bytes, run: SealedRun, entries: Sequence[Entry], every: int) -> tuple[bytes, bytes]:
    digest = hmac.digest(key, _facts(run), hashlib.sha256)
    marks = bytearray(digest[:_MARK_BYTES])
    for number, entry in enumerate(entries, 1):
        head = _encode((*entry[:8],))
        sized = (len(head).to_bytes(8), head, len(entry.data).to_bytes(8), entry.data)
        digest = hashlib.sha256(b"".join((digest, *sized))).digest()
        if number % every == 0:
            marks += digest[:_MARK_BYTES]
    return bytes(marks), hmac.digest(key, digest + _end(run, len(entries)), hashlib.sha256)


def _facts(run: SealedRun) -> bytes:
    opening = None if run.opening is None else hashlib.sha256(run.opening).digest()
    started = (run.started_at, run.parent, run.hero, run.principal, run.via, run.correlation)
    return _encode((run.id, run.tenant, run.workflow, hashlib.sha256(run.input).digest(), opening, *started))


def _end(run: SealedRun, count: int) -> bytes:
    output = None if run.output is None else hashlib.sha256(run.output).digest()
    return _encode((count, run.version, run.status, run.ended_at, output, run.error))
