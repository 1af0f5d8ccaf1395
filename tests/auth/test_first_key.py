"""The first key of an installation: one, however many nodes start, and readable by its owner only."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from detent.auth.first_key import is_needed, make_first_key
from detent.auth.keys import id_of
from detent.clock import SystemClock
from detent.errors import InvalidInput
from detent.store.auth import NewKey
from detent.store.memory.store import MemoryStore


async def test_of_several_nodes_one_makes_the_first_key() -> None:
    store = MemoryStore(SystemClock())
    assert await is_needed(store)
    made = [key for key in await asyncio.gather(*(make_first_key(store) for _ in range(5))) if key is not None]
    assert len(made) == 1
    assert not await is_needed(store)
    row = await store.key(id_of(made[0]))
    assert row is not None
    assert (row.name, row.role, row.tenant) == ("first", "instance-admin", 1)
    [audit] = await store.audits(1, limit=10)
    assert (audit.action, audit.object, audit.actor, audit.via) == (
        "create_first_key",
        "first",
        "detent serve",
        "local",
    )


async def test_a_node_that_died_while_it_made_the_first_key_leaves_it_to_the_next_one(tmp_path: Path) -> None:
    class Dying(MemoryStore):
        is_dying = True

        async def add_key(self, key: NewKey) -> bool:
            if self.is_dying:
                raise ConnectionError("the node died")
            return await super().add_key(key)

    store = Dying(SystemClock())
    file = tmp_path / "admin.key"
    with pytest.raises(ConnectionError):
        await make_first_key(store, file)
    store.is_dying = False
    assert not file.exists()
    assert await is_needed(store)
    assert await make_first_key(store, file) is not None


async def test_the_file_of_the_first_key_is_its_owners(tmp_path: Path) -> None:
    store = MemoryStore(SystemClock())
    file = tmp_path / "admin.key"
    key = await make_first_key(store, file)
    assert file.read_text() == f"{key}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    late = tmp_path / "late.key"
    assert await make_first_key(store, late) is None
    assert not late.exists()


async def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    store = MemoryStore(SystemClock())
    file = tmp_path / "admin.key"
    file.write_text("mine")
    with pytest.raises(InvalidInput) as refused:
        await make_first_key(store, file)
    assert "remove it" in str(refused.value.problems[0])
    assert file.read_text() == "mine"
    with pytest.raises(InvalidInput):
        await make_first_key(store, tmp_path / "missing" / "admin.key")
    assert await is_needed(store)
    assert await make_first_key(store) is not None
