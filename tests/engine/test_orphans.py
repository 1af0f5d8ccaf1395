"""Children whose parent ended without completing: the look that finds them, however their cancel was lost."""

from __future__ import annotations

import pytest

from detent.engine.background import BATCH, ORPHANS_SEEN, Orphans
from detent.errors import StoreBusy
from detent.instant import SECOND
from detent.store.memory.store import MemoryStore
from detent.store.rows import MessageKind
from tests.store.make import NOON, Node, end, start


class Wall:
    """A clock that moves when the test says so."""

    def __init__(self) -> None:
        self.now = NOON

    def wall(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / SECOND


class Scene:
    """A store, a node, and two processes that look for orphans."""

    def __init__(self) -> None:
        self.clock = Wall()
        self.store = MemoryStore(self.clock)
        self.nudges = 0
        self.first, self.second = (Orphans(self.store, 5.0, sent=self._sent) for _ in range(2))

    def _sent(self) -> None:
        self.nudges += 1

    async def family(self, count: int = 1, *, ended_at: int | None = None) -> list[bytes]:
        """Children of a parent that failed, of which its flush told none."""
        node = await Node.register(self.store)
        parent = await node.started()
        born = [start(owned=True, parent=parent) for _ in range(count)]
        at = self.clock.now if ended_at is None else ended_at
        await node.flush(starts=born, ends=[end(parent, status="failed", ended_at=at)])
        return sorted(run.id for run in born)

    def cancelled(self) -> list[bytes]:
        return sorted(mail.run for mail in self.store.inbox.values() if mail.kind == MessageKind.CANCEL)

    async def later(self, seconds: float) -> float:
        self.clock.now += int(seconds * SECOND)
        return await self.first.poll()


async def test_a_child_is_cancelled_once_while_its_cancel_is_unread() -> None:
    scene = Scene()
    children = await scene.family(3)
    assert await scene.first.poll() == 5.0
    assert scene.cancelled() == children
    assert scene.nudges == 1
    await scene.later(5.0)
    assert scene.cancelled() == children
    assert scene.nudges == 1


async def test_many_children_are_cancelled_by_one_look() -> None:
    scene = Scene()
    children = await scene.family(BATCH + 3)
    await scene.first.poll()
    assert scene.cancelled() == children


async def test_nodes_look_in_turn() -> None:
    scene = Scene()
    assert await scene.first.poll() == 5.0
    children = await scene.family()
    scene.clock.now += 2 * SECOND
    assert await scene.second.poll() == 3.0, "the other one has looked"
    assert scene.cancelled() == []
    scene.clock.now += 3 * SECOND
    assert await scene.second.poll() == 5.0
    assert scene.cancelled() == children


async def test_an_end_that_was_written_late_is_seen() -> None:
    scene = Scene()
    await scene.first.poll()
    await scene.later(5.0)
    children = await scene.family(ended_at=scene.clock.now - 50 * SECOND)
    await scene.later(5.0)
    assert scene.cancelled() == children


async def test_nothing_is_lost_by_a_downtime() -> None:
    scene = Scene()
    await scene.first.poll()
    children = await scene.family()
    scene.clock.now += 86_400 * SECOND
    await Orphans(scene.store, 5.0, sent=lambda: None).poll()
    assert scene.cancelled() == children


async def test_ends_of_long_ago_are_not_looked_at_again() -> None:
    scene = Scene()
    for _ in range(30):
        await scene.later(5.0)
    await scene.family(ended_at=NOON)
    await scene.later(5.0)
    assert scene.cancelled() == []


async def test_a_clock_that_steps_hides_nothing() -> None:
    scene = Scene()
    await scene.first.poll()
    for step in (7200.0, -7200.0, 7200.0):
        before = scene.clock.now
        await scene.later(step)
        children = await scene.family(ended_at=before)  # decided before the step, written after the look
        await scene.later(5.0)
        assert set(children) <= set(scene.cancelled()), step


async def test_a_look_that_failed_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    await scene.first.poll()
    children = await scene.family()
    seen = scene.store.settings[ORPHANS_SEEN]
    scene.clock.now += 5 * SECOND
    with monkeypatch.context() as patched:
        patched.setattr(scene.store, "send", _fail)
        with pytest.raises(StoreBusy):
            await scene.first.poll()
    assert scene.store.settings[ORPHANS_SEEN] == seen
    await scene.first.poll()
    assert scene.cancelled() == children


async def _fail(*given: object) -> bool:
    raise StoreBusy
