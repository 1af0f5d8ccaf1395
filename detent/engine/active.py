"""One open run of a workflow per hero: what its key is, and what to say when it is taken."""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from detent.engine.starting import StartRequest
from detent.errors import AlreadyActive
from detent.ids import RUN, show
from detent.store.protocol import DoorStore
from detent.store.rows import RunRow, hero_of, spent_key

Hero = tuple[str, str]

#: No longer key fits into an index of every database; the digest of a longer one stands for it.
LONGEST_KEY: Final = 700


def active_key(workflow: str, hero: Hero) -> str:
    """What two runs that may not both be open have in common."""
    key = msgspec.json.encode([workflow, *hero])
    return str(key, "utf-8") if len(key) <= LONGEST_KEY else f'["sha256:{hashlib.sha256(key).hexdigest()}"]'


def key_of(row: RunRow) -> str | None:
    """The key of a run, also if it has left it to the run it continues as; null if it was allowed beside others."""
    hero = hero_of(row)
    is_spent = row.active_key == spent_key(row.id)
    return active_key(row.workflow_name, hero) if is_spent and hero is not None else row.active_key


async def refuse_if_active(store: DoorStore, request: StartRequest) -> None:
    """After a start was refused: AlreadyActive, if an open run has its key and would not leave it to this one."""
    if request.active_key is None:
        return
    holder = await store.active_run(request.tenant, request.active_key)
    if holder is not None and holder != request.heir_of:
        run, hero = show(RUN, holder), " ".join(request.hero or ())
        raise AlreadyActive(f"there is an active run of {request.name!r} for {hero}: {run}", run=run)
