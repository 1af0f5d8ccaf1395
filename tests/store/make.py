"""Makes rows for tests, with everything a test does not care about filled in."""

from collections.abc import Iterable
from typing import Any

from detent.ids import new_id
from detent.instant import SECOND
from detent.run.journal import Entry, Kind
from detent.store.letters import LetterKind, NewLetter
from detent.store.links import LinkKey, NewLink
from detent.store.protocol import Store
from detent.store.rows import Activation, ClaimedRun, End, Flush, Message, NewCallback, NewRun, NewVersion, Park
from detent.store.trigger_rows import FiringState, NewFiring, NewTrigger

WORKFLOW = new_id()
NOON = 1_790_000_000 * SECOND
HOUR = 3600 * SECOND


def start(**given: Any) -> NewRun:
    """A run that is claimable at once, unless `owned` or a later `wake_at` is given."""
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "workflow": WORKFLOW, "version": 1, "status": "running", "trigger": "api",
        "input": b'{"body":{}}', "opening": None, "owned": False, "wake_at": NOON - HOUR, "expires_at": None,
        "queue": "default", "priority": 0, "code": None, "request_id": None, "request_hash": None, "hero_type": None,
        "hero_id": None, "labels": None, "origin": None, "parent": None, "started_at": NOON,
    }  # fmt: skip
    return NewRun(**{**values, **given})


def entry(run: bytes, seq: int = 1, **given: Any) -> Entry:
    values: dict[str, Any] = {
        "tenant": 1, "at": NOON + seq, "kind": Kind.ENDED, "step": "s1", "attempt": 1, "outcome": "success",
        "data": b'{"result":1}',
    }  # fmt: skip
    return Entry(run=run, seq=seq, **{**values, **given})


def entries(run: bytes, count: int) -> list[Entry]:
    return [entry(run, seq) for seq in range(1, count + 1)]


def end(run: bytes, generation: int = 1, **given: Any) -> End:
    values: dict[str, Any] = {"status": "completed", "ended_at": NOON, "output": b'{"o":1}', "error": None}
    return End(run=run, generation=generation, **{**values, **given})


def park(run: bytes, generation: int = 1, wake_at: int | None = None, status: str = "running") -> Park:
    return Park(run, generation, wake_at, status)


def callback(run: bytes, step: str = "w", *, early: bool = True) -> NewCallback:
    return NewCallback(1, run, step, early)


def activation(run: bytes, step: str = "w", until: int | None = None) -> Activation:
    return Activation(run, step, until)


def message(run: bytes, source: bytes, seq: int, **given: Any) -> Message:
    values: dict[str, Any] = {"tenant": 1, "kind": "cancel", "step": None, "data": b"{}"}
    return Message(run=run, source=source, source_seq=seq, **{**values, **given})


def version(name: str = "orders", **given: Any) -> NewVersion:
    values: dict[str, Any] = {
        "tenant": 1, "id": new_id(), "form": "steps", "description": None, "enabled": True, "trigger": '{"type":"api"}',
        "labels": None, "source": "name: orders", "graph": b"graph 1", "checksum": "c1", "language": 1,
    }  # fmt: skip
    return NewVersion(name=name, **{**values, **given})


def link(run: bytes, id_: str = "17", **given: Any) -> NewLink:
    values: dict[str, Any] = {"tenant": 1, "system": "monday", "type": "item", "step": "s1", "url": None}
    return NewLink(id=id_, run=run, **{**values, **given})


def letter(**given: Any) -> NewLetter:
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "kind": str(LetterKind.STEP), "workflow": WORKFLOW, "run": new_id(), "step": "s1",
        "source": None, "trigger": None, "reason": "poison", "message": "it died", "payload": b'{"n":1}', "attempts": 3,
        "last_error": None,
    }  # fmt: skip
    return NewLetter(**{**values, **given})


class Node:
    """A registered node, to say `await node.flush(...)`."""

    def __init__(self, store: Store, id_: bytes, epoch: int) -> None:
        self.store, self.id, self.epoch = store, id_, epoch

    @classmethod
    async def register(cls, store: Store, *, ttl: float = 60.0) -> "Node":
        id_ = new_id()
        epoch, _ = await store.register(id_, ttl=ttl)
        return cls(store, id_, epoch)

    async def flush(self, *, again: bool = False, **parts: Any) -> bool:
        """Whether the fence let it through."""
        return await self.store.flush(self.id, self.epoch, Flush(**parts), again=again) is not None

    async def refused(self, *, again: bool = False, **parts: Any) -> frozenset[bytes]:
        """The starts that were not made."""
        flushed = await self.store.flush(self.id, self.epoch, Flush(**parts), again=again)
        assert flushed is not None, "the fence refused"
        return flushed.refused

    async def unlinked(self, *links: NewLink, again: bool = False, **parts: Any) -> set[tuple[LinkKey, bytes]]:
        """The claims that were not made."""
        flushed = await self.store.flush(self.id, self.epoch, Flush(links=list(links), **parts), again=again)
        assert flushed is not None, "the fence refused"
        return set(flushed.unlinked)

    async def expire(self, *keys: tuple[bytes, str], **parts: Any) -> frozenset[tuple[bytes, str]]:
        flushed = await self.store.flush(self.id, self.epoch, Flush(expiries=list(keys), **parts))
        assert flushed is not None
        return flushed.expired

    async def claim(
        self, limit: int = 100, queues: Iterable[str] | None = None, serves: Iterable[str] = (), horizon: int = 0
    ) -> list[ClaimedRun]:
        chosen = None if queues is None else list(queues)
        claims = await self.store.claim(
            self.id, self.epoch, limit=limit, queues=chosen, serves=list(serves), horizon=horizon
        )
        assert claims is not None, "the fence refused"
        return claims.runs

    async def started(self, **given: Any) -> bytes:
        """A run that this node owns."""
        run = start(owned=True, **given)
        assert await self.flush(starts=[run])
        return run.id


def trigger(workflow: bytes, **given: Any) -> NewTrigger:
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "kind": "cron", "name": None, "enabled": True, "config": '{"cron":"* * * * *"}',
        "condition": None, "key": None, "next_at": None, "owned": False,
    }  # fmt: skip
    return NewTrigger(workflow=workflow, **{**values, **given})


def firing(of: NewTrigger, **given: Any) -> NewFiring:
    values: dict[str, Any] = {
        "id": new_id(), "tenant": of.tenant, "trigger": of.id, "workflow": of.workflow, "kind": of.kind,
        "state": FiringState.DUE, "due_at": NOON - 1000 * HOUR * 24,
    }  # fmt: skip
    return NewFiring(**{**values, **given})
