"""Two processes that publish, save, activate or archive one workflow at the same moment, on real servers.

The verbs lock the workflow's row before they read the draft or the greatest version. Without that lock both processes
read the same state and write the same number: the tempting variant is shown here too.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import ClauseElement

from detent.auth.caller import local_caller
from detent.clock import SystemClock
from detent.errors import StoreError
from detent.instant import SECOND
from detent.process import run_app
from detent.run.start import StartRequest
from detent.settings import Settings
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.rows import RunCriteria, SavedDraft, SavedVersion, StartCheck, Unsaved
from detent.store.sql import workflow_statements as statements
from tests.store.make import Node, entry, start, version
from tests.store.test_versions import draft

ROUNDS = 15
#: So many starts are sent after an archive was answered.
STARTS_AFTER = 3


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


async def accepted_after_the_archive(one: Store, two: Store, number: int, check: StartCheck) -> int:
    """Archive a workflow while another process starts runs of it. Return how many starts were accepted that were sent
    after the archive had been answered."""
    made = await one.save_workflow(version(f"archived {number}"), replace=True)
    assert isinstance(made, SavedVersion)
    node = await Node.register(one)
    archive = asyncio.create_task(two.change_status(1, made.id, "archived"))
    accepted: list[bytes] = []
    late: list[bool] = []
    while len(late) < STARTS_AFTER:
        is_late = archive.done()
        run = start(workflow=made.id, version=1, check=check, request_id=f"{number}-{len(accepted)}-{len(late)}")
        is_refused = await node.refused(starts=[run], entries=[entry(run.id)]) == {run.id}
        accepted += [] if is_refused else [run.id]
        late += [not is_refused] if is_late else []
    assert await archive == "active"
    rows = await two.runs(1, limit=100, where=RunCriteria(workflow=made.id))
    assert {row.id for row in rows} == set(accepted), "a start is there or refused, and nothing between"
    return sum(late)


@pytest.mark.slow
async def test_no_start_is_accepted_after_the_archive_was_answered(server: str) -> None:
    async def race(one: Store, two: Store, number: int) -> None:
        for check in (StartCheck.CURRENT, StartCheck.STARTABLE):
            assert await accepted_after_the_archive(one, two, 10 * number + check, check) == 0

    await raced(server, race, rounds=5)


@pytest.mark.slow
async def test_a_start_that_trusts_what_its_process_knew_is_accepted_after_the_archive(server: str) -> None:
    """The wrong variant: the process that starts has seen that the workflow is active, and the insert asks nothing."""

    async def race(one: Store, two: Store, number: int) -> None:
        assert await accepted_after_the_archive(one, two, number, StartCheck.NONE) == STARTS_AFTER

    await raced(server, race, rounds=1)


async def postponed_run(url: str, monkeypatch: pytest.MonkeyPatch, *, asks_first: bool) -> str:
    """Archive a workflow while a node is about to claim a postponed run of it. Return how that run ended.

    With `asks_first` the node opens the run by what it knew of the workflow before the claim."""
    other = await open_store(url, SystemClock())
    try:
        async with asyncio.timeout(300), run_app(Settings(database_url=url)) as app:
            commands = app.commands.for_caller(local_caller("test"))
            row, _, _ = await commands.workflows.save('{"name": "late", "tasks": {"a": {"action": "core.echo"}}}')
            claim, about_to, may_claim = app.store.claim, asyncio.Event(), asyncio.Event()
            known = await app.store.archived([row.id])

            async def claim_later(*given: Any, **options: Any) -> Any:
                about_to.set()
                await may_claim.wait()
                return await claim(*given, **options)

            async def as_known(*_: Any) -> set[bytes]:
                return known

            monkeypatch.setattr(app.store, "claim", claim_later)
            if asks_first:
                monkeypatch.setattr(app.store, "archived", as_known)
            await about_to.wait()
            soon = await app.store.now() + SECOND // 2
            started = await commands.starts.start(StartRequest("late", {}, start_at=soon))
            assert await other.change_status(1, row.id, "archived") == "active"
            may_claim.set()
            while True:
                found = await other.run(1, started.run)
                assert found is not None
                if found.ended_at is not None:
                    return found.status
                await asyncio.sleep(0.02)  # the row is looked at, as any reader would
    finally:
        await other.close()


@pytest.mark.slow
async def test_a_postponed_run_whose_workflow_is_archived_before_its_claim_is_cancelled(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await postponed_run(server, monkeypatch, asks_first=False) == "cancelled"


@pytest.mark.slow
async def test_a_node_that_asks_before_its_claim_lets_the_run_of_an_archived_workflow_begin(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong variant: look which workflows are archived first, and claim then."""
    assert await postponed_run(server, monkeypatch, asks_first=True) == "completed"


def without_lock(clause: Any) -> ClauseElement:
    """The same statement, which waits for no other transaction and stops none."""
    made: Any = clause._generate()  # noqa: SLF001
    made._for_update_arg = None  # noqa: SLF001
    return made  # type: ignore[no-any-return]
