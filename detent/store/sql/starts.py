"""What is special about some starts."""

from __future__ import annotations

from collections.abc import Sequence

from detent.store.rows import Flush, NewRun


def is_checked(flush: Flush) -> bool:
    """Whether there are starts that may be refused, or that have what few runs have."""
    return any(
        start.current
        or start.request_id is not None
        or start.active_key is not None
        or start.fired_by is not None
        or start.origin_kind is not None
        for start in flush.starts
    )


def heirs_of(starts: Sequence[NewRun]) -> list[NewRun]:
    """The starts that take their active key from another run."""
    return [start for start in starts if start.heir_of is not None and start.active_key is not None]
