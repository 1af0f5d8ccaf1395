"""A place of blobs that fails: only the runs that read inside its blobs wait for it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pytest

from detent.blobs import library as library_module
from detent.blobs import sweep
from detent.blobs.library import BlobLibrary
from detent.blobs.places import DatabasePlace, DirectoryPlace
from detent.clock import SystemClock
from detent.engine.engine import Engine
from detent.errors import BlobsUnavailable, CommitUnknown, StoreError, Unavailable
from detent.ids import new_id
from detent.run.outcomes import Done
from detent.store.blobs.rows import BlobRow, UploadRow
from detent.store.memory.store import MemoryStore
from detent.store.rows import MessageKind, Receipt
from tests.engine.rig import TENANT, Fault, Rig, rig, virtual
from tests.engine.test_version_moves import moves, save_version, send_move

DOCUMENT = json.dumps({"name": "ada", "text": "x" * 300_000}).encode()
READS = {"nap": {"sleep": "1m"}, "say": {"needs": ["nap"], "with": {"name": "{{trigger.body.name}}"}}}
PLAIN = {"nap": {"sleep": "1m"}, "say": {"needs": ["nap"], "with": {"name": "{{trigger.body}}"}}}
WAITS = {
    "w": {"wait_for_webhook": {"timeout": "1h"}},
    "say": {"needs": ["w"], "with": {"name": "{{tasks.w.body.name}}"}},
    "busy": {},
}
THEN = {"first": {}, "then": {"needs": ["first"], "with": {"name": "{{tasks.first.output.name}}"}}}


class FaultyPlace(DatabasePlace):
    """A place that fails while it has an error."""

    def __init__(self, library: BlobLibrary) -> None:
        super().__init__(library.store)
        self.error: Exception | None = None
        self.reads = 0
        library.add_place(self)

    async def read(self, row: BlobRow, start: int, stop: int) -> AsyncIterator[bytes]:
        self.reads += 1
        if self.error is not None:
            raise self.error
        async for part in super().read(row, start, stop):
            yield part


async def once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def stored(engine: Engine, content: bytes = DOCUMENT) -> dict[str, Any]:
    return (await engine.blobs.save(TENANT, once(content), "application/json")).document()


async def parked(world: Rig, *runs: bytes) -> None:
    await world.until(lambda: all(world.store.table[run].owner is None for run in runs))


@virtual
async def test_a_run_whose_blob_cannot_be_read_waits_while_the_others_go_on() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        reads, plain = await world.start(READS, await stored(engine)), await world.start(PLAIN, "small")
        await parked(world, reads, plain)
        place.error = BlobsUnavailable("the directory cannot be read")
        assert await world.ended(plain, 70) == "completed"
        await asyncio.sleep(60)
        assert world.store.table[reads].status == "running"
        assert 2 <= place.reads <= 40, "it is tried again, a little later each time"
        assert world.told("engine.lost") == world.told("run.quarantined") == []
        place.error = None
        assert await world.ended(reads, 20) == "completed"
        assert world.kinds(reads) == [("ended", "nap"), ("ended", "say")]


@virtual
@pytest.mark.parametrize("fault", ["busy", "lost"])
async def test_a_run_is_not_put_back_because_the_database_was_busy_while_its_blob_was_read(fault: Fault) -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start(READS, await stored(engine))
        await parked(world, run)
        await asyncio.sleep(50)
        world.lines[engine].break_next("blob", fault, fault)
        assert await world.ended(run, 12) == "completed"


@virtual
async def test_a_start_is_answered_although_its_node_ends_while_it_notes_which_blobs_it_uses() -> None:
    async with rig() as world:
        engine = await world.engine()
        body, line = await stored(engine), world.lines[engine]
        line.hangs.add("use_blobs")
        start = asyncio.create_task(world.start(READS, body))
        await world.until(lambda: "use_blobs" in line.sent)
        first = engine.node.id

        def burst(verb: str, arguments: tuple[Any, ...]) -> bool:
            if verb == "owned":
                raise ZeroDivisionError
            return False

        line.refuses = burst
        with pytest.raises(Unavailable, match="stopped before this was written"):
            await asyncio.wait_for(start, 60)
        line.refuses, line.hangs = lambda verb, arguments: False, set()
        await world.until(lambda: engine.is_ready and engine.node.id != first)
        assert await world.ended(await world.start(READS, body), 120) == "completed"


@virtual
async def test_a_run_whose_blob_cannot_be_read_can_be_cancelled() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        early, late = [await world.start(READS, await stored(engine)) for _ in range(2)]
        await parked(world, early, late)
        place.error = BlobsUnavailable("the directory cannot be read")
        await world.send(early, MessageKind.CANCEL)
        assert await world.ended(early, 10) == "cancelled"
        await asyncio.sleep(65)
        await world.send(late, MessageKind.CANCEL)
        assert await world.ended(late, 20) == "cancelled"


@virtual
async def test_a_paused_run_whose_blob_cannot_be_read_is_resumed_when_it_can() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        run = await world.start(READS, await stored(engine))
        await parked(world, run)
        place.error = BlobsUnavailable("the directory cannot be read")
        await world.send(run, MessageKind.PAUSE)
        await asyncio.sleep(100)
        assert world.hands.attempts("say") == []
        await world.send(run, MessageKind.RESUME)
        place.error = None
        assert await world.ended(run, 20) == "completed"


@virtual
async def test_a_callback_whose_blob_cannot_be_read_waits_in_the_inbox_while_other_mail_is_read() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        world.hands.hold("busy")  # so that the runs stay in memory
        large, small = await world.start(WAITS), await world.start(WAITS)
        place.error = BlobsUnavailable("the directory cannot be read")
        assert await world.call_back(large, "w", await stored(engine)) is Receipt.ACCEPTED
        assert await world.call_back(small, "w", {"name": "bob"}) is Receipt.ACCEPTED
        await world.until(lambda: ("ended", "say") in world.kinds(small), 1)
        await asyncio.sleep(20)
        assert world.kinds(large) == []
        assert place.reads <= 40, "it is tried again, a little later each time"
        place.error = None
        await world.until(lambda: ("ended", "say") in world.kinds(large), 5)
        assert world.kinds(large) == [("ended", "w"), ("ended", "say")]


@virtual
async def test_a_cancel_that_waits_for_a_payload_goes_on_when_the_payload_cannot_be_read() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        world.hands.hold("busy")
        run = await world.start(WAITS)
        body = await stored(engine)
        place.error = BlobsUnavailable("the directory cannot be read")
        await world.send(run, MessageKind.CANCEL)
        assert await world.call_back(run, "w", body) is Receipt.ACCEPTED, "the cancel is not read yet"
        assert await world.ended(run, 10) == "cancelled"


@virtual
async def test_a_run_with_a_callback_whose_blob_cannot_be_read_can_be_paused_and_cancelled() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        world.hands.hold("busy")
        run = await world.start(WAITS)
        place.error = BlobsUnavailable("the directory cannot be read")
        await world.call_back(run, "w", await stored(engine))
        await world.send(run, MessageKind.PAUSE)
        await world.until(lambda: ("paused", None) in world.kinds(run), 5)
        await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run, 5) == "cancelled"
        assert ("ended", "w") not in world.kinds(run)


@virtual
async def test_an_effect_whose_result_names_an_unreadable_blob_does_not_happen_again() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        body = await stored(engine)
        world.hands.scripts["first"] = lambda call: Done(msgspec.json.encode({"output": body}))
        place.error = RuntimeError("a bug of the place")
        run = await world.start(THEN)
        assert await world.ended(run) == "failed"
        assert world.hands.attempts("first") == [1]
        assert ("ended", "first") in world.kinds(run)
        place.error = BlobsUnavailable("the directory cannot be read")
        again = await world.start(THEN)
        await asyncio.sleep(5)
        place.error = None
        assert await world.ended(again) == "completed"
        assert world.hands.attempts("first") == [1, 1], "one for each run"


@virtual
async def test_a_run_that_waits_for_the_blob_of_a_result_can_be_cancelled() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        body = await stored(engine)
        world.hands.scripts["first"] = lambda call: Done(msgspec.json.encode({"output": body}))
        place.error = BlobsUnavailable("the directory cannot be read")
        run = await world.start(THEN)
        await world.until(lambda: place.reads > 1)
        await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run, 5) == "cancelled"
        reads = place.reads
        await asyncio.sleep(5)
        assert (place.reads, engine.node.runner.busy) == (reads, 0)


NAMED = {"a": {}, "b": {"needs": ["a"], "with": {"name": "{{trigger.body.name}}"}}}


@virtual
@pytest.mark.parametrize("before", [NAMED, {"a": {}, "b": {"needs": ["a"]}}], ids=["inside", "whole"])
async def test_a_run_that_is_moved_in_flight_reads_inside_its_blobs(before: dict[str, Any]) -> None:
    async with rig() as world:
        engine = await world.engine()
        body, made = await stored(engine), await stored(engine, DOCUMENT.replace(b"ada", b"bob"))
        gate = asyncio.Event()

        async def first() -> Done:
            await gate.wait()
            return Done(msgspec.json.encode({"output": made}))

        world.hands.scripts["a"] = lambda call: first()
        run = await world.start(before, body)
        after = {
            **NAMED,
            "c": {"needs": ["a"], "if": "tasks.a.output.name == 'bob'", "with": {"name": "{{tasks.a.output.name}}"}},
        }
        version = await save_version(world, run, after)
        await world.until(lambda: world.hands.attempts("a") == [1])
        await send_move(world, run, version)
        await world.until(lambda: moves(world, run) != [])
        assert moves(world, run) == [(None, "")]
        gate.set()
        assert await world.ended(run) == "completed"
        assert {call.step: call.parameters for call in world.hands.calls if call.step != "a"} == {
            "b": {"action": "core.echo", "with": {"name": "ada"}},
            "c": {"action": "core.echo", "with": {"name": "bob"}},
        }


@virtual
async def test_a_move_to_a_version_that_reads_an_unreadable_blob_waits_for_its_place() -> None:
    async with rig() as world:
        engine = await world.engine()
        place = FaultyPlace(engine.blobs)
        world.hands.hold("a")
        run, other = (
            await world.start({"a": {}, "b": {"needs": ["a"]}}, await stored(engine)),
            await world.start({"a": {}}),
        )
        version = await save_version(world, run, NAMED)
        place.error = BlobsUnavailable("the directory cannot be read")
        await send_move(world, run, version)
        await world.send(other, MessageKind.CANCEL)
        assert await world.ended(other, 5) == "cancelled"
        assert moves(world, run) == []
        place.error = None
        await world.until(lambda: moves(world, run) == [(None, "")], 5)


async def test_a_directory_that_cannot_be_used_is_a_store_error(tmp_path: Path) -> None:
    place = DirectoryPlace(tmp_path / "blobs")
    row = BlobRow(new_id(), TENANT, b"", 5, "text/plain", "directory", 0, 0)
    with pytest.raises(BlobsUnavailable, match="No such file"):
        await anext(place.read(row, 0, 5))
    (tmp_path / "blobs").write_bytes(b"")  # the parts of its path are not directories any more
    for use in (
        place.open(TENANT, row.id),
        anext(place.read(row, 0, 5)),
        place.delete(UploadRow(row.id, TENANT, "directory", 0)),
    ):
        with pytest.raises(BlobsUnavailable):
            await use


async def test_a_full_disk_is_a_store_error(tmp_path: Path) -> None:
    id_ = new_id()
    file = tmp_path / id_[-1:].hex() / id_.hex()
    file.parent.mkdir()
    file.symlink_to("/dev/full")
    writer = await DirectoryPlace(tmp_path).open(TENANT, id_)
    with pytest.raises(BlobsUnavailable, match="No space left"):
        await writer.write(b"x")
    await writer.abort()


class LateStore(MemoryStore):
    """A store whose answers to finished uploads are lost: each raises the next error after the commit."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.lost: list[BaseException] = []
        self.is_silent = False

    async def finish_upload(self, *args: Any, **kwargs: Any) -> BlobRow | None:
        row = await super().finish_upload(*args, **kwargs)
        if self.lost:
            raise self.lost.pop()
        return row

    async def blob(self, tenant: int, blob: bytes) -> BlobRow | None:
        if self.is_silent:
            raise StoreError("the database does not answer")
        return await super().blob(tenant, blob)


@pytest.mark.parametrize("place", ["database", "directory"])
@pytest.mark.parametrize("is_silent", [False, True])
async def test_an_upload_that_is_stopped_after_its_commit_keeps_its_bytes(
    place: str, is_silent: bool, tmp_path: Path
) -> None:
    store = LateStore()
    library = BlobLibrary(store, DirectoryPlace(tmp_path) if place == "directory" else None)
    store.lost = [CommitUnknown() if is_silent else asyncio.CancelledError()]
    store.is_silent = is_silent
    with pytest.raises(StoreError if is_silent else asyncio.CancelledError):
        await library.save(TENANT, once(DOCUMENT), "application/json")
    store.is_silent = False
    again = await library.save(TENANT, once(DOCUMENT), "application/json")
    assert await library.whole(await library.row(TENANT, again.id)) == DOCUMENT
    assert await store.stale_uploads(before=2**60, limit=9) == []


class StuckPlace(DatabasePlace):
    """A place with uploads that cannot be deleted."""

    name = "stuck"

    async def delete(self, row: UploadRow) -> None:
        raise BlobsUnavailable("the directory cannot be written")


async def test_uploads_that_cannot_be_deleted_do_not_stop_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_BATCH", 2)
    library = BlobLibrary(MemoryStore(SystemClock()))
    library.add_place(StuckPlace(library.store))
    stuck = [new_id() for _ in range(5)]
    for id_ in stuck:
        await library.store.begin_upload(TENANT, id_, "stuck")
    await library.store.begin_upload(TENANT, new_id(), "unknown")
    await library.store.begin_upload(TENANT, new_id(), "database")
    await sweep.BlobSweep(library, grace=-3600).sweep()
    left = await library.store.stale_uploads(before=2**60, limit=99)
    assert {row.place for row in left} == {"stuck", "unknown"}
    assert len(left) == 6


async def test_all_uploads_of_a_deleted_tenant_are_deleted_and_those_of_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library_module, "_PAGE", 2)
    library = BlobLibrary(MemoryStore(SystemClock()))
    for tenant in (1, 1, 1, 2, 2, 2, 2, 2):
        await library.store.begin_upload(tenant, new_id(), "database")
    await library.delete_tenant(2)
    assert [row.tenant for row in await library.store.stale_uploads(before=2**60, limit=99)] == [1, 1, 1]


class SlowDirectory(DirectoryPlace):
    """A directory that opens a file when it may."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.is_asked, self.may_open = threading.Event(), threading.Event()
        self.files: list[BinaryIO] = []

    def _open(self, blob: bytes) -> BinaryIO | None:
        self.is_asked.set()
        self.may_open.wait(300)
        file = super()._open(blob)
        assert file is not None
        self.files.append(file)
        return file


async def test_a_reader_that_goes_away_while_its_file_is_opened_leaves_no_open_file(tmp_path: Path) -> None:
    place, id_ = SlowDirectory(tmp_path), new_id()
    writer = await place.open(TENANT, id_)
    await writer.write(b"x")
    await writer.finish()
    parts = place.read(BlobRow(id_, TENANT, b"", 1, "text/plain", "directory", 0, 0), 0, 1)
    reading = asyncio.ensure_future(anext(parts))
    assert await asyncio.to_thread(place.is_asked.wait, 300)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    place.may_open.set()
    for _ in range(3000):
        if place.files and place.files[0].closed:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the file is still open")
