"""Blobs in memory."""

from __future__ import annotations

from collections.abc import Sequence

from detent.store.blobs.rows import BlobRow, UploadRow, UseKey
from detent.store.memory.tables import MemoryTables


class MemoryBlobs(MemoryTables):
    """The verbs of blobs, with the same guarantees as in a database: every verb is one step."""

    async def begin_upload(self, tenant: int, upload: bytes, place: str) -> None:
        self.uploads.setdefault(upload, UploadRow(upload, tenant, place, self.clock.wall()))

    async def touch_upload(self, tenant: int, upload: bytes) -> bool:
        row = self.uploads.get(upload)
        if row is None or row.tenant != tenant or not row.touched_at:
            return False
        self.uploads[upload] = row._replace(touched_at=self.clock.wall())
        return True

    async def add_chunk(self, tenant: int, upload: bytes, number: int, data: bytes) -> None:
        self.chunks.setdefault((upload, number), (tenant, bytes(data)))

    async def finish_upload(
        self, tenant: int, upload: bytes, *, sha256: bytes, size: int, media: str
    ) -> BlobRow | None:
        row, now = self.uploads.get(upload), self.clock.wall()
        if row is None or row.tenant != tenant or not row.touched_at:
            return None
        for known in self.blobs_by_id.values():
            if (known.tenant, known.sha256) == (tenant, sha256):
                self.blobs_by_id[known.id] = touched = known._replace(touched_at=now)
                return touched
        del self.uploads[upload]
        made = self.blobs_by_id[upload] = BlobRow(upload, tenant, sha256, size, media, row.place, now, now)
        return made

    async def blob(self, tenant: int, blob: bytes) -> BlobRow | None:
        row = self.blobs_by_id.get(blob)
        return row if row is not None and row.tenant == tenant else None

    async def blobs(
        self, tenant: int, *, limit: int, holder: bytes | None = None, cursor: bytes | None = None
    ) -> list[BlobRow]:
        rows = (row for _, row in sorted(self.blobs_by_id.items(), reverse=True) if row.tenant == tenant)
        before = (row for row in rows if cursor is None or row.id < cursor)
        return [row for row in before if holder is None or (holder, row.id) in self.uses][:limit]

    async def chunk(self, tenant: int, blob: bytes, number: int) -> bytes | None:
        owner, data = self.chunks.get((blob, number), (None, None))
        return data if owner == tenant else None

    async def use_blobs(self, tenant: int, uses: Sequence[UseKey]) -> None:
        now = self.clock.wall()
        for holder, one in uses:
            row = await self.blob(tenant, one)
            if row is not None:
                self.uses.setdefault((holder, one), (tenant, now))
                self.blobs_by_id[one] = row._replace(touched_at=now)

    async def drop_uses(self, *, before: int, after: UseKey | None, limit: int) -> tuple[int, UseKey | None]:
        old = sorted(key for key, (_, at) in self.uses.items() if at < before and (after is None or key > after))
        page = old[:limit]
        holding = (self.table, self.fired, self.dead)
        gone = [key for key in page if not any(key[0] in rows for rows in holding)]
        for key in gone:
            del self.uses[key]
            if key[1] in self.blobs_by_id:
                self.blobs_by_id[key[1]] = self.blobs_by_id[key[1]]._replace(touched_at=self.clock.wall())
        return len(gone), page[-1] if len(page) == limit else None

    async def drop_blobs(self, *, before: int, after: bytes | None, limit: int) -> tuple[int, bytes | None]:
        old = sorted(id_ for id_, row in self.blobs_by_id.items() if row.touched_at < before)
        page = [id_ for id_ in old if after is None or id_ > after][:limit]
        used = {one for _, one in self.uses}
        doomed = [id_ for id_ in page if id_ not in used]
        for id_ in doomed:
            row = self.blobs_by_id.pop(id_)
            self.uploads[id_] = UploadRow(id_, row.tenant, row.place, 0)
        return len(doomed), page[-1] if len(page) == limit else None

    async def stale_uploads(
        self, *, before: int, limit: int, after: bytes | None = None, tenant: int | None = None
    ) -> list[UploadRow]:
        old = (row for _, row in sorted(self.uploads.items()) if row.touched_at < before)
        following = (row for row in old if after is None or row.id > after)
        return [row for row in following if tenant is None or row.tenant == tenant][:limit]

    async def doom_upload(self, tenant: int, upload: bytes) -> bool:
        row = self.uploads.get(upload)
        if row is None or row.tenant != tenant:
            return False
        self.uploads[upload] = row._replace(touched_at=0)
        return True

    async def drop_upload(self, tenant: int, upload: bytes, *, limit: int) -> bool:
        if not await self.doom_upload(tenant, upload):
            return True
        numbers = sorted(key for key, (owner, _) in self.chunks.items() if key[0] == upload and owner == tenant)
        for key in numbers[:limit]:
            del self.chunks[key]
        if len(numbers) >= limit:
            return False
        del self.uploads[upload]
        return True
