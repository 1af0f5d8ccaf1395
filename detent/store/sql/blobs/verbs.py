"""Blobs: the verbs are the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, exists, select, text, tuple_, update

from detent.instant import SECOND
from detent.store.blobs.rows import BlobRow, BlobStore, UploadRow, UseKey
from detent.store.sql.access import Rows, Script, SqlAccess
from detent.store.sql.blobs.schema import blob, blob_chunk, blob_upload, blob_use
from detent.store.sql.compiler import InList, InsertIfAbsent
from detent.store.sql.schema import dead_letter, firing
from detent.store.sql.schema import run as run_table

#: A blob that was touched so recently is not touched again: that would only make transactions wait for each other.
_FRESH: Final = 60 * SECOND

_COLUMNS: Final = tuple(blob.c[name] for name in BlobRow._fields)
_OWN: Final = blob.c.tenant == bindparam("tenant")
_BEGIN: Final = InsertIfAbsent(
    text("insert into blob_upload (id, tenant, place, touched_at) values (:id, :tenant, :place, :now)")
)
_ONE_UPLOAD: Final = (blob_upload.c.tenant == bindparam("owner"), blob_upload.c.id == bindparam("known"))
_LOCK_UPLOAD: Final = (
    select(blob_upload.c.place).where(*_ONE_UPLOAD, blob_upload.c.touched_at > bindparam("doomed")).with_for_update()
)
_LOCK_ANY_UPLOAD: Final = select(blob_upload.c.id).where(*_ONE_UPLOAD).with_for_update()
_TOUCH_UPLOAD: Final = update(blob_upload).where(*_ONE_UPLOAD).values({blob_upload.c.touched_at: bindparam("now")})
_DROP_UPLOAD: Final = delete(blob_upload).where(*_ONE_UPLOAD)
_ADD_CHUNK: Final = InsertIfAbsent(
    text('insert into blob_chunk ("blob", number, tenant, data) values (:blob, :number, :tenant, :data)'), "number"
)
_ADD_BLOB: Final = InsertIfAbsent(
    text(
        f'insert into "blob" ({", ".join(BlobRow._fields)})'
        f" values ({', '.join(f':{name}' for name in BlobRow._fields)})"
    )
)
_SAME_CONTENT: Final = select(*_COLUMNS).where(_OWN, blob.c.sha256 == bindparam("sha256")).with_for_update()
_TOUCH: Final = update(blob).where(InList(blob.c.id, "ids", ids=True)).values({blob.c.touched_at: bindparam("now")})
_TOUCH_OWN: Final = (
    update(blob)
    .where(blob.c.tenant == bindparam("owner"), InList(blob.c.id, "ids", ids=True))
    .values({blob.c.touched_at: bindparam("now")})
)
_BLOB: Final = select(*_COLUMNS).where(_OWN, blob.c.id == bindparam("id"))
_OLD_OF: Final = (
    select(blob.c.id, blob.c.touched_at).where(_OWN, InList(blob.c.id, "ids", ids=True)).order_by(blob.c.id)
)
_CHUNK: Final = select(blob_chunk.c.data).where(
    blob_chunk.c.blob == bindparam("blob"),
    blob_chunk.c.number == bindparam("number"),
    blob_chunk.c.tenant == bindparam("tenant"),
)
_ADD_USE: Final = InsertIfAbsent(
    text('insert into blob_use (holder, "blob", tenant, at) values (:holder, :blob, :tenant, :now)'), "holder"
)
_RUNS: Final = select(run_table.c.id).where(InList(run_table.c.id, "ids", ids=True))
_FIRINGS: Final = select(firing.c.id).where(InList(firing.c.id, "ids", ids=True))
#: The dead letter of a firing has its id.
_LETTERS: Final = select(dead_letter.c.id).where(InList(dead_letter.c.id, "ids", ids=True))
_DROP_USES: Final = delete(blob_use).where(
    InList(blob_use.c.holder, "holders", ids=True), blob_use.c.at < bindparam("before")
)
_LOCK_OLD: Final = (
    select(*_COLUMNS)
    .where(InList(blob.c.id, "ids", ids=True), blob.c.touched_at < bindparam("before"))
    .order_by(blob.c.id)
    .with_for_update()
)
_USED: Final = select(blob_use.c.blob).where(InList(blob_use.c.blob, "ids", ids=True)).distinct()
_DROP: Final = delete(blob).where(InList(blob.c.id, "ids", ids=True))
_CHUNKS: Final = (
    select(blob_chunk.c.number)
    .where(blob_chunk.c.blob == bindparam("blob"), blob_chunk.c.tenant == bindparam("tenant"))
    .order_by(blob_chunk.c.number)
    .limit(bindparam("limit"))
)
_DROP_CHUNKS: Final = delete(blob_chunk).where(
    blob_chunk.c.blob == bindparam("blob"),
    blob_chunk.c.tenant == bindparam("owner"),
    blob_chunk.c.number <= bindparam("last"),
)
#: When an upload that is to be deleted was touched: long ago.
_DOOMED: Final = 0


@cache
def _list(*, of_holder: bool, has_cursor: bool) -> Select[Any]:
    query = select(*_COLUMNS).where(_OWN)
    if of_holder:
        use = (blob_use.c.holder == bindparam("holder"), blob_use.c.tenant == bindparam("tenant"))
        query = query.where(exists(select(blob_use.c.blob).where(*use, blob_use.c.blob == blob.c.id)))
    if has_cursor:
        query = query.where(blob.c.id < bindparam("cursor"))
    return query.order_by(blob.c.id.desc()).limit(bindparam("limit"))


@cache
def _old_uses(*, after: bool) -> Select[Any]:
    key = (blob_use.c.holder, blob_use.c.blob)
    query = select(*key).where(blob_use.c.at < bindparam("before"))
    if after:
        query = query.where(tuple_(*key) > tuple_(bindparam("holder"), bindparam("blob")))
    return query.order_by(*key).limit(bindparam("limit"))


@cache
def _old_blobs(*, after: bool) -> Select[Any]:
    query = select(blob.c.id).where(blob.c.touched_at < bindparam("before"))
    if after:
        query = query.where(blob.c.id > bindparam("after"))
    return query.order_by(blob.c.id).limit(bindparam("limit"))


@cache
def _stale_uploads(*, after: bool, of_tenant: bool) -> Select[Any]:
    query = select(*(blob_upload.c[name] for name in UploadRow._fields))
    query = query.where(blob_upload.c.touched_at < bindparam("before"))
    if after:
        query = query.where(blob_upload.c.id > bindparam("after"))
    if of_tenant:
        query = query.where(blob_upload.c.tenant == bindparam("tenant"))
    return query.order_by(blob_upload.c.id).limit(bindparam("limit"))


class BlobVerbs(BlobStore):
    """The verbs of blobs."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def begin_upload(self, tenant: int, upload: bytes, place: str) -> None:
        now = await self._access.now()
        await self._access.execute(_BEGIN, {"id": upload, "tenant": tenant, "place": place, "now": now})

    async def touch_upload(self, tenant: int, upload: bytes) -> bool:
        now, one = await self._access.now(), {"owner": tenant, "known": upload}

        def touch() -> Script[bool]:
            rows = yield _LOCK_UPLOAD, {**one, "doomed": _DOOMED}
            if rows:
                yield _TOUCH_UPLOAD, {**one, "now": now}
            return bool(rows)

        return await self._access.run_script(touch)

    async def add_chunk(self, tenant: int, upload: bytes, number: int, data: bytes) -> None:
        await self._access.execute(_ADD_CHUNK, {"blob": upload, "number": number, "tenant": tenant, "data": data})

    async def finish_upload(
        self, tenant: int, upload: bytes, *, sha256: bytes, size: int, media: str
    ) -> BlobRow | None:
        now, one = await self._access.now(), {"owner": tenant, "known": upload}

        def finish() -> Script[BlobRow | None]:
            found = yield _LOCK_UPLOAD, {**one, "doomed": _DOOMED}
            if not found:
                return None
            made = BlobRow(upload, tenant, sha256, size, media, _text(found[0][0]), now, now)
            if (yield _ADD_BLOB, made._asdict()):
                yield _DROP_UPLOAD, one
                return made
            same = yield _SAME_CONTENT, {"tenant": tenant, "sha256": sha256}
            yield _TOUCH_OWN, {"owner": tenant, "ids": [same[0][0]], "now": now}
            return _row(same[0])._replace(touched_at=now)

        return await self._access.run_script(finish)

    async def blob(self, tenant: int, blob: bytes) -> BlobRow | None:
        rows = await self._access.query(_BLOB, {"tenant": tenant, "id": blob})
        return _row(rows[0]) if rows else None

    async def blobs(
        self, tenant: int, *, limit: int, holder: bytes | None = None, cursor: bytes | None = None
    ) -> list[BlobRow]:
        clause = _list(of_holder=holder is not None, has_cursor=cursor is not None)
        values = {"tenant": tenant, "limit": limit, "holder": holder, "cursor": cursor}
        return [_row(row) for row in await self._access.query(clause, values)]

    async def chunk(self, tenant: int, blob: bytes, number: int) -> bytes | None:
        rows = await self._access.query(_CHUNK, {"tenant": tenant, "blob": blob, "number": number})
        return bytes(rows[0][0]) if rows else None

    async def use_blobs(self, tenant: int, uses: Sequence[UseKey]) -> None:
        now, ids = await self._access.now(), sorted({one for _, one in uses})
        if not ids:
            return

        def use() -> Script[None]:
            rows = yield _OLD_OF, {"tenant": tenant, "ids": ids}
            stale = [row[0] for row in rows if row[1] < now - _FRESH]
            if stale:
                yield _TOUCH_OWN, {"owner": tenant, "ids": stale, "now": now}
                rows = yield _OLD_OF, {"tenant": tenant, "ids": ids}  # a sweep may have deleted one before the lock
            known = {bytes(row[0]) for row in rows}
            for holder, one in sorted(set(uses)):
                if one in known:
                    yield _ADD_USE, {"holder": holder, "blob": one, "tenant": tenant, "now": now}

        await self._access.run_script(use)

    async def drop_uses(self, *, before: int, after: UseKey | None, limit: int) -> tuple[int, UseKey | None]:
        values: dict[str, Any] = {"before": before, "limit": limit}
        if after is not None:
            values |= {"holder": after[0], "blob": after[1]}
        keys = _pairs(await self._access.query(_old_uses(after=after is not None), values))
        following = keys[-1] if len(keys) == limit else None
        holders = sorted({holder for holder, _ in keys})
        if not holders:
            return 0, None
        kept = set()
        for holding in (_RUNS, _FIRINGS, _LETTERS):
            kept |= {bytes(row[0]) for row in await self._access.query(holding, {"ids": holders})}
        gone = [key for key in keys if key[0] not in kept]
        if gone:
            now = await self._access.now()

            def drop() -> Script[None]:
                yield _TOUCH, {"ids": sorted({one for _, one in gone}), "now": now}
                yield _DROP_USES, {"holders": sorted({holder for holder, _ in gone}), "before": before}

            await self._access.run_script(drop)
        return len(gone), following

    async def drop_blobs(self, *, before: int, after: bytes | None, limit: int) -> tuple[int, bytes | None]:
        values: dict[str, Any] = {"before": before, "after": after, "limit": limit}
        page = [bytes(row[0]) for row in await self._access.query(_old_blobs(after=after is not None), values)]
        following = page[-1] if len(page) == limit else None
        if not page:
            return 0, None
        used = {bytes(row[0]) for row in await self._access.query(_USED, {"ids": page})}
        unused = [one for one in page if one not in used]
        if not unused:
            return 0, following

        def drop() -> Script[int]:
            rows = yield _LOCK_OLD, {"ids": unused, "before": before}
            found = [_row(row) for row in rows]
            if not found:
                return 0
            # Look again: a use that was written before the lock counts.
            again = yield _USED, {"ids": [row.id for row in found]}
            used = {bytes(row[0]) for row in again}
            doomed = [row for row in found if row.id not in used]
            for row in doomed:
                yield _BEGIN, {"id": row.id, "tenant": row.tenant, "place": row.place, "now": _DOOMED}
            if doomed:
                yield _DROP, {"ids": [row.id for row in doomed]}
            return len(doomed)

        return await self._access.run_script(drop), following

    async def stale_uploads(
        self, *, before: int, limit: int, after: bytes | None = None, tenant: int | None = None
    ) -> list[UploadRow]:
        clause = _stale_uploads(after=after is not None, of_tenant=tenant is not None)
        values = {"before": before, "limit": limit, "after": after, "tenant": tenant}
        rows = await self._access.query(clause, values)
        return [UploadRow(bytes(row[0]), row[1], _text(row[2]), row[3]) for row in rows]

    async def doom_upload(self, tenant: int, upload: bytes) -> bool:
        return await self._access.run_script(lambda: _doom(tenant, upload))

    async def drop_upload(self, tenant: int, upload: bytes, *, limit: int) -> bool:
        def drop() -> Script[bool]:
            if not (yield from _doom(tenant, upload)):
                return True
            rows = yield _CHUNKS, {"blob": upload, "tenant": tenant, "limit": limit}
            if rows:
                yield _DROP_CHUNKS, {"blob": upload, "owner": tenant, "last": rows[-1][0]}
            if len(rows) == limit:
                return False
            yield _DROP_UPLOAD, {"owner": tenant, "known": upload}
            return True

        return await self._access.run_script(drop)


def _doom(tenant: int, upload: bytes) -> Script[bool]:
    """Mark an upload, so that one which goes on learns that it is over. Return whether there is one."""
    one = {"owner": tenant, "known": upload}
    rows = yield _LOCK_ANY_UPLOAD, one
    if rows:
        yield _TOUCH_UPLOAD, {**one, "now": _DOOMED}
    return bool(rows)


def _pairs(rows: Rows) -> list[UseKey]:
    return [(bytes(row[0]), bytes(row[1])) for row in rows]


def _row(row: Sequence[Any]) -> BlobRow:
    id_, tenant, sha256, size, type_, place, created_at, touched_at = row
    return BlobRow(bytes(id_), tenant, bytes(sha256), size, _text(type_), _text(place), created_at, touched_at)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
