"""Blobs in a store: a tenant stores a content once, and none is deleted while a run or a firing names it."""

from __future__ import annotations

import hashlib

from detent.ids import new_id
from detent.instant import SECOND
from detent.store.blobs.rows import BlobRow
from detent.store.protocol import Store
from tests.store.make import Node

LATER = 10**6 * SECOND


async def uploaded(store: Store, content: bytes, tenant: int = 1) -> BlobRow:
    id_ = new_id()
    await store.begin_upload(tenant, id_, "database")
    await store.add_chunk(tenant, id_, 0, content)
    row = await store.finish_upload(
        tenant, id_, sha256=hashlib.sha256(content).digest(), size=len(content), media="text/plain; charset=ü"
    )
    assert row is not None
    return row


async def sweep(store: Store, before: int) -> int:
    """Delete every upload, and every blob that no run names. Return how many uploads were deleted."""
    after = None
    while True:
        _, after = await store.drop_uses(before=before, after=after, limit=2)
        if after is None:
            break
    last = None
    while True:
        _, last = await store.drop_blobs(before=before, after=last, limit=2)
        if last is None:
            break
    doomed = await store.stale_uploads(before=before, limit=100)
    for row in doomed:
        while not await store.drop_upload(row.tenant, row.id, limit=1):
            pass
    return len(doomed)


async def test_a_tenant_stores_a_content_once_and_sees_no_other_tenant_s(store: Store) -> None:
    first = await uploaded(store, b"\x00\xffcontent")
    second = await uploaded(store, b"\x00\xffcontent")
    other = await uploaded(store, b"\x00\xffcontent", tenant=2)
    assert (second.id, second.size, second.type) == (first.id, 9, "text/plain; charset=ü")
    assert second.touched_at >= first.touched_at
    assert other.id != first.id
    assert await store.blob(1, first.id) == second
    assert await store.blob(2, first.id) is None
    assert await store.chunk(1, first.id, 0) == b"\x00\xffcontent"
    assert await store.chunk(1, first.id, 1) is None
    assert await store.chunk(2, first.id, 0) is None
    more = await uploaded(store, b"more")
    assert [row.id for row in await store.blobs(1, limit=9)] == [more.id, first.id]
    assert [row.id for row in await store.blobs(1, limit=1, cursor=more.id)] == [first.id]


async def test_only_an_upload_that_was_begun_and_not_deleted_becomes_a_blob(store: Store) -> None:
    id_ = new_id()
    assert await store.finish_upload(1, id_, sha256=bytes(32), size=1, media="") is None
    await store.begin_upload(1, id_, "directory")
    assert await store.finish_upload(2, id_, sha256=bytes(32), size=1, media="") is None, "another tenant"
    assert await store.touch_upload(1, id_)
    assert not await store.touch_upload(2, id_)
    assert await store.blob(1, id_) is None
    now = await store.now()
    assert await store.stale_uploads(before=now - LATER, limit=5) == []
    [row] = await store.stale_uploads(before=now + LATER, limit=5)
    assert row[:3] == (id_, 1, "directory")
    await store.add_chunk(1, id_, 0, b"a")
    assert not await store.drop_upload(1, id_, limit=1), "there may be more chunks"
    assert not await store.touch_upload(1, id_), "it is being deleted"
    assert await store.finish_upload(1, id_, sha256=bytes(32), size=1, media="") is None
    assert await store.drop_upload(1, id_, limit=1)
    assert await store.stale_uploads(before=now + LATER, limit=5) == []


async def test_a_blob_is_deleted_only_when_no_run_names_it_and_nothing_touched_it_for_a_while(
    store: Store,
) -> None:
    run = await (await Node.register(store)).started()
    used, unused, twice = [await uploaded(store, text) for text in (b"used", b"unused", b"twice")]
    gone = new_id()  # a run that does not exist
    await store.use_blobs(1, [(run, used.id), (run, used.id), (gone, twice.id), (run, new_id())])
    await store.use_blobs(2, [(run, unused.id)])
    assert [row.id for row in await store.blobs(1, limit=9, holder=run)] == [used.id]
    now = await store.now()
    assert await sweep(store, now - LATER) == 0, "everything was touched a moment ago"
    assert len(await store.blobs(1, limit=9)) == 3
    before = await store.now() + 1
    assert (await store.drop_blobs(before=before + LATER, after=None, limit=9))[0] == 1, "only the unused one"
    assert (await store.drop_uses(before=before + LATER, after=None, limit=9))[0] == 1, "the run does not exist"
    touched = await store.blob(1, twice.id)
    assert touched is not None
    assert touched.touched_at >= before - 1, "a use that goes touches its blob"
    assert await sweep(store, before + LATER) == 2
    assert [row.id for row in await store.blobs(1, limit=9)] == [used.id]
    assert await store.chunk(1, unused.id, 0) is None
    assert await store.chunk(1, used.id, 0) == b"used"


async def test_a_deleted_content_can_be_stored_again(store: Store) -> None:
    first = await uploaded(store, b"again")
    before = await store.now() + LATER
    await store.drop_blobs(before=before, after=None, limit=9)
    assert await store.blob(1, first.id) is None
    second = await uploaded(store, b"again")
    assert second.id != first.id
    assert [row.id for row in await store.stale_uploads(before=await store.now() - LATER, limit=9)] == [first.id]


async def test_stale_uploads_are_listed_by_tenant_and_after_an_upload(store: Store) -> None:
    ids = sorted(new_id() for _ in range(4))
    for number, id_ in enumerate(ids):
        await store.begin_upload(1 + number % 2, id_, "database")
    later = await store.now() + LATER
    assert [row.id for row in await store.stale_uploads(before=later, limit=9)] == ids
    assert [row.id for row in await store.stale_uploads(before=later, limit=2, after=ids[0])] == ids[1:3]
    assert [row.id for row in await store.stale_uploads(before=later, limit=9, tenant=2)] == [ids[1], ids[3]]
    assert [row.id for row in await store.stale_uploads(before=later, limit=9, tenant=2, after=ids[1])] == [ids[3]]


async def test_an_upload_that_became_a_blob_is_not_deleted_as_an_upload(store: Store) -> None:
    row = await uploaded(store, b"kept")
    assert not await store.doom_upload(1, row.id)
    assert await store.drop_upload(1, row.id, limit=9), "there is nothing to do"
    assert await store.chunk(1, row.id, 0) == b"kept"
    id_ = new_id()
    await store.begin_upload(1, id_, "database")
    await store.add_chunk(1, id_, 0, b"other")
    assert not await store.doom_upload(2, id_), "another tenant"
    assert await store.drop_upload(2, id_, limit=9)
    assert await store.doom_upload(1, id_)
    assert await store.finish_upload(1, id_, sha256=bytes(32), size=5, media="") is None
    assert await store.chunk(1, id_, 0) == b"other"
    assert await store.drop_upload(1, id_, limit=9)
    assert await store.chunk(1, id_, 0) is None
