"""Two processes that publish, save or activate one workflow at the same moment, on real servers.

The verbs lock the workflow's row before they read the draft or the greatest version. Without that lock both processes
read the same state and write the same number: the tempting variant is shown here too.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import ClauseElement

from detent.clock import SystemClock
from detent.errors import StoreError
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.rows import SavedDraft, SavedVersion, Unsaved
from detent.store.sql import workflow_statements as statements
from tests.store.make import version
from tests.store.test_versions import draft

ROUNDS = 15


@pytest.fixture(params=["postgres_database", "mariadb_database"])
def server(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


async def raced(url: str, race: Callable[[Store, Store, int], Awaitable[None]], rounds: int = ROUNDS) -> None:
    one, two = await asyncio.gather(*(open_store(url, SystemClock()) for _ in range(2)))
    try:
        for number in range(rounds):
            await race(one, two, number)
    finally:
        await one.close()
        await two.close()


async def published(one: Store, two: Store, number: int) -> None:
    """Publish one draft from two processes, each with its own idea of the text."""
    name = f"published {number}"
    made = await one.save_draft(draft(name))
    assert isinstance(made, SavedDraft)
    said = await asyncio.gather(
        *(
            store.publish_draft(version(name, id=made.id, checksum=text), revision=1, activate=True)
            for store, text in ((one, "a"), (two, "b"))
        )
    )
    assert sum(isinstance(found, SavedVersion) for found in said) == 1, said
    assert Unsaved.MISSING in said
    assert [row.version for row in await one.versions(1, made.id)] == [1]


async def activated(one: Store, two: Store, number: int) -> None:
    """Activate version 1 in one process while another saves a text that is new."""
    name = f"activated {number}"
    texts = {text: version(name, checksum=text, graph=text.encode(), description=text) for text in ("a", "b", "c", "d")}
    made = await one.save_workflow(texts["a"], replace=True)
    await one.save_workflow(texts["b"], replace=True)
    assert isinstance(made, SavedVersion)
    said = await asyncio.gather(
        one.activate_version(texts["a"]._replace(id=made.id), 1),
        two.save_workflow(texts["c"], replace=True),
        one.save_workflow(texts["d"], replace=True),
    )
    assert all(isinstance(found, SavedVersion) for found in said), said
    rows = {row.version: row.checksum for row in await one.versions(1, made.id)}
    assert sorted(rows) == [1, 2, 3, 4]
    row = await two.workflow(1, name)
    assert row is not None
    assert row.description == rows[row.version] == row.graph.decode(), "the row shows the version it points to"


@pytest.mark.slow
async def test_one_draft_that_two_processes_publish_becomes_one_version(server: str) -> None:
    await raced(server, published)


@pytest.mark.slow
async def test_an_activation_beside_saves_takes_no_number_twice(server: str) -> None:
    await raced(server, activated)


@pytest.mark.slow
@pytest.mark.parametrize("race", [published, activated])
async def test_without_the_lock_of_the_workflow_both_write(
    server: str, race: Callable[[Store, Store, int], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong variant: read without a lock. Two saves then take the same number, or publish one draft twice."""
    for name in ("LOCK_BY_ID", "LOCK_BY_NAME"):
        clause: Any = getattr(statements, name)
        monkeypatch.setattr(statements, name, without_lock(clause))
    with pytest.raises((AssertionError, StoreError, ExceptionGroup)):
        await raced(server, race, rounds=100 * ROUNDS)  # it ends with the first one that is lost


def without_lock(clause: Any) -> ClauseElement:
    """The same statement, which waits for no other transaction and stops none."""
    made: Any = clause._generate()  # noqa: SLF001
    made._for_update_arg = None  # noqa: SLF001
    return made  # type: ignore[no-any-return]
