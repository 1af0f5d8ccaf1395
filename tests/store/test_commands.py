"""What commands read and write: messages, workflows, runs, settings."""

import asyncio

from detent.ids import new_id
from detent.run.journal import Kind
from detent.store.protocol import Store
from detent.store.rows import MessageKind, RunCriteria, SavedVersion, Unsaved
from detent.store.sql.mysql.commands import MOST_RUNS
from tests.store.make import Node, end, entry, park, start, version


async def test_a_message_reaches_an_open_run_of_the_tenant_only(store: Store) -> None:
    node = await Node.register(store)
    run, ended = await node.started(), await node.started()
    await node.flush(ends=[end(ended)])
    assert await store.send(1, run, MessageKind.CANCEL, b'{"by":"me"}')
    assert not await store.send(2, run, MessageKind.CANCEL, b"{}")
    assert not await store.send(1, ended, MessageKind.CANCEL, b"{}")
    assert not await store.send(1, new_id(), MessageKind.CANCEL, b"{}")
    [mail] = await store.mail(node.id, limit=10)
    assert (mail.run, mail.kind, mail.data) == (run, MessageKind.CANCEL, b'{"by":"me"}')


async def test_a_message_to_many_runs_reaches_the_open_ones_of_the_tenant_only(store: Store) -> None:
    node = await Node.register(store)
    runs, ended = [await node.started() for _ in range(3)], await node.started()
    await node.flush(ends=[end(ended)])
    given = [ended, *runs, new_id()]
    assert await store.send_many(1, given, MessageKind.MOVE, b'{"version":2}') == set(runs)
    assert await store.send_many(2, given, MessageKind.MOVE, b"{}") == set()
    assert await store.send_many(1, [], MessageKind.MOVE, b"{}") == set()
    mail = await store.mail(node.id, limit=10)
    assert {(one.run, one.kind, one.data) for one in mail} == {
        (run, MessageKind.MOVE, b'{"version":2}') for run in runs
    }
    assert len(mail) == 3


async def test_more_messages_than_one_statement_lists_are_sent_at_once(store: Store) -> None:
    node = await Node.register(store)
    starts = [start(owned=True) for _ in range(MOST_RUNS + 1)]
    await node.flush(starts=starts)
    sent = await store.send_many(1, [run.id for run in starts], MessageKind.CANCEL, b"{}")
    assert sent == {run.id for run in starts}
    assert {one.run for one in await store.mail(node.id, limit=2 * MOST_RUNS)} == sent


async def test_a_saved_workflow_is_found_by_id_and_by_name(store: Store) -> None:
    before = await store.now()
    given = version(description="d", labels='{"a":1}', source="name: 'ørders' 🧾", graph=b"\x00\xff\x01", enabled=False)
    saved = await store.save_workflow(given, replace=False)
    assert saved[:4] == (given.id, 1, True, True)
    row = await store.workflow(1, given.id)
    assert row is not None
    assert row == await store.workflow(1, "orders")
    for name in ("id", "tenant", "name", "form", "description", "enabled", "trigger", "labels", "source", "graph"):
        assert getattr(row, name) == getattr(given, name), name
    assert (row.version, row.status, row.enabled) == (1, "active", False)
    assert before <= row.created_at <= row.updated_at <= await store.now()


async def test_a_workflow_of_another_tenant_or_spelling_is_not_found(store: Store) -> None:
    given = version()
    await store.save_workflow(given, replace=False)
    for key in ("Orders", "orders ", new_id()):
        assert await store.workflow(1, key) is None
    assert await store.workflow(2, "orders") is None
    assert await store.workflow(2, given.id) is None


SQL = [
    "x'; drop table run; --",
    "' or '1'='1",
    '"; delete from journal; --',
    "%",
    "_",
    "a\\'b",
    "$1",
    "?",
    ":name",
    "{}",
]


async def test_f4_text_that_looks_like_sql_is_text_like_any_other(store: Store) -> None:
    await store.save_workflow(version(), replace=False)
    for text in SQL:
        assert await store.workflow(1, text) is None
        given = version(text, description=text, source=text, labels=f'{{"a":{text!r}}}', trigger=text)
        assert (await store.save_workflow(given, replace=False))[:4] == (given.id, 1, True, True)
        row = await store.workflow(1, text)
        assert row is not None
        assert (row.name, row.description, row.source, row.trigger) == (text, text, text, text)
        assert await store.setting(text, text) == text
        assert await store.runs(1, limit=10, where=RunCriteria(statuses=(text,))) == []
    assert len(await store.workflows(1, limit=100)) == len(SQL) + 1
    assert [row.name for row in await store.workflows(1, limit=100, after="%")] == sorted(
        name for name in [*SQL, "orders"] if name > "%"
    )


async def test_a_taken_name_is_refused_without_replace(store: Store) -> None:
    await store.save_workflow(version(), replace=False)
    assert await store.save_workflow(version(checksum="c2"), replace=False) is Unsaved.TAKEN
    other = version(tenant=2)
    assert (await store.save_workflow(other, replace=False))[:4] == (other.id, 1, True, True)
    row = await store.workflow(1, "orders")
    assert row is not None
    assert row.version == 1


async def test_a_new_checksum_makes_a_new_version_and_old_graphs_stay(store: Store) -> None:
    first = version(graph=b"old")
    await store.save_workflow(first, replace=True)
    saved = await store.save_workflow(version(graph=b"new", checksum="c2", source="second"), replace=True)
    row = await store.workflow(1, "orders")
    assert row is not None
    assert saved == (first.id, 2, False, True, row.updated_at)
    assert (row.id, row.version, row.graph, row.source) == (first.id, 2, b"new", "second")
    assert await store.graphs([(first.id, 1), (first.id, 2), (first.id, 3)]) == {
        (first.id, 1): ("orders", b"old"),
        (first.id, 2): ("orders", b"new"),
    }


async def test_the_same_checksum_changes_the_workflow_and_makes_no_version(store: Store) -> None:
    first = version()
    await store.save_workflow(first, replace=True)
    saved = await store.save_workflow(version(enabled=False, description="new"), replace=True)
    row = await store.workflow(1, "orders")
    assert row is not None
    assert saved == (first.id, 1, False, False, row.updated_at)
    assert (row.version, row.enabled, row.description) == (1, False, "new")


async def test_two_that_save_a_new_name_at_once_make_one_workflow(store: Store) -> None:
    saved = await asyncio.gather(
        *(store.save_workflow(version(checksum=f"c{number}"), replace=True) for number in range(4))
    )
    assert len({found.id for found in saved if isinstance(found, SavedVersion)}) == 1
    assert sorted(found.version for found in saved if isinstance(found, SavedVersion)) == [1, 2, 3, 4]
    assert len(await store.workflows(1, limit=10)) == 1
    refused = await asyncio.gather(*(store.save_workflow(version("new"), replace=False) for _ in range(3)))
    assert sum(isinstance(found, SavedVersion) for found in refused) == 1


async def test_workflows_are_listed_by_name_page_by_page(store: Store) -> None:
    for name in ("b", "a", "Z", "ä", "c"):
        await store.save_workflow(version(name), replace=False)
    await store.save_workflow(version("other", tenant=2), replace=False)
    first = [row.name for row in await store.workflows(1, limit=3)]
    assert first == ["Z", "a", "b"]
    assert [row.name for row in await store.workflows(1, limit=9, after="b")] == ["c", "ä"]


async def test_runs_are_listed_newest_first_and_narrowed(store: Store) -> None:
    node = await Node.register(store)
    saved = await store.save_workflow(version("shop"), replace=False)
    assert isinstance(saved, SavedVersion)
    mine = [start(owned=True, workflow=saved.id) for _ in range(3)]
    others = [start(owned=True), start(owned=True, tenant=2)]
    await node.flush(starts=[*mine, *others])
    await node.flush(ends=[end(mine[1].id, status="failed")], parks=[park(mine[0].id)])
    listed = await store.runs(1, limit=10)
    assert [row.id for row in listed] == sorted([*(run.id for run in mine), others[0].id], reverse=True)
    assert {row.workflow_name for row in listed} == {"shop", ""}
    assert [row.id for row in await store.runs(1, limit=2, where=RunCriteria(workflow=saved.id))] == [
        mine[2].id,
        mine[1].id,
    ]
    assert [
        row.id for row in await store.runs(1, limit=9, where=RunCriteria(workflow=saved.id), cursor=mine[2].id)
    ] == [
        mine[1].id,
        mine[0].id,
    ]
    assert [row.id for row in await store.runs(1, limit=9, where=RunCriteria(statuses=("failed",)))] == [mine[1].id]
    assert await store.runs(3, limit=9) == []


async def test_a_run_of_another_tenant_is_not_found(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started(tenant=2)
    assert await store.run(1, run) is None
    assert await store.run(2, run) is not None
    assert await store.run(2, new_id()) is None


async def test_a_setting_keeps_the_first_value_whoever_asks(store: Store) -> None:
    assert await store.setting("key", "first") == "first"
    assert await store.setting("key", "second") == "first"
    assert await store.setting("other", "second") == "second"


async def test_nodes_that_make_up_a_setting_at_once_agree(store: Store) -> None:
    values = await asyncio.gather(*(store.setting("secret", f"made by {number}") for number in range(8)))
    assert len(set(values)) == 1


async def test_the_ends_of_steps_are_read_by_run_and_name_in_order(store: Store) -> None:
    node = await Node.register(store)
    first, second = start(owned=True), start(owned=True)
    await node.flush(starts=[first, second])
    await node.flush(
        entries=[
            entry(first.id, 1, step="say", kind=Kind.RETRY),
            entry(first.id, 2, step="say"),
            entry(first.id, 3, step="other"),
            entry(second.id, 1, step="core.respond", kind=Kind.CHECKPOINT),
            entry(second.id, 2, step="say"),
        ]
    )
    found = await store.step_ends(1, [first.id, second.id, new_id()], ["say", "core.respond"])
    assert {(one.run, one.seq) for one in found} == {(first.id, 2), (second.id, 1), (second.id, 2)}
    assert [one.seq for one in found if one.run == second.id] == [1, 2]
    assert await store.step_ends(1, [], ["say"]) == await store.step_ends(1, [first.id], []) == []
